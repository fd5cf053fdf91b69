package eufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Indices of the sums over rows that passes compute. x, e and p are rows of X, E and UVᵀ, see the package comment.
const (
	sumResiduals    = iota // Σ ‖x − p‖ of the previous iteration
	sumSplitSquares        // Σ ‖x − p − e‖² of the previous iteration
	sumE                   // Σ ‖e‖
)

// writeInitialState writes the first state of the rows: Z = U and Y₁ = 0, see the package comment. The first pass A
// writes M.
func (s *solver) writeInitialState(ctx context.Context) error {
	t := s.t
	return rows.EachBlock(ctx, t.blocks, func(b int, rec [][]byte) error {
		h := t.rowsOfBlock(b)
		st := t.viewState(rec[0], h)
		s.p.start.writeStartRows(st.u, b, rec[1], 0, h)
		copy(st.z, st.u)
		clear(st.y)
		clear(st.v)
		clear(st.s)
		if s.multiplier != nil {
			s.multiplier.gatherBlock(argumentU, b, rec[2], st.u)
		}
		return nil
	}, rows.WritePass(s.states), rows.ReadPass(s.p.start.labelFile()), rows.ReadPass(s.multiplier.graphFile()))
}

// passA goes over X, M and the state of the rows. It updates M, in EUFS also Z, and computes K = MᵀU. For each row it
// first computes q, the row of X − UVᵀ + Y₂/μ, from x, from the old row m′ of M, from p, the row of UVᵀ, and from
// r = μ_old/μ. Then w is q, shortened to length 1/μ if it is longer, and e is the row of E:
//
//	q = x + r·m′ − (1+r)·p
//	m = w + p                                e = q − w
//	z = max(u − y₁/μ − (β/μ)·(L·U), 0)       eq. (30), with β/μ for the printed β
//	K += mᵀu
//
// E, the rows q, and Y₂ are not stored, because M = X − E + Y₂/μ and Y₂ = μ_old·(M − UVᵀ). The pass also sums the rows
// of X − UVᵀ for the objective of the previous iteration. It returns Σ‖e‖.
func (s *solver) passA(ctx context.Context, first bool) (float64, error) {
	t := s.t
	s.k.clearSums()
	mode := stream.ScratchModify
	if first {
		mode = stream.ScratchWrite
	}
	err := t.eachRecord(ctx, func(b int, rec [][]byte) error {
		st := t.viewState(rec[2], t.rowsOfBlock(b))
		s.pool.eachStrip(t.rowsOfBlock(b), func(w *passWorker, lane, from, h int) {
			own := st.viewRows(t.k, from, from+h)
			if s.opt.Method == EUFS {
				s.updateZ(w, own, b, rec[3], from)
			}
			sums := &s.k.numbers[lane]
			t.rowsTo(w.x, rec[0], from, h)
			w.multiplyUV(t.layout, w.p, own.u, s.v, h)
			m := s.loadStripOfM(w, rec[1], from, h, first)
			if !first {
				w.multiplyUV(t.layout, w.old, own.v, s.oldV, h)
				w.addResiduals(t.d, h, m, own.s, sums)
			}
			s.updateE(w, m, own, sums)
			s.storeStripOfM(m, rec[1], from)
			kernel.Gemm(w.team, 1, kernel.RowMajor(m, h, t.d, t.d).Trans(), kernel.RowMajor(own.u, h, t.k, t.k), s.k.matrixOfLane(lane))
		})
		if s.multiplier != nil {
			s.multiplier.gatherBlock(argumentZ, b, rec[3], st.z)
		}
		return nil
	}, s.m.Pass(mode), rows.ModifyPass(s.states), rows.ReadPass(s.multiplier.graphFile()))
	return s.k.sumNumberOverLanes(sumE), err
}

func (s *solver) updateZ(w *passWorker, st rowState, block int, record []byte, from int) {
	if s.multiplier != nil {
		s.multiplier.laplacianTo(w.lu, argumentU, block, record, from, st.u)
	}
	for i, u := range st.u {
		v := u - st.y[i]/s.mu
		if s.multiplier != nil {
			v -= s.beta / s.mu * w.lu[i]
		}
		st.z[i] = max(v, 0)
	}
}

