package gram

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestAnother: states that share their scratch and take rows in turns equal states that take the same rows alone, bit
// for bit, even after one of them was read back.
func TestAnother(t *testing.T) {
	tab := sample(1, 900, true, true)
	first := NewMoments(len(tab.Cols), Options{Threads: 2})
	second := first.Another()
	one, two := NewMoments(len(tab.Cols), Options{Threads: 1}), NewMoments(len(tab.Cols), Options{Threads: 1})
	for i := 0; i < 900; i += 300 {
		for _, m := range []*Moments{first, one} {
			tab.AddRows(t, m, i, i+200, 200)
		}
		for _, m := range []*Moments{second, two} {
			tab.AddRows(t, m, i+200, i+300, 100)
		}
		must.Get(second.ReadFrom(bytes.NewReader(wordstest.EncodeState(t, second))))(t)
	}
	if first.scratch != second.scratch {
		t.Error("the scratch is not shared")
	}
	for i, pair := range [][2]*Moments{{first, one}, {second, two}} {
		if !bytes.Equal(wordstest.EncodeState(t, pair[0]), wordstest.EncodeState(t, pair[1])) {
			t.Errorf("state %d has other bits", i+1)
		}
	}
}

// TestSharedBytes: the first state costs Bytes, and each further one less; ShareOf and WholeOf are each other's
// inverse, up to the rounding of a division.
func TestSharedBytes(t *testing.T) {
	for _, d := range []int{1, 47, 600} {
		one := Bytes(d, 3)
		two := SharedBytes(d, 3, 2)
		if SharedBytes(d, 3, 1) != one || two <= one || two >= 2*one {
			t.Errorf("%d columns: %d bytes, %d of two", d, one, two)
		}
		for _, states := range []int{1, 5, 33} {
			whole := SharedBytes(d, 0, states)
			if got := ShareOf(whole, d, states); got != Bytes(d, 0) || WholeOf(got, d, states) != whole {
				t.Errorf("%d states of %d columns have %d of %d, want %d", states, d, got, whole, Bytes(d, 0))
			}
		}
	}
}

// TestTakeCounts: counts that sums of parts have lost come back from a profile of the rows in their order.
func TestTakeCounts(t *testing.T) {
	tab := sample(1, 300, true, false)
	whole, odd, even := NewProfile(len(tab.Cols)), NewProfile(len(tab.Cols)), NewProfile(len(tab.Cols))
	for i := range 300 {
		c := tab.Chunk(i, i+1)
		must.Do(t, whole.Add(c))
		must.Do(t, []*Profile{even, odd}[i%2].Add(c))
	}
	must.Do(t, even.Merge(odd))
	even.TakeCounts(whole)
	rises := func(c ColumnProfile) bool { return c.Rising }
	if even.Seen != whole.Seen || slices.ContainsFunc(even.Columns, rises) != slices.ContainsFunc(whole.Columns, rises) {
		t.Error("other counts")
	}
	for j := range whole.Columns {
		if even.Columns[j].Missing != whole.Columns[j].Missing || even.Columns[j].Missing == (stream.MissingCount{}) && whole.Columns[j].Observed < whole.Rows {
			t.Errorf("column %d: %+v, want %+v", j, even.Columns[j].Missing, whole.Columns[j].Missing)
		}
	}
}
