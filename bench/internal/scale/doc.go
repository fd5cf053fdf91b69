// Package scale implements the verbs scale and speed. Both measure ufs-stream in turn with bareread, a program that
// only reads the same files. scale varies the size of the data. speed compares the time with two lower bounds of the
// time of a run: reading the file, and multiplying.
//
//  1. The data are generated in every size (made.go), or given by --data.
//  2. measureDataset takes turns: in each turn it runs bareread and every method, so that changes in the machine's
//     speed affect all of them alike (run.go). speed also measures decoding by chunkio without statistics
//     (bench/_decode) and, with --duckdb, DuckDB's sum of all columns (speed.go).
//  3. For each process a line in Go's benchmark format is written (write.go), and for each point a row of the summary
//     (points.go, write.go). scale plots the points (plot.go).
//  4. speed first measures how fast the machine multiplies in float64, float32 and whole numbers, by package kernel
//     on blocks that fit in caches (speed_peak.go). It writes each method's time as a multiple of the time of reading
//     in the same turn, and its operations per second as shares of the measured peaks (speed_peak.go). The
//     documentation of the command bench defines an operation.
package scale
