package resume

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Numbers keeps runs of float64 in the states of a Run, bit by bit: a [stream.Checkpoint].
type Numbers struct{ *Run }

// Save implements stream.Checkpoint.
func (n Numbers) Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	sections := make([]chunkio.Section, len(numbers))
	for i, x := range numbers {
		sections[i] = chunkio.Section{Name: strconv.Itoa(i), Body: vector(x)}
	}
	return n.Run.Save(ctx, name, marks, sections...)
}

// Load implements stream.Checkpoint.
func (n Numbers) Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error) {
	if marks, ok, err := n.logged(name, numbers); ok || err != nil {
		return marks, ok, err
	}
	s, err := n.Run.Load(ctx, name)
	if s == nil || err != nil {
		return nil, false, err
	}
	defer s.Close()
	for i, x := range numbers {
		if err := s.Read(strconv.Itoa(i), vector(x)); err != nil {
			return nil, false, err
		}
	}
	if s.Has(strconv.Itoa(len(numbers))) {
		return nil, false, Damaged(s.Path, stream.Errorf("it has more than %d sections", len(numbers)))
	}
	return s.Marks, true, nil
}

// vector is numbers as bytes, little-endian, by a buffer.
type vector []float64

const vectorBuffer = 4096 // numbers

// WriteTo implements io.WriterTo.
func (v vector) WriteTo(w io.Writer) (written int64, err error) {
	buf := make([]byte, 0, 8*min(len(v), vectorBuffer))
	for len(v) > 0 && err == nil {
		some := v[:min(len(v), vectorBuffer)]
		buf = buf[:0]
		for _, x := range some {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
		}
		var n int
		n, err = w.Write(buf)
		written += int64(n)
		v = v[len(some):]
	}
	return written, err
}

// ReadFrom implements io.ReaderFrom: it wants as many numbers as v has.
func (v vector) ReadFrom(r io.Reader) (read int64, err error) {
	buf := make([]byte, 8*min(len(v), vectorBuffer))
	for len(v) > 0 {
		some := v[:min(len(v), vectorBuffer)]
		n, err := io.ReadFull(r, buf[:8*len(some)])
		read += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return read, stream.Errorf("a run of numbers ends early")
		}
		if err != nil {
			return read, err
		}
		for i := range some {
			some[i] = math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
		}
		v = v[len(some):]
	}
	return read, nil
}
