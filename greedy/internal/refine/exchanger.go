package refine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

const (
	// exchangeShare: the gain of an exchange must be at least this share of the worth of the dropped feature, i.e. of the
	// rise of the error F without it. It is far above maxDrift, so that rounding errors cause no exchange.
	exchangeShare = 1e-5
	// maxDrift is the largest allowed rounding error of U, the matrix with the rows u_a (see exchanger), in the columns of
	// the chosen features, which should form the identity matrix. After a larger error, everything is recomputed.
	maxDrift = 1e-9
	// minExchanges is the number of exchanges that are always allowed, however long they take.
	minExchanges = 2
	// fewNumbers: if the matrix U of an exchanger has fewer numbers than this, one worker is used, because waking a second
	// worker took longer than the work.
	fewNumbers = 1 << 16
)

// exchanger improves a set S of features by exchanging one at a time. Each exchange is the pair of features that lowers
// F(S) = ‖B − P_S B‖² most, P_S being the projection onto the columns in S. With P = (G_SS)⁻¹ and E = H − H₍:,S₎PG₍S,:₎
// it keeps for each a in S the following rows of length d or c, e_a being a unit vector:
//
//	u_a = G₍:,S₎Pe_a   (products of all features with r/‖r‖², r the part of feature a orthogonal to the rest of S)
//	v_a = H₍:,S₎Pe_a   (the same products for the columns of the target)
//	w_a = Eᵀv_a
//
// Without a, F is larger by ‖v_a‖²/P_aa, and f and g of Theorem 2 would be
//
//	f′ = f + 2w_a∘u_a/P_aa + ‖v_a‖²·u_a∘u_a/P_aa²,  g′ = g + u_a∘u_a/P_aa,
//
// So judging all exchanges costs a few operations for each pair of features. Making one costs one product with H and a
// few times kd operations. All numbers are in the units of the engine.
type exchanger struct {
	engine    *engine.Gram
	set       []int  // S
	keep      []bool // parallel to set: never dropped
	forbidden []bool // by feature: never added

	p           []float64 // P, k×k
	gs          []float64 // G₍S,:₎, k×d
	u, v, w     []float64 // k×d, k×c, k×d; v is u if H = G
	diag        []float64 // of G
	f, g        []float64
	worth       []float64      // ‖v_a‖²/P_aa
	bestByPlace []exchangePair // for each place of the set, its best exchange when it was last judged
	exchanges   int            // number made

	sub                      []float64 // G_SS, k×k
	chol                     linalg.Cholesky
	ua, va, wa               []float64 // rows of u, v and w of the feature that leaves; va is ua if H = G
	delta, gamma, h          []float64 // of the feature that joins, with h = Eᵀγ; gamma is delta if H = G
	ratio, cross, overlap, t []float64 // coefficients of an exchange, one for each place of the set
	leftFactor, rightFactor  []float64 // scratch of addRankOneTerms
}

// exchangePair is an exchange that puts feature p at place a of the set, and lowers F by gain.
type exchangePair struct {
	a, p int
	gain float64
}

// newExchanger returns an exchanger that starts from a set of features, and false if their columns are not independent.
// It changes m, which must not be used to choose further features.
func newExchanger(m *engine.Gram, set []int, keep []bool, forbid []int) (*exchanger, bool) {
	k, d, c := len(set), m.D, m.TargetHeight()
	m.Omegas, m.Upsilons = nil, nil
	if k*d < fewNumbers {
		m.Workers, m.Team = 1, kernel.NewTeam(1)
	}
	x := &exchanger{engine: m, set: slices.Clone(set), keep: keep}
	x.forbidden = make([]bool, d)
	for _, j := range forbid {
		x.forbidden[j] = true
	}
	x.layOut(nil, k, d, c, m.Target.IsGram)
	floats.ScaleTo(x.diag, m.GUnit, m.Matrix.Diagonal(m.Workers))
	return x, x.recomputeAll()
}

func (x *exchanger) layOut(l *room.Layout, k, d, c int, isGram bool) {
	numbers := func(n int) []float64 { return room.Slice[float64](l, n) }
	x.p, x.sub, x.gs, x.u, x.w = numbers(k*k), numbers(k*k), numbers(k*d), numbers(k*d), numbers(k*d)
	x.chol.LayOut(l, k)
	x.diag, x.f, x.g, x.h, x.ua, x.wa, x.delta = numbers(d), numbers(d), numbers(d), numbers(d), numbers(d), numbers(d), numbers(d)
	x.v, x.va, x.gamma = x.u, x.ua, x.delta
	if !isGram {
		x.v, x.va, x.gamma = numbers(k*c), numbers(c), numbers(c)
	}
	x.worth, x.ratio, x.cross, x.overlap, x.t = numbers(k), numbers(k), numbers(k), numbers(k), numbers(k)
	x.bestByPlace = room.Slice[exchangePair](l, k)
	x.leftFactor, x.rightFactor = numbers(maxTerms*k), numbers(maxTerms*max(d, c))
}

