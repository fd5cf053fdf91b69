package ufs

import "github.com/ufs-stream/ufs-stream/stream"

// VerdictSchema names the version of the JSON form of Verdict.
const VerdictSchema = "ufs-stream/check/v1"

// Verdict says whether a selection still serves new data. It is plain data. Errors are shares
// of the new data's sum of squares, scaled as the selection records; NaN where there is none.
type Verdict struct {
	Schema string   `json:"schema"`
	Again  bool     `json:"select_again"`
	Why    []string `json:"why"` // to select again

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
	// LostBefore is Lost on the baseline; a method that does not aim at the least error is
	// allowed that much more.
	LostBefore   stream.Number `json:"lost_on_baseline"`
	ByOldWeights stream.Number `json:"error_by_old_weights"` // with the weights fitted to the baseline

	FreshNames []string         `json:"fresh_selected"`
	Gone       []stream.LeftOut `json:"gone"` // features of the selection that the new data has no use of
	Columns    []ColumnShift    `json:"columns"`
	Warnings   []string         `json:"warnings"`

	Transfer *stream.Transfer `json:"transfer,omitempty"` // of the statistics; nil where nothing was fetched
}

// ColumnShift says how far a feature's values moved, from the baseline, or without one from
// what the selection records.
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
	Moved    string        `json:"moved,omitempty"` // MovedSome or MovedMuch
}

// How far a column moved, and from which index on: the bounds of credit scoring, see
// gram.Histograms. What two samples of one distribution differ by on average comes on top.
const (
	MovedSome = "some"
	MovedMuch = "much"

	someMoved = 0.1
	muchMoved = 0.25
)

// Index is the PSI, or what stands for it.
func (c *ColumnShift) Index() float64 {
	if psi := float64(c.PSI); psi == psi {
		return psi
	}
	return float64(c.IfNormal)
}
