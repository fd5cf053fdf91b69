package stream

import (
	"encoding/json"
	"io"
	"math"
	"slices"
)

// The versions of the JSON form of Selection. Until version 1 the column of what was selected was its index among the
// features used.
const (
	SelectionSchema   = "ufs-stream/selection/v2"
	SelectionSchemaV1 = "ufs-stream/selection/v1"
)

// Selection is the result of a run: what was chosen, why, from what, at what cost.
// It is plain data; Encode is its one encoder.
type Selection struct {
	Schema        string         `json:"schema"`
	Method        string         `json:"method"`
	K             int            `json:"k"` // wanted: of groups, where these are chosen whole
	Seed          uint64         `json:"seed"`
	Version       string         `json:"version"`
	Rows          int64          `json:"rows"`
	RowsUsed      int64          `json:"rows_used"`
	Features      int            `json:"features"`
	InputColumns  int            `json:"input_columns,omitempty"` // positions that the input has; 0 where unknown
	Options       map[string]any `json:"options"`
	Inputs        []Input        `json:"inputs"`
	Table         *Table         `json:"table,omitempty"` // that the inputs are the live files of
	Passes        int            `json:"passes"`
	Iterations    int            `json:"iterations"`
	Converged     bool           `json:"converged"`
	Selected      []Selected     `json:"selected"`
	Cost          *Number        `json:"cost,omitempty"` // of all selected; nil where no costs were given
	Scores        []Score        `json:"scores,omitempty"`
	LowerIsBetter bool           `json:"lower_is_better,omitempty"` // the scores rank the smallest first
	Objective     []Number       `json:"objective,omitempty"`
	Columns       []ColumnReport `json:"columns"`
	Trace         []TraceStep    `json:"trace,omitempty"`
	LeftOut       []LeftOut      `json:"left_out"`
	Suspects      []LeftOut      `json:"suspects,omitempty"` // features that had better be none, as identifiers, and why
	Warnings      []string       `json:"warnings"`
	Timing        Timing         `json:"timing"`
	Memory        Memory         `json:"memory"`
	// Correlations are those of the chosen features, the lower triangle: the i-th list has those of
	// the i-th of Selected with the ones before it, to four decimals, null of a constant one. Nil
	// where they are not known, or more than 100 features are chosen.
	Correlations [][]Number `json:"correlations,omitempty"`
	// Why says why this method ran where the request named none.
	Why string `json:"why,omitempty"`
	// Filled says how many missing values of which features the mean takes the place of; Columns has the counts of all.
	Filled string `json:"filled,omitempty"`
	// Trust says whether the choice is better than chance; nil where nothing tells.
	Trust *Trust `json:"trust,omitempty"`
	// WhyK says why so many features are selected where the request named no number, and nothing
	// tells how many are worth keeping.
	WhyK string `json:"why_k,omitempty"`
	// Size says how many features are worth keeping, which {k} auto takes; nil where k was given and
	// finding out would take long.
	Size *Size `json:"size,omitempty"`
	// Worth says what the chosen features are worth beside noise; nil where no Gram matrix tells.
	Worth *Worth `json:"worth,omitempty"`
	// GreedyError is the error that greedy's choice of as many features has on the same data, so that
	// a later check can tell what was lost since. Nil where the errors of Selected are greedy's own,
	// and where finding out takes long.
	GreedyError *Number `json:"greedy_error,omitempty"`
	// Stability is how well selections from half-samples agree; nil where it was not asked for.
	Stability *Agreement `json:"stability,omitempty"`
	// Estimate says what rests on a sketch of the rows; nil where everything is exact.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Transfer is what was fetched from object stores; nil where nothing was.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// Estimate says what of a selection rests on a sketch of the rows, and how far that can be trusted.
type Estimate struct {
	SketchRows int `json:"sketch_rows"` // that the estimate is made of
	HeldRows   int `json:"held_rows"`   // of the sketch, held back from it
	// Candidates is the number of features among which the selection is exact, with its scores, errors
	// and explained shares. 0 means all numbers are estimates.
	Candidates int `json:"candidates"`
	// Deviation is the root mean square of how far the scores by the sketch are from the exact ones, as
	// shares of these, over the candidates that came close to being chosen; NaN where no score is exact.
	Deviation Number `json:"score_deviation"`
	// Outside is the largest score by the sketch of a feature that was no candidate, as a share of the
	// score of the one chosen in that turn: above 1 it may have been the better choice; NaN where no score is exact.
	Outside Number `json:"best_outside"`
	// HeldError is F(S)/F(∅) after each feature by the rows held back; where scores are exact there is none.
	HeldError []Number `json:"held_error,omitempty"`
	// CosineDeviation is, for a method on the anchor graph, the root mean square of how far the estimated
	// cosines of the chosen features are from the true ones, by the rows held back. What the graph says
	// of features, and their sums of squares, are exact.
	CosineDeviation *Number `json:"cosine_deviation,omitempty"`
}

// Selected is one chosen feature, or group of features. Column is its position in the input: that of the
// column which it is, or is made of.
type Selected struct {
	Rank   int      `json:"rank"`
	Name   string   `json:"name"`
	Column Position `json:"column"`
	// Members are the features of a group that was chosen whole, and Name is the group's; Column is
	// that of the first. Empty for a feature by itself.
	Members []string `json:"members,omitempty"`
	// Reads are the columns of the input that the members are made of, where those are none themselves,
	// as indicators of categories. Empty where the members are columns of the input.
	Reads []string `json:"reads,omitempty"`
	// Columns are the positions of all that Inputs names, in its order; empty for a feature by itself.
	Columns []Position `json:"columns,omitempty"`
	// Cost is what it costs; nil where neither costs nor a budget were given.
	Cost  *Number `json:"cost,omitempty"`
	Score Number  `json:"score"` // greedy: the criterion f/g at its turn
	Error Number  `json:"error"` // greedy: F(S)/F(∅) after this feature
	// Least is the least error that any so many directions could leave, features or not: the
	// optimality gap is Error − Least. Nil where it is not known.
	Least *Number `json:"least,omitempty"`
	// Layer is 2 and more for features that were chosen when those before them had explained
	// everything; 0 stands for 1.
	Layer int `json:"layer,omitempty"`
}

// Features are the names of the features that f stands for.
func (f Selected) Features() []string {
	if len(f.Members) > 0 {
		return f.Members
	}
	return []string{f.Name}
}

// HasGroups says that groups of features are among what was chosen.
func (s *Selection) HasGroups() bool {
	return slices.ContainsFunc(s.Selected, func(f Selected) bool { return len(f.Members) > 0 })
}

// SelectedFeatures is the number of features that were chosen, those of groups each counted.
func (s *Selection) SelectedFeatures() (n int) {
	for _, f := range s.Selected {
		n += len(f.Features())
	}
	return n
}

// Inputs are the names of the input's columns that f stands for.
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

// ColumnReport says what a feature held and how the selection explains it.
type ColumnReport struct {
	Name      string   `json:"name"`
	Column    Position `json:"column"` // that of the input which it is, or is made of
	Mean      Number   `json:"mean"`
	Std       Number   `json:"std"` // divisor n
	Nulls     int64    `json:"nulls"`
	NaNs      int64    `json:"nan"`
	Infs      int64    `json:"inf"`
	Filled    int64    `json:"filled"`
	Explained Number   `json:"explained"`         // share of its sum of squares that the selection explains
	Nearest   string   `json:"nearest,omitempty"` // the selected feature with the largest absolute cosine
	// Frequency is the share of the half-samples whose selection has the feature; nil where
	// stability was not asked for.
	Frequency *Number `json:"frequency,omitempty"`
}

// TraceStep is one iteration of an iterative method.
type TraceStep struct {
	Iteration  int    `json:"iteration"`
	Objective  Number `json:"objective"`
	ResidualZU Number `json:"residual_zu,omitempty"`
	ResidualE  Number `json:"residual_e,omitempty"`
}

// Timing is in seconds. Read, accumulate and solve are busy times that overlap;
// only wall is elapsed time. Parts says where the first two went.
type Timing struct {
	Read       float64     `json:"read_s"`
	Accumulate float64     `json:"accumulate_s"`
	Solve      float64     `json:"solve_s"`
	Wall       float64     `json:"wall_s"`
	Parts      TimingParts `json:"parts,omitzero"` // zero where nothing was measured
}

// Memory is in bytes.
type Memory struct {
	PeakRSS int64 `json:"peak_rss_bytes"`
	Limit   int64 `json:"limit_bytes"`
	Scratch int64 `json:"scratch_bytes"`
}

// Number is a float64 that encodes to the shortest decimal that reads back the
// same, and to null where JSON has no such number (NaN, ±Inf).
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler; null reads as NaN.
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
	return encode(w, s)
}

// DecodeSelection reads what [Selection.Encode] wrote, in this version and those before. Positions are unknown in
// version 1, which had indices among the features in their place: its columns are found by their names.
func DecodeSelection(r io.Reader) (*Selection, error) {
	s := new(Selection)
	err := decode(r, s, &s.Schema, SelectionSchema, SelectionSchemaV1)
	if s.Schema == SelectionSchemaV1 {
		s.forgetPositions()
	}
	return s, err
}

// forgetPositions makes all positions unknown.
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
