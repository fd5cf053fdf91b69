package survey

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkLook surveys 2,000 rows of 784 columns in clusters, of which 1,000 are anchors.
func BenchmarkLook(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	centre := make([]float64, 10*784)
	for i := range centre {
		centre[i] = r.NormFloat64()
	}
	table := columnsOf(2000, 784, func(i, j int) float64 { return centre[i%10*784+j] + 2*r.NormFloat64() })
	for b.Loop() {
		if _, err := ExamineTable(b.Context(), table, Options{Threads: 1}); err != nil {
			b.Fatalf("survey of 2,000 rows: %v", err)
		}
	}
}
