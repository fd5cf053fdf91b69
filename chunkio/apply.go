package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
)

type (
	// ApplyOptions choose the columns and rows that Apply writes, and the form of its output.
	ApplyOptions = copying.ApplyOptions
	// ApplyReport describes the output of Apply.
	ApplyReport = copying.ApplyReport
	// Form is the file format that [Apply] writes.
	Form = copying.Form
	// Resumed counts files and rows that an interrupted run had finished, and that Apply reused or wrote again.
	Resumed = copying.Resumed
	// Unfinished is the error of an Apply that was interrupted, or stopped by a memory limit or an unavailable store,
	// after a part of its output was finished.
	Unfinished = copying.Unfinished
)

// Apply writes the chosen columns and rows of the inputs to out, in the format opt.Form; Parquet is compressed with
// zstd. Types, logical types, nullability and the bits of values stay the same; rows and row groups keep their order. A
// struct field or list element becomes a top-level column with its flattened name.
//
// All rows are written to the single file out if the input is one file, or if out has the ending of a Form and is not
// an existing folder. Otherwise out is a new folder, in which each input file becomes one file at the same relative
// path. Apply refuses an output that the same inputs would include the next time (see Dataset.NotInput). The output
// appears whole or not at all. A partition key that is not in the path of the output file is written as a column.
//
// If a run is killed, or if ctx ends or Memory is too low (with the error [Unfinished]), the finished part of the
// output stays in a hidden folder next to out. It consists of files if out is a folder, else of row groups; an Arrow or
// CSV file is made from its row groups when all are finished. The next Apply to out reuses every part that it would
// write the same way, and out has the same bytes in the end. A single Arrow or CSV file starts again if Memory is lower
// than in the interrupted run, or if Spool.Dir is set. An output that is one object in a store always starts again. If
// out is a folder in a store, its finished files stay in it, and the object _ufs_finished lists them until the object
// _SUCCESS is written. The next Apply, on any machine, reuses the listed files whose size and version have not changed.
// It takes over the folder: an earlier run that is still alive ends with an error. Apply refuses the folder if it
// contains an object that is not listed, and whose name is not the name of an output file.
//
// If opt.Where is set, an input file gets no output file if the condition excludes it by its partition keys. The output
// of every other input file contains only the matching rows, even if no row matches.
//
// Apply holds the encoded columns of one row group in memory, or a part of these columns if Memory is short. List
// elements that are written at the same time share one reading of their list.
func Apply(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	return copying.ApplyColumns(ctx, inputs, out, opt)
}

// Convert writes the inputs with all columns to out as Parquet, like Apply. It ignores opt.Columns and opt.Also.
// Columns that share a name keep this name. Structs and lists of Parquet keep their structure; the fields of other
// structs become columns of their flattened names. Rows of libsvm text become the lists indices and values, and the
// column label.
func Convert(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	return copying.ConvertInputs(ctx, inputs, out, opt)
}

// FormatNames returns the names of forms that [OutputForm] accepts.
func FormatNames() []string {
	return copying.FormatNames()
}

// OutputForm returns the form named by format or, if format is empty, by the ending of out. If neither names a form, it
// returns Parquet. It refuses an ending that belongs to another form than format.
func OutputForm(out, format string) (Form, error) {
	return copying.OutputForm(out, format)
}
