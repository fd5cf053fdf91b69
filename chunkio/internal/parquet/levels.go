package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

var errRunsShort = errors.New("the runs end before the page's last value")

// hybrid walks Parquet's RLE/bit-packed hybrid: runs of one repeated value, or of
// values packed in width bits each, least significant bit first. Levels, dictionary
// indices and booleans are stored so. Bytes behind the end are never read as zeros:
// running out is an error.
type hybrid struct {
	b     []byte // what follows the current run
	width int    // bits a value, 0..32

	left   int    // values left in the current run
	packed []byte // a bit-packed run and what follows it; nil in a repeated run
	bit    int    // position of the next value in packed, in bits
	value  uint32 // of a repeated run
}

// levelWidth is the number of bits that levels 0..limit need.
func levelWidth(limit uint8) int { return bits.Len8(limit) }

// run loads the next run when the current one is used up.
func (h *hybrid) run() error {
	if h.left > 0 {
		return nil
	}
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errRunsShort
	}
	h.b = h.b[n:]
	if head>>1 == 0 || head>>1 > math.MaxInt32/8 && head&1 == 1 || head>>1 > math.MaxInt32 {
		return fmt.Errorf("a run has length %d", head>>1)
	}
	count := int(head >> 1)
	if head&1 == 1 {
		size := count * h.width // count groups of 8 values of width bits
		h.left = 8 * count
		if size > len(h.b) { // writers may cut the last group's padding
			size = len(h.b)
			h.left = 8 * size / h.width
			if h.left == 0 {
				return errRunsShort
			}
		}
		h.packed, h.b, h.bit = h.b, h.b[size:], 0
		return nil
	}
	size := (h.width + 7) / 8
	if size > len(h.b) {
		return errRunsShort
	}
	v := littleEndian(h.b[:size])
	if v>>h.width != 0 {
		return fmt.Errorf("a run repeats %d, which does not fit in %d bits", v, h.width)
	}
	h.b, h.packed, h.value, h.left = h.b[size:], nil, uint32(v), count
	return nil
}

// littleEndian is the number of up to 8 bytes. A word that is loaded right after its bytes were
// stored one by one has to wait for them: on E-MNIST, whose runs are short, that took a
// twentieth of the time of decoding.
func littleEndian(b []byte) (v uint64) {
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// maxBits is the most that a number which begins at any bit of a byte has within 8 bytes.
const maxBits = 57

// bitsAt is the number of so many bits that begins at a bit of b, least significant first.
func bitsAt(b []byte, bit, width int) uint64 {
	var word uint64
	if at := bit >> 3; at+8 <= len(b) {
		word = binary.LittleEndian.Uint64(b[at:])
	} else {
		word = littleEndian(b[at:])
	}
	return word >> (bit & 7) & (1<<width - 1)
}

// next returns the next packed value.
func (h *hybrid) next() uint32 {
	v := uint32(bitsAt(h.packed, h.bit, h.width))
	h.bit += h.width
	return v
}

// some returns the next packed values, the first of them lowest, and how many they are: as many as
// one load of 8 bytes holds, but at most n.
func (h *hybrid) some(n int) (word uint64, count int) {
	at := h.bit >> 3
	if at+8 > len(h.packed) {
		return uint64(h.next()), 1
	}
	word = binary.LittleEndian.Uint64(h.packed[at:]) >> (h.bit & 7)
	count = min(n, maxBits/max(h.width, 1))
	h.bit += count * h.width
	return word, count
}

// skip passes over n values in time proportional to the number of runs.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		if err := h.run(); err != nil {
			return err
		}
		k := min(n, h.left)
		h.bit += k * h.width
		h.left -= k
		n -= k
	}
	return nil
}

// scan passes over n values, refuses any above limit, and counts how often value occurs.
func (h *hybrid) scan(n int, limit, value uint32) (found int, err error) {
	for n > 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
		k := min(n, h.left)
		h.left -= k
		n -= k
		if h.packed == nil {
			if h.value > limit {
				return 0, fmt.Errorf("value %d where at most %d is possible", h.value, limit)
			}
			if h.value == value {
				found += k
			}
			continue
		}
		for k > 0 {
			word, count := h.some(k)
			k -= count
			for range count {
				v := uint32(word & (1<<h.width - 1))
				if v > limit {
					return 0, fmt.Errorf("value %d where at most %d is possible", v, limit)
				}
				if v == value {
					found++
				}
				word >>= h.width
			}
		}
	}
	return found, nil
}

// levels fills dst.
func (h *hybrid) levels(dst []uint8) error {
	for len(dst) > 0 {
		if err := h.run(); err != nil {
			return err
		}
		k := min(len(dst), h.left)
		h.left -= k
		if h.packed == nil {
			for i := range dst[:k] {
				dst[i] = uint8(h.value)
			}
		} else {
			for packed := dst[:k]; len(packed) > 0; {
				word, count := h.some(len(packed))
				for i := range packed[:count] {
					packed[i] = uint8(word & (1<<h.width - 1))
					word >>= h.width
				}
				packed = packed[count:]
			}
		}
		dst = dst[k:]
	}
	return nil
}