// updateE turns rows of X, M and UVᵀ (w.x, m and w.p) into rows of the new M, and stores the lengths of the rows of E.
func (s *solver) updateE(w *passWorker, m []float64, st rowState, sums *[sumCount]float64) {
	d := s.t.d
	for i := range st.s {
		x, p, m := w.x[i*d:][:d], w.p[i*d:][:d], m[i*d:][:d]
		length := s.mu * math.Sqrt(updateQ(x, p, m, s.ratio))
		factor := 1.0
		st.s[i] = 0
		if length > 1 {
			factor = 1 / length
			st.s[i] = length - 1
			sums[sumE] += (length - 1) / s.mu
		}
		for j, q := range x {
			m[j] = float64(factor*q) + p[j]
		}
	}
}

// updateQ writes q = x + r·m − (1+r)·p to x, and returns ‖q‖².
func updateQ(x, p, m []float64, r float64) float64 {
	p, m = p[:len(x)], m[:len(x)]
	var a, b, c, d float64
	j := 0
	for ; j+4 <= len(x); j += 4 {
		q0 := x[j] + float64(r*m[j]) - float64((1+r)*p[j])
		q1 := x[j+1] + float64(r*m[j+1]) - float64((1+r)*p[j+1])
		q2 := x[j+2] + float64(r*m[j+2]) - float64((1+r)*p[j+2])
		q3 := x[j+3] + float64(r*m[j+3]) - float64((1+r)*p[j+3])
		x[j], x[j+1], x[j+2], x[j+3] = q0, q1, q2, q3
		a += float64(q0 * q0)
		b += float64(q1 * q1)
		c += float64(q2 * q2)
		d += float64(q3 * q3)
	}
	for ; j < len(x); j++ {
		q := x[j] + float64(r*m[j]) - float64((1+r)*p[j])
		x[j] = q
		a += float64(q * q)
	}
	return a + b + (c + d)
}

func (w *passWorker) multiplyUV(l layout, dst, u, v []float64, rowCount int) {
	clear(dst[:rowCount*l.d])
	kernel.Gemm(w.team, 1, kernel.RowMajor(u, rowCount, l.k, l.k), kernel.RowMajor(v, l.d, l.k, l.k).Trans(), kernel.RowMajor(dst, rowCount, l.d, l.d))
}

// addResiduals adds up the residuals of the previous iteration, x − p and x − p − e, with e = s·w and w = m − old. old
// is the row of UVᵀ from which M was made.
func (w *passWorker) addResiduals(d, h int, m, s []float64, sums *[sumCount]float64) {
	for i := range h {
		square, splitSquare := rowResiduals(w.x[i*d:][:d], w.p[i*d:][:d], m[i*d:][:d], w.old[i*d:][:d], s[i])
		sums[sumResiduals] += math.Sqrt(square)
		sums[sumSplitSquares] += splitSquare
	}
}

func rowResiduals(x, p, m, old []float64, scaleOfE float64) (square, splitSquare float64) {
	p, m, old = p[:len(x)], m[:len(x)], old[:len(x)]
	var square1, splitSquare1 float64
	j := 0
	for ; j+2 <= len(x); j += 2 {
		a, b := x[j]-p[j], x[j+1]-p[j+1]
		c, d := a-float64(scaleOfE*(m[j]-old[j])), b-float64(scaleOfE*(m[j+1]-old[j+1]))
		square += float64(a * a)
		square1 += float64(b * b)
		splitSquare += float64(c * c)
		splitSquare1 += float64(d * d)
	}
	for ; j < len(x); j++ {
		a := x[j] - p[j]
		c := a - float64(scaleOfE*(m[j]-old[j]))
		square += float64(a * a)
		splitSquare += float64(c * c)
	}
	return square + square1, splitSquare + splitSquare1
}

// loadStripOfM returns rows [from, from+h) of M as float64. It is a part of rec, or a copy if M is kept in float32.
func (s *solver) loadStripOfM(w *passWorker, rec []byte, from, h int, first bool) []float64 {
	d := s.t.d
	var m []float64
	if s.opt.Float32 {
		m = w.m[:h*d]
		if !first {
			for i, v := range rows.ViewNumbers[float32](rec)[from*d:][:h*d] {
				m[i] = float64(v)
			}
		}
	} else {
		m = rows.ViewNumbers[float64](rec)[from*d:][:h*d]
	}
	if first { // nothing has been written yet: r is 0, and 0·m must be 0
		clear(m)
	}
	return m
}

func (s *solver) storeStripOfM(m []float64, record []byte, from int) {
	if !s.opt.Float32 {
		return
	}
	to := rows.ViewNumbers[float32](record)[from*s.t.d:]
	for i, v := range m {
		to[i] = float32(v)
		m[i] = float64(to[i])
	}
}

