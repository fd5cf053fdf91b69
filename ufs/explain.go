package ufs

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/alike"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ExplainSchema names the version of the JSON form of Explanation.
const ExplainSchema = "ufs-stream/explain/v1"

// ExplainRequest names columns of a selection to explain. If Inputs or Stats are given, Explain also reads these data
// and reports Relations. Of the embedded Request it uses only Inputs, Stats and the limits of the run. All options that
// affect the data come from the selection.
type ExplainRequest struct {
	Request
	Selection *stream.Selection
	Names     []string // columns of the selection; the name of an input column means all features made from it
}

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
	State string         `json:"state"`
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
	Determined       bool                `json:"determined,omitempty"`
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

// nearestShown is the number of features that Relations.Nearest lists.
const nearestShown = 5

// Explain explains columns of a selection from the selection alone. With Inputs or Stats it also uses the correlations
// of all features, which cost as much as in Redundancy. It returns the same kinds of errors as Select.
func Explain(ctx context.Context, o ExplainRequest) (*Explanation, error) {
	s := o.Selection
	switch {
	case s == nil:
		return nil, stream.Usagef("explain: no selection given; add {selection} SEL.json")
	case len(o.Names) == 0:
		return nil, stream.Usagef("explain: no column given; name those to explain, as explain COL {selection} SEL.json")
	}
	scale, _ := s.Options["scale"].(string)
	x := &explainer{selection: s, out: &Explanation{Schema: ExplainSchema, Version: Release, Method: s.Method, K: s.SelectedFeatures(), Scale: scale, Columns: []ExplainedColumn{}, Warnings: []string{}}}
	x.indexSelection()
	if len(o.Inputs) == 0 && o.Stats == "" {
		x.out.More = stream.Textf("by which chosen features and weights a column is explained, its nearest columns, VIF and exact combinations: add {stats} ALL.ufs, or the INPUT").Spell(o.Spelling)
		return x.out, x.explainColumns(o.Names, nil)
	}
	q, err := RecordedRequest(s, o.Methods)
	if err != nil {
		return nil, stream.Dataf("the selection", "%w", err)
	}
	q.Inputs, q.Stats, q.Stdin, q.SkipBad, q.Version, q.AsOf = o.Inputs, o.Stats, o.Stdin, o.SkipBad, o.Version, o.AsOf
	q.Anonymous, q.Allow = o.Anonymous, o.Allow
	q.Threads, q.Memory, q.TempDir, q.MaxScratch, q.Output = o.Threads, o.Memory, o.TempDir, o.MaxScratch, o.Output
	q.Meter, q.Progress, q.Note, q.Spelling = o.Meter, o.Progress, o.Note, o.Spelling
	var record *correlations
	k := int64(len(s.Selected))
	err = q.withCorrelationsFor(ctx, s, func(d int) int64 { return alike.MemoryBytes(d) + 16*k*k }, func(c *correlations) error {
		record = c
		return x.explainColumns(o.Names, c)
	})
	if a := (*chunkio.AmbiguousError)(nil); errors.As(err, &a) && q.Stats == "" {
		return nil, a.OfSelection(place.DisplayName(q.Inputs[0])) // the name is from the selection, not from an option
	}
	if err != nil {
		return nil, err
	}
	x.out.Timing, x.out.Memory, x.out.Transfer = record.timing, record.memory, record.transfer
	return x.out, nil
}

// explainer holds the state of one Explain.
type explainer struct {
	selection *stream.Selection
	out       *Explanation
	chosen    map[string]int                 // index of each chosen feature in Selected
	reports   map[string]stream.ColumnReport // by column
	leftOut   map[string]string              // reason by column
	standsFor map[string][]StandsFor         // by chosen feature
}

