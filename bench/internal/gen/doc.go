// Package gen implements the verb gen, which makes data with a known answer. A table is a stream.Source, which
// chunkio.WriteParquet reads:
//
//  1. A Filler makes any piece of any column; each value is a hash of seed, column and row
//     (planted.go with package planted, grid.go). Sparse rows are made as a whole (sparse.go).
//  2. filledTable makes one block of rows, its columns in parallel, and leaves out the
//     share --nulls of the values (source.go).
//  3. generateTable splits the rows into --files and writes them and the answer, JSON that lists
//     the columns by their role (gen.go).
//
// The memory is one block and one row group, for any number of rows. The bytes do not depend on the threads,
// and any piece can be made again by itself. emnist has no answer, because it moves real images (emnist.go).
//
// Writing a value as Parquet costs several times as much as making it (BenchmarkFill): making values faster
// would gain nothing.
package gen
