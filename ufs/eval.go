package ufs

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// EvalRequest says which selections to judge, and how. A zero field means its default.
type EvalRequest struct {
	Inputs     []string
	Stdin      io.Reader
	Selections []NamedSelection

	K       []int  // the first so many features of the rankings; default: all that are selected
	Label   string // the class column; without one there is no clustering
	Sparse  string // as in Request; default: as the selections record
	Missing string // as in Request; default: as the selections record
	Where   string // as in Request: only such rows judge, whatever the selections were made of
	Sample  int64  // judge by a seeded sample of so many rows, default 10,000; negative means all

	Protocol       string   // greedy (20 runs, each the best of 10 restarts; default) or sfufs (30 runs of one)
	Runs, Restarts int      // in place of the protocol's
	Clusters       int      // default: as many as there are classes
	Scale          string   // default: none for k-means, what the selections record for the reconstruction error
	Spherical      bool     // k-means by the directions of rows
	Baselines      []string // of all, random, variance, or none; default: all of them
	// Resamples is how often to select again from random samples of half as many rows:
	// default 5 without a label, else none; negative means none.
	Resamples int
	Methods   []method.Spec // that selections may have been made by; nil means methods.All()

	Seed      uint64
	Threads   int
	Memory    int64
	Output    string
	Version   *int64 // as in Request, and so are the two below
	AsOf      time.Time
	Anonymous bool
	Allow     []string            // see Request
	Texts     chunkio.TextOptions // in place of the selections'

	TempDir    string // as in Request, and so are those below
	MaxScratch int64
	// Checkpoint keeps the selections from samples, as they are finished; the given ones are judged
	// again. Call Forget when the result is safe.
	Checkpoint      string
	CheckpointEvery time.Duration
	longRun         time.Duration // replaced in tests, as in Request

	Meter    *stream.Meter
	Progress func(Progress)
	Note     func(stream.Text)
	Say      func(stream.Text)
	Spelling stream.Spelling
}

// NamedSelection is a selection to judge. Name is how results call it, Path where it was
// read from, for messages.
type NamedSelection struct {
	Name, Path string
	*stream.Selection

	turns int // groups and features chosen, where groups were: Selection has their features one by one then
}

const (
	defaultEvalSample = 10_000
	defaultResamples  = 5
)

// Eval judges selections: it clusters the rows by k-means on the selected features only
// and compares the clusters with the classes of the label, beside all, random and most
// varying features; it says what the selections leave unexplained (reconstruction error),
// how alike their features are (redundancy), and how far selections from other rows agree
// (stability).
func Eval(ctx context.Context, o EvalRequest) (*stream.Evaluation, error) {
	begin := time.Now()
	e := &evaluator{EvalRequest: o, q: Request{
		Inputs: o.Inputs, Stdin: o.Stdin, Label: o.Label, Methods: o.Methods, Seed: o.Seed, Threads: o.Threads, Memory: o.Memory, Output: o.Output,
		TempDir: o.TempDir, MaxScratch: o.MaxScratch, Anonymous: o.Anonymous, Allow: o.Allow, Meter: o.Meter, Progress: o.Progress, Note: o.Note, Say: o.Say, Spelling: o.Spelling,
		Checkpoint: o.Checkpoint, CheckpointEvery: o.CheckpointEvery,
	}}
	e.q.keepStdin() // what is checked depends on what it is
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	if err := e.q.limits(); err != nil {
		return nil, err
	}
	if err := e.q.input(); err != nil {
		return nil, err
	}
	if err := checkTempFolder(e.q.TempDir); err != nil {
		return nil, err
	}
	before := e.q.Meter.Transfer()
	end, err := e.q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	beside := e.selectionBytes()
	limit := e.q.Memory
	e.q.Memory = max(limit-beside, 1)
	if err := e.settle(ctx); err != nil {
		return nil, err
	}
	if err := e.openNamed(); err != nil {
		return nil, err
	}
	defer func() { e.folder.Close() }()
	for _, step := range []func(context.Context) error{e.read, e.judge, e.resample} {
		if err := step(ctx); err != nil {
			if short := (*stream.MemoryError)(nil); errors.As(err, &short) && short.OfMemory() {
				short.Need, short.Limit = short.Need+beside, limit // in place: the words around it stay
			}
			return nil, err
		}
	}
	r := e.report()
	r.Timing.Wall = time.Since(begin).Seconds()
	r.Transfer = e.q.Meter.Transfer().Since(before)
	r.Memory = stream.Memory{PeakRSS: peakMemory(), Limit: limit}
	return r, nil
}

