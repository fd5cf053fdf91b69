package evaluating

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// EvalRequest names selections to judge, and the rows and the protocol by which to judge them. A zero field means
// its default.
type EvalRequest struct {
	Input      request.Input // its condition chooses the rows used to judge, whatever rows the selections were made from
	Selections []NamedSelection

	K       []int  // the first k features of each ranking are judged, for each k in K; default: all features
	Label   string // the class column; without a label the rows are not clustered
	Sparse  string // as in request.Columns; default: as the selections record
	Missing string // as in request.Columns; default: as the selections record
	// Sample is the number of rows in the random sample used to judge. The default is 10,000, or 1,000 for affinity
	// propagation, which holds three numbers for each pair of rows. A negative number means all rows.
	Sample int64

	Protocol       string   // greedy (default: 20 runs, each the best of 10 starts) or sfufs (30 runs of one start)
	Runs, Restarts int      // replace the protocol's numbers of runs and starts; 0 keeps them
	Clusterer      string   // kmeans (default), or affinity: affinity propagation, with a preference for Clusters exemplars
	Damping        float64  // of affinity propagation, from 0.5 and below 1; default 0.9
	Starts         string   // first centres of k-means: plusplus (default: greedy k-means++) or random (rows, as in most papers)
	Clusters       int      // number of clusters; default: the number of classes
	Scale          string   // default: none for k-means, the selections' recorded scale for the reconstruction error
	RowScale       string   // as in request.Columns, for all figures; default: as the selections record
	Spherical      bool     // k-means on the directions of the rows
	Baselines      []string // any of "all", "random" and "variance", or "none"; default: all three
	// Classify lists classifiers, "knn" or "ridge", whose accuracy in cross-validation is computed; default: none. They use
	// the same rows, columns and scale as k-means, and the same stratified folds for all results.
	Classify []string
	Folds    int // number of folds of the cross-validation; default 5
	// Resamples is the number of times that each selection is repeated on a random half of the rows. The default is 5
	// without a label, and 0 with a label or for the settings of a path. A negative number means 0. Lists of names from
	// other programs are not repeated.
	Resamples int
	Methods   []method.Spec // methods that may have made the selections; nil means methods.All()
	Seed      uint64

	Output string
	Limits request.Limits
	// Checkpoint.Folder saves each finished selection from a sample. A resumed run judges the given selections again.
	// Call Forget when the result is safe.
	Checkpoint request.Checkpoint
	Hooks      request.Hooks
}

// NamedSelection is a selection to judge. Name is the name of the selection in results. Path is the file from which
// it was read, and appears in messages.
type NamedSelection struct {
	Name, Path string
	*stream.Selection
	Note stream.Text // how a list of another program was understood; otherwise empty

	isSetting bool // it is one of the selections of a path
	choices   int  // number of groups and single features chosen, if there were groups
}

func (s *NamedSelection) isList() bool { return s.Method == "" } // it does not record how it was made

// ReadNamedSelections implements ufs.ReadNamedSelections: it reads the files at the paths of the given selections.
func ReadNamedSelections(ctx context.Context, files []NamedSelection, opt chunkio.FetchOptions) (list []NamedSelection, err error) {
	paths := convert.Each(files, func(f NamedSelection) string { return f.Path })
	read, err := settled.ReadRankings(ctx, paths, opt)
	for i, rankings := range read {
		for _, r := range rankings {
			s := NamedSelection{Name: files[i].Name, Path: files[i].Path, Selection: r.Selection, Note: r.Note, isSetting: r.Setting != ""}
			if s.isSetting {
				s.Name = cmp.Or(s.Name, strings.TrimSuffix(place.Base(s.Path), ".json")) + ":" + r.Setting
			}
			list = append(list, s)
		}
	}
	return list, err
}

const (
	defaultEvalSample = 10_000
	defaultResamples  = 5
	defaultFolds      = 5

	// Affinity propagation takes seconds for 1,000 rows, and minutes for some thousands, at each of its runs. Only random
	// features differ from run to run.
	affinitySample = 1000
	affinityRuns   = 5
)

