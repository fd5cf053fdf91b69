package stream

import (
	"encoding/json"
	"io"
	"math"
	"slices"
)

// JSON schemas of Selection. In version 1 the column of a selected feature was its index among the features, and not
// its position in the input.
const (
	SelectionSchema   = "ufs-stream/selection/v2"
	SelectionSchemaV1 = "ufs-stream/selection/v1"
)

// Selection is the result of a run: the chosen features with their scores, the input, and the time and memory used. It
// is plain data. Encode writes its only encoded form.
type Selection struct {
	Schema        string         `json:"schema"`
	Method        string         `json:"method"`
	K             int            `json:"k"` // requested number of features, or of groups if whole groups are chosen
	Seed          uint64         `json:"seed"`
	Version       string         `json:"version"`
	Rows          int64          `json:"rows"`
	RowsUsed      int64          `json:"rows_used"`
	Features      int            `json:"features"`
	InputColumns  int            `json:"input_columns,omitempty"` // number of positions of the input; 0 if unknown
	Options       map[string]any `json:"options"`
	Inputs        []Input        `json:"inputs"`
	Table         *Table         `json:"table,omitempty"` // the table whose live files are the inputs
	Passes        int            `json:"passes"`
	Iterations    int            `json:"iterations"`
	Converged     bool           `json:"converged"`
	Selected      []Selected     `json:"selected"`
	Cost          *Number        `json:"cost,omitempty"` // total cost of the selected features; nil if no costs were given
	Scores        []Score        `json:"scores,omitempty"`
	LowerIsBetter bool           `json:"lower_is_better,omitempty"` // whether the smallest score is the best
	Objective     []Number       `json:"objective,omitempty"`
	Columns       []ColumnReport `json:"columns"`
	Trace         []TraceStep    `json:"trace,omitempty"`
	LeftOut       []LeftOut      `json:"left_out"`
	Suspects      []LeftOut      `json:"suspects,omitempty"` // features that should not be features, such as identifiers, with the reason
	Warnings      []string       `json:"warnings"`
	Timing        Timing         `json:"timing"`
	Memory        Memory         `json:"memory"`
	// Correlations holds the lower triangle of the correlation matrix of the chosen features. List i has the
	// correlations of Selected[i] with the features before it, to four decimals, with null for a constant feature. It
	// is nil if the correlations are unknown, or if more than 100 features are chosen.
	Correlations [][]Number `json:"correlations,omitempty"`
	// Map places the chosen features and those most correlated with them in a plane. It is nil if Correlations is nil.
	Map *ColumnMap `json:"map,omitempty"`
	// Why explains the choice of the method if the request did not name a method.
	Why string `json:"why,omitempty"`
	// Filled describes how many missing values of which features were replaced by the mean; Columns has all counts.
	Filled string `json:"filled,omitempty"`
	// Trust compares the choice with chance; nil if it was not computed.
	Trust *Trust `json:"trust,omitempty"`
	// WhyK explains the number of selected features, if the request did not name a number, and the number of features
	// worth keeping is unknown.
	WhyK string `json:"why_k,omitempty"`
	// Size recommends how many features to keep, which is the number used for {k} auto. Nil if k was given and the
	// computation would be slow.
	Size *Size `json:"size,omitempty"`
	// Worth compares the chosen features with noise; nil without a Gram matrix.
	Worth *Worth `json:"worth,omitempty"`
	// GreedyError is the error of the same number of features chosen by the method greedy on the same data. A later
	// check of the selection on new data compares its error with this one. It is nil if the errors of Selected are
	// already errors of greedy, or if the computation would be slow.
	GreedyError *Number `json:"greedy_error,omitempty"`
	// Stability measures how similar selections from half-samples are; nil if it was not requested.
	Stability *Agreement `json:"stability,omitempty"`
	// Estimate describes the numbers that are estimated from a sketch of the rows; nil if all numbers are exact.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Transfer counts traffic with object stores; nil if there was none.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// Estimate describes the parts of a selection that were estimated from a sketch of the rows, and their accuracy.
type Estimate struct {
	SketchRows int `json:"sketch_rows"` // rows of the sketch from which the estimate is computed
	HeldRows   int `json:"held_rows"`   // further rows of the sketch, used only to measure errors
	// Candidates is the number of features among which the selection is exact, as are its scores, errors and explained
	// shares. 0 means that all numbers are estimates.
	Candidates int `json:"candidates"`
	// Deviation is the root mean square of the relative differences between scores estimated by the sketch and exact
	// scores, over the candidates that were nearly chosen. It is NaN if no score is exact.
	Deviation Number `json:"score_deviation"`
	// Outside compares features that were not candidates with the chosen features. It is the largest ratio of such a
	// feature's estimated score to the exact score of the feature chosen at the same turn. If it is above 1, the feature
	// that was not a candidate may have been the better choice. It is NaN if no score is exact.
	Outside Number `json:"best_outside"`
	// HeldError is the field Error of each selected feature, estimated from the held-out rows; nil if scores are exact.
	HeldError []Number `json:"held_error,omitempty"`
	// CosineDeviation is the root mean square error of the estimated cosines of the chosen features, measured on the
	// held-out rows. It is set for a method on the anchor graph. Quantities of the graph and the features' sums of
	// squares are exact.
	CosineDeviation *Number `json:"cosine_deviation,omitempty"`
}

// Selected is one chosen feature, or one chosen group of features. Column is the position in the input of the feature,
// or of the column from which the feature is made.
type Selected struct {
	Rank   int      `json:"rank"`
	Name   string   `json:"name"`
	Column Position `json:"column"`
	// Members are the features of a group that was chosen as a whole. Name is then the name of the group, and Column
	// the position of its first member. Members is empty for a single feature.
	Members []string `json:"members,omitempty"`
	// Reads are the input columns from which the members (or the feature) are made, for example the column of
	// categories of an indicator. It is empty if the members are input columns themselves.
	Reads []string `json:"reads,omitempty"`
	// Columns are the positions of the columns that the method Inputs returns, in the same order; empty for one
	// feature.
	Columns []Position `json:"columns,omitempty"`
	// Cost is the cost of the feature or group; nil if neither costs nor a budget were given.
	Cost  *Number `json:"cost,omitempty"`
	Score Number  `json:"score"` // greedy: the criterion of package greedy at the feature's turn
	Error Number  `json:"error"` // greedy: sum of squares left after this feature, as a share of all
	// Least is the lowest error possible with any subspace of the same dimension, which need not be spanned by
	// features. The optimality gap is Error − Least. Nil if unknown.
	Least *Number `json:"least,omitempty"`
	// Layer is 2 or more if the feature was chosen after earlier features had explained everything. 0 means layer 1.
	Layer int `json:"layer,omitempty"`
}

// Features returns the member features of a group, or the feature's own name.
func (f Selected) Features() []string {
	if len(f.Members) > 0 {
		return f.Members
	}
	return []string{f.Name}
}

// IsDecidedByTies reports whether all selected features have the same score although there are more features, so that
// the order of the columns alone decided which were selected. Such a selection is no result of its method.
func (s *Selection) IsDecidedByTies() bool {
	return s.Method != "" && len(s.Selected) > 1 && len(s.Selected) < s.Features &&
		!slices.ContainsFunc(s.Selected, func(f Selected) bool { return f.Score != s.Selected[0].Score })
}

// HasGroups reports whether any group of features was chosen.
func (s *Selection) HasGroups() bool {
	return slices.ContainsFunc(s.Selected, func(f Selected) bool { return len(f.Members) > 0 })
}

// SelectedFeatures counts the chosen features, including each member of a group.
func (s *Selection) SelectedFeatures() (n int) {
	for _, f := range s.Selected {
		n += len(f.Features())
	}
	return n
}

// Inputs returns the names of the input columns from which f is made.
func (f Selected) Inputs() []string {
	if len(f.Reads) > 0 {
		return f.Reads
	}
	return f.Features()
}

// Score is the score of one feature of a ranking method.
type Score struct {
	Name  string `json:"name"`
	Score Number `json:"score"`
}

// ColumnReport summarizes a feature and how well the selection explains it.
type ColumnReport struct {
	Name      string   `json:"name"`
	Column    Position `json:"column"` // position of the input column that is the feature, or from which it is made
	Mean      Number   `json:"mean"`
	Std       Number   `json:"std"` // standard deviation with divisor n
	Nulls     int64    `json:"nulls"`
	NaNs      int64    `json:"nan"`
	Infs      int64    `json:"inf"`
	Filled    int64    `json:"filled"`
	Explained Number   `json:"explained"`         // share of the feature's sum of squares that the selection explains
	Role      string   `json:"role,omitempty"`    // RoleExplained, or empty
	Nearest   string   `json:"nearest,omitempty"` // the selected feature with the largest absolute cosine
	// Correlation is the correlation with Nearest, to four decimals; nil if it is unknown, or if one of the two is constant.
	Correlation *Number `json:"nearest_correlation,omitempty"`
	// Frequency is the share of the half-samples whose selection contains the feature; nil if stability was not requested.
	Frequency *Number `json:"frequency,omitempty"`
}

// RoleExplained is the role of a column that a selection explains by the others, and that cannot be selected. If no
// column has it, all are explained.
const RoleExplained = "explained"

// ExplainsGiven reports whether s was chosen to explain given columns, which have RoleExplained, and not all columns.
func (s *Selection) ExplainsGiven() bool {
	return slices.ContainsFunc(s.Columns, func(c ColumnReport) bool { return c.Role == RoleExplained })
}

// ColumnMap is a picture of correlations: the first two principal coordinates of the correlation matrix of some columns.
// X and Y are the correlations of a column with the first and the second principal component of these columns, to four
// decimals. So X² + Y² is the share of the column's variance that the picture shows, and Shown is the mean of these.
// Near points far from the origin are columns with a high correlation.
type ColumnMap struct {
	Shown   Number      `json:"shown"`
	Columns []MapColumn `json:"columns"` // the chosen features in order, then the others
}

// MapColumn is the place of a column in the map.
type MapColumn struct {
	Name string `json:"name"`
	X    Number `json:"x"`
	Y    Number `json:"y"`
}

// TraceStep is one iteration of an iterative method, with the objective and the residuals of its constraints.
type TraceStep struct {
	Iteration  int    `json:"iteration"`
	Objective  Number `json:"objective"`
	ResidualZU Number `json:"residual_zu,omitempty"`
	ResidualE  Number `json:"residual_e,omitempty"`
}

// Timing holds times in seconds. Read, Accumulate and Solve are busy times, which may overlap. Only Wall is elapsed
// time. Parts divides Read and Accumulate further.
type Timing struct {
	Read       float64     `json:"read_s"`
	Accumulate float64     `json:"accumulate_s"`
	Solve      float64     `json:"solve_s"`
	Wall       float64     `json:"wall_s"`
	Parts      TimingParts `json:"parts,omitzero"` // zero if nothing was measured
}

// Memory holds numbers of bytes.
type Memory struct {
	PeakRSS int64 `json:"peak_rss_bytes"`
	Limit   int64 `json:"limit_bytes"`
	Scratch int64 `json:"scratch_bytes"`
}

// Number is a float64 whose JSON form is the shortest decimal that is decoded to the same number. NaN and ±Inf, which
// JSON cannot represent, become null.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler; null is decoded to NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Encode writes s as indented JSON, version 2.
func (s *Selection) Encode(w io.Writer) error {
	s.Schema = SelectionSchema
	return encodeJSON(w, s)
}

// DecodeSelection reads the output of [Selection.Encode], of this version or an earlier one. Version 1 stored indices
// among the features, so its positions are unknown, and its columns must be found by their names.
func DecodeSelection(r io.Reader) (*Selection, error) {
	s := new(Selection)
	err := decodeJSON(r, s, &s.Schema, SelectionSchema, SelectionSchemaV1)
	if s.Schema == SelectionSchemaV1 {
		s.forgetPositions()
	}
	return s, err
}

func (s *Selection) forgetPositions() {
	s.InputColumns = 0
	for i := range s.Selected {
		s.Selected[i].Column, s.Selected[i].Columns = Position{}, nil
	}
	for i := range s.Columns {
		s.Columns[i].Column = Position{}
	}
	for _, list := range [][]LeftOut{s.LeftOut, s.Suspects} {
		for i := range list {
			list[i].Column = Position{}
		}
	}
}
