package survey

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// maxTestAnchors is the number of anchors used for the tests and for the weights of the columns. Only the final graph
// has all anchors. A survey spends most of its time on eigenvectors. If the graphs for the tests, of the data and of
// the surrogates, also had all anchors, three quarters of the time would be spent on them.
const maxTestAnchors = 1000

func (l *surveyRun) surveyDense(ctx context.Context) error {
	all := l.m
	l.m = min(all, maxTestAnchors)
	deviations, sum := correlateColumns(l.team, l.makeScaledPoints(nil), l.m, l.table.Cols)
	l.judgeDependence(deviations, sum)
	used := l.leaveNoiseOut(deviations)
	x, d := l.makeScaledPoints(used), len(used)
	if d == 0 {
		l.addWarning("no column varies")
		return ctx.Err()
	}
	dataKernel, b, err := l.diffuseGraph(ctx, x, d)
	if err != nil {
		return err
	}
	l.adoptGraph(dataKernel, used, b)
	rows := makeSurrogate(l.team, x, l.m, d, l.opt.Seed)
	surrogateKernel, c, err := l.diffuseGraph(ctx, rows, d)
	if err != nil {
		return err
	}
	if l.judgeClusters(sumLeadingEigenvalues(dataKernel), sumLeadingEigenvalues(surrogateKernel), b, c); !l.Clusters.Trusted {
		return nil
	}
	adoptValues(l.team, rows, x, l.m, d)
	if _, c, err = l.diffuseGraph(ctx, rows, d); err != nil {
		return err
	}
	if l.m = all; all > maxTestAnchors {
		x = l.makeScaledPoints(used)
	}
	l.weighColumns(x, d, b, c)
	weighted, b, err := l.diffuseGraph(ctx, x, d)
	if err != nil {
		return err
	}
	l.adoptGraph(weighted, used, b)
	return nil
}

// makeScaledPoints returns the values of the anchors, i.e. of rows evenly spread over the sample, in the listed columns
// (nil means all columns). The values are centred by the means of all rows, and scaled.
func (l *surveyRun) makeScaledPoints(columns []int) []float64 {
	factor, t := l.scaleFactors(l.table), l.table
	if columns == nil {
		columns = make([]int, t.Cols)
		for j := range columns {
			columns[j] = j
		}
	}
	x := room.MakeSlice[float64](l.m * len(columns))
	for i := range l.m {
		row := t.Values[i*t.Rows/l.m*t.Cols:][:t.Cols]
		for k, j := range columns {
			if factor[j] > 0 {
				x[i*len(columns)+k] = (row[j] - t.Columns[j].Mean) * factor[j]
			}
		}
	}
	return x
}

// leaveNoiseOut records which columns are noise by their deviations, the results of correlateColumns, and returns the
// other columns. If fewer than two columns are left, it returns all columns that vary.
func (l *surveyRun) leaveNoiseOut(deviations []float64) []int {
	used, noise, varying := []int{}, []int{}, []int{}
	for j, z := range deviations {
		switch {
		case math.IsInf(z, -1):
			continue
		case z < noiseDeviations(l.m):
			noise = append(noise, j)
		default:
			used = append(used, j)
		}
		varying = append(varying, j)
	}
	if len(used) < 2 {
		return varying
	}
	l.Noise = noise
	return used
}

// diffuseGraph computes the graph of m points in d dimensions and its diffusion kernel K. It returns K and, for each
// column xᵢ, the share xᵢᵀKxᵢ/xᵢᵀxᵢ that the graph explains.
func (l *surveyRun) diffuseGraph(ctx context.Context, x []float64, d int) (*spectral.Diffusion, []float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	g, err := anchor.Among(x, l.m, d, anchor.Options{Neighbors: l.opt.Neighbors, Threads: l.team.Threads(), Limit: l.opt.Limit})
	if err != nil {
		return nil, nil, err
	}
	k, err := spectral.Diffuse(l.team, g, l.opt.Diffusion)
	if err != nil {
		return nil, nil, err
	}
	shares := make([]float64, d)
	_, squares := CentredSquares(l.team, x, l.m, d)
	for j, square := range squares {
		if square > 0 {
			shares[j] = min(k.A[j]/square, 1)
		}
	}
	return k, shares, nil
}

