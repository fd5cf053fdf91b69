package eufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// passB goes over M and the state, and leaves N in its place in the state and its rows
// in the polar factor:
//
//	n = y₁/μ + z − (β/μ)·(L·Z) + mV      eq. (31) mended; HUFS has no graph
func (s *solver) passB(ctx context.Context) error {
	t := s.t
	s.polar = linalg.NewPolar(t.k)
	return rows.Each(ctx, t.blocks, func(b int, rec [][]byte) error {
		h := t.rows(b)
		st := t.state(rec[1], h)
		s.pool.strips(h, func(w *worker, lane, from, h int) {
			own := st.cut(t.k, from, from+h)
			if s.products != nil {
				s.products.times(w.lu, fieldZ, b, rec[2], from, own.z)
			}
			for i, z := range own.z {
				own.v[i] = own.y[i]/s.mu + z
				if s.products != nil {
					own.v[i] -= s.beta / s.mu * w.lu[i]
				}
			}
			m := s.strip(w, rec[0], from, h, false)
			kernel.Gemm(w.team, 1, kernel.RowMajor(m, h, t.d, t.d), kernel.RowMajor(s.v, t.d, t.k, t.k), kernel.RowMajor(own.v, h, t.k, t.k))
		})
		return s.polar.Add(kernel.RowMajor(st.v, h, t.k, t.k))
	}, rows.Read(s.m), rows.Modify(s.states), rows.Read(s.products.file()))
}

// penalties are what the graph adds to eq. (13) and (14).
type penalties struct{ objective, split float64 }

// passU goes over the state: U, the polar factor of N, takes the place of the last, and
// Y₁ += μ(Z − U). HUFS's Z moves first, to max(U − Y₁/μ, 0).
func (s *solver) passU(ctx context.Context, step *Step) (penalties, error) {
	t := s.t
	var zu, uu, cross float64
	err := rows.Each(ctx, t.blocks, func(b int, rec [][]byte) error {
		h := t.rows(b)
		st := t.state(rec[0], h)
		s.polar.RowsTo(b, kernel.RowMajor(s.rotated, h, t.k, t.k), kernel.RowMajor(st.v, h, t.k, t.k))
		copy(st.v, st.u)
		copy(st.u, s.rotated)
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
		if s.products != nil {
			s.products.gather(fieldU, b, rec[1], st.u)
		}
		return nil
	}, rows.Modify(s.states), rows.Read(s.products.file()))
	step.ResidualZ = math.Sqrt(zu)
	if err != nil || s.products == nil {
		return penalties{}, err
	}
	ulu, zlu := s.products.traces(uu, cross)
	return penalties{s.beta * ulu, s.beta * zlu}, nil
}

// passEnd computes the figures of the last iteration.
func (s *solver) passEnd(ctx context.Context) error {
	t := s.t
	s.k.clear()
	return rows.Each(ctx, t.blocks, func(b int, rec [][]byte) error {
		st := t.state(rec[2], t.rows(b))
		s.pool.strips(t.rows(b), func(w *worker, lane, from, h int) {
			own := st.cut(t.k, from, from+h)
			t.rowsTo(w.x, rec[0], from, h)
			w.multiply(t.layout, w.p, own.u, s.v, h)
			w.multiply(t.layout, w.old, own.v, s.oldV, h)
			w.left(t.d, h, s.strip(w, rec[1], from, h, false), own.s, &s.k.numbers[lane])
		})
		return nil
	}, t.reading(ctx), rows.Read(s.m), rows.Read(s.states))
}
