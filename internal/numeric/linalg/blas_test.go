package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// operand is a row-major matrix in BLAS's terms, ld wider than its rows.
type operand[T kernel.Float] struct {
	data []T
	ld   int
}

func newOperand[T kernel.Float](rows, cols int, rnd *rand.Rand) operand[T] {
	ld := cols + 3
	x := operand[T]{make([]T, max(0, (rows-1)*ld+cols)), max(1, ld)}
	for i := range x.data {
		x.data[i] = T(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			x.data[i*ld+j] = T(rnd.NormFloat64())
		}
	}
	return x
}

func (x operand[T]) clone() operand[T] { return operand[T]{append([]T(nil), x.data...), x.ld} }

// same compares two results: values to tol, and NaN where the other has NaN, which shows
// that nothing else was written.
func same[T kernel.Float](t *testing.T, got, want operand[T], tol float64) {
	t.Helper()
	for i := range want.data {
		g, w := float64(got.data[i]), float64(want.data[i])
		if math.IsNaN(g) != math.IsNaN(w) || math.Abs(g-w) > tol {
			t.Fatalf("value %d (row %d, column %d) is %g, want %g", i, i/got.ld, i%got.ld, g, w)
		}
	}
}

var (
	transposes = []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
	triangles  = []blas.Uplo{blas.Upper, blas.Lower}
	alphas     = []float64{0, 1, -1, 0.5}
	betas      = []float64{0, 1, -2}
)

// shape returns the stored shape of op(A), rows×cols.
func shape(t blas.Transpose, rows, cols int) (int, int) {
	if t == blas.NoTrans {
		return rows, cols
	}
	return cols, rows
}

// precision is 2⁻⁵² or 2⁻²³.
func precision[T kernel.Float]() float64 {
	if T(1)+T(0x1p-52) == 1 {
		return 0x1p-23
	}
	return 0x1p-52
}

// blank fills C with numbers that beta = 0 must overwrite and any other beta must keep.
func blank[T kernel.Float](c operand[T], beta float64) {
	if beta == 0 {
		for i := range c.data {
			c.data[i] = T(math.NaN())
		}
	}
}

func testGemm[T kernel.Float](t *testing.T, call func(b blas.Float64, s blas.Float32, tA, tB blas.Transpose, m, n, k int, alpha T, a operand[T], x operand[T], beta T, c operand[T])) {
	ours := newBackend(2)
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {1, 1, 1}, {1, 9000, 1}, {20, 20, 19}, {20, 20, 20}, {21, 47, 65}, {130, 25, 9}} {
		m, n, k := s[0], s[1], s[2]
		for _, tA := range transposes {
			for _, tB := range transposes {
				ra, ca := shape(tA, m, k)
				rb, cb := shape(tB, k, n)
				a, x, c := newOperand[T](ra, ca, rnd), newOperand[T](rb, cb, rnd), newOperand[T](m, n, rnd)
				for _, alpha := range alphas {
					for _, beta := range betas {
						got := c.clone()
						blank(got, beta)
						want := got.clone()
						call(ours, ours, tA, tB, m, n, k, T(alpha), a, x, T(beta), got)
						call(gonum.Implementation{}, gonum.Implementation{}, tA, tB, m, n, k, T(alpha), a, x, T(beta), want)
						// Two sums of k products of normal deviates, each k·u·Σ|ab| off at most,
						// Σ|ab| below 2k here.
						same(t, got, want, float64(2*k*2*k+4)*precision[T]())
					}
				}
			}
		}
	}
}

func TestGemm(t *testing.T) {
	t.Run("f64", func(t *testing.T) {
		testGemm(t, func(b blas.Float64, _ blas.Float32, tA, tB blas.Transpose, m, n, k int, alpha float64, a, x operand[float64], beta float64, c operand[float64]) {
			b.Dgemm(tA, tB, m, n, k, alpha, a.data, a.ld, x.data, x.ld, beta, c.data, c.ld)
		})
	})
	t.Run("f32", func(t *testing.T) {
		testGemm(t, func(_ blas.Float64, b blas.Float32, tA, tB blas.Transpose, m, n, k int, alpha float32, a, x operand[float32], beta float32, c operand[float32]) {
			b.Sgemm(tA, tB, m, n, k, alpha, a.data, a.ld, x.data, x.ld, beta, c.data, c.ld)
		})
	})
}

