package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
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
	Candidates int      `json:"candidates,omitempty"`
	Rows       int64    `json:"rows"` // -1 if unknown
	Files      int      `json:"files"`
	Passes     Passes   `json:"passes"`
	Bytes      int64    `json:"bytes"` // of the input; a pass reads only the columns that it needs
	Memory     Budget   `json:"memory"`
	Scratch    int64    `json:"scratch_bytes"`
	Warnings   []string `json:"warnings"`
	// OnRows means that the method iterates over rows. For such a method, rows that do not fit into memory are kept in
	// scratch files. For all other methods, the input is read again.
	OnRows bool `json:"-"`
	// Machines is the result of OnMachines, or nil before OnMachines is called.
	Machines *MachinesForecast `json:"machines,omitempty"`

	job scalemodel.Job
}

// scaleOfSample is the value of Forecast.Scale if a sample of the rows will determine the scale.
const scaleOfSample = "auto"

// Passes is the least and the largest number of passes over the input, and the reason for them.
type Passes struct {
	Least int    `json:"least"`
	Most  int    `json:"most"`
	Why   string `json:"why"`
}

// Plan describes the steps and cost of Select, and reads nothing but footers. It returns the errors that Select would
// return before it reads more than footers.
func Plan(ctx context.Context, q Request) (*Forecast, error) {
	r, err := q.newSelectionRun(ctx)
	if err != nil {
		return nil, err
	}
	r.settleSize()
	if q.Stats != "" {
		return nil, stream.Usagef("%s: selecting from statistics reads no data, so there is nothing to plan", place.DisplayName(q.Stats))
	}
	if err := r.Single(q.Options); err != nil {
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
	f, err := r.forecastRun(ctx)
	if err != nil && r.fallback != nil && r.canFallBack(err) {
		return r.fallbackRun(err).forecastRun(ctx)
	}
	return f, err
}

func (r *run) forecastRun(ctx context.Context) (*Forecast, error) {
	if err := r.countAnchorsInFile(ctx); err != nil {
		return nil, err
	}
	opt := r.readOptions()
	ds, err := openDataset(ctx, r.Inputs, opt)
	if err != nil {
		return nil, r.errLeastMemory(ctx, r.Inputs, opt, r.planSelection, err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	b, err := r.planSelection(ds)
	if err != nil {
		return nil, err
	}
	if r.From != method.FromRows && r.gatherPasses(ds, b).Least > 1 {
		b = b.withKept(ds, 0)
	}
	if rowsBytes, least := ds.RowsMemory(); rowsBytes > 0 { // memory that opening used to convert files of rows
		b.Peak, b.Smallest = max(b.Peak, b.Program+rowsBytes), max(b.Smallest, b.Program+least)
		b.InMemory = max(b.InMemory, b.Smallest)
	}
	d, passes := len(ds.Columns()), r.expectedPasses(ds, b)
	why, scale := r.methodReason, r.Scale
	if r.fallback != nil {
		why = stream.Textf("the recommended one; %s if a sample of the rows shows no clusters beyond what covariances explain", r.fallback.Name)
	}
	if isScaleOpen(r) {
		scale = scaleOfSample
	}
	f := &Forecast{
		Method: r.Name, Why: why.Spell(r.Spelling), K: r.expectedK(d), AutoK: r.AutoK, WhyK: r.sizeReason.Spell(r.Spelling), Scale: scale, Features: d, Rows: ds.Rows(),
		Files: len(ds.Inputs()), Passes: Passes{passes.Least, passes.Most, passes.Why.Spell(r.Spelling)}, Memory: b, Scratch: b.scratch + b.spoolBytes + ds.RowsScratch(),
		Warnings: append([]string{}, spellAll(ds.Warnings(), r.Spelling)...), OnRows: r.From == method.FromRows,
		job: r.scaleJob(ds),
	}
	for _, in := range ds.Inputs() {
		f.Bytes += in.Bytes
	}
	c, err := r.newCandidates(ds.Columns(), ds.LeftOut(), true)
	if err != nil {
		return nil, err
	}
	if c.isConstrained {
		f.K, f.Candidates = min(f.K, c.choosable), c.choosable
	}
	noteFilled(r, listPromisedMissing(r, ds))
	return f, c.checkCount(r.K, ds.LeftOut())
}

func (r *run) expectedPasses(ds *chunkio.Dataset, b Budget) method.Passes {
	p := r.gatherPasses(ds, b)
	if b.methodPasses.Why.Format != "" {
		p.Why = stream.Textf("%s; %s", p.Why, b.methodPasses.Why)
	}
	p.Least += b.methodPasses.Least
	p.Most += b.methodPasses.Most
	return p
}

// gatherPasses returns the least and the largest number of times that gathering reads the input. The number may depend
// on missing values that are found only while reading.
func (r *run) gatherPasses(ds *chunkio.Dataset, b Budget) method.Passes {
	keepsMissing := r.missingPolicy() == stream.MissingKeep
	if r.scale == gram.ScaleRank {
		return r.rankPasses(ds)
	}
	if r.excludesSuspects() && b.Factor == 0 && r.From == method.FromGraph {
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile that finds the columns to leave out, one that draws the anchors, then the statistics")}
	}
	if r.excludesSuspects() && (r.From == method.FromGraph || r.From == method.FromRows) {
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that finds the columns to leave out, then the statistics")}
	}
	switch graph := r.From == method.FromGraph && b.Factor == 0; {
	case graph && (keepsMissing || r.Sparse != ""):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that draws the anchors, then the statistics")}
	case graph && promisesMissing(ds):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, one that draws the anchors, then the statistics")}
	case graph:
		return method.Passes{Least: 2, Most: 4, Why: stream.Textf("a profile that draws the anchors, and the statistics, if nothing is missing; else two more profiles")}
	case !ds.Replayable() || r.Sparse != "" || r.Takes.Cells:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass")}
	case keepsMissing:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass; the statistics fill missing values")}
	case promisesMissing(ds):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile of the columns, because values are missing, then the statistics")}
	}
	return method.Passes{Least: 1, Most: 3, Why: stream.Textf("one if nothing is missing, else a profile and another")}
}
