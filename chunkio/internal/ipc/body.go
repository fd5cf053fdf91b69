package ipc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// maxZstdWindow is the largest window of a zstd frame that is accepted. Only zstd --ultra exceeds it.
	maxZstdWindow = 32 << 20
	// lz4Scratch is the memory for decoding an LZ4 frame: an input and an output block of at most 4 MiB.
	lz4Scratch = 9 << 20
	codecInput = 32 << 10 // bytes of compressed input read at a time
)

var errShortBuffer = errors.New("a buffer is shorter than its array")

// bodyReader reads the buffers of the body of one message. It is safe for concurrent use.
type bodyReader struct {
	r      io.ReaderAt // position 0 is the first byte of the body
	codec  int         // plainCodec, lz4Codec or zstdCodec
	codecs *decompressorPool
	busy   *stream.Busy // collects the time of reading and decoding; may be nil
}

// addDecodeTime counts the time since start as decoding. Reads during this time have already subtracted their own time
// from the count: see bufferReader.Read.
func (b *bodyReader) addDecodeTime(start time.Time) { b.busy.Add(stream.PartDecode, time.Since(start)) }

// decompressorPool keeps idle decompressors for reuse, because creating one for zstd takes as long as decoding about
// 10,000 values. Decompressors do not start goroutines.
type decompressorPool struct{ zstd, lz4 sync.Pool }

func decompressionMemory(codec int, decompressedBytes int64) int64 {
	switch codec {
	case lz4Codec:
		return lz4Scratch + codecInput
	case zstdCodec:
		return 2*min(decompressedBytes, maxZstdWindow) + 1<<20 + codecInput
	}
	return 0
}

// bufferReader reads a range of the uncompressed bytes of one buffer.
type bufferReader struct {
	r       io.Reader
	release func()
	busy    *stream.Busy
}

// openBuffer opens bytes [from, to) of a buffer's uncompressed content. A compressed buffer is decompressed from its
// start, in constant memory.
func (b *bodyReader) openBuffer(buf bufferRange, from, to int64) (*bufferReader, error) {
	if from >= to {
		return &bufferReader{r: emptyReader{}}, nil
	}
	start, length := buf.offset, buf.length
	codec := b.codec
	if codec != plainCodec {
		var head [8]byte
		if length < 8 {
			return nil, errShortBuffer
		}
		if err := format.ReadAt(b.r, head[:], start); err != nil {
			return nil, err
		}
		start, length = start+8, length-8
		if n := int64(binary.LittleEndian.Uint64(head[:])); n == -1 {
			codec = plainCodec // this buffer is not compressed, because compression would not make it shorter
		} else if n < to {
			return nil, errShortBuffer
		}
	}
	if codec == plainCodec {
		if length < to {
			return nil, errShortBuffer
		}
		return &bufferReader{r: io.NewSectionReader(b.r, start+from, to-from), busy: b.busy}, nil
	}
	r, err := b.codecs.openDecompressor(codec, io.NewSectionReader(b.r, start, length))
	if err != nil {
		return nil, err
	}
	r.busy = b.busy
	if _, err := io.CopyN(io.Discard, onlyReader{r}, from); err != nil {
		r.close()
		return nil, errArrayShort(err)
	}
	return r, nil
}

// onlyReader hides all methods of a reader except Read.
type onlyReader struct{ io.Reader }

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// Read implements io.Reader. Read returns an error if a decompressor panics. It counts its own time as reading, and
// subtracts it from the time of the decoding in progress.
func (r *bufferReader) Read(p []byte) (n int, err error) {
	start := time.Now()
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, fmt.Errorf("cannot be decompressed: %w", format.ErrPanicked(v))
		}
		reading := time.Since(start)
		r.busy.Add(stream.PartRead, reading)
		r.busy.Add(stream.PartDecode, -reading)
	}()
	return r.r.Read(p)
}

func (r *bufferReader) readFull(p []byte) error {
	_, err := io.ReadFull(r, p)
	return errArrayShort(err)
}

func (r *bufferReader) close() {
	if r != nil && r.release != nil {
		r.release()
		r.release = nil
	}
}

func errArrayShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the data ends early")
	}
	return err
}

// decompressor is a decoder together with its input buffer.
type decompressor[D io.Reader] struct {
	decoder D
	in      *bufio.Reader
}

func (c *decompressorPool) openDecompressor(codec int, src io.Reader) (*bufferReader, error) {
	if codec == lz4Codec {
		d, ok := c.lz4.Get().(*decompressor[*lz4.Reader])
		if !ok {
			d = &decompressor[*lz4.Reader]{lz4.NewReader(nil), bufio.NewReaderSize(nil, codecInput)}
		}
		d.in.Reset(src)
		d.decoder.Reset(d.in)
		return &bufferReader{r: d.decoder, release: func() { d.in.Reset(nil); c.lz4.Put(d) }}, nil
	}
	d, ok := c.zstd.Get().(*decompressor[*zstd.Decoder])
	if !ok {
		// With concurrency 1 the caller's goroutine decodes.
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		d = &decompressor[*zstd.Decoder]{z, bufio.NewReaderSize(nil, codecInput)}
	}
	d.in.Reset(src)
	if err := d.decoder.Reset(d.in); err != nil {
		return nil, err
	}
	return &bufferReader{r: d.decoder, release: func() { d.in.Reset(nil); c.zstd.Put(d) }}, nil
}

// bitReader reads consecutive bits of a buffer.
type bitReader struct {
	r        *bufferReader
	usedBits int // number of bits of bytes[0] that have been used; 0 if there is no such byte
	bytes    []byte
}

// openBits opens the bits [from, to) of a buffer. All of them must exist.
func (b *bodyReader) openBits(buf bufferRange, from, to int64) (*bitReader, error) {
	r, err := b.openBuffer(buf, from/8, (to+7)/8)
	if err != nil {
		return nil, err
	}
	t := &bitReader{r: r, bytes: make([]byte, 1, 1+(min(to-from, tileValues)+7)/8+1)}
	if t.usedBits = int(from % 8); t.usedBits > 0 {
		if err := r.readFull(t.bytes[:1]); err != nil {
			r.close()
			return nil, err
		}
	}
	return t, nil
}

func (t *bitReader) visitBitsEqualTo(count int, value byte, visit func(i int)) error {
	for done := 0; done < count; {
		k := min(count-done, tileValues)
		carriedBytes := 0
		if t.usedBits > 0 {
			carriedBytes = 1
		}
		bytes := (t.usedBits + k + 7) / 8
		if cap(t.bytes) < bytes {
			t.bytes = append(make([]byte, 0, bytes), t.bytes[:carriedBytes]...)
		}
		t.bytes = t.bytes[:bytes]
		if err := t.r.readFull(t.bytes[carriedBytes:]); err != nil {
			return err
		}
		for i := range k {
			if at := t.usedBits + i; t.bytes[at/8]>>(at%8)&1 == value {
				visit(done + i)
			}
		}
		end := t.usedBits + k
		if t.usedBits = end % 8; t.usedBits > 0 {
			t.bytes[0] = t.bytes[bytes-1]
		}
		done += k
	}
	return nil
}

func (t *bitReader) close() {
	if t != nil {
		t.r.close()
	}
}
