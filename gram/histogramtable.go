package gram

import (
	"math"
	"slices"
)

const (
	// tableSlots is four times the largest number of bins, so that nine of ten look-ups need only the first slot. With
	// eight times as many slots as bins, the table and the column would not fit into the level-1 cache together.
	tableSlots = 4 * HistogramBins
	slotBits   = 8 // log₂(tableSlots)

	// No number has one of these keys at any shift, because the largest key is that of +Inf.
	zeroKey    = math.MaxUint64
	missingKey = math.MaxUint64 - 1
	emptySlot  = math.MaxUint64 - 2
)

// binTable is a histogram to which rows are added: a hash table of its bins, including zeros and missing entries.
type binTable struct {
	shift      uint
	bins       int // number of bins in the table, without the bins of zeros and missing entries
	hasNewBins bool
	key        [tableSlots]uint64
	sum        [tableSlots]float64 // Σw
	rows       [tableSlots]int64   // number of rows without weights, counted separately because integers add up faster
}

// addColumn adds the entries of a column with their weights. If weight is nil, each weight is 1.
func (c *histogram) addColumn(col, weight []float64) {
	var t binTable
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
	t.storeHistogram(c)
}

// binKey returns the key, after a shift, of the number with the bits x. For 0 and NaN it is zeroKey and missingKey.
func binKey(x uint64, shift uint) uint64 {
	y := x << 1 // without the sign
	if y > 0x7FF<<53 {
		return missingKey
	}
	// The mask is all ones if y is 0. It replaces a branch, because zeros among pixels are unpredictable.
	return orderedBits(x)>>(shift&63) | ((y|-y)>>63 - 1)
}

// firstSlot returns the first slot to search for a key, by Fibonacci hashing.
func firstSlot(key uint64) uint8 { return uint8(key * 0x9E3779B97F4A7C15 >> (64 - slotBits)) }

// findSlot continues the search for a key after its first slot, and adds a bin if there is none. x are the number's
// bits. At most a quarter of the table is filled, so there is an empty slot.
func (t *binTable) findSlot(at uint8, key, x uint64) uint8 {
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
	t.storeHistogram(&c)
	c.coarsenToShift(c.shift + additionalShift(len(c.bins), HistogramBins, func(i int) uint64 { return c.bins[i].key }))
	*t = binTable{hasNewBins: true}
	t.loadHistogram(&c)
	key = binKey(x, t.shift)
	if at = firstSlot(key); t.key[at] == key {
		return at
	}
	return t.findSlot(at, key, x)
}

func (t *binTable) loadHistogram(c *histogram) {
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

func (t *binTable) claimSlot(key uint64) uint8 {
	at := firstSlot(key)
	for t.key[at] != emptySlot {
		at++
	}
	t.key[at] = key
	return at
}

// storeHistogram writes the table to c. If no bins were added, it keeps the order of c's bins, and needs no sorting.
func (t *binTable) storeHistogram(c *histogram) {
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
