package words

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
)

// What is written is read back, across the edge of a piece; NaN has one form.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, wordsPerBuffer - 1, wordsPerBuffer, wordsPerBuffer + 1, 2*wordsPerBuffer + 5} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i) / 3
		}
		var buf bytes.Buffer
		w := NewWriter(&buf)
		w.Word(MagicWord("someform"))
		w.Int(-7)
		w.Float(math.Float64frombits(0x7ff8000000000bad))
		w.Floats(values)
		if wrote, err := w.Finish(); err != nil || wrote != int64(buf.Len()) || wrote != int64(8*(n+3)) {
			t.Fatalf("%d values: wrote %d of %d bytes, %v", n, wrote, buf.Len(), err)
		}
		buf.WriteString("more")
		r := NewReader(&buf)
		r.Expect(int64(n + 3))
		if r.Word() != MagicWord("someform") || int64(r.Word()) != -7 || r.Word() != math.Float64bits(math.NaN()) {
			t.Fatal("the head differs")
		}
		got := make([]float64, n)
		r.Floats(got)
		if r.Err() != nil || !slices.Equal(got, values) || r.n != int64(8*(n+3)) || buf.Len() != 4 {
			t.Fatalf("%d values: %v after %d bytes, %d left", n, r.Err(), r.n, buf.Len())
		}
	}
}

// Truncation, numbers beyond their limit and a caller's error stick, and give zeros.
func TestErrors(t *testing.T) {
	short := NewReader(bytes.NewReader(make([]byte, 12)))
	short.Expect(2)
	if short.Word(); !errors.Is(short.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("12 of 16 bytes: %v", short.Err())
	}
	large := NewReader(bytes.NewReader([]byte{9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}))
	large.Expect(2)
	if n := large.Count("number", 8); n != 0 || !errors.Is(large.Err(), ErrFormat) || large.Word() != 0 {
		t.Errorf("9 of at most 8: %d, %v", n, large.Err())
	}
	own := errors.New("own")
	stopped := NewReader(bytes.NewReader(nil))
	stopped.Stop(nil)
	stopped.Stop(own)
	stopped.Fail("late")
	if !errors.Is(stopped.Err(), own) {
		t.Errorf("stopped by %v", stopped.Err())
	}
}
