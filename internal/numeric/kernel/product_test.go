package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

func TestMain(m *testing.M) {
	if forceErr != nil { // a missing forced path must not count as tested
		fmt.Fprintln(os.Stderr, forceErr)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// onPaths runs a test on every instruction set of the machine, the forced one alone
// if there is one.
func onPaths(t *testing.T, test func(t *testing.T, p *isa)) {
	for _, p := range availableSets {
		if os.Getenv(PathVariable) == "" || p == best {
			t.Run(p.name, func(t *testing.T) { test(t, p) })
		}
	}
}

// onProducts runs a test on every instruction set that multiplies by code of its own: sets with VNNI do so in whole
// numbers and bytes alone.
func onProducts(t *testing.T, test func(t *testing.T, p *isa)) {
	seen := map[uintptr]bool{}
	onPaths(t, func(t *testing.T, p *isa) {
		if code := reflect.ValueOf(p.f64.mul).Pointer(); !seen[code] {
			seen[code] = true
			test(t, p)
		}
	})
}

// crossing are the sizes about an edge b: 0, 1, b-1, b, b+1, 2b+5.
func crossing(b int) []int { return []int{0, 1, b - 1, b, b + 1, 2*b + 5} }

// guarded is a matrix surrounded by NaN, in either layout: reading between its lines spoils
// the result, and intact finds writes there.
type guarded[T Float] struct {
	Matrix[T]
	buf []T
}

func newGuarded[T Float](r *rand.Rand, rows, cols int, colMajor bool) guarded[T] {
	const band = 3
	inner, outer := cols, rows
	if colMajor {
		inner, outer = rows, cols
	}
	buf := make([]T, band+outer*(inner+band))
	for i := range buf {
		buf[i] = T(math.NaN())
	}
	m := RowMajor(buf[band:], rows, cols, cols+band)
	if colMajor {
		m = ColMajor(buf[band:], rows, cols, rows+band)
	}
	values := make([]T, min(rows*cols, 4099)) // a large matrix repeats them, a prime number, so that its lines differ
	for i := range values {
		values[i] = T(r.NormFloat64())
	}
	at := 0
	for i := range rows {
		for j := range cols {
			m.Data[i*m.RowStride+j*m.ColStride] = values[at]
			if at++; at == len(values) {
				at = 0
			}
		}
	}
	return guarded[T]{m, buf}
}

func (m guarded[T]) at(i, j int) T { return m.Data[i*m.RowStride+j*m.ColStride] }

func (m guarded[T]) clone() guarded[T] {
	m.buf = slices.Clone(m.buf)
	m.Data = m.buf[len(m.buf)-len(m.Data):]
	return m
}

// intact checks that only elements of the matrix have changed.
func (m guarded[T]) intact(t *testing.T, before guarded[T]) {
	t.Helper()
	a, b := before.clone(), m.clone()
	for i := range m.Rows {
		for j := range m.Cols {
			a.Data[i*m.RowStride+j*m.ColStride], b.Data[i*m.RowStride+j*m.ColStride] = 0, 0
		}
	}
	if !sameBits(a.buf, b.buf) {
		t.Fatalf("wrote outside the %d×%d matrix", m.Rows, m.Cols)
	}
}

// bits returns the bits of a value, the same for every NaN.
func bits[T Float](x T) uint64 {
	if math.IsNaN(float64(x)) {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(float64(x))
}

func sameBits[T Float](a, b []T) bool {
	bytes := func(v []T) string {
		return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
	}
	if bytes(a) == bytes(b) { // nearly always, and many times faster
		return true
	}
	return slices.EqualFunc(a, b, func(x, y T) bool { return bits(x) == bits(y) })
}

// fma is a·b + c, rounded once where the path's instructions fuse.
//
//nolint:unconvert // the conversion of a product keeps the compiler from fusing it
func fma[T Float](p *isa, a, b, c T) T {
	if p == &plainGo {
		return T(a*b) + c
	}
	if unsafe.Sizeof(c) == 8 {
		return T(math.FMA(float64(a), float64(b), float64(c)))
	}
	// The product is exact in float64. Their sum is rounded to odd, so that rounding
	// it again to float32 rounds as once (53 ≥ 2·24 + 2 bits).
	product, addend := float64(a)*float64(b), float64(c)
	sum := product + addend
	back := sum - product
	if lost := (product - (sum - back)) + (addend - back); lost != 0 && !math.IsInf(sum, 0) && math.Float64bits(sum)&1 == 0 {
		if (lost > 0) == (sum > 0) {
			sum = math.Float64frombits(math.Float64bits(sum) + 1)
		} else {
			sum = math.Float64frombits(math.Float64bits(sum) - 1)
		}
	}
	return T(sum)
}

// lines are the rows of a matrix, each in one piece.
func (m guarded[T]) lines() [][]T {
	lines, all := make([][]T, m.Rows), make([]T, m.Rows*m.Cols)
	Copy(RowMajor(all, m.Rows, m.Cols, m.Cols), m.Matrix)
	for i := range lines {
		lines[i] = all[i*m.Cols:][:m.Cols]
	}
	return lines
}

// spec is the specification of an element: chains of depth products, each added to c. It calculates for one test
// from copies of its own, and the race detector, with which it takes ten times as long, need not see that.
//
//go:norace
func spec[T Float](p *isa, alpha, c T, x, y []T) T {
	for l := 0; l < len(x); l += depth {
		var sum T
		for q := l; q < min(len(x), l+depth); q++ {
			sum = fma(p, x[q], y[q], sum)
		}
		c = fma(p, alpha, sum, c)
	}
	return c
}

// teams are teams of 1, 2 and 8 workers that share even the smallest product.
func teams(p *isa) []*Team {
	var all []*Team
	for _, workers := range []int{1, 2, 8} {
		t := newTeam(workers, p)
		t.minSharedSize = 0
		all = append(all, t)
	}
	return all
}

func checkGemm[T Float](t *testing.T, p *isa, teams []*Team, r *rand.Rand, m, n, k, layout int, alpha T) {
	t.Helper()
	a := newGuarded[T](r, m, k, layout&1 != 0)
	b := newGuarded[T](r, k, n, layout&2 != 0)
	c := newGuarded[T](r, m, n, layout&4 != 0)
	want := c.clone()
	rows, columns := a.lines(), guarded[T]{Matrix: b.Trans()}.lines()
	for i, row := range rows {
		for j, column := range columns {
			at := i*c.RowStride + j*c.ColStride
			want.Data[at] = spec(p, alpha, c.Data[at], row, column)
		}
	}
	for _, team := range teams {
		got := c.clone()
		Gemm(team, alpha, a.Matrix, b.Matrix, got.Matrix)
		if !sameBits(got.buf, want.buf) {
			t.Fatalf("%T %d×%d×%d, layout %d, %d workers: not the specified bits", alpha, m, n, k, layout, team.workers)
		}
	}
}

func checkSyrk[T Float](t *testing.T, p *isa, teams []*Team, r *rand.Rand, d, k, layout int, alpha T) {
	t.Helper()
	a, c := newGuarded[T](r, d, k, layout&1 != 0), newGuarded[T](r, d, d, false)
	want, rows := c.clone(), a.lines()
	for i, row := range rows {
		for j := i; j < d; j++ {
			at := i*c.RowStride + j
			want.Data[at] = spec(p, alpha, c.Data[at], row, rows[j])
		}
	}
	for _, team := range teams {
		got := c.clone()
		Syrk(team, alpha, a.Matrix, got.Matrix)
		if !sameBits(got.buf, want.buf) {
			t.Fatalf("%T %d×%d, layout %d, %d workers: not the specified bits", alpha, d, k, layout, team.workers)
		}
	}
}

// Every size about the edges of a panel, every layout, both types: the specified
// bits, for any number of workers, and nothing outside.
func TestGemm(t *testing.T) {
	onProducts(t, func(t *testing.T, p *isa) {
		t.Run("f64", func(t *testing.T) { testGemm(t, p, &p.f64) })
		t.Run("f32", func(t *testing.T) { testGemm(t, p, &p.f32) })
	})
}

func testGemm[T Float](t *testing.T, p *isa, u *micro[T]) {
	r, all := rand.New(rand.NewPCG(1, 1)), teams(p)
	layout := 0
	for _, m := range crossing(u.mr) {
		for _, n := range crossing(u.nr) {
			for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 17} {
				checkGemm[T](t, p, all, r, m, n, k, layout%8, 1)
				layout++
			}
		}
	}
	for _, k := range crossing(depth) {
		for layout := range 8 {
			checkGemm[T](t, p, all, r, u.mr+1, u.nr-1, k, layout, -0.3)
		}
	}
	// Several tasks, and several super-blocks.
	checkGemm[T](t, p, all, r, taskRows+u.mr+1, taskCols+u.nr+1, 9, 0, 1)
	checkGemm[T](t, p, all, r, superBlock+3, 7, 9, 1, 1)
	checkGemm[T](t, p, all, r, 7, superBlock+3, depth+1, 2, 1)
	checkGemm[T](t, p, all, r, superBlock+3, superBlock+3, 2, 5, 1)
	// Few rows or columns, in several tasks and packings.
	const packing = thinDepths * depth
	for layout, k := range []int{0, 1, packing - 1, packing, packing + 1, 2 * packing, 2*packing + 5} {
		checkGemm[T](t, p, all, r, taskRows+u.mr+1, 3+layout, k, layout, 0.7)
		checkGemm[T](t, p, all, r, 3+layout, taskRows+u.mr+1, k, layout, 0.7)
	}
}

func TestSyrk(t *testing.T) {
	onProducts(t, func(t *testing.T, p *isa) {
		t.Run("f64", func(t *testing.T) { testSyrk(t, p, &p.f64) })
		t.Run("f32", func(t *testing.T) { testSyrk(t, p, &p.f32) })
	})
}

func testSyrk[T Float](t *testing.T, p *isa, u *micro[T]) {
	r, all := rand.New(rand.NewPCG(2, 2)), teams(p)
	for _, d := range slices.Concat(crossing(u.mr), crossing(u.nr)) {
		for _, k := range []int{0, 1, 5, 8, depth + 1} {
			checkSyrk[T](t, p, all, r, d, k, 0, 1)
			checkSyrk[T](t, p, all, r, d, k, 1, -0.3)
		}
	}
	checkSyrk[T](t, p, all, r, taskCols+u.nr+1, 5, 0, 1)
	checkSyrk[T](t, p, all, r, 2*superBlock+3, 2, 1, 1)
}

// FuzzGemm draws shapes, layouts and alpha.
func FuzzGemm(f *testing.F) {
	f.Add(uint64(1), uint16(8), uint16(24), uint16(256), uint8(0), false)
	f.Add(uint64(2), uint16(61), uint16(149), uint16(517), uint8(7), true)
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k uint16, layout uint8, syrk bool) {
		r := rand.New(rand.NewPCG(seed, 3))
		m, n, k = m%150, n%150, k%(2*depth+10)
		for _, p := range availableSets {
			team := newTeam(1+int(seed%3), p)
			team.minSharedSize = 0
			alpha := r.NormFloat64()
			if syrk {
				checkSyrk[float64](t, p, []*Team{team}, r, int(m), int(k), int(layout), alpha)
				checkSyrk[float32](t, p, []*Team{team}, r, int(m), int(k), int(layout), float32(alpha))
			} else {
				checkGemm[float64](t, p, []*Team{team}, r, int(m), int(n), int(k), int(layout), alpha)
				checkGemm[float32](t, p, []*Team{team}, r, int(m), int(n), int(k), int(layout), float32(alpha))
			}
		}
	})
}

