package ufs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// run is a request with its defaults filled in, and the state of its execution.
type run struct {
	Request
	*method.Bound // the method and its settings
	scale         gram.Scale
	original      Request // the request before defaults were filled in: a statistics file must agree with it

	checkpoint *checkpoint // saves the progress of the run; nil if it is not saved

	manySettings    bool           // path solves several settings instead of one selection
	skipsTrust      bool           // the choice is not compared with chance
	reportsSizes    bool           // path reports the number of features that the rules recommend, if memory allows
	autoSize        bool           // AutoK is only the default: it is unset if something prevents it
	sizeReason      stream.Text    // why DefaultK is used, if the request does not set the number of features
	wholeProfile    *bundle        // the profile of the whole input ({profile}); or nil
	sampleBytes     int64          // memory of the sample of rows in wholeProfile
	anchorRows      int            // number of rows in the file of anchors
	anchorInputs    []stream.Input // the file of anchors, as an input
	sketchRows      int            // number of rows of the sketch for the Gram matrix; 0 if the matrix is exact
	keepRows        int            // number of rows that a scan keeps for methods that iterate over rows
	keptRowsMissing string         // the missing policy that will act on the kept rows

	selects bool // the run selects features, for which it may need several passes

	methodReason stream.Text // why this method is used, if the request names none
	fallback     *run        // the run of methods.Fallback that may replace this run of methods.Recommended; or nil

	grouping *grouping // groups of the columns
	pricing  *pricing  // costs of the columns and groups

	planHeader *chunkio.PlanHeader // of Plan; nil without a plan
	shard      chunkio.Shard       // the shard of the plan to read; zero for the whole plan
}

// ScaleNames lists the values of Request.Scale.
func ScaleNames() []string {
	var names []string
	for s := gram.ScaleNone; s <= gram.ScaleRank; s++ {
		names = append(names, s.String())
	}
	return names
}

func (q *Request) fillLimits() error {
	if q.Threads < 0 || q.Threads > maxThreads {
		return stream.Usagef("{threads} %d: want 0 (one for each core) up to %d", q.Threads, maxThreads)
	}
	if q.Threads == 0 {
		q.Threads = runtime.GOMAXPROCS(0)
	}
	if q.Memory < 0 {
		return stream.Usagef("{memory-limit} %d: want a number of bytes", q.Memory)
	}
	if q.MaxScratch < 0 {
		return stream.Usagef("{max-temp-size} %d: want a number of bytes", q.MaxScratch)
	}
	if q.CheckpointEvery < 0 {
		return stream.Usagef("{checkpoint-every} %v: want a time above 0", q.CheckpointEvery)
	}
	q.Memory = cmp.Or(q.Memory, defaultMemory)
	if q.ledger == nil {
		q.ledger = new(scratch.Ledger)
	}
	q.Seed = cmp.Or(q.Seed, 1)
	if q.Meter == nil {
		q.Meter = new(stream.Meter)
	}
	return nil
}

// keepStdin lets all runs that are made from the request open standard input. Unless the caller keeps the scratch file
// of standard input, the first of these runs to end releases it.
func (q *Request) keepStdin() {
	if _, isKept := q.Stdin.(*chunkio.Stdin); !isKept {
		q.stdin = chunkio.NewStdin(q.Stdin)
		q.Stdin = q.stdin
	}
}

func (q *Request) settleInput() error {
	q.keepStdin()
	if q.SampleRows < 0 {
		return stream.Usagef("{rows} %d: want 0 (all) or more", q.SampleRows)
	}
	if q.Sparse == "" {
		q.Sparse = chunkio.DefaultSparse(q.Inputs)
	}
	if q.Sparse == "" && q.Plan == "" && len(q.Columns)+len(q.Exclude) == 0 && q.Categorical == "" {
		q.Sparse = chunkio.SniffSparse(context.Background(), q.Inputs)
	}
	if q.Sparse != "" && len(q.Columns)+len(q.Exclude) > 0 {
		return stream.Usagef("{sparse} takes all features of the lists; {columns} and {exclude} do not go with it")
	}
	q.Missing = cmp.Or(q.Missing, missingMean)
	if !slices.Contains(MissingPolicies(), q.Missing) {
		return stream.Usagef("{missing} %s: want %s%s", q.Missing, strings.Join(MissingPolicies(), ", "), suggest.DidYouMean(q.Missing, MissingPolicies()))
	}
	return q.checkColumnOptions()
}

