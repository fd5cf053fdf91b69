package hygiene

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// A copy has the same value in every row. Sums over the rows of a hash of position and value, modulo 2⁶⁴,
// are the same for copies whatever the order, the chunks and the shards; those of two columns that differ
// agree by chance once in 2⁶⁴. (Parts that number their rows alike add up under the same keys: only
// columns that exchange values between rows of one number would pass for copies.) Columns of which a hash
// differs from all others' are told apart for good, and hashed no more.

// hashOf is the hash of a value in the row of a key; 0 for 0, so that absent entries cost nothing.
func hashOf(key uint64, x float64) uint64 {
	switch {
	case x == 0: // -0 too
		return 0
	case x != x:
		x = math.NaN()
	}
	hi, lo := bits.Mul64(math.Float64bits(x)^key, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

// firstRows of the first chunk tell most columns apart.
const firstRows = 64

func (f *Facts) addHashes(c *stream.Chunk) {
	from := 0
	if f.adds == 0 && c.Rows > firstRows {
		f.hashRows(c, 0, firstRows)
		f.settleCopies()
		from = firstRows
	}
	f.hashRows(c, from, c.Rows)
}

func (f *Facts) hashRows(c *stream.Chunk, from, to int) {
	keys := f.keys[from:to]
	for j := range f.columns {
		col := &f.columns[j]
		if col.alone {
			continue
		}
		for i, x := range c.Col(j)[from:to] {
			col.hash += hashOf(keys[i], x)
		}
	}
}

// settleCopies tells columns apart whose hash no other has.
func (f *Facts) settleCopies() {
	var sorted []uint64
	for j := range f.columns {
		if col := &f.columns[j]; !col.alone {
			sorted = append(sorted, col.hash)
		}
	}
	slices.Sort(sorted)
	for j := range f.columns {
		if col := &f.columns[j]; !col.alone {
			at, _ := slices.BinarySearch(sorted, col.hash)
			col.alone = at+1 == len(sorted) || sorted[at+1] != col.hash
		}
	}
}

// originals are, by column, the first wanted column that it is a copy of; its own number where it is none.
func (f *Facts) originals(wanted []bool) []int {
	first := make(map[uint64]int)
	of := make([]int, len(f.columns))
	for j := range f.columns {
		of[j] = j
		if col := &f.columns[j]; !col.alone && f.rows > 0 && (wanted == nil || wanted[j]) {
			if i, ok := first[col.hash]; ok {
				of[j] = i
			} else {
				first[col.hash] = j
			}
		}
	}
	return of
}
