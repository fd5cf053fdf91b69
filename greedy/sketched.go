package greedy

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SelectSketched chooses features by an estimate g of G, a factor made by [gram.Sketch], and where
// passes is 2 or more by exact columns of G as well, which passes over the rows of src fetch for the
// candidates: the [rivals] best of every turn, as far as the estimate can tell. The selection is then
// that of Select among the candidates, and its scores, errors and shares are exact. Further passes
// follow the selection turn by turn on the sketch, and fetch what it takes for rivals there, as long
// as there are any that are no candidates yet. The first pass is the one that made the sketch.
//
// Options number features as g and std do; Profile is not used. Result.Estimate says what rests on the
// sketch. g.Held is consumed. Cost: that of Select on a factor, once a pass, and nd flops a candidate;
// [SketchedBytes].
//
// It fails with a *stream.UsageError for options that do not fit, and with what the source fails with.
func SelectSketched(ctx context.Context, g *gram.Gram, src stream.Source, std *gram.Standardizer, passes int, opt StreamOptions) (*Result, error) {
	switch {
	case opt.Partitioned:
		return nil, stream.Usagef("the partition-based algorithm has its target in one pass, and no use of a sketch")
	case opt.Refine:
		return nil, refuseSketching()
	case opt.MinGain > 0:
		return nil, stream.Usagef("{min-gain} wants exact shares, and {sketch} estimates them on the way; use {k}")
	case passes > 1 && (opt.Blocks != nil || opt.Budget > 0):
		return nil, refuseBlocks(withoutPasses)
	case opt.Variance > 0:
		return nil, stream.Usagef("{variance} wants an exact share, and {sketch} estimates it on the way; use {k}")
	}
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt.Options = opt.withDefaults(g.D)
	s := &sketched{g: g, opt: opt.Options, seen: make([]bool, g.D), room: candidateRoom(g.D, opt.K, max(passes, 2))}
	res, err := s.play(ctx, opt.Keep)
	if err != nil {
		return nil, err
	}
	if passes < 2 {
		left := heldErrors(opt.Threads, &g.Matrix, g.Held, res.Order)
		if res.Blocks != nil { // after each of them
			for n, at := 0, -1; n < len(res.Blocks); n++ {
				at += len(opt.Blocks[res.Blocks[n]].Members)
				left[n] = left[at]
			}
			left = left[:len(res.Blocks)]
		}
		res.Estimate = &stream.Estimate{
			SketchRows: g.Rank, HeldRows: g.Held.Rank, HeldError: left,
			Deviation: stream.Number(math.NaN()), Outside: stream.Number(math.NaN()),
		}
		exactly := stream.Textf("{passes} 2, from the data, makes them exact")
		if res.Blocks != nil {
			exactly = stream.Textf("they are exact without {sketch}")
		}
		res.Warnings = append(res.Warnings, stream.Textf("all numbers are estimates, by a sketch of %d rows: rows held back from it say that %.3g of the sum of squares is left, and not %.3g; %v",
			g.Rank, float64(last(res.Estimate.HeldError)), last(res.Error), exactly))
		return res, nil
	}
	return s.exact(ctx, newReader(src, std, &opt), passes)
}

func refuseSketching() error {
	return stream.Usagef("{refine} swap works on the exact Gram matrix; leave it or {sketch} out")
}

func last[T any](x []T) T { return x[len(x)-1] }

// SketchedBytes is what SelectSketched holds beside a sketch of so many rows of d features, of which k are
// chosen, in at most so many passes.
func SketchedBytes(d, k, rows, passes int) int64 {
	selecting := FactorBytes(d, k, rows, rows) + int64(d)*int64(rows) // an eighth of it is held back
	if passes < 2 {
		return selecting + 8*int64(k)*int64(rows)
	}
	n := int64(candidateRoom(d, k, passes))
	numbers := kernel.TeamBytes(d, d)/8 + (n+int64(k)+24)*int64(d) + (n+int64(d))*int64(stream.BlockRows(d)) + n*int64(k)
	return selecting + 8*numbers
}

