// Package chunkio turns files into chunks of float64 features, and back.
//
// It is the only package that knows file formats: it reads Parquet, Arrow IPC, text of libsvm and
// files of rows (CSV, TSV, NDJSON, NumPy arrays, Avro), and writes Parquet, Arrow IPC, CSV and the
// statistics container (.ufs). Reading goes in steps:
//
//  1. expand: arguments (files, globs, directories, @lists, - for standard input)
//     become files in byte order of their paths;
//  2. catalog: every footer is read once, one file at a time. Columns are matched
//     by name; key=value folders become columns. A file leaves some 150 bytes
//     in memory, and 8 bytes a row group;
//  3. features: the options choose among the flattened columns, and every column
//     that is no feature gets its reason;
//  4. pass: for every row group, in order, one scheduler cuts spans of whole blocks
//     and hands out their columns to workers, which decode and settle them (nulls,
//     NaN and ±Inf by policy, with their place); the caller consumes the blocks in
//     order while the next span is decoded.
//
// Files here are named for their part: dataset_ is steps 1 to 3 and pipeline_ step 4;
// write_, apply_ (the typed copy behind the verb) and stats_ (.ufs) make files. The package scratch
// under this one keeps what a method that iterates over rows cannot hold (stream.Scratch). Formats are
// internal packages: parquet, ipc and svm read behind the interfaces of format, intake writes files of
// rows as Parquet to a scratch file, text writes the values of classes, writer encodes Parquet, copier
// copies columns to it, and export writes it as Arrow IPC or CSV.
//
// Blocks start at the starts of row groups and have stream.BlockRows(d) rows. They
// are views into a span, a column-major buffer that is used again once its blocks
// have been consumed. Threads and memory decide only how tall spans are and how
// many columns are decoded at once, never what a block holds.
//
// # Memory
//
// A pass holds at most Options.Memory bytes: the catalog, one or two open files
// (their parsed footers), the scratch of every worker, and one or two spans. The
// least is one of each and a span of one block (MinMemory). Where there is less
// than wished for, threads go first, then decoding ahead. Spans stop growing at 64
// MiB, or at four blocks of wide rows, and nothing grows with the number of rows. Spans are kept for the next pass
// until the Dataset is closed. Options.Keep is beside that: it holds what passes have
// decoded, up to a limit of its own, so that later passes open those row groups no more.
//
// # Rows
//
// The global position of a row counts all rows before it, over the files in order,
// dropped rows included. Rows outside the sample (Options.Sample) and rows of
// weight 0 take no part: what they hold is neither counted nor complained about.
// Where a span has several errors, the one in the lowest row, then the lowest column,
// is reported.
//
// # Conditions
//
// Options.Where is decided as early as may be. The keys of a path, or of a table, leave
// files out before their footers are read: such files are not there, and count in no
// position. The statistics of a row group, read with the footer, exclude it or grant all of
// it. What is undecided then the scheduler asks of the rows of a span, before it hands out
// tasks: it decodes the condition's columns, all of them by value where they are numbers and
// as text where they are not, and rows for which the condition is not true take no part. A
// span of which none is left decodes nothing more. Positions, blocks and Rows count the
// rows of the files that are read alike, so that no answer depends on what statistics
// spare. A sample is drawn from the rows that match; where statistics leave row groups
// undecided, it costs a pass over the condition's columns. Facts that the footers tell of
// a whole file stay those of the file: its lists' lengths, and the largest index of
// sparse rows.
//
// # Sparse rows
//
// With Options.Sparse two list columns, indices and values, or a map of integers to
// numbers, make sparse rows. An absent index is 0 and an explicit 0 is dropped. Indices
// may come in any order, once a row each. A value that is null, NaN or ±Inf is missing.
// Text of libsvm, which
// DefaultSparse tells by its name, is rows of such a map and their labels; its first
// opening writes them to a scratch file, because text has no row groups. So does that of
// a file of triples, three columns row, index and value sorted by row: the rows of one
// file go on where those of the one before end, and those without a triple are zeros.
//
// # Classes
//
// With Options.Classes the label's values are classes, numbered in the order in which
// their rows are delivered. A class is named by its value as text, the same in every
// format: integers exactly, floats as the shortest decimal (every NaN is one class),
// dates and times in ISO 8601, bytes as they are. A format delivers numbers of texts, so
// that a dictionary's texts are made once; the scheduler reads them, like weights.
package chunkio
