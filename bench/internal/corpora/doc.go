// Package corpora implements the verb corpora, which reads the files that other projects test their readers with, and
// compares their values with DuckDB's:
//
//  1. listFiles lists the files of each folder, a suite, that ufs-stream can be asked to read (walk.go).
//  2. tryVerb runs ufs-stream on a file, in processes with a deadline: inspect --scan reads
//     all features, and convert copies all columns (try.go).
//  3. readFile reads the features of a file that inspect could read, in this process (read.go).
//  4. compareLeaves asks DuckDB for the same leaves of Parquet files, value by value, and for the rows
//     of the copy (compare.go, duckdb.go); for refused files it asks whether DuckDB reads them.
//     The leaves of other formats are compared with DuckDB's reading of the copy, which a different
//     decoder than that of the features has made.
//  5. The findings become a table by suite, lists of files that were not read with reasons, and a line
//     for each file in CSV (write.go).
//
// With --expect the findings of a few files become the expectations of this package's test, which needs no
// DuckDB (expect.go): testdata/corpora is that selection.
package corpora
