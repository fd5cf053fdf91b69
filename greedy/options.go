package greedy

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// defaultK is the number of features chosen where neither K nor Variance says more.
const defaultK = 50

// Options says how many features to choose and by which of the two algorithms.
// The zero value chooses min(50, d) features by Algorithm 1.
type Options struct {
	// K is the number of features to choose, Keep included. 0 means min(50, d), or
	// d where Variance is set, and what MinGain allows where that is.
	K int
	// Variance ends the selection as soon as this share of ‖X‖² is explained, a
	// number in (0, 1]; K then only caps it. 0 means to go on until K.
	Variance float64
	// MinGain ends the selection before the first feature, not to be kept, that takes less than this
	// share off ‖X‖² (of another target, off its square norm), a number in (0, 1); K then only caps it.
	// At most 1/MinGain features can do so. 0 means to go on until K.
	MinGain float64
	whole   float64 // ‖T‖² of a target T that scores are of; 0 where the features themselves are it
	// Keep lists columns that are chosen first, in this order, whatever their score.
	Keep []int
	// Choice says what may be chosen: blocks of columns in place of single ones, at what cost and
	// within which bounds. Where it has blocks K, Keep and Variance are of blocks; see [Result].
	method.Choice

	// Refine exchanges features of greedy's selection, one at a time, while that lowers what the
	// selection leaves of the target: as many are chosen, never a worse set, in two or three times
	// the time. Features to keep stay. A selection that explains everything is left as it is.
	Refine bool

	// Partitioned selects the partition-based Algorithm 2.
	Partitioned bool
	// Groups puts column i in group Groups[i], counted from 0. Nil draws a random
	// balanced partition. Only Algorithm 2 uses it and the next two.
	Groups []int
	// Partitions is the number of groups drawn; 0 means 1 % of d, at least 1.
	Partitions int
	// Seed draws the groups; in SelectStream it also seeds the sketch, which may
	// change the number of passes but never the answer.
	Seed uint64

	// Threads bounds the goroutines; 0 means GOMAXPROCS. The answer does not depend on it.
	Threads int
}

// Validate names every fault of o for d features in one *stream.UsageError.
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
		faults.Addf("{refine} swap exchanges single features; leave it out where groups, costs or a budget bind the choice")
	}
	if o.MinGain > 0 && o.Partitioned && !o.Single() {
		faults.Addf("{min-gain} counts what is explained of the data, and the partition-based algorithm chooses groups for sums of it; use {k}, or {method} greedy")
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

// withDefaults fills in the zero fields of valid options.
func (o Options) withDefaults(d int) Options {
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
	if o.Partitioned && o.Groups == nil {
		o.Partitions = cmp.Or(o.Partitions, DefaultPartitions(d))
		o.Groups = Partition(d, o.Partitions, o.Seed)
	}
	return o
}

// DefaultPartitions is the number of groups of Algorithm 2 for d features: 1 % of
// them, as in section 7 of the paper, at least 1.
func DefaultPartitions(d int) int { return max(1, d/100) }

// Partition puts d columns at random into c groups whose sizes differ by at most
// one: column i goes to the returned groups[i]. It depends on the arguments alone,
// so every run and shard draws the same groups.
func Partition(d, c int, seed uint64) []int {
	groups := make([]int, d)
	for i := range groups {
		groups[i] = i % c
	}
	// Fisher and Yates, written out: the library's Shuffle may change between Go versions.
	random := rand.NewPCG(seed, 0x67726f757073)
	for i := d - 1; i > 0; i-- {
		j := int(random.Uint64() % uint64(i+1))
		groups[i], groups[j] = groups[j], groups[i]
	}
	return groups
}

// groupCount is the number of groups, empty ones below the largest number included.
func groupCount(groups []int) int { return slices.Max(groups) + 1 }
