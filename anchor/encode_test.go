package anchor

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

func written(tb testing.TB, w io.WriterTo) []byte {
	tb.Helper()
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		tb.Fatalf("%d bytes of %d, err = %v", n, b.Len(), err)
	}
	return b.Bytes()
}

func emptyStatistics(tb testing.TB, opt Options) *Statistics {
	s := must.Get(NewStatistics(nil, opt))(tb)
	return s
}

// state is either kind of statistics.
type state interface {
	io.WriterTo
	io.ReaderFrom
}

// states are written states, and new ones to read them into.
func states(tb testing.TB) map[string]struct{ full, empty state } {
	tab := clusters(90, 3, 1).holes()
	a := tab.random(tb, 12, gram.ScaleStandard)
	return map[string]struct{ full, empty state }{
		"sampler":         {tab.sampler(tb, 20), NewSampler(0, SamplerOptions{})},
		"sampler no rows": {NewSampler(3, SamplerOptions{Rows: 4}), NewSampler(0, SamplerOptions{})},
		"statistics":      {tab.statistics(tb, a, Options{Neighbors: 3}, 90), emptyStatistics(tb, Options{})},
		"statistics none": {withoutRows(tb, a), emptyStatistics(tb, Options{})},
	}
}

// withoutRows returns empty statistics.
func withoutRows(tb testing.TB, a *Anchors) *Statistics {
	s := must.Get(NewStatistics(a, Options{}))(tb)
	return s
}

func TestRoundTrip(t *testing.T) {
	for name, s := range states(t) {
		b := written(t, s.full)
		more := append(bytes.Clone(b), 1, 2, 3)
		if n, err := s.empty.ReadFrom(iotest.OneByteReader(bytes.NewReader(more))); err != nil || n != int64(len(b)) {
			t.Fatalf("%s: read %d of %d, err = %v", name, n, len(b), err)
		}
		if !bytes.Equal(b, written(t, s.empty)) {
			t.Errorf("%s: other bytes after a round trip", name)
		}
	}
}

