package settled

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/judging/subset"
	"github.com/ufs-stream/ufs-stream/method"
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

	ManySettings    bool               // the run solves several settings of the method (ufs.Path), not one
	SkipsTrust      bool               // the chosen features are not compared with random features
	ReportsSizes    bool               // ufs.Path reports the recommended number of features, if memory allows
	AutoSize        bool               // AutoK is only the default: it is unset if something prevents it
	SizeReason      stream.Text        // why DefaultK is used, if the request does not set the number of features
	WholeProfile    *statistics.Bundle // the profile of the whole input (option {profile}); or nil
	SampleBytes     int64              // memory of the sample of rows in WholeProfile
	AnchorRows      int                // number of rows in the file of anchors
	AnchorInputs    []stream.Input     // the file of anchors, as an input
	EarlierPasses   int                // number of passes that PrepareFeatures made
	SketchRows      int                // number of rows of the sketch for the Gram matrix; 0 if the matrix is exact
	KeepRows        int                // number of rows that a scan keeps for methods that iterate over rows
	KeptRowsMissing string             // the missing policy that will act on the kept rows

	selects bool // the run selects features, for which it may need several passes

	MethodReason stream.Text // why this method is used, if the request names none

	Grouping *groups.Grouping // groups of the columns
	Pricing  *groups.Pricing  // costs of the columns and groups

	PlanHeader *chunkio.PlanHeader // of Plan; nil without a plan
	Shard      chunkio.Shard       // the shard of the plan to read; zero for the whole plan
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

// ReadOptions returns the options for reading that follow from the request. Reading may use the whole memory limit
// until the plan gives it a share.
func (r *Run) ReadOptions() chunkio.Options {
	opt := r.ValueOptions()
	opt.RowScale = request.NewRowScale(&r.Request)
	return opt
}

// ValueOptions returns the same options as ReadOptions, but for rows that are not scaled.
func (r *Run) ValueOptions() chunkio.Options {
	opt := request.NewReadOptions(&r.Request)
	if r.WholeProfile != nil { // read the columns in the order of this profile
		opt.Order = wording.ColumnNames(r.WholeProfile.Columns)
	}
	opt.Columns, opt.Exclude, opt.Label, opt.Weight, opt.Sparse = r.Columns.Names, r.Columns.Exclude, r.Columns.Label, r.Columns.Weight, r.Columns.Sparse
	opt.Missing, opt.Target, opt.Numbers = request.MissingPolicy(&r.Request), readsLabel(r), r.Choice.Keep
	opt.Sample, opt.Again, opt.Memory = r.DrawnRows(), r.mayReread(), max(r.Limits.Memory-budget.ProgramBytes, 1)
	opt.Shard, opt.SkipBad = r.Shard, r.SkipBad
	opt.TakingIn = func(name string) func(error) { return reportReading(r.Hooks.Progress, name) }
	return opt
}

// DrawnRows returns the number of rows to read; 0 means all. A quick try (option {rows}) and the sample of a method are
// drawn in the same way, and the smaller sample is part of the larger one, so the smaller number counts.
func (r *Run) DrawnRows() int64 {
	if r.Bound == nil || r.SampleRows == 0 || r.Bound.Sample == 0 {
		if r.Bound == nil {
			return r.SampleRows
		}
		return max(r.SampleRows, r.Bound.Sample)
	}
	return min(r.SampleRows, r.Bound.Sample)
}

// mayReread reports whether a stream of Arrow IPC on standard input is kept for another pass. Dropping rows needs a
// second pass only if values are missing; for this possibility the stream is kept only if {temp-dir} names a folder.
func (r *Run) mayReread() bool {
	return r.rereadReason() != "" || r.Limits.TempDir != "" && request.MissingPolicy(&r.Request) == stream.MissingDropRow
}

// readsLabel reports whether passes read the label to find features that leak it. The sampled rows that a scan keeps do
// not contain the label, so leaks are found from the counts over all rows.
func readsLabel(r *Run) bool { return r.Columns.Label != "" && r.Columns.Sparse == "" }

func reportReading(show func(request.Progress), name string) (ended func(error)) {
	if show == nil {
		return func(error) {}
	}
	p := request.Progress{What: "reading " + name, Pass: 1, Passes: 1, Rows: -1}
	show(p)
	return func(err error) {
		p.Done, p.Failed = true, err != nil
		show(p)
	}
}

