package scan

import (
	"math/bits"
)

// GramRow has the columns and values of the entries other than 0 of a row of g = Σwx′x′ᵀ, from the diagonal on. x′ are
// the sparse rows before their shift is subtracted, and w their weights.
type GramRow struct {
	At    []int32
	Value []float64
}

// ProductCount returns the number of products of two entries whose sums are row p of g, from the diagonal on.
func (s *sparseBlock) ProductCount(p int) (n int) {
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		n += s.rowEnd[s.entryRow[k]] - int(s.entryAt[k])
	}
	return n
}

// RowScratch has d numbers for a row of g, which are 0 between rows. valueFlags has a bit for each number, set if it is
// in use, and wordFlags has a bit for each word of valueFlags.
type RowScratch struct {
	acc                   []float64
	valueFlags, wordFlags []uint64
}

// NewRowScratch returns scratch for rows of d numbers.
func NewRowScratch(d int) *RowScratch {
	words := (d + 63) / 64
	return &RowScratch{make([]float64, d), make([]uint64, words), make([]uint64, (words+63)/64)}
}

// GramRowFrom computes row p of g from the diagonal on: if full is true, by scanning a dense row from end to end, and
// otherwise by visiting only the numbers to which a product was added.
func (s *sparseBlock) GramRowFrom(w *RowScratch, p int, full bool, out *GramRow) {
	out.At, out.Value = out.At[:0], out.Value[:0]
	if full {
		s.addColumnFrom(w.acc, p, 0)
		for j, g := range w.acc[p:] {
			if g != 0 {
				out.At, out.Value = append(out.At, int32(p+j)), append(out.Value, g)
			}
		}
		clear(w.acc[p:])
		return
	}
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		i := s.entryRow[k]
		feature, value := s.rowEntries(i, int(s.entryAt[k]))
		x := value[0] * s.weight[i]
		for e, j := range feature {
			w.acc[j] += x * value[e]
			w.valueFlags[j>>6] |= 1 << (j & 63)
			w.wordFlags[j>>12] |= 1 << (j >> 6 & 63)
		}
	}
	for o := p >> 12; o < len(w.wordFlags); o++ {
		for over := w.wordFlags[o]; over != 0; over &= over - 1 {
			b := o<<6 + bits.TrailingZeros64(over)
			for word := w.valueFlags[b]; word != 0; word &= word - 1 {
				j := b<<6 + bits.TrailingZeros64(word)
				if g := w.acc[j]; g != 0 {
					out.At, out.Value = append(out.At, int32(j)), append(out.Value, g)
				}
				w.acc[j] = 0
			}
			w.valueFlags[b] = 0
		}
		w.wordFlags[o] = 0
	}
}
