package kernel

import "encoding/binary"

// Lookup writes table[v] to dst for the integers v in packed, starting at position bit. Each v has width ≤ 32 bits, the
// least significant first, as Parquet packs the indices of a dictionary. Lookup returns how many values it wrote. This
// is less than len(dst) only if the next integer is not an index of table, or if packed ends. All instruction sets give
// the same values. AVX2 takes a quarter to a third of the time of plain Go.
func Lookup(dst, table []float64, packed []byte, bit, width int) (written int) {
	if best.lookup == nil || width == 0 || len(table) == 0 {
		return lookupGo(dst, table, packed, bit, width)
	}
	for bit&7 != 0 && written < len(dst) { // up to 7 integers, until a group of 8 starts at a byte
		if lookupGo(dst[written:written+1], table, packed, bit, width) == 0 {
			return written
		}
		written++
		bit += width
	}
	rest := packed[min(bit>>3, len(packed)):]
	groups := (len(dst) - written) / 8
	// The last four numbers of a group are loaded as 16 bytes.
	if fit := len(rest) - (width/2 + 16); fit < 0 {
		groups = 0
	} else {
		groups = min(groups, fit/width+1)
	}
	if groups > 0 {
		n := best.lookup(groups, &rest[0], width, &lookupPatterns[width], &table[0], len(table), &dst[written])
		written += 8 * n
		bit += 8 * n * width
	}
	return written + lookupGo(dst[written:], table, packed, bit, width)
}

// lookupGo loads 8 bytes at a time and looks up all integers that are complete in them. Up to 7 of the bits belong to
// the previous integer, so 57 bits can be used, or all 64 if each integer is one byte.
func lookupGo(dst, table []float64, packed []byte, bit, width int) (written int) {
	mask, atOnce := uint64(1)<<width-1, 8
	if width > 8 || width == 8 && bit&7 != 0 {
		atOnce = 57 / width
	}
	for len(dst)-written >= atOnce && bit>>3+8 <= len(packed) {
		word := binary.LittleEndian.Uint64(packed[bit>>3:]) >> (bit & 7)
		for range atOnce {
			v := word & mask
			if v >= uint64(len(table)) {
				return written
			}
			dst[written] = table[v]
			written++
			word >>= width
		}
		bit += atOnce * width
	}
	for written < len(dst) && bit+width <= 8*len(packed) {
		var word uint64
		for i, b := range packed[bit>>3 : (bit+width+7)>>3] {
			word |= uint64(b) << (8 * i)
		}
		v := word >> (bit & 7) & mask
		if v >= uint64(len(table)) {
			return written
		}
		dst[written] = table[v]
		written++
		bit += width
	}
	return written
}

// lookupPatterns describes, for each width, how the bytes of 8 packed integers become 8 words. The first four integers
// come from the first 16 bytes, the last four from the 16 bytes that start at byte width/2. Elements 0 to 7 of an array
// select the bytes of each word. Elements 8 to 15 are the bits by which each word is shifted. Element 16 is a mask.
var lookupPatterns = func() (s [33][17]uint64) {
	for width := range s {
		s[width][16] = 1<<width - 1
		for i := range 8 {
			bit := i * width
			if i >= 4 {
				bit -= width / 2 * 8
			}
			s[width][8+i] = uint64(bit & 7)
			for k := range 8 {
				take := uint64(0x80) // selects a zero byte
				if 8*k < bit&7+width {
					take = uint64(bit>>3 + k)
				}
				s[width][i] |= take << (8 * k)
			}
		}
	}
	return s
}()

// AllFinite reports whether x has neither NaN nor ±Inf.
func AllFinite(x []float64) bool {
	whole := 0
	if best.allFinite != nil && len(x) >= 16 {
		if !best.allFinite(len(x)/16, &x[0]) {
			return false
		}
		whole = len(x) / 16 * 16
	}
	return finiteGo(x[whole:])
}

// finiteGo has no branches. v−v is 0 for finite v and NaN otherwise, so the sum of all v−v is 0 if all are finite. Four
// independent sums keep several adders of the processor busy.
func finiteGo(x []float64) bool {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] - x[0]
		b += x[1] - x[1]
		c += x[2] - x[2]
		d += x[3] - x[3]
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}
