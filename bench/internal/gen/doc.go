// Package gen implements the verb gen, which makes data with a known answer. A table is made as a stream.Source and
// written by chunkio.WriteParquet:
//
//  1. A Filler makes any rows of any column. Each value is a hash of seed, column and row (planted.go with package
//     planted, grid.go). A sparse table is made row by row (sparse.go).
//  2. filledTable makes one block of rows at a time, its columns in parallel. If --nulls is a share above 0, it
//     replaces this share of the values by missing values (source.go).
//  3. generateTable divides the rows among --files and writes the files. It also writes the answer, which is JSON that
//     lists the columns by their role (gen.go).
//
// The memory contains only one block and one row group, for any number of rows. The bytes do not depend on the number
// of threads. emnist has no answer file, because it only moves real images (emnist.go).
//
// Writing a value as Parquet costs several times as much as making it (BenchmarkFill). A faster Filler would not help.
package gen
