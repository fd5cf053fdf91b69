package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec decompresses pages into memory whose size the caller has set. A page that holds more or fewer bytes than it
// declares is an error. Therefore a decompression bomb gets no memory. The tables of the decoders are kept between
// pages. The zero value is ready for use, but not for concurrent use.
type codec struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
	src    bytes.Reader
}

// Numbers, as in parquet.thrift, of the codecs that arrow v15 does not name or does not decode.
const (
	lz4Hadoop compress.Compression = 5 // LZ4 blocks in Hadoop's frames; some writers left the frames out
	lz4Raw    compress.Compression = 7
)

func codecName(c compress.Compression) string {
	if c == lz4Raw {
		return "LZ4_RAW"
	}
	return c.String()
}

// decodableCodecs are the codecs whose pages can be read.
var decodableCodecs = []compress.Compression{
	compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli,
	lz4Hadoop, lz4Raw,
}

// decompressBlock fills all of dst from src and verifies the checksums of gzip and zstd.
func (c *codec) decompressBlock(kind compress.Compression, dst, src []byte) error {
	var err error
	switch kind {
	case compress.Codecs.Uncompressed:
		if len(src) != len(dst) {
			return fmt.Errorf("page holds %d bytes where its header says %d", len(src), len(dst))
		}
		copy(dst, src)
	case compress.Codecs.Snappy:
		err = snappyDecode(dst, src)
	case lz4Raw:
		err = lz4Decode(dst, src)
	case lz4Hadoop:
		if lz4DecodeFrames(dst, src) != nil {
			err = lz4Decode(dst, src)
		}
	case compress.Codecs.Zstd:
		err = c.zstdDecode(dst, src)
	case compress.Codecs.Gzip:
		c.src.Reset(src)
		if c.gzip == nil {
			c.gzip, err = gzip.NewReader(&c.src)
		} else {
			err = c.gzip.Reset(&c.src)
		}
		if err == nil {
			err = readExactly(c.gzip, dst)
		}
	case compress.Codecs.Brotli:
		c.src.Reset(src)
		if c.brotli == nil {
			c.brotli = brotli.NewReader(&c.src)
		} else if err = c.brotli.Reset(&c.src); err != nil {
			break
		}
		err = readExactly(c.brotli, dst)
	default:
		return fmt.Errorf("codec %s cannot be decoded", codecName(kind))
	}
	if err != nil {
		return fmt.Errorf("decompress %s page: %w", codecName(kind), err)
	}
	return nil
}

func snappyDecode(dst, compressed []byte) error {
	n, err := snappy.DecodedLen(compressed)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return fmt.Errorf("block declares %d bytes where the page header says %d", n, len(dst))
	}
	_, err = snappy.Decode(dst, compressed)
	return err
}

func lz4Decode(dst, compressed []byte) error {
	n, err := lz4.UncompressBlock(compressed, dst)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("block holds %d bytes where the page header says %d", n, len(dst))
	}
	return err
}

func lz4DecodeFrames(dst, compressed []byte) error {
	for len(compressed) > 0 {
		if len(compressed) < 8 {
			return io.ErrUnexpectedEOF
		}
		size, packed := uint64(binary.BigEndian.Uint32(compressed)), uint64(binary.BigEndian.Uint32(compressed[4:]))
		compressed = compressed[8:]
		if size > uint64(len(dst)) || packed > uint64(len(compressed)) {
			return io.ErrUnexpectedEOF
		}
		if err := lz4Decode(dst[:size], compressed[:packed]); err != nil {
			return err
		}
		dst, compressed = dst[size:], compressed[packed:]
	}
	if len(dst) > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (c *codec) zstdDecode(dst, compressed []byte) error {
	if c.zstd == nil {
		// Pages are decoded one at a time into existing memory, so zstd needs no goroutines and no growing buffers.
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
		c.zstd = d
	}
	out, err := c.zstd.DecodeAll(compressed, dst[:0:len(dst)])
	if err != nil {
		return err
	}
	if len(out) != len(dst) {
		return fmt.Errorf("page holds %d bytes where its header says %d", len(out), len(dst))
	}
	return nil
}

// readExactly fills dst and then requires the end of the stream, where decompressors verify checksums.
func readExactly(r io.Reader, dst []byte) error {
	if n, err := io.ReadFull(r, dst); err != nil {
		return fmt.Errorf("after %d of %d bytes: %w", n, len(dst), err)
	}
	var extra [1]byte
	n, err := io.ReadFull(r, extra[:])
	switch {
	case n > 0:
		return fmt.Errorf("page holds more than the %d bytes its header says", len(dst))
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}
