package gram

import (
	"bytes"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Shards merge to the whole: in any tree, with other pilots, other missing columns,
// and empty states in between.
func TestMerge(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		part := func(from, to int) *Moments {
			m := NewMoments(len(tab.Cols), Options{})
			tab.AddRows(t, m, from, to, 8)
			return m
		}
		merge := func(a, b *Moments) *Moments {
			t.Helper()
			before := encode(t, b)
			must.Do(t, a.Merge(b))
			if !bytes.Equal(before, encode(t, b)) {
				t.Fatal("Merge changed its argument")
			}
			return a
		}
		empty := func() *Moments { return part(0, 0) }
		ref := tab.reference(scale, fill)
		n := tab.N()
		for name, m := range map[string]*Moments{
			"left":  merge(merge(part(0, 20), part(20, 45)), part(45, n)),
			"right": merge(part(0, 20), merge(part(20, 45), part(45, n))),
			"back":  merge(part(45, n), merge(part(20, 45), part(0, 20))),
			"empty": merge(empty(), merge(merge(part(0, n), empty()), empty())),
		} {
			if m.Profile.Rows != int64(n) {
				t.Fatalf("%s: %d rows", name, m.Profile.Rows)
			}
			// Moving pilots costs at most the digits between the two pilots, which are
			// both values of the column: the same condition, once more for each merge.
			ref.near(t, 16*n, finish(t, m, tab, scale, fill).Sym)
		}
	})
}

func TestEmptyIsNeutral(t *testing.T) {
	tab := sample(2, 40, true, true)
	whole := tab.moments(t, Options{}, 16)
	want := encode(t, whole)
	must.Do(t, whole.Merge(NewMoments(len(tab.Cols), Options{})))
	if !bytes.Equal(want, encode(t, whole)) {
		t.Error("whole + empty differs from whole")
	}
	empty := NewMoments(len(tab.Cols), Options{})
	must.Do(t, empty.Merge(whole))
	if !bytes.Equal(want, encode(t, empty)) {
		t.Error("empty + whole differs from whole")
	}
}