func (l *surveyRun) adoptGraph(diffusion *spectral.Diffusion, columns []int, shares []float64) {
	for i, j := range columns {
		l.Shares[j] = shares[i]
	}
	l.Norm, l.Warnings = diffusion.Norm, diffusion.Warnings
}

// weighColumns multiplies column i by √((wᵢ + chanceShare)/(w + chanceShare)), w being the largest wᵢ = (bᵢ − cᵢ)/(1 −
// cᵢ), which is at least 0. bᵢ is the share of the column that the graph of the data explains, and cᵢ the share that
// the surrogate's graph explains. wᵢ is the part due to clusters. If all wᵢ are tiny, the weights are similar.
func (l *surveyRun) weighColumns(x []float64, d int, b, c []float64) {
	weight, largest := make([]float64, d), 0.0
	for j := range weight {
		if c[j] < 1 {
			weight[j] = max((b[j]-c[j])/(1-c[j]), 0)
			largest = max(largest, weight[j])
		}
	}
	for j, w := range weight {
		weight[j] = math.Sqrt((w + chanceShare) / (largest + chanceShare))
	}
	eachColumnBlock(l.team, d, func(from, to int) {
		for i := range l.m {
			row := x[i*d:]
			for j := from; j < to; j++ {
				row[j] *= weight[j]
			}
		}
	})
}

// makeSurrogate returns W·X/√m for the m×d centred points X, with an m×m matrix W of independent normal numbers. The
// result consists of m normally distributed rows with the covariance of the points, and without clusters. The numbers
// of W are computed by hashes, so that they do not depend on the number of threads.
func makeSurrogate(team *kernel.Team, x []float64, m, d int, seed uint64) []float64 {
	w, out := layOutSurrogate(nil, m, d)
	kernel.Each(team.Threads(), m, func(i int) {
		for k := range m {
			w.Data[i*m+k] = normalFromBits(splitmix.Hash(seed, uint64(i)*uint64(m)+uint64(k)))
		}
	})
	kernel.Gemm(team, 1/math.Sqrt(float64(m)), w, kernel.RowMajor(x, m, d, d), out)
	return out.Data
}

func layOutSurrogate(l *room.Layout, m, d int) (w, out kernel.Matrix[float64]) {
	return kernel.NewMatrix[float64](l, m, m), kernel.NewMatrix[float64](l, m, d)
}

// normalFromBits returns the scaled sum of four uniform numbers of 16 bits, with mean 0 and variance 1. This is close
// enough to a normal number, because makeSurrogate adds up m of them for every entry of the product.
func normalFromBits(bits uint64) float64 {
	const invDeviation = 2.64289979213030e-05 // 1/√(4·(2³²−1)/12)
	sum := bits&0xFFFF + bits>>16&0xFFFF + bits>>32&0xFFFF + bits>>48
	return (float64(sum) - 2*0xFFFF) * invDeviation
}

// adoptValues replaces the values of every column of the surrogate by the values of the same column of the points x.
// The order of the rows remains as in the surrogate: the largest value of x replaces the surrogate's largest value, and
// so on. So a column of 0 and 1 stays a column of 0 and 1. Without this step such a column would seem to have clusters
// of its own, and would get more weight than columns that are correlated because of clusters. On votes of 0 and 1
// (HouseVotes84) the choice has an NMI of 43 with this step and of 12 without it, on DNA 28 and 16. On 36 other sets
// the mean NMI changes by less than a point.
func adoptValues(team *kernel.Team, surrogate, x []float64, m, d int) {
	type place struct {
		value float64
		row   int
	}
	eachColumnBlock(team, d, func(from, to int) {
		own, places := make([]float64, m), make([]place, m)
		for j := from; j < to; j++ {
			for i := range m {
				own[i], places[i] = x[i*d+j], place{surrogate[i*d+j], i}
			}
			slices.Sort(own)
			slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.value, b.value), a.row-b.row) })
			for rank, p := range places {
				surrogate[p.row*d+j] = own[rank]
			}
		}
	})
}
