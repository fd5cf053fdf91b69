package settled

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Run is a request with its defaults filled in, and the state of its execution.
type Run struct {
	request.Request
	Bound       *method.Bound // the method and its settings
	ParsedScale gram.Scale
	Original    request.Request // the request before defaults were filled in: a statistics file must agree with it

	SavedState *checkpoint // saves the progress of the run; nil if it is not saved

	ManySettings    bool               // path solves several settings instead of one selection
	SkipsTrust      bool               // the choice is not compared with chance
	ReportsSizes    bool               // path reports the number of features that the rules recommend, if memory allows
	AutoSize        bool               // AutoK is only the default: it is unset if something prevents it
	SizeReason      stream.Text        // why DefaultK is used, if the request does not set the number of features
	WholeProfile    *statistics.Bundle // the profile of the whole input ({profile}); or nil
	SampleBytes     int64              // memory of the sample of rows in WholeProfile
	AnchorRows      int                // number of rows in the file of anchors
	AnchorInputs    []stream.Input     // the file of anchors, as an input
	SketchRows      int                // number of rows of the sketch for the Gram matrix; 0 if the matrix is exact
	KeepRows        int                // number of rows that a scan keeps for methods that iterate over rows
	KeptRowsMissing string             // the missing policy that will act on the kept rows

	selects bool // the run selects features, for which it may need several passes

	MethodReason stream.Text // why this method is used, if the request names none
	Fallback     *Run        // the run of methods.Fallback that may replace this run of methods.Recommended; or nil

	Grouping *groups.Grouping // groups of the columns
	Pricing  *groups.Pricing  // costs of the columns and groups

	PlanHeader *chunkio.PlanHeader // of Plan; nil without a plan
	Shard      chunkio.Shard       // the shard of the plan to read; zero for the whole plan
}

func RefuseStats(ctx context.Context, q *request.Request, remedy string) error {
	for _, path := range q.Input.Paths {
		if chunkio.IsStats(ctx, path, budget.DocumentOptions(q)) {
			return stream.Usagef("%s is a statistics file, not data; "+remedy, place.DisplayName(path))
		}
	}
	return nil
}

// NewRun makes the run of a request, and checks the request as far as possible without reading the data. It refuses
// statistics files as inputs. If no method is named, methods.Fallback is used; NewSelectionRun finds a better one.
func NewRun(ctx context.Context, q request.Request) (*Run, error) { return NewRunFor(ctx, q, true) }

// NewRunFor does the work of NewRun. selects means that the run selects features, for which it may need several passes.
func NewRunFor(ctx context.Context, q request.Request, selects bool) (*Run, error) {
	r := &Run{Request: q, Original: q, selects: selects}
	if q.Plan != "" {
		if err := r.ApplyPlan(ctx); err != nil {
			return nil, err
		}
		q = r.Request
	}
	if err := RefuseStats(ctx, &r.Request, "select from statistics with {stats}"); err != nil {
		return nil, err
	}
	if err := request.SettleInput(&r.Request); err != nil {
		return nil, err
	}
	if err := request.FillLimits(&r.Request); err != nil {
		return nil, err
	}
	switch {
	case len(q.Input.Paths) == 0 && q.Stats == "" && q.Plan == "":
		return nil, stream.Usagef("no INPUT given, nor {stats}")
	case len(q.Input.Paths) > 0 && q.Stats != "":
		return nil, stream.Usagef("give INPUT or {stats}, not both")
	case q.Stats != "" && (q.Input.Version != nil || !q.Input.AsOf.IsZero()):
		return nil, stream.Usagef("{version} and {as-of} are for Delta tables; {stats} holds what was scanned of one")
	case q.Stats != "" && request.NamedCheckpoint(&q) != "":
		return nil, stream.Usagef("{checkpoint} is for reading the input; {stats} has nothing to resume")
	case place.IsURL(request.NamedCheckpoint(&q)):
		return nil, stream.Usagef("{checkpoint} %s: want a local folder, which is saved to now and then", place.DisplayName(q.Checkpoint.Folder))
	}
	if err := request.CheckTempFolder(q.Limits.TempDir); err != nil {
		return nil, err
	}
	if len(r.Choice.Methods) == 0 {
		r.Choice.Methods = methods.All()
	}
	if r.Choice.Method == "" {
		r.Choice.Method = methods.Fallback
	}
	spec, err := methods.Find(r.Choice.Methods, r.Choice.Method)
	if err != nil {
		return nil, err
	}
	if err := checkLocalOptions(q.Choice.Options); err != nil {
		return nil, err
	}
	if err := checkMethod(&q, spec); err != nil {
		return nil, err
	}
	if r.Bound, err = methods.Bind(r.Choice.Methods, spec.Name, q.Choice.Options); err != nil {
		return nil, err
	}
	if err := settleChoice(ctx, r); err != nil {
		return nil, err
	}
	if err := settleStability(r); err != nil {
		return nil, err
	}
	if err := settleSketch(r); err != nil {
		return nil, err
	}
	if err := checkExclusion(r); err != nil {
		return nil, err
	}
	if err := r.settleScale(); err != nil {
		return nil, err
	}
	if reason := r.rereadReason(); reason != "" && request.IsSinglePassStream(&r.Request) {
		return nil, stream.Usagef(reason+" reads the input more than once, and a stream of Arrow IPC passes once; name a {temp-dir} to keep it in, or save it to a file first; {method} %s without such options reads once", methods.Fallback)
	}
	return r, nil
}

