// Package intake takes in files of rows: CSV and TSV, NDJSON, NumPy arrays and Avro. They have no
// columns that could be read by themselves and no footer to find rows by, so that they are read
// once, from the front to the end, and written as Parquet to a scratch file, which is read like
// any other from then on:
//
//  1. cut (cut.go): the text is cut into pieces of whole rows;
//  2. parse (csv.go, ndjson.go, npy.go, avro.go): workers make a batch of cells of every piece;
//  3. gather (run.go, group.go): the batches, in their order, become row groups of a height that
//     only the number of columns decides.
//
// The types of text are inferred from a sample, the rows of the first 1 MiB (infer.go). A value
// behind it that does not fit is an error that names its line, unless its column may become wider:
// then the whole input is looked through, and written again.
package intake
