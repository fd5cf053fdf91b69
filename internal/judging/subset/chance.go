package subset

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// Choice is a choice of columns of a matrix X that reconstruct all of its columns, together with the Gram matrix of X.
type Choice struct {
	*gram.Matrix // G; it is only read
	Rows         int64
	Chosen       []int // indices of the chosen columns, in the order of their choice; the user gave the first Keep
	Keep         int
	// If the columns are not centred, Mean contains their means and Weight the sum of the row weights: G includes the
	// part Weight·Mean·Meanᵀ, which does not change if the entries of a column are permuted. A nil Mean means that the
	// columns are centred.
	Mean   []float64
	Weight float64
	// Keys identify columns independently of their order, so that the random draws do not depend on the order. If
	// Keys is nil, column numbers are used.
	Keys    []uint64
	Seed    uint64
	Threads int
}

// Chance compares the share of ‖X‖² that a choice explains with the shares that choices explain by chance.
type Chance struct {
	K               int     // number of chosen columns that are compared: the first K
	Value           float64 // share that these columns explain
	Random, Spread  float64 // mean and standard deviation of the share over random choices of K columns
	Least, Best     float64 // least and largest share over random choices
	Draws           int     // number of random choices, or of all possible choices if all were compared
	Beaten          float64 // share of these choices that explain less
	Permuted        float64 // mean share that greedy's choices of permuted columns explain
	PermutedSpread  float64 // standard deviation of these shares
	Better, Related bool    // Better: than random columns; Related: better than greedy's choices of permuted columns
	Worse           bool    // worse than nearly all random choices
}

const (
	// maxSubsets is the largest number of possible choices for which all of them are compared. If there are more
	// possible choices, random ones are drawn.
	maxSubsets = 5000
	// maxDraws is the number of random choices drawn. Fewer are drawn if all of them would cost more than cheapWork
	// flops. But at least minDraws are drawn unless these would cost more than maxWork flops.
	maxDraws, minDraws = 100, 20
	cheapWork, maxWork = 4e8, 2e9
	// manyCopies permuted copies are drawn for up to maxColumnsManyCopies columns, and fewCopies for up to
	// maxColumnsDrawn columns: 5 copies of 1024 columns cost 6 GFLOP and 16 MiB. For more columns the distribution of
	// greedy's share over permuted copies is approximated.
	manyCopies, maxColumnsManyCopies = 19, 320
	fewCopies, maxColumnsDrawn       = 5, 1024
)

// comparedCount returns the number of chosen columns that are compared. It is at most half of the number of columns,
// and at most half of the n−1 dimensions of centred columns of n rows. More random columns explain too much for a
// comparison. For many columns it is at most a quarter of the dimensions, because the approximation used for many
// columns is valid only up to this number.
func (c *Choice) comparedCount() int {
	k := min(len(c.Chosen), max(1, c.D/2), max(1, int(c.Rows-1)/2))
	if c.D > maxColumnsDrawn {
		k = min(k, max(1, int(c.Rows-1)/4), int(math.Sqrt(maxWork/float64(c.D))))
	}
	return k
}

const (
	// minColumns is the least number of columns of X for a comparison. If there are fewer, any few columns explain the
	// others.
	minColumns = 6
	// saturatedShare is the explained share above which a comparison is meaningless: random columns explain as much.
	saturatedShare = 0.99
)

// Compare compares the choice with chance. It returns nil if no column is chosen or X is 0, and if a comparison is
// meaningless because there are too few columns or because the columns explain too much. It costs d·k² flops for each
// of up to 100 random choices. For up to 1024 columns it also costs 2d³/3 + 2kd² flops for each of 5 to 19 permuted
// copies. It needs the memory given by [CompareBytes].
func Compare(ctx context.Context, c Choice) (*Chance, error) {
	k := c.comparedCount()
	if k == 0 || k >= c.D || c.Rows < 3 || k < c.Keep {
		return nil, ctx.Err()
	}
	out, err := c.compareRandom(ctx, k)
	if out == nil || err != nil {
		return nil, err
	}
	return out, c.comparePermuted(ctx, out)
}

// CompareRandom compares the choice only with random choices. It returns nil in the same cases as [Compare], and also
// if G is given by a factor and computing the products of the factor's rows would take too long. It needs the memory
// given by [CurveBytes].
func CompareRandom(ctx context.Context, c Choice) (*Chance, error) {
	k := c.comparedCount()
	if k == 0 || k >= c.D || c.Rows < 3 || c.IsFactor() && float64(c.Rank)*float64(c.Rank)*float64(c.D) > maxWork {
		return nil, ctx.Err()
	}
	return c.compareRandom(ctx, k)
}

