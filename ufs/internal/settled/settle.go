package settled

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func RefuseStats(ctx context.Context, q *request.Request, remedy string) error {
	for _, path := range q.Input.Paths {
		if chunkio.IsStats(ctx, path, budget.DocumentOptions(q)) {
			return stream.Usagef("%s is a statistics file, not data; "+remedy, place.DisplayName(path))
		}
	}
	return nil
}

// NewRun makes the run of a request, and checks the request as far as possible without reading the data. It refuses
// statistics files as inputs. If no method is named, methods.Fallback is used; NewAttempts finds a better one.
func NewRun(ctx context.Context, q request.Request) (*Run, error) { return NewRunFor(ctx, q, true) }

// NewRunFor makes the run of a request, like NewRun. selects means that it selects features, and may need several
// passes.
func NewRunFor(ctx context.Context, q request.Request, selects bool) (*Run, error) {
	r := &Run{Request: q, Original: q, selects: selects}
	if q.Input.Plan != "" {
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
	case q.Input.IsEmpty() && q.Stats == "":
		return nil, stream.Usagef("no INPUT given, nor {stats}")
	case len(q.Input.Paths) > 0 && q.Stats != "":
		return nil, stream.Usagef("give INPUT or {stats}, not both")
	case q.Stats != "" && (q.Input.Version != nil || !q.Input.AsOf.IsZero()):
		return nil, stream.Usagef("{-version} and {-as-of} are for Delta tables; {stats} holds what was scanned of one")
	case q.Stats != "" && request.NamedCheckpoint(&q) != "":
		return nil, stream.Usagef("{-checkpoint} is for reading the input; {stats} has nothing to resume")
	case place.IsURL(request.NamedCheckpoint(&q)):
		return nil, stream.Usagef("{checkpoint} %s: want a local folder, which is saved to now and then", place.DisplayName(q.Checkpoint.Folder))
	}
	if err := request.CheckTempFolder(q.Limits.TempDir); err != nil {
		return nil, err
	}
	if len(r.Choice.Methods) == 0 {
		r.Choice.Methods = methods.All()
	}
	r.Choice.Method = cmp.Or(r.Choice.Method, methods.Fallback)
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
	for _, settle := range []func(*Run) error{settleStability, settleSketch, checkExclusion, settleScale} {
		if err := settle(r); err != nil {
			return nil, err
		}
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
	case q.Choice.AutoK && (q.Choice.K > 0 || q.Choice.Variance > 0):
		return stream.Usagef("{k} auto finds the number of features by itself; give it, a number or {variance}")
	case q.Choice.AutoK && !spec.From.UsesGram():
		return stream.Usagef("{k} auto rests on the Gram matrix of all features, and method %s makes none; give a number, as path with {method} greedy recommends one", spec.Name)
	case q.Choice.Variance > 0 && q.Choice.K > 0:
		return stream.Usagef("{variance} stops by itself; give it or {k}, not both")
	case q.Choice.Variance > 0 && takes.WhyNotVariance.Format != "":
		return stream.Usagef("{variance} %s; use {k}", takes.WhyNotVariance)
	case q.Choice.Variance > 0 && !takes.Variance:
		return stream.Usagef("{variance} is not for method %s; use {k}", spec.Name)
	case q.Choice.MinGain > 0 && (q.Choice.AutoK || q.Choice.Variance > 0):
		return stream.Usagef("{min-gain} stops by itself, and so do {k} auto and {variance}; give one of them")
	case q.Choice.MinGain > 0 && !takes.MinGain && !takes.Sample && !spec.From.UsesGraph():
		return stream.Usagef("{min-gain} rests on the Gram matrix, which method %s makes none of or uses up; use {k}, or {method greedy}", spec.Name)
	case len(q.Choice.ExplainColumns) > 0 && !takes.Explain:
		return stream.Usagef("{explain-columns} is not for method %s; methods greedy and partgreedy choose columns that reconstruct given ones", spec.Name)
	case len(q.Choice.Keep) > 0 && !takes.Keep && takes.Turns:
		return stream.Usagef("{keep} is not for method %s, which chooses every feature by itself", spec.Name)
	case q.Columns.Weight != "" && !takes.Weight:
		return stream.Usagef("{weight} is not for method %s", spec.Name)
	case q.Columns.Missing == request.MissingPairwise && spec.From.NeedsWholeRows():
		return stream.Usagef("{missing} pairwise is for methods on the Gram matrix, as greedy: method %s needs every entry of a row; use {missing mean}", spec.Name)
	}
	return nil
}

func settleScale(r *Run) (err error) {
	r.Choice.Scale = cmp.Or(r.Choice.Scale, r.Bound.Scale.String())
	if !slices.Contains(request.ScaleNames(), r.Choice.Scale) {
		return stream.Usagef("unknown scale %q (want %s)%s", r.Choice.Scale, strings.Join(request.ScaleNames(), ", "), suggest.DidYouMean(r.Choice.Scale, request.ScaleNames()))
	}
	if r.ParsedScale, err = gram.ParseScale(r.Choice.Scale); err != nil {
		return err
	}
	if fit := r.Bound.Takes.Scales; fit != nil && !slices.Contains(fit, r.ParsedScale) {
		return stream.Usagef("{scale} %s: %s", r.Choice.Scale, r.Bound.Takes.WhyScales)
	}
	return CheckRowScaleOfMethod(r, r.Columns.RowScale)
}

