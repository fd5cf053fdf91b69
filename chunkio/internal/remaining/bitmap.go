package remaining

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
)

// Bitmap is a set of row positions. It is a Roaring bitmap in the portable 64-bit format of
// https://github.com/RoaringBitmap/RoaringFormatSpec, and read in place: a few bytes may contain very many rows. The zero
// Bitmap is empty.
type Bitmap struct {
	portable []byte // without faults
	rows     int64
	end      uint64 // the last row, plus 1
}

// ParseBitmap parses a bitmap. It checks everything in it but the offsets of its containers, which nothing here uses.
func ParseBitmap(portable []byte) (Bitmap, error) {
	b, rest, err := cutBitmap(portable)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("the bitmap of its deleted rows ends %d bytes before its data", len(rest))
	}
	return b, err
}

func cutBitmap(data []byte) (b Bitmap, rest []byte, err error) {
	rest, err = visitRuns(data, func(start, end uint64) bool {
		b.rows, b.end = b.rows+int64(end-start), end
		return true
	})
	if err != nil {
		return Bitmap{}, nil, fmt.Errorf("the bitmap of its deleted rows is damaged: %w", err)
	}
	b.portable = data[:len(data)-len(rest)]
	return b, rest, nil
}

// Rows returns the number of rows in the set.
func (b Bitmap) Rows() int64 { return b.rows }

// IsWithin reports whether all rows of the set are in other too.
func (b Bitmap) IsWithin(other Bitmap) bool {
	for range subtractRuns(b.listRuns(), other.listRuns()) {
		return false
	}
	return true
}

// runs are sets of consecutive rows in rising order, each from its first row to before its end.
type runs = iter.Seq2[uint64, uint64]

func (b Bitmap) listRuns() runs {
	return func(yield func(start, end uint64) bool) {
		if len(b.portable) > 0 {
			_, _ = visitRuns(b.portable, yield) // the bitmap has no faults
		}
	}
}

func subtractRuns(all, without runs) runs {
	return func(yield func(start, end uint64) bool) {
		next, stop := iter.Pull2(without)
		defer stop()
		from, to, more := next()
		for start, end := range all {
			for start < end {
				for more && to <= start {
					from, to, more = next()
				}
				kept := end
				if more {
					kept = min(end, max(from, start))
				}
				if kept > start && !yield(start, kept) {
					return
				}
				if start = kept; start < end {
					start = min(to, end)
				}
			}
		}
	}
}

// Numbers of the format.
const (
	cookieWithoutRuns = 12346
	cookieWithRuns    = 12347 // in the lower half of 32 bits; the upper half is the number of containers less 1
	leastOffsets      = 4     // bitmaps with runs and fewer containers have no offsets
	containerRows     = 1 << 16
	mostInArray       = 4096 // containers with more rows are bit sets
)

var (
	errShort    = errors.New("it ends too early")
	errOrder    = errors.New("its rows are not in order")
	errCount    = errors.New("it has another number of rows than it says")
	errStopping = errors.New("the visitor wants no more runs")
)

func cutBytes(data []byte, n int) (cut, rest []byte, err error) {
	if len(data) < n {
		return nil, nil, errShort
	}
	return data[:n], data[n:], nil
}

