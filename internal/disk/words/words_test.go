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
		whole, number := []int64{-7}, math.Float64frombits(0x7ff8000000000bad)
		letters, flag := []byte("elsebyte"), true
		visit := func(v *Visitor) {
			v.Magic("someform", "form")
			v.Ints(whole)
			v.Float(&number)
			v.Bytes(letters)
			v.Flag("flag", &flag)
			VisitElements(v, &values, v.Length("length", len(values), n), func(_ int, x *float64) { v.Float(x) })
			v.Floats(values)
		}
		size := int64(8 * (2*n + 6))
		if wrote, err := WriteState(&buf, visit); err != nil || wrote != int64(buf.Len()) || wrote != size {
			t.Fatalf("%d values: wrote %d of %d bytes, %v", n, wrote, buf.Len(), err)
		}
		buf.WriteString("more")
		want := values
		whole[0], number, letters, flag, values = 0, 0, make([]byte, 8), false, nil
		if read, err := ReadState(&buf, visit); err != nil || read != size || buf.Len() != 4 {
			t.Fatalf("%d values: %v after %d bytes, %d left", n, err, read, buf.Len())
		}
		if whole[0] != -7 || math.Float64bits(number) != math.Float64bits(math.NaN()) || string(letters) != "elsebyte" || !flag || !slices.Equal(values, want) {
			t.Errorf("%d values: read %d, %g, %q, %v, and other values: %v", n, whole[0], number, letters, flag, !slices.Equal(values, want))
		}
	}
}

// Truncation, numbers beyond their limit and a caller's error stick, and give zeros.
func TestErrors(t *testing.T) {
	word := uint64(1)
	short := NewReader(bytes.NewReader(make([]byte, 12)))
	short.Expect(2)
	if short.Word(&word); word != 0 || !errors.Is(short.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("12 of 16 bytes: %d, %v", word, short.Err())
	}
	large, n := NewReader(bytes.NewReader([]byte{9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})), 5
	Count(large, "number", &n, 8)
	if large.Word(&word); n != 0 || !errors.Is(large.Err(), ErrFormat) || word != 0 {
		t.Errorf("9 of at most 8: %d, then %d, %v", n, word, large.Err())
	}
	own := errors.New("own")
	stopped := NewReader(bytes.NewReader(nil))
	stopped.Stop(nil)
	stopped.Stop(own)
	stopped.Fail("late")
	if !errors.Is(stopped.Err(), own) {
		t.Errorf("stopped by %v", stopped.Err())
	}
	if wrote, err := WriteState(io.Discard, func(v *Visitor) { v.Fail("what is written needs no check") }); wrote != 0 || err != nil {
		t.Errorf("wrote %d bytes, %v", wrote, err)
	}
}

// A length that a damaged file announces takes no memory before its elements are read.
func TestElementsGrowWithWords(t *testing.T) {
	var list []float64
	v := NewReader(bytes.NewReader(make([]byte, 80)))
	VisitElements(v, &list, 1<<60, func(_ int, x *float64) { v.Float(x) })
	if len(list) != 11 || !errors.Is(v.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("read %d elements, %v; want 10 and one that failed", len(list), v.Err())
	}
}
