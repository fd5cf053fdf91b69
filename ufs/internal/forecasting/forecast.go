package forecasting

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
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

	job scalemodel.Job // the scans, for OnMachines
}

// scaleOfSample is the value of Forecast.Scale if a sample of the rows will determine the scale.
const scaleOfSample = "auto"

// ForecastSelection implements ufs.Plan: it describes the steps and cost of Select, and reads nothing but footers.
func ForecastSelection(ctx context.Context, q request.Request) (*Forecast, error) {
	attempts, err := settled.NewAttempts(ctx, q)
	if err != nil {
		return nil, err
	}
	attempts.SettleSize()
	r := attempts[0]
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
	if err := settled.PrepareFeatures(ctx, r, attempts[1:]...); err != nil {
		return nil, err
	}
	f, err := forecastAttempt(ctx, attempts)
	for attempts = attempts.LeftAfter(err); len(attempts) > 0; attempts = attempts.LeftAfter(err) {
		f, err = forecastAttempt(ctx, attempts)
	}
	return f, err
}

// forecastAttempt forecasts the first of the attempts. The others may select from its statistics.
func forecastAttempt(ctx context.Context, attempts settled.Attempts) (*Forecast, error) {
	r, later := attempts[0], attempts[1:]
	if err := settled.CountAnchorsInFile(ctx, r); err != nil {
		return nil, err
	}
	opt, plan := r.ReadOptions(), planning.SelectionPlanner(later)
	ds, err := settled.OpenDataset(ctx, r.Input.Paths, opt)
	if err != nil {
		return nil, gathering.ErrLeastMemory(ctx, r, r.Input.Paths, opt, plan, err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	b, err := plan(r, ds)
	if err != nil {
		return nil, err
	}
	attempts.UseDefaultSize(b.DefaultSize)
	if !r.Bound.From.UsesRows() && planning.GatherPasses(r, ds, b).Least > 1 {
		b = planning.WithKept(b, ds, 0)
	}
	if rowsBytes, least := ds.RowsMemory(); rowsBytes > 0 { // memory that opening used to convert files of rows
		b.Peak, b.Smallest = max(b.Peak, b.Program+rowsBytes), max(b.Smallest, b.Program+least)
		b.InMemory = max(b.InMemory, b.Smallest)
	}
	d, passes := len(ds.Columns()), planning.ExpectedPasses(r, ds, b)
	why, scale := r.MethodReason, r.Choice.Scale
	if len(later) > 0 {
		why = stream.Textf("the recommended one; %s if a sample of the rows shows no clusters beyond what covariances explain", later[0].Bound.Name)
	}
	if settled.IsScaleOpen(r) {
		scale = scaleOfSample
	}
	f := &Forecast{
		Method: r.Bound.Name, Why: why.Spell(r.Hooks.Spelling), K: r.ExpectedK(d, r.Choice.AutoK), AutoK: r.Choice.AutoK, WhyK: r.SizeReason.Spell(r.Hooks.Spelling), Scale: scale, Features: d, Rows: ds.Rows(),
		Files: len(ds.Inputs()), Passes: result.Passes{Least: passes.Least, Most: passes.Most, Why: passes.Why.Spell(r.Hooks.Spelling)}, Memory: b, Scratch: b.Scratch + b.SpoolBytes + ds.RowsScratch(),
		Warnings: append([]string{}, wording.SpellAll(ds.Warnings(), r.Hooks.Spelling)...), OnRows: r.Bound.From.UsesRows(),
		job: planning.ScaleJob(r, ds),
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
