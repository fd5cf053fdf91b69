package hygiene

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Copies are columns that have the same value in every row. They are found by a sum over the rows: a hash of position
// and value, modulo 2⁶⁴. The sum is equal for copies, and does not depend on the order of rows, chunks and shards. The
// sums of two different columns are equal by chance once in 2⁶⁴ cases. If merged parts of a table have rows with equal
// numbers, and two columns differ only by an exchange of values between such rows, they are also considered copies. A
// column whose sum differs from all other sums cannot become a copy by later rows, and is no longer hashed.

// hashValue hashes the value x of the row with the given key. The hash of 0 is 0, so that absent entries cost nothing.
func hashValue(key uint64, x float64) uint64 {
	switch {
	case x == 0: // also -0
		return 0
	case x != x:
		x = math.NaN()
	}
	hi, lo := bits.Mul64(math.Float64bits(x)^key, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

// firstRows is the number of rows of the first chunk that are hashed before its other rows. These few rows are enough
// to show that most columns have no copy. The other rows of these columns are then not hashed.
const firstRows = 64

func (f *Facts) hashChunk(c *stream.Chunk) {
	from := 0
	if f.adds == 0 && c.Rows > firstRows {
		f.hashRows(c, 0, firstRows)
		f.markColumnsWithUniqueHash()
		from = firstRows
	}
	f.hashRows(c, from, c.Rows)
}

func (f *Facts) hashRows(c *stream.Chunk, from, to int) {
	keys := f.keys[from:to]
	for j := range f.columns {
		col := &f.columns[j]
		if col.isUnique {
			continue
		}
		for i, x := range c.Col(j)[from:to] {
			col.hash += hashValue(keys[i], x)
		}
	}
}

func (f *Facts) markColumnsWithUniqueHash() {
	var sorted []uint64
	for j := range f.columns {
		if col := &f.columns[j]; !col.isUnique {
			sorted = append(sorted, col.hash)
		}
	}
	slices.Sort(sorted)
	for j := range f.columns {
		if col := &f.columns[j]; !col.isUnique {
			at, _ := slices.BinarySearch(sorted, col.hash)
			col.isUnique = at+1 == len(sorted) || sorted[at+1] != col.hash
		}
	}
}

func (f *Facts) originalColumns(isWanted []bool) []int {
	first := make(map[uint64]int)
	original := make([]int, len(f.columns))
	for j := range f.columns {
		original[j] = j
		if col := &f.columns[j]; !col.isUnique && f.rows > 0 && (isWanted == nil || isWanted[j]) {
			if i, ok := first[col.hash]; ok {
				original[j] = i
			} else {
				first[col.hash] = j
			}
		}
	}
	return original
}

// distinctSketch holds the k distinct values of a column with the smallest hashes, and how often each occurs. These are
// a uniform sample of the distinct values, which does not depend on the order of the rows (bottom-k: Cohen and Kaplan,
// Summarizing data using bottom-k sketches, PODC 2007). If no value repeats, all counts are 1. If values repeat, k
// divided by the sum of the counts estimates the share of distinct values.
type distinctSketch struct {
	seen  int64 // number of observed values
	hash  []uint64
	count []uint32
}

const (
	// sketchSize is the number k of a distinctSketch. If one value in 20 of a column is repeated, the error of the
	// estimated share is 0.01.
	sketchSize = 256
	// maxSketched is the largest number of columns with a sketch. If a table has more columns of rarely repeated whole
	// numbers, the numbers are measurements and not identifiers.
	maxSketched = 256
	// decisiveRows is the number of rows after which most columns are found to repeat their values. A column in which
	// fewer than half of the values are distinct is not an identifier.
	decisiveRows = 64
)

func (s *distinctSketch) addValue(x float64) {
	s.seen++
	h := splitmix.Mix(math.Float64bits(x + 0)) // -0 becomes 0
	n := len(s.hash)
	if n == sketchSize && h > s.hash[n-1] {
		return
	}
	at, found := slices.BinarySearch(s.hash, h)
	if found {
		s.count[at]++
		return
	}
	s.insertHash(at, h, 1)
}

func (s *distinctSketch) layOut(l *room.Layout) {
	s.hash, s.count = room.Slice[uint64](l, sketchSize)[:0], room.Slice[uint32](l, sketchSize)[:0]
}

func (s *distinctSketch) insertHash(index int, h uint64, count uint32) {
	if s.hash == nil {
		s.layOut(nil)
	}
	if n := len(s.hash); n == sketchSize {
		s.hash, s.count = s.hash[:n-1], s.count[:n-1]
	}
	s.hash, s.count = slices.Insert(s.hash, index, h), slices.Insert(s.count, index, count)
}

func (s *distinctSketch) mergeSketch(other *distinctSketch) {
	s.seen += other.seen
	for i, h := range other.hash {
		at, found := slices.BinarySearch(s.hash, h)
		switch {
		case found:
			s.count[at] += other.count[i]
		case at < sketchSize:
			s.insertHash(at, h, other.count[i])
		}
	}
}

func (s *distinctSketch) subtractSketch(other *distinctSketch) {
	s.seen = max(s.seen-other.seen, 0)
	n := 0 // other has every hash of s that its rows have, because its own hashes are the least of fewer values
	for i, h := range s.hash {
		count := s.count[i]
		if at, found := slices.BinarySearch(other.hash, h); found {
			count -= min(count, other.count[at])
		}
		if count > 0 {
			s.hash[n], s.count[n] = h, count
			n++
		}
	}
	s.hash, s.count = s.hash[:n], s.count[:n]
}

func (s *distinctSketch) clone() *distinctSketch {
	return &distinctSketch{s.seen, slices.Clone(s.hash), slices.Clone(s.count)}
}

// distinctShare returns the number of distinct values of the column divided by the number of observed values. If there
// are more than k distinct values, it is an estimate. It is exactly 1 if no sampled value repeats.
func (s *distinctSketch) distinctShare() float64 {
	var sum int64
	for _, n := range s.count {
		sum += int64(n)
	}
	if sum == 0 {
		return 0
	}
	return float64(len(s.hash)) / float64(sum)
}

func (f *Facts) addToSketch(col *column, values []float64) {
	if col.distinct == nil {
		switch classifyRepeats(values) {
		case manyRepeat:
			col.ruleOutIdentifier(f)
			return
		case noneObserved:
			return
		}
		if f.candidates == maxSketched {
			f.ruleOutAllIdentifiers()
			return
		}
		f.candidates++
		col.distinct = new(distinctSketch)
	}
	for _, x := range values {
		switch {
		case x != x:
		case !isWhole(x):
			col.ruleOutIdentifier(f)
			return
		default:
			if col.distinct.addValue(x); col.distinct.seen%sketchSize == 0 && col.distinct.mostlyRepeats() {
				col.ruleOutIdentifier(f)
				return
			}
		}
	}
	if col.distinct.seen >= decisiveRows && col.distinct.mostlyRepeats() {
		col.ruleOutIdentifier(f)
	}
}

func (s *distinctSketch) mostlyRepeats() bool { return s.distinctShare() < 0.5 }

const (
	noneObserved = iota // all values are missing
	manyRepeat          // many values repeat, or a value is not a whole number
	fewRepeat           // nearly all values are different whole numbers
)

func classifyRepeats(values []float64) int {
	var room [decisiveRows]float64
	first := room[:0]
	for _, x := range values {
		if x != x {
			continue
		}
		if !isWhole(x) {
			return manyRepeat
		}
		if first = append(first, x); len(first) == decisiveRows {
			break
		}
	}
	if len(first) == 0 {
		return noneObserved
	}
	if len(first) < decisiveRows {
		return fewRepeat
	}
	slices.Sort(first)
	if len(slices.Compact(first)) < decisiveRows/2 {
		return manyRepeat
	}
	return fewRepeat
}

func (c *column) ruleOutIdentifier(f *Facts) {
	if c.isNotID = true; c.distinct != nil {
		c.distinct = nil
		f.candidates--
	}
}

func (f *Facts) ruleOutAllIdentifiers() {
	f.tooManyIDs = true
	for j := range f.columns {
		f.columns[j].ruleOutIdentifier(f)
	}
}
