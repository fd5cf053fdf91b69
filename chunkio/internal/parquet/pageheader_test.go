package parquet

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

func TestPageHeaderRoundTrip(t *testing.T) {
	for _, h := range []PageHeader{
		{Kind: DataPage, Compressed: 10, Uncompressed: 1 << 30, Values: 1 << 20, Encoding: parquet.Encodings.RLEDict, RepLevels: parquet.Encodings.RLE, DefLevels: parquet.Encodings.RLE, CRC: 0xFEDCBA98, HasCRC: true},
		{Kind: DictionaryPage, Compressed: 3, Uncompressed: 4, Values: 5, HasCRC: true},
	} {
		b := AppendPageHeader(nil, h)
		got, n, err := ParsePageHeader(append(b, 1, 2, 3))
		if err != nil || n != len(b) || got != h {
			t.Errorf("%+v came back as %+v, %d bytes of %d, %v", h, got, n, len(b), err)
		}
		for n := range b {
			if _, _, err := ParsePageHeader(b[:n]); !errors.Is(err, thrift.ErrShort) {
				t.Errorf("cut after %d bytes: %v", n, err)
			}
		}
	}
	negative := AppendPageHeader(nil, PageHeader{Kind: DataPage, Compressed: -1, HasCRC: true})
	if _, _, err := ParsePageHeader(negative); err == nil {
		t.Error("a negative size is taken for valid")
	}
}

func FuzzCompact(f *testing.F) {
	f.Add(AppendPageHeader(nil, PageHeader{Kind: DataPage, Values: 3, HasCRC: true}))
	f.Add([]byte{0x19, 0x1C, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := thrift.Reader{Bytes: b}
		c.SkipValue(thrift.Struct, 0)
		n, err := c.Pos, c.Err
		if n > len(b) {
			t.Fatalf("%d bytes of %d", n, len(b))
		}
		if h, m, headerErr := ParsePageHeader(b); headerErr == nil {
			if err != nil || m != n {
				t.Fatalf("header %+v of %d bytes in a struct of %d: %v", h, m, n, err)
			}
		}
	})
}
