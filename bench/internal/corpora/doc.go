// Package corpora implements the verb corpora. It reads files with which other projects test their readers, and
// compares the values with DuckDB's:
//
//  1. Each folder is a suite. listFiles lists the files in it that ufs-stream may be able to read (walk.go).
//  2. tryVerb runs ufs-stream on a file, in processes with a deadline: inspect --scan reads all features, and convert
//     copies all columns (try.go).
//  3. If inspect could read the file, readFile reads its features in this process (try.go).
//  4. compareLeaves compares the values of Parquet files with the values that DuckDB reads, and compareCopy the rows of
//     the copy (compare.go, duckdb.go). Files that ufs-stream refuses are also tried with DuckDB. For other formats
//     DuckDB reads the copy. The verb convert makes it with another decoder than the one that reads features.
//  5. The findings are written as a table by suite, as lists of files that were not read, with reasons, and as a
//     line for each file in CSV (write.go).
//
// With --expect the findings of a few files are written as expectations for this package's test, which needs no DuckDB
// (expect.go). These files are in testdata/corpora.
package corpora
