package resume

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Numbers stores slices of float64, bit by bit, in the states of a Run. It implements [stream.Checkpoint].
type Numbers struct{ *Run }

// Save implements stream.Checkpoint.
func (n Numbers) Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	sections := make([]chunkio.Section, len(numbers))
	for i, x := range numbers {
		sections[i] = chunkio.Section{Name: strconv.Itoa(i), Body: rawFloats(x)}
	}
	return n.Run.Save(ctx, name, marks, sections...)
}

// Load implements stream.Checkpoint.
func (n Numbers) Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error) {
	if marks, ok, err := n.loadFromLog(name, numbers); ok || err != nil {
		return marks, ok, err
	}
	s, err := n.Run.Load(ctx, name)
	if s == nil || err != nil {
		return nil, false, err
	}
	defer s.Close()
	for i, x := range numbers {
		if err := s.Read(strconv.Itoa(i), rawFloats(x)); err != nil {
			return nil, false, err
		}
	}
	if s.HasSection(strconv.Itoa(len(numbers))) {
		return nil, false, ErrDamaged(s.Path, stream.Errorf("it has more than %d sections", len(numbers)))
	}
	return s.Marks, true, nil
}

// rawFloats writes and reads numbers as little-endian bytes, without a count of the numbers.
type rawFloats []float64

// WriteTo implements io.WriterTo.
func (v rawFloats) WriteTo(w io.Writer) (int64, error) {
	to := &countingWriter{w: w}
	err := writeRawNumbers(to, v)
	return to.n, err
}

// ReadFrom implements io.ReaderFrom. It reads len(v) numbers.
func (v rawFloats) ReadFrom(r io.Reader) (int64, error) {
	from := &countingReader{r: r}
	err := readRawNumbers(from, v)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = stream.Errorf("a run of numbers ends early")
	}
	return from.n, err
}
