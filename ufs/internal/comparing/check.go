package comparing

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// CheckRequest names a selection and the statistics of new data to check it against. Zero fields mean defaults.
type CheckRequest struct {
	Selection *stream.Selection
	Stats     string // statistics of the new data, a file or object
	Baseline  string // statistics of the old data, to find the columns that moved since; may be empty

	Tolerance float64 // share of a fresh selection's explained variance that Selection may fail to explain
	PSILimit  float64 // population stability index of a column above which to select again; 0: only warn
	Methods   []method.Spec

	Output string
	Limits request.Limits
	Hooks  request.Hooks

	Anonymous bool // use no credentials for object stores, and sign no request for Stats and Baseline
}

// DefaultTolerance is the share of a fresh selection's explained variance that an old selection may fail to explain.
// The value comes from a test with mnist70k, usps, isolet, coil20, warppie10p and orl: 5, 20 and 50 features were
// selected from one sample of 60 to 20,000 rows and checked on another sample of the same size, with raw and with
// standard columns. The largest loss was 0.08 and the median 0.01. With more rows the loss was smaller. Only counts of
// rare words lost more: 0.09 to 0.5 for 600 rows of basehock with 4,862 words.
const DefaultTolerance = 0.1

// CheckSelection implements ufs.Check: it decides from statistics alone whether a selection still explains new data.
func CheckSelection(ctx context.Context, o CheckRequest) (*result.Verdict, error) {
	c := &checker{CheckRequest: o}
	if c.Methods == nil {
		c.Methods = methods.All()
	}
	switch {
	case o.Selection == nil:
		return nil, stream.Usagef("check: no selection given; add {selection} SEL.json")
	case o.Stats == "":
		return nil, stream.Usagef("check: no statistics of the new data given; add {stats} NEW.ufs, as scan makes them")
	case !(o.Tolerance >= 0 && o.Tolerance <= 1):
		return nil, stream.Usagef("{tolerance} %v: want a share from 0 to 1", o.Tolerance)
	case !(o.PSILimit >= 0):
		return nil, stream.Usagef("{psi-limit} %v: want a number above 0, as 0.25", o.PSILimit)
	}
	c.Tolerance = cmp.Or(o.Tolerance, DefaultTolerance)
	if err := atomicfile.CheckNotInput(ctx, o.Output, slices.DeleteFunc([]string{o.Stats, o.Baseline}, func(p string) bool { return p == "" })...); err != nil {
		return nil, err
	}
	var err error
	if c.request, err = settled.RecordedRequest(o.Selection, c.Methods); err != nil {
		return nil, stream.Dataf("the selection", "%w", err)
	}
	if named := c.request.Choice.ExplainColumns; len(named) > 0 {
		return nil, stream.Usagef("check measures how much a selection explains of all columns, and this one was made to explain {explain-columns} %s; select again from the new data", request.JoinNames(named))
	}
	// The fresh selection for comparison is made without groups, costs and forbidden features.
	c.isConstrained = c.request.Choice.Groups != "" || c.request.Choice.Budget > 0 || c.request.Choice.Costs != "" || len(c.request.Choice.Forbid) > 0 ||
		slices.ContainsFunc(o.Selection.Selected, func(f stream.Selected) bool { return len(f.Members) > 0 })
	c.aimsAtError = c.request.Choice.Method == methods.Fallback && !c.isConstrained
	spec, err := methods.Find(c.request.Choice.Methods, c.request.Choice.Method)
	if err != nil {
		return nil, stream.Dataf("the selection", "%w", err)
	}
	c.isCentred = spec.From.NeedsWholeRows() || spec.Takes.Sample
	c.request.Choice.Groups, c.request.Choice.GroupMost, c.request.Choice.Costs, c.request.Choice.Budget, c.request.Choice.Forbid = "", 0, "", 0, nil
	c.request.Choice.Method, c.request.Choice.Methods, c.request.Choice.Options, c.request.Choice.K, c.request.SampleRows = methods.Fallback, nil, nil, 0, 0
	c.request.Input.Anonymous, c.request.Limits, c.request.Hooks = o.Anonymous, o.Limits, o.Hooks
	end, err := budget.ApplyLimits(ctx, &c.request)
	if err != nil {
		return nil, err
	}
	defer end()
	fetched := c.request.Hooks.Meter.Transfer()
	v, err := c.judgeSelection(ctx)
	if v != nil {
		v.Transfer = c.request.Hooks.Meter.Transfer().Since(fetched)
	}
	return v, err
}