// CheckRowScaleOfMethod refuses rows in a scale that does not suit the method.
func CheckRowScaleOfMethod(r *Run, scale string) error {
	if fit := r.Bound.Takes.RowScales; fit != nil && !slices.Contains(fit, scale) {
		return stream.Usagef("{rows-scale} %s is not for method %s: %s", scale, r.Bound.Name, r.Bound.Takes.WhyRowScales)
	}
	return nil
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
	case r.Columns.RowScale == request.RowScaleTFIDF:
		return "{rows-scale} tfidf"
	case r.Choice.Reads > 1:
		return "{passes} " + strconv.Itoa(r.Choice.Reads)
	case r.selects && (r.Bound.From.NeedsWholeRows() || r.Bound.Takes.Rereads):
		return "method " + r.Bound.Name
	}
	return ""
}

func settleChoice(ctx context.Context, r *Run) (err error) {
	q := &r.Request
	if q.Choice.GroupMost > 0 && q.Choice.Groups == "" {
		return stream.Usagef("{group-most} limits the choice from each group; define the groups with {groups}")
	}
	if option := groups.BindingOption(q, r.Bound.Takes); option != "" {
		return stream.Usagef("%v is not for method %s, which has no score of every feature; {method greedy} serves it", stream.Option(option), r.Bound.Name)
	}
	if r.Grouping, err = groups.ReadGroups(ctx, q); err != nil {
		return err
	}
	r.Pricing, err = groups.ReadCosts(ctx, q)
	return err
}

func settleStability(r *Run) error {
	switch {
	case r.Choice.Stability == 0:
		return nil
	case !r.Bound.From.UsesGram():
		return stream.Usagef("{-stability} is not for method %s, whose statistics are no sums that halves of the rows can be made of; leave it out, or let eval select again from other rows ({resamples})", r.Bound.Name)
	case r.Choice.Stability == request.AnyShards && r.Stats == "":
		r.Choice.Stability = halves.DefaultShards
	}
	if r.Choice.Stability == request.AnyShards {
		return nil
	}
	return halves.CheckShards(r.Choice.Stability)
}

func settleSketch(r *Run) error {
	switch {
	case r.Choice.Sketch == "" && r.Choice.Reads == 0:
		return nil
	case len(r.Choice.ExplainColumns) > 0:
		return stream.Usagef("{explain-columns} needs exact products with the explained columns, and {sketch} estimates them; leave one of them out")
	case !r.Bound.Takes.Sketch:
		return stream.Usagef("{-sketch} and {-passes} are not for method %s; leave them out, or choose {method} greedy", r.Bound.Name)
	case r.Bound.From.UsesGraph() && r.Choice.Reads > 0:
		return stream.Usagef("{-passes} is not for method %s, which has its sketch from the pass that makes the graph; leave it out, or choose {method} greedy", r.Bound.Name)
	case r.Choice.Stability > 0:
		return stream.Usagef("{sketch} has no halves of the rows to compare; leave {-stability} or {sketch} out")
	case r.Columns.Missing == request.MissingPairwise:
		return stream.Usagef("{missing} pairwise: a sketch knows no pairs of columns; use {missing mean}")
	case r.Choice.AutoK:
		return stream.Usagef("{k} auto rests on the exact Gram matrix; give a number, or leave {-sketch} out")
	case r.Choice.MinGain > 0:
		return stream.Usagef("{min-gain} needs exact shares, but {sketch} estimates them during the choice; use {k}")
	case r.Choice.Variance > 0:
		return stream.Usagef("{variance} needs an exact share, but {sketch} estimates it during the choice; use {k}")
	}
	switch {
	case r.Bound.From.UsesGraph():
	case r.Stats == "" && request.IsSinglePassStream(&r.Request):
		r.Choice.Reads = cmp.Or(r.Choice.Reads, 1)
	case r.Stats == "":
		r.Choice.Reads = cmp.Or(r.Choice.Reads, defaultReads)
	case r.Choice.Reads > 1:
		return stream.Usagef("{passes} %d: %s has no rows to read again; select from the data with {sketch}, or take the estimates of {passes 1}", r.Choice.Reads, r.Stats)
	default:
		r.Choice.Reads = 1
	}
	if r.Choice.Sketch == "" && r.Stats != "" { // the file records the number of rows
		return nil
	}
	var err error
	if r.SketchRows, err = ParseSketchRows(cmp.Or(r.Choice.Sketch, request.SketchAuto)); err == nil {
		r.Choice.Sketch = strconv.Itoa(r.SketchRows)
	}
	return err
}

func checkExclusion(r *Run) error {
	switch {
	case !request.ExcludesSuspects(&r.Request):
	case r.Bound.From.UsesRows() && r.Bound.Takes.Cells:
		return stream.Usagef("{-auto-exclude} and {-max-missing}: method %s takes all cells of a grid; leave columns out by name, {exclude}", r.Bound.Name)
	case r.Bound.From.UsesGraph() && r.Columns.Sparse != "":
		return stream.Usagef("{-auto-exclude} and {-max-missing}: method %s measures distances between whole sparse rows; choose {method} greedy, or leave them out", r.Bound.Name)
	case r.Stats != "" && r.Bound.From.NeedsWholeRows():
		return stream.Usagef("{-auto-exclude} and {-max-missing}: what %s holds for method %s is of whole rows; leave columns out by name and scan again, {exclude}, or choose {method} greedy", r.Stats, r.Bound.Name)
	}
	return nil
}
