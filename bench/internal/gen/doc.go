// Package gen implements the verb gen, which makes data with a known answer. A table is a stream.Source, which
// chunkio.WriteParquet reads:
//
//  1. A Filler makes any rows of any column; each value is a hash of seed, column and row
//     (planted.go with package planted, grid.go). A sparse table is made row by row (sparse.go).
//  2. filledTable makes one block of rows at a time, its columns in parallel, and replaces the
//     share --nulls of the values by missing values (source.go).
//  3. generateTable splits the rows into --files and writes them and the answer, JSON that lists
//     the columns by their role (gen.go).
//
// Memory holds one block and one row group, for any number of rows. The bytes do not depend on the number of
// threads. emnist has no answer file, because it moves real images (emnist.go).
//
// Writing a value as Parquet costs several times as much as making it (BenchmarkFill): making values faster
// would gain nothing.
package gen
