package anchor

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// written is the binary form of a state.
var written = wordstest.EncodeState

func emptyStatistics(tb testing.TB, opt Options) *Statistics {
	return must.Get(NewStatistics(nil, opt))(tb)
}

// coded is a state, and new ones to read it into.
type coded struct {
	full  wordstest.State
	empty func() wordstest.State
}

func states(tb testing.TB) map[string]coded {
	tab := clusters(90, 3, 1).holes()
	a := tab.random(tb, 12, gram.ScaleStandard)
	sampler := func() wordstest.State { return NewSampler(0, SamplerOptions{}) }
	statistics := func() wordstest.State { return emptyStatistics(tb, Options{}) }
	return map[string]coded{
		"sampler":         {tab.sampler(tb, 20), sampler},
		"sampler no rows": {NewSampler(3, SamplerOptions{Rows: 4}), sampler},
		"statistics":      {tab.statistics(tb, a, Options{Neighbors: 3}, 90), statistics},
		"statistics none": {withoutRows(tb, a), statistics},
	}
}

// withoutRows returns empty statistics.
func withoutRows(tb testing.TB, a *Anchors) *Statistics {
	return must.Get(NewStatistics(a, Options{}))(tb)
}

func TestEncode(t *testing.T) {
	for name, s := range states(t) {
		t.Run(name, func(t *testing.T) { wordstest.CheckState(t, s.full, s.empty) })
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
		tab.AddRows(t, first, 0, cut, 7)
		p, q := NewSampler(4, SamplerOptions{Rows: 9, Seed: 1}), NewSampler(0, SamplerOptions{})
		tab.AddRows(t, p, 0, cut, 7)
		must.Get(s.ReadFrom(bytes.NewReader(written(t, first))))(t)
		must.Get(q.ReadFrom(bytes.NewReader(written(t, p))))(t)
		tab.AddRows(t, s, cut, 60, 11)
		tab.AddRows(t, q, cut, 60, 11)
		if !bytes.Equal(whole, written(t, s)) || !bytes.Equal(sample, written(t, q)) {
			t.Fatalf("cut at %d: other bits", cut)
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
	if _, err := must.Get(NewStatistics(a, Options{Neighbors: 4}))(t).ReadFrom(bytes.NewReader(b)); !errors.As(err, &usage) {
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
			if bytes.HasPrefix(b, []byte(untrustedMagic)) {
				n += 8 * trustWords // without a Trust it is shorter
			}
			if int64(len(again)) != n {
				t.Fatalf("read %d bytes, wrote %d", n, len(again))
			}
			o := emptyStatistics(t, Options{Threads: 1})
			wordstest.CheckReread(t, again, o)
			must.Do(t, s.Merge(o))
			if d := len(s.frame.columns); d > 0 {
				g := &gram.Gram{Matrix: gram.Matrix{D: 1, Sym: []float64{float64(s.Rows)}}, Columns: s.frame.columns[:1:1], Rows: s.Rows, Weight: float64(s.Rows),
					Std: []float64{1}, Mean: []float64{0}, Filled: []int64{0}, Missing: make([]stream.MissingCount, 1)}
				must.Get(s.Graph(g))(t)
			}
		}
		p, q := NewSampler(0, SamplerOptions{Limit: 4 << 20}), NewSampler(0, SamplerOptions{})
		if _, err := p.ReadFrom(bytes.NewReader(b)); err == nil {
			wordstest.CheckReread(t, written(t, p), q)
			must.Do(t, p.Merge(q))
			p.Draw(p.Len())
		}
	})
}
