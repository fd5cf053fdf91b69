package result

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// DifferenceSchema names the version of the JSON form of Difference.
const DifferenceSchema = "ufs-stream/diff/v1"

// Difference lists the changes from an old selection to a new one. It is plain data.
type Difference struct {
	Schema   string    `json:"schema"`
	Old      Side      `json:"old"`
	New      Side      `json:"new"`
	Both     int       `json:"both"`     // number of features in both selections
	Came     []Change  `json:"came"`     // features only in the new selection, sorted by rank
	Went     []Change  `json:"went"`     // features only in the old selection, sorted by rank
	Moved    []Move    `json:"moved"`    // features in both selections at different ranks, sorted by the new rank
	Settings []Setting `json:"settings"` // options with different values
	Data     DataShift `json:"data"`
}

// DataShift lists the differences between the data of the old and the new selection. Its columns are features or
// left-out columns of the selections. The lists are empty unless both selections have reports on their features.
type DataShift struct {
	SameInputs bool     `json:"same_inputs"` // both selections name the same files, with the same contents
	Rows       int64    `json:"rows_more"`   // number of used rows in the new selection minus the old number
	Features   int      `json:"features_more"`
	New        []string `json:"new_columns"`
	Gone       []string `json:"gone_columns"`
}

// Side summarises one of the selections.
type Side struct {
	Method   string        `json:"method"`
	K        int           `json:"k"`
	RowsUsed int64         `json:"rows_used"`
	Features int           `json:"features"`
	Error    stream.Number `json:"error"` // error of the whole selection on its own data
}

// Change is a feature of only one of the two selections, with the report of the other selection on this feature.
type Change struct {
	Name      string        `json:"name"`
	Rank      int           `json:"rank"`
	Explained stream.Number `json:"explained"`         // share that the other selection explains; of a group: the least
	Nearest   string        `json:"nearest,omitempty"` // the nearest feature of the other selection
	Why       string        `json:"why,omitempty"`     // reason for its absence from the other selection
}

// Move is a feature that has different ranks in the two selections.
type Move struct {
	Name string `json:"name"`
	Old  int    `json:"old_rank"`
	New  int    `json:"new_rank"`
}

// Setting is an option with its values in the two selections. A value is empty if the selection lacks the option.
type Setting struct {
	Option string `json:"option"`
	Old    string `json:"old"`
	New    string `json:"new"`
}

// VerdictSchema names the version of the JSON form of Verdict.
const VerdictSchema = "ufs-stream/check/v1"

// Verdict reports whether a selection still serves new data. It is plain data. Errors are shares of the sum of squares
// of the new data, scaled as the selection records; NaN means that there is no such error.
type Verdict struct {
	Schema string   `json:"schema"`
	Again  bool     `json:"select_again"` // the selection no longer serves the new data
	Why    []string `json:"why"`          // reasons to select again
	// Undecided lists the reasons why the question cannot be decided. It is empty if the question is decided, and if
	// there are reasons to select again.
	Undecided []string `json:"undecided"`

	Method   string `json:"method"` // method of the selection
	K        int    `json:"k"`
	Scale    string `json:"scale"`
	Rows     int64  `json:"rows"`
	RowsUsed int64  `json:"rows_used"`
	Features int    `json:"features"`

	Error stream.Number `json:"error"`       // error of the selection, with weights fitted to the new data
	Fresh stream.Number `json:"fresh_error"` // error of a fresh greedy selection of as many features
	// Lost is (Error − Fresh)/(1 − Fresh): the part of a fresh selection's explained share that the old one does
	// not explain; negative if the old one is better.
	Lost      stream.Number `json:"lost"`
	Tolerance stream.Number `json:"tolerance"`
	// LostBefore is Lost on the baseline or, without a baseline, on the data from which the selection was made; NaN if
	// this is not recorded. LostSince is the part of the former share of the selection, relative to a fresh selection,
	// that it no longer explains: 1 − (1 − Lost)/(1 − LostBefore). The tolerance bounds LostSince.
	LostBefore stream.Number `json:"lost_on_baseline"`
	LostSince  stream.Number `json:"lost_since"`
	// OwnError is the error that the selection records on the data from which it was made; NaN if it records none.
	OwnError     stream.Number `json:"recorded_error"`
	ByOldWeights stream.Number `json:"error_by_old_weights"` // error with the weights fitted to the baseline

	FreshNames []string         `json:"fresh_selected"`
	Gone       []stream.LeftOut `json:"gone"` // features of the selection that the new data lack
	Columns    []ColumnShift    `json:"columns"`
	Warnings   []string         `json:"warnings"`

	Transfer *stream.Transfer `json:"transfer,omitempty"` // for fetching the statistics; nil if nothing was fetched
}

// LostOfOwn returns the part of the share explained in its own data that the selection no longer explains in the new
// data: 1 − (1 − Error)/(1 − OwnError). It is NaN if the selection records no error.
func (v *Verdict) LostOfOwn() stream.Number { return 1 - (1-v.Error)/(1-v.OwnError) }

// ColumnShift measures how the values of a feature changed since the baseline or, without a baseline, since the record
// of the selection. It may also note that the feature became constant, disappeared or came back.
type ColumnShift struct {
	Name     string        `json:"name"`
	Selected bool          `json:"selected"`
	PSI      stream.Number `json:"psi"`            // population stability index by histograms; NaN without histograms
	Groups   int           `json:"groups"`         // number of groups of values that PSI compares
	Mean     stream.Number `json:"mean_shift"`     // difference of the means, in former standard deviations
	Variance stream.Number `json:"variance_ratio"` // new variance divided by the former one
	// IfNormal is the index of normal distributions with these means and variances. It is used if PSI is missing.
	IfNormal stream.Number `json:"psi_if_normal"`
	Moved    string        `json:"moved,omitempty"` // MovedSome, MovedMuch, BecameConstant, Disappeared or CameBack
	// Why describes the change of a column that is not a feature now or was none before; otherwise it is empty.
	Why string `json:"why,omitempty"`
}

// The values of ColumnShift.Moved, and the stability indices from which MovedSome and MovedMuch hold. They are the
// bounds used in credit scoring: see gram.Histograms. The average index of two samples of one distribution is
// subtracted first.
const (
	MovedSome      = "some"
	MovedMuch      = "much"
	BecameConstant = "constant" // the values became constant, or became another constant
	Disappeared    = "gone"     // the column is missing, or is no longer a feature
	CameBack       = "back"     // the column had no values, or only one, before
	SomeMovedIndex = 0.1
	MuchMovedIndex = 0.25
)

// Index returns the stability index PSI or, without one, IfNormal. It is infinite if the column is a feature only now
// or only before.
func (c *ColumnShift) Index() float64 {
	if c.Why != "" {
		return math.Inf(1)
	}
	if psi := float64(c.PSI); psi == psi {
		return psi
	}
	return float64(c.IfNormal)
}
