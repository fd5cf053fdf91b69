package applying

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// InspectInput implements ufs.Inspect: it lists every column of the input.
func InspectInput(ctx context.Context, q request.Request, scan bool) (*result.Inspection, error) {
	if err := request.RefuseInputAsOutput(ctx, &q); err != nil {
		return nil, err
	}
	if len(q.Input.Paths) == 1 && chunkio.IsStats(ctx, q.Input.Paths[0], budget.DocumentOptions(&q)) {
		return inspectStatsFile(ctx, &q, q.Input.Paths[0])
	}
	if q.Input.IsEmpty() {
		return nil, stream.Usagef("inspect: no INPUT given")
	}
	if err := settled.RefuseStats(ctx, &q, "inspect statistics files one at a time"); err != nil {
		return nil, err
	}
	r := &settled.Run{Request: q, Original: q}
	if q.Input.Plan != "" {
		if err := r.ApplyPlan(ctx); err != nil {
			return nil, err
		}
	}
	if err := request.SettleInput(&r.Request); err != nil {
		return nil, err
	}
	end, err := budget.ApplyLimits(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := settled.PrepareFeatures(ctx, r); err != nil {
		return nil, err
	}
	return inspectInput(ctx, r, scan)
}

// inspectedColumnBytes is the memory that is planned for a column until the column is printed. In a test with 3,000,000
// list elements, each a column, 290 bytes per column were allocated. The process held 240 bytes per column when it
// printed a table, and 390 when it printed JSON.
const inspectedColumnBytes = 400

func inspectInput(ctx context.Context, r *settled.Run, scan bool) (*result.Inspection, error) {
	opt := r.ValueOptions()
	opt.Spreads = !scan // a scan gives more information
	var notes []string
	opt.Note = func(t stream.Text) { notes = append(notes, t.Spell(r.Hooks.Spelling)) }
	ds, err := chunkio.Open(ctx, r.Input.Paths, opt)
	if err != nil {
		return nil, budget.ErrForLimit(&r.Request, err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	all := len(ds.Columns()) + len(ds.LeftOut())
	columnBytes := inspectedColumnBytes * int64(all)
	if need := ds.CatalogBytes() + columnBytes; need > opt.Memory {
		return nil, budget.ErrForLimit(&r.Request, &stream.MemoryError{What: fmt.Sprintf("inspecting %d columns", all), Need: need, Limit: opt.Memory})
	}
	s := &result.Inspection{Kind: "dataset", Scanned: scan, Columns: []result.InspectedColumn{}, Notes: notes, Warnings: append([]string{}, wording.SpellAll(ds.Warnings(), r.Hooks.Spelling)...)}
	var undecoded []stream.LeftOut
	s.Columns = slices.Grow(s.Columns, all)
	for f := range ds.Fields() {
		col := result.InspectedColumn{Name: f.Name, Type: f.Type, Used: f.Used, Why: f.Why}
		if nulls := f.Nulls; nulls >= 0 {
			col.Nulls = &nulls
		}
		if !f.Used {
			undecoded = append(undecoded, stream.LeftOut{Name: f.Name, Why: f.Why})
		}
		s.Columns = append(s.Columns, col)
	}
	if scan {
		opt.LeaveOut = undecoded // so that the other columns can be scanned
		opt.Missing = stream.MissingKeep
		if opt.Sparse != "" {
			opt.Missing = stream.MissingZero
		}
		if ds, err = ds.With(opt); err != nil {
			return nil, budget.ErrForLimit(&r.Request, err)
		}
		plan, err := planning.PlanPass(r, ds, columnBytes+budget.ProfileColumnBytes*int64(len(ds.Columns())), 0)
		if err != nil {
			return nil, err
		}
		opt.Memory = plan.Reading
		if ds, err = ds.With(opt); err != nil {
			return nil, plan.ErrForLimit(err)
		}
		seen, err := inspectValues(ctx, r, ds, s)
		if err != nil {
			return nil, plan.ErrForLimit(err)
		}
		if r.SampleRows == 0 && len(ds.Columns()) > 0 {
			s.Rows = &seen // the number of rows of a stream is known only now
		}
	}
	if n := ds.Rows(); n >= 0 {
		groups := max(len(ds.Cuts())-1, 0)
		s.Rows, s.Groups = &n, &groups
	}
	s.Inputs = ds.Inputs()
	for _, in := range s.Inputs {
		s.Bytes += in.Bytes
	}
	updateFeatureCount(s)
	if remark := settled.FilledRemark(r, columnsWithMissing(s)); remark != "" && (scan || r.Columns.Sparse == "") {
		s.Notes = append(s.Notes, remark)
	}
	return s, nil
}

func columnsWithMissing(inspection *result.Inspection) (list []stream.ColumnReport) {
	count := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	for _, col := range inspection.Columns {
		c := stream.ColumnReport{Name: col.Name, Nulls: count(col.Nulls), NaNs: count(col.NaNs), Infs: count(col.Infs)}
		if missing := c.Nulls + c.NaNs + c.Infs; col.Used && missing > 0 && inspection.Rows != nil && missing < *inspection.Rows {
			list = append(list, c)
		}
	}
	return list
}

func updateFeatureCount(inspection *result.Inspection) {
	inspection.Features = 0
	for _, col := range inspection.Columns {
		if col.Used {
			inspection.Features++
		}
	}
}

func inspectValues(ctx context.Context, r *settled.Run, ds *chunkio.Dataset, inspection *result.Inspection) (rows int64, err error) {
	profile, facts := gram.NewProfile(len(ds.Columns())), settled.NewFacts(r, len(ds.Columns()))
	if len(ds.Columns()) > 0 && ds.Rows() != 0 {
		err := request.TrackProgress(&r.Request, request.Progress{What: "scan", Pass: 1, Passes: 1, Rows: ds.Rows()}, func(func(request.Progress)) error {
			return stream.Fold(ctx, ds, stream.FoldOptions{Meter: r.Hooks.Meter}, profile, facts)
		})
		if err != nil {
			return 0, err
		}
	}
	addProfileToColumns(inspection, profile, ds.Columns())
	inspection.Warnings = append(inspection.Warnings, wording.SpellAll(selecting.SuspectWarnings(facts.FindSuspects(profile, nil, request.MissingShareToWarn), ds.Columns(), r.Columns.Label), r.Hooks.Spelling)...)
	return profile.Seen, nil
}

func addProfileToColumns(inspection *result.Inspection, profile *gram.Profile, features []stream.Column) {
	useless := make(map[string]string)
	for _, l := range profile.LeftOut(features) {
		useless[l.Name] = l.Why
	}
	at := make(map[string]int, len(inspection.Columns))
	for i, col := range inspection.Columns {
		at[col.Name] = i
	}
	for j, column := range features {
		p, col := profile.Columns[j], &inspection.Columns[at[column.Name]]
		col.Nulls, col.NaNs, col.Infs = &p.Missing.Nulls, &p.Missing.NaNs, &p.Missing.Infs
		if p.Observed > 0 {
			lo, hi := stream.Number(p.Min), stream.Number(p.Max)
			col.Min, col.Max = &lo, &hi
		}
		if why := useless[column.Name]; why != "" {
			col.Used, col.Why = false, why
		}
	}
}

func inspectStatsFile(ctx context.Context, q *request.Request, path string) (*result.Inspection, error) {
	r, err := chunkio.OpenStats(ctx, path, budget.DocumentOptions(q))
	if err != nil {
		return nil, budget.ErrForLimit(q, err)
	}
	defer r.Close()
	e, err := statistics.ReadStats(r, method.FromProfile, gram.Options{}, 0)
	if err != nil {
		return nil, err
	}
	rows := e.Summary(nil, nil).Rows
	s := &result.Inspection{Kind: e.Kind, Rows: &rows, Scanned: true, Options: e.RequestedOptions(), Part: e.Part, Table: e.Table, Since: e.Since, Inputs: e.Inputs,
		Columns: []result.InspectedColumn{}, Warnings: append([]string{}, wording.SpellAll(e.Warnings, q.Hooks.Spelling)...)}
	for _, in := range e.Inputs {
		s.Bytes += in.Bytes
	}
	for _, col := range e.Columns {
		s.Columns = append(s.Columns, result.InspectedColumn{Name: col.Name, Type: col.Type, Used: true})
	}
	addProfileToColumns(s, e.Profile, e.Columns)
	s.Warnings = append(s.Warnings, wording.SpellAll(selecting.SuspectWarnings(e.Facts.FindSuspects(e.Profile, nil, request.MissingShareToWarn), e.Columns, e.Options["label"]), q.Hooks.Spelling)...)
	for _, l := range e.LeftOut {
		s.Columns = append(s.Columns, result.InspectedColumn{Name: l.Name, Why: l.Why})
	}
	updateFeatureCount(s)
	return s, nil
}
