package ufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// VerdictSchema names the version of the JSON form of Verdict.
const VerdictSchema = "ufs-stream/check/v1"

// Verdict reports whether a selection still serves new data. It is plain data. Errors are shares of the sum of squares
// of the new data, scaled as the selection records; NaN means that there is no such error.
type Verdict struct {
	Schema string   `json:"schema"`
	Again  bool     `json:"select_again"`
	Why    []string `json:"why"` // reasons to select again
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
	MovedSome = "some"
	MovedMuch = "much"

	BecameConstant = "constant" // the values became constant, or became another constant
	Disappeared    = "gone"     // the column is missing, or is no longer a feature
	CameBack       = "back"     // the column had no values, or only one, before

	someMovedIndex = 0.1
	muchMovedIndex = 0.25
)

// Index returns the PSI or, without one, IfNormal. It is infinite for a column that is a feature only now or only
// before.
func (c *ColumnShift) Index() float64 {
	if c.Why != "" {
		return math.Inf(1)
	}
	if psi := float64(c.PSI); psi == psi {
		return psi
	}
	return float64(c.IfNormal)
}
