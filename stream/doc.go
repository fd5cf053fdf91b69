// Package stream defines the common types of ufs-stream and the fold over chunks.
//
// The data flow from left to right:
//
//	Source ──Chunk──▶ Fold ──Add──▶ mergeable statistics ──▶ selector ──▶ Selection
//
// A Source is a table of float64 features that can be read in order, a block of rows at a time. Package chunkio makes a
// Source from files. Fold passes every Chunk to one or more Adders, i.e. statistics that keep small sums (for example
// gram.Moments). A selector turns finished statistics into a Selection, which is plain data.
//
// Three rules make results reproducible to the last bit, for any number of threads and any memory limit:
//
//   - The height of blocks depends on the number of columns alone ([BlockRows]), and the rows of a block are in one
//     row group, so the same input is always cut into the same blocks.
//   - Chunks arrive in order, one at a time. If an Adder works in parallel, each of its sums is computed by one
//     thread, so that no sum depends on timing.
//   - Threads and memory determine only how many blocks are decoded ahead.
package stream
