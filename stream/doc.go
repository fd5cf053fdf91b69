// Package stream defines the common types of ufs-stream and the fold over chunks.
//
// The data flow from left to right:
//
//	Source ──Chunk──▶ Fold ──Add──▶ mergeable statistics ──▶ selector ──▶ Selection
//
// A Source is a table of float64 features that can be read in order, a block of rows at a time; chunkio makes a Source
// from files. Fold passes every Chunk to one or more Adders, which keep small additive statistics (gram.Moments). A
// selector turns finished statistics into a Selection, which is plain data.
//
// Three rules make results reproducible to the last bit, for any number of threads and any memory limit:
//
//   - blocks have a height that depends on the number of columns alone ([BlockRows]) and
//     start at the starts of row groups, so the same input is always cut alike;
//   - chunks arrive in order, one at a time, and an Adder that works in parallel
//     gives every output element one owner, so no sum depends on timing;
//   - threads and memory determine only how many blocks are decoded ahead.
package stream
