package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// The checks of this file protect arrow v15's decoders from damaged pages. These decoders ignore errors when they
// receive a page, read zeros after the end of runs, loop for ever when levels run out, and allocate memory for any
// dictionary index or number of values that a page claims.

// checkSections verifies the sections of a page against its header. It also counts the rows and the entries that are
// not null.
func (p *page) checkSections(col *column, dictSize int) (err error) {
	n := p.header.Values
	p.rows, p.present = n, n
	if col.rep > 0 {
		h := hybridReader{rest: p.rep, width: bitsOfLevel(col.rep)}
		if p.rows, err = h.countEqual(n, uint32(col.rep), 0); err != nil {
			return fmt.Errorf("repetition levels: %w", err)
		}
	}
	if col.def > 0 {
		h := hybridReader{rest: p.def, width: bitsOfLevel(col.def)}
		if p.present, err = h.countEqual(n, uint32(col.def), uint32(col.def)); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
	}
	if p.present == 0 {
		return nil
	}
	if err = checkEncodedValues(col, p.header.Encoding, p.values, p.present, dictSize); err != nil {
		return fmt.Errorf("values encoded %s: %w", encodingName(p.header.Encoding), err)
	}
	return nil
}

func checkDictionary(col *column, header PageHeader, dictionaryPage []byte) error {
	if header.Encoding != parquet.Encodings.Plain && header.Encoding != parquet.Encodings.PlainDict {
		return fmt.Errorf("dictionary is encoded %s, which cannot be decoded", encodingName(header.Encoding))
	}
	if err := checkPlainValues(col, dictionaryPage, header.Values); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	return nil
}

func checkEncodedValues(col *column, encoding parquet.Encoding, encoded []byte, count, dictSize int) error {
	if !col.canDecodeEncoding(encoding) {
		return errors.New("the encoding cannot be decoded")
	}
	switch encoding {
	case parquet.Encodings.Plain:
		return checkPlainValues(col, encoded, count)
	case byteStreamSplit:
		if len(encoded) != count*col.size { // in a longer section the distance between the bytes of a value would be ambiguous
			return fmt.Errorf("%d values need %d bytes where there are %d", count, count*col.size, len(encoded))
		}
		return nil
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		return checkIndices(encoded, count, dictSize)
	case parquet.Encodings.RLE:
		if len(encoded) < 4 {
			return errRunsShort
		}
		size := binary.LittleEndian.Uint32(encoded)
		if uint64(size) > uint64(len(encoded)-4) {
			return fmt.Errorf("runs claim %d bytes where there are %d", size, len(encoded)-4)
		}
		h := hybridReader{rest: encoded[4 : 4+size], width: 1}
		return h.skip(count)
	case parquet.Encodings.DeltaBinaryPacked:
		_, err := checkDeltaIntegers(encoded, count)
		return err
	case parquet.Encodings.DeltaLengthByteArray:
		_, err := checkDeltaIntegers(encoded, count)
		return err
	case parquet.Encodings.DeltaByteArray:
		if count > maxPrefixes {
			return fmt.Errorf("page of %d values", count)
		}
		used, err := checkDeltaIntegers(encoded, count) // lengths of the shared prefixes
		if err == nil {
			_, err = checkDeltaIntegers(encoded[used:], count) // lengths of the remaining bytes
		}
		return err
	}
	return nil
}

// maxPrefixes limits the number of values of a DELTA_BYTE_ARRAY page: the library allocates memory for all values
// before it decodes the first, and their encoding may take no bytes.
const maxPrefixes = 16 << 20

func checkPlainValues(col *column, encoded []byte, count int) error {
	need := count * col.size
	switch col.physical {
	case parquet.Types.Boolean:
		need = (count + 7) / 8
	case parquet.Types.ByteArray:
		need = 4 * count // each value has a length, which the library checks
	}
	if len(encoded) < need {
		return fmt.Errorf("%d values need %d bytes where there are %d", count, need, len(encoded))
	}
	return nil
}

// checkIndices verifies dictionary indices: one byte with the number of bits of an index, then encoded runs.
func checkIndices(b []byte, n, dictSize int) error {
	if dictSize < 0 {
		return errors.New("there is no dictionary")
	}
	if len(b) == 0 || b[0] > 32 {
		return errors.New("the width of the indices is not valid")
	}
	h := hybridReader{rest: b[1:], width: int(b[0])}
	// The library checks each index against the dictionary, but allocates memory for the index first. Indices with at
	// most one bit more than the dictionary needs cost little memory; only wider indices are checked one by one.
	if h.width <= bits.Len(uint(dictSize))+1 {
		return h.skip(n)
	}
	if dictSize == 0 {
		return errors.New("the dictionary is empty")
	}
	_, err := h.countEqual(n, uint32(dictSize-1), 0)
	return err
}

// checkDeltaIntegers verifies that b starts with exactly n DELTA_BINARY_PACKED integers and returns their length in
// bytes.
func checkDeltaIntegers(b []byte, n int) (used int, err error) {
	c := thrift.Reader{Bytes: b} // numbers are encoded as in Thrift
	block, minis, total := c.ReadUvarint(), c.ReadUvarint(), c.ReadUvarint()
	c.ReadUvarint() // first value
	if c.Err != nil {
		return 0, c.Err
	}
	const maxBlock = 1 << 20
	if minis == 0 || block > maxBlock || block%minis != 0 || block/minis%8 != 0 || block == 0 {
		return 0, fmt.Errorf("blocks of %d values in %d parts", block, minis)
	}
	if total != uint64(n) {
		return 0, fmt.Errorf("holds %d values where the page has %d", total, n)
	}
	perMini := int(block / minis)
	for left := n - 1; left > 0; {
		c.ReadUvarint() // smallest delta
		widths := c.Pos
		c.SkipBytes(minis)
		if c.Err != nil {
			return 0, c.Err
		}
		for _, w := range b[widths:c.Pos] {
			if left <= 0 {
				break
			}
			if w > 64 { // arrow uses up to 33 bits for INT32
				return 0, fmt.Errorf("differences of %d bits", w)
			}
			c.SkipBytes(uint64(perMini / 8 * int(w)))
			left -= perMini
		}
	}
	return c.Pos, c.Err
}
