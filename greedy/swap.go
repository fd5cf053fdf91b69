package greedy

import (
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

const (
	// exchangeShare: an exchange must win this share of what the dropped feature is worth. It is
	// far above the drift allowed, and far below what anyone would miss.
	exchangeShare = 1e-5
	// mostDrift is the error of U at the chosen features, where it is known to be the identity,
	// from which on everything is computed anew.
	mostDrift = 1e-9
	// leastExchanges are made wherever they win.
	leastExchanges = 2
	// fewNumbers of U are worth no second worker: waking one took longer than the work.
	fewNumbers = 1 << 16
)

// exchanger improves a set S of features by exchanges of one at a time, each the one of all pairs
// that lowers F(S) = ‖B − P_S B‖² most. With P = (G_SS)⁻¹ and E = H − H₍:,S₎PG₍S,:₎ it keeps, for
// each a in S, as rows of length d or c:
//
//	u_a = G₍:,S₎Pe_a   (the products of all features with the part of a that is its own)
//	v_a = H₍:,S₎Pe_a   (the same for the target)
//	w_a = Eᵀv_a
//
// Without a, F is larger by ‖v_a‖²/P_aa, and f and g of Theorem 2 would be
//
//	f′ = f + 2w_a∘u_a/P_aa + ‖v_a‖²·u_a∘u_a/P_aa²,  g′ = g + u_a∘u_a/P_aa,
//
// so that to judge all exchanges takes a few operations for each pair of features. An exchange
// costs one product with H and some kd more.
//
// All numbers are in the units of the engine.
type exchanger struct {
	*memory
	set    []int  // S
	keep   []bool // parallel to set: never leaves
	closed []bool // of features: never joins

	p       []float64 // P, k×k
	gs      []float64 // G₍S,:₎, k×d
	u, v, w []float64 // k×d, k×c, k×d; v is u where H = G
	diag    []float64 // of G
	f, g    []float64
	worth   []float64 // ‖v_a‖²/P_aa
	h       []float64 // products of the residual target with that of the feature that joins
	ranking []trade   // the best of each place, when it was last judged
	left    []float64 // scratch of shift
	right   []float64
	done    int // exchanges made
}

// trade is a feature p for the one at place a of the set, and by how much F falls.
type trade struct {
	a, p int
	gain float64
}

// newExchanger starts from a set whose columns are independent; it takes over m, whose
// recursion it ends.
func newExchanger(m *memory, set []int, keep []bool, forbid []int) (*exchanger, bool) {
	k, d, c := len(set), m.d, m.height()
	m.omegas, m.upsilons = nil, nil
	if k*d < fewNumbers {
		m.workers, m.team = 1, kernel.NewTeam(1)
	}
	x := &exchanger{memory: m, set: slices.Clone(set), keep: keep}
	x.closed = make([]bool, d)
	for _, j := range forbid {
		x.closed[j] = true
	}
	x.p, x.gs = make([]float64, k*k), make([]float64, k*d)
	x.u, x.w = make([]float64, k*d), make([]float64, k*d)
	x.v = x.u
	if !m.target.same {
		x.v = make([]float64, k*c)
	}
	x.f, x.g, x.worth, x.h = make([]float64, d), make([]float64, d), make([]float64, k), make([]float64, d)
	x.ranking = make([]trade, k)
	x.diag = m.gram.Diagonal(m.workers)
	for i := range x.diag {
		x.diag[i] *= m.gUnit
	}
	return x, x.rebuild()
}

// exchangeBytes is what an exchanger of k of d features holds beside G, for c groups or rows of
// the target (0: H = G), and what ordering its set takes.
func exchangeBytes(d, k, c int) int64 {
	height := c
	if c == 0 {
		height = d
	}
	numbers := 3*int64(k)*int64(d) + int64(k)*int64(c) + 4*int64(k)*int64(k) + int64(k)*int64(height) + 6*int64(d)
	return 8*numbers + kernel.TeamBytes(d, d) + Bytes(k, k, height)
}

func (x *exchanger) rowU(a int) []float64 { return x.u[a*x.d : (a+1)*x.d] }
func (x *exchanger) rowW(a int) []float64 { return x.w[a*x.d : (a+1)*x.d] }
func (x *exchanger) rowV(a int) []float64 { c := x.height(); return x.v[a*c : (a+1)*c] }

// rebuild computes all from G and H: some 2k²d + 4kcd flops in matrix products. It reports
// whether the columns of S are independent enough to go by.
func (x *exchanger) rebuild() bool {
	k, d, c := len(x.set), x.d, x.height()
	gs, u := kernel.RowMajor(x.gs, k, d, d), kernel.RowMajor(x.u, k, d, d)
	sub := make([]float64, k*k)
	x.columnsTo(gs, x.set)
	for a := range x.set {
		for b, j := range x.set {
			sub[a*k+b] = x.gs[a*d+j]
		}
	}
	var chol linalg.Cholesky
	if chol.Factor(x.team, kernel.RowMajor(sub, k, k, k)) != nil {
		return false
	}
	chol.SolveTo(x.team, u, gs)
	p := kernel.RowMajor(x.p, k, k, k)
	clear(x.p)
	for a := range k {
		x.p[a*k+a] = 1
	}
	chol.SolveTo(x.team, p, p)
	v := kernel.RowMajor(x.v, k, c, c)
	if !x.target.same {
		x.target.rowsTo(x.team, v, x.hUnit, x.set, 0)
		chol.SolveTo(x.team, v, v)
	}
	clear(x.w)
	for from := 0; from < d; from += residualColumns {
		n := min(residualColumns, d-from)
		rows := x.block(n)
		x.target.rowsTo(x.team, rows, x.hUnit, nil, from)
		kernel.Gemm(x.team, -1, gs.Sub(0, from, k, n).Trans(), v, rows)
		kernel.Each(x.workers, n, func(i int) { x.f[from+i] = kernel.Dot(x.rows[i*c:(i+1)*c], x.rows[i*c:(i+1)*c]) })
		kernel.Gemm(x.team, 1, v, rows.Trans(), kernel.RowMajor(x.w, k, d, d).Sub(0, from, k, n))
	}
	copy(x.g, x.diag)
	kernel.Each(x.workers, tasks(d, colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, d)
		for a := range k {
			for j := from; j < to; j++ {
				x.g[j] -= x.gs[a*d+j] * x.u[a*d+j]
			}
		}
		for j := from; j < to; j++ {
			x.g[j] = max(x.g[j], 0)
		}
	})
	drift := x.drift()
	x.clearSet()
	return drift <= 1e3*mostDrift
}

