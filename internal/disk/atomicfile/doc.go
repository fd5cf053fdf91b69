// Package atomicfile makes files and folders that appear at their places complete or not at all. Bytes are written to a
// hidden temporary file in the same folder, which is locked while its process is alive. Commit renames this file. The
// next run that writes there removes the temporary files of killed runs, if they belong to the same user. Other users
// may write in the folder too; their files with the name of a temporary file are neither used nor removed (package
// ownfile). A new file or folder gets the mode of the file or empty folder that it replaces.
//
// Places are local paths, file:// URLs of local paths, and URLs of object stores. The bytes of an object are written to
// a temporary file without a name ([Spool]), which Commit uploads. The files of a folder in a store are uploaded one by
// one, and deleted again if the run fails.
package atomicfile
