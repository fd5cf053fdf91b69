// Command bench makes data and measures ufs-stream on it:
//
//	go run ./bench gen KIND -o PATH    make a seeded table whose answer is known
//	go run ./bench paper --data DIR    the papers' tables, their figures beside ours
//	go run ./bench scale               time, rows/s and peak memory over sizes
//
// # Making data
//
//	gen planted --rows 1000000 --columns 100 --label -o planted.parquet
//	gen grid --shape 28x28 --classes 10 -o grid.parquet
//	gen sparse --columns 5000 -o texts.parquet
//	gen emnist --from mnist70k.parquet -o emnist
//
// A table is a stream.Source, which chunkio.WriteParquet reads:
//
//  1. A filler makes any piece of any column; each value is a hash of seed, column and row
//     (gen_planted.go with package planted, gen_grid.go). Sparse rows are made as a whole
//     (gen_sparse.go).
//  2. filledTable makes one block of rows, its columns in parallel, and leaves out the
//     share --nulls of the values (gen_source.go).
//  3. generate cuts the rows into --files and writes them and the answer, JSON that names
//     the columns by the part they play (gen.go).
//
// The memory is one block and one row group, however many rows there are. The bytes do not
// depend on the threads, and any piece can be made again by itself. emnist has no answer,
// because it moves real images (gen_emnist.go).
//
// Writing a value as Parquet costs several times as much as making it, which BenchmarkFill
// measures: there is nothing to gain by making values faster.
package main
