// Package corpora implements the verb corpora, which reads the files that other projects test their readers with, and
// compares their values with DuckDB's:
//
//  1. Each folder is a suite. listFiles lists its files that ufs-stream may be able to read (walk.go).
//  2. tryVerb runs ufs-stream on a file, in processes with a deadline: inspect --scan reads
//     all features, and convert copies all columns (try.go).
//  3. readFile reads the features of a file that inspect could read, in this process (read.go).
//  4. compareLeaves compares the values of Parquet files with DuckDB's values of the same leaves, and
//     compareCopy compares the rows of the copy (compare.go, duckdb.go). For refused files DuckDB is
//     tried too. The leaves of other formats are compared with DuckDB's values of the copy, which
//     convert made by another decoder than that of the features.
//  5. The findings become a table by suite, lists of files that were not read with reasons, and a line
//     for each file in CSV (write.go).
//
// With --expect the findings of a few files become the expectations of this package's test, which needs no
// DuckDB (expect.go): testdata/corpora is that selection.
package corpora
