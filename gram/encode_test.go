package gram

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/words"
)

func encode(tb testing.TB, w io.WriterTo) []byte {
	tb.Helper()
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		tb.Fatalf("%d bytes of %d, err = %v", n, b.Len(), err)
	}
	return b.Bytes()
}

func states(tb testing.TB) map[string]*Moments {
	mixed := sample(9, 40, true, true)
	mixed.cols[0][3] = 1e300 // overflows: NaN and Inf among the sums
	full := sample(9, 40, false, false)
	return map[string]*Moments{
		"missing":    mixed.moments(tb, Options{}, 16),
		"complete":   full.moments(tb, Options{}, 16),
		"no rows":    NewMoments(3, Options{}),
		"no columns": NewMoments(0, Options{}),
		"wide":       wide(133, 20, true).moments(tb, Options{}, 20),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, m := range states(t) {
		b := encode(t, m)
		more := append(bytes.Clone(b), 1, 2, 3)
		got := NewMoments(0, Options{})
		if n, err := got.ReadFrom(iotest.OneByteReader(bytes.NewReader(more))); err != nil || n != int64(len(b)) {
			t.Fatalf("%s: read %d of %d, err = %v", name, n, len(b), err)
		}
		if !bytes.Equal(b, encode(t, got)) {
			t.Errorf("%s: other bytes after a round trip", name)
		}
		var p Profile
		if _, err := p.ReadFrom(bytes.NewReader(encode(t, &m.Profile))); err != nil || !bytes.Equal(encode(t, &p), encode(t, &m.Profile)) {
			t.Errorf("%s: profile: %v", name, err)
		}
	}
}

// A resumed run equals an uninterrupted one to the last bit, wherever it was cut.
func TestResume(t *testing.T) {
	tab := sample(10, 60, true, true)
	want := encode(t, tab.moments(t, Options{}, 6))
	for cut := 0; cut <= 60; cut += 6 {
		m := NewMoments(len(tab.cols), Options{})
		tab.addRange(t, m, 0, cut, 6)
		resumed := NewMoments(len(tab.cols), Options{Threads: 2})
		must.Get(resumed.ReadFrom(bytes.NewReader(encode(t, m))))(t)
		tab.addRange(t, resumed, cut, 60, 6)
		if !bytes.Equal(want, encode(t, resumed)) {
			t.Fatalf("cut at %d: other bits", cut)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for name, m := range states(t) {
		b := encode(t, m)
		step := max(1, len(b)/300)
		for cut := 0; cut < len(b); cut += step {
			got := NewMoments(0, Options{})
			before := *got
			if _, err := got.ReadFrom(bytes.NewReader(b[:cut])); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d: err = %v", name, cut, err)
			}
			if !reflect.DeepEqual(before, *got) {
				t.Fatalf("%s cut at %d: state changed", name, cut)
			}
		}
		if _, err := NewMoments(5, Options{}).ReadFrom(bytes.NewReader(b)); !errors.Is(err, words.ErrFormat) {
			t.Errorf("%s: other columns: err = %v", name, err)
		}
		b[7]++ // version
		if _, err := NewMoments(0, Options{}).ReadFrom(bytes.NewReader(b)); !errors.Is(err, words.ErrFormat) {
			t.Errorf("%s: next version: err = %v", name, err)
		}
		broken := errors.New("broken")
		if _, err := NewMoments(0, Options{}).ReadFrom(iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// failing accepts n bytes.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	n := min(len(b), f.n)
	f.n -= n
	if n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

func TestWriteError(t *testing.T) {
	const piece = 64 << 10 // moved at a time by package words
	m := wide(133, 20, true).moments(t, Options{}, 20)
	for _, room := range []int{0, 1, piece - 1, piece + 1} {
		if n, err := m.WriteTo(&failing{room}); !errors.Is(err, io.ErrShortWrite) || n != int64(room) {
			t.Errorf("room for %d: wrote %d, err = %v", room, n, err)
		}
	}
}

// Everything that decodes is a state: it encodes to the same bytes (except patterns of
// NaN), takes rows, and finishes or says why not.
func FuzzMoments(f *testing.F) {
	for _, m := range states(f) {
		if len(m.Columns) < 20 {
			f.Add(encode(f, m))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := NewMoments(0, Options{Threads: 1, Limit: 1 << 20})
		n, err := m.ReadFrom(bytes.NewReader(b))
		if err != nil {
			return
		}
		again := encode(t, m)
		if int64(len(again)) != n {
			t.Fatalf("read %d bytes, wrote %d", n, len(again))
		}
		o := NewMoments(len(m.Columns), Options{Threads: 1})
		if _, err := o.ReadFrom(bytes.NewReader(again)); err != nil || !bytes.Equal(again, encode(t, o)) {
			t.Fatalf("round trip: %v", err)
		}
		must.Do(t, m.Merge(o))
		tab := table{cols: make([][]float64, len(m.Columns))}
		_, _ = m.Finish(tab.columns(), FinishOptions{Scale: ScaleStandard})
	})
}

func FuzzProfile(f *testing.F) {
	for _, m := range states(f) {
		f.Add(encode(f, &m.Profile))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, q Profile
		if _, err := p.ReadFrom(bytes.NewReader(b)); err != nil {
			return
		}
		again := encode(t, &p)
		if _, err := q.ReadFrom(bytes.NewReader(again)); err != nil || !bytes.Equal(again, encode(t, &q)) {
			t.Fatalf("round trip: %v", err)
		}
		p.LeftOut(table{cols: make([][]float64, len(p.Columns))}.columns())
	})
}
