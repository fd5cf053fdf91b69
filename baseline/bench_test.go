package baseline

import (
	"fmt"
	"testing"
)

// BenchmarkMCFS includes the eigenpairs of an m×m matrix.
func BenchmarkMCFS(b *testing.B) {
	for _, m := range []int{200, 500} {
		g := randomDense(1, 1000, m, 300, 1).graph()
		for _, k := range []int{20, 100} {
			b.Run(fmt.Sprintf("m=%d/d=%d/k=%d", m, g.D, k), func(b *testing.B) {
				for b.Loop() {
					if _, err := MCFS(g, MCFSOptions{K: k}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