// candidateRoom bounds the candidates: those of the first pass for them, and as many again for others.
func candidateRoom(d, k, passes int) int {
	return min(d, (rivals+1)*k*min(passes-1, 2))
}

// sketched is the sketch, and the candidates that it has named.
type sketched struct {
	g    *gram.Gram
	opt  Options
	seen []bool // features that are candidates
	list []int  // in the order in which they were named
	room int    // for candidates

	// Of the turns of the last play, in shares of ‖A‖²:
	scores  [][]float64 // of the candidates that there were, parallel to list
	outside []float64   // the best of the features that were none
}

// play selects by the sketch, after the features to begin with, and names the leaders of every turn.
func (s *sketched) play(ctx context.Context, begin []int) (*Result, error) {
	opt := s.opt
	opt.Keep = begin
	t, err := factoredTarget(kernel.NewTeam(opt.Threads), &s.g.Matrix)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(s.list)
	s.scores, s.outside = make([][]float64, opt.K+1), make([]float64, opt.K+1)
	res, err := selectMemory(ctx, &s.g.Matrix, t, opt, func(c *criterion) {
		turn, bias := c.count(), c.remaining()/float64(s.g.Rank)
		s.scores[turn] = c.shares(known, bias)
		leaders := c.leaders(rivals)
		for i, share := range c.shares(leaders, bias) {
			if !slices.Contains(known, leaders[i]) {
				s.outside[turn] = max(s.outside[turn], share)
			}
			s.name(leaders[i])
		}
	})
	if err != nil {
		return nil, err
	}
	for _, p := range res.Order {
		s.name(p)
	}
	return res, nil
}

// name makes p a candidate, as long as there is room.
func (s *sketched) name(p int) {
	if !s.seen[p] && len(s.list) < s.room {
		s.seen[p], s.list = true, append(s.list, p)
	}
}

// count is the number of features chosen.
func (c *criterion) count() (n int) {
	for _, is := range c.chosen {
		if is {
			n++
		}
	}
	return n
}

// shares are the scores of the listed features less a bias, as shares of ‖A‖²: what each would take off
// the error. By a sketch of r rows E‖Ĝ₍:,i₎‖² = ‖G₍:,i₎‖²(1 + 1/r) + Gᵢᵢ·tr(G)/r, which makes scores larger by
// about tr(R)/r, whatever the feature.
func (c *criterion) shares(list []int, bias float64) []float64 {
	whole := floats.Sum(c.g0)
	out := make([]float64, len(list))
	for i, p := range list {
		out[i] = max(c.score(p)-bias, 0) / whole
	}
	return out
}

// score is f/g of feature i; 0 where it cannot be chosen.
func (c *criterion) score(i int) float64 {
	if !c.alive[i] {
		return 0
	}
	return c.f[i] / c.g[i]
}

// leaders are the n features of the best scores, best first.
func (c *criterion) leaders(n int) []int {
	return best(n, c.d, c.score)
}

// exact selects among the candidates, as often as the passes bring others.
func (s *sketched) exact(ctx context.Context, rows *reader, passes int) (*Result, error) {
	d := s.g.D
	a := &among{rows: rows, g0: make([]float64, d)}
	for pass := 2; ; pass++ {
		if err := a.fetch(ctx, s.list); err != nil {
			return nil, err
		}
		scores := make([][]float64, s.opt.K+1)
		a.begin()
		res, err := run(ctx, a, a.criterion, s.opt, func(c *criterion) { scores[c.count()] = c.shares(s.list, 0) })
		if err != nil {
			return nil, err
		}
		res.Passes = rows.Passes
		known := len(s.list)
		if _, err := s.play(ctx, res.Order); err != nil {
			return nil, err
		}
		if pass < passes && len(s.list) > known {
			a.restore()
			continue
		}
		res.Estimate = s.estimate(known, res.Order, scores)
		s.say(res)
		return res, nil
	}
}

