package gram

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The standardized rows are the A of the Gram matrix: AᵀA agrees with the twin.
func TestStandardizer(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		tab.Cols = append(tab.Cols, make([]float64, tab.N())) // constant: left out
		p := NewProfile(len(tab.Cols))
		tab.add(t, p, 13)
		s := must.Get(NewStandardizer(p, tab.Columns(), scale, fill))(t)
		ref := tab.reference(scale, fill)
		if !slices.Equal(s.Columns, ref.kept) || len(s.LeftOut) != 1 {
			t.Fatalf("kept %v, left out %v", s.Columns, s.LeftOut)
		}
		n, d := tab.N(), len(s.Columns)
		ld := n + 1
		a, g := make([]float64, d*ld), make([]float64, d*d)
		for i := range a {
			a[i] = math.NaN()
		}
		s.To(a, ld, tab.Chunk(0, n))
		kernel.Syrk(kernel.NewTeam(1), 1, kernel.RowMajor(a, d, n, ld), kernel.RowMajor(g, d, d, d))
		kernel.MirrorUpper(1, kernel.RowMajor(g, d, d, d))
		// Here every entry is shifted and rounded by itself, with a relative error of
		// the unscaled value: a mean 1e8 times the spread costs 1e8·eps an entry.
		for i := range d {
			for j := range d {
				tol := 400 * 0x1p-52 * math.Sqrt(ref.sym[i][i]*ref.sym[j][j])
				for _, k := range []int{i, j} {
					tol *= 1 + ref.condition[k]
					if slices.Contains([]Scale{ScaleCenter, ScaleStandard, ScaleMinMax, ScalePareto}, scale) {
						tol *= 1 + math.Abs(ref.mean[k])/ref.std[k]
					}
				}
				if !(math.Abs(g[i*d+j]-ref.sym[i][j]) <= tol) {
					t.Fatalf("[%d,%d] = %g, want %g ± %g", i, j, g[i*d+j], ref.sym[i][j], tol)
				}
			}
		}
	})
}

// Sparse rows become the same rows of A as dense ones.
func TestStandardizerSparse(t *testing.T) {
	tab := wide(11, 30, false)
	p := NewProfile(11)
	must.Do(t, p.Add(tab.sparse(0, 30)))
	s := must.Get(NewStandardizer(p, tab.Columns(), ScaleStandard, FillMean))(t)
	dense, sparse := make([]float64, 11*32), make([]float64, 11*32)
	s.To(dense, 32, tab.Chunk(0, 30))
	s.To(sparse, 32, tab.sparse(0, 30))
	if !slices.Equal(dense, sparse) {
		t.Error("sparse rows differ from dense ones")
	}
}

func TestParse(t *testing.T) {
	for _, s := range scales {
		if got, err := ParseScale(s.String()); got != s || err != nil {
			t.Errorf("ParseScale(%q) = %v, %v", s.String(), got, err)
		}
	}
	for _, f := range []Fill{FillMean, FillZero} {
		if got, err := ParseFill(f.String()); got != f || err != nil {
			t.Errorf("ParseFill(%q) = %v, %v", f.String(), got, err)
		}
	}
	if _, err := ParseScale("standart"); err == nil {
		t.Error("ParseScale took nonsense")
	}
	if _, err := ParseFill("drop-row"); err == nil {
		t.Error("ParseFill took nonsense")
	}
}

// Merged profiles give the scaling of the whole.
func TestProfile(t *testing.T) {
	tab := sample(11, 50, true, true)
	alone := NewProfile(len(tab.Cols))
	tab.add(t, alone, 9)
	first, second := NewProfile(len(tab.Cols)), NewProfile(len(tab.Cols))
	tab.AddRows(t, first, 0, 20, 9)
	tab.AddRows(t, second, 20, 50, 9)
	must.Do(t, first.Merge(second))
	for _, scale := range scales {
		a := must.Get(NewStandardizer(alone, tab.Columns(), scale, FillZero))(t)
		b := must.Get(NewStandardizer(first, tab.Columns(), scale, FillZero))(t)
		for k := range a.Columns {
			if math.Abs(a.Std[k]/b.Std[k]-1) > 1e-13 || math.Abs(a.Mean[k]-b.Mean[k]) > 1e-13*(a.Std[k]+math.Abs(a.Mean[k])) ||
				a.Filled[k] != b.Filled[k] {
				t.Errorf("%v: column %d differs after a merge", scale, k)
			}
		}
	}
	if err := first.Merge(NewProfile(2)); err == nil {
		t.Error("merged profiles of other columns")
	}
	if err := first.Add(&stream.Chunk{Cols: 2}); err == nil {
		t.Error("added a chunk of other columns")
	}
}
