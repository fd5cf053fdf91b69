package spectral

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// chain is weights of n rows on m anchors along a line, in parts of the given number of anchors.
func chain(seed uint64, n int, parts ...int) (z [][]float64) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := 0
	for _, size := range parts {
		m += size
	}
	z = rowstest.ZeroRows(n, m)
	first := 0
	for p, size := range parts {
		for i := range n { // a share of the rows as large as that of the anchors
			if at := i * m / n; at >= first && at < first+size || p == len(parts)-1 && at >= first {
				total := 0.0
				for range 3 {
					w := 0.1 + r.Float64()
					z[i][first+(at-first+r.IntN(3))%size] += w
					total += w
				}
				for a := range m {
					z[i][a] /= total
				}
			}
		}
		first += size
	}
	return z
}

// TestParticipation: computed from the anchors, it equals the rows' participation up to λ² either way; for an
// eigenvector that is constant on a part it is the part's number of rows.
func TestParticipation(t *testing.T) {
	for seed := range uint64(4) {
		z := chain(seed, 90, 10, 14, 6)
		g, b := rowstest.BuildGraph(z, z), rowstest.Factor(z)
		e := must.Get(Embed(kernel.NewTeam(1), g, 20))(t)
		for c, lambda := range e.Values {
			v, fourth, square := e.Vectors.Data[c*g.M:][:g.M], 0.0, 0.0
			for i := range b {
				u := kernel.Dot(b[i], v) / math.Sqrt(lambda)
				fourth += u * u * u * u
				square += u * u
			}
			if math.Abs(square-1) > 1e-12 {
				t.Errorf("seed %d: u %d has length² %v", seed, c, square)
			}
			ratio := RowsOfVector(g, v) * fourth
			if slack := 1e-9; ratio < lambda*lambda-slack || ratio > 1/(lambda*lambda)+slack {
				t.Errorf("seed %d, λ = %v: %v times that of the rows", seed, lambda, ratio)
			}
		}
		on := make([]float64, g.M)
		for a := range 10 {
			on[a] = math.Sqrt(g.Delta[a] / 30)
		}
		if rows := RowsOfVector(g, on); math.Abs(rows-30) > 1e-9 {
			t.Errorf("seed %d: %v rows of the first part, want 30", seed, rows)
		}
	}
}

// TestEmbedWide: the wide eigenpairs of Embed, in its order; those of parts that are too small do
// not count; where none is wide, all of Embed's.
func TestEmbedWide(t *testing.T) {
	team := kernel.NewTeam(1)
	z := chain(1, 90, 20, 4, 3, 3)
	g := rowstest.BuildGraph(z, z)
	all := must.Get(Embed(team, g, 30))(t)
	for _, rows := range []float64{0, 5, 11, 20} {
		got := must.Get(EmbedWide(team, g, 30, rows))(t)
		at := 0
		for c, lambda := range all.Values {
			v := all.Vectors.Data[c*g.M:][:g.M]
			if RowsOfVector(g, v) < rows {
				continue
			}
			if at >= len(got.Values) || math.Abs(got.Values[at]-lambda) > 1e-12 {
				t.Fatalf("%v rows: eigenvalues %v, want %v of %v", rows, got.Values, lambda, all.Values)
			}
			// Of length 1 up to the sign; gaps are 10⁻³ and more.
			if cos := math.Abs(kernel.Dot(v, got.Vectors.Data[at*g.M:][:g.M])); math.Abs(cos-1) > 1e-9 {
				t.Errorf("%v rows: vector %d differs, cosine %v", rows, at, cos)
			}
			at++
		}
		if at != len(got.Values) || got.Narrow != len(all.Values)-at || got.AllNarrow || got.Components != 4 {
			t.Errorf("%v rows: %d of %d eigenvectors, %d narrow", rows, len(got.Values), at, got.Narrow)
		}
	}
	few := must.Get(EmbedWide(team, g, 3, 18))(t)
	if few.Values[0] == 1 || few.Narrow < 3 {
		t.Errorf("three small parts count among three eigenpairs: %v, %d narrow", few.Values, few.Narrow)
	}
	none := must.Get(EmbedWide(team, g, 30, 1000))(t)
	if len(none.Values) != len(all.Values) || !none.AllNarrow || none.Narrow != 0 {
		t.Errorf("%d of %d eigenvectors where none is wide, %d narrow", len(none.Values), len(all.Values), none.Narrow)
	}
}
