package cluster

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// naiveHalves numbers the rows of a group by balanced 2-means on squared distances, in plain loops. from is the number
// of rows that were numbered before.
func naiveHalves(x matrix, group []int, seed uint64, from, first, clusters int, labels []int32) {
	if clusters == 1 {
		for _, i := range group {
			labels[i] = int32(first)
		}
		return
	}
	half := len(group) * (clusters / 2) / clusters
	draw := rand.New(rand.NewPCG(seed, uint64(from)<<32|uint64(from+len(group))))
	a, b := row(x, group[draw.IntN(len(group))]), row(x, group[draw.IntN(len(group))])
	var left, right []int
	for {
		nearer := slices.Clone(group)
		slices.SortStableFunc(nearer, func(i, j int) int {
			return cmp.Compare(naiveSquare(row(x, i), a)-naiveSquare(row(x, i), b), naiveSquare(row(x, j), a)-naiveSquare(row(x, j), b))
		})
		slices.Sort(nearer[:half])
		slices.Sort(nearer[half:])
		if slices.Equal(left, nearer[:half]) {
			break
		}
		left, right = nearer[:half], nearer[half:]
		a, b = naiveMean(x, left), naiveMean(x, right)
	}
	naiveHalves(x, left, seed, from, first, clusters/2, labels)
	naiveHalves(x, right, seed, from+half, first+clusters/2, clusters-clusters/2, labels)
}

func naiveMean(x matrix, group []int) []float64 {
	mean := make([]float64, x.Cols)
	for _, i := range group {
		for j, v := range row(x, i) {
			mean[j] += v / float64(len(group))
		}
	}
	return mean
}

func TestBalancedIsTheNaiveIteration(t *testing.T) {
	for seed := range uint64(10) {
		n, k, c := 200+37*int(seed), 1+int(seed), []int{2, 3, 7, 8, 16, 33, 1, 200, 5, 64}[seed]
		x, _ := blobs(seed, n, k, 5, 2)
		want := make([]int32, n)
		naiveHalves(x, sequence(n), seed, 0, 0, c, want)
		for _, threads := range []int{1, 3} {
			r := must.Get(KMeans(t.Context(), Matrix(x), Options{Clusters: c, Balanced: true, Seed: seed, Threads: threads}))(t)
			if !slices.Equal(r.Labels, want) || !r.Converged {
				t.Errorf("seed %d, %d×%d in %d clusters, %d threads: labels differ from the twin's, or converged is %t", seed, n, k, c, threads, r.Converged)
			}
			inertia := 0.0
			for number, size := range r.Sizes {
				var group []int
				for i, l := range r.Labels {
					if int(l) == number {
						group = append(group, i)
					}
				}
				if int(size) != len(group) || len(group) != n/c && len(group) != n/c+1 {
					t.Errorf("seed %d: cluster %d has %d rows and the size %d, want %d or one more", seed, number, len(group), size, n/c)
				}
				mean := naiveMean(x, group)
				for j, v := range mean {
					if d := v - row(matrix(r.Centers), number)[j]; d > 1e-12 || d < -1e-12 {
						t.Errorf("seed %d: centre %d is %v off in column %d", seed, number, d, j)
					}
				}
				for _, i := range group {
					inertia += naiveSquare(row(x, i), mean)
				}
			}
			if d := r.Inertia - inertia; d > 1e-10*inertia || d < -1e-10*inertia {
				t.Errorf("seed %d: inertia %v, want %v", seed, r.Inertia, inertia)
			}
		}
	}
}

// TestBalancedEdges: equal rows are parted all the same; as many clusters as rows have a row each; values too large are an
// error, and so are options that balanced clusters do not have.
func TestBalancedEdges(t *testing.T) {
	same := kernel.ColMajor(make([]float64, 3*10), 10, 3, 10)
	r := must.Get(KMeans(t.Context(), Matrix(same), Options{Clusters: 4, Balanced: true}))(t)
	if slices.Min(r.Sizes) != 2 || slices.Max(r.Sizes) != 3 || r.Inertia != 0 || !r.Converged {
		t.Errorf("ten equal rows in four clusters: %+v", r)
	}
	x, _ := blobs(3, 11, 2, 3, 1)
	if r := must.Get(KMeans(t.Context(), Matrix(x), Options{Clusters: 11, Balanced: true}))(t); r.Inertia != 0 {
		t.Errorf("eleven rows in eleven clusters: inertia %v", r.Inertia)
	}
	for i := range same.Data {
		same.Data[i] = 1e300 * float64(i%7)
	}
	if _, err := KMeans(t.Context(), Matrix(same), Options{Clusters: 2, Balanced: true}); !errors.Is(err, ErrOverflow) {
		t.Errorf("values near 1e300: %v, want ErrOverflow", err)
	}
	for _, opt := range []Options{{Spherical: true}, {RandomStarts: true}, {Restarts: 2}} {
		opt.Clusters, opt.Balanced = 2, true
		if _, err := KMeans(t.Context(), Matrix(x), opt); !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("%+v: %v, want a usage error", opt, err)
		}
	}
}

func TestBalancedBytes(t *testing.T) {
	x, _ := blobs(1, 4000, 30, 10, 1)
	opt := Options{Clusters: 50, Balanced: true, Threads: 1}.withDefaults()
	roomtest.CheckLayout(t, "halving", room.Measure(func(l *room.Layout) { layOutHalving(l, 4000, 30, 50) }), func() { must.Get(runHalving(t.Context(), x, opt))(t) })
}
