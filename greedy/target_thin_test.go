package greedy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// thinGraphs are the graphs of sparse points among themselves, with C in full and by its columns, and the points.
func thinGraphs(t *testing.T, n, d int, seed uint64) (dense, thin *anchor.Graph, x matrix) {
	r := rand.New(rand.NewPCG(seed, 4))
	x = newMatrix(n, d)
	for i := range n {
		for range 6 {
			x.col[(i%5)*10+r.IntN(10)][i] += float64(1 + r.IntN(3))
			x.col[r.IntN(d)][i]++
		}
		x.col[1][i] += 3
	}
	for j, column := range x.col {
		column[j%n]++
	}
	full, points := make([]float64, 0, n*d), &stream.CSR{RowPtr: []int{0}}
	for i := range n {
		for j, column := range x.col {
			if full = append(full, column[i]); column[i] != 0 {
				points.Index, points.Value = append(points.Index, int32(j)), append(points.Value, column[i])
			}
		}
		points.RowPtr = append(points.RowPtr, len(points.Index))
	}
	dense = must.Get(anchor.Among(full, n, d, anchor.Options{}))(t)
	thin = must.Get(anchor.AmongThin(points, d, anchor.Options{}))(t)
	dense.G, thin.G = gram.Full(nil, d), gram.Full(nil, d)
	return dense, thin, x
}

// A target by its columns is that of the matrix C: the same H to rounding, the same choice, and the same
// bits for any threads and memory.
func TestThinTargets(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		const n, d = 260, 1000
		dense, thin, x := thinGraphs(t, n, d, seed)
		for _, sparse := range []bool{false, true} {
			src := serve(x, 16)
			src.Sparse = sparse
			std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
			profile := gram.NewProfile(d)
			must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, profile))
			for rounds := range 4 {
				build := func(g *anchor.Graph, threads int) *graphTarget {
					if rounds == 3 {
						s, _, err := spectralTarget(kernel.NewTeam(threads), g, 4)
						must.Do(t, err)
						return s
					}
					return must.Get(smoothTarget(kernel.NewTeam(threads), g, rounds+1))(t)
				}
				choose := func(target *graphTarget, threads int, memory int64) *Result {
					return must.Get(selectTargetStream(t.Context(), src, std, target.target, StreamOptions{
						Options: Options{K: 20, Threads: threads, Keep: []int{7}}, Memory: memory, Profile: profile}))(t)
				}
				name := fmt.Sprintf("seed %d, sparse %v, %d rounds", seed, sparse, rounds+1)
				want := choose(build(dense, 2), 2, 1<<30)
				first := build(thin, 1)
				if math.Abs(first.totalSquares-build(dense, 1).totalSquares) > 1e-11*first.totalSquares {
					t.Errorf("%s: total %v", name, first.totalSquares)
				}
				got := choose(first, 1, 1<<30)
				sameChoice(t, name, got, want)
				for _, threads := range []int{1, 3} {
					again := build(thin, threads)
					for _, memory := range []int64{targetStreamBytes(d, 20, again.height, profile.Entries, n), 1 << 30} {
						if other := choose(build(thin, threads), threads, memory); !slices.Equal(other.Order, got.Order) || !slices.Equal(other.Scores, got.Scores) {
							t.Errorf("%s, %d threads, %d bytes: other bits", name, threads, memory)
						}
					}
				}
				if rounds < 3 {
					a, b := leastSmoothErrors(kernel.NewTeam(1), thin, first, got), leastSmoothErrors(kernel.NewTeam(1), dense, build(dense, 1), want)
					for i := range b {
						if math.Abs(a[i]-b[i]) > 1e-9 {
							t.Errorf("%s: the least is %v, in full %v", name, a[i], b[i])
						}
					}
				}
			}
		}
	}
}

// Without some features, a target by its columns is the same as the target by its matrix.
func TestThinLayers(t *testing.T) {
	dense, thin, _ := thinGraphs(t, 260, 1000, 5)
	team := kernel.NewTeam(2)
	c := &thinColumns{Columns: thin.Columns}
	short, long := 0, 0
	out := make([]bool, thin.D)
	for j := range out {
		out[j] = j%3 == 0
		if c.isLongColumn(j) {
			long++
		} else {
			short++
		}
	}
	if short == 0 || long == 0 {
		t.Fatalf("%d short columns and %d long ones", short, long)
	}
	u := kernel.RowMajor(dense.C, dense.M, dense.D, dense.D).Trans()
	for _, gone := range [][]bool{nil, out} {
		want, got := dualMatrix(team, u, gone), c.dual(team, gone)
		size := 0.0
		for a := range thin.M {
			size = max(size, want.Data[a*thin.M+a])
		}
		for i, v := range want.Data {
			// Products of d pairs, of columns off their means by no more than their deviations.
			if math.Abs(got.Data[i]-v) > 4*float64(thin.D)*0x1p-53*size {
				t.Fatalf("CCᵀ[%d] is %v, want %v", i, got.Data[i], v)
			}
		}
	}
}
