package eufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

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
			m := s.loadStrip(w, rec[0], from, h, false)
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
	s.k.clearAll()
	return rows.EachBlock(ctx, t.blocks, func(b int, rec [][]byte) error {
		st := t.viewState(rec[2], t.rowsOfBlock(b))
		s.pool.eachStrip(t.rowsOfBlock(b), func(w *passWorker, lane, from, h int) {
			own := st.viewRows(t.k, from, from+h)
			t.rowsTo(w.x, rec[0], from, h)
			w.multiplyUV(t.layout, w.p, own.u, s.v, h)
			w.multiplyUV(t.layout, w.old, own.v, s.oldV, h)
			w.addResiduals(t.d, h, s.loadStrip(w, rec[1], from, h, false), own.s, &s.k.numbers[lane])
		})
		return nil
	}, t.startPass(ctx), rows.ReadPass(s.m), rows.ReadPass(s.states))
}
