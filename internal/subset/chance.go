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
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// Choice is a choice of columns that reconstruct all, and the Gram matrix they are of.
type Choice struct {
	*gram.Matrix // only read
	Rows         int64
	Chosen       []int // in order; the first Keep were given
	Keep         int
	// Mean and Weight say how far the columns are from centred: G has Weight·Mean·Meanᵀ that
	// permuting entries does not take away. Nil means centred.
	Mean   []float64
	Weight float64
	// Keys tell columns apart, wherever they stand, so that permuting the columns permutes
	// what is drawn. Nil means their numbers.
	Keys    []uint64
	Seed    uint64
	Threads int
}

// Chance is what the choice explains of ‖X‖², as shares, beside what chance does.
type Chance struct {
	K               int     // the first so many of the chosen columns are compared
	Value           float64 // what they explain
	Random, Spread  float64 // what random columns explain: mean and standard deviation
	Least, Best     float64 // and the least and the most that some do
	Draws           int     // so many random choices, or all that there are
	Beaten          float64 // the share of them that explain less
	Permuted        float64 // what greedy's choice explains of permuted columns: the mean
	PermutedSpread  float64 // and standard deviation
	Better, Related bool    // than random columns; than greedy's choice of permuted ones
	Worse           bool    // than nearly all of the random choices
}

const (
	// mostSubsets is the number of choices up to which all are compared, in place of random ones.
	mostSubsets = 5000
	// mostDraws of random subsets are made, fewer where one costs more than cheapWork/mostDraws flops, but
	// fewestDraws as long as one costs no more than mostWork/fewestDraws.
	mostDraws, fewestDraws = 100, 20
	cheapWork, mostWork    = 4e8, 2e9
	// manyCopies of permuted columns are drawn, up to cheapDrawn columns, and fewCopies up to mostDrawn: 5
	// draws of 1024 take 6 GFLOP and 16 MiB. Beyond, their law is approximated.
	manyCopies, cheapDrawn = 19, 320
	fewCopies, mostDrawn   = 5, 1024
)

// compared is the number of the chosen columns that are compared. Half of the columns, or of
// the dimensions, explain so much at random that nothing could be told; and the
// approximation for many columns holds for the first quarter of the dimensions.
func (c *Choice) compared() int {
	k := min(len(c.Chosen), max(1, c.D/2), max(1, int(c.Rows-1)/2))
	if c.D > mostDrawn {
		k = min(k, max(1, int(c.Rows-1)/4), int(math.Sqrt(mostWork/float64(c.D))))
	}
	return k
}

const (
	// fewestCompared features are compared with chance: of fewer any few explain the others.
	fewestCompared = 6
	// saturated is the share from which random columns explain nearly all as well.
	saturated = 0.99
)

// Compare sets the choice beside chance; nil where there is nothing to choose or to
// explain, and where features are too few, or explain too much, to tell.
// Costs d·k² flops for each of up to 100 random choices and, up to 1024 columns, 2d³/3 + 2kd² for
// each of 5 to 19 permuted copies. It holds [CompareBytes].
func Compare(ctx context.Context, c Choice) (*Chance, error) {
	k := c.compared()
	if k == 0 || k >= c.D || c.Rows < 3 || k < c.Keep {
		return nil, ctx.Err()
	}
	out, err := c.besideRandom(ctx, k)
	if out == nil || err != nil {
		return nil, err
	}
	return out, c.permuted(ctx, out)
}

// CompareRandom sets the choice beside random ones only; nil as in [Compare]. Where G is a factor whose
// products of rows with each other take long it says nothing. It holds [CurveBytes].
func CompareRandom(ctx context.Context, c Choice) (*Chance, error) {
	k := c.compared()
	if k == 0 || k >= c.D || c.Rows < 3 || c.IsFactor() && float64(c.Rank)*float64(c.Rank)*float64(c.D) > mostWork {
		return nil, ctx.Err()
	}
	return c.besideRandom(ctx, k)
}

// besideRandom compares the first k chosen columns with as many random ones, or with all choices of as many.
func (c *Choice) besideRandom(ctx context.Context, k int) (*Chance, error) {
	out := &Chance{K: k, Value: Explained(c.Matrix, c.Chosen[:k], c.Threads), Least: 1}
	if c.D < fewestCompared || out.Value >= saturated {
		return nil, ctx.Err()
	}
	work := float64(k) * float64(k) * float64(c.D)
	out.Draws = max(3, int(min(fewestDraws, mostWork/work)), int(min(mostDraws, cheapWork/work)))
	all := countSubsets(c.D, k)
	if all <= mostSubsets && float64(all)*work <= mostWork {
		out.Draws = all
	}
	shares := make([]float64, out.Draws)
	next := func(draw int) []int { return c.random(uint64(draw), k) }
	if out.Draws == all {
		subsets := combin.NewCombinationGenerator(c.D, k)
		next = func(int) []int {
			subsets.Next()
			return subsets.Combination(nil)
		}
	}
	for r := range shares {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shares[r] = Explained(c.Matrix, next(r), c.Threads)
		out.Best, out.Least = max(out.Best, shares[r]), min(out.Least, shares[r])
		if shares[r] < out.Value-dependent {
			out.Beaten += 1 / float64(out.Draws)
		}
	}
	out.Random, out.Spread = moments(shares)
	out.Better = out.Beaten >= 1-significance
	out.Worse = out.Beaten <= significance/2 && (out.Draws >= mostDraws || out.Value < out.Random-2*out.Spread)
	return out, nil
}

// countSubsets is the number of choices of k of d, or more than [mostSubsets].
func countSubsets(d, k int) int {
	return int(min(math.Round(combin.GeneralizedBinomial(float64(d), float64(k))), mostSubsets+1))
}