// visitRuns calls visit for each run of a bitmap, until that returns false. It returns the data after the bitmap.
func visitRuns(data []byte, visit func(start, end uint64) bool) (rest []byte, err error) {
	head, rest, err := cutBytes(data, 8)
	if err != nil {
		return nil, err
	}
	last := int64(-1)
	for count := binary.LittleEndian.Uint64(head); count > 0; count-- {
		if head, rest, err = cutBytes(rest, 4); err != nil {
			return nil, err
		}
		key := int64(binary.LittleEndian.Uint32(head))
		if key <= last {
			return nil, errOrder
		}
		last = key
		if rest, err = visitContainers(rest, uint64(key)<<32, visit); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// visitContainers visits the runs of a 32-bit bitmap, whose first row is at base.
func visitContainers(data []byte, base uint64, visit func(start, end uint64) bool) (rest []byte, err error) {
	head, rest, err := cutBytes(data, 4)
	if err != nil {
		return nil, err
	}
	var areRuns []byte // a bit for each container
	count, hasOffsets := int(binary.LittleEndian.Uint16(head[2:]))+1, true
	switch cookie := binary.LittleEndian.Uint32(head); {
	case cookie == cookieWithoutRuns:
		if head, rest, err = cutBytes(rest, 4); err != nil {
			return nil, err
		}
		count = int(binary.LittleEndian.Uint32(head))
	case cookie&0xffff == cookieWithRuns:
		hasOffsets = count >= leastOffsets
		if areRuns, rest, err = cutBytes(rest, (count+7)/8); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("it begins with %d, which is no bitmap's number", cookie)
	}
	if count > containerRows {
		return nil, fmt.Errorf("it says that it has %d containers, and %d are possible", count, containerRows)
	}
	heads, rest, err := cutBytes(rest, 4*count)
	if err == nil && hasOffsets {
		_, rest, err = cutBytes(rest, 4*count)
	}
	last := -1
	for i := 0; i < count && err == nil; i++ {
		key, rows := int(binary.LittleEndian.Uint16(heads[4*i:])), int(binary.LittleEndian.Uint16(heads[4*i+2:]))+1
		if key <= last {
			return nil, errOrder
		}
		last = key
		visitHere := func(start, end uint64) bool { return visit(base+uint64(key)<<16+start, base+uint64(key)<<16+end) }
		switch {
		case areRuns != nil && areRuns[i/8]>>(i%8)&1 != 0:
			rest, err = visitRunContainer(rest, rows, visitHere)
		case rows <= mostInArray:
			rest, err = visitArray(rest, rows, visitHere)
		default:
			rest, err = visitBitSet(rest, rows, visitHere)
		}
	}
	return rest, err
}

func visitRunContainer(data []byte, rows int, visit func(start, end uint64) bool) (rest []byte, err error) {
	head, rest, err := cutBytes(data, 2)
	if err != nil {
		return nil, err
	}
	pairs, rest, err := cutBytes(rest, 4*int(binary.LittleEndian.Uint16(head)))
	if err != nil {
		return nil, err
	}
	last := -1
	for ; len(pairs) > 0; pairs = pairs[4:] {
		start, more := int(binary.LittleEndian.Uint16(pairs)), int(binary.LittleEndian.Uint16(pairs[2:]))
		if start <= last || start+more >= containerRows {
			return nil, errOrder
		}
		last = start + more
		rows -= more + 1
		if !visit(uint64(start), uint64(last)+1) {
			return nil, errStopping
		}
	}
	if rows != 0 {
		return nil, errCount
	}
	return rest, nil
}

func visitArray(data []byte, rows int, visit func(start, end uint64) bool) (rest []byte, err error) {
	array, rest, err := cutBytes(data, 2*rows)
	last := -1
	for ; len(array) > 0; array = array[2:] {
		row := int(binary.LittleEndian.Uint16(array))
		if row <= last {
			return nil, errOrder
		}
		last = row
		if !visit(uint64(row), uint64(row)+1) {
			return nil, errStopping
		}
	}
	return rest, err
}

func visitBitSet(data []byte, rows int, visit func(start, end uint64) bool) (rest []byte, err error) {
	set, rest, err := cutBytes(data, containerRows/8)
	if err != nil {
		return nil, err
	}
	for at := 0; at < containerRows; at += 64 {
		word := binary.LittleEndian.Uint64(set[at/8:])
		rows -= bits.OnesCount64(word)
		for word != 0 {
			start := bits.TrailingZeros64(word)
			length := bits.TrailingZeros64(^(word >> start))
			if !visit(uint64(at+start), uint64(at+start+length)) {
				return nil, errStopping
			}
			word &^= (1<<length - 1) << start
		}
	}
	if rows != 0 {
		return nil, errCount
	}
	return rest, nil
}