// ExpectedK returns the greatest number of features that a choice from d features may have. findsSize means that the
// data determine the number.
func (r *Run) ExpectedK(d int, findsSize bool) int {
	switch {
	case r.Choice.K > 0:
		return min(r.Choice.K, d)
	case findsSize:
		return max(subset.MaxFeatures(d), min(len(r.Choice.Keep), d))
	case r.Choice.Variance > 0 || r.Choice.Budget > 0:
		return d
	case r.Choice.MinGain > 0 && r.Bound.Takes.MinGain:
		return method.MostGaining(d, len(r.Choice.Keep), r.Choice.MinGain)
	}
	return min(max(request.DefaultK, len(r.Choice.Keep)), d)
}

func SurveyRows(r *Run, columns int) int {
	return cmp.Or(r.Bound.GraphRows, method.SurveyRows(columns))
}

// PromisesMissing reports whether the metadata of ds announce missing values.
func PromisesMissing(ds *chunkio.Dataset) bool { return ds.WithNulls() > 0 }

// ComparesWithChance reports whether the run compares its chosen features with random features. It does so for methods
// on a Gram matrix that aim at explaining a large share of the data. For a choice with another aim, such as the
// embedding of the rows, this share means nothing.
func ComparesWithChance(r *Run) bool {
	return r.Bound.From.UsesGramOnly() && r.Bound.Takes.Reconstructs && !r.ManySettings && !r.SkipsTrust
}

func NewFacts(r *Run, columns int) *hygiene.Facts {
	return hygiene.New(columns, r.Limits.Threads, readsLabel(r))
}

func IsScaleOpen(r *Run) bool {
	return r.Bound.Takes.Sample && r.Original.Choice.Scale == "" && r.ParsedScale != gram.ScaleRank && (r.PlanHeader == nil || r.PlanHeader.Options["scale"] == "")
}

// kmeansSampleBytes bounds the memory of the sampled rows that k-means clusters. It does not depend on the memory
// limit, because the limit must not change the result.
const kmeansSampleBytes = 256 << 20

func (r *Run) AnchorSampleRows(anchors, columns int) int {
	if r.Bound.Anchors.KMeans() {
		return anchor.SampleRows(anchors, columns, kmeansSampleBytes)
	}
	return anchors
}

// ExpectedAnchors returns the largest number of anchors for a table of that many rows, before rows are dropped.
func (r *Run) ExpectedAnchors(rows int64) int {
	if r.Bound.Anchors.File != "" {
		return r.AnchorRows
	}
	m, err := anchor.Count(r.Bound.Anchors.Count, rows, r.Bound.Anchors.Neighbors)
	if err != nil { // the pass for the profile will report the error; until then plan for the maximum
		return r.MaxAnchors()
	}
	return m
}

func (r *Run) MaxAnchors() int {
	if m := r.Bound.Anchors.Count; m > 0 {
		return m
	}
	return anchor.MostAnchors
}

func (r *Run) AddGraphShape(options map[string]string) {
	f := &r.Bound.Anchors
	options["scale"] = r.Choice.Scale
	options["neighbors"] = fmt.Sprint(f.Neighbors)
	if f.File != "" {
		options["anchors-file"] = place.DisplayName(f.File)
		return
	}
	if f.Count > 0 {
		options["anchors"] = fmt.Sprint(f.Count)
	}
	options["anchor-method"] = f.Placing
	options["seed"] = fmt.Sprint(r.Choice.Seed)
}

// SurveyedRows returns the number of rows that the survey uses. If statistics keep more rows than the request surveys,
// the survey uses the first of them, because a smaller sample is the beginning of a larger one.
func SurveyedRows(r *Run, drawn anchor.Drawn) int {
	if r.Bound.GraphRows > 0 {
		return min(r.Bound.GraphRows, drawn.Len())
	}
	return drawn.Len()
}

func (r *Run) SampleRowsText() string {
	if r.KeepRows == 0 {
		return ""
	}
	return strconv.Itoa(r.KeepRows)
}

func (r *Run) AddSampleShape(options map[string]string) {
	options[request.OptionSampleRows] = r.SampleRowsText()
	options["seed"] = strconv.FormatUint(r.Choice.Seed, 10)
	options[request.OptionSampleMissing] = r.KeptRowsMissing
}