func (x *explainer) indexSelection() {
	x.chosen, x.reports, x.leftOut, x.standsFor = make(map[string]int), make(map[string]stream.ColumnReport), make(map[string]string), make(map[string][]StandsFor)
	for i, f := range x.selection.Selected {
		x.chosen[f.Name] = i
		for _, name := range f.Features() {
			x.chosen[name] = i
		}
	}
	for _, l := range x.selection.LeftOut {
		x.leftOut[l.Name] = l.Why
	}
	for _, c := range x.selection.Columns {
		x.reports[c.Name] = c
		_, isKept := x.chosen[c.Name]
		if at, known := x.chosen[c.Nearest]; known && c.Nearest != "" && !isKept { // c.Nearest may be any feature of a group
			nearest := x.selection.Selected[at].Name
			x.standsFor[nearest] = append(x.standsFor[nearest], StandsFor{c.Name, c.Explained})
		}
	}
	for _, list := range x.standsFor {
		slices.SortFunc(list, func(a, b StandsFor) int {
			return cmp.Or(cmp.Compare(b.Explained, a.Explained), cmp.Compare(a.Name, b.Name))
		})
	}
}

func (x *explainer) explainColumns(names []string, c *correlations) error {
	var related *relations
	for _, name := range names {
		columns, err := x.resolveName(name, c)
		if err != nil {
			return err
		}
		for _, own := range columns {
			if slices.ContainsFunc(x.out.Columns, func(o ExplainedColumn) bool { return o.Name == own.Name }) {
				continue
			}
			if c != nil {
				if related == nil {
					if related, err = x.newRelations(c); err != nil {
						return err
					}
				}
				if j, there := c.index[own.Name]; there {
					own.Relations = related.columnRelations(j)
				}
			}
			x.out.Columns = append(x.out.Columns, own)
		}
	}
	return nil
}

func (x *explainer) resolveName(name string, c *correlations) ([]ExplainedColumn, error) {
	_, isKept := x.chosen[name]
	_, reported := x.reports[name]
	_, isOut := x.leftOut[name]
	if !isKept && !reported && !isOut && c == nil && lacksReports(x.selection) {
		return nil, stream.Usagef("%q is not chosen, and the selection was written without the reports on its features; add {stats} ALL.ufs or the INPUT, or select with {details} all", name)
	}
	var made []ExplainedColumn
	if c != nil {
		for _, col := range c.columns {
			if col.Block == "" { // a single feature, which does not come from a column with another name
				continue
			}
			if why, isOut := x.leftOut[col.Name]; isOut && col.Block == name {
				made = append(made, ExplainedColumn{Name: col.Name, State: StateLeftOut, Why: why})
			} else if col.Block == name {
				made = append(made, x.recordedColumn(col.Name, name))
			}
		}
		if _, there := c.index[name]; there && made == nil {
			return []ExplainedColumn{x.recordedColumn(name, name)}, nil
		}
	}
	switch {
	case made != nil:
		return made, nil
	case isKept || reported || isOut:
		return []ExplainedColumn{x.recordedColumn(name, name)}, nil
	}
	known := slices.Concat(sortedKeys(x.chosen), sortedKeys(x.reports), sortedKeys(x.leftOut))
	if c != nil {
		known = append(known, c.Names...)
		for _, l := range c.leftOut {
			if l.Name == name {
				return []ExplainedColumn{{Name: name, State: StateLeftOut, Why: l.Why}}, nil
			}
		}
	}
	return nil, stream.Usagef("the selection knows no column %q%s", name, suggest.DidYouMean(name, known))
}

// recordedColumn returns the selection's record of the column called name. If the selection has no record of this name,
// the record under the name of the column's block is used.
func (x *explainer) recordedColumn(name, block string) ExplainedColumn {
	own := ExplainedColumn{Name: name, State: StateDropped}
	known := name
	if _, there := x.reports[name]; !there {
		if _, there = x.chosen[name]; !there {
			known = block
		}
	}
	report, reported := x.reports[known]
	if reported && !math.IsNaN(float64(report.Explained)) {
		own.Explained = &report.Explained
	}
	own.Nearest = report.Nearest
	at, isKept := x.chosen[known]
	if !isKept {
		at, isKept = x.chosen[block]
	}
	why, out := x.leftOut[known]
	switch {
	case isKept:
		f := x.selection.Selected[at]
		own.State, own.Rank, own.Score, own.StandsFor = StateKept, f.Rank, &f.Score, x.standsFor[f.Name]
		before := stream.Number(1)
		if at > 0 {
			before = x.selection.Selected[at-1].Error
		}
		if added := before - f.Error; !math.IsNaN(float64(added)) {
			own.Added = &added
		}
	case out:
		own.State, own.Why = StateLeftOut, why
	case !reported && !lacksReports(x.selection):
		own.State = StateUnknown
	}
	return own
}
