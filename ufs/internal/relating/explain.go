package relating

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/judging/alike"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// ExplainRequest names columns of a selection to explain. If Inputs or Stats are given, Explain also reads these data
// and reports Relations. Of the embedded Request it uses only Inputs, Stats, Cache and the limits of the run. All options that
// affect the data come from the selection.
type ExplainRequest struct {
	request.Request
	Selection *stream.Selection
	Names     []string // columns of the selection; the name of an input column means all features made from it
}

// nearestShown is the number of features that Relations.Nearest lists.
const nearestShown = 5

// ExplainSelection implements ufs.Explain: it explains columns of a selection from the selection alone.
func ExplainSelection(ctx context.Context, o ExplainRequest) (*result.Explanation, error) {
	s := o.Selection
	switch {
	case s == nil:
		return nil, stream.Usagef("explain: no selection given; add {selection} SEL.json")
	case len(o.Names) == 0:
		return nil, stream.Usagef("explain: no column given; name those to explain, as explain COL {selection} SEL.json")
	}
	scale, _ := s.Options["scale"].(string)
	x := &explainer{selection: s, out: &result.Explanation{Schema: result.ExplainSchema, Version: request.Release, Method: s.Method, K: s.SelectedFeatures(), Scale: scale, Columns: []result.ExplainedColumn{}, Warnings: []string{}}}
	x.indexSelection()
	if o.Input.IsEmpty() && o.Stats == "" {
		x.out.More = stream.Textf("by which chosen features and weights a column is explained, its nearest columns, VIF and exact combinations: add {stats} ALL.ufs, or the INPUT").Spell(o.Hooks.Spelling)
		return x.out, x.explainColumns(o.Names, nil)
	}
	q, err := settled.RecordedRequest(s, o.Choice.Methods)
	if err != nil {
		return nil, stream.Dataf("the selection", "%w", err)
	}
	q.Input.Paths, q.Stats, q.Input.Stdin, q.SkipBad, q.Input.Version, q.Input.AsOf = o.Input.Paths, o.Stats, o.Input.Stdin, o.SkipBad, o.Input.Version, o.Input.AsOf
	q.Input.Plan, q.Input.Anonymous, q.Input.Allow, q.Cache, q.Hooks.Say = o.Input.Plan, o.Input.Anonymous, o.Input.Allow, o.Cache, o.Hooks.Say
	q.Limits.Threads, q.Limits.Memory, q.Limits.TempDir, q.Limits.MaxScratch, q.Output = o.Limits.Threads, o.Limits.Memory, o.Limits.TempDir, o.Limits.MaxScratch, o.Output
	q.Hooks.Meter, q.Hooks.Progress, q.Hooks.Note, q.Hooks.Spelling = o.Hooks.Meter, o.Hooks.Progress, o.Hooks.Note, o.Hooks.Spelling
	var record *correlations
	k := int64(len(s.Selected))
	err = withCorrelations(ctx, q, s, func(d int) int64 { return alike.MemoryBytes(d) + 16*k*k }, func(c *correlations) error {
		record = c
		return x.explainColumns(o.Names, c)
	})
	if a := (*chunkio.AmbiguousError)(nil); errors.As(err, &a) && q.Stats == "" {
		input := q.Input.Plan
		if input == "" {
			input = q.Input.Paths[0]
		}
		return nil, a.OfSelection(place.DisplayName(input)) // the name is from the selection, not from an option
	}
	if err != nil {
		return nil, err
	}
	x.out.Timing, x.out.Memory, x.out.Transfer = record.timing, record.memory, record.transfer
	return x.out, nil
}

// explainer holds the state of one call of ufs.Explain, which explains columns of a selection.
type explainer struct {
	selection *stream.Selection
	out       *result.Explanation
	chosen    map[string]int                 // index of each chosen feature in Selected
	reports   map[string]stream.ColumnReport // by column
	leftOut   map[string]string              // reason by column
	standsFor map[string][]result.StandsFor  // by chosen feature
}