// rankCall is SYRK, or SYR2K with its second operand.
type rankCall[T kernel.Float] func(b blas.Float64, s blas.Float32, ul blas.Uplo, tA blas.Transpose, n, k int, alpha T, a, x operand[T], beta T, c operand[T])

func testRank[T kernel.Float](t *testing.T, call rankCall[T]) {
	ours := newBackend(2)
	rnd := rand.New(rand.NewPCG(2, 2))
	for _, s := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {1, 9000}, {20, 19}, {20, 20}, {tileOrder - 1, 5}, {tileOrder, 30}, {tileOrder + 1, 30}, {2*tileOrder + 5, 70}, {300, 3}} {
		n, k := s[0], s[1]
		for _, tA := range transposes {
			rows, cols := shape(tA, n, k)
			a, x, c := newOperand[T](rows, cols, rnd), newOperand[T](rows, cols, rnd), newOperand[T](n, n, rnd)
			for _, ul := range triangles {
				for _, alpha := range alphas {
					for _, beta := range betas {
						got, want := c.clone(), c.clone()
						if beta == 0 {
							for i := range n {
								for j := range n {
									if i == j || (j > i) == (ul == blas.Upper) {
										got.data[i*c.ld+j] = T(math.NaN())
									}
								}
							}
						}
						call(ours, ours, ul, tA, n, k, T(alpha), a, x, T(beta), got)
						call(gonum.Implementation{}, gonum.Implementation{}, ul, tA, n, k, T(alpha), a, x, T(beta), want)
						same(t, got, want, float64(4*k*2*k+4)*precision[T]()) // as for Gemm, two products
					}
				}
			}
		}
	}
}

func TestRankUpdates(t *testing.T) {
	t.Run("Dsyrk", func(t *testing.T) {
		testRank(t, func(b blas.Float64, _ blas.Float32, ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a, _ operand[float64], beta float64, c operand[float64]) {
			b.Dsyrk(ul, tA, n, k, alpha, a.data, a.ld, beta, c.data, c.ld)
		})
	})
	t.Run("Ssyrk", func(t *testing.T) {
		testRank(t, func(_ blas.Float64, b blas.Float32, ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a, _ operand[float32], beta float32, c operand[float32]) {
			b.Ssyrk(ul, tA, n, k, alpha, a.data, a.ld, beta, c.data, c.ld)
		})
	})
	t.Run("Dsyr2k", func(t *testing.T) {
		testRank(t, func(b blas.Float64, _ blas.Float32, ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a, x operand[float64], beta float64, c operand[float64]) {
			b.Dsyr2k(ul, tA, n, k, alpha, a.data, a.ld, x.data, x.ld, beta, c.data, c.ld)
		})
	})
}

// Vectors are columns of operands, whose other elements are NaN or must stay.
func TestVectorProducts(t *testing.T) {
	ours := newBackend(2)
	rnd := rand.New(rand.NewPCG(4, 4))
	for _, s := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {1, 90}, {90, 1}, {smallVector, smallVector}, {smallVector + 1, smallVector + 1}, {200, 33}, {33, 200}} {
		m, n := s[0], s[1]
		a, sym := newOperand[float64](m, n, rnd), newOperand[float64](n, n, rnd)
		for _, inc := range []int{1, 4} {
			vector := func(n int) operand[float64] {
				if inc == 1 {
					return newOperand[float64](1, n, rnd)
				}
				return newOperand[float64](n, 1, rnd) // three others between its elements
			}
			for _, alpha := range alphas {
				for _, beta := range betas {
					tol := float64(2*(m+n)*2*(m+n)+4) * 0x1p-52
					for _, tA := range transposes {
						rows, cols := shape(tA, m, n)
						x, got := vector(cols), vector(rows)
						if beta == 0 && rows > 0 {
							got.data[0] = math.NaN()
						}
						want := got.clone()
						ours.Dgemv(tA, m, n, alpha, a.data, a.ld, x.data, inc, beta, got.data, inc)
						gonum.Implementation{}.Dgemv(tA, m, n, alpha, a.data, a.ld, x.data, inc, beta, want.data, inc)
						same(t, got, want, tol)
					}
					for _, ul := range triangles {
						masked := sym.clone()
						for i := range n {
							for j := range n {
								if j != i && (j < i) == (ul == blas.Upper) {
									masked.data[i*sym.ld+j] = math.NaN()
								}
							}
						}
						x, got := vector(n), vector(n)
						want := got.clone()
						ours.Dsymv(ul, n, alpha, masked.data, sym.ld, x.data, inc, beta, got.data, inc)
						gonum.Implementation{}.Dsymv(ul, n, alpha, masked.data, sym.ld, x.data, inc, beta, want.data, inc)
						same(t, got, want, tol)
					}
				}
			}
		}
	}
}

