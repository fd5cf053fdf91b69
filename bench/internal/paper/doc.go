// Package paper implements the verb paper, which computes the papers' tables on the real datasets, and compares our
// figures with the printed ones.
//
//  1. tables.go describes each table: the datasets, the methods, and the figures to compare with.
//  2. fillTable makes all selections of a table by ufs-stream select, and clusters with them by
//     ufs-stream eval (run.go).
//  3. writeTables writes each printed figure, our figure and the difference as Markdown (write.go).
package paper
