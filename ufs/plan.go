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

// Forecast is what Select would do with a request.
type Forecast struct {
	Method   string `json:"method"`
	Why      string `json:"why,omitempty"`   // this method, where the request names none
	K        int    `json:"k"`               // at most
	AutoK    bool   `json:"k_auto"`          // the data will tell how many, up to K
	WhyK     string `json:"why_k,omitempty"` // as in Selection
	Scale    string `json:"scale"`
	Features int    `json:"features"` // before constant columns leave
	// Candidates is how many of the groups and features in none can be chosen, which K counts; 0 where
	// nothing but K binds the choice of features.
	Candidates int      `json:"candidates,omitempty"`
	Rows       int64    `json:"rows"` // -1 unknown
	Files      int      `json:"files"`
	Passes     Passes   `json:"passes"`
	Bytes      int64    `json:"bytes"` // of the input; a pass reads the columns it needs of them
	Memory     Budget   `json:"memory"`
	Scratch    int64    `json:"scratch_bytes"`
	Warnings   []string `json:"warnings"`
	// OnRows says that the method iterates over rows, which are in scratch files where they
	// do not fit; others make more passes then.
	OnRows bool `json:"-"`
	// Machines is what OnMachines was asked for; nil before.
	Machines *MachinesForecast `json:"machines,omitempty"`

	job scalemodel.Job
}

// scaleOfSample stands for a scale that a sample of the rows will tell.
const scaleOfSample = "auto"

// Passes is the range in which the number of passes over the input will be, and why.
type Passes struct {
	Least int    `json:"least"`
	Most  int    `json:"most"`
	Why   string `json:"why"`
}

// Plan says what Select would do and cost. It reads footers only. Its errors are those
// that Select would have before it reads anything else.
func Plan(ctx context.Context, q Request) (*Forecast, error) {
	r, err := q.settleSelection(ctx)
	if err != nil {
		return nil, err
	}
	r.settleSize()
	if q.Stats != "" {
		return nil, stream.Usagef("%s: selecting from statistics reads no data, so there is nothing to plan", place.Name(q.Stats))
	}
	if err := r.Single(q.Options); err != nil {
		return nil, err
	}
	end, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := r.findCategories(ctx); err != nil {
		return nil, err
	}
	f, err := r.forecast(ctx)
	if err != nil && r.plain != nil && r.unserved(err) {
		return r.instead(err).forecast(ctx)
	}
	return f, err
}

// forecast plans this very run.
func (r *run) forecast(ctx context.Context) (*Forecast, error) {
	if err := r.countAnchorsInFile(ctx); err != nil {
		return nil, err
	}
	opt := r.reading()
	ds, err := openDataset(ctx, r.Inputs, opt)
	if err != nil {
		return nil, r.leastMemory(ctx, r.Inputs, opt, r.planSelection, err)
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
		b = b.keeping(ds, 0)
	}
	if held, least := ds.RowsMemory(); held > 0 { // before all passes
		b.Peak, b.Smallest = max(b.Peak, b.Program+held), max(b.Smallest, b.Program+least)
		b.InMemory = max(b.InMemory, b.Smallest)
	}
	d, passes := len(ds.Columns()), r.expectedPasses(ds, b)
	why, scale := r.why, r.Scale
	if r.plain != nil {
		why = stream.Textf("the recommended one; %s if a sample of the rows shows no clusters beyond what covariances explain", r.plain.Name)
	}
	if isScaleOpen(r) {
		scale = scaleOfSample
	}
	f := &Forecast{
		Method: r.Name, Why: why.Spell(r.Spelling), K: r.expectedK(d), AutoK: r.AutoK, WhyK: r.whyK.Spell(r.Spelling), Scale: scale, Features: d, Rows: ds.Rows(),
		Files: len(ds.Inputs()), Passes: Passes{passes.Least, passes.Most, passes.Why.Spell(r.Spelling)}, Memory: b, Scratch: b.scratch + b.spool + ds.RowsScratch(),
		Warnings: append([]string{}, spelled(ds.Warnings(), r.Spelling)...), OnRows: r.From == method.FromRows,
		job: r.job(ds),
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
	tellFilled(r, listPromised(r, ds))
	return f, c.checkCount(r.K, ds.LeftOut())
}

// expectedPasses is how often gather and the method will read the input.
func (r *run) expectedPasses(ds *chunkio.Dataset, b Budget) method.Passes {
	p := r.gatherPasses(ds, b)
	if b.method.Why.Format != "" {
		p.Why = stream.Textf("%s; %s", p.Why, b.method.Why)
	}
	p.Least += b.method.Least
	p.Most += b.method.Most
	return p
}

// gatherPasses is how often gather reads the input: missing values show only on the way.
func (r *run) gatherPasses(ds *chunkio.Dataset, b Budget) method.Passes {
	kept := r.policy() == stream.MissingKeep
	if r.scale == gram.ScaleRank {
		return r.rankPasses(ds)
	}
	if r.excludes() && b.Factor == 0 && r.From == method.FromGraph {
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile that finds what to leave out, one that draws the anchors, then the statistics")}
	}
	if r.excludes() && (r.From == method.FromGraph || r.From == method.FromRows) {
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that finds what to leave out, then the statistics")}
	}
	switch graph := r.From == method.FromGraph && b.Factor == 0; {
	case graph && (kept || r.Sparse != ""):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that draws the anchors, then the statistics")}
	case graph && promisesMissing(ds):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, one that draws the anchors, then the statistics")}
	case graph:
		return method.Passes{Least: 2, Most: 4, Why: stream.Textf("a profile that draws the anchors, and the statistics, if nothing is missing; else two more profiles")}
	case !ds.Replayable() || r.Sparse != "" || r.Takes.Cells:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass")}
	case kept:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass; the statistics fill what is missing")}
	case promisesMissing(ds):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile of the columns, because values are missing, then the statistics")}
	}
	return method.Passes{Least: 1, Most: 3, Why: stream.Textf("one if nothing is missing, else a profile and another")}
}
