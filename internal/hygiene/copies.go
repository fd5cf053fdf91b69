package hygiene

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// A copy has the same value in every row. Copies are found by the sum over the rows of a hash of position and value,
// modulo 2⁶⁴. It is equal for copies and does not depend on the order of rows, chunks and shards. The sums of two
// different columns are equal by chance once in 2⁶⁴ cases. (Merged parts with the same row numbers use the same keys,
// but only columns that exchange values between rows of the same number would be considered copies.) A column whose
// hash differs from all others has no copy, whatever rows follow, and is no longer hashed.

// hashValue hashes a value in the row with a given key. The hash of 0 is 0, so that absent entries cost nothing.
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

// firstRows is the number of rows of the first chunk that are hashed first. They distinguish most columns.
const firstRows = 64

func (f *Facts) addHashes(c *stream.Chunk) {
	from := 0
	if f.adds == 0 && c.Rows > firstRows {
		f.hashRows(c, 0, firstRows)
		f.markUniqueHashes()
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

func (f *Facts) markUniqueHashes() {
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

// originalColumns maps each column to the first wanted column of which it is a copy, or to itself.
func (f *Facts) originalColumns(wanted []bool) []int {
	first := make(map[uint64]int)
	original := make([]int, len(f.columns))
	for j := range f.columns {
		original[j] = j
		if col := &f.columns[j]; !col.isUnique && f.rows > 0 && (wanted == nil || wanted[j]) {
			if i, ok := first[col.hash]; ok {
				original[j] = i
			} else {
				first[col.hash] = j
			}
		}
	}
	return original
}
