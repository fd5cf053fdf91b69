package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
)

// dictionary decodes dictionary-encoded pages: each distinct value is converted to
// float64 once, and the indices are looked up here. The library's own look-up makes
// garbage for every batch of indices; without it decoding mnist70k takes three fifths
// of the time and allocates a tenth.
type dictionary struct {
	plain []byte    // the dictionary page
	size  int       // distinct values; -1 where there is no dictionary
	table []float64 // the distinct values, once a page has needed them
	index hybrid    // of the page under way
}

// usesDictionary reports whether values so encoded are indices into a dictionary.
func usesDictionary(e parquet.Encoding) bool {
	return e == parquet.Encodings.PlainDict || e == parquet.Encodings.RLEDict
}

// startPage goes to the indices of the next page, one byte of width and then runs, and
// passes over the first skip of them. The page was checked.
func (d *dictionary) startPage(indices []byte, skip int) error {
	d.index = hybrid{b: indices[1:], width: int(indices[0])}
	return d.index.skip(skip)
}

// read fills dst with the values of the next indices.
func (d *dictionary) read(dst []float64) error {
	h := &d.index
	for len(dst) > 0 {
		if err := h.run(); err != nil {
			return err
		}
		run := dst[:min(len(dst), h.left)]
		if h.packed == nil {
			if uint64(h.value) >= uint64(len(d.table)) {
				return d.outside(uint64(h.value))
			}
			x := d.table[h.value]
			if math.Float64bits(x) == 0 { // the common long run
				clear(run)
			} else {
				for i := range run {
					run[i] = x
				}
			}
		} else if err := d.unpack(run); err != nil {
			return err
		}
		h.left -= len(run)
		dst = dst[len(run):]
	}
	return nil
}

// unpack looks up the next indices of a bit-packed run, as many at a time as one load
// of 8 bytes holds: after up to 7 bits of the index before, 57 bits are left, or all 64
// where indices are of whole bytes.
func (d *dictionary) unpack(dst []float64) error {
	h, table := &d.index, d.table
	width, mask, atOnce := h.width, uint64(1)<<h.width-1, 8
	if width > 8 {
		atOnce = 57 / width
	}
	for len(dst) >= atOnce && h.bit>>3+8 <= len(h.packed) {
		word := binary.LittleEndian.Uint64(h.packed[h.bit>>3:]) >> (h.bit & 7)
		for i := range dst[:atOnce] {
			v := word & mask
			if v >= uint64(len(table)) {
				return d.outside(v)
			}
			dst[i] = table[v]
			word >>= width
		}
		h.bit += atOnce * width
		dst = dst[atOnce:]
	}
	for i := range dst {
		v := h.next()
		if uint64(v) >= uint64(len(table)) {
			return d.outside(uint64(v))
		}
		dst[i] = table[v]
	}
	return nil
}

func (d *dictionary) outside(index uint64) error {
	return fmt.Errorf("index %d into a dictionary of %d values", index, d.size)
}
