// Package atomicfile makes files and folders that appear at their places whole or not at
// all. Bytes go to a hidden temporary beside the place, locked while its process lives;
// Commit renames it. What killed runs have left is removed by the next that writes there.
package atomicfile