// JudgeSelections implements ufs.Eval: it judges selections, and compares them with baselines.
func JudgeSelections(ctx context.Context, o EvalRequest) (*stream.Evaluation, error) {
	begin := time.Now()
	e := &evaluator{EvalRequest: o, request: request.Request{
		Input: o.Input, Columns: request.Columns{Label: o.Label}, Choice: request.Choice{Methods: o.Methods, Seed: o.Seed},
		Limits: o.Limits, Checkpoint: o.Checkpoint, Hooks: o.Hooks, Output: o.Output,
	}}
	request.KeepStdin(&e.request) // the checks depend on the format of standard input
	if err := settled.FillInputFromPlan(ctx, &e.request); err != nil {
		return nil, err
	}
	e.Input.Where, e.Input.Texts = e.request.Input.Where, e.request.Input.Texts
	if err := e.checkRequest(ctx); err != nil {
		return nil, err
	}
	if err := request.FillLimits(&e.request); err != nil {
		return nil, err
	}
	if err := request.SettleInput(&e.request); err != nil {
		return nil, err
	}
	if err := request.CheckTempFolder(e.request.Limits.TempDir); err != nil {
		return nil, err
	}
	before := e.request.Hooks.Meter.Transfer()
	end, err := budget.ApplyLimits(ctx, &e.request)
	if err != nil {
		return nil, err
	}
	defer end()
	reserved := e.memoryOfSelections()
	limit := e.request.Limits.Memory
	e.request.Limits.Memory = max(limit-reserved, 1)
	if err := e.settleSelections(ctx); err != nil {
		return nil, err
	}
	if err := openNamedCheckpoint(e); err != nil {
		return nil, err
	}
	defer func() { e.folder.Close() }()
	for _, step := range []func(context.Context) error{e.readTable, e.judgeRankings, func(ctx context.Context) error { return resampleSelections(ctx, e) }} {
		if err := step(ctx); err != nil {
			if short := (*stream.MemoryError)(nil); errors.As(err, &short) && short.OfMemory() {
				short.Need, short.Limit = short.Need+reserved, limit // changed in place, to keep the text of the error
			}
			return nil, err
		}
	}
	r := newEvaluation(e)
	r.Timing.Wall = time.Since(begin).Seconds()
	r.Transfer = e.request.Hooks.Meter.Transfer().Since(before)
	r.Memory = stream.Memory{PeakRSS: budget.PeakMemory(), Limit: limit}
	return r, nil
}

func (e *evaluator) memoryOfSelections() (bytes int64) {
	for i := range e.Selections {
		bytes += budget.ProfileColumnBytes * int64(len(e.Selections[i].Columns))
	}
	return bytes
}

