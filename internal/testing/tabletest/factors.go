package tabletest

import (
	"fmt"
	"math/rand/v2"
)

// NewFactors returns a table of factors: each column has one of them (kind "groups") or a mixture of all (kind
// "mixtures"), and noise. The loadings depend on seed alone, the rows also on draw.
func NewFactors(kind string, seed, draw uint64, rows, columns, factors int) (t Table) {
	loadings, random := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, draw))
	weights := make([][]float64, columns)
	for j := range weights {
		weights[j] = make([]float64, factors)
		for f := range factors {
			switch {
			case kind == "mixtures":
				weights[j][f] = loadings.NormFloat64()
			case f == j%factors:
				weights[j][f] = 0.7 + 0.3*loadings.Float64()
			}
		}
		t.Names, t.Cols = append(t.Names, fmt.Sprintf("x%02d", j)), append(t.Cols, make([]float64, rows))
	}
	own := make([]float64, factors)
	for i := range rows {
		for f := range own {
			own[f] = random.NormFloat64()
		}
		for j := range weights {
			for f, w := range weights[j] {
				t.Cols[j][i] += w * own[f]
			}
			t.Cols[j][i] += 20 + 0.5*random.NormFloat64()
		}
	}
	return t
}
