package ufs

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Inspection describes the contents of the input, or of a statistics file.
type Inspection struct {
	Kind     string            `json:"kind"` // "dataset", or "gram" and "profile" for statistics files
	Rows     *int64            `json:"rows"` // null if unknown
	Groups   *int              `json:"row_groups"`
	Bytes    int64             `json:"bytes"`
	Features int               `json:"features"`
	Scanned  bool              `json:"scanned"`           // all rows were read
	Options  map[string]string `json:"options,omitempty"` // recorded in a statistics file
	Part     *stream.Part      `json:"part,omitempty"`    // the part of a plan that the statistics cover, if any
	Inputs   []stream.Input    `json:"inputs"`
	Columns  []InspectedColumn `json:"columns"`
	Warnings []string          `json:"warnings"`
	Notes    []string          `json:"notes,omitempty"` // how text was read, and how missing values will be filled
}

// InspectedColumn describes a column of the input, which may be a feature or not.
type InspectedColumn struct {
	Name  string         `json:"name"`
	Type  string         `json:"type"`
	Nulls *int64         `json:"nulls"` // null if unknown
	NaNs  *int64         `json:"nan,omitempty"`
	Infs  *int64         `json:"inf,omitempty"`
	Min   *stream.Number `json:"min,omitempty"`
	Max   *stream.Number `json:"max,omitempty"`
	Used  bool           `json:"used"`
	Why   string         `json:"why,omitempty"`
}

