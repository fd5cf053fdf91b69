package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/ufs/internal/applying"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

type (
	// ApplyRequest chooses the columns and rows of the input to write, and the output.
	ApplyRequest = applying.ApplyRequest
	// ConvertRequest chooses the input to write as Parquet, and the output.
	ConvertRequest = applying.ConvertRequest
	// Inspection describes the contents of the input, or of a statistics file.
	Inspection = result.Inspection
	// InspectedColumn describes a column of the input, which may be a feature or not.
	InspectedColumn = result.InspectedColumn
)

// Apply writes the selected columns of the input, with their original types and values. The output appears only when it
// is complete. If Apply is interrupted, a later call resumes it ([chunkio.Apply]).
func Apply(ctx context.Context, a ApplyRequest) (chunkio.ApplyReport, error) {
	return applying.ApplySelection(ctx, a)
}

// Locate finds the positions in the input of the columns that [Apply] would write. Of the files it reads only footers.
func Locate(ctx context.Context, a ApplyRequest) (located *chunkio.Located, err error) {
	return applying.LocateColumns(ctx, a)
}

// Convert writes the input, of any format, as Parquet with all its columns. The output appears only when it is
// complete. If Convert is interrupted, a later call resumes it, as with [Apply].
func Convert(ctx context.Context, c ConvertRequest) (chunkio.ApplyReport, error) {
	return applying.ConvertInput(ctx, c)
}

// Inspect lists every column of the input. It reports whether the column is a feature, and if not, the reason. It reads
// only footers. If scan is true, it also reads the features, and adds their range and counts of missing values by kind.
// Inspect also accepts a single statistics file.
func Inspect(ctx context.Context, q Request, scan bool) (*Inspection, error) {
	return applying.InspectInput(ctx, q, scan)
}