// CompareBytes is what [Compare] holds beside G, for k chosen columns.
func CompareBytes(d, k int) int64 {
	b := CurveBytes(d, k) + 8*4*int64(d)
	if d <= mostDrawn {
		b = max(b, permutedBytes(d)+max(0, greedy.Bytes(d, k, 0)-8*int64(d)*int64(d)))
	}
	return b
}

// key tells column i apart.
func (c *Choice) key(i int) uint64 {
	if c.Keys == nil {
		return uint64(i)
	}
	return c.Keys[i]
}

// random is the r-th random choice of k columns: those of the smallest hashes.
func (c *Choice) random(r uint64, k int) []int {
	order, hash := make([]int, c.D), make([]uint64, c.D)
	for i := range order {
		order[i], hash[i] = i, splitmix.Hash(c.Seed^splitmix.Mix(r), c.key(i))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hash[a], hash[b]) })
	return order[:k]
}

// permuted fills in what greedy reaches on copies whose columns are permuted, and judges the choice by it. Greedy's
// choice of columns that have nothing to do with each other is better than random ones too: only what it is
// better by beyond that counts.
func (c *Choice) permuted(ctx context.Context, out *Chance) error {
	squares, keys := make([]float64, c.D), make([]uint64, c.D)
	offset := 0.0 // of the total: what the means explain in any copy
	for i := range squares {
		keys[i], squares[i] = c.key(i), c.At(i, i)
		if c.Mean != nil {
			about := c.Weight * c.Mean[i] * c.Mean[i]
			squares[i] = max(squares[i]-about, 0)
			offset += about
		}
	}
	dims, total := int(c.Rows-1), sum(squares)
	most, err := c.permutedMost(ctx, out, squares, keys, offset)
	if err != nil {
		return err
	}
	// What k random columns of a copy explain on average: themselves, and of the others k dimensions.
	own := float64(out.K) / float64(c.D)
	random := (offset + total*(own+(1-own)*float64(out.K)/float64(dims))) / (offset + total)
	correlated := c.correlated(squares)
	out.Related = correlated && out.Value > most
	out.Better = correlated && out.Better && out.Value-out.Random > most-random
	return nil
}

const (
	// mostPaired columns of a factor are correlated with each other, whose products are not there yet.
	mostPaired = 512
	// mostSpread is how many times as widely as those of normal columns the squared correlations of unrelated
	// ones are spread, at most: of 100 columns up to 3 times with flags set in 1 to 10 of 100 rows, 2 to 6 times with normal
	// logarithms of deviation 1.5, and 1 to 5 times by Student's t with 3 degrees. What is spread more is related in some pairs, which must not hide themselves.
	mostSpread = 6
)

// correlated reports whether the squared correlations of the columns are larger on average than those of permuted
// ones, whose mean 1/(n−1) is exact whatever the columns hold. Their spread is the one seen: flags that are rarely
// set and values of heavy tails have large correlations by chance, which the draws of normal columns don't know.
func (c *Choice) correlated(squares []float64) bool {
	columns := make([]int, c.D)
	for i := range columns {
		columns[i] = i
	}
	if c.IsFactor() && c.D > mostPaired {
		columns = c.random(0, mostPaired)
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
	deviation := min(math.Sqrt(max(total2/n-mean*mean, 0)), mostSpread*math.Sqrt2*chance)
	return mean > chance+2*deviation/math.Sqrt(n)
}

// permutedMost is the most that greedy reaches on permuted copies in 19 of 20 cases or more.
func (c *Choice) permutedMost(ctx context.Context, out *Chance, squares []float64, keys []uint64, offset float64) (float64, error) {
	dims := int(c.Rows - 1)
	if c.D > mostDrawn {
		n, total := newNull(squares, float64(dims)), sum(squares)
		explained := n.reached(out.K)
		out.Permuted = (offset + explained) / (offset + total)
		// The approximation is good to some percent of what exceeds random columns.
		own := float64(out.K) * total / float64(c.D)
		out.PermutedSpread = 0.05 * max(explained-own, 0) / (offset + total)
		return out.Permuted + 3*out.PermutedSpread, nil
	}
	team := kernel.NewTeam(c.Threads)
	random := rand.New(rand.NewPCG(c.Seed, 0x7065726d75746564))
	shares := make([]float64, fewCopies)
	if c.D <= cheapDrawn {
		shares = make([]float64, manyCopies)
	}
	for r := range shares {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		g := permuted(team, squares, keys, dims, random)
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
	out.Permuted, out.PermutedSpread = moments(shares)
	if len(shares) >= manyCopies {
		return slices.Max(shares), nil
	}
	// Mean and deviation of few copies are rough themselves: with 5, a value of the same law
	// is beyond three deviations once in 40 times.
	return out.Permuted + 3*out.PermutedSpread, nil
}

// reached is what greedy's first k columns explain: at each turn, what the gain in [null.chance]
// is in the median. Costs some 20 Gamma functions a turn for each group of columns of one length.
func (n *null) reached(k int) (explained float64) {
	at := 0.0
	for t := range k {
		u := n.after(t)
		want := float64(t) + 0.7 // the median of a Gamma variable of shape t+1
		lo, hi := 0.0, n.squares[0]*u.left+u.sum
		if t > 0 { // the last turn's gain is near
			lo, hi = 0.9*at, 1.1*at
			for u.above(lo) < want && lo > 0 {
				lo -= 0.1 * at
			}
			for u.above(hi) > want {
				hi += 0.1 * at
			}
		}
		at = u.level(want, lo, hi)
		explained += at
	}
	return explained
}

// moments are the mean and the standard deviation, with divisor one less than the number.
func moments(x []float64) (mean, deviation float64) {
	mean = sum(x) / float64(len(x))
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(len(x)-1, 1)))
}
