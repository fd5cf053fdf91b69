package survey

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// noiseDeviations is how far above chance the squared correlations of a column must sum for it to take part
// in the graph. Of madelon's 500 columns exactly the 20 that inform do, of 400 made columns exactly the 10.
const noiseDeviations = 3

// correlations returns for every column of the m×d points the sum of its squared correlations with all others,
// in deviations from chance, and the sum over all pairs. The points' columns are standardized by this in place.
//
// Chance is a direction u drawn evenly from the p = m−1 dimensions of centred columns, the others as they are.
// With their m×m matrix M = Σ zₖzₖᵀ, zₖ of length 1, uᵀMu has the mean tr(M)/p and the variance
// 2(p·tr(M²) − tr(M)²)/(p²(p+2)).
func correlations(team *kernel.Team, x []float64, m, d int) (deviations []float64, sum float64) {
	varies := standardizeColumns(team, x, m, d)
	sums := make([]float64, d)
	var squares float64 // tr(M²) with all columns
	points := kernel.RowMajor(x, m, d, d)
	if d <= m {
		r := kernel.RowMajor(make([]float64, d*d), d, d, d)
		kernel.Gemm(team, 1, points.Trans(), points, r)
		for j := range d {
			sums[j] = kernel.Dot(r.Data[j*d:][:d], r.Data[j*d:][:d])
			squares += sums[j]
		}
	} else {
		k := kernel.RowMajor(make([]float64, m*m), m, m, m)
		kernel.Gemm(team, 1, points, points.Trans(), k)
		squares = kernel.Dot(k.Data, k.Data)
		const panel = 1024
		part := make([]float64, m*panel)
		for from := 0; from < d; from += panel {
			columns := min(panel, d-from)
			y := kernel.RowMajor(part[:m*columns], m, columns, columns)
			clear(y.Data)
			kernel.Gemm(team, 1, k, points.Sub(0, from, m, columns), y)
			for i := range m {
				for c, v := range y.Data[i*columns:][:columns] {
					sums[from+c] += x[i*d+from+c] * v
				}
			}
		}
	}
	count := 0.0
	for _, v := range varies {
		if v {
			count++
		}
	}
	p := float64(m - 1)
	deviations = make([]float64, d)
	for j := range d {
		if !varies[j] {
			deviations[j] = math.Inf(-1)
			continue
		}
		own := max(sums[j]-1, 0) // without the column itself
		sum += own
		rest := max(squares-1-2*own, 0) // tr(M²) of the others
		variance := 2 * (p*rest - (count-1)*(count-1)) / (p * p * (p + 2))
		deviations[j] = (own - (count-1)/p) / math.Sqrt(max(variance, math.SmallestNonzeroFloat64))
	}
	return deviations, sum
}

// standardizeColumns centres columns and gives them the length 1, and reports which vary.
func standardizeColumns(team *kernel.Team, x []float64, m, d int) []bool {
	varies := make([]bool, d)
	columnBlocks(team, d, func(from, to int) {
		mean, length := make([]float64, to-from), make([]float64, to-from)
		for i := range m {
			kernel.Axpy(1/float64(m), x[i*d+from:][:to-from], mean)
		}
		for i := range m {
			row := x[i*d+from:][:to-from]
			for j, v := range row {
				v -= mean[j]
				row[j] = v
				length[j] += float64(v * v)
			}
		}
		for j, l := range length {
			if varies[from+j] = l > 0 && l <= math.MaxFloat64 && l > float64(m)*mean[j]*mean[j]*rounding; varies[from+j] {
				length[j] = 1 / math.Sqrt(l)
			} else {
				length[j] = 0
			}
		}
		for i := range m {
			for j := range length {
				x[i*d+from+j] *= length[j]
			}
		}
	})
	return varies
}

// rounding is the variance, as a share of the squared mean, below which it is none.
const rounding = 1e-24

// blockColumns have one owner.
const blockColumns = 256

// columnBlocks calls do for blocks of the columns [from, to).
func columnBlocks(team *kernel.Team, d int, do func(from, to int)) {
	kernel.Each(team.Threads(), (d+blockColumns-1)/blockColumns, func(b int) {
		do(b*blockColumns, min((b+1)*blockColumns, d))
	})
}