// checkLocalOptions refuses URLs as options of methods, because methods read only local files. The file of anchors is
// an exception: it is read like the input.
func checkLocalOptions(options method.Settings) error {
	for _, option := range request.SortedKeys(options) {
		if text := options.Text(option); option != "anchors-file" && (place.IsURL(text) || strings.HasPrefix(text, "file://")) {
			return stream.Usagef("%v %s: want a local path; copy the file here first", stream.Option(option), place.DisplayName(text))
		}
	}
	return nil
}

func checkMethod(q *request.Request, spec method.Spec) error {
	takes := spec.Takes
	switch {
	case q.Choice.K < 0:
		return stream.Usagef("{k} %d: want 1 or more", q.Choice.K)
	case q.Choice.AutoK && (q.Choice.K > 0 || q.Choice.Variance > 0):
		return stream.Usagef("{k} auto finds the number of features by itself; give it, a number or {variance}")
	case q.Choice.AutoK && (spec.From == method.FromProfile || spec.From == method.FromRows):
		return stream.Usagef("{k} auto rests on the Gram matrix of all features, and method %s makes none; give a number, as path with {method} greedy recommends one", spec.Name)
	case q.Choice.Variance != 0 && !(q.Choice.Variance > 0 && q.Choice.Variance <= 1):
		return stream.Usagef("{variance} %v: want a share above 0 and up to 1", q.Choice.Variance)
	case q.Choice.Variance > 0 && q.Choice.K > 0:
		return stream.Usagef("{variance} stops by itself; give it or {k}, not both")
	case q.Choice.Variance > 0 && takes.WhyNotVariance.Format != "":
		return stream.Usagef("{variance} %s; use {k}", takes.WhyNotVariance)
	case q.Choice.Variance > 0 && !takes.Variance:
		return stream.Usagef("{variance} is not for method %s; use {k}", spec.Name)
	case q.Choice.MinGain != 0 && !(q.Choice.MinGain > 0 && q.Choice.MinGain < 1):
		return stream.Usagef("{min-gain} %v: want a share above 0 and below 1, as 0.01", q.Choice.MinGain)
	case q.Choice.MinGain > 0 && (q.Choice.AutoK || q.Choice.Variance > 0):
		return stream.Usagef("{min-gain} stops by itself, and so do {k} auto and {variance}; give one of them")
	case q.Choice.MinGain > 0 && !takes.MinGain && !takes.Sample && spec.From != method.FromGraph:
		return stream.Usagef("{min-gain} rests on the Gram matrix, which method %s makes none of or uses up; use {k}, or {method} greedy", spec.Name)
	case len(q.Choice.Keep) > 0 && !takes.Keep && takes.Turns:
		return stream.Usagef("{keep} is not for method %s, which chooses every feature by itself", spec.Name)
	case q.Columns.Weight != "" && !takes.Weight:
		return stream.Usagef("{weight} is not for method %s", spec.Name)
	case q.Columns.Missing == request.MissingPairwise && (spec.From == method.FromGraph || spec.From == method.FromRows):
		return stream.Usagef("{missing} pairwise is for methods on the Gram matrix, as greedy: method %s needs every entry of a row; use {missing} mean", spec.Name)
	}
	return nil
}

