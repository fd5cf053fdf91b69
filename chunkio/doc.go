// Package chunkio turns files into chunks of float64 features, and back.
//
// It is the only package that knows file formats: it reads Parquet, Arrow IPC, text of libsvm and files of rows (CSV,
// TSV, NDJSON, NumPy arrays, Avro), and writes Parquet, Arrow IPC, CSV and the statistics container (.ufs). Reading has
// four steps:
//
//  1. expand: arguments (files, globs, directories, @lists, - for standard input)
//     become files in byte order of their paths;
//  2. catalog: every footer is read once, one file at a time. Columns are matched
//     by name; key=value folders become columns. A file uses about 150 bytes
//     of memory, and 8 bytes for each row group;
//  3. features: the options choose among the flattened columns, and every column
//     that is not a feature gets the reason for this;
//  4. pass: one scheduler cuts every row group, in order, into spans of whole blocks
//     and sends their columns to workers, which decode them and apply the policy for
//     missing values (null, NaN and ±Inf); the caller consumes the blocks in
//     order while the next span is decoded.
//
// This package is a facade. Each step is an internal package, and imports go one way: listing (step 1), opening (by
// format) above storage (the bytes of files and objects), catalog (step 2), schema (step 3) and pipeline (step 4),
// which cache helps to skip decoding. Package dataset joins them, plans stores a catalog in a plan file, and naming has
// the rules for names of columns. Files are written by writing, by copying (the command apply, which copies columns
// with their types) and by statsfile (.ufs). The package scratch below this one stores on disk the rows that an
// iterating method cannot hold in memory (stream.Scratch). Formats are internal packages too: parquet, ipc and svm read
// through the interfaces of format, intake writes files of rows as Parquet to a scratch file, text writes the values of
// classes, writer encodes Parquet, copier copies columns to Parquet, and export writes Arrow IPC or CSV.
//
// The first block of a row group starts at its first row, and a block has stream.BlockRows(d) rows for d columns.
// Blocks are views into a span, a column-major buffer that is reused once its blocks have been consumed. Threads and
// memory decide only the height of spans and the number of columns decoded at once, never the contents of a block.
//
// # Memory
//
// A pass holds at most Options.Memory bytes: the catalog, one or two open files (their parsed footers), the working
// memory of every worker, and one or two spans. The minimum (MinMemory) is the memory of one open file, one worker and
// one span of one block. If memory is short, a pass first uses fewer threads, then stops decoding ahead. Spans stop
// growing at 64 MiB, or at four blocks of wide rows, and nothing grows with the number of rows. Spans are kept for the
// next pass until the Dataset is closed. The memory of Options.Keep is not included. It holds decoded columns, up to a
// limit of its own, so that later passes need not open their row groups.
//
// # Rows
//
// The global position of a row is the number of rows before it in all files, in order, including dropped rows. Rows
// outside the sample (Options.Sample) and rows of weight 0 take no part: their values are not counted, and cause no
// errors. If a span has several errors, the error in its first row with an error is reported and, among the errors in
// that row, the error in the first column.
//
// # Conditions
//
// Options.Where is decided as early as possible. The keys of a path, or of a table, leave out files before their
// footers are read: the rows of such files are not counted in positions. The statistics of a row group, read with the
// footer, exclude it or accept all of it. For the row groups still undecided, the scheduler evaluates the condition on
// the rows of a span before it hands out tasks: it decodes the condition's columns, numbers by value and other types as
// text. Rows for which the condition is not true take no part. If no row of a span is left, its other columns are not
// decoded. Positions, blocks and Rows count all rows of the files that are read, so that no result depends on how much
// the statistics exclude. A sample is drawn from the matching rows; if statistics leave row groups undecided, drawing
// it needs a pass over the condition's columns. Properties that come from footers still describe whole files: the
// lengths of lists, and the largest index of sparse rows.
//
// # Sparse rows
//
// With Options.Sparse two list columns, indices and values, or a map of integers to numbers, make sparse rows. An
// absent index is 0 and an explicit 0 is dropped. The indices of a row may be in any order, but must differ. A value
// that is null, NaN or ±Inf is missing. Text of libsvm and Matrix Market, which DefaultSparse recognizes, has rows of such
// a map, and libsvm their labels. A matrix in a folder that CellRanger wrote has cells as columns, which become the
// rows, and its features have names. Opening such a text first writes the rows to a scratch file, because text has no
// row groups. A file of triples (three columns row, index and value, sorted by row) is also written to a scratch file: the
// rows of each file continue after the rows of the file before it, and rows without a triple are zeros.
//
// # Classes
//
// With Options.Classes the label's values are classes, numbered in the order in which their rows are delivered. A class
// is named by its value as text, the same in every format: integers exactly, floats as the shortest decimal, dates and
// times in ISO 8601, bytes as they are. Null and NaN are not classes. A format delivers a list of texts and the index
// of each row's text, so that each text of a dictionary is made only once. The scheduler decodes the label, like
// weights.
package chunkio
