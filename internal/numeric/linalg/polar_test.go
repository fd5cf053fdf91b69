package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// conditioned is n×l with singular values from 1 down to 1/cond, evenly in the logarithm,
// along random directions.
func conditioned(n, l int, cond float64, rnd *rand.Rand) *mat.Dense {
	orthonormal := func(rows int) *mat.Dense {
		var qr mat.QR
		qr.Factorize(dense2(random(kernel.RowMajor(make([]float64, rows*l), rows, l, l), rnd)))
		var q mat.Dense
		qr.QTo(&q)
		return mat.DenseCopyOf(q.Slice(0, rows, 0, l))
	}
	u, v := orthonormal(n), orthonormal(l)
	for j := range l {
		s := math.Pow(cond, -float64(j)/float64(max(1, l-1)))
		for i := range n {
			u.Set(i, j, u.At(i, j)*s)
		}
	}
	var a mat.Dense
	a.Mul(u, v.T())
	return &a
}

// polarOf runs both passes over chunks of h rows, the second in reverse order.
func polarOf(t *testing.T, a *mat.Dense, h int) (*Polar, *mat.Dense) {
	t.Helper()
	n, l := a.Dims()
	p := NewPolar(l)
	rows := kernel.RowMajor(a.RawMatrix().Data, n, l, l)
	var starts []int
	for i := 0; i < n; i += h {
		must.Do(t, p.Add(rows.Sub(i, 0, min(h, n-i), l)))
		starts = append(starts, i)
	}
	must.Do(t, p.Factor())
	out := mat.NewDense(n, l, nil)
	for k := len(starts) - 1; k >= 0; k-- {
		i := starts[k]
		dst := layouts["columns"](min(h, n-i), l)
		p.RowsTo(k, dst, rows.Sub(i, 0, min(h, n-i), l))
		checkGuards(t, dst)
		each(dst, func(r, j int, v *float64) { out.Set(i+r, j, *v) })
	}
	return p, out
}

// thinSVD is gonum's A = U·Σ·Vᵀ.
func thinSVD(t *testing.T, a *mat.Dense) (u *mat.Dense, sigma []float64, v *mat.Dense) {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		t.Fatal("gonum's SVD failed")
	}
	u, v = new(mat.Dense), new(mat.Dense)
	svd.UTo(u)
	svd.VTo(v)
	return u, svd.Values(nil), v
}

// offOrthonormal is the largest entry of |PᵀP − I|.
func offOrthonormal(p *mat.Dense) float64 {
	var g mat.Dense
	g.Mul(p.T(), p)
	var off float64
	l, _ := g.Dims()
	for i := range l {
		for j := range l {
			off = max(off, math.Abs(g.At(i, j)-identity(i, j)))
		}
	}
	return off
}

