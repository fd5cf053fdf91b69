// Package atomicfile makes files and folders that appear at their places whole or not at
// all. Bytes go to a hidden temporary beside the place, locked while its process lives;
// Commit renames it. What killed runs have left is removed by the next that writes there, if it
// is the same user's: others may write in the folder too, and what they put under the name of
// a temporary is neither used nor removed (package ownfile). A file or empty folder that is
// replaced hands on its mode.
//
// Places are local paths, file:// URLs of them, and URLs of object stores. The bytes of an
// object go to a temporary file without a name ([Spool]), and Commit uploads that; a folder
// in a store is uploaded file by file, and deleted again where the run fails.
package atomicfile
