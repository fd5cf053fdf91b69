package survey

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

// noiseDeviations returns the threshold of noise for a graph of m rows. A column is used if the sum of its squared
// correlations exceeds its chance value by at least this number of standard deviations. With many rows the threshold is
// 4. Exactly this value separates the 20 informative columns of madelon from its other 480 columns, and 10 informative
// generated columns from 390 others. Few rows contain less information: over eight sets of 63 to 249 rows and thousands
// of genes alignment is best with 2 (NMI 56.1). The NMI is 55.4 with a threshold of 1 or 3, 51.2 with 4, and 53.9 if no
// column is left out.
func noiseDeviations(m int) float64 { return min(max(math.Sqrt(float64(m))/8, 2), 4) }

// correlateColumns adds up, for every column of the m×d points, its squared correlations with all other columns. It
// returns these sums as deviations from chance, in standard deviations, and the total over all pairs. It standardizes
// the columns of x in place. It costs 2md·min(m, d) + 2·min(m, d)³ flops.
//
// The chance value of a column is defined as follows: the column is a direction u drawn uniformly from the p = m−1
// dimensions of centred columns, and the other columns zₖ, of length 1, are fixed. With M = Σ zₖzₖᵀ the sum is uᵀMu.
// Its mean is tr(M)/p, the mean eigenvalue of M. See [chanceDistribution].
func correlateColumns(team *kernel.Team, x []float64, m, d int) (deviations []float64, sum float64) {
	varies := standardizeColumns(team, x, m, d)
	count := 0.0
	for _, v := range varies {
		if v {
			count++
		}
	}
	sums, squares, cubes := computeColumnPowers(team, x, m, d)
	deviations = make([]float64, d)
	for j := range d {
		if !varies[j] {
			deviations[j] = math.Inf(-1)
			continue
		}
		ownSum := max(sums[j]-1, 0) // without the column itself; and so do the traces below
		sum += ownSum
		others := newChanceDistribution(float64(m-1), count-1, max(squares-1-2*ownSum, 0), max(cubes-1-3*ownSum, 0))
		deviations[j] = others.standardScore(ownSum)
	}
	return deviations, sum
}

// computeColumnPowers returns zⱼᵀMzⱼ for the columns zⱼ of length 1, with M = Σ zₖzₖᵀ, and the traces of M² and M³.
func computeColumnPowers(team *kernel.Team, x []float64, m, d int) (sums []float64, squares, cubes float64) {
	sums, r, square, part := layOutColumnPowers(nil, m, d)
	points := kernel.RowMajor(x, m, d, d)
	if d <= m {
		kernel.Gemm(team, 1, points.Trans(), points, r)
		for j := range d {
			sums[j] = kernel.Dot(r.Data[j*d:][:d], r.Data[j*d:][:d])
		}
		squares, cubes = tracesOfSquareAndCube(team, r, square)
		return sums, squares, cubes
	}
	kernel.Gemm(team, 1, points, points.Trans(), r)
	for from := 0; from < d; from += panelColumns {
		columns := min(panelColumns, d-from)
		y := kernel.RowMajor(part[:m*columns], m, columns, columns)
		clear(y.Data)
		kernel.Gemm(team, 1, r, points.Sub(0, from, m, columns), y)
		for i := range m {
			for c, v := range y.Data[i*columns:][:columns] {
				sums[from+c] += x[i*d+from+c] * v
			}
		}
	}
	squares, cubes = tracesOfSquareAndCube(team, r, square)
	return sums, squares, cubes
}

func layOutColumnPowers(l *room.Layout, m, d int) (sums []float64, product, square kernel.Matrix[float64], part []float64) {
	order := min(m, d)
	sums, product, square = room.Slice[float64](l, d), kernel.NewMatrix[float64](l, order, order), kernel.NewMatrix[float64](l, order, order)
	if d > m { // product is XXᵀ, and part some columns of its product with X
		part = room.Slice[float64](l, m*min(panelColumns, d))
	}
	return sums, product, square, part
}

// panelColumns is the number of columns of a product with XXᵀ that computeColumnPowers keeps in memory at a time.
const panelColumns = 1024

func tracesOfSquareAndCube(team *kernel.Team, matrix, square kernel.Matrix[float64]) (squares, cubes float64) {
	kernel.Gemm(team, 1, matrix, matrix, square)
	return kernel.Dot(matrix.Data, matrix.Data), kernel.Dot(matrix.Data, square.Data)
}

// chanceDistribution is the distribution of uᵀMu for a uniform direction u in p dimensions. With t₁ = tr(M) and A = M
// − (t₁/p)·I, its mean is t₁/p, its variance 2tr(A²)/(p(p+2)) and its third central moment 8tr(A³)/(p(p+2)(p+4)). If
// columns are correlated, few directions dominate M, and the distribution has a long tail. Therefore it is
// approximated by the shifted gamma distribution with these three moments.
type chanceDistribution struct{ mean, deviate, shape float64 }

func newChanceDistribution(p, trace, squares, cubes float64) chanceDistribution {
	a := trace / p
	second := squares - trace*a
	third := cubes - 3*a*squares + 2*a*a*trace
	c := chanceDistribution{mean: a, deviate: math.Sqrt(max(2*second/(p*(p+2)), 0))}
	if skew := 8 * third / (p * (p + 2) * (p + 4)) / (c.deviate * c.deviate * c.deviate); skew > 0 {
		c.shape = 8 / (skew * skew)
	}
	return c
}

