// Package intake converts files of rows: CSV and TSV, NDJSON, NumPy arrays and Avro. Their columns cannot be read one
// by one, and no footer locates their rows. So the files are read once, from beginning to end, and written as Parquet
// to a scratch file, which is then read like any other Parquet file:
//
//  1. cut (cut.go): the text is cut into pieces of whole rows;
//  2. parse (csv.go, ndjson.go, npy.go, avro.go): workers turn every piece into a batch of cells;
//  3. gather (run.go, group.go): the batches are joined in order and written as row groups. The number of rows in a
//     group depends only on the number of columns.
//
// The types of text are inferred from a sample, the rows of the first 1 MiB (infer.go). A later value that does not fit
// is an error that names its line, unless its column may become wider: then the whole input is scanned and written
// again.
//
// A NumPy array of numbers needs no parsing. If its file is local and not compressed, its rows are read in place
// (npy_array.go).
package intake
