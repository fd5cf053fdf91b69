// Package paper implements the verb paper, which computes the tables of the papers on the real datasets, and compares
// our figures with the printed ones.
//
//  1. tables.go describes each table: the datasets, the methods, their grids of settings, and the printed figures.
//  2. fillTable makes all selections of a table by ufs-stream select, and scores these by ufs-stream eval (run.go).
//  3. tuneAll runs the grids by ufs-stream path, and chooses settings by the labels, as the papers do (tune.go).
//  4. runOnce keeps the output of every command, so that an interrupted run continues (resume.go).
//  5. writeTables writes each printed figure, our figure and the difference as Markdown (write.go).
package paper