// identity is the entry of the identity matrix.
func identity(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

func TestPolar(t *testing.T) {
	for _, size := range []struct{ n, l int }{{1, 1}, {7, 1}, {5, 5}, {60, 6}, {301, 10}} {
		for _, cond := range []float64{1, 1e4, 1e8, 1e12, 1e15} {
			n, l := size.n, size.l
			a := conditioned(n, l, cond, rand.New(rand.NewPCG(uint64(n), uint64(l))))
			u, sigma, v := thinSVD(t, a)
			var want mat.Dense
			want.Mul(u, v.T())
			for _, h := range []int{1, l - 1, l, l + 1, 64, n} {
				if h < 1 {
					continue
				}
				t.Run(fmt.Sprintf("n=%d/l=%d/cond=%g/h=%d", n, l, cond, h), func(t *testing.T) {
					p, got := polarOf(t, a, h)
					// Three products of reflections, l of them each: some 3·l roundings,
					// which add up as their root does.
					off := 8 * math.Sqrt(3*float64(l)) * 0x1p-53 * math.Sqrt(float64(max(l, 4)))
					if d := offOrthonormal(got); d > off {
						t.Errorf("off orthonormal by %g, want %g", d, off)
					}
					// A QR factorization is exact for A + E, ‖E‖ ≤ some l·2⁻⁵³·‖A‖, and so
					// is gonum's SVD: each factor is off by ‖E‖/σ_l.
					bound := 8 * float64(l) * 0x1p-53 * sigma[0] / sigma[l-1]
					var diff mat.Dense
					diff.Sub(got, &want)
					if d := mat.Norm(&diff, 2); d > bound+off {
						t.Errorf("off gonum's U·Vᵀ by %g, want %g", d, bound)
					}
					for i, s := range p.SingularValues() {
						if math.Abs(s-sigma[i]) > float64(l)*0x1p-50*sigma[0] {
							t.Errorf("singular value %d is %g, by gonum %g", i, s, sigma[i])
						}
					}
					if cond < 1e12 && p.Rank() != l {
						t.Errorf("rank %d, want %d", p.Rank(), l)
					}
				})
			}
		}
	}
}

// TestPolarDeficient: the factor is orthonormal all the same, and is U·Vᵀ on A's row
// space.
func TestPolarDeficient(t *testing.T) {
	const n, l, rank = 90, 6, 4
	rnd := rand.New(rand.NewPCG(5, 6))
	thin := conditioned(n, rank, 10, rnd)
	var a mat.Dense
	a.Mul(thin, dense2(random(kernel.RowMajor(make([]float64, rank*l), rank, l, l), rnd)))
	u, _, v := thinSVD(t, &a)
	for _, m := range []*mat.Dense{&a, mat.NewDense(n, l, nil)} {
		for _, h := range []int{1, 5, 6, 40, n} {
			p, got := polarOf(t, m, h)
			if d := offOrthonormal(got); d > 1e-14 {
				t.Errorf("h=%d: off orthonormal by %g", h, d)
			}
			if m != &a {
				if p.Rank() != 0 {
					t.Errorf("h=%d: rank %d of the zero matrix", h, p.Rank())
				}
				continue
			}
			if p.Rank() != rank {
				t.Errorf("h=%d: rank %d, want %d", h, p.Rank(), rank)
			}
			var on mat.Dense // P·V on the row space is U
			on.Mul(got, v.Slice(0, l, 0, rank))
			on.Sub(&on, u.Slice(0, n, 0, rank))
			if d := mat.Norm(&on, 2); d > 1e-12 {
				t.Errorf("h=%d: off U on the row space by %g", h, d)
			}
		}
	}
}

func TestPolarScale(t *testing.T) {
	a := conditioned(50, 4, 100, rand.New(rand.NewPCG(7, 8)))
	_, want := polarOf(t, a, 7)
	for _, exp := range []int{-900, 900} {
		var b mat.Dense
		b.Apply(func(_, _ int, v float64) float64 { return math.Ldexp(v, exp) }, a)
		_, got := polarOf(t, &b, 7)
		var diff mat.Dense
		diff.Sub(got, want)
		// Cond·l·2⁻⁵⁰, as above: roundings differ where a norm is scaled.
		if d := mat.Norm(&diff, 2); d > 100*4*0x1p-50 {
			t.Errorf("times 2^%d: off by %g", exp, d)
		}
	}
}

func TestPolarErrors(t *testing.T) {
	p := NewPolar(3)
	chunk := kernel.RowMajor([]float64{1, 2, 3, 4, 5, 6}, 2, 3, 3)
	must.Do(t, p.Add(chunk))
	if err := p.Factor(); !errors.Is(err, ErrTooFewRows) {
		t.Errorf("factor of 2×3: error %v, want ErrTooFewRows", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		rows := kernel.RowMajor([]float64{1, 2, 3, 4, bad, 6}, 2, 3, 3)
		if err := p.Add(rows); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "row 4") {
			t.Errorf("%g in row 4: %v", bad, err)
		}
	}
	huge := kernel.RowMajor([]float64{1.7e308, 0, 0, 1.7e308, 0, 0}, 2, 3, 3)
	if err := p.Add(huge); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "rows 3 to 4") {
		t.Errorf("a column too long: %v", err)
	}
	must.Do(t, p.Add(kernel.RowMajor([]float64{7, 8, 10}, 1, 3, 3))) // p is unchanged by the errors
	must.Do(t, p.Factor())
	if p.Rank() != 3 {
		t.Errorf("rank %d, want 3", p.Rank())
	}
	none := NewPolar(0)
	must.Do(t, none.Add(kernel.RowMajor([]float64(nil), 4, 0, 0)))
	if err := none.Factor(); err != nil || none.Rank() != 0 {
		t.Errorf("no columns: rank %d, %v", none.Rank(), err)
	}
	none.RowsTo(0, kernel.RowMajor([]float64(nil), 4, 0, 0), kernel.RowMajor([]float64(nil), 4, 0, 0))
}