// drift is how far U is from the identity at the chosen features.
func (x *exchanger) drift() float64 {
	most := 0.0
	for a := range x.set {
		row := x.rowU(a)
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

// clearSet puts the known values in place at the chosen features, and what each is worth.
func (x *exchanger) clearSet() {
	k := len(x.set)
	for a := range x.set {
		u, w, v := x.rowU(a), x.rowW(a), x.rowV(a)
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

// mostExchanges keeps the whole within three times the time of greedy, as counted in
// multiplications that wait for memory: those in matrix products are five times as fast.
// On COIL20, ORL and Isolet about half an exchange a feature fits, which takes most of what there is
// to win, as the best come first.
func (x *exchanger) mostExchanges() int {
	k, d, c := float64(len(x.set)), float64(x.d), float64(x.target.full)
	greedy := k*c*d + k*k*(d+c)/2 + 6*k*d
	set := (2*k*c*d+k*k*d)/5 + k*k*c + k*k*d/2
	one := c*d + 8*k*d + 3*k*c
	return max(leastExchanges, int((1.3*greedy-set)/one))
}

// improve makes exchanges while they win, as many as mostExchanges.
//
// Each is the best that is known: of the places by what was their best gain when last judged,
// the first is judged again, until one is still the first. Once none wins all are judged, so
// that at the end no exchange wins, unless the number was reached.
func (x *exchanger) improve(ctx context.Context) error {
	most := x.mostExchanges()
	fresh, all := true, true // computed afresh since the last exchange; to be judged, all
	for x.done < most {
		if err := ctx.Err(); err != nil {
			return err
		}
		var best trade
		if all {
			best = x.best()
		} else if best = x.likely(); best.p < 0 {
			all = true
			continue
		}
		if best.p < 0 {
			return nil
		}
		made := x.make(best)
		if made {
			x.done++
		} else if fresh {
			return nil // what is computed afresh cannot be improved upon
		}
		all = !made
		if fresh = !made || x.drift() > mostDrift; !fresh {
			x.clearSet()
		} else if !x.rebuild() {
			return nil
		}
		if made {
			x.ranking[best.a] = x.bestFor(best.a)
		}
	}
	return nil
}

// likely judges places again, the most promising first, until one keeps its promise.
func (x *exchanger) likely() trade {
	for range x.ranking {
		best := x.first()
		if best.p < 0 {
			return best
		}
		now := x.bestFor(best.a)
		x.ranking[best.a] = now
		if now.p >= 0 && now.gain >= promised*best.gain {
			return now
		}
	}
	return x.first()
}

// promised is the share of an earlier gain with which a place is not passed over: gains change
// little by an exchange elsewhere, and the next in line may have lost as much.
const promised = 0.8

// best judges all exchanges: p is -1 where none wins.
func (x *exchanger) best() trade {
	kernel.Each(x.workers, len(x.set), func(a int) { x.ranking[a] = x.bestFor(a) })
	return x.first()
}

// first is the best of the ranking: of equal ones the lowest columns win.
func (x *exchanger) first() trade {
	best := trade{a: -1, p: -1}
	for a, e := range x.ranking {
		if e.p < 0 {
			continue
		}
		more, even := e.gain > best.gain*(1+tieShare), e.gain >= best.gain*(1-tieShare)
		if best.p < 0 || more || even && (e.p < best.p || e.p == best.p && x.set[a] < x.set[best.a]) {
			best = e
		}
	}
	return best
}

// bestFor is the best exchange for the feature at place a.
func (x *exchanger) bestFor(a int) trade {
	e := trade{a: a, p: -1}
	if x.keep[a] {
		return e
	}
	inverse, worth := 1/x.p[a*len(x.set)+a], x.worth[a]
	square := worth / inverse // ‖v_a‖²
	bar := worth * (1 + exchangeShare)
	score := bar
	u, w := x.rowU(a), x.rowW(a)
	f, g := x.f[:len(u)], x.g[:len(u)]
	w = w[:len(u)]
	for j, own := range u {
		part := own * inverse
		fj, gj := f[j]+part*(2*w[j]+square*part), g[j]+own*part
		// Most fail here, without a division.
		if fj > bar*gj && gj > exhaustedShare*x.diag[j] && !x.closed[j] {
			e.p, score = j, fj/gj
			bar = score * (1 + tieShare)
		}
	}
	e.gain = score - worth
	return e
}