func (q *Request) refuseStats(ctx context.Context, remedy string) error {
	for _, path := range q.Inputs {
		if chunkio.IsStats(ctx, path, q.documentOptions()) {
			return stream.Usagef("%s is a statistics file, not data; "+remedy, place.DisplayName(path))
		}
	}
	return nil
}

// newRun makes the run of a request, and checks the request as far as possible without reading the data. It refuses
// statistics files as inputs. If no method is named, methods.Fallback is used; newSelectionRun finds a better one.
func (q Request) newRun(ctx context.Context) (*run, error) { return q.newRunFor(ctx, true) }

// newRunFor does the work of newRun. selects means that the run selects features, for which it may need several passes.
func (q Request) newRunFor(ctx context.Context, selects bool) (*run, error) {
	r := &run{Request: q, original: q, selects: selects}
	if q.Plan != "" {
		if err := r.applyPlan(ctx); err != nil {
			return nil, err
		}
		q = r.Request
	}
	if err := r.refuseStats(ctx, "select from statistics with {stats}"); err != nil {
		return nil, err
	}
	if err := r.settleInput(); err != nil {
		return nil, err
	}
	if err := r.fillLimits(); err != nil {
		return nil, err
	}
	switch {
	case len(q.Inputs) == 0 && q.Stats == "" && q.Plan == "":
		return nil, stream.Usagef("no INPUT given, nor {stats}")
	case len(q.Inputs) > 0 && q.Stats != "":
		return nil, stream.Usagef("give INPUT or {stats}, not both")
	case q.Stats != "" && (q.Version != nil || !q.AsOf.IsZero()):
		return nil, stream.Usagef("{version} and {as-of} are for Delta tables; {stats} holds what was scanned of one")
	case q.Stats != "" && q.namedCheckpoint() != "":
		return nil, stream.Usagef("{checkpoint} is for reading the input; {stats} has nothing to resume")
	case place.IsURL(q.namedCheckpoint()):
		return nil, stream.Usagef("{checkpoint} %s: want a local folder, which is saved to now and then", place.DisplayName(q.Checkpoint))
	}
	if err := checkTempFolder(q.TempDir); err != nil {
		return nil, err
	}
	if len(r.Methods) == 0 {
		r.Methods = methods.All()
	}
	if r.Method == "" {
		r.Method = methods.Fallback
	}
	spec, err := methods.Find(r.Methods, r.Method)
	if err != nil {
		return nil, err
	}
	if err := checkLocalOptions(q.Options); err != nil {
		return nil, err
	}
	if err := q.checkMethod(spec); err != nil {
		return nil, err
	}
	if r.Bound, err = methods.Bind(r.Methods, spec.Name, q.Options); err != nil {
		return nil, err
	}
	if err := r.settleChoice(ctx); err != nil {
		return nil, err
	}
	if err := r.settleStability(); err != nil {
		return nil, err
	}
	if err := r.settleSketch(); err != nil {
		return nil, err
	}
	if err := r.checkExclusion(); err != nil {
		return nil, err
	}
	if err := r.settleScale(); err != nil {
		return nil, err
	}
	if reason := r.rereadReason(); reason != "" && r.isSinglePassStream() {
		return nil, stream.Usagef(reason+" reads the input more than once, and a stream of Arrow IPC passes once; name a {temp-dir} to keep it in, or save it to a file first; {method} %s without such options reads once", methods.Fallback)
	}
	return r, nil
}

