package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// BenchmarkPass beside the plain loop over columns, which is as fast up to some 100
// products a row and falls behind from there.
func BenchmarkPass(b *testing.B) {
	const n = 8192
	for _, k := range []int{5, 25, 100, 784} {
		for _, c := range []int{10, 40} {
			x, _ := blobs(1, n, k, c, 1)
			centers := take(x, sequence(c))
			labels := make([]int32, n)
			b.Run(fmt.Sprintf("k=%d/c=%d/pass", k, c), func(b *testing.B) {
				p := NewPass(kernel.NewTeam(1), centers, false)
				for b.Loop() {
					p.start(centers)
					if err := p.Add(labels, x); err != nil {
						b.Fatal(err)
					}
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

// BenchmarkSeeds reports the passes that k-means++ is worth.
func BenchmarkSeeds(b *testing.B) {
	for _, c := range []int{10, 500} {
		x, _ := blobs(2, 20000, 100, c, 1)
		b.Run(fmt.Sprintf("n=%d/k=%d/c=%d", x.Rows, x.Cols, c), func(b *testing.B) {
			team := kernel.NewTeam(0)
			for b.Loop() {
				if _, err := seeds(team, x, nil, c, rand.NewPCG(1, 1)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("n=%d/k=%d/c=%d/pass", x.Rows, x.Cols, c), func(b *testing.B) {
			p := NewPass(kernel.NewTeam(0), take(x, sequence(c)), false)
			for b.Loop() {
				if err := p.Add(nil, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	a, l := randomGroups(r, 70000, 10), randomGroups(r, 70000, 10)
	for b.Loop() {
		if _, err := Compare(a, l); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(70000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