// ExchangeBytes returns the memory of an exchanger for k of d features in addition to G, for a target of c groups or
// rows (0 if H = G), including the memory for ordering its set.
func ExchangeBytes(d, k, c int) int64 {
	return room.Measure(func(l *room.Layout) {
		height := cmp.Or(c, d)
		new(exchanger).layOut(l, k, d, height, c == 0)
		room.Slice[float64](l, k*c) // scratch of target.Matrix.WriteColumns
		l.Add(kernel.TeamBytes(d, d))
		l.Phase(func() {
			layOutOrdering(l, k, height)
			engine.LayOutChoice(l, k, k, height)
			room.Slice[float64](l, k*height) // the vectors υ
		})
		l.Phase(func() { engine.LayOutSelection(l, d, 0) })
	})
}

func (x *exchanger) rowOfU(a int) []float64 { return x.u[a*x.engine.D : (a+1)*x.engine.D] }

func (x *exchanger) rowOfW(a int) []float64 { return x.w[a*x.engine.D : (a+1)*x.engine.D] }

func (x *exchanger) rowOfV(a int) []float64 { c := x.engine.TargetHeight(); return x.v[a*c : (a+1)*c] }

// recomputeAll computes everything from G and H, in about 2k²d + 4kcd flops in matrix products. It reports whether the
// columns of S are independent enough.
func (x *exchanger) recomputeAll() bool {
	k, d, c := len(x.set), x.engine.D, x.engine.TargetHeight()
	gs, u := kernel.RowMajor(x.gs, k, d, d), kernel.RowMajor(x.u, k, d, d)
	x.engine.ColumnsTo(gs, x.set)
	for a := range x.set {
		for b, j := range x.set {
			x.sub[a*k+b] = x.gs[a*d+j]
		}
	}
	if x.chol.Factor(x.engine.Team, kernel.RowMajor(x.sub, k, k, k)) != nil {
		return false
	}
	x.chol.SolveTo(x.engine.Team, u, gs)
	p := kernel.RowMajor(x.p, k, k, k)
	clear(x.p)
	for a := range k {
		x.p[a*k+a] = 1
	}
	x.chol.SolveTo(x.engine.Team, p, p)
	v := kernel.RowMajor(x.v, k, c, c)
	if !x.engine.Target.IsGram {
		x.engine.Target.WriteColumns(x.engine.Team, v, x.engine.HUnit, x.set, 0)
		x.chol.SolveTo(x.engine.Team, v, v)
	}
	clear(x.w)
	for from := 0; from < d; from += target.ResidualColumns {
		n := min(target.ResidualColumns, d-from)
		rows := x.engine.TargetColumnScratch(n)
		x.engine.Target.WriteColumns(x.engine.Team, rows, x.engine.HUnit, nil, from)
		kernel.Gemm(x.engine.Team, -1, gs.Sub(0, from, k, n).Trans(), v, rows)
		kernel.Each(x.engine.Workers, n, func(i int) {
			x.f[from+i] = kernel.Dot(x.engine.TargetColumns[i*c:(i+1)*c], x.engine.TargetColumns[i*c:(i+1)*c])
		})
		kernel.Gemm(x.engine.Team, 1, v, rows.Trans(), kernel.RowMajor(x.w, k, d, d).Sub(0, from, k, n))
	}
	copy(x.g, x.diag)
	kernel.Each(x.engine.Workers, tasks.TaskCount(d, tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, d)
		for a := range k {
			for j := from; j < to; j++ {
				x.g[j] -= x.gs[a*d+j] * x.u[a*d+j]
			}
		}
		for j := from; j < to; j++ {
			x.g[j] = max(x.g[j], 0)
		}
	})
	drift := x.identityDrift()
	x.setEntriesOfChosen()
	return drift <= 1e3*maxDrift
}

// identityDrift returns the largest error of U in the columns of the chosen features, which should form the identity.
func (x *exchanger) identityDrift() float64 {
	most := 0.0
	for a := range x.set {
		row := x.rowOfU(a)
		for b, i := range x.set {
			want := 0.0
			if a == b {
				want = 1
			}
			most = max(most, math.Abs(row[i]-want))
		}
	}
	return most
}

func (x *exchanger) setEntriesOfChosen() {
	k := len(x.set)
	for a := range x.set {
		u, w, v := x.rowOfU(a), x.rowOfW(a), x.rowOfV(a)
		for b, i := range x.set {
			u[i], w[i] = 0, 0
			if a == b {
				u[i] = 1
			}
		}
		x.worth[a] = kernel.Dot(v, v) / x.p[a*k+a]
	}
	for _, i := range x.set {
		x.f[i], x.g[i] = 0, 0
	}
}