func checkTempFolder(dir string) error {
	if dir != "" {
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return &stream.OutputError{Path: dir, Err: errors.New("no such folder"), Remedy: stream.Textf("create it, or choose another {temp-dir}")}
		}
	}
	return nil
}

// checkLocalOptions refuses URLs as options of methods, because methods read only local files. The file of anchors is
// an exception: it is read like the input.
func checkLocalOptions(options method.Settings) error {
	for _, option := range sortedKeys(options) {
		if text := options.Text(option); option != "anchors-file" && (place.IsURL(text) || strings.HasPrefix(text, "file://")) {
			return stream.Usagef("%v %s: want a local path; copy the file here first", stream.Option(option), place.DisplayName(text))
		}
	}
	return nil
}

func (q *Request) checkMethod(spec method.Spec) error {
	takes := spec.Takes
	switch {
	case q.K < 0:
		return stream.Usagef("{k} %d: want 1 or more", q.K)
	case q.AutoK && (q.K > 0 || q.Variance > 0):
		return stream.Usagef("{k} auto finds the number of features by itself; give it, a number or {variance}")
	case q.AutoK && (spec.From == method.FromProfile || spec.From == method.FromRows):
		return stream.Usagef("{k} auto rests on the Gram matrix of all features, and method %s makes none; give a number, as path with {method} greedy recommends one", spec.Name)
	case q.Variance != 0 && !(q.Variance > 0 && q.Variance <= 1):
		return stream.Usagef("{variance} %v: want a share above 0 and up to 1", q.Variance)
	case q.Variance > 0 && q.K > 0:
		return stream.Usagef("{variance} stops by itself; give it or {k}, not both")
	case q.Variance > 0 && takes.WhyNotVariance.Format != "":
		return stream.Usagef("{variance} %s; use {k}", takes.WhyNotVariance)
	case q.Variance > 0 && !takes.Variance:
		return stream.Usagef("{variance} is not for method %s; use {k}", spec.Name)
	case q.MinGain != 0 && !(q.MinGain > 0 && q.MinGain < 1):
		return stream.Usagef("{min-gain} %v: want a share above 0 and below 1, as 0.01", q.MinGain)
	case q.MinGain > 0 && (q.AutoK || q.Variance > 0):
		return stream.Usagef("{min-gain} stops by itself, and so do {k} auto and {variance}; give one of them")
	case q.MinGain > 0 && !takes.MinGain && !takes.Sample && spec.From != method.FromGraph:
		return stream.Usagef("{min-gain} rests on the Gram matrix, which method %s makes none of or uses up; use {k}, or {method} greedy", spec.Name)
	case len(q.Keep) > 0 && !takes.Keep && takes.Turns:
		return stream.Usagef("{keep} is not for method %s, which chooses every feature by itself", spec.Name)
	case q.Weight != "" && !takes.Weight:
		return stream.Usagef("{weight} is not for method %s", spec.Name)
	case q.Missing == missingPairwise && (spec.From == method.FromGraph || spec.From == method.FromRows):
		return stream.Usagef("{missing} pairwise is for methods on the Gram matrix, as greedy: method %s needs every entry of a row; use {missing} mean", spec.Name)
	}
	return nil
}

func (r *run) settleScale() (err error) {
	if r.Scale == "" {
		r.Scale = r.Spec.Scale.String()
	}
	if !slices.Contains(ScaleNames(), r.Scale) {
		return stream.Usagef("unknown scale %q (want %s)%s", r.Scale, strings.Join(ScaleNames(), ", "), suggest.DidYouMean(r.Scale, ScaleNames()))
	}
	if r.scale, err = gram.ParseScale(r.Scale); err != nil {
		return err
	}
	if fit := r.Takes.Scales; fit != nil && !slices.Contains(fit, r.scale) {
		return stream.Usagef("{scale} %s: %s", r.Scale, r.Takes.WhyScales)
	}
	return nil
}

