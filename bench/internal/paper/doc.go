// Package paper implements the verb paper, which computes the tables of the papers on the real datasets, and compares
// our figures with figures from other sources.
//
//  1. tables.go describes each table: the datasets, the methods, and the figures to compare with.
//  2. fillTable makes all selections of a table by ufs-stream select, and scores these by ufs-stream eval (run.go).
//  3. writeTables writes each of these figures, our figure and the difference as Markdown (write.go).
package paper
