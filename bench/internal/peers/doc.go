// Package peers is the verb peers: time, memory and quality beside scikit-learn, and beside methods as
// scikit-feature has them.
//
//  1. draw hands over rows that the seed draws, to ufs-stream as Parquet and to Python as .npy
//     (rows.go). Memory does not grow with their number, but for a number a row.
//  2. takeTurns runs every peer in turn, each selection a process (run.go): ufs-stream, or a function
//     of peers.py (python.go).
//  3. judge scores all choices alike, by ufs-stream eval.
//  4. write writes the tables and the figures (write.go).
package peers
