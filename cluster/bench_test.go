package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// BenchmarkPass compares a pass with the plain loop over columns, which is as fast up to some 100 products a row and
// slower from there.
func BenchmarkPass(b *testing.B) {
	const n = 8192
	for _, k := range []int{5, 25, 100, 784} {
		for _, c := range []int{10, 40} {
			x, _ := blobs(1, n, k, c, 1)
			centers := take(x, sequence(c))
			labels := make([]int32, n)
			b.Run(fmt.Sprintf("k=%d/c=%d/pass", k, c), func(b *testing.B) {
				p := newPass(kernel.NewTeam(1), centers, false)
				for b.Loop() {
					p.startPass(centers)
					must.Do(b, p.Add(labels, Matrix(x)))
				}
				b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
			b.Run(fmt.Sprintf("k=%d/c=%d/plain", k, c), func(b *testing.B) {
				distance := make([]float64, c)
				for b.Loop() {
					for i := range n {
						clear(distance)
						for l := range k {
							v := x.Data[i+l*n]
							for j := range distance {
								diff := v - centers.Data[j*centers.RowStride+l]
								distance[j] += diff * diff
							}
						}
						best := 0
						for j, d := range distance {
							if d < distance[best] {
								best = j
							}
						}
						labels[i] = int32(best)
					}
				}
				b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// BenchmarkKMeans compares one start, moved at most 30 times, with the same steps in passes over all rows: of
// integers, whose sums are updated by the rows that moved, and of doubles.
func BenchmarkKMeans(b *testing.B) {
	for _, shape := range []struct{ n, k, c int }{{1440, 41, 20}, {1500, 600, 26}, {10000, 256, 10}, {10000, 16, 300}, {10000, 100, 500}} {
		x, _ := blobs(1, shape.n, shape.k, shape.c, 0.3)
		for _, sort := range []string{"doubles", "integers"} {
			if sort == "integers" {
				for i, v := range x.Data {
					x.Data[i] = math.Round(50 * v)
				}
			}
			opt := Options{Clusters: shape.c, MaxIter: 30, Threads: 1}
			for _, way := range []string{"bounds", "passes"} {
				b.Run(fmt.Sprintf("n=%d/k=%d/c=%d/%s/%s", shape.n, shape.k, shape.c, sort, way), func(b *testing.B) {
					passes := 0
					for b.Loop() {
						var r *Result
						var err error
						if way == "bounds" {
							r, err = KMeans(b.Context(), Matrix(x), opt)
						} else {
							r, err = plainRestart(b.Context(), kernel.NewTeam(1), x, nil, nil, opt.withDefaults(), 0)
						}
						must.Do(b, err)
						passes += len(r.Trace)
					}
					b.ReportMetric(float64(passes)/b.Elapsed().Seconds(), "passes/s")
					b.ReportMetric(float64(passes)*float64(shape.n)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}

// BenchmarkSeeds is k-means++ alone: one pass would search all rows once.
func BenchmarkSeeds(b *testing.B) {
	for _, c := range []int{10, 500} {
		x, _ := blobs(2, 20000, 100, c, 1)
		for i, v := range x.Data {
			x.Data[i] = float64(float32(v))
		}
		st, team := newStore(1, x), kernel.NewTeam(1)
		run := func(name string, once func() error) {
			b.Run(fmt.Sprintf("n=%d/k=%d/c=%d/%s", x.Rows, x.Cols, c, name), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, once())
				}
				b.ReportMetric(float64(x.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
		seed := func(st *store) func() error {
			return func() error {
				_, err := seedCenters(b.Context(), team, x, nil, st, []*worker{newWorker(st)}, c, rand.NewPCG(1, 1))
				return err
			}
		}
		run("store", seed(st))
		run("plain", func() error {
			_, err := seedCenters(b.Context(), team, x, nil, nil, nil, c, rand.NewPCG(1, 1))
			return err
		})
		p := newPass(team, take(x, sequence(c)), false)
		run("pass", func() error { return p.Add(nil, Matrix(x)) })
	}
}

func BenchmarkCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	a, l := randomGroups(r, 70000, 10), randomGroups(r, 70000, 10)
	for b.Loop() {
		must.Get(Compare(a, l))(b)
	}
	b.ReportMetric(70000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
