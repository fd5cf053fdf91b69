package hygiene

import (
	"math"
	"math/bits"
	"slices"

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
