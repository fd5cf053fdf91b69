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

// SelectSketched chooses features by g, an estimate of the Gram matrix G in the form of a factor made by [gram.Sketch].
// If passes is 2 or more, passes over the rows of src also fetch exact columns of G for candidates: the 8 best features
// of every turn by the estimate. The selection is then the one that Select makes among the candidates, with exact
// scores, errors and shares. Further passes follow that selection turn by turn on the sketch, and fetch the columns of
// the features found there, until no new candidates appear. The pass that made the sketch counts as the first.
//
// Feature numbers in opt refer to g and std; opt.Profile is not used. Result.Estimate describes the error of the
// sketch. g.Held, the rows held out for measuring errors, is overwritten. Each pass costs as much as Select on a
// factor, and each candidate 2·n·d flops for n rows of d features. For memory, see [SketchedBytes].
//
// It fails with a *stream.UsageError for options that do not fit, and with the source's errors.
func SelectSketched(ctx context.Context, g *gram.Gram, src stream.Source, std *gram.Standardizer, passes int, opt StreamOptions) (*Result, error) {
	switch {
	case opt.Partitioned:
		return nil, stream.Usagef("the partition-based algorithm has its target in one pass, and no use of a sketch")
	case opt.Refine:
		return nil, errRefineWithSketch()
	case opt.MinGain > 0:
		return nil, stream.Usagef("{min-gain} needs exact shares, but {sketch} estimates them during the choice; use {k}")
	case passes > 1 && (opt.Blocks != nil || opt.Budget > 0):
		return nil, errBlocksNeedGram(remedyOnePass)
	case opt.Variance > 0:
		return nil, stream.Usagef("{variance} needs an exact share, but {sketch} estimates it during the choice; use {k}")
	}
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt.Options = opt.withDefaults(g.D)
	s := &sketchSelection{gram: g, opt: opt.Options, isCandidate: make([]bool, g.D), maxCandidates: candidateRoom(g.D, opt.K, max(passes, 2))}
	res, err := s.selectBySketch(ctx, opt.Keep)
	if err != nil {
		return nil, err
	}
	if passes < 2 {
		left := heldOutErrors(opt.Threads, &g.Matrix, g.Held, res.Order)
		if res.Blocks != nil { // errors after each block
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
		res.Warnings = append(res.Warnings, stream.Textf("all numbers are estimates from a sketch of %d rows: on rows kept out of it %.3g of the sum of squares is left, not %.3g; %v",
			g.Rank, float64(lastElement(res.Estimate.HeldError)), lastElement(res.Error), exactly))
		return res, nil
	}
	return s.selectAmongCandidates(ctx, newReader(src, std, &opt), passes)
}

func errRefineWithSketch() error {
	return stream.Usagef("{refine} swap works on the exact Gram matrix; leave it or {sketch} out")
}

func lastElement[T any](x []T) T { return x[len(x)-1] }

// SketchedBytes returns the memory that SelectSketched needs in addition to the sketch, to choose k of d features in at
// most the given number of passes. rows is the number of rows of the sketch.
func SketchedBytes(d, k, rows, passes int) int64 {
	selecting := FactorBytes(d, k, rows, rows) + int64(d)*int64(rows) // an eighth of the rows is held out
	if passes < 2 {
		return selecting + 8*int64(k)*int64(rows)
	}
	n := int64(candidateRoom(d, k, passes))
	numbers := kernel.TeamBytes(d, d)/8 + (n+int64(k)+24)*int64(d) + (n+int64(d))*int64(stream.BlockRows(d)) + n*int64(k)
	return selecting + 8*numbers
}

// candidateRoom returns the largest number of candidates for a choice of k of d features: (rivalsPerTurn+1)·k from the
// first pass that fetches candidates, and the same number from all later passes together.
func candidateRoom(d, k, passes int) int {
	return min(d, (rivalsPerTurn+1)*k*min(passes-1, 2))
}

// sketchSelection holds the sketch and the candidates, i.e. the features that the sketch has proposed so far. Exact
// columns of G are computed only for candidates.
type sketchSelection struct {
	gram          *gram.Gram
	opt           Options
	isCandidate   []bool // by feature
	candidates    []int  // in the order in which they were named
	maxCandidates int    // largest length of candidates

	// The next two fields have an entry for each turn of the last call of selectBySketch. Scores in them are divided by
	// ‖A‖², the sum of squares of the data.
	scores      [][]float64 // of the candidates known before that call, parallel to candidates
	bestOutside []float64   // the best score of a feature that was not a candidate
}

// selectBySketch makes a selection by the sketch. The features in the parameter first are chosen first. It adds the
// features with the highest scores of every turn to the candidates.
func (s *sketchSelection) selectBySketch(ctx context.Context, first []int) (*Result, error) {
	opt := s.opt
	opt.Keep = first
	t, err := factoredTarget(kernel.NewTeam(opt.Threads), &s.gram.Matrix)
	if err != nil {
		return nil, err
	}
	oldCandidates := slices.Clone(s.candidates)
	s.scores, s.bestOutside = make([][]float64, opt.K+1), make([]float64, opt.K+1)
	res, err := selectInMemory(ctx, &s.gram.Matrix, t, opt, func(c *criterion) {
		turn, bias := c.chosenCount(), c.remainingError()/float64(s.gram.Rank)
		s.scores[turn] = c.scoreShares(oldCandidates, bias)
		leaders := c.topByScore(rivalsPerTurn)
		for i, share := range c.scoreShares(leaders, bias) {
			if !slices.Contains(oldCandidates, leaders[i]) {
				s.bestOutside[turn] = max(s.bestOutside[turn], share)
			}
			s.addCandidate(leaders[i])
		}
	})
	if err != nil {
		return nil, err
	}
	for _, p := range res.Order {
		s.addCandidate(p)
	}
	return res, nil
}

func (s *sketchSelection) addCandidate(p int) {
	if !s.isCandidate[p] && len(s.candidates) < s.maxCandidates {
		s.isCandidate[p], s.candidates = true, append(s.candidates, p)
	}
}

func (c *criterion) chosenCount() (n int) {
	for _, isChosen := range c.chosen {
		if isChosen {
			n++
		}
	}
	return n
}

// scoreShares returns the scores of the listed features less the parameter bias, divided by ‖A‖², the sum of squares of
// the data. A score is the reduction of the error by a feature. Exact scores need no bias. If Ĝ is the estimate of G by
// a sketch of r rows, the expectation of ‖Ĝ₍:,i₎‖² is ‖G₍:,i₎‖²(1 + 1/r) + Gᵢᵢ·tr(G)/r. The last term makes the scores
// of all features too large, by about tr(R)/r, R being the residual of G.
func (c *criterion) scoreShares(list []int, bias float64) []float64 {
	whole := floats.Sum(c.g0)
	out := make([]float64, len(list))
	for i, p := range list {
		out[i] = max(c.score(p)-bias, 0) / whole
	}
	return out
}

// score returns the score f/g of feature i (see criterion), or 0 if i cannot be chosen.
func (c *criterion) score(i int) float64 {
	if !c.alive[i] {
		return 0
	}
	return c.f[i] / c.g[i]
}

func (c *criterion) topByScore(n int) []int {
	return topFeatures(n, c.featureCount, c.score)
}

func (s *sketchSelection) selectAmongCandidates(ctx context.Context, rows *reader, passes int) (*Result, error) {
	d := s.gram.D
	a := &candidateEngine{rows: rows, g0: make([]float64, d)}
	for pass := 2; ; pass++ {
		if err := a.fetchColumns(ctx, s.candidates); err != nil {
			return nil, err
		}
		scores := make([][]float64, s.opt.K+1)
		a.startCriterion()
		res, err := runLayers(ctx, a, a.criterion, s.opt, func(c *criterion) { scores[c.chosenCount()] = c.scoreShares(s.candidates, 0) })
		if err != nil {
			return nil, err
		}
		res.Passes = rows.Passes
		knownCount := len(s.candidates)
		if _, err := s.selectBySketch(ctx, res.Order); err != nil {
			return nil, err
		}
		if pass < passes && len(s.candidates) > knownCount {
			a.restoreColumns()
			continue
		}
		res.Estimate = s.estimateSketchError(knownCount, res.Order, scores)
		s.addEstimateWarnings(res)
		return res, nil
	}
}

func (s *sketchSelection) estimateSketchError(candidates int, order []int, exact [][]float64) *stream.Estimate {
	e := &stream.Estimate{SketchRows: s.gram.Rank, HeldRows: s.gram.Held.Rank, Candidates: candidates}
	squares, n := 0.0, 0
	for turn := len(s.opt.Keep); turn < len(order); turn++ {
		chosen := exact[turn][slices.Index(s.candidates, order[turn])]
		if chosen <= 0 {
			continue
		}
		for i, score := range exact[turn] {
			if score >= chosen/2 { // features far from being chosen do not matter
				off := s.scores[turn][i]/score - 1
				squares, n = squares+off*off, n+1
			}
		}
		e.Outside = max(e.Outside, stream.Number(s.bestOutside[turn]/chosen))
	}
	e.Deviation = stream.Number(math.Sqrt(squares / float64(n)))
	return e
}

func (s *sketchSelection) addEstimateWarnings(r *Result) {
	e := r.Estimate
	outside := stream.Textf("by the sketch, no other feature scored more than %.0f %% of a chosen one", 100*float64(e.Outside))
	if e.Outside == 0 {
		outside = stream.Textf("by the sketch, no other feature came near a chosen one")
	}
	r.Warnings = append(r.Warnings, stream.Textf("chosen among %d candidates that a sketch of %d rows named: their scores and shares are exact; %v, whose scores are off by %.1f %%",
		e.Candidates, e.SketchRows, outside, 100*float64(e.Deviation)))
	if r.Exhausted {
		r.Warnings = append(r.Warnings, stream.Textf("no candidate is left to choose: {passes} %d finds others", r.Passes+2))
	}
}

// candidateEngine is the engine for a choice among a list of candidates only. For each candidate it holds a column δ of
// the residual R, which is G less the contribution of the chosen features, and it updates δ every turn. The numbers of
// a candidate in the criterion, f = ‖δ‖² and h = δᵀω, are computed from δ and are thus exact. For ω, see choiceStep.
type candidateEngine struct {
	*criterion
	rows    *reader
	list    []int       // the candidates
	placeOf map[int]int // index of a candidate in list
	delta   []float64   // len(list)×d
	g0      []float64
	omegas  [][]float64
	step    choiceStep
}

func (a *candidateEngine) residualColumn(i int) []float64 { return a.delta[i*a.rows.d:][:a.rows.d] }

// fetchColumns makes a pass over the rows, which computes the columns of G for the new candidates at the end of list.
// The first call also computes the diagonal of G.
func (a *candidateEngine) fetchColumns(ctx context.Context, list []int) error {
	d, old := a.rows.d, len(a.list)
	fresh := list[old:]
	a.list = slices.Clone(list)
	a.delta = append(a.delta, make([]float64, len(fresh)*d)...)
	columns := a.delta[old*d:]
	var scratch []float64
	err := a.rows.runPass(ctx, rowPass{purpose: fmt.Sprintf("columns of %d candidates", len(fresh)), sums: [][]float64{columns, a.g0}, addBlock: func(b *rowBlock) {
		if need := len(fresh) * b.rows; b.sparse == nil && len(scratch) < need {
			scratch = make([]float64, need)
		}
		a.rows.addColumns(b, columns, fresh, scratch)
		if old == 0 {
			a.rows.addSquares(b, a.g0)
		}
	}, finish: func() {
		a.rows.unshiftColumns(columns, fresh)
		if old == 0 {
			a.rows.unshiftSquares(a.g0)
		}
	}})
	if err != nil {
		return err
	}
	a.placeOf = make(map[int]int, len(list))
	for i, p := range a.list {
		a.placeOf[p] = i
	}
	return nil
}

func (a *candidateEngine) startCriterion() {
	d := a.rows.d
	f0, g0 := make([]float64, d), slices.Clone(a.g0)
	kernel.Each(a.rows.workers, len(a.list), func(i int) { f0[a.list[i]] = kernel.Dot(a.residualColumn(i), a.residualColumn(i)) })
	for i := range g0 {
		g0[i] = max(g0[i], 0)
	}
	a.criterion = newCriterion(f0, g0, true, nil)
	for i := range a.alive {
		_, isCandidate := a.placeOf[i]
		a.alive[i] = a.alive[i] && isCandidate
	}
	a.omegas, a.step.h = nil, make([]float64, d)
}

// restoreColumns turns the candidates' columns of the residual R back into columns of G = R + Σ ωωᵀ.
func (a *candidateEngine) restoreColumns() {
	kernel.Each(a.rows.workers, len(a.list), func(i int) {
		for _, w := range a.omegas {
			kernel.Axpy(w[a.list[i]], w, a.residualColumn(i))
		}
	})
}

func (a *candidateEngine) makeExact(context.Context, []int) error {
	kernel.Each(a.rows.workers, len(a.list), func(i int) {
		if p := a.list[i]; a.alive[p] {
			a.setExact(p, kernel.Dot(a.residualColumn(i), a.residualColumn(i)), a.targetNorm[p])
		}
	})
	return nil
}

func (a *candidateEngine) takeFeature(_ context.Context, p int) (*choiceStep, error) {
	root := math.Sqrt(a.g[p])
	omega := slices.Clone(a.residualColumn(a.placeOf[p]))
	column := slices.Clone(omega)
	for _, w := range a.omegas {
		kernel.Axpy(w[p], w, column)
	}
	floats.Scale(1/root, omega)
	s := &a.step
	s.omega, s.column, s.score = omega, column, kernel.Dot(omega, omega)
	s.hErr.reach = roundingBound(a.rows.d) * math.Sqrt(s.score)
	clear(s.h)
	kernel.Each(a.rows.workers, len(a.list), func(i int) {
		delta, q := a.residualColumn(i), a.list[i]
		s.h[q] = kernel.Dot(delta, omega)
		kernel.Axpy(-omega[q], omega, delta)
	})
	a.omegas = append(a.omegas, omega)
	return s, nil
}

// startNextLayer ends the selection: there is no second layer among the candidates.
func (a *candidateEngine) startNextLayer(_ context.Context, excluded []bool) (*criterion, error) {
	a.criterion = newCriterion(make([]float64, a.featureCount), make([]float64, a.featureCount), true, excluded)
	return a.criterion, nil
}

func (a *candidateEngine) scoreUnit() float64 { return 1 / a.rows.unit }

// heldOutErrors returns, for each n, the error of reconstructing the held-out rows from the first n features in order,
// as a share of the sum of squares of these rows. The coefficients of the reconstruction are computed from the sketch
// g, which does not contain the held-out rows. So they are not fitted to these rows, and the errors are not too small.
// held is overwritten. The cost is 2k(r + h)d flops for k features in order, r rows of the sketch and h held-out rows.
func heldOutErrors(workers int, g, held *gram.Matrix, order []int) []stream.Number {
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
