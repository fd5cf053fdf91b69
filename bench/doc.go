// Command bench makes data and measures ufs-stream on it. A release has the same program by the name ufs-stream-bench.
//
//	go run ./bench corpora FOLDER…     other projects' test files, read and compared with DuckDB
//	go run ./bench gen KIND -o PATH    make a seeded table with a known right selection
//	go run ./bench kill                kill long runs at random moments and start them again
//	go run ./bench memory [FILE…]      peak memory of every method and verb at its smallest limit
//	go run ./bench paper --data DIR    the papers' tables, with their figures and ours
//	go run ./bench peers [FILE…]       time, memory and quality against scikit-learn
//	go run ./bench quality DIR…        every method on every labelled set, ranked and tested
//	go run ./bench scale               time, rows/s and peak memory over sizes
//	go run ./bench small               the costs of a file, a row group and a column
//	go run ./bench speed               the methods against bare reading and the arithmetic peak
//
// # Making data
//
//	gen planted --rows 1000000 --columns 100 --label -o planted.parquet
//	gen grid --shape 28x28 --classes 10 -o grid.parquet
//	gen sparse --columns 5000 -o texts.parquet
//	gen emnist --from mnist70k.parquet -o emnist
//	gen emnist --from mnist70k.parquet --float64 -o emnist-float64
//
// # Packages
//
// Each verb is a package below internal, whose documentation describes its steps: corpora, gen, kill, memory, paper,
// peers, quality, small, and scale, which includes speed. Package verbs joins them to the program. They build on cli (the
// root command), workshop (the measured child processes, and the machine), tuning (settings that labels choose, for paper
// and quality) and results (tables and files); benchtest is for their tests. The programs that are compared with
// ufs-stream have folders of their own: _bareread, _decode and _duckdb here, peers.py in internal/peers.
//
// # How close to the machine
//
// speed compares each method with two lower bounds of the time of a run: reading the file, and multiplying.
//
// The operations that are counted are the full matrix products, even if a method avoids a part of these. With n rows, d
// features, m anchors, s = min(n, 10,000) sampled rows and c = 10 clusters their number is:
//
//	variance            none
//	greedy              n·d²                 half of the Gram matrix, which is symmetric
//	sfufs, graphgreedy  2·n·m·d + n·d²       the distances to the anchors, and the Gram matrix
//	eufs                2·s²·d + 5·8·s·d·c   the neighbours, and 4 products in each of 5 iterations
//
// The time is that of the whole process. If the columns contain small whole numbers, such as pixels, greedy multiplies
// whole numbers, and distances use float32. So the speed may exceed 100 % of the float64 peak.
package main
