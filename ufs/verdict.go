package ufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// VerdictSchema names the version of the JSON form of Verdict.
const VerdictSchema = "ufs-stream/check/v1"

// Verdict says whether a selection still serves new data. It is plain data. Errors are shares
// of the new data's sum of squares, scaled as the selection records; NaN where there is none.
type Verdict struct {
	Schema string   `json:"schema"`
	Again  bool     `json:"select_again"`
	Why    []string `json:"why"` // to select again
	// Undecided says why it cannot be told whether the selection still serves; empty where it can, and
	// where there are reasons to select again.
	Undecided []string `json:"undecided"`

	Method   string `json:"method"` // of the selection
	K        int    `json:"k"`
	Scale    string `json:"scale"`
	Rows     int64  `json:"rows"`
	RowsUsed int64  `json:"rows_used"`
	Features int    `json:"features"`

	Error stream.Number `json:"error"`       // of the selection, with weights fitted to the new data
	Fresh stream.Number `json:"fresh_error"` // of a fresh greedy selection of as many features
	// Lost is (Error − Fresh)/(1 − Fresh): the share of what a fresh selection explains that
	// the old one does not; below 0 where the old one is the better.
	Lost      stream.Number `json:"lost"`
	Tolerance stream.Number `json:"tolerance"`
	// LostBefore is Lost on the baseline or, without one, on the data that the selection was made from;
	// NaN where nothing records it. LostSince is the share of what the selection explained then, beside a
	// fresh one, that it no longer does: 1 − (1 − Lost)/(1 − LostBefore). The tolerance is for it.
	LostBefore stream.Number `json:"lost_on_baseline"`
	LostSince  stream.Number `json:"lost_since"`
	// OwnError is the error that the selection records of the data it was made from; NaN where it records none.
	OwnError     stream.Number `json:"recorded_error"`
	ByOldWeights stream.Number `json:"error_by_old_weights"` // with the weights fitted to the baseline

	FreshNames []string         `json:"fresh_selected"`
	Gone       []stream.LeftOut `json:"gone"` // features of the selection that the new data has no use of
	Columns    []ColumnShift    `json:"columns"`
	Warnings   []string         `json:"warnings"`

	Transfer *stream.Transfer `json:"transfer,omitempty"` // of the statistics; nil where nothing was fetched
}

// LostOfOwn is the share of what the selection explained of the data that it was made from that it does not explain of the
// new: 1 − (1 − Error)/(1 − OwnError), NaN if it records no error.
func (v *Verdict) LostOfOwn() stream.Number { return 1 - (1-v.Error)/(1-v.OwnError) }

// ColumnShift says how far a feature's values moved, from the baseline, or without one from
// what the selection records; or that it became constant, is gone, or came back.
type ColumnShift struct {
	Name     string        `json:"name"`
	Selected bool          `json:"selected"`
	PSI      stream.Number `json:"psi"` // by histograms; NaN without
	Groups   int           `json:"groups"`
	Mean     stream.Number `json:"mean_shift"`     // difference of means, in standard deviations of before
	Variance stream.Number `json:"variance_ratio"` // of now by before
	// IfNormal is the index that normal distributions of these means and variances have: it
	// counts where PSI is missing.
	IfNormal stream.Number `json:"psi_if_normal"`
	Moved    string        `json:"moved,omitempty"` // MovedSome, MovedMuch, BecameConstant, Disappeared or CameBack
	// Why says in words what became of a column that was or is no feature; empty of one that is a feature
	// now and was one before.
	Why string `json:"why,omitempty"`
}

// How far a column moved, and from which index on: the bounds of credit scoring, see
// gram.Histograms. What two samples of one distribution differ by on average comes on top.
const (
	MovedSome = "some"
	MovedMuch = "much"

	BecameConstant = "constant" // or is constant with another value
	Disappeared    = "gone"     // as a column, or as a feature
	CameBack       = "back"     // it held nothing, or one value, before

	someMoved = 0.1
	muchMoved = 0.25
)

// Index is the PSI, or what stands for it: infinite of a column that is a feature only now or only before.
func (c *ColumnShift) Index() float64 {
	if c.Why != "" {
		return math.Inf(1)
	}
	if psi := float64(c.PSI); psi == psi {
		return psi
	}
	return float64(c.IfNormal)
}
