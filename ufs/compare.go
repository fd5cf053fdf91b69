package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/comparing"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// DefaultTolerance is the share of a fresh selection's explained variance that an old selection may fail to explain.
const DefaultTolerance = comparing.DefaultTolerance

// The versions of the JSON forms of Difference and Verdict.
const (
	DifferenceSchema = result.DifferenceSchema
	VerdictSchema    = result.VerdictSchema
)

// The values of ColumnShift.Moved.
const (
	MovedSome      = result.MovedSome
	MovedMuch      = result.MovedMuch
	BecameConstant = result.BecameConstant
	Disappeared    = result.Disappeared
	CameBack       = result.CameBack
)

type (
	// CheckRequest names a selection and the statistics of new data to check it against.
	CheckRequest = comparing.CheckRequest
	// Difference lists the changes from an old selection to a new one.
	Difference = result.Difference
	// DataShift lists the differences between the data of the old and the new selection.
	DataShift = result.DataShift
	// Side summarises one of the two selections that Diff compares.
	Side = result.Side
	// Change is a feature of only one of the two selections, with the report of the other selection on this feature.
	Change = result.Change
	// Move is a feature that has different ranks in the two selections.
	Move = result.Move
	// Setting is an option with its values in the two selections.
	Setting = result.Setting
	// Verdict reports whether a selection still serves new data.
	Verdict = result.Verdict
	// ColumnShift measures how the values of a feature changed since the baseline or, without a baseline, since the
	// record of the selection.
	ColumnShift = result.ColumnShift
)

// Check decides from statistics alone whether a selection is still good for new data. It compares the share of the
// variance that the selected features explain with the share that a fresh selection of the same size explains. It also
// finds selected features that the new data lack, and columns whose distribution changed. If it is time to select
// again, Check returns the Verdict together with a *stream.StaleError.
func Check(ctx context.Context, o CheckRequest) (*Verdict, error) {
	return comparing.CheckSelection(ctx, o)
}

// Diff compares two selections by the names of their features.
func Diff(before, after *stream.Selection) *Difference {
	return comparing.CompareSelections(before, after)
}