// maxExchanges returns the number of exchanges that keeps the total time within three times the time of greedy. Time is
// counted in multiplications that wait for memory; multiplications in matrix products are five times as fast. On
// COIL20, ORL and Isolet there is time for about half as many exchanges as chosen features. They win most of the
// possible gain, because the best exchanges come first.
func (x *exchanger) maxExchanges() int {
	k, d, c := float64(len(x.set)), float64(x.engine.D), float64(x.engine.Target.FullHeight)
	greedy := k*c*d + k*k*(d+c)/2 + 6*k*d
	set := (2*k*c*d+k*k*d)/5 + k*k*c + k*k*d/2
	one := c*d + 8*k*d + 3*k*c
	return max(minExchanges, int((1.3*greedy-set)/one))
}

// makeExchanges makes exchanges as long as they lower F, at most maxExchanges of them.
//
// Each exchange is the best one known. To judge a place of the set means to find the best feature to put there. The
// place with the highest earlier gain is judged again, until the same place stays first. If no exchange found in this
// way lowers F, all places are judged. So at the end no exchange lowers F, unless the limit was reached.
func (x *exchanger) makeExchanges(ctx context.Context) error {
	most := x.maxExchanges()
	isFresh, judgeAll := true, true // isFresh: nothing has been exchanged since all was computed afresh
	for x.exchanges < most {
		if err := ctx.Err(); err != nil {
			return err
		}
		var best exchangePair
		if judgeAll {
			best = x.bestOfAllPlaces()
		} else if best = x.likelyBestExchange(); best.p < 0 {
			judgeAll = true
			continue
		}
		if best.p < 0 {
			return nil
		}
		isMade := x.tryExchange(best)
		if isMade {
			x.exchanges++
		} else if isFresh {
			return nil // everything is already as accurate as it can be
		}
		judgeAll = !isMade
		if isFresh = !isMade || x.identityDrift() > maxDrift; !isFresh {
			x.setEntriesOfChosen()
		} else if !x.recomputeAll() {
			return nil
		}
		if isMade {
			x.bestByPlace[best.a] = x.bestExchangeFor(best.a)
		}
	}
	return nil
}

// likelyBestExchange judges places again, the most promising first, until one of them keeps most of its gain.
func (x *exchanger) likelyBestExchange() exchangePair {
	for range x.bestByPlace {
		best := x.bestRanked()
		if best.p < 0 {
			return best
		}
		now := x.bestExchangeFor(best.a)
		x.bestByPlace[best.a] = now
		if now.p >= 0 && now.gain >= promiseShare*best.gain {
			return now
		}
	}
	return x.bestRanked()
}

// promiseShare is the share of its earlier gain that a place must keep to be chosen at once. An exchange elsewhere
// changes gains little, and the next place in line may have lost as much.
const promiseShare = 0.8

func (x *exchanger) bestOfAllPlaces() exchangePair {
	kernel.Each(x.engine.Workers, len(x.set), func(a int) { x.bestByPlace[a] = x.bestExchangeFor(a) })
	return x.bestRanked()
}

// bestRanked returns the best exchange in bestByPlace. Among tied exchanges it prefers the lowest added column, and
// then the lowest dropped column.
func (x *exchanger) bestRanked() exchangePair {
	best := exchangePair{a: -1, p: -1}
	for a, e := range x.bestByPlace {
		if e.p < 0 {
			continue
		}
		more, even := e.gain > best.gain*(1+engine.TieShare), e.gain >= best.gain*(1-engine.TieShare)
		if best.p < 0 || more || even && (e.p < best.p || e.p == best.p && x.set[a] < x.set[best.a]) {
			best = e
		}
	}
	return best
}

func (x *exchanger) bestExchangeFor(place int) exchangePair {
	e := exchangePair{a: place, p: -1}
	if x.keep[place] {
		return e
	}
	inverse, worth := 1/x.p[place*len(x.set)+place], x.worth[place]
	square := worth / inverse // ‖v_a‖²
	bar := worth * (1 + exchangeShare)
	score := bar
	u, w := x.rowOfU(place), x.rowOfW(place)
	f, g := x.f[:len(u)], x.g[:len(u)]
	w = w[:len(u)]
	for j, own := range u {
		part := own * inverse
		fj, gj := f[j]+part*(2*w[j]+square*part), g[j]+own*part
		// Most features fail here, without a division.
		if fj > bar*gj && gj > engine.ExhaustedShare*x.diag[j] && !x.forbidden[j] {
			e.p, score = j, fj/gj
			bar = score * (1 + engine.TieShare)
		}
	}
	e.gain = score - worth
	return e
}