// selectionBytes is what the selections hold while they are judged, which is much where they tell of
// many columns.
func (e *evaluator) selectionBytes() (bytes int64) {
	for i := range e.Selections {
		bytes += profileColumn * int64(len(e.Selections[i].Columns))
	}
	return bytes
}

// check finds what no input can make right, and fills in the protocol's numbers.
func (e *evaluator) check(ctx context.Context) error {
	if err := (&Request{Inputs: e.Inputs, Anonymous: e.Anonymous, Allow: e.Allow, Meter: e.Meter}).noStats(ctx, "eval clusters rows, so it needs those"); err != nil {
		return err
	}
	switch {
	case len(e.Inputs) == 0:
		return stream.Usagef("no INPUT given")
	case len(e.Selections) == 0:
		return stream.Usagef("eval: no selection given; add {selection} SEL.json, as select with {o} SEL.json makes it")
	}
	asked := map[string]bool{
		"protocol": e.Protocol != "", "runs": e.Runs != 0, "restarts": e.Restarts != 0, "clusters": e.Clusters != 0, "spherical": e.Spherical,
	}
	for _, option := range sortedKeys(asked) {
		if e.Label == "" && asked[option] {
			return stream.Usagef("%v is for k-means, whose clusters are compared with the classes: add {label} COL", stream.Option(option))
		}
	}
	counts := map[string]int{"runs": e.Runs, "restarts": e.Restarts, "clusters": e.Clusters}
	for _, option := range sortedKeys(counts) {
		if n := counts[option]; n < 0 {
			return stream.Usagef("%v %d: want 1 or more", stream.Option(option), n)
		}
	}
	switch {
	case e.Baselines == nil:
		e.Baselines = judge.Baselines()
	case slices.Equal(e.Baselines, []string{"none"}):
		e.Baselines = nil
	}
	for _, b := range e.Baselines {
		if all := judge.Baselines(); !slices.Contains(all, b) {
			return stream.Usagef("unknown baseline %q (want %s, or none)%s", b, strings.Join(all, ", "), suggest.DidYouMean(b, all))
		}
	}
	if e.Methods == nil {
		e.Methods = methods.All()
	}
	if err := e.settleRows(); err != nil {
		return err
	}
	return e.settleProtocol()
}

// settleRows settles how many rows are judged, and whether selections are made again.
func (e *evaluator) settleRows() error {
	passing := e.q.passing()
	switch {
	case e.Resamples == 1:
		return stream.Usagef("{resamples} %d: want 2 or more to compare, or 0", e.Resamples)
	case passing && (e.Resamples > 0 || e.Sample > 0):
		return stream.Usagef("{resamples} and {sample} read the input more than once, and a stream of Arrow IPC passes once; name a {temp-dir} to keep it in, or save it to a file")
	case passing:
		e.Sample, e.Resamples = 0, 0
		return nil
	case e.Resamples == 0 && e.Label == "":
		e.Resamples = defaultResamples
	}
	if e.Sample == 0 {
		e.Sample = defaultEvalSample
	}
	e.Sample, e.Resamples = max(e.Sample, 0), max(e.Resamples, 0)
	return nil
}

func (e *evaluator) settleProtocol() error {
	var names []string
	for i, p := range judge.Protocols() {
		names = append(names, p.Name)
		if p.Name != e.Protocol && (i > 0 || e.Protocol != "") {
			continue
		}
		e.Protocol = p.Name
		if e.Runs == 0 {
			e.Runs = p.Runs
		}
		if e.Restarts == 0 {
			e.Restarts = p.Restarts
		}
		return nil
	}
	return stream.Usagef("{protocol} %s: want %s%s", e.Protocol, strings.Join(names, ", "), suggest.DidYouMean(e.Protocol, names))
}

// EvalProtocols lists the values of EvalRequest.Protocol, the default first.
func EvalProtocols() []string {
	var names []string
	for _, p := range judge.Protocols() {
		names = append(names, p.Name)
	}
	return names
}

// RandomBaseline is the baseline of other features in every run.
const RandomBaseline = judge.Random

// EvalBaselines lists the values of EvalRequest.Baselines but none.
func EvalBaselines() []string { return judge.Baselines() }

// Check finds what no input can make right, before any selection is read.
func (o EvalRequest) Check(ctx context.Context) error {
	if len(o.Selections) == 0 {
		o.Selections = []NamedSelection{{}}
	}
	return (&evaluator{EvalRequest: o}).check(ctx)
}
