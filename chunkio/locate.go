package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
)

type (
	// Located describes the places of the columns of a selection in the files of their input.
	Located = copying.Located
	// Place locates a selected column, perhaps a field of a struct or an element of a list, in the schema of a file.
	Place = copying.Place
	// Batch is a sequence of files that another program can read in the same way.
	Batch = copying.Batch
	// TextLayout is the layout of rows of CSV or NDJSON in a file.
	TextLayout = copying.TextLayout
	// TextStep leads from a JSON value to a value inside it.
	TextStep = copying.TextStep
	// Value describes how to read one column from the files of a Batch.
	Value = copying.Value
)

// Locate finds the columns that [Apply] would write, and returns the same errors. Of a file with a footer it reads only
// the footer.
func Locate(ctx context.Context, inputs []string, opt ApplyOptions) (*Located, error) {
	return copying.LocateColumns(ctx, inputs, opt)
}
