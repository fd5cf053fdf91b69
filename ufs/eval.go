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

// EvalRequest names selections to judge, and the rows and the protocol by which to judge them. A zero field means
// its default.
type EvalRequest struct {
	Inputs     []string
	Stdin      io.Reader
	Selections []NamedSelection

	K       []int  // the first k features of each ranking are judged, for each k in K; default: all features
	Label   string // the class column; without a label the rows are not clustered
	Sparse  string // as in Request; default: as the selections record
	Missing string // as in Request; default: as the selections record
	Where   string // condition as in Request for the rows used to judge, whatever rows the selections were made from
	Sample  int64  // number of rows in the random sample used to judge, default 10,000; negative means all rows

	Protocol       string   // greedy (default: 20 runs, each the best of 10 starts) or sfufs (30 runs of one start)
	Runs, Restarts int      // replace the protocol's numbers of runs and starts; 0 keeps them
	Clusters       int      // number of clusters; default: the number of classes
	Scale          string   // default: none for k-means, the selections' recorded scale for the reconstruction error
	Spherical      bool     // k-means on the directions of the rows
	Baselines      []string // any of "all", "random" and "variance", or "none"; default: all three
	// Resamples is the number of times that each selection is repeated on a random half of the rows. The default is 5
	// without a label and 0 with a label. A negative number means 0.
	Resamples int
	Methods   []method.Spec // methods that may have made the selections; nil means methods.All()

	Seed      uint64
	Threads   int
	Memory    int64
	Output    string
	Version   *int64 // as in Request; so are the next two fields
	AsOf      time.Time
	Anonymous bool
	Allow     []string            // see Request
	Texts     chunkio.TextOptions // replaces the text options of the selections

	TempDir    string // as in Request; so is MaxScratch
	MaxScratch int64
	// Checkpoint is a folder in which each finished selection from a sample is saved. A resumed run judges the given
	// selections again. Call Forget when the result is safe.
	Checkpoint      string
	CheckpointEvery time.Duration
	longRun         time.Duration // replaced in tests, as in Request

	Meter    *stream.Meter
	Progress func(Progress)
	Note     func(stream.Text)
	Say      func(stream.Text)
	Spelling stream.Spelling
}

// NamedSelection is a selection to judge. Name is the name of the selection in results. Path is the file from which
// it was read, and appears in messages.
type NamedSelection struct {
	Name, Path string
	*stream.Selection

	choices int // number of groups and single features chosen, if there were groups
}

const (
	defaultEvalSample = 10_000
	defaultResamples  = 5
)

// Eval judges selections, and compares them with baselines: all features, random features, and the features of largest
// variance. It clusters the rows by k-means on the selected features only, and compares the clusters with the classes
// of the label. It also reports the share that a selection leaves unexplained (reconstruction error), the similarity of
// its features (redundancy), and the agreement of selections from different samples of the rows (stability).
func Eval(ctx context.Context, o EvalRequest) (*stream.Evaluation, error) {
	begin := time.Now()
	e := &evaluator{EvalRequest: o, request: Request{
		Inputs: o.Inputs, Stdin: o.Stdin, Label: o.Label, Methods: o.Methods, Seed: o.Seed, Threads: o.Threads, Memory: o.Memory, Output: o.Output,
		TempDir: o.TempDir, MaxScratch: o.MaxScratch, Anonymous: o.Anonymous, Allow: o.Allow, Meter: o.Meter, Progress: o.Progress, Note: o.Note, Say: o.Say, Spelling: o.Spelling,
		Checkpoint: o.Checkpoint, CheckpointEvery: o.CheckpointEvery,
	}}
	e.request.keepStdin() // the checks depend on the format of standard input
	if err := e.checkRequest(ctx); err != nil {
		return nil, err
	}
	if err := e.request.fillLimits(); err != nil {
		return nil, err
	}
	if err := e.request.settleInput(); err != nil {
		return nil, err
	}
	if err := checkTempFolder(e.request.TempDir); err != nil {
		return nil, err
	}
	before := e.request.Meter.Transfer()
	end, err := e.request.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	reserved := e.selectionBytes()
	limit := e.request.Memory
	e.request.Memory = max(limit-reserved, 1)
	if err := e.settleSelections(ctx); err != nil {
		return nil, err
	}
	if err := e.openNamedCheckpoint(); err != nil {
		return nil, err
	}
	defer func() { e.folder.Close() }()
	for _, step := range []func(context.Context) error{e.readTable, e.judgeRankings, e.resampleSelections} {
		if err := step(ctx); err != nil {
			if short := (*stream.MemoryError)(nil); errors.As(err, &short) && short.OfMemory() {
				short.Need, short.Limit = short.Need+reserved, limit // changed in place, to keep the text of the error
			}
			return nil, err
		}
	}
	r := e.newReport()
	r.Timing.Wall = time.Since(begin).Seconds()
	r.Transfer = e.request.Meter.Transfer().Since(before)
	r.Memory = stream.Memory{PeakRSS: peakMemory(), Limit: limit}
	return r, nil
}

func (e *evaluator) selectionBytes() (bytes int64) {
	for i := range e.Selections {
		bytes += profileColumnBytes * int64(len(e.Selections[i].Columns))
	}
	return bytes
}

// checkRequest finds errors of the request that do not depend on the input, and fills in the numbers of the
// protocol.
func (e *evaluator) checkRequest(ctx context.Context) error {
	if err := (&Request{Inputs: e.Inputs, Anonymous: e.Anonymous, Allow: e.Allow, Meter: e.Meter}).refuseStats(ctx, "eval clusters rows, so it needs those"); err != nil {
		return err
	}
	switch {
	case len(e.Inputs) == 0:
		return stream.Usagef("no INPUT given")
	case len(e.Selections) == 0:
		return stream.Usagef("eval: no selection given; add {selection} SEL.json, as select with {o} SEL.json makes it")
	}
	isSet := map[string]bool{
		"protocol": e.Protocol != "", "runs": e.Runs != 0, "restarts": e.Restarts != 0, "clusters": e.Clusters != 0, "spherical": e.Spherical,
	}
	for _, option := range sortedKeys(isSet) {
		if e.Label == "" && isSet[option] {
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
	if err := e.settleSampling(); err != nil {
		return err
	}
	return e.settleProtocol()
}

func (e *evaluator) settleSampling() error {
	passing := e.request.isSinglePassStream()
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

// RandomBaseline is the name of the baseline that draws new random features in every run.
const RandomBaseline = judge.Random

// EvalBaselines lists the names that EvalRequest.Baselines allows, without the name "none".
func EvalBaselines() []string { return judge.Baselines() }

// Check finds errors of the request that do not depend on the input, before any selection is read.
func (o EvalRequest) Check(ctx context.Context) error {
	if len(o.Selections) == 0 {
		o.Selections = []NamedSelection{{}}
	}
	return (&evaluator{EvalRequest: o}).checkRequest(ctx)
}
