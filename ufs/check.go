package ufs

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// CheckRequest says which selection to check against which statistics. A zero field means its
// default.
type CheckRequest struct {
	Selection *stream.Selection
	Stats     string // of the new data, a file or object
	Baseline  string // statistics of the data before, for what moved since; may be empty

	Tolerance float64 // share of what a fresh selection explains that may be lost; default DefaultTolerance
	PSILimit  float64 // a column that moved by that much is a reason to select again; 0: a warning only
	Methods   []method.Spec

	Threads int
	Memory  int64
	Output  string

	Anonymous bool          // look for no credentials of object stores and sign no request for Stats and Baseline
	Meter     *stream.Meter // counts what is fetched from object stores

	Spelling stream.Spelling
}

// DefaultTolerance is the share of what a fresh selection explains that an old one may lose.
// Selecting 5, 20 and 50 features from one sample of mnist70k, usps, isolet, coil20, warppie10p
// and orl, and checking them against another of as many rows, 60 to 20,000 with raw and with
// standard columns, lost 0.08 at most, 0.01 in the middle, and less with more rows. Only counts of
// rare words lose more: basehock, 600 rows of 4,862 words, 0.09 to 0.5.
const DefaultTolerance = 0.1

// Check says whether a selection still serves new data, from their statistics alone: what its
// features explain of it beside those of a fresh selection of as many, which of them are gone,
// and which columns moved. The Verdict comes with a *stream.StaleError where it is time to
// select again.
func Check(ctx context.Context, o CheckRequest) (*Verdict, error) {
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
	if err := atomicfile.NotInput(ctx, o.Output, slices.DeleteFunc([]string{o.Stats, o.Baseline}, func(p string) bool { return p == "" })...); err != nil {
		return nil, err
	}
	var err error
	if c.q, err = Recorded(o.Selection, c.Methods); err != nil {
		return nil, stream.Dataf("the selection", "%w", err)
	}
	// A fresh selection is bound to no groups, costs or what may be chosen.
	c.bound = c.q.Groups != "" || c.q.Budget > 0 || c.q.Costs != "" || len(c.q.Forbid) > 0 ||
		slices.ContainsFunc(o.Selection.Selected, func(f stream.Selected) bool { return len(f.Members) > 0 })
	c.greedy = c.q.Method == methods.Fallback && !c.bound
	spec, err := methods.Find(c.q.Methods, c.q.Method)
	if err != nil {
		return nil, stream.Dataf("the selection", "%w", err)
	}
	c.centred = spec.From == method.FromGraph || spec.From == method.FromRows || spec.Takes.Sample
	c.q.Groups, c.q.GroupMost, c.q.Costs, c.q.Budget, c.q.Forbid = "", 0, "", 0, nil
	c.q.Method, c.q.Methods, c.q.Options, c.q.K, c.q.SampleRows = methods.Fallback, nil, nil, 0, 0
	c.q.Threads, c.q.Memory, c.q.Spelling = o.Threads, o.Memory, o.Spelling
	c.q.Anonymous, c.q.Meter = o.Anonymous, o.Meter
	if err := c.q.limits(); err != nil {
		return nil, err
	}
	end, err := c.q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	fetched := c.q.Meter.Transfer()
	v, err := c.judge(ctx)
	if v != nil {
		v.Transfer = c.q.Meter.Transfer().Since(fetched)
	}
	return v, err
}

// checker is a check under way.
type checker struct {
	CheckRequest
	q       Request  // what the selection records, as a greedy selection
	greedy  bool     // the selection aims at the least error itself
	bound   bool     // by groups, costs or features that may not be chosen
	centred bool     // the errors that the selection records are of centred columns, whatever the scale
	strayed []string // features that no longer stand for what they did, with some of the columns
	v       *Verdict
}

func (c *checker) judge(ctx context.Context) (*Verdict, error) {
	nan := stream.Number(math.NaN())
	s := c.Selection
	c.v = &Verdict{
		Schema: VerdictSchema, Method: s.Method, K: len(featureNames(s)), Scale: c.q.Scale, Tolerance: stream.Number(c.Tolerance),
		LostBefore: nan, ByOldWeights: nan, OwnError: nan, Why: []string{}, Undecided: []string{}, Gone: []stream.LeftOut{}, Columns: []ColumnShift{}, Warnings: []string{},
	}
	var before *checked
	if c.Baseline != "" { // first, so that one Gram matrix is in memory at a time
		var err error
		if before, err = c.load(ctx, c.Baseline); err != nil {
			return nil, ofStats(c.Baseline, err)
		}
		if err := c.measure(ctx, before, true); err != nil {
			return nil, ofStats(c.Baseline, err)
		}
		c.v.LostBefore = stream.Number(before.lost())
		before.release()
	}
	now, err := c.load(ctx, c.Stats)
	if err != nil {
		return nil, ofStats(c.Stats, err)
	}
	if err := c.measure(ctx, now, false); err != nil {
		return nil, ofStats(c.Stats, err)
	}
	c.v.Scale = now.t.Request.Scale
	c.v.Rows, c.v.RowsUsed, c.v.Features = now.e.profile.Seen, now.e.profile.Rows, len(now.names)
	c.v.Error, c.v.Fresh, c.v.Lost, c.v.FreshNames = stream.Number(now.left), stream.Number(now.fresh), stream.Number(now.lost()), now.chosen
	if before != nil {
		c.applyWeights(before, now)
	} else {
		c.recall()
		if math.IsNaN(float64(c.v.LostBefore)) && isMadeFrom(c.Selection, now) {
			c.v.LostBefore = c.v.Lost
		}
	}
	c.v.LostSince = c.v.Lost
	if !math.IsNaN(float64(c.v.LostBefore)) {
		c.v.LostSince = 1 - (1-c.v.Lost)/(1-c.v.LostBefore)
	}
	c.findGone(now)
	c.findStrayed(now)
	c.findMoved(before, now)
	return c.v, c.decide()
}