func (r *Run) settleScale() (err error) {
	if r.Choice.Scale == "" {
		r.Choice.Scale = r.Bound.Scale.String()
	}
	if !slices.Contains(request.ScaleNames(), r.Choice.Scale) {
		return stream.Usagef("unknown scale %q (want %s)%s", r.Choice.Scale, strings.Join(request.ScaleNames(), ", "), suggest.DidYouMean(r.Choice.Scale, request.ScaleNames()))
	}
	if r.ParsedScale, err = gram.ParseScale(r.Choice.Scale); err != nil {
		return err
	}
	if fit := r.Bound.Takes.Scales; fit != nil && !slices.Contains(fit, r.ParsedScale) {
		return stream.Usagef("{scale} %s: %s", r.Choice.Scale, r.Bound.Takes.WhyScales)
	}
	return nil
}

// DrawnRows returns the number of rows to read; 0 means all. A quick try ({rows}) and the sample of a method are drawn
// in the same way, and the smaller sample is part of the larger one, so the smaller number counts.
func (r *Run) DrawnRows() int64 {
	if r.Bound == nil || r.SampleRows == 0 || r.Bound.Sample == 0 {
		if r.Bound == nil {
			return r.SampleRows
		}
		return max(r.SampleRows, r.Bound.Sample)
	}
	return min(r.SampleRows, r.Bound.Sample)
}

// rereadReason names the option because of which the input is read more than once, or returns "". Missing values that
// are found while reading may be another reason.
func (r *Run) rereadReason() string {
	switch {
	case r.SampleRows > 0:
		return "{rows}"
	case r.Choice.Scale == request.ScaleRank:
		return "{scale} rank"
	case r.Columns.Categorical != "":
		return "{categorical}"
	case r.Choice.Reads > 1:
		return "{passes} " + strconv.Itoa(r.Choice.Reads)
	case r.selects && (r.Bound.From == method.FromGraph || r.Bound.From == method.FromRows):
		return "method " + r.Bound.Name
	}
	return ""
}

// mayReread reports whether a stream of Arrow IPC on standard input is kept for another pass. Dropping rows needs a
// second pass only if values are missing; for this possibility the stream is kept only if {temp-dir} names a folder.
func (r *Run) mayReread() bool {
	return r.rereadReason() != "" || r.Limits.TempDir != "" && request.MissingPolicy(&r.Request) == stream.MissingDropRow
}

// ReadOptions returns the options for reading that follow from the request. Reading may use the whole memory limit
// until the plan gives it a share.
func (r *Run) ReadOptions() chunkio.Options {
	var order []string
	if r.WholeProfile != nil { // read the columns in the order of this profile
		order = wording.ColumnNames(r.WholeProfile.Columns)
	}
	opt := chunkio.Options{
		Order:   order,
		Columns: r.Columns.Names, Exclude: r.Columns.Exclude, Label: r.Columns.Label, Weight: r.Columns.Weight, Sparse: r.Columns.Sparse, Where: r.Input.Where,
		Missing: request.MissingPolicy(&r.Request), Sample: r.DrawnRows(), Seed: r.Choice.Seed,
		Threads: r.Limits.Threads, Memory: max(r.Limits.Memory-budget.ProgramBytes, 1),
		SkipBad: r.SkipBad, Anonymous: r.Input.Anonymous, Allow: r.Input.Allow, Meter: r.Hooks.Meter, Stdin: r.Input.Stdin, Again: r.mayReread(), Spool: request.ScratchOptions(&r.Request),
		Note: r.Hooks.Note, TakingIn: func(name string) func(error) { return reportReading(r.Hooks.Progress, name) },
		Target: readsLabel(r), Numbers: r.Choice.Keep,
		TableVersion: r.Input.Version, TableAsOf: r.Input.AsOf, Plan: r.Plan, Shard: r.Shard,
	}
	request.AddColumnOptions(&r.Request, &opt)
	return opt
}

func (r *Run) Sayf(format string, args ...any) {
	if r.Hooks.Say != nil {
		r.Hooks.Say(stream.Textf(format, args...))
	}
}

func (r *Run) Notef(format string, args ...any) {
	if r.Hooks.Note != nil {
		r.Hooks.Note(stream.Textf(format, args...))
	}
}
