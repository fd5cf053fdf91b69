// Command bench makes data and measures ufs-stream on it:
//
//	go run ./bench gen KIND -o PATH    make a seeded table whose answer is known
//	go run ./bench paper --data DIR    the papers' tables, their figures beside ours
//	go run ./bench peers [FILE…]       time, memory and quality beside scikit-learn
//	go run ./bench quality DIR…        every method on every labelled set, ranked and tested
//	go run ./bench scale               time, rows/s and peak memory over sizes
//	go run ./bench speed               the methods beside bare reading and the arithmetic peak
//
// # Making data
//
//	gen planted --rows 1000000 --columns 100 --label -o planted.parquet
//	gen grid --shape 28x28 --classes 10 -o grid.parquet
//	gen sparse --columns 5000 -o texts.parquet
//	gen emnist --from mnist70k.parquet -o emnist
//	gen emnist --from mnist70k.parquet --float64 -o emnist-float64
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
//
// # Which method chooses best
//
// quality decides about defaults. No label takes part in a choice, and no figure is made by
// hand:
//
//  1. findSets lists the labelled Parquet files of the folders (quality_sets.go), and makes
//     generated ones whose answer is known (quality_kinds.go says what each asks,
//     quality_made.go makes them).
//  2. fill runs each variant (quality_variants.go) on each set, by package ufs
//     (quality_run.go, quality_choose.go), also on complementary halves of the rows
//     (quality_halves.go), and judges the choices by ufs.Eval (quality_judge.go).
//  3. Each finished pair is a line of a file (quality_findings.go), and not run again.
//  4. tabulate ranks the variants within each set and tests the mean ranks by
//     internal/judge (quality_tables.go); quality_markdown.go and quality_write.go write.
//
// A further method takes part once it is in methods.All, a further variant by a line in
// namedVariants.
//
// # How near to the machine
//
// speed says how far each method is from the two floors of a run, reading the file and
// multiplying:
//
//  1. measurePeak measures what the machine multiplies a second in float64, float32 and whole
//     numbers, by package kernel on blocks that caches hold (speed_peak.go).
//  2. measure takes turns, as in scale: a bare reading, our own decoding without statistics
//     (bench/_decode), with --duckdb DuckDB's sum of all columns (speed_duckdb.go), and each
//     method, so that noise affects all of them alike (scale_run.go).
//  3. summary writes each method's time as a multiple of the reading in the same turn, and its
//     operations per second as shares of the peaks (speed_write.go).
//
// Counted are the large products in full, whatever a method spares of them. With n rows, d
// features, m anchors, s = min(n, 10,000) sampled rows and c = 10 clusters:
//
//	variance            none
//	greedy              n·d²                 the Gram matrix, by symmetry
//	sfufs, graphgreedy  2·n·m·d + n·d²       the distances to the anchors, and the Gram matrix
//	eufs                2·s²·d + 5·8·s·d·c   the neighbours, and 4 products in each of 5 iterations
//
// The time is that of the whole process. Whole numbers count for greedy where the columns hold
// small ones, as pixels are, and float32 for distances, so that a share of the float64 peak may
// be above 100 %.
package main