// estimate compares the sketch's scores of the last play with the exact ones.
func (s *sketched) estimate(candidates int, order []int, exact [][]float64) *stream.Estimate {
	e := &stream.Estimate{SketchRows: s.g.Rank, HeldRows: s.g.Held.Rank, Candidates: candidates}
	squares, n := 0.0, 0
	for turn := len(s.opt.Keep); turn < len(order); turn++ {
		chosen := exact[turn][slices.Index(s.list, order[turn])]
		if chosen <= 0 {
			continue
		}
		for i, score := range exact[turn] {
			if score >= chosen/2 { // what is far from being chosen is no matter
				off := s.scores[turn][i]/score - 1
				squares, n = squares+off*off, n+1
			}
		}
		e.Outside = max(e.Outside, stream.Number(s.outside[turn]/chosen))
	}
	e.Deviation = stream.Number(math.Sqrt(squares / float64(n)))
	return e
}

// say puts what rests on the sketch into words.
func (s *sketched) say(r *Result) {
	e := r.Estimate
	outside := stream.Textf("a feature outside came to %.0f %% of a chosen one's score at most, by the sketch", 100*float64(e.Outside))
	if e.Outside == 0 {
		outside = stream.Textf("no feature outside came near, by the sketch")
	}
	r.Warnings = append(r.Warnings, stream.Textf("chosen among %d candidates that a sketch of %d rows named: their scores and shares are exact; %v, whose scores are off by %.1f %%",
		e.Candidates, e.SketchRows, outside, 100*float64(e.Deviation)))
	if r.Exhausted {
		r.Warnings = append(r.Warnings, stream.Textf("the candidates are used up: {passes} %d finds others", r.Passes+2))
	}
}

// among is the engine over a list of features, the candidates, whose columns of the residual R are
// held, up to date every turn: δ = R₍:,p₎. Then f = ‖δ‖² and h = δᵀω are exact for all of them, and
// no other feature takes part.
type among struct {
	*criterion
	rows   *reader
	list   []int
	at     map[int]int // the place of a candidate in list
	delta  []float64   // len(list)×d
	g0     []float64
	omegas [][]float64
	step   step
}

func (a *among) of(i int) []float64 { return a.delta[i*a.rows.d:][:a.rows.d] }

// fetch reads the columns of G of the candidates that are new since the last time, and the diagonal
// of G the first time.
func (a *among) fetch(ctx context.Context, list []int) error {
	d, old := a.rows.d, len(a.list)
	fresh := list[old:]
	a.list = slices.Clone(list)
	a.delta = append(a.delta, make([]float64, len(fresh)*d)...)
	columns := a.delta[old*d:]
	var scratch []float64
	err := a.rows.pass(ctx, reading{what: fmt.Sprintf("columns of %d candidates", len(fresh)), sums: [][]float64{columns, a.g0}, add: func(b *block) {
		if need := len(fresh) * b.rows; b.sparse == nil && len(scratch) < need {
			scratch = make([]float64, need)
		}
		a.rows.addColumns(b, columns, fresh, scratch)
		if old == 0 {
			a.rows.addSquares(b, a.g0)
		}
	}, finish: func() {
		a.rows.finishColumns(columns, fresh)
		if old == 0 {
			a.rows.finishSquares(a.g0)
		}
	}})
	if err != nil {
		return err
	}
	a.at = make(map[int]int, len(list))
	for i, p := range a.list {
		a.at[p] = i
	}
	return nil
}