// Inspect lists every column of the input. It reports whether the column is a feature, and if not, the reason. It reads
// only footers. If scan is true, it also reads the features, and adds their range and counts of missing values by kind.
// Inspect also accepts a single statistics file.
func Inspect(ctx context.Context, q Request, scan bool) (*Inspection, error) {
	if err := refuseInputAsOutput(ctx, &q); err != nil {
		return nil, err
	}
	if len(q.Inputs) == 1 && chunkio.IsStats(ctx, q.Inputs[0], q.documentOptions()) {
		return q.inspectStats(ctx, q.Inputs[0])
	}
	if len(q.Inputs) == 0 && q.Plan == "" {
		return nil, stream.Usagef("inspect: no INPUT given")
	}
	if err := q.refuseStats(ctx, "inspect statistics files one at a time"); err != nil {
		return nil, err
	}
	r := &run{Request: q, original: q}
	if q.Plan != "" {
		if err := r.applyPlan(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.settleInput(); err != nil {
		return nil, err
	}
	if err := r.fillLimits(); err != nil {
		return nil, err
	}
	end, err := r.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := r.findCategories(ctx); err != nil {
		return nil, err
	}
	return r.inspectInput(ctx, scan)
}

// inspectedColumnBytes is the memory that is planned for a column until the column is printed. In a test with 3,000,000
// list elements, each a column, 290 bytes per column were allocated. The process held 240 bytes per column when it
// printed a table, and 390 when it printed JSON.
const inspectedColumnBytes = 400

func (r *run) inspectInput(ctx context.Context, scan bool) (*Inspection, error) {
	opt := r.readOptions()
	opt.Spreads = !scan // a scan gives more information
	var notes []string
	opt.Note = func(t stream.Text) { notes = append(notes, t.Spell(r.Spelling)) }
	ds, err := chunkio.Open(ctx, r.Inputs, opt)
	if err != nil {
		return nil, r.errForLimit(err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	all := len(ds.Columns()) + len(ds.LeftOut())
	columnBytes := inspectedColumnBytes * int64(all)
	if need := ds.CatalogBytes() + columnBytes; need > opt.Memory {
		return nil, r.errForLimit(&stream.MemoryError{What: fmt.Sprintf("inspecting %d columns", all), Need: need, Limit: opt.Memory})
	}
	s := &Inspection{Kind: "dataset", Scanned: scan, Columns: []InspectedColumn{}, Notes: notes, Warnings: append([]string{}, spellAll(ds.Warnings(), r.Spelling)...)}
	var undecoded []stream.LeftOut
	s.Columns = slices.Grow(s.Columns, all)
	for f := range ds.Fields() {
		col := InspectedColumn{Name: f.Name, Type: f.Type, Used: f.Used, Why: f.Why}
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
			return nil, r.errForLimit(err)
		}
		plan, err := r.planPass(ds, columnBytes+profileColumnBytes*int64(len(ds.Columns())), 0)
		if err != nil {
			return nil, err
		}
		opt.Memory = plan.Reading
		if ds, err = ds.With(opt); err != nil {
			return nil, plan.errForLimit(err)
		}
		seen, err := r.inspectValues(ctx, ds, s)
		if err != nil {
			return nil, plan.errForLimit(err)
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
	s.countFeatures()
	if remark := filledRemark(r, s.listMissing()); remark != "" && (scan || r.Sparse == "") {
		s.Notes = append(s.Notes, remark)
	}
	return s, nil
}

func (s *Inspection) listMissing() (list []stream.ColumnReport) {
	count := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	for _, col := range s.Columns {
		c := stream.ColumnReport{Name: col.Name, Nulls: count(col.Nulls), NaNs: count(col.NaNs), Infs: count(col.Infs)}
		if missing := c.Nulls + c.NaNs + c.Infs; col.Used && missing > 0 && s.Rows != nil && missing < *s.Rows {
			list = append(list, c)
		}
	}
	return list
}

func (s *Inspection) countFeatures() {
	s.Features = 0
	for _, col := range s.Columns {
		if col.Used {
			s.Features++
		}
	}
}

func (r *run) inspectValues(ctx context.Context, ds *chunkio.Dataset, s *Inspection) (rows int64, err error) {
	profile, facts := gram.NewProfile(len(ds.Columns())), r.newFacts(len(ds.Columns()))
	if len(ds.Columns()) > 0 && ds.Rows() != 0 {
		err := r.trackProgress(Progress{What: "scan", Pass: 1, Passes: 1, Rows: ds.Rows()}, func(func(Progress)) error {
			return stream.Fold(ctx, ds, stream.FoldOptions{Meter: r.Meter}, profile, facts)
		})
		if err != nil {
			return 0, err
		}
	}
	s.addProfile(profile, ds.Columns())
	s.Warnings = append(s.Warnings, spellAll(suspectWarnings(facts.FindSuspects(profile, nil, missingShareToWarn), ds.Columns(), r.Label), r.Spelling)...)
	return profile.Seen, nil
}

func (s *Inspection) addProfile(profile *gram.Profile, columns []stream.Column) {
	useless := make(map[string]string)
	for _, l := range profile.LeftOut(columns) {
		useless[l.Name] = l.Why
	}
	at := make(map[string]int, len(s.Columns))
	for i, col := range s.Columns {
		at[col.Name] = i
	}
	for j, column := range columns {
		p, col := profile.Columns[j], &s.Columns[at[column.Name]]
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

func (q *Request) inspectStats(ctx context.Context, path string) (*Inspection, error) {
	r, err := q.openStats(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	e, err := readStats(r, method.FromProfile, gram.Options{}, 0)
	if err != nil {
		return nil, err
	}
	rows := e.coveredRows()
	s := &Inspection{Kind: e.kind, Rows: &rows, Scanned: true, Options: e.requestedOptions(), Part: e.part, Inputs: e.inputs,
		Columns: []InspectedColumn{}, Warnings: append([]string{}, spellAll(e.warnings, q.Spelling)...)}
	for _, in := range e.inputs {
		s.Bytes += in.Bytes
	}
	for _, col := range e.columns {
		s.Columns = append(s.Columns, InspectedColumn{Name: col.Name, Type: col.Type, Used: true})
	}
	s.addProfile(e.profile, e.columns)
	s.Warnings = append(s.Warnings, spellAll(suspectWarnings(e.facts.FindSuspects(e.profile, nil, missingShareToWarn), e.columns, e.options["label"]), q.Spelling)...)
	for _, l := range e.leftOut {
		s.Columns = append(s.Columns, InspectedColumn{Name: l.Name, Why: l.Why})
	}
	s.countFeatures()
	return s, nil
}
