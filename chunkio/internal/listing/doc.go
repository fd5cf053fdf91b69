// Package listing turns input arguments into a list of files. An argument is a file, a folder, a glob, a URL, a list
// (@list) or a Delta table. The package also refuses outputs that the same arguments would include.
package listing
