package gram

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
)

// encode is the binary form of a state.
var encode = wordstest.EncodeState

func states(tb testing.TB) map[string]*Moments {
	mixed := sample(9, 40, true, true)
	mixed.Cols[0][3] = 1e300 // overflows: NaN and Inf among the sums
	full := sample(9, 40, false, false)
	return map[string]*Moments{
		"missing":    mixed.moments(tb, Options{}, 16),
		"complete":   full.moments(tb, Options{}, 16),
		"no rows":    NewMoments(3, Options{}),
		"no columns": NewMoments(0, Options{}),
		"wide":       wide(133, 20, true).moments(tb, Options{}, 20),
	}
}

func TestEncode(t *testing.T) {
	for name, m := range states(t) {
		t.Run(name, func(t *testing.T) {
			wordstest.CheckState(t, m, func() wordstest.State { return NewMoments(0, Options{}) })
			wordstest.CheckState(t, &m.Profile, func() wordstest.State { return new(Profile) })
			if _, err := NewMoments(5, Options{}).ReadFrom(bytes.NewReader(encode(t, m))); !errors.Is(err, words.ErrFormat) {
				t.Errorf("other columns: err = %v", err)
			}
		})
	}
}

// A resumed run equals an uninterrupted one to the last bit, wherever it was cut.
func TestResume(t *testing.T) {
	tab := sample(10, 60, true, true)
	want := encode(t, tab.moments(t, Options{}, 6))
	for cut := 0; cut <= 60; cut += 6 {
		m := NewMoments(len(tab.Cols), Options{})
		tab.AddRows(t, m, 0, cut, 6)
		resumed := NewMoments(len(tab.Cols), Options{Threads: 2})
		must.Get(resumed.ReadFrom(bytes.NewReader(encode(t, m))))(t)
		tab.AddRows(t, resumed, cut, 60, 6)
		if !bytes.Equal(want, encode(t, resumed)) {
			t.Fatalf("cut at %d: other bits", cut)
		}
	}
}

// Everything that decodes is a state: it encodes to the same bytes (except patterns of NaN), takes rows, and finishes
// or returns an error.
func FuzzMoments(f *testing.F) {
	for _, m := range states(f) {
		if len(m.Profile.Columns) < 20 {
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
		o := NewMoments(len(m.Profile.Columns), Options{Threads: 1})
		wordstest.CheckReread(t, again, o)
		must.Do(t, m.Merge(o))
		tab := tabletest.Table{Cols: make([][]float64, len(m.Profile.Columns))}
		_, _ = m.Finish(tab.Columns(), FinishOptions{Scale: ScaleStandard})
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
		wordstest.CheckReread(t, encode(t, &p), &q)
		p.LeftOut(tabletest.Table{Cols: make([][]float64, len(p.Columns))}.Columns())
	})
}
