package gram

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// table is a table with its statistics, and their naive twin.
type table struct{ tabletest.Table }

func (t table) sparse(from, to int) *stream.Chunk {
	t.Sparse = true
	return t.Chunk(from, to)
}

// add adds all rows to a in blocks of the given height.
func (t table) add(tb testing.TB, a stream.Adder, height int) {
	t.AddRows(tb, a, 0, t.N(), height)
}

func (t table) moments(tb testing.TB, opt Options, height int) *Moments {
	m := NewMoments(len(t.Cols), opt)
	t.add(tb, m, height)
	return m
}

// sample makes n rows of columns that are hard for statistics in different ways.
func sample(seed uint64, n int, missing, weighted bool) table {
	r := rand.New(rand.NewPCG(seed, 7))
	var t table
	column := func(f func(i int) float64) {
		col := make([]float64, n)
		for i := range col {
			col[i] = f(i)
		}
		t.Cols = append(t.Cols, col)
	}
	hole := func(x float64, yes bool) float64 {
		if missing && yes {
			return math.NaN()
		}
		return x
	}
	column(func(int) float64 { return r.NormFloat64() })
	column(func(int) float64 { return 1e8 + r.NormFloat64() })
	column(func(i int) float64 { return hole(3*t.Cols[0][i]-5, r.IntN(3) == 0) })
	column(func(i int) float64 { return hole(r.Float64()-40, i < n/2) }) // late
	column(func(i int) float64 { return hole(float64(r.IntN(5)), i > n/2 && r.IntN(2) == 0) })
	column(func(i int) float64 { return 1e-9 * r.NormFloat64() })
	column(func(i int) float64 { return t.Cols[0][i] })
	column(func(i int) float64 { return hole(1e6+r.ExpFloat64(), r.IntN(10) == 0) })
	if weighted {
		t.Weight = make([]float64, n)
		for i := range t.Weight {
			t.Weight[i] = 0.1 + 3*r.Float64()
		}
	}
	return t
}

// reference is the naive twin: two passes over the filled and scaled rows of the
// columns that are not constant where observed, in numbers of 300 bits.
type reference struct {
	kept      []int
	sym       [][]float64
	mean, std []float64
	condition []float64 // Σw(y-s)²/Σw(y-mean)², s the first observed value
}

func num(x float64) *big.Float         { return new(big.Float).SetPrec(300).SetFloat64(x) }
func add(x, y *big.Float) *big.Float   { return num(0).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return num(0).Sub(x, y) }
func times(x, y *big.Float) *big.Float { return num(0).Mul(x, y) }
func over(x, y *big.Float) *big.Float  { return num(0).Quo(x, y) }
func rootOf(x *big.Float) *big.Float   { return num(0).Sqrt(x) }
func float(x *big.Float) (f float64)   { f, _ = x.Float64(); return f }
func (t table) w(i int) (w *big.Float) {
	if t.Weight == nil {
		return num(1)
	}
	return num(t.Weight[i])
}

func (t table) reference(scale Scale, fill Fill) (ref reference) {
	var a [][]*big.Float
	n := t.N()
	total := num(0)
	for i := range n {
		total = add(total, t.w(i))
	}
	for j, col := range t.Cols {
		sum, weight, pilot := num(0), num(0), math.NaN()
		lo, hi := math.Inf(1), math.Inf(-1)
		for i, x := range col {
			if x == x {
				if pilot != pilot {
					pilot = x
				}
				lo, hi = min(lo, x), max(hi, x)
				sum, weight = add(sum, times(t.w(i), num(x))), add(weight, t.w(i))
			}
		}
		if !(lo < hi) {
			continue
		}
		value := num(0)
		if fill == FillMean {
			value = over(sum, weight)
		}
		y := make([]*big.Float, n)
		low, high, sum := num(lo), num(hi), num(0)
		for i, x := range col {
			y[i] = value
			switch {
			case x == x:
				y[i] = num(x)
			case value.Cmp(low) < 0:
				low = value
			case value.Cmp(high) > 0:
				high = value
			}
			sum = add(sum, times(t.w(i), y[i]))
		}
		mean := over(sum, total)
		about := func(center *big.Float) *big.Float {
			s := num(0)
			for i := range y {
				e := minus(y[i], center)
				s = add(s, times(t.w(i), times(e, e)))
			}
			return s
		}
		centred := about(mean)
		shift, divisor := num(0), num(1)
		switch scale {
		case ScaleCenter:
			shift = mean
		case ScaleStandard:
			shift, divisor = mean, rootOf(over(centred, total))
		case ScalePareto:
			shift, divisor = mean, rootOf(rootOf(over(centred, total)))
		case ScaleMinMax:
			shift, divisor = low, minus(high, low)
		case ScaleUnit:
			divisor = rootOf(about(num(0)))
		}
		for i := range y {
			y[i] = over(minus(y[i], shift), divisor)
		}
		a = append(a, y)
		ref.kept = append(ref.kept, j)
		ref.mean = append(ref.mean, float(mean))
		ref.std = append(ref.std, float(rootOf(over(centred, total))))
		ref.condition = append(ref.condition, float(over(about(num(pilot)), centred)))
	}
	for _, x := range a {
		row := make([]float64, len(a))
		for l, y := range a {
			s := num(0)
			for i := range x {
				s = add(s, times(t.w(i), times(x[i], y[i])))
			}
			row[l] = float(s)
		}
		ref.sym = append(ref.sym, row)
	}
	return ref
}

// near compares with the twin. Sums of n terms about the pilot are off by at most
// (n+2)·eps of their size, which is condition times the size of the centred sums; a dozen
// further roundings follow (pilot, weights, fill, mean, factors).
func (ref reference) near(tb testing.TB, n int, sym []float64) {
	tb.Helper()
	d := len(ref.kept)
	if len(sym) != d*d {
		tb.Fatalf("%d values, want %d×%d", len(sym), d, d)
	}
	for i := range d {
		for j := range d {
			tol := float64(n+32) * 0x1p-52 * (1 + ref.condition[i] + ref.condition[j]) * math.Sqrt(ref.sym[i][i]*ref.sym[j][j])
			if got, want := sym[i*d+j], ref.sym[i][j]; !(math.Abs(got-want) <= tol) {
				tb.Fatalf("[%d,%d] = %.17g, want %.17g: off by %.2g, allowed %.2g", i, j, got, want, got-want, tol)
			}
		}
	}
}
