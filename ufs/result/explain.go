package result

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// Term is a column with its weight in a linear combination.
type Term struct {
	Name string `json:"name"`
	// Weight is in the units of the two columns, and null if the columns are ranks. Standardized is the same weight for
	// columns in units of their standard deviations.
	Weight       stream.Number `json:"weight"`
	Standardized stream.Number `json:"standardized"`
}

// LinearCombination is a column that a linear combination of other columns equals, as far as float64 can show.
type LinearCombination struct {
	Name     string        `json:"name"`
	Constant stream.Number `json:"constant"`
	Terms    []Term        `json:"terms"`
	Left     stream.Number `json:"left"`      // share of the column's variance that the terms do not explain
	Bound    stream.Number `json:"tolerance"` // the largest value of Left that counts as rounding error
}

// Copy is a column that equals another column times a weight, plus a constant.
type Copy struct {
	Name     string        `json:"name"`
	Weight   stream.Number `json:"weight"`
	Constant stream.Number `json:"constant"`
}

// ExplainSchema names the version of the JSON form of Explanation.
const ExplainSchema = "ufs-stream/explain/v1"

// Explanation explains for some columns why the selection kept them or did not, and describes their relations to other
// columns. It is plain data.
type Explanation struct {
	Schema   string            `json:"schema"`
	Version  string            `json:"version"`
	Method   string            `json:"method"`
	K        int               `json:"k"`     // number of chosen features, including features in groups
	Scale    string            `json:"scale"` // scale of the selection's scores and explained shares
	Columns  []ExplainedColumn `json:"columns"`
	More     string            `json:"more,omitempty"`         // advice on how to get the missing parts
	Data     *ExplainedData    `json:"correlations,omitempty"` // nil without data
	Warnings []string          `json:"warnings"`
	Timing   stream.Timing     `json:"timing,omitzero"`
	Memory   stream.Memory     `json:"memory,omitzero"`
	Transfer *stream.Transfer  `json:"transfer,omitempty"`
}

// ExplainedData describes the data from which correlations were computed.
type ExplainedData struct {
	Rows     int64          `json:"rows"`
	RowsUsed int64          `json:"rows_used"`
	Features int            `json:"features"`
	Scale    string         `json:"scale"` // "rank" if the correlations are of normal scores
	Missing  string         `json:"missing"`
	Inputs   []stream.Input `json:"inputs"`
	Passes   int            `json:"passes"`
}

// The states of a column in a selection.
const (
	StateKept    = "kept"
	StateDropped = "dropped"
	StateLeftOut = "left out"
	StateUnknown = "not in the selection"
)

// ExplainedColumn describes one column: the selection's record of the column, and the column's relations to other
// columns in the data.
type ExplainedColumn struct {
	Name  string         `json:"name"`
	State string         `json:"state"`         // StateKept, StateDropped, StateLeftOut or StateUnknown
	Why   string         `json:"why,omitempty"` // the reason why the column was left out
	Rank  int            `json:"rank,omitempty"`
	Score *stream.Number `json:"score,omitempty"`
	// Added is the share of the data's sum of squares that this feature explains in addition to the features ranked
	// before it. It is nil if the selection does not record this share.
	Added     *stream.Number `json:"added,omitempty"`
	Explained *stream.Number `json:"explained,omitempty"`        // explained share of the column's sum of squares
	Nearest   string         `json:"nearest_selected,omitempty"` // nearest selected feature, as recorded
	// StandsFor lists the dropped features whose nearest chosen feature is this feature, sorted by their explained
	// share in descending order.
	StandsFor []StandsFor `json:"stands_for,omitempty"`
	Relations *Relations  `json:"relations,omitempty"`
}

// StandsFor is a dropped feature whose nearest chosen feature is the explained column.
type StandsFor struct {
	Name      string        `json:"name"`
	Explained stream.Number `json:"explained"`
}

// Relations describes the relations of a column to other columns. All columns are centred first.
type Relations struct {
	Mean stream.Number `json:"mean"`
	Std  stream.Number `json:"std"`
	// R2 is the share of the column's variance that a linear regression on the chosen features, without the column
	// itself, explains. Residual is the standard deviation of the regression's residual.
	R2       stream.Number `json:"r2"`
	Exact    bool          `json:"exact,omitempty"` // the residual is only a rounding error
	Residual stream.Number `json:"residual_std"`
	Constant stream.Number `json:"constant"`
	Terms    []Term        `json:"weights"` // weights of the regression, the largest standardized weight first
	Nearest  []NearColumn  `json:"nearest"` // the features with the largest absolute correlation, in descending order
	// VIF is the variance inflation factor 1/(1 − R²), with R² from the regression on all other features. It is null if
	// they determine the column. VIFSelected is the VIF of a chosen feature among the chosen features.
	VIF              stream.Number       `json:"vif"`
	Determined       bool                `json:"determined,omitempty"` // all other features determine the column
	VIFSelected      *stream.Number      `json:"vif_selected,omitempty"`
	Combinations     []LinearCombination `json:"combinations"`
	LongCombinations bool                `json:"longer_combinations,omitempty"` // more than 20 other columns determine the column
}

// NearColumn is a feature and its correlation with the explained column.
type NearColumn struct {
	Name        string        `json:"name"`
	Correlation stream.Number `json:"correlation"`
	Selected    bool          `json:"selected,omitempty"`
}