func (c *Choice) compareRandom(ctx context.Context, count int) (*Chance, error) {
	out := &Chance{K: count, Value: ExplainedShare(c.Matrix, c.Chosen[:count], c.Threads), Least: 1}
	if c.D < minColumns || out.Value >= saturatedShare {
		return nil, ctx.Err()
	}
	work := float64(count) * float64(count) * float64(c.D)
	out.Draws = max(3, int(min(minDraws, maxWork/work)), int(min(maxDraws, cheapWork/work)))
	all := countSubsets(c.D, count)
	if all <= maxSubsets && float64(all)*work <= maxWork {
		out.Draws = all
	}
	shares := make([]float64, out.Draws)
	next := func(draw int) []int { return c.randomColumns(uint64(draw), count) }
	if out.Draws == all {
		subsets := combin.NewCombinationGenerator(c.D, count)
		next = func(int) []int {
			subsets.Next()
			return subsets.Combination(nil)
		}
	}
	for r := range shares {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shares[r] = ExplainedShare(c.Matrix, next(r), c.Threads)
		out.Best, out.Least = max(out.Best, shares[r]), min(out.Least, shares[r])
		if shares[r] < out.Value-dependentShare {
			out.Beaten += 1 / float64(out.Draws)
		}
	}
	out.Random, out.Spread = meanAndDeviation(shares)
	out.Better = out.Beaten >= 1-significance
	out.Worse = out.Beaten <= significance/2 && (out.Draws >= maxDraws || out.Value < out.Random-2*out.Spread)
	return out, nil
}

// countSubsets returns the number of subsets of k of the columns, or [maxSubsets] + 1 if there are more.
func countSubsets(columns, k int) int {
	return int(min(math.Round(combin.GeneralizedBinomial(float64(columns), float64(k))), maxSubsets+1))
}

// CompareBytes returns the memory that [Compare] needs in addition to G, for k chosen columns of d.
func CompareBytes(d, k int) int64 {
	return room.Measure(func(l *room.Layout) {
		l.Phase(func() { l.Add(CurveBytes(d, k) + 16*int64(d)) }) // random columns have an order and hashes
		if l.Add(16 * int64(d)); d <= maxColumnsDrawn {           // squares and keys
			kernel.NewMatrix[float64](l, d, d)
			l.Add(kernel.TeamBytes(d, d))
			l.Phase(func() { layOutPermutedDraw(l, d, d) })
			l.Add(greedy.Bytes(d, k, 0))
		}
	})
}

func (c *Choice) columnKey(i int) uint64 {
	if c.Keys == nil {
		return uint64(i)
	}
	return c.Keys[i]
}

func (c *Choice) randomColumns(drawNumber uint64, k int) []int {
	order, hash := make([]int, c.D), make([]uint64, c.D)
	for i := range order {
		order[i], hash[i] = i, splitmix.Hash(c.Seed^splitmix.Mix(drawNumber), c.columnKey(i))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hash[a], hash[b]) })
	return order[:k]
}

// comparePermuted runs greedy on copies with permuted columns, and compares the choice with the results. It completes
// the result `out`, which compareRandom has begun. The comparison is needed because greedy's choice is better than a
// random choice even if the columns are unrelated.
func (c *Choice) comparePermuted(ctx context.Context, out *Chance) error {
	squares, keys := make([]float64, c.D), make([]uint64, c.D)
	offset := 0.0 // part of ‖X‖² that the column means explain in every permuted copy
	for i := range squares {
		keys[i], squares[i] = c.columnKey(i), c.At(i, i)
		if c.Mean != nil {
			about := c.Weight * c.Mean[i] * c.Mean[i]
			squares[i] = max(squares[i]-about, 0)
			offset += about
		}
	}
	dims, total := int(c.Rows-1), sumValues(squares)
	most, err := c.permutedMaximum(ctx, out, squares, keys, offset)
	if err != nil {
		return err
	}
	// On average, k random columns of a permuted copy explain themselves and, of the other columns, the part that lies
	// in their k dimensions.
	ownShare := float64(out.K) / float64(c.D)
	random := (offset + total*(ownShare+(1-ownShare)*float64(out.K)/float64(dims))) / (offset + total)
	correlated := c.hasCorrelations(squares)
	out.Related = correlated && out.Value > most
	out.Better = correlated && out.Better && out.Value-out.Random > most-random
	return nil
}

const (
	// maxPairedColumns is the largest number of columns whose correlations hasCorrelations computes if G is given by a
	// factor. In this case every entry of G costs an inner product of two columns of the factor.
	maxPairedColumns = 512
	// maxSpreadFactor is the largest spread of squared correlations that is used, in multiples of their spread between
	// unrelated normal columns. Among 100 unrelated columns the multiple was up to 3 for flags set in 1 to 10 of 100 rows,
	// 2 to 6 for log-normal values (σ = 1.5), and 1 to 5 for Student's t with 3 degrees of freedom. Related pairs cause a
	// larger spread. Without the limit they would raise the threshold so far that they are no longer significant.
	maxSpreadFactor = 6
)

