// Package corpora is the verb corpora, which reads what other projects test their readers with, and
// compares what it reads with DuckDB's reading of the same files:
//
//  1. walk lists the files of each folder, a suite, that ufs-stream can be asked to read (walk.go).
//  2. try runs ufs-stream on a file, in processes of their own with a deadline: inspect --scan reads
//     all features, and convert copies all columns (try.go).
//  3. read reads the features of a file that inspect read, in this process (read.go).
//  4. Of Parquet files, compare asks DuckDB for the same leaves, value by value, and for the rows
//     of the copy (compare.go, duckdb.go); of files that are refused it asks whether DuckDB reads them.
//     The leaves of other formats are compared with DuckDB's reading of the copy, which has been
//     decoded by others' code than the features are.
//  5. The findings become a table by suite, lists of what is not read and why, and a line a file
//     in CSV (write.go).
//
// With --expect the findings of a few files become what this package's test wants of them ever
// after, without DuckDB (expect.go): testdata/corpora is that selection.
package corpora