// begin starts the turns.
func (a *among) begin() {
	d := a.rows.d
	f0, g0 := make([]float64, d), slices.Clone(a.g0)
	kernel.Each(a.rows.workers, len(a.list), func(i int) { f0[a.list[i]] = kernel.Dot(a.of(i), a.of(i)) })
	for i := range g0 {
		g0[i] = max(g0[i], 0)
	}
	a.criterion = newCriterion(f0, g0, true, nil)
	for i := range a.alive {
		_, is := a.at[i]
		a.alive[i] = a.alive[i] && is
	}
	a.omegas, a.step.h = nil, make([]float64, d)
}

// restore makes the columns of G of R's again: G = R + Σ ωωᵀ.
func (a *among) restore() {
	kernel.Each(a.rows.workers, len(a.list), func(i int) {
		for _, w := range a.omegas {
			kernel.Axpy(w[a.list[i]], w, a.of(i))
		}
	})
}

func (a *among) settle(context.Context, []int) error {
	kernel.Each(a.rows.workers, len(a.list), func(i int) {
		if p := a.list[i]; a.alive[p] {
			a.criterion.settle(p, kernel.Dot(a.of(i), a.of(i)), a.reach[p])
		}
	})
	return nil
}

func (a *among) take(_ context.Context, p int) (*step, error) {
	root := math.Sqrt(a.g[p])
	omega := slices.Clone(a.of(a.at[p]))
	column := slices.Clone(omega)
	for _, w := range a.omegas {
		kernel.Axpy(w[p], w, column)
	}
	floats.Scale(1/root, omega)
	s := &a.step
	s.omega, s.column, s.score = omega, column, kernel.Dot(omega, omega)
	s.hErr.reach = rounding(a.rows.d) * math.Sqrt(s.score)
	clear(s.h)
	kernel.Each(a.rows.workers, len(a.list), func(i int) {
		delta, q := a.of(i), a.list[i]
		s.h[q] = kernel.Dot(delta, omega)
		kernel.Axpy(-omega[q], omega, delta)
	})
	a.omegas = append(a.omegas, omega)
	return s, nil
}

// next ends the selection: what the candidates leave nothing of has no second layer among them.
func (a *among) next(_ context.Context, out []bool) (*criterion, error) {
	a.criterion = newCriterion(make([]float64, a.d), make([]float64, a.d), true, out)
	return a.criterion, nil
}

func (a *among) scoreUnit() float64 { return 1 / a.rows.unit }

// heldErrors is F(S)/F(∅) after each feature of the order as the rows held back have it: the weights
// by which the features of S explain the others are those of the sketch g, which has not seen these
// rows, so that nothing makes it too small. held is consumed. Cost 2k(r + h)d flops.
func heldErrors(workers int, g, held *gram.Matrix, order []int) []stream.Number {
	d, r, h := g.D, g.Rank, held.Rank
	left := make([]float64, d)
	errors := make([]stream.Number, 0, len(order))
	whole := floats.Sum(held.Diagonal(workers))
	basis := make([]float64, 0, len(order)*r)
	for _, p := range order {
		q := slices.Clone(g.R[p*r:][:r])
		for range 2 { // twice is enough (Kahan)
			for at := 0; at < len(basis); at += r {
				kernel.Axpy(-kernel.Dot(basis[at:at+r], q), basis[at:at+r], q)
			}
		}
		norm := math.Sqrt(kernel.Dot(q, q))
		if norm*norm > exhaustedShare*g.At(p, p) {
			floats.Scale(1/norm, q)
			basis = append(basis, q...)
			step := slices.Clone(held.R[p*h:][:h])
			floats.Scale(1/norm, step)
			kernel.Each(workers, d, func(i int) {
				kernel.Axpy(-kernel.Dot(q, g.R[i*r:][:r]), step, held.R[i*h:][:h])
			})
		}
		clear(held.R[p*h:][:h])
		kernel.Each(workers, d, func(i int) { left[i] = held.At(i, i) })
		errors = append(errors, stream.Number(floats.Sum(left)/whole))
	}
	return errors
}
