package selection

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// defaultK is the number of features chosen without K and Variance.
const defaultK = 50

// Options sets how many features are chosen, and by which of the two algorithms of Farahat et al. (see package greedy).
// The zero value chooses min(50, d) features by Algorithm 1.
type Options struct {
	// K is the number of features to choose, including Keep. 0 means min(50, d); with Variance it means d, and with
	// MinGain the largest number that MinGain allows.
	K int
	// Variance ends the selection as soon as this share of ‖X‖² is explained. It is a number in (0, 1], and K is then
	// only an upper limit. 0 means that the selection continues until K.
	Variance float64
	// MinGain ends the selection before the first feature outside Keep that explains less than this share of ‖X‖² (for
	// another target, of its square norm). It is a number in (0, 1), and K is then only an upper limit. At most
	// 1/MinGain features can explain this share each. 0 means that the selection continues until K.
	MinGain float64
	// TargetSquares is ‖T‖² if the features reconstruct another target T than X: MinGain is then a share of it. 0 means
	// that T is X.
	TargetSquares float64
	// Keep lists columns that are chosen first, in this order, regardless of their scores.
	Keep []int
	// Choice holds constraints: costs, bounds, and blocks. A block is a set of columns that are chosen together. If
	// there are blocks, K is a number of blocks, and Keep has numbers of blocks; see [Result].
	method.Choice

	// Refine exchanges features of greedy's selection, one at a time, as long as that lowers the unexplained part of
	// the target. The result has the same number of features and is never worse, but takes two or three times as long.
	// Features in Keep stay. A selection that explains everything is left unchanged.
	Refine bool

	// Partitioned selects the partition-based Algorithm 2.
	Partitioned bool
	// Groups[i] is the group of column i, counted from 0. If Groups is nil, a random balanced partition is drawn. Only
	// Algorithm 2 uses Groups, Partitions and Seed. With Explain it groups the explained columns.
	Groups []int
	// Partitions is the number of groups drawn; 0 means 1 % of d, at least 1.
	Partitions int
	// Seed is the seed of the random groups. In greedy.SelectStream it also seeds the sketch, which may change the number of
	// passes but never the answer.
	Seed uint64

	// Threads is the largest number of goroutines; 0 means GOMAXPROCS. The answer does not depend on it.
	Threads int
}

// Validate returns one *stream.UsageError with all faults of o for d features.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	candidates := o.Candidates(d)
	method.RefuseNumber(&faults, o.K, candidates)
	o.Refuse(&faults, d)
	if !(o.Variance >= 0 && o.Variance <= 1) {
		faults.Addf("{variance} = %v is not a share between 0 and 1", o.Variance)
	}
	if !(o.MinGain >= 0 && o.MinGain < 1) {
		faults.Addf("{min-gain} = %v is not a share from 0 to below 1", o.MinGain)
	}
	method.RefuseKept(&faults, o.Keep, o.K, candidates)
	if o.Partitions < 0 || o.Partitions > d {
		faults.Addf("{partitions} = %d is not between 1 and the %d features", o.Partitions, d)
	}
	if (o.Groups != nil || o.Partitions > 0) && !o.Partitioned {
		faults.Addf("groups and {partitions} belong to the partition-based algorithm")
	}
	if o.Refine && (o.Most > 0 || !o.Single()) {
		faults.Addf("{refine} swap exchanges single features; leave it out if groups, costs or a budget restrict the choice")
	}
	if o.MinGain > 0 && o.Partitioned && !o.Single() {
		faults.Addf("{min-gain} counts the explained share of the data, but the partition-based algorithm chooses groups by sums of it; use {k}, or {method greedy}")
	}
	if o.Groups != nil && len(o.Explain) > 0 {
		faults.Addf("the groups of explained columns are drawn; leave Groups out")
	}
	if o.Groups != nil {
		if len(o.Groups) != d {
			faults.Addf("groups name %d columns, not the %d features", len(o.Groups), d)
		}
		for i, j := range o.Groups {
			if j < 0 || j >= d {
				faults.Addf("group %d of column %d is not between 0 and %d", j, i, d-1)
				break
			}
		}
	}
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults returns o for d features with defaults in place of zero fields. It draws the groups of Algorithm 2.
func (o Options) WithDefaults(d int) Options {
	if o.Budget > 0 && o.Blocks == nil {
		for j := range d {
			o.Blocks = append(o.Blocks, method.Block{Members: []int{j}, Cost: 1})
		}
	}
	candidates := o.Candidates(d)
	if o.K == 0 {
		switch o.K = candidates; {
		case o.MinGain > 0:
			o.K = method.MostGaining(candidates, len(o.Keep), o.MinGain)
		case o.Variance == 0 && o.Budget == 0:
			o.K = max(min(defaultK, candidates), len(o.Keep))
		}
	}
	o.K = min(o.K, o.Open(d))
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	switch {
	case len(o.Explain) > 0 && o.Groups == nil:
		o.Groups = o.groupExplained(d)
	case o.Partitioned && o.Groups == nil:
		o.Partitions = cmp.Or(o.Partitions, DefaultPartitions(d))
		o.Groups = Partition(d, o.Partitions, o.Seed)
	}
	return o
}

// groupExplained returns the groups of the features to explain, and −1 for all other features. In Algorithm 1 every
// feature is a group of its own: the target is the explained columns themselves, H = BᵀX.
func (o *Options) groupExplained(d int) []int {
	groups := slices.Repeat([]int{-1}, d)
	count := len(o.Explain)
	if o.Partitioned {
		count = min(cmp.Or(o.Partitions, DefaultPartitions(count)), count)
	}
	drawn := Partition(len(o.Explain), count, o.Seed)
	for n, j := range o.Explain {
		if groups[j] = drawn[n]; !o.Partitioned {
			groups[j] = n
		}
	}
	return groups
}

// DefaultPartitions returns the number of groups of d columns for Algorithm 2 of Farahat et al.: 1 % of d, at least 1.
func DefaultPartitions(d int) int { return max(1, d/100) }

// Partition puts d columns at random into c groups whose sizes differ by at most one: column i goes to the returned
// groups[i]. It depends on the arguments alone, so that every run and shard draws the same groups.
func Partition(d, c int, seed uint64) []int {
	groups := make([]int, d)
	for i := range groups {
		groups[i] = i % c
	}
	// This is the shuffle of Fisher and Yates in our own code: the library's Shuffle may change between Go versions.
	random := rand.NewPCG(seed, 0x67726f757073)
	for i := d - 1; i > 0; i-- {
		j := int(random.Uint64() % uint64(i+1))
		groups[i], groups[j] = groups[j], groups[i]
	}
	return groups
}

// StreamOptions are Options for rows that are read several times.
type StreamOptions struct {
	// Options refer to columns of the source: Keep, Forbid, Sets and Groups hold their numbers, and K is at most the
	// number of usable columns.
	Options
	Scale gram.Scale
	Fill  gram.Fill // replacement of missing entries, for a source under stream.MissingKeep
	// Profile describes all rows. If it is nil, one more pass computes it.
	Profile *gram.Profile
	Memory  int64         // largest number of bytes to hold, in addition to the source's chunks; 0 means 1 GiB
	Meter   *stream.Meter // counts all passes; nil counts nothing
	// Pass is called when each pass over the rows begins, with its number, counted from 1, and its purpose. The number
	// of passes is not known beforehand. Pass may be nil.
	Pass func(pass int, what string)
	// Checkpoint saves the results of passes over the rows, so that a later run of the same selection with the same
	// Memory and Threads does not repeat them; nil saves nothing.
	Checkpoint stream.Checkpoint
}
