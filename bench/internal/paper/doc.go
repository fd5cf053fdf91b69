// Package paper implements the verb paper: the papers' tables on the real datasets, with their figures and ours.
//
//  1. A table is data (tables.go): the sets, the methods, the figures to compare with and their
//     sources.
//  2. fillTable makes all selections of a table and then clusters with them, by select and eval of
//     ufs-stream itself (run.go).
//  3. writeTables writes each figure, ours and the difference as Markdown (write.go).
package paper