// Against a compensated sum. A chain of depth terms has an error of at most
// depth·u·Σ|ab| (u the unit roundoff, doubled where product and sum are both
// rounded), and adding the k/depth chains one of (k/depth+1)·u·Σ|ab|.
func TestAccuracy(t *testing.T) {
	onProducts(t, func(t *testing.T, p *isa) {
		testAccuracy[float64](t, p, 0x1p-53)
		testAccuracy[float32](t, p, 0x1p-24)
	})
}

func testAccuracy[T Float](t *testing.T, p *isa, u float64) {
	const m, n, k = 5, 30, 20000
	r := rand.New(rand.NewPCG(6, 6))
	a, b := newGuarded[T](r, m, k, false), newGuarded[T](r, k, n, true)
	c := make([]T, m*n)
	Gemm(newTeam(1, p), 1, a.Matrix, b.Matrix, RowMajor(c, m, n, n))
	for i := range m {
		for j := range n {
			var sum, low, size float64 // Ogita, Rump and Oishi's Dot2
			for l := range k {
				x, y := float64(a.at(i, l)), float64(b.at(l, j))
				product := x * y
				s := sum + product
				back := s - sum
				low += math.FMA(x, y, -product) + ((sum - (s - back)) + (product - back))
				sum, size = s, size+math.Abs(product)
			}
			bound := (2*depth + k/depth + 2) * u * size
			if got := float64(c[i*n+j]); !(math.Abs(got-(sum+low)) <= bound) {
				t.Fatalf("%T [%d,%d] = %g, want %g ± %g", c[0], i, j, got, sum+low, bound)
			}
		}
	}
}
