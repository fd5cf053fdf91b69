// Package catalog reads the footers of all files into one table. Columns are matched by name, keys of paths become
// columns, and a condition is decided as far as keys and statistics allow.
package catalog
