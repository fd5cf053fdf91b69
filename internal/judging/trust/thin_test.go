package trust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sparse makes n points of few words of d, those of a topic; the first columns are in every point.
func sparse(seed uint64, n, d, topics int) *anchor.Anchors {
	r := rand.New(rand.NewPCG(seed, 2))
	a := &anchor.Anchors{M: n, D: d, Points: make([]float64, n*d)}
	for i := range n {
		row := a.Points[i*d:][:d]
		for range 25 {
			j := 3 + r.IntN(d-3)
			if topics > 0 && r.IntN(4) > 0 {
				j = 3 + (i%topics)*20 + r.IntN(20)
			}
			row[j] += float64(1 + r.IntN(2))
		}
		for j := range 3 {
			row[j] = 1 + r.Float64()
		}
		row[3] = row[4] // equal columns
	}
	return a
}

// thinOf is the same by the coordinates that are not 0.
func thinOf(a *anchor.Anchors) *anchor.Anchors {
	b := &anchor.Anchors{M: a.M, D: a.D, Thin: &stream.CSR{RowPtr: []int{0}}}
	for i := range a.M {
		for j, v := range a.Points[i*a.D:][:a.D] {
			if v != 0 {
				b.Thin.Index, b.Thin.Value = append(b.Thin.Index, int32(j)), append(b.Thin.Value, v)
			}
		}
		b.Thin.RowPtr = append(b.Thin.RowPtr, len(b.Thin.Index))
	}
	return b
}

func full(p *kernel.Compressed) []float64 {
	out := make([]float64, p.Rows*p.Cols)
	for i := range p.Rows {
		at, value := p.Row(i)
		for e, j := range at {
			out[i*p.Cols+int(j)] = value[e]
		}
	}
	return out
}

// Points by their coordinates have the verdict of the same points in full, to rounding, and the same
// bits for any threads.
func TestThinIsJudgedAlike(t *testing.T) {
	for seed := range uint64(3) {
		for _, topics := range []int{0, 4} {
			a := sparse(seed, 150, 400, topics)
			want, thin := judged(t, a, 2), thinOf(a)
			got := judged(t, thin, 1)
			if again := judged(t, thin, 3); again != got {
				t.Errorf("3 threads: %+v, 1: %+v", again, got)
			}
			if got.HasStructure() != (topics > 0) {
				t.Errorf("%d topics: %+v", topics, got)
			}
			for _, pair := range [][2]float64{{got.Value, want.Value}, {got.Chance, want.Chance}, {got.FewValue, want.FewValue}, {got.FewChance, want.FewChance}} {
				if math.Abs(pair[0]-pair[1]) > 1e-8 { // as of another order of columns
					t.Errorf("%d topics: %+v, in full %+v", topics, got, want)
				}
			}
		}
	}
}

// The permuted copy is that of the points in full, coordinates of 0 included, and so are columns of XᵀX.
func TestThinPermutedAndColumn(t *testing.T) {
	a := sparse(5, 60, 2*blockColumns+3, 0)
	p, thin := pickSpreadAnchors(a), pickSpreadThinAnchors(thinOf(a))
	thin.Value[len(thin.Value)-1] = 0
	a.Points[len(a.Points)-a.D+int(thin.Index[len(thin.Index)-1])] = 0
	p.team, thin.team = kernel.NewTeam(1), kernel.NewTeam(3)
	if got := thin.permutedCopy(); !slices.Equal(full(&got.Compressed), p.permutedCopy().x) {
		t.Error("permuted otherwise")
	}
	if !slices.Equal(full(&thin.Compressed), a.Points) {
		t.Error("the points have changed")
	}
	c, want := survey.NewThinColumns(thin.Compressed), p.newCentredProducts()
	for _, j := range []int{0, 3, 4, blockColumns, a.D - 1} {
		got := slices.Clone(c.Column(j))
		for k, v := range want.productColumn(j) {
			// Sums of 60 products of numbers below 10.
			if math.Abs(got[k]-v) > 1e-11 || math.Abs(c.Squares[k]-want.squares[k]) > 1e-11 {
				t.Fatalf("column %d: %v and %v, want %v and %v", j, got[k], c.Squares[k], v, want.squares[k])
			}
		}
	}
}

// Of more points than are looked at the same are taken.
func TestSomeThin(t *testing.T) {
	a := &anchor.Anchors{M: maxPoints + 500, D: 2}
	for i := range a.M {
		a.Points = append(a.Points, float64(1+i), 0)
	}
	if got, want := pickSpreadThinAnchors(thinOf(a)), pickSpreadAnchors(a); got.Rows != maxPoints || !slices.Equal(full(&got.Compressed), want.x) {
		t.Errorf("%d other points", got.Rows)
	}
}