// checkRequest finds errors that do not depend on the input, and fills in the numbers of the protocol.
func (e *evaluator) checkRequest(ctx context.Context) error {
	if err := settled.RefuseStats(ctx, &request.Request{Input: e.Input, Hooks: e.Hooks}, "eval clusters rows, so it needs those"); err != nil {
		return err
	}
	switch {
	case e.Input.IsEmpty():
		return stream.Usagef("no INPUT given")
	case len(e.Selections) == 0:
		return stream.Usagef("eval: no selection given; add {selection} SEL.json, as select with {o} SEL.json makes it")
	}
	isSet := map[string]bool{
		"clusterer": e.Clusterer != "", "protocol": e.Protocol != "", "runs": e.Runs != 0, "restarts": e.Restarts != 0, "starts": e.Starts != "", "clusters": e.Clusters != 0, "spherical": e.Spherical,
	}
	for _, option := range request.SortedKeys(isSet) {
		if e.Label == "" && isSet[option] {
			return stream.Usagef("%v is for k-means, whose clusters are compared with the classes: add {label} COL", stream.Option(option))
		}
	}
	counts := map[string]int{"runs": e.Runs, "restarts": e.Restarts, "clusters": e.Clusters}
	for _, option := range request.SortedKeys(counts) {
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
	if err := e.settleClassifiers(); err != nil {
		return err
	}
	if e.Methods == nil {
		e.Methods = methods.All()
	}
	if err := e.settleClusterer(isSet); err != nil {
		return err
	}
	if err := e.settleSampling(); err != nil {
		return err
	}
	return e.settleProtocol()
}

func (e *evaluator) settleClusterer(isSet map[string]bool) error {
	e.Starts, e.Clusterer = cmp.Or(e.Starts, judge.PlusPlus), cmp.Or(e.Clusterer, judge.KMeans)
	if all := judge.Starts(); !slices.Contains(all, e.Starts) {
		return stream.Usagef("{starts} %s: want %s%s", e.Starts, strings.Join(all, ", "), suggest.DidYouMean(e.Starts, all))
	}
	if all := judge.Clusterers(); !slices.Contains(all, e.Clusterer) {
		return stream.Usagef("{clusterer} %s: want %s%s", e.Clusterer, strings.Join(all, ", "), suggest.DidYouMean(e.Clusterer, all))
	}
	if e.Clusterer == judge.KMeans {
		if e.Damping != 0 {
			return stream.Usagef("{damping} is for affinity propagation: add {clusterer} %s", judge.Affinity)
		}
		return nil
	}
	for _, option := range []string{"protocol", "restarts", "starts", "spherical"} {
		if isSet[option] {
			return stream.Usagef("%v is for k-means, and {clusterer} is %s; leave one of them out", stream.Option(option), judge.Affinity)
		}
	}
	if e.Damping = cmp.Or(e.Damping, cluster.DefaultDamping); !(e.Damping >= 0.5 && e.Damping < 1) {
		return stream.Usagef("{damping} %v: want a number from 0.5 and below 1", e.Damping)
	}
	e.Runs, e.Restarts = cmp.Or(e.Runs, affinityRuns), 1
	return nil
}

func (e *evaluator) settleClassifiers() error {
	all := judge.ClassifierNames()
	for _, c := range e.Classify {
		if !slices.Contains(all, c) {
			return stream.Usagef("{classify} %s: want %s%s", c, strings.Join(all, ", "), suggest.DidYouMean(c, all))
		}
	}
	switch {
	case len(e.Classify) > 0 && e.Label == "":
		return stream.Usagef("{classify} predicts the classes of rows: add {label} COL")
	case len(e.Classify) == 0 && e.Folds != 0:
		return stream.Usagef("{folds} is for classifiers: add {classify} %s", strings.Join(all, ","))
	case e.Folds < 0 || e.Folds == 1:
		return stream.Usagef("{folds} %d: want 2 or more", e.Folds)
	case e.Folds == 0:
		e.Folds = defaultFolds
	}
	given := e.Classify
	e.Classify = slices.DeleteFunc(all, func(c string) bool { return !slices.Contains(given, c) })
	return nil
}

func (e *evaluator) settleSampling() error {
	passing := request.IsSinglePassStream(&e.request)
	switch {
	case e.Resamples == 1:
		return stream.Usagef("{resamples} %d: want 2 or more to compare, or 0", e.Resamples)
	case passing && (e.Resamples > 0 || e.Sample > 0):
		return stream.Usagef("{resamples} and {sample} read the input more than once, and a stream of Arrow IPC passes once; name a {temp-dir} to keep it in, or save it to a file")
	case passing:
		e.Sample, e.Resamples = 0, 0
		return nil
	case e.Resamples == 0 && e.Label == "" && !slices.ContainsFunc(e.Selections, func(s NamedSelection) bool { return s.isSetting }):
		e.Resamples = defaultResamples
	}
	if e.Sample == 0 {
		if e.Sample = defaultEvalSample; e.Clusterer == judge.Affinity {
			e.Sample = affinitySample
		}
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
		e.Runs = cmp.Or(e.Runs, p.Runs)
		e.Restarts = cmp.Or(e.Restarts, p.Restarts)
		return nil
	}
	return stream.Usagef("{protocol} %s: want %s%s", e.Protocol, strings.Join(names, ", "), suggest.DidYouMean(e.Protocol, names))
}

// EvalProtocols implements ufs.EvalProtocols: it lists the values of EvalRequest.Protocol, the default first.
func EvalProtocols() []string {
	return convert.Each(judge.Protocols(), func(p judge.Protocol) string { return p.Name })
}

// EvalClassifiers implements ufs.EvalClassifiers: it lists the names that EvalRequest.Classify allows.
func EvalClassifiers() []string { return judge.ClassifierNames() }

// EvalClusterers implements ufs.EvalClusterers: it lists the values of EvalRequest.Clusterer, the default first.
func EvalClusterers() []string { return judge.Clusterers() }

// EvalStarts implements ufs.EvalStarts: it lists the values of EvalRequest.Starts, the default first.
func EvalStarts() []string { return judge.Starts() }

// EvalBaselines implements ufs.EvalBaselines: it lists the names that EvalRequest.Baselines allows, without the name
// "none".
func EvalBaselines() []string { return judge.Baselines() }

// Check finds errors of the request that do not depend on the input, before any selection is read.
func (o EvalRequest) Check(ctx context.Context) error {
	if len(o.Selections) == 0 {
		o.Selections = []NamedSelection{{}}
	}
	return (&evaluator{EvalRequest: o}).checkRequest(ctx)
}