func TestTrsm(t *testing.T) {
	ours := newBackend(2)
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, s := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {9, 200}, {200, 9}, {20, 20}, {33, 65}, {65, 33}, {100, 101}, {1, 9000}, {9000, 1}, {8, columnsPerTask + 1}} {
		m, n := s[0], s[1]
		for _, side := range []blas.Side{blas.Left, blas.Right} {
			order := m
			if side == blas.Right {
				order = n
			}
			if order > 300 {
				continue
			}
			// Off the diagonal small, on it near 2: of condition below 3 in either norm,
			// with a unit diagonal too, so that two solves agree to k·2⁻⁵² each.
			a, b := newOperand[float64](order, order, rnd), newOperand[float64](m, n, rnd)
			for i := range order {
				for j := range order {
					a.data[i*a.ld+j] *= 0.1 / float64(order)
				}
				a.data[i*a.ld+i] = 2 + float64(i%3)/4
			}
			for _, ul := range triangles {
				masked := a.clone() // the other triangle must not be read
				for i := range order {
					for j := range order {
						if (ul == blas.Upper && j < i) || (ul == blas.Lower && j > i) {
							masked.data[i*a.ld+j] = math.NaN()
						}
					}
				}
				for _, tA := range transposes {
					for _, diag := range []blas.Diag{blas.NonUnit, blas.Unit} {
						for _, alpha := range alphas {
							got, want := b.clone(), b.clone()
							ours.Dtrsm(side, ul, tA, diag, m, n, alpha, masked.data, a.ld, got.data, b.ld)
							gonum.Implementation{}.Dtrsm(side, ul, tA, diag, m, n, alpha, masked.data, a.ld, want.data, b.ld)
							same(t, got, want, float64(order+4)*5*0x1p-51) // entries of B below 5
						}
					}
				}
			}
		}
	}
}

// TestBadArguments: we panic as gonum does, in its words.
func TestBadArguments(t *testing.T) {
	ours := newBackend(1)
	const n = 40
	x := make([]float64, n*n)
	y := make([]float32, n*n)
	calls := func(b blas.Float64, s blas.Float32) []func() {
		return []func(){
			func() { b.Dgemm('x', blas.NoTrans, n, n, n, 1, x, n, x, n, 0, x, n) },
			func() { b.Dgemm(blas.NoTrans, 'x', n, n, n, 1, x, n, x, n, 0, x, n) },
			func() { b.Dgemm(blas.NoTrans, blas.NoTrans, -n, -n, n, 1, x, n, x, n, 0, x, n) },
			func() { b.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n-1, x, n, 0, x, n) },
			func() { b.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, x[1:], n, 0, x, n) },
			func() { b.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, x, n, 0, x[1:], n) },
			func() { s.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, y, n, y, n, 0, y[1:], n) },
			func() { b.Dsyrk('x', blas.Trans, n, n, 1, x, n, 0, x, n) },
			func() { b.Dsyrk(blas.Upper, 'x', n, n, 1, x, n, 0, x, n) },
			func() { b.Dsyrk(blas.Upper, blas.Trans, n, n, 1, x, n, 0, x[1:], n) },
			func() { s.Ssyrk(blas.Upper, blas.Trans, n, n, 1, y[1:], n, 0, y, n) },
			func() { b.Dsyr2k(blas.Upper, blas.Trans, n, n, 1, x, n, x, n-1, 0, x, n) },
			func() { b.Dsyr2k('x', blas.Trans, n, n, 1, x, n, x, n, 0, x, n) },
			func() { b.Dgemv('x', n, n, 1, x, n, x, 1, 0, x, 1) },
			func() { b.Dgemv(blas.Trans, n, n, 1, x, n-1, x, 1, 0, x, 1) },
			func() { b.Dgemv(blas.NoTrans, n, n, 1, x, n, x[:n-1], 1, 0, x, 1) },
			func() { b.Dgemv(blas.NoTrans, n, n, 1, x, n, x, 0, 0, x, 1) },
			func() { b.Dsymv('x', n, 1, x, n, x, 1, 0, x, 1) },
			func() { b.Dsymv(blas.Upper, n, 1, x[1:], n, x, 1, 0, x, 1) },
			func() { b.Dsymv(blas.Upper, n, 1, x, n, x, 1, 0, x[:n-1], 1) },
			func() { b.Dtrsm('x', blas.Upper, blas.NoTrans, blas.Unit, n, n, 1, x, n, x, n) },
			func() { b.Dtrsm(blas.Left, 'x', blas.NoTrans, blas.Unit, n, n, 1, x, n, x, n) },
			func() { b.Dtrsm(blas.Left, blas.Upper, 'x', blas.Unit, n, n, 1, x, n, x, n) },
			func() { b.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, 'x', n, n, 1, x, n, x, n) },
			func() { b.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.Unit, n, n, 1, x[1:], n, x, n) },
			func() { b.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.Unit, n, n, 1, x, n, x, n-1) },
		}
	}
	panicOf := func(fn func()) (what any) {
		defer func() { what = recover() }()
		fn()
		return nil
	}
	want := calls(gonum.Implementation{}, gonum.Implementation{})
	for i, fn := range calls(ours, ours) {
		if got, want := panicOf(fn), panicOf(want[i]); want == nil || got != want {
			t.Errorf("call %d panics with %v, gonum's with %v", i, got, want)
		}
	}
}