func (x *explainer) indexSelection() {
	x.chosen, x.reports, x.leftOut, x.standsFor = make(map[string]int), make(map[string]stream.ColumnReport), make(map[string]string), make(map[string][]result.StandsFor)
	for i, f := range x.selection.Selected {
		x.chosen[f.Name] = i
		for _, name := range f.Features() {
			x.chosen[name] = i
		}
	}
	for _, l := range x.selection.LeftOut {
		x.leftOut[l.Name] = l.Why
	}
	explainsSome := x.selection.ExplainsGiven()
	for _, c := range x.selection.Columns {
		x.reports[c.Name] = c
		_, isKept := x.chosen[c.Name]
		if at, known := x.chosen[c.Nearest]; known && c.Nearest != "" && !isKept && (!explainsSome || c.Role != "") { // c.Nearest may be any feature of a group
			nearest := x.selection.Selected[at].Name
			x.standsFor[nearest] = append(x.standsFor[nearest], result.StandsFor{Name: c.Name, Explained: c.Explained})
		}
	}
	for _, list := range x.standsFor {
		slices.SortFunc(list, func(a, b result.StandsFor) int {
			return cmp.Or(cmp.Compare(b.Explained, a.Explained), cmp.Compare(a.Name, b.Name))
		})
	}
}

func (x *explainer) explainColumns(names []string, c *correlations) error {
	var related *relations
	for _, name := range names {
		columns, err := x.findExplainedColumns(name, c)
		if err != nil {
			return err
		}
		for _, own := range columns {
			if slices.ContainsFunc(x.out.Columns, func(o result.ExplainedColumn) bool { return o.Name == own.Name }) {
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

func (x *explainer) findExplainedColumns(name string, c *correlations) ([]result.ExplainedColumn, error) {
	_, isKept := x.chosen[name]
	_, reported := x.reports[name]
	_, isOut := x.leftOut[name]
	if !isKept && !reported && !isOut && c == nil && statistics.LacksFeatureReports(x.selection) {
		return nil, stream.Usagef("%q is not chosen, and the selection was written without the reports on its features; add {stats} ALL.ufs or the INPUT, or select with {details} all", name)
	}
	var made []result.ExplainedColumn
	if c != nil {
		for _, col := range c.columns {
			if col.Block == "" { // a single feature, which does not come from a column with another name
				continue
			}
			if why, isOut := x.leftOut[col.Name]; isOut && col.Block == name {
				made = append(made, result.ExplainedColumn{Name: col.Name, State: result.StateLeftOut, Why: why})
			} else if col.Block == name {
				made = append(made, x.recordedColumn(col.Name, name))
			}
		}
		if _, there := c.index[name]; there && made == nil {
			return []result.ExplainedColumn{x.recordedColumn(name, name)}, nil
		}
	}
	switch {
	case made != nil:
		return made, nil
	case isKept || reported || isOut:
		return []result.ExplainedColumn{x.recordedColumn(name, name)}, nil
	}
	known := slices.Concat(request.SortedKeys(x.chosen), request.SortedKeys(x.reports), request.SortedKeys(x.leftOut))
	if c != nil {
		known = append(known, c.Names...)
		for _, l := range c.leftOut {
			if l.Name == name {
				return []result.ExplainedColumn{{Name: name, State: result.StateLeftOut, Why: l.Why}}, nil
			}
		}
	}
	return nil, stream.Usagef("the selection knows no column %q%s", name, suggest.DidYouMean(name, known))
}

// recordedColumn returns the selection's record of the column called name. If the selection has no record of this name,
// the record under the name of the column's block is used.
func (x *explainer) recordedColumn(name, block string) result.ExplainedColumn {
	own := result.ExplainedColumn{Name: name, State: result.StateDropped}
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
		own.State, own.Rank, own.Score, own.StandsFor = result.StateKept, f.Rank, &f.Score, x.standsFor[f.Name]
		before := stream.Number(1)
		if at > 0 {
			before = x.selection.Selected[at-1].Error
		}
		if added := before - f.Error; !math.IsNaN(float64(added)) {
			own.Added = &added
		}
	case out:
		own.State, own.Why = result.StateLeftOut, why
	case !reported && !statistics.LacksFeatureReports(x.selection):
		own.State = result.StateUnknown
	}
	return own
}