// A resumed run equals an uninterrupted one to the last bit, wherever it was cut.
func TestResume(t *testing.T) {
	tab := clusters(60, 4, 2).holes()
	a := tab.random(t, 9, gram.ScaleMinMax)
	whole, sample := written(t, tab.statistics(t, a, Options{}, 60)), written(t, tab.sampler(t, 9))
	for cut := 0; cut <= 60; cut += 15 {
		s := must.Get(NewStatistics(a, Options{Threads: 2}))(t)
		first := withoutRows(t, a)
		tab.add(t, first, 0, cut, 7)
		p, q := NewSampler(4, SamplerOptions{Rows: 9, Seed: 1}), NewSampler(0, SamplerOptions{})
		tab.add(t, p, 0, cut, 7)
		must.Get(s.ReadFrom(bytes.NewReader(written(t, first))))(t)
		must.Get(q.ReadFrom(bytes.NewReader(written(t, p))))(t)
		tab.add(t, s, cut, 60, 11)
		tab.add(t, q, cut, 60, 11)
		if !bytes.Equal(whole, written(t, s)) || !bytes.Equal(sample, written(t, q)) {
			t.Fatalf("cut at %d: other bits", cut)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for name, s := range states(t) {
		b := written(t, s.full)
		fresh := func() state { return states(t)[name].empty }
		for cut := 0; cut < len(b); cut += max(1, len(b)/60) {
			got, before := fresh(), fresh()
			if _, err := got.ReadFrom(bytes.NewReader(b[:cut])); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d: err = %v", name, cut, err)
			}
			if !reflect.DeepEqual(before, got) {
				t.Fatalf("%s cut at %d: state changed", name, cut)
			}
		}
		broken := errors.New("broken")
		if _, err := fresh().ReadFrom(iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("%s: err = %v", name, err)
		}
		b[7]++ // version
		if _, err := fresh().ReadFrom(bytes.NewReader(b)); !errors.Is(err, words.ErrFormat) {
			t.Errorf("%s: next version: err = %v", name, err)
		}
	}
}

// A state must fit the limit, and have the same anchors, scaling and neighbours.
func TestReadRefuses(t *testing.T) {
	tab := clusters(90, 3, 1)
	a := tab.random(t, 12, gram.ScaleStandard)
	b := written(t, tab.statistics(t, a, Options{}, 90))
	var usage *stream.UsageError
	for name, other := range map[string]*Anchors{
		"anchors": tab.random(t, 13, gram.ScaleStandard),
		"scaling": tab.random(t, 12, gram.ScaleMinMax),
	} {
		s := withoutRows(t, other)
		before := written(t, s)
		if _, err := s.ReadFrom(bytes.NewReader(b)); !errors.As(err, &usage) {
			t.Errorf("other %s: %v", name, err)
		}
		if !bytes.Equal(before, written(t, s)) {
			t.Errorf("other %s: state changed", name)
		}
	}
	s := must.Get(NewStatistics(a, Options{Neighbors: 4}))(t)
	if _, err := s.ReadFrom(bytes.NewReader(b)); !errors.As(err, &usage) {
		t.Errorf("other neighbours: %v", err)
	}
	var tight *stream.MemoryError
	if _, err := emptyStatistics(t, Options{Limit: Bytes(12, 3, 5, 0) - 1}).ReadFrom(bytes.NewReader(b)); !errors.As(err, &tight) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := NewSampler(4, SamplerOptions{}).ReadFrom(bytes.NewReader(written(t, tab.sampler(t, 5)))); !errors.Is(err, words.ErrFormat) {
		t.Errorf("other columns: %v", err)
	}
}

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
	for name, s := range states(t) {
		room := len(written(t, s.full)) - 1
		if n, err := s.full.WriteTo(&failing{room}); !errors.Is(err, io.ErrShortWrite) || n != int64(room) {
			t.Errorf("%s: wrote %d of %d, err = %v", name, n, room, err)
		}
	}
}

// Everything that decodes is a state: it encodes to the same bytes (except patterns of
// NaN), and merges with itself.
func FuzzStatistics(f *testing.F) {
	for _, s := range states(f) {
		f.Add(written(f, s.full))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := emptyStatistics(t, Options{Threads: 1, Limit: 4 << 20})
		if n, err := s.ReadFrom(bytes.NewReader(b)); err == nil {
			again := written(t, s)
			if int64(len(again)) != n {
				t.Fatalf("read %d bytes, wrote %d", n, len(again))
			}
			o := emptyStatistics(t, Options{Threads: 1})
			if _, err := o.ReadFrom(bytes.NewReader(again)); err != nil || !bytes.Equal(again, written(t, o)) {
				t.Fatalf("round trip: %v", err)
			}
			must.Do(t, s.Merge(o))
			if d := len(s.frame.columns); d > 0 {
				g := &gram.Gram{D: 1, Columns: s.frame.columns[:1:1], Rows: s.Rows, Weight: float64(s.Rows),
					Std: []float64{1}, Mean: []float64{0}, Filled: []int64{0}, Missing: make([]stream.MissingCount, 1), Sym: []float64{float64(s.Rows)}}
				must.Get(s.Graph(g))(t)
			}
		}
		p, q := NewSampler(0, SamplerOptions{Limit: 4 << 20}), NewSampler(0, SamplerOptions{})
		if _, err := p.ReadFrom(bytes.NewReader(b)); err == nil {
			again := written(t, p)
			if _, err := q.ReadFrom(bytes.NewReader(again)); err != nil || !bytes.Equal(again, written(t, q)) {
				t.Fatalf("round trip: %v", err)
			}
			must.Do(t, p.Merge(q))
			p.Draw(p.Len())
		}
	})
}