// standardScore converts a value to the standard score of a normal distribution that is exceeded with the same
// probability. It uses the approximation of a gamma variable by its cube root (Wilson and Hilferty, The distribution
// of chi-square, PNAS 1931).
func (c chanceDistribution) standardScore(value float64) float64 {
	z := (value - c.mean) / c.deviate
	switch {
	case c.deviate == 0: // the distribution is a point: there is no other column or no other direction
		return 0
	case c.shape == 0 || c.shape > maxShape:
		return z
	}
	v := 2 / (9 * c.shape)
	return (math.Cbrt(max(1+z*math.Sqrt(2/c.shape), 0)) - (1 - v)) / math.Sqrt(v)
}

// maxShape is the largest shape for which the gamma distribution is used. With a larger shape it is practically normal.
const maxShape = 1e9

// standardizeColumns centres the columns, scales them to length 1, and reports for each column whether it varies.
func standardizeColumns(team *kernel.Team, x []float64, m, d int) []bool {
	varies := make([]bool, d)
	eachColumnBlock(team, d, func(from, to int) {
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
			if varies[from+j] = l > 0 && l <= math.MaxFloat64 && l > float64(m)*mean[j]*mean[j]*constantShare; varies[from+j] {
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

// constantShare is the variance, as a share of the squared mean, below which a column is considered constant.
const constantShare = 1e-24

// blockColumns is the number of columns in a parallel task.
const blockColumns = 256

func eachColumnBlock(team *kernel.Team, columns int, visit func(from, to int)) {
	kernel.Each(team.Threads(), (columns+blockColumns-1)/blockColumns, func(b int) {
		visit(b*blockColumns, min((b+1)*blockColumns, columns))
	})
}

// dependenceDeviations is the least excess of the sum of squared correlations over its chance value that is
// significant, in standard deviations.
const dependenceDeviations = 5

// judgeDependence compares the mean squared correlation of two columns with 1/(m−1), its expectation for independent
// columns of m rows. sum is the sum of squared correlations over all pairs, and deviations are the results of
// correlateColumns for each column. For d independent columns the sum over all pairs is d(d−1)/(m−1), with a standard
// deviation of 2√(d(d−1))/m.
func (l *surveyRun) judgeDependence(deviations []float64, sum float64) {
	d := 0.0
	for _, z := range deviations {
		if !math.IsInf(z, -1) {
			d++
		}
	}
	pairs, m := d*(d-1), float64(l.m)
	if pairs == 0 {
		return
	}
	chance := pairs / (m - 1)
	l.Dependence = Test{Value: sum / pairs, Chance: chance / pairs, Trusted: sum-chance > dependenceDeviations*2*math.Sqrt(pairs)/m}
}

// judgeClusters compares the graph of the data with the surrogate's graph. value is the sum of the leading eigenvalues
// of the data's graph, and b the shares of the columns that this graph explains. chance and c are the same for the
// surrogate's graph. Clusters raise the sum, the mean share, or both. If only the mean share is significant, Clusters
// holds the mean shares.
func (s *Survey) judgeClusters(value, chance float64, b, c []float64) {
	s.Clusters = Test{Value: value, Chance: chance, Trusted: value > chance+minExcess}
	if shares := (Test{Value: meanValue(b), Chance: meanValue(c), Trusted: true}); !s.Clusters.Trusted && shares.Value > shares.Chance+minShareExcess {
		s.Clusters, s.ByShares = shares, true
	}
}

// fewColumns is the number of columns below which greedy is used if the columns have different units. If a twentieth of
// so few columns is chosen, one or two columns have to represent many columns in other units. Greedy measures how well
// the chosen columns represent the others, and the graph does not. On ten such sets with labels and 4 to 34 columns
// (dermatology, glass, iris, pima, shuttle, vehicle, vowel, wdbc, wine, zoo) the NMI of greedy is 6 points above that
// of alignment. On seven sets whose columns share a unit it is 9 points below.
const fewColumns = 40

func (s *Survey) decideMethod(t *Table) {
	varying := 0
	for j := range t.Columns {
		if t.Columns[j].isUsable() {
			varying++
		}
	}
	switch {
	case varying < fewColumns && s.Unit == Differing:
		s.Greedy, s.WhyGreedy = true, stream.Textf("fewer than %d columns, whose units differ", fewColumns)
	case !s.Clusters.Trusted && !s.isUnjudged:
		s.Greedy, s.WhyGreedy = true, stream.Textf("no clusters beyond factors")
	}
}

func sumLeadingEigenvalues(diffusion *spectral.Diffusion) (sum float64) {
	for _, v := range diffusion.Eigenvalues[:min(leadingCount, len(diffusion.Eigenvalues))] {
		sum += v
	}
	return sum
}

func meanValue(list []float64) (mean float64) {
	for _, v := range list {
		mean += v
	}
	return mean / float64(max(len(list), 1))
}

// CentredSquares returns the mean of every column of the m×d points x, and the squared length of the centred column.
func CentredSquares(team *kernel.Team, x []float64, m, d int) (means, squares []float64) {
	means, squares = make([]float64, d), make([]float64, d)
	eachColumnBlock(team, d, func(from, to int) {
		mean, square := means[from:to], squares[from:to]
		for i := range m {
			kernel.Axpy(1/float64(m), x[i*d+from:][:to-from], mean)
		}
		for i := range m {
			for j, v := range x[i*d+from:][:to-from] {
				v -= mean[j]
				square[j] += float64(v * v)
			}
		}
	})
	return means, squares
}
