package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// table is 200 rows of d columns, column j with a spread of its own.
func table(d int) (src *rowstest.Source, columns [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	columns = rowstest.ZeroRows(d, 200)
	for j, col := range columns {
		for i := range col {
			col[i] = float64(j%7+1)*rng.NormFloat64() + 1e3
		}
	}
	return &rowstest.Source{N: 200, D: d, Heights: []int{200}, At: func(i, j int) float64 { return columns[j][i] }}, columns
}

// naiveVariance is the two-pass variance with divisor n.
func naiveVariance(x []float64) float64 {
	var mean, v float64
	for _, y := range x {
		mean += y / float64(len(x))
	}
	for _, y := range x {
		v += (y - mean) * (y - mean) / float64(len(x))
	}
	return v
}

func TestVarianceIsTheTwoPassVariance(t *testing.T) {
	src, values := table(13)
	s := rowstest.Standardizer(t, src, gram.ScaleNone, gram.FillMean)
	for j, got := range Variance(s) {
		// Both sums carry about n roundings of terms that are all positive.
		if want := naiveVariance(values[j]); math.Abs(got-want) > 200*0x1p-50*want {
			t.Errorf("column %d: %v, want %v", j, got, want)
		}
	}
}

func TestStandardScaleTiesEverything(t *testing.T) {
	src, _ := table(5)
	s := rowstest.Standardizer(t, src, gram.ScaleStandard, gram.FillMean)
	order, warnings := Rank(Variance(s), src.Columns(), 5)
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("order %v, want that of the columns", order)
	}
	if len(warnings) != 1 {
		t.Errorf("warnings %q, want one for the tie", warnings)
	}
}

// TestPermutation: permuting the columns permutes the answer.
func TestPermutation(t *testing.T) {
	var cols []stream.Column
	for j := range 40 {
		cols = append(cols, stream.Column{Name: "f" + strconv.Itoa(j)})
	}
	names := func(cols []stream.Column) (out []string) {
		order, warnings := Rank(Random(cols, 7), cols, 10)
		if len(warnings) > 0 {
			t.Errorf("warnings %q", warnings)
		}
		for _, j := range order {
			out = append(out, cols[j].Name)
		}
		return out
	}
	want := names(cols)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	if got := names(cols); !slices.Equal(got, want) {
		t.Errorf("after a permutation %v, want %v", got, want)
	}
}

func TestRandomDependsOnSeedAndIsUniform(t *testing.T) {
	cols := make([]stream.Column, 10000)
	for j := range cols {
		cols[j].Name = "f" + strconv.Itoa(j)
	}
	a, b := Random(cols, 1), Random(cols, 2)
	if slices.Equal(a, b) {
		t.Error("two seeds give the same scores")
	}
	for _, scores := range [][]float64{a, b} {
		var mean float64
		for _, x := range scores {
			if x < 0 || x >= 1 {
				t.Fatalf("score %v outside [0, 1)", x)
			}
			mean += x / float64(len(scores))
		}
		// The mean of 10,000 uniforms has standard deviation 0.0029.
		if math.Abs(mean-0.5) > 6*0.0029 {
			t.Errorf("mean %v, want about 0.5", mean)
		}
	}
}

func TestRankEdges(t *testing.T) {
	cols := []stream.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	scores := []float64{1, 3, 3 * (1 + 1e-12)}
	for k, want := range [][]int{{}, {1}, {1, 2}, {1, 2, 0}, {1, 2, 0}} {
		if got, _ := Rank(scores, cols, k); !slices.Equal(got, want) {
			t.Errorf("k %d: %v, want %v", k, got, want)
		}
	}
}
