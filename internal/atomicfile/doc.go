// Package atomicfile makes files and folders that appear at their places whole or not at all. Bytes go to a
// hidden temporary in the same folder, locked while its process lives; Commit renames it. The next run that
// writes there removes the temporaries of killed runs, if they belong to the same user: other users may write
// in the folder too, and their files with the name of a temporary are neither used nor removed (package
// ownfile). A file or empty folder that is replaced passes on its mode.
//
// Places are local paths, file:// URLs of them, and URLs of object stores. The bytes of an object go to a
// temporary file without a name ([Spool]), and Commit uploads that; a folder in a store is uploaded file by
// file, and deleted again if the run fails.
package atomicfile