// missingPolicy returns the policy that the source applies to missing entries. Under mean, pairwise and (for dense
// rows) zero, the source reads NaN, and the statistics fill these entries.
func (q *Request) missingPolicy() stream.MissingPolicy {
	switch q.Missing {
	case missingDropRow:
		return stream.MissingDropRow
	case missingZero:
		if q.Sparse != "" { // in sparse rows, absent entries are 0
			return stream.MissingZero
		}
		return stream.MissingKeep
	case missingMean, missingPairwise:
		return stream.MissingKeep
	}
	return stream.MissingError
}

func (q *Request) missingFill() gram.Fill {
	switch q.Missing {
	case missingZero:
		return gram.FillZero
	case missingPairwise:
		return gram.FillPairwise
	}
	return gram.FillMean
}

// drawnRows returns the number of rows to read; 0 means all. A quick try ({rows}) and the sample of a method are drawn
// in the same way, and the smaller sample is part of the larger one, so the smaller number counts.
func (r *run) drawnRows() int64 {
	if r.Bound == nil || r.SampleRows == 0 || r.Sample == 0 {
		if r.Bound == nil {
			return r.SampleRows
		}
		return max(r.SampleRows, r.Sample)
	}
	return min(r.SampleRows, r.Sample)
}

// rereadReason names the option because of which the input is read more than once, or returns "". Missing values that
// are found while reading may be another reason.
func (r *run) rereadReason() string {
	switch {
	case r.SampleRows > 0:
		return "{rows}"
	case r.Scale == scaleRank:
		return "{scale} rank"
	case r.Categorical != "":
		return "{categorical}"
	case r.Reads > 1:
		return "{passes} " + strconv.Itoa(r.Reads)
	case r.selects && (r.From == method.FromGraph || r.From == method.FromRows):
		return "method " + r.Name
	}
	return ""
}

// mayReread reports whether a stream of Arrow IPC on standard input is kept for another pass. Dropping rows needs a
// second pass only if values are missing; for this possibility the stream is kept only if {temp-dir} names a folder.
func (r *run) mayReread() bool {
	return r.rereadReason() != "" || r.TempDir != "" && r.missingPolicy() == stream.MissingDropRow
}

// isSinglePassStream reports whether the input is a stream of Arrow IPC on standard input that can be read only once,
// because there is no folder to keep it in.
func (q *Request) isSinglePassStream() bool {
	if q.TempDir != "" || !slices.Contains(q.Inputs, "-") {
		return false
	}
	in, ok := q.Stdin.(*chunkio.Stdin)
	return ok && in.Stream()
}

// readOptions returns the options for reading that follow from the request. Reading may use the whole memory limit
// until the plan gives it a share.
func (r *run) readOptions() chunkio.Options {
	var order []string
	if r.wholeProfile != nil { // read the columns in the order of this profile
		order = columnNames(r.wholeProfile.columns)
	}
	opt := chunkio.Options{
		Order:   order,
		Columns: r.Columns, Exclude: r.Exclude, Label: r.Label, Weight: r.Weight, Sparse: r.Sparse, Where: r.Where,
		Missing: r.missingPolicy(), Sample: r.drawnRows(), Seed: r.Seed,
		Threads: r.Threads, Memory: max(r.Memory-programBytes, 1),
		SkipBad: r.SkipBad, Anonymous: r.Anonymous, Allow: r.Allow, Meter: r.Meter, Stdin: r.Stdin, Again: r.mayReread(), Spool: r.scratchOptions(),
		Note: r.Note, TakingIn: r.reportReading,
		Target: r.readsLabel(), Numbers: r.Keep,
		TableVersion: r.Version, TableAsOf: r.AsOf, Plan: r.Plan, Shard: r.shard,
	}
	r.addColumnOptions(&opt)
	return opt
}

func (r *run) say(format string, args ...any) {
	if r.Say != nil {
		r.Say(stream.Textf(format, args...))
	}
}

func (r *run) note(format string, args ...any) {
	if r.Note != nil {
		r.Note(stream.Textf(format, args...))
	}
}
