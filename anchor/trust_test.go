package anchor

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// The graph of all rows' points among themselves is the graph of the rows with all of them as
// anchors: the same sums in another order.
func TestAmongIsTheGraphOfAllAnchors(t *testing.T) {
	const n, d = 90, 7
	tab := clusters(n, d, 3)
	for _, threads := range []int{1, 3} {
		a := tab.random(t, n, gram.ScaleStandard)
		want := tab.graph(t, a, Options{Neighbors: 4})
		got := must.Get(Among(a.Points, n, d, Options{Neighbors: 4, Threads: threads}))(t)
		if got.Rows != n || got.M != n || got.D != d || got.G != nil {
			t.Fatalf("%d rows, %d anchors, %d features", got.Rows, got.M, got.D)
		}
		rows := func(x []float64, d int) [][]float64 { return slices.Collect(slices.Chunk(x, d)) }
		checkNear(t, "Delta", got.Delta, rows(want.Delta, n), 1e-11)
		checkNear(t, "C", got.C, rows(want.C, d), 1e-11)
		checkNear(t, "S", got.S, rows(want.S, n), 1e-11)
	}
	if _, err := Among(make([]float64, 8), 4, 2, Options{Neighbors: 4}); err == nil {
		t.Error("4 neighbours of 4 points")
	}
}

// Numbers of words of the binary form of statistics: before the trust without the magic word, and of the trust.
const headWords, trustWords = 8, 6

// Trust goes through files and merges, and files without it are read.
func TestTrustGoesAlong(t *testing.T) {
	tab := clusters(60, 4, 1)
	a := tab.random(t, 12, gram.ScaleStandard)
	known := Trust{Features: 3, Value: 0.75, Chance: 0.25, Few: 2, FewValue: 0.5, FewChance: 0.125}
	s, o := tab.statistics(t, a, Options{}, 60), tab.statistics(t, a, Options{}, 60)
	plain := written(t, s)
	s.SetTrust(known)
	full := written(t, s)
	read := emptyStatistics(t, Options{})
	must.Get(read.ReadFrom(bytes.NewReader(full)))(t)
	if read.Trust() != known || !bytes.Equal(written(t, read), full) {
		t.Errorf("read %+v", read.Trust())
	}
	must.Do(t, o.Merge(s))
	must.Do(t, s.Merge(read))
	if o.Trust() != known || s.Trust() != known {
		t.Errorf("merged: %+v and %+v", o.Trust(), s.Trust())
	}

	// The form before: another opening word, and none of the six.
	at := 8 * (1 + headWords)
	old := slices.Concat(plain[:at], plain[at+8*trustWords:])
	w := new(bytes.Buffer)
	must.Get(words.WriteState(w, func(v *words.Visitor) { v.Magic(untrustedMagic, "") }))(t)
	copy(old, w.Bytes())
	must.Get(read.ReadFrom(bytes.NewReader(old)))(t)
	if read.Trust() != (Trust{}) || !bytes.Equal(written(t, read), plain) {
		t.Errorf("of the form before: %+v", read.Trust())
	}
	// Who has the anchors knows their trust.
	mine := withoutRows(t, a)
	mine.SetTrust(known)
	must.Get(mine.ReadFrom(bytes.NewReader(old)))(t)
	if mine.Trust() != known {
		t.Errorf("resumed: %+v", mine.Trust())
	}
	for _, bad := range []Trust{
		{Features: 5, Few: 1}, {Features: 2, Few: 3}, {Value: 0.5}, {Features: 2}, {Features: 2, Few: 1, Chance: 1.5}, {Features: 2, Few: 1, FewValue: -1},
	} {
		s.SetTrust(bad)
		if _, err := read.ReadFrom(bytes.NewReader(written(t, s))); err == nil {
			t.Errorf("read %+v", bad)
		}
	}
}
