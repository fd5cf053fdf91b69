package ufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// VerdictSchema names the version of the JSON form of Verdict.
const VerdictSchema = "ufs-stream/check/v1"

// Verdict reports whether a selection still serves new data. It is plain data. Errors are shares of the new
// data's sum of squares, scaled as the selection records; NaN if there is none.
type Verdict struct {
	Schema string   `json:"schema"`
	Again  bool     `json:"select_again"`
	Why    []string `json:"why"` // reasons to select again
	// Undecided lists the reasons why the question cannot be decided; empty if it can, and if there are reasons
	// to select again.
	Undecided []string `json:"undecided"`

	Method   string `json:"method"` // of the selection
	K        int    `json:"k"`
	Scale    string `json:"scale"`
	Rows     int64  `json:"rows"`
	RowsUsed int64  `json:"rows_used"`
	Features int    `json:"features"`

	Error stream.Number `json:"error"`       // of the selection, with weights fitted to the new data
	Fresh stream.Number `json:"fresh_error"` // of a fresh greedy selection of as many features
	// Lost is (Error − Fresh)/(1 − Fresh): the part of a fresh selection's explained share that the old one does
	// not explain; negative if the old one is better.
	Lost      stream.Number `json:"lost"`
	Tolerance stream.Number `json:"tolerance"`
	// LostBefore is Lost on the baseline or, without one, on the data that the selection was made from; NaN if
	// nothing records it. LostSince is the part of the selection's former share, relative to a fresh one, that
	// it no longer explains: 1 − (1 − Lost)/(1 − LostBefore). The tolerance bounds LostSince.
	LostBefore stream.Number `json:"lost_on_baseline"`
	LostSince  stream.Number `json:"lost_since"`
	// OwnError is the recorded error of the selection on the data it was made from; NaN if it records none.
	OwnError     stream.Number `json:"recorded_error"`
	ByOldWeights stream.Number `json:"error_by_old_weights"` // with the weights fitted to the baseline

	FreshNames []string         `json:"fresh_selected"`
	Gone       []stream.LeftOut `json:"gone"` // features of the selection that the new data lack
	Columns    []ColumnShift    `json:"columns"`
	Warnings   []string         `json:"warnings"`

	Transfer *stream.Transfer `json:"transfer,omitempty"` // of the statistics; nil if nothing was fetched
}

// LostOfOwn returns the part of the selection's explained share of its own data that it no longer explains in the
// new data: 1 − (1 − Error)/(1 − OwnError), NaN if it records no error.
func (v *Verdict) LostOfOwn() stream.Number { return 1 - (1-v.Error)/(1-v.OwnError) }

// ColumnShift measures the change of a feature's values, from the baseline, or without one from the selection's
// record; or it notes that the feature became constant, is gone, or came back.
type ColumnShift struct {
	Name     string        `json:"name"`
	Selected bool          `json:"selected"`
	PSI      stream.Number `json:"psi"` // by histograms; NaN without
	Groups   int           `json:"groups"`
	Mean     stream.Number `json:"mean_shift"`     // difference of means, in former standard deviations
	Variance stream.Number `json:"variance_ratio"` // new over old
	// IfNormal is the index of normal distributions with these means and variances: it counts if PSI is missing.
	IfNormal stream.Number `json:"psi_if_normal"`
	Moved    string        `json:"moved,omitempty"` // MovedSome, MovedMuch, BecameConstant, Disappeared or CameBack
	// Why describes the change of a column that was or is no feature; empty if it is a feature now and was one
	// before.
	Why string `json:"why,omitempty"`
}

// Degrees of movement and the indices from which they hold: the bounds of credit scoring, see gram.Histograms.
// The average difference of two samples of one distribution is subtracted first.
const (
	MovedSome = "some"
	MovedMuch = "much"

	BecameConstant = "constant" // or is constant with another value
	Disappeared    = "gone"     // as a column, or as a feature
	CameBack       = "back"     // it held nothing, or one value, before

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
