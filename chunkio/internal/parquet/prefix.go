package parquet

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// DELTA_BYTE_ARRAY of values of one length is decoded here, because arrow v15 supports it only for byte arrays:
// parquet-mr's version 2 pages encode decimals and UUIDs this way if a dictionary does not save space. A page holds the
// lengths of the prefixes that values share with their predecessors, the lengths of the suffixes, and then the
// suffixes.

// expandSharedPrefixes turns the values of a checked DELTA_BYTE_ARRAY page into PLAIN values. It writes the page,
// including its levels, to the memory of *buf. The new page may be longer than the old one, but has at most limit
// bytes.
func expandSharedPrefixes(p *page, size int, limit int64, buf *[]byte) error {
	n, front := p.present, p.raw[:len(p.raw)-len(p.values)]
	whole := int64(len(front)) + int64(n)*int64(size)
	if whole > limit {
		return fmt.Errorf("%d values of %d bytes are encoded DELTA_BYTE_ARRAY, which the footer does not list", n, size)
	}
	var shared, rests deltaReader
	if n > 0 { // a page without values has not been checked
		var err error
		if shared, err = newDeltaReader(p.values, n); err != nil {
			return err
		}
		if rests, err = newDeltaReader(p.values[shared.size:], n); err != nil {
			return err
		}
	}
	raw := resizeBuffer(buf, int(whole))
	copy(raw, front)
	from, plain := p.values[shared.size+rests.size:], raw[len(front):]
	var last []byte
	for i := range n {
		prefix, rest := shared.nextInteger(), rests.nextInteger()
		switch {
		case prefix < 0 || rest < 0 || prefix > int64(size) || rest != int64(size)-prefix:
			return fmt.Errorf("value %d shares %d bytes and has %d of its own, where the type has %d", i, prefix, rest, size)
		case i == 0 && prefix > 0:
			return fmt.Errorf("the first value shares %d bytes with one of the page before, which cannot be decoded", prefix)
		case rest > int64(len(from)):
			return errors.New("page ends before its last value")
		}
		value := plain[i*size:][:size]
		copy(value, last[:prefix])
		copy(value[prefix:], from[:rest])
		last, from = value, from[rest:]
	}
	p.raw, p.values = raw, plain
	p.header.Encoding, p.header.Uncompressed = parquet.Encodings.Plain, len(raw)
	return nil
}

// deltaReader reads the DELTA_BINARY_PACKED integers at the start of a byte slice: blocks of parts (miniblocks).
type deltaReader struct {
	c             thrift.Reader // numbers are encoded as in Thrift
	size          int           // total bytes of the integers
	valuesPerPart int
	partsPerBlock uint64
	firstRead     bool // the first integer has been read
	last          int64
	smallestDelta int64  // smallest difference of the block
	widths        []byte // widths of the remaining parts of the block
	packed        []byte // differences of the current part, of width bits each
	width         int
	bit           int // start of the next difference
	left          int // differences left in the current part
}

func newDeltaReader(b []byte, n int) (d deltaReader, err error) {
	if d.size, err = checkDeltaIntegers(b, n); err != nil {
		return d, err
	}
	d.c = thrift.Reader{Bytes: b}
	block, minis := d.c.ReadUvarint(), d.c.ReadUvarint()
	d.c.ReadUvarint()
	d.valuesPerPart, d.partsPerBlock, d.last = int(block/minis), minis, d.c.ReadInteger()
	return d, nil
}

// nextInteger returns the next of the checked integers. It returns -1 if the difference has more bits than a difference
// of two lengths can have.
func (d *deltaReader) nextInteger() int64 {
	if !d.firstRead {
		d.firstRead = true
		return d.last
	}
	if d.left == 0 {
		if len(d.widths) == 0 {
			d.smallestDelta = d.c.ReadInteger()
			d.widths = d.c.TakeBytes(d.partsPerBlock)
		}
		d.width, d.widths = int(d.widths[0]), d.widths[1:]
		d.packed, d.bit, d.left = d.c.TakeBytes(uint64(d.valuesPerPart/8*d.width)), 0, d.valuesPerPart
	}
	if d.width > maxBits {
		return -1
	}
	d.last += d.smallestDelta + int64(extractBits(d.packed, d.bit, d.width))
	d.bit += d.width
	d.left--
	return d.last
}
