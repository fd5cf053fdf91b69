// Package scale implements the verbs scale and speed, which measure ufs-stream in turn with bareread, a program that
// only reads the same files. scale varies the size of the data. speed compares the time with the two lower bounds of
// a run, reading the file and multiplying.
//
//  1. The data are generated in every size (made.go), or given by --data.
//  2. measureDataset takes turns: a bare reading, and each method, so that noise affects all of them
//     alike (run.go). speed also measures decoding by chunkio without statistics (bench/_decode), and
//     with --duckdb DuckDB's sum of all columns (speed_duckdb.go).
//  3. For each process a line in Go's benchmark format is written (format.go), and for each point a
//     row of the summary (points.go, write.go). scale plots the points (plot.go).
//  4. speed first measures how fast the machine multiplies in float64, float32 and whole numbers,
//     by package kernel on blocks that fit in caches (speed_peak.go), and writes each method's time
//     as a multiple of the reading in the same turn, and its operations per second as shares of
//     the peaks (speed_write.go). The documentation of the command, bench, defines an operation.
package scale