// checker holds the state of one call of ufs.Check, which compares a selection with new data.
type checker struct {
	CheckRequest
	request         request.Request // the recorded request, changed to a greedy selection
	aimsAtError     bool            // the checked selection was made to minimise the error
	isConstrained   bool            // groups, costs or forbidden features limited the choice
	isCentred       bool            // the selection's recorded errors are for centred columns, whatever the scale
	mostColumns     int             // of the files read so far; weights of the first file are still in memory with the second
	driftedFeatures []string        // each text names a feature, and some of the columns with which it is no longer correlated
	verdict         *result.Verdict
}

func (c *checker) judgeSelection(ctx context.Context) (*result.Verdict, error) {
	nan := stream.Number(math.NaN())
	s := c.Selection
	c.verdict = &result.Verdict{
		Schema: result.VerdictSchema, Method: s.Method, K: len(choice.FeatureNames(s)), Scale: c.request.Choice.Scale, Tolerance: stream.Number(c.Tolerance),
		LostBefore: nan, ByOldWeights: nan, OwnError: nan, Why: []string{}, Undecided: []string{}, Gone: []stream.LeftOut{}, Columns: []result.ColumnShift{}, Warnings: []string{},
	}
	var before *checkedData
	if c.Baseline != "" { // read first, so that only one Gram matrix is in memory at a time
		var err error
		if before, err = c.loadStats(ctx, c.Baseline); err != nil {
			return nil, gathering.BlameStatsFile(c.Baseline, err)
		}
		if err := c.measureErrors(ctx, before, true); err != nil {
			return nil, gathering.BlameStatsFile(c.Baseline, err)
		}
		c.verdict.LostBefore = stream.Number(before.lostShareAgainstFresh())
		before.trial.Gram, before.trial.ExplainGram, before.bundle.Moments, before.matrix = nil, nil, nil, nil
	}
	now, err := c.loadStats(ctx, c.Stats)
	if err != nil {
		return nil, gathering.BlameStatsFile(c.Stats, err)
	}
	if err := c.measureErrors(ctx, now, false); err != nil {
		return nil, gathering.BlameStatsFile(c.Stats, err)
	}
	c.verdict.Scale = now.trial.Gatherer.Run.Choice.Scale
	c.verdict.Rows, c.verdict.RowsUsed, c.verdict.Features = now.bundle.Profile.Seen, now.bundle.Profile.Rows, len(now.names)
	c.verdict.Error, c.verdict.Fresh, c.verdict.Lost, c.verdict.FreshNames = stream.Number(now.selectionError), stream.Number(now.freshError), stream.Number(now.lostShareAgainstFresh()), now.freshNames
	if before != nil {
		c.measureErrorByOldWeights(before, now)
	} else {
		c.readRecordedErrors()
		if math.IsNaN(float64(c.verdict.LostBefore)) && isMadeFrom(c.Selection, now) {
			c.verdict.LostBefore = c.verdict.Lost
		}
	}
	c.verdict.LostSince = c.verdict.Lost
	if !math.IsNaN(float64(c.verdict.LostBefore)) {
		c.verdict.LostSince = 1 - (1-c.verdict.Lost)/(1-c.verdict.LostBefore)
	}
	c.findGoneFeatures(now)
	c.findDriftedFeatures(now)
	c.findMovedColumns(before, now)
	return c.verdict, c.decideVerdict()
}