// passB goes over M and the state. It stores N in the state, and passes the rows of N to the polar decomposition. With
// the rows y₁, z and m of Y₁, Z and M, see the package comment, row n of N is
//
//	n = y₁/μ + z − (β/μ)·(L·Z) + mV      eq. (31) mended; HUFS has no graph
func (s *solver) passB(ctx context.Context) error {
	t := s.t
	s.polar = linalg.NewPolar(t.k)
	return rows.EachBlock(ctx, t.blocks, func(b int, rec [][]byte) error {
		h := t.rowsOfBlock(b)
		st := t.viewState(rec[1], h)
		s.pool.eachStrip(h, func(w *passWorker, lane, from, h int) {
			own := st.viewRows(t.k, from, from+h)
			if s.multiplier != nil {
				s.multiplier.laplacianTo(w.lu, argumentZ, b, rec[2], from, own.z)
			}
			for i, z := range own.z {
				own.v[i] = own.y[i]/s.mu + z
				if s.multiplier != nil {
					own.v[i] -= s.beta / s.mu * w.lu[i]
				}
			}
			m := s.loadStripOfM(w, rec[0], from, h, false)
			kernel.Gemm(w.team, 1, kernel.RowMajor(m, h, t.d, t.d), kernel.RowMajor(s.v, t.d, t.k, t.k), kernel.RowMajor(own.v, h, t.k, t.k))
		})
		return s.polar.Add(kernel.RowMajor(st.v, h, t.k, t.k))
	}, rows.ReadPass(s.m), rows.ModifyPass(s.states), rows.ReadPass(s.multiplier.graphFile()))
}

// graphTerms has the terms that the graph adds to the objective, eq. (13), and to its split form, eq. (14).
type graphTerms struct{ objective, split float64 }

// passU goes over the state, with the symbols of the package comment. It replaces U by the polar factor of N, stores
// the previous U in place of N, and adds μ(Z − U) to Y₁. In HUFS it first sets Z = max(U − Y₁/μ, 0).
func (s *solver) passU(ctx context.Context, step *Step) (graphTerms, error) {
	t := s.t
	var zu, uu, cross float64
	err := rows.EachBlock(ctx, t.blocks, func(b int, rec [][]byte) error {
		h := t.rowsOfBlock(b)
		st := t.viewState(rec[0], h)
		s.polar.RowsTo(b, kernel.RowMajor(s.polarRows, h, t.k, t.k), kernel.RowMajor(st.v, h, t.k, t.k))
		copy(st.v, st.u)
		copy(st.u, s.polarRows)
		for i, u := range st.u {
			if s.opt.Method == HUFS {
				st.z[i] = max(u-st.y[i]/s.mu, 0)
			}
			gap := st.z[i] - u
			st.y[i] += s.mu * gap
			zu += float64(gap * gap)
			uu += float64(u * u)
			cross += float64(st.z[i] * u)
		}
		if s.multiplier != nil {
			s.multiplier.gatherBlock(argumentU, b, rec[1], st.u)
		}
		return nil
	}, rows.ModifyPass(s.states), rows.ReadPass(s.multiplier.graphFile()))
	step.ResidualZ = math.Sqrt(zu)
	if err != nil || s.multiplier == nil {
		return graphTerms{}, err
	}
	ulu, zlu := s.multiplier.laplacianTraces(uu, cross)
	return graphTerms{s.beta * ulu, s.beta * zlu}, nil
}

func (s *solver) computeFinalResiduals(ctx context.Context) error {
	t := s.t
	s.k.clearSums()
	return t.eachRecord(ctx, func(b int, rec [][]byte) error {
		st := t.viewState(rec[2], t.rowsOfBlock(b))
		s.pool.eachStrip(t.rowsOfBlock(b), func(w *passWorker, lane, from, h int) {
			own := st.viewRows(t.k, from, from+h)
			t.rowsTo(w.x, rec[0], from, h)
			w.multiplyUV(t.layout, w.p, own.u, s.v, h)
			w.multiplyUV(t.layout, w.old, own.v, s.oldV, h)
			w.addResiduals(t.d, h, s.loadStripOfM(w, rec[1], from, h, false), own.s, &s.k.numbers[lane])
		})
		return nil
	}, rows.ReadPass(s.m), rows.ReadPass(s.states))
}
