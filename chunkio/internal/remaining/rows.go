package remaining

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

const leafBytes = int64(unsafe.Sizeof(format.Leaf{}))

// blockWords is the number of words of groupRows.deleted that share an entry of groupRows.before.
const blockWords = 64

// groupRows contains the deleted rows of one row group.
type groupRows struct {
	all       int64    // rows in the file
	remaining int64    // rows that are not deleted
	deleted   []uint64 // bit i is set if row i is deleted; nil if none is
	before    []int64  // by block of deleted: the number of remaining rows before it
}

func (g *groupRows) heldBytes() int64 {
	return int64(unsafe.Sizeof(*g)) + 8 + 8*int64(len(g.deleted)+len(g.before))
}

func (g *groupRows) deleteRow(row int64) {
	if g.deleted == nil {
		g.deleted = make([]uint64, (g.all+63)/64)
	}
	g.deleted[row/64] |= 1 << (row % 64)
}

func (g *groupRows) isDeleted(row int64) bool { return g.deleted[row/64]>>(row%64)&1 != 0 }

func (g *groupRows) countRemaining() {
	g.remaining = g.all
	for w, gone := range g.deleted {
		if w%blockWords == 0 {
			g.before = append(g.before, g.remaining-g.all+64*int64(w))
		}
		g.remaining -= int64(bits.OnesCount64(gone))
	}
}

// findRow returns the position in the file's group of the remaining row number n.
func (g *groupRows) findRow(n int64) int64 {
	block, exact := slices.BinarySearch(g.before, n)
	if !exact {
		block--
	}
	for exact && block+1 < len(g.before) && g.before[block+1] == n { // blocks without remaining rows
		block++
	}
	left := n - g.before[block]
	for w := block * blockWords; ; w++ {
		kept := ^g.deleted[w]
		if count := int64(bits.OnesCount64(kept)); left >= count {
			left -= count
			continue
		}
		for ; left > 0; left-- {
			kept &= kept - 1
		}
		return 64*int64(w) + int64(bits.TrailingZeros64(kept))
	}
}

// visitPieces cuts the positions of the remaining rows [from, to) into pieces of at most size rows that contain a
// remaining row, and visits them in order.
func (g *groupRows) visitPieces(from, to, size int64, visit func(from, to int64) error) error {
	if from >= to {
		return nil
	}
	end := g.findRow(to-1) + 1
	for at := g.findRow(from); at < end; {
		next := min(at+size, end)
		if err := visit(at, next); err != nil {
			return err
		}
		if at = next; at < end {
			at = g.skipDeleted(at)
		}
	}
	return nil
}

// skipDeleted returns the position of the first remaining row from the position at on. There must be one.
func (g *groupRows) skipDeleted(at int64) int64 {
	for g.keptRows(at, g.all) == 0 {
		at += 64
	}
	for g.isDeleted(at) {
		at++
	}
	return at
}

// keptRows returns a bit for each of up to 64 rows from the position at on, beginning with the lowest bit. The bit of a
// remaining row is set. Rows from the position to on count as deleted.
func (g *groupRows) keptRows(at, to int64) uint64 {
	w, shift := at/64, uint(at%64)
	kept := ^g.deleted[w] >> shift
	if shift > 0 {
		kept &= 1<<(64-shift) - 1
		if int(w)+1 < len(g.deleted) {
			kept |= ^g.deleted[w+1] << (64 - shift)
		}
	}
	if n := to - at; n < 64 {
		kept &= 1<<n - 1
	}
	return kept
}

// moveKept copies the values of the remaining rows from the position from on to the beginning of dst, and returns their
// number. values begins with the row at from.
func moveKept[T any](g *groupRows, dst, values []T, from int64) int {
	n, first, to := 0, 0, from+int64(len(values)) // first is the first row of a run of remaining ones
	for at := 0; at < len(values); at += 64 {
		for gone := ^g.keptRows(from+int64(at), to); gone != 0; gone &= gone - 1 {
			end := at + bits.TrailingZeros64(gone)
			if end > first {
				n += copy(dst[n:], values[first:end])
			}
			first = end + 1
		}
	}
	if first < len(values) {
		n += copy(dst[n:], values[first:])
	}
	return n
}