// using runs fn on our BLAS and restores the previous one.
func using(t testing.TB, workers int, fn func()) {
	before64, before32 := blas64.Implementation(), blas32.Implementation()
	defer func() {
		blas64.Use(before64)
		blas32.Use(before32)
	}()
	must.Do(t, UseKernels(workers))
	fn()
}

// TestUse runs LAPACK on our BLAS, with several callers at once, and compares the results
// with gonum's BLAS.
func TestUse(t *testing.T) {
	const n = 150 // two blocks of LAPACK's and a rest
	rnd := rand.New(rand.NewPCG(9, 9))
	a := positive(n, rnd) // eigenvalues 1 … n
	sym := mat.NewSymDense(n, a)
	b := dense2(random(kernel.RowMajor(make([]float64, 2*n*n), 2*n, n, n), rnd))
	type answer struct{ chol, eigen, singular, qr []float64 }
	run := func() answer {
		var c mat.Cholesky
		var e mat.EigenSym
		var s mat.SVD
		var qr mat.QR
		if !c.Factorize(sym) || !e.Factorize(sym, true) || !s.Factorize(b, mat.SVDThin) {
			t.Error("a factorization failed")
		}
		qr.Factorize(b)
		var u mat.TriDense
		c.UTo(&u)
		var v, back, g mat.Dense
		e.VectorsTo(&v)
		back.Mul(&v, mat.NewDiagDense(n, e.Values(nil)))
		g.Mul(&back, v.T())
		var x mat.Dense
		if err := qr.SolveTo(&x, false, b); err != nil { // the identity
			t.Errorf("solving with the QR factor: %v", err)
		}
		return answer{u.RawTriangular().Data, g.RawMatrix().Data, s.Values(nil), x.RawMatrix().Data}
	}
	want := run()
	using(t, 2, func() {
		var got [3]answer
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i] = run() })
		}
		wg.Wait()
		// All four are backward stable: some n·2⁻⁵²·‖A‖ (n here), and the solution of
		// the least-squares problem that times B's condition, below 10.
		for _, g := range got {
			for name, pair := range map[string][2][]float64{
				"Cholesky": {g.chol, want.chol}, "eigen": {g.eigen, want.eigen}, "SVD": {g.singular, want.singular}, "QR": {g.qr, want.qr},
			} {
				for i := range pair[1] {
					if d := math.Abs(pair[0][i] - pair[1][i]); !(d <= n*0x1p-52*n) {
						t.Errorf("%s: value %d is off by %g", name, i, d)
						break
					}
				}
			}
			if fmt.Sprint(g) != fmt.Sprint(got[0]) {
				t.Error("concurrent callers got different bits")
			}
		}
	})
	if _, ours := blas64.Implementation().(*backend); ours {
		t.Error("our BLAS is still in use")
	}
}
