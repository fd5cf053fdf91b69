package gram

import (
	"math"
	"slices"
)

const (
	// slots is four times the most bins: nine of ten look-ups then end at the first slot, and
	// with eight times as many the table no longer stays in the level-1 cache beside the column.
	slots    = 4 * HistogramBins
	slotBits = 8 // log₂(slots)

	// Keys that no number has, whatever the shift: the order of numbers ends with +Inf.
	zeroKey    = math.MaxUint64
	missingKey = math.MaxUint64 - 1
	emptySlot  = math.MaxUint64 - 2
)

// tally is a histogram while rows are added: a table to look keys up in. Zeros and missing
// entries have places in it like any bin.
type tally struct {
	shift uint
	bins  int // in the table, without zeros and missing entries
	fresh bool
	key   [slots]uint64
	sum   [slots]float64 // Σw
	rows  [slots]int64   // without weights: counted apart, as whole numbers add up faster
}

// addColumn adds a column's entries, with one weight each, or 1 where weight is nil.
func (c *histogram) addColumn(col, weight []float64) {
	var t tally
	t.load(c)
	for i, x := range col {
		x := math.Float64bits(x)
		key := keyOf(x, t.shift)
		at := slotOf(key)
		if t.key[at] != key {
			at = t.search(at, key, x)
		}
		if weight == nil {
			t.rows[at]++
		} else {
			t.sum[at] += weight[i]
		}
	}
	t.store(c)
}

// keyOf is the key of a number, from its bits.
func keyOf(x uint64, shift uint) uint64 {
	y := x << 1 // without the sign
	if y > 0x7FF<<53 {
		return missingKey
	}
	// All bits where y is 0, without a branch: among pixels zeros cannot be foreseen.
	return orderOf(x)>>(shift&63) | ((y|-y)>>63 - 1)
}

// slotOf is where a key is looked for first, by Fibonacci hashing.
func slotOf(key uint64) uint8 { return uint8(key * 0x9E3779B97F4A7C15 >> (64 - slotBits)) }

// search looks on from the first slot of the key of x, and makes a bin where there is none. A
// table is at most a quarter full, so that some slot is empty.
func (t *tally) search(at uint8, key, x uint64) uint8 {
	for ; t.key[at] != emptySlot; at++ {
		if t.key[at] == key {
			return at
		}
	}
	t.key[at], t.fresh = key, true
	if t.bins++; t.bins <= HistogramBins {
		return at
	}
	var c histogram
	t.store(&c)
	c.coarsen(c.shift + tooFine(len(c.bins), HistogramBins, func(i int) uint64 { return c.bins[i].key }))
	*t = tally{fresh: true}
	t.load(&c)
	key = keyOf(x, t.shift)
	if at = slotOf(key); t.key[at] == key {
		return at
	}
	return t.search(at, key, x)
}

// load fills an empty table.
func (t *tally) load(c *histogram) {
	t.shift, t.bins = c.shift, len(c.bins)
	for i := range t.key {
		t.key[i] = emptySlot
	}
	for _, b := range c.bins {
		t.sum[t.place(b.key)] = b.count
	}
	t.sum[t.place(zeroKey)] = c.zero
	t.sum[t.place(missingKey)] = c.missing
}

// place takes a slot for a key that has none.
func (t *tally) place(key uint64) uint8 {
	at := slotOf(key)
	for t.key[at] != emptySlot {
		at++
	}
	t.key[at] = key
	return at
}

// store writes the table to c. Bins need no sorting where c had all of them.
func (t *tally) store(c *histogram) {
	count := func(at uint8) float64 { return t.sum[at] + float64(t.rows[at]) }
	slot := func(key uint64) uint8 {
		at := slotOf(key)
		for t.key[at] != key {
			at++
		}
		return at
	}
	c.zero, c.missing = count(slot(zeroKey)), count(slot(missingKey))
	if !t.fresh {
		for i := range c.bins {
			c.bins[i].count = count(slot(c.bins[i].key))
		}
		return
	}
	c.shift = t.shift
	c.bins = slices.Grow(c.bins[:0], t.bins)
	for at, key := range t.key {
		if key < emptySlot {
			c.bins = append(c.bins, bin{key, count(uint8(at))})
		}
	}
	slices.SortFunc(c.bins, func(a, b bin) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
}
