package resume

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Numbers keeps runs of float64 in the states of a Run, bit by bit: a [stream.Checkpoint].
type Numbers struct{ *Run }

// mostWaiting bounds the numbers of states that wait in memory until a save is due: 4 MiB.
const mostWaiting = 4 << 20 / 8

// waiting is a state that is to be saved with the next one that is due.
type waiting struct {
	name    string
	marks   map[string]string
	numbers [][]float64
}

// Save implements stream.Checkpoint. What is not due waits in memory, as far as there is room: passes of a
// fraction of a second would wait for the disk as long as they take. So a kill costs no more than the time between
// saves, and [Folder.Flush] saves what waits where a run ends early.
func (n Numbers) Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	if n.Run == nil || n.folder.off {
		return nil
	}
	one := waiting{name, marks, numbers}
	size := 0
	for _, x := range numbers {
		size += len(x)
	}
	if !n.Due() && n.room >= size {
		one.marks, one.numbers = maps.Clone(marks), make([][]float64, len(numbers))
		for i, x := range numbers {
			one.numbers[i] = slices.Clone(x)
		}
		n.waits, n.room = append(n.waits, one), n.room-size
		return nil
	}
	if err := n.flush(ctx); err != nil {
		return err
	}
	return n.write(ctx, one)
}

// Drop implements stream.Checkpoint.
func (n Numbers) Drop(name string) error {
	if n.Run == nil {
		return nil
	}
	n.waits = slices.DeleteFunc(n.waits, func(w waiting) bool { return w.name == name })
	return n.Run.Drop(name)
}

// flush saves what waits.
func (r *Run) flush(ctx context.Context) error {
	all := r.waits
	r.waits, r.room = nil, mostWaiting
	for _, one := range all {
		if err := r.write(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) write(ctx context.Context, one waiting) error {
	sections := make([]chunkio.Section, len(one.numbers))
	for i, x := range one.numbers {
		sections[i] = chunkio.Section{Name: strconv.Itoa(i), Body: vector(x)}
	}
	return r.Save(ctx, one.name, one.marks, sections...)
}

// Load implements stream.Checkpoint.
func (n Numbers) Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error) {
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
