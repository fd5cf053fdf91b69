package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

func pack(t *testing.T, kind compress.Compression, data []byte) []byte {
	t.Helper()
	if kind == lz4Raw || kind == lz4Hadoop {
		return packLZ4(t, kind, data)
	}
	c, err := compress.GetCodec(kind)
	formattest.Must(t, err)
	return c.Encode(make([]byte, max(c.CompressBound(int64(len(data))), int64(len(data))))[:len(data)], data)
}

// packLZ4 makes a block, or for Hadoop one with its sizes for every 30,000 bytes.
func packLZ4(t *testing.T, kind compress.Compression, data []byte) (out []byte) {
	t.Helper()
	step := len(data)
	if kind == lz4Hadoop {
		step = 30_000
	}
	for part := range slices.Chunk(data, step) {
		block := make([]byte, lz4.CompressBlockBound(len(part)))
		n, err := lz4.CompressBlock(part, block, nil)
		formattest.Must(t, err)
		if kind == lz4Hadoop {
			out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
			out = binary.BigEndian.AppendUint32(out, uint32(n))
		}
		out = append(out, block[:n]...)
	}
	return out
}

// TestCodecs: every codec restores the compressed bytes, refuses a declared size that is off by one either way, and
// still works after damaged input.
func TestCodecs(t *testing.T) {
	for _, kind := range decodableCodecs {
		var c codec
		for _, n := range []int{1, 100, 70_000} {
			data := bytes.Repeat([]byte("0123456789abcde"), n/15+1)[:n]
			packed := pack(t, kind, data)
			for _, off := range []int{0, -1, 1, 0} {
				dst := make([]byte, n+off)
				err := c.decompressBlock(kind, dst, packed)
				if off == 0 && (err != nil || !bytes.Equal(dst, data)) {
					t.Errorf("%v: %d bytes: %v", kind, n, err)
				}
				if off != 0 && err == nil {
					t.Errorf("%v: %d bytes were decompressed into %d", kind, n, n+off)
				}
			}
			if kind == compress.Codecs.Uncompressed {
				continue
			}
			for cut := range min(len(packed), 200) {
				if err := c.decompressBlock(kind, make([]byte, n), packed[:cut]); err == nil {
					t.Errorf("%v: %d bytes cut to %d went unnoticed", kind, len(packed), cut)
				} else if err == io.EOF { //nolint:errorlint // the bare error would lack its place
					t.Errorf("%v: error without a place", kind)
				}
			}
		}
	}
}

// TestBombs decompresses 16 MB of zeros into the 100 bytes that the page declares.
func TestBombs(t *testing.T) {
	bomb := make([]byte, 16<<20)
	for _, kind := range decodableCodecs[1:] {
		packed := pack(t, kind, bomb)
		var c codec
		before := allocated()
		if err := c.decompressBlock(kind, make([]byte, 100), packed); err == nil {
			t.Errorf("%v: a bomb went unnoticed", kind)
		}
		if got := allocated() - before; got > 10<<20 {
			t.Errorf("%v: a bomb allocated %d bytes", kind, got)
		}
	}
}

// TestZstdChecksum damages the checksum at a frame's end.
func TestZstdChecksum(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	formattest.Must(t, err)
	data := []byte("some data that is to arrive")
	packed := w.EncodeAll(data, nil)
	packed[len(packed)-1] ^= 1
	var c codec
	if err := c.decompressBlock(compress.Codecs.Zstd, make([]byte, len(data)), packed); !errors.Is(err, zstd.ErrCRCMismatch) {
		t.Errorf("a wrong checksum: %v", err)
	}
}

// TestLZ4WithoutFrame: a block declared LZ4 may lack Hadoop's frame, as old writers wrote it.
func TestLZ4WithoutFrame(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcde"), 100)
	got := make([]byte, len(data))
	var c codec
	if err := c.decompressBlock(lz4Hadoop, got, pack(t, lz4Raw, data)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("decompressing LZ4 without a frame: error %v, data equal: %v", err, bytes.Equal(got, data))
	}
}