// hasCorrelations reports whether the squared correlations of the columns are on average larger than the squared
// correlations of permuted columns. The latter have exactly the mean 1/(n−1) for n rows. The test uses the observed
// spread, because rarely set flags and heavy-tailed values have larger correlations by chance than normal columns.
func (c *Choice) hasCorrelations(squares []float64) bool {
	columns := make([]int, c.D)
	for i := range columns {
		columns[i] = i
	}
	if c.IsFactor() && c.D > maxPairedColumns {
		columns = c.randomColumns(0, maxPairedColumns)
	}
	n, total, total2 := 0.0, 0.0, 0.0
	for a, i := range columns {
		for _, j := range columns[:a] {
			g, both := c.At(i, j), squares[i]*squares[j]
			if c.Mean != nil {
				g -= c.Weight * c.Mean[i] * c.Mean[j]
			}
			if both > 0 {
				n, total, total2 = n+1, total+g*g/both, total2+g*g/both*(g*g/both)
			}
		}
	}
	mean, chance := total/n, 1/float64(c.Rows-1)
	deviation := min(math.Sqrt(max(total2/n-mean*mean, 0)), maxSpreadFactor*math.Sqrt2*chance)
	return mean > chance+2*deviation/math.Sqrt(n)
}

// permutedMaximum returns a bound of the share of ‖X‖² that greedy's choice explains in a permuted copy. A copy exceeds
// the bound by chance in 1 of 20 cases. squares are the columns' centred sums of squares, keys identify the columns,
// and offset is the part of ‖X‖² that the means explain.
func (c *Choice) permutedMaximum(ctx context.Context, out *Chance, squares []float64, keys []uint64, offset float64) (float64, error) {
	dims := int(c.Rows - 1)
	if c.D > maxColumnsDrawn {
		n, total := newNullModel(squares, float64(dims)), sumValues(squares)
		explained := n.greedyExplained(out.K)
		out.Permuted = (offset + explained) / (offset + total)
		// The error of the approximation is a few percent of the excess over random columns.
		ownSquares := float64(out.K) * total / float64(c.D)
		out.PermutedSpread = 0.05 * max(explained-ownSquares, 0) / (offset + total)
		return out.Permuted + 3*out.PermutedSpread, nil
	}
	team := kernel.NewTeam(c.Threads)
	random := rand.New(rand.NewPCG(c.Seed, 0x7065726d75746564))
	shares := make([]float64, fewCopies)
	if c.D <= maxColumnsManyCopies {
		shares = make([]float64, manyCopies)
	}
	for r := range shares {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		g := drawPermutedGram(team, squares, keys, dims, random)
		if c.Mean != nil {
			for i := range c.D {
				kernel.Axpy(c.Weight*c.Mean[i], c.Mean, g[i*c.D:][:c.D])
			}
		}
		res, err := greedy.Select(ctx, gram.Full(g, c.D), greedy.Options{K: out.K, Keep: c.Chosen[:c.Keep], Threads: c.Threads})
		if err != nil {
			return 0, err
		}
		shares[r] = 1 - res.Error[len(res.Error)-1]
	}
	out.Permuted, out.PermutedSpread = meanAndDeviation(shares)
	if len(shares) >= manyCopies {
		return slices.Max(shares), nil
	}
	// The mean and the deviation of few copies are only rough estimates. With 5 copies, another value of the same
	// distribution exceeds the mean by more than three deviations once in 40 cases.
	return out.Permuted + 3*out.PermutedSpread, nil
}

// greedyExplained returns the sum of the gains of greedy's first k columns if columns are unrelated. The gain of each
// column is estimated by its median in the distribution of [nullModel.exceedProbability]. For each of the k columns it
// computes about 20 Gamma functions for each group of the nullModel. The columns of a group have about equal sums of
// squares.
func (n *nullModel) greedyExplained(k int) (explained float64) {
	gain := 0.0
	for t := range k {
		u := n.modelWithoutLongest(t)
		want := float64(t) + 0.7 // the median of a Gamma variable of shape t+1
		lo, hi := 0.0, n.squares[0]*u.leftShare+u.sum
		if t > 0 { // the gain is close to the gain of the column before
			lo, hi = 0.9*gain, 1.1*gain
			for u.expectedAbove(lo) < want && lo > 0 {
				lo -= 0.1 * gain
			}
			for u.expectedAbove(hi) > want {
				hi += 0.1 * gain
			}
		}
		gain = u.levelWithCount(want, lo, hi)
		explained += gain
	}
	return explained
}

// meanAndDeviation returns the mean and the standard deviation, with divisor len(x) − 1.
func meanAndDeviation(x []float64) (mean, deviation float64) {
	mean = sumValues(x) / float64(len(x))
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(len(x)-1, 1)))
}
