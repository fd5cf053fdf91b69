package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

var errRunsShort = errors.New("the runs end before the page's last value")

// hybridReader reads Parquet's RLE/bit-packed hybrid encoding: runs of one repeated value, or of values packed in width
// bits each, least significant bit first. Levels, dictionary indices and booleans use this encoding. Reading beyond the
// end is an error and never yields zeros.
type hybridReader struct {
	rest  []byte // bytes after the current run
	width int    // bits of a value, 0..32

	left   int    // values left in the current run
	packed []byte // a bit-packed run and the bytes after it; nil in a repeated run
	bit    int    // position of the next value in packed, in bits
	value  uint32 // value of a repeated run
}

func bitsOfLevel(largestLevel uint8) int { return bits.Len8(largestLevel) }

func (h *hybridReader) loadNextRun() error {
	if h.left > 0 {
		return nil
	}
	head, n := binary.Uvarint(h.rest)
	if n <= 0 {
		return errRunsShort
	}
	h.rest = h.rest[n:]
	if head>>1 == 0 || head>>1 > math.MaxInt32/8 && head&1 == 1 || head>>1 > math.MaxInt32 {
		return fmt.Errorf("a run has length %d", head>>1)
	}
	count := int(head >> 1)
	if head&1 == 1 {
		size := count * h.width // the run has count groups of 8 values of width bits each
		h.left = 8 * count
		if size > len(h.rest) { // writers may omit the padding of the last group
			size = len(h.rest)
			h.left = 8 * size / h.width
			if h.left == 0 {
				return errRunsShort
			}
		}
		h.packed, h.rest, h.bit = h.rest, h.rest[size:], 0
		return nil
	}
	size := (h.width + 7) / 8
	if size > len(h.rest) {
		return errRunsShort
	}
	v := littleEndian(h.rest[:size])
	if v>>h.width != 0 {
		return fmt.Errorf("a run repeats %d, which does not fit in %d bits", v, h.width)
	}
	h.rest, h.packed, h.value, h.left = h.rest[size:], nil, uint32(v), count
	return nil
}

// littleEndian decodes a number of up to 8 bytes. Copying the bytes to a buffer and loading the buffer as one word
// would make the load wait for the copies, which took a twentieth of the decoding time of E-MNIST, whose runs are
// short.
func littleEndian(b []byte) (v uint64) {
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// maxBits is the greatest number of bits of a number that fits in 8 bytes, even if it begins at the last bit of a byte.
const maxBits = 57

// extractBits returns the number of the given width, in bits, that begins at the bit number bit of b, least significant
// bit first.
func extractBits(b []byte, bit, width int) uint64 {
	var word uint64
	if at := bit >> 3; at+8 <= len(b) {
		word = binary.LittleEndian.Uint64(b[at:])
	} else {
		word = littleEndian(b[at:])
	}
	return word >> (bit & 7) & (1<<width - 1)
}

func (h *hybridReader) nextPacked() uint32 {
	v := uint32(extractBits(h.packed, h.bit, h.width))
	h.bit += h.width
	return v
}

func (h *hybridReader) nextPackedWord(atMost int) (word uint64, count int) {
	at := h.bit >> 3
	if at+8 > len(h.packed) {
		return uint64(h.nextPacked()), 1
	}
	word = binary.LittleEndian.Uint64(h.packed[at:]) >> (h.bit & 7)
	count = min(atMost, maxBits/max(h.width, 1))
	h.bit += count * h.width
	return word, count
}

// skip moves past n values without returning them. The time for this is proportional to the number of runs, not to the
// number of values.
func (h *hybridReader) skip(n int) error {
	for n > 0 {
		if err := h.loadNextRun(); err != nil {
			return err
		}
		k := min(n, h.left)
		h.bit += k * h.width
		h.left -= k
		n -= k
	}
	return nil
}

// countEqual moves past n values and counts the occurrences of value. It returns an error for a value above limit.
func (h *hybridReader) countEqual(n int, limit, value uint32) (found int, err error) {
	for n > 0 {
		if err := h.loadNextRun(); err != nil {
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
			word, count := h.nextPackedWord(k)
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

func (h *hybridReader) readLevels(dst []uint8) error {
	for len(dst) > 0 {
		if err := h.loadNextRun(); err != nil {
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
				word, count := h.nextPackedWord(len(packed))
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
