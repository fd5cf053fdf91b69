// Package scale implements the verbs scale and speed, which measure ufs-stream in turn with the bare reading of the
// same files: scale over sizes, and speed relative to the two lower bounds of a run, reading the file and
// multiplying.
//
//  1. Data is generated in every size (made.go), or given by --data.
//  2. measureDataset takes turns: a bare reading, and each method, so that noise affects all of them
//     alike (run.go); in speed also our own decoding without statistics (bench/_decode), and
//     with --duckdb DuckDB's sum of all columns (speed_duckdb.go).
//  3. Each process is a line in Go's benchmark format (format.go), each point a row of the
//     summary (points.go, write.go), and scale plots them (plot.go).
//  4. speed first measures how fast the machine multiplies in float64, float32 and whole numbers,
//     by package kernel on blocks that fit in caches (speed_peak.go), and writes each method's time
//     as a multiple of the reading in the same turn, and its operations per second as shares of
//     the peaks (speed_write.go). The documentation of the command, bench, defines an operation.
package scale
