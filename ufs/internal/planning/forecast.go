package planning

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// Forecast describes the steps and cost of Select for a request.
type Forecast struct {
	Method   string `json:"method"`
	Why      string `json:"why,omitempty"`   // the reason for this method, if the request names none
	K        int    `json:"k"`               // the largest number of features to select
	AutoK    bool   `json:"k_auto"`          // the data will determine the number of features, up to K
	WhyK     string `json:"why_k,omitempty"` // why K is the default; see Selection.WhyK
	Scale    string `json:"scale"`
	Features int    `json:"features"` // including constant columns
	// Candidates is the number of groups and ungrouped features that can be chosen, which K counts. It is 0 if nothing
	// but K constrains the choice of features.
	Candidates int           `json:"candidates,omitempty"`
	Rows       int64         `json:"rows"` // -1 if unknown
	Files      int           `json:"files"`
	Passes     result.Passes `json:"passes"`
	Bytes      int64         `json:"bytes"` // of the input; a pass reads only the columns that it needs
	Memory     budget.Budget `json:"memory"`
	Scratch    int64         `json:"scratch_bytes"`
	Warnings   []string      `json:"warnings"`
	// OnRows means that the method iterates over rows. For such a method, rows that do not fit into memory are kept in
	// scratch files. For all other methods, the input is read again.
	OnRows bool `json:"-"`
	// Machines is the result of OnMachines, or nil before OnMachines is called.
	Machines *result.MachinesForecast `json:"machines,omitempty"`

	job scalemodel.Job
}

// scaleOfSample is the value of Forecast.Scale if a sample of the rows will determine the scale.
const scaleOfSample = "auto"

// ForecastSelection implements ufs.Plan.
func ForecastSelection(ctx context.Context, q request.Request) (*Forecast, error) {
	r, err := settled.NewSelectionRun(ctx, q)
	if err != nil {
		return nil, err
	}
	r.SettleSize()
	if q.Stats != "" {
		return nil, stream.Usagef("%s: selecting from statistics reads no data, so there is nothing to plan", place.DisplayName(q.Stats))
	}
	if err := r.Bound.Single(q.Choice.Options); err != nil {
		return nil, err
	}
	end, err := budget.ApplyLimits(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := settled.FindCategories(ctx, r); err != nil {
		return nil, err
	}
	f, err := forecastRun(ctx, r)
	if err != nil && r.Fallback != nil && settled.CanFallBack(r, err) {
		return forecastRun(ctx, settled.FallbackRun(r, err))
	}
	return f, err
}

func forecastRun(ctx context.Context, r *settled.Run) (*Forecast, error) {
	if err := settled.CountAnchorsInFile(ctx, r); err != nil {
		return nil, err
	}
	opt := r.ReadOptions()
	ds, err := settled.OpenDataset(ctx, r.Input.Paths, opt)
	if err != nil {
		return nil, ErrLeastMemory(ctx, r, r.Input.Paths, opt, PlanSelection, err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	b, err := PlanSelection(r, ds)
	if err != nil {
		return nil, err
	}
	if r.Bound.From != method.FromRows && gatherPasses(r, ds, b).Least > 1 {
		b = WithKept(b, ds, 0)
	}
	if rowsBytes, least := ds.RowsMemory(); rowsBytes > 0 { // memory that opening used to convert files of rows
		b.Peak, b.Smallest = max(b.Peak, b.Program+rowsBytes), max(b.Smallest, b.Program+least)
		b.InMemory = max(b.InMemory, b.Smallest)
	}
	d, passes := len(ds.Columns()), expectedPasses(r, ds, b)
	why, scale := r.MethodReason, r.Choice.Scale
	if r.Fallback != nil {
		why = stream.Textf("the recommended one; %s if a sample of the rows shows no clusters beyond what covariances explain", r.Fallback.Bound.Name)
	}
	if settled.IsScaleOpen(r) {
		scale = scaleOfSample
	}
	f := &Forecast{
		Method: r.Bound.Name, Why: why.Spell(r.Hooks.Spelling), K: r.ExpectedK(d), AutoK: r.Choice.AutoK, WhyK: r.SizeReason.Spell(r.Hooks.Spelling), Scale: scale, Features: d, Rows: ds.Rows(),
		Files: len(ds.Inputs()), Passes: result.Passes{Least: passes.Least, Most: passes.Most, Why: passes.Why.Spell(r.Hooks.Spelling)}, Memory: b, Scratch: b.Scratch + b.SpoolBytes + ds.RowsScratch(),
		Warnings: append([]string{}, wording.SpellAll(ds.Warnings(), r.Hooks.Spelling)...), OnRows: r.Bound.From == method.FromRows,
		job: scaleJob(r, ds),
	}
	for _, in := range ds.Inputs() {
		f.Bytes += in.Bytes
	}
	c, err := choice.NewCandidates(r, ds.Columns(), ds.LeftOut(), true)
	if err != nil {
		return nil, err
	}
	if c.IsConstrained {
		f.K, f.Candidates = min(f.K, c.Choosable), c.Choosable
	}
	settled.NoteFilled(r, settled.ListPromisedMissing(r, ds))
	return f, c.CheckCount(r.Choice.K, ds.LeftOut())
}

func expectedPasses(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) method.Passes {
	p := gatherPasses(r, ds, b)
	if b.MethodPasses.Why.Format != "" {
		p.Why = stream.Textf("%s; %s", p.Why, b.MethodPasses.Why)
	}
	p.Least += b.MethodPasses.Least
	p.Most += b.MethodPasses.Most
	return p
}

// gatherPasses returns the least and the largest number of times that gathering reads the input. The number may depend
// on missing values that are found only while reading.
func gatherPasses(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) method.Passes {
	keepsMissing := request.MissingPolicy(&r.Request) == stream.MissingKeep
	if r.ParsedScale == gram.ScaleRank {
		return rankPasses(r, ds)
	}
	if request.ExcludesSuspects(&r.Request) && b.Factor == 0 && r.Bound.From == method.FromGraph {
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile that finds the columns to leave out, one that draws the anchors, then the statistics")}
	}
	if request.ExcludesSuspects(&r.Request) && (r.Bound.From == method.FromGraph || r.Bound.From == method.FromRows) {
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that finds the columns to leave out, then the statistics")}
	}
	switch graph := r.Bound.From == method.FromGraph && b.Factor == 0; {
	case graph && (keepsMissing || r.Columns.Sparse != ""):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that draws the anchors, then the statistics")}
	case graph && settled.PromisesMissing(ds):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, one that draws the anchors, then the statistics")}
	case graph:
		return method.Passes{Least: 2, Most: 4, Why: stream.Textf("a profile that draws the anchors, and the statistics, if nothing is missing; else two more profiles")}
	case !ds.Replayable() || r.Columns.Sparse != "" || r.Bound.Takes.Cells:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass")}
	case keepsMissing:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass; the statistics fill missing values")}
	case settled.PromisesMissing(ds):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile of the columns, because values are missing, then the statistics")}
	}
	return method.Passes{Least: 1, Most: 3, Why: stream.Textf("one if nothing is missing, else a profile and another")}
}
