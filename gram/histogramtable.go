package gram

import (
	"math"
	"slices"
)

const (
	// tableSlots is four times the largest number of bins, so that nine of ten look-ups end at the first slot. With
	// eight times that number, the table and the column no longer fit the level-1 cache together.
	tableSlots = 4 * HistogramBins
	slotBits   = 8 // log₂(slots)

	// These keys belong to no number at any shift, because the order of numbers ends with +Inf.
	zeroKey    = math.MaxUint64
	missingKey = math.MaxUint64 - 1
	emptySlot  = math.MaxUint64 - 2
)

// tally is a histogram while rows are added: a hash table of its bins, including zeros and missing entries.
type tally struct {
	shift      uint
	bins       int // in the table, without zeros and missing entries
	hasNewBins bool
	key        [tableSlots]uint64
	sum        [tableSlots]float64 // Σw
	rows       [tableSlots]int64   // without weights; counted separately, because whole numbers add up faster
}

// addColumn adds the entries of a column with their weights. If weight is nil, each weight is 1.
func (c *histogram) addColumn(col, weight []float64) {
	var t tally
	t.loadHistogram(c)
	for i, x := range col {
		x := math.Float64bits(x)
		key := binKey(x, t.shift)
		at := firstSlot(key)
		if t.key[at] != key {
			at = t.findSlot(at, key, x)
		}
		if weight == nil {
			t.rows[at]++
		} else {
			t.sum[at] += weight[i]
		}
	}
	t.storeTo(c)
}

// binKey returns the key of a number at a shift, given its bits.
func binKey(x uint64, shift uint) uint64 {
	y := x << 1 // without the sign
	if y > 0x7FF<<53 {
		return missingKey
	}
	// The mask is all ones if y is 0. It avoids a branch, because zeros among pixels are unpredictable.
	return orderedBits(x)>>(shift&63) | ((y|-y)>>63 - 1)
}

// firstSlot returns the first slot to search for a key, by Fibonacci hashing.
func firstSlot(key uint64) uint8 { return uint8(key * 0x9E3779B97F4A7C15 >> (64 - slotBits)) }

// findSlot continues the search after the first slot of the key of x, and makes a bin if it finds none. A table is at
// most a quarter full, so there is an empty slot.
func (t *tally) findSlot(at uint8, key, x uint64) uint8 {
	for ; t.key[at] != emptySlot; at++ {
		if t.key[at] == key {
			return at
		}
	}
	t.key[at], t.hasNewBins = key, true
	if t.bins++; t.bins <= HistogramBins {
		return at
	}
	var c histogram
	t.storeTo(&c)
	c.coarsenTo(c.shift + extraShift(len(c.bins), HistogramBins, func(i int) uint64 { return c.bins[i].key }))
	*t = tally{hasNewBins: true}
	t.loadHistogram(&c)
	key = binKey(x, t.shift)
	if at = firstSlot(key); t.key[at] == key {
		return at
	}
	return t.findSlot(at, key, x)
}

func (t *tally) loadHistogram(c *histogram) {
	t.shift, t.bins = c.shift, len(c.bins)
	for i := range t.key {
		t.key[i] = emptySlot
	}
	for _, b := range c.bins {
		t.sum[t.claimSlot(b.key)] = b.count
	}
	t.sum[t.claimSlot(zeroKey)] = c.zero
	t.sum[t.claimSlot(missingKey)] = c.missing
}

func (t *tally) claimSlot(key uint64) uint8 {
	at := firstSlot(key)
	for t.key[at] != emptySlot {
		at++
	}
	t.key[at] = key
	return at
}

// storeTo writes the table to c. Bins need no sorting if c already had all of them.
func (t *tally) storeTo(c *histogram) {
	count := func(at uint8) float64 { return t.sum[at] + float64(t.rows[at]) }
	slot := func(key uint64) uint8 {
		at := firstSlot(key)
		for t.key[at] != key {
			at++
		}
		return at
	}
	c.zero, c.missing = count(slot(zeroKey)), count(slot(missingKey))
	if !t.hasNewBins {
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
