package gram

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestSparse(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		tab := wide(11, 50, false)
		if !weighted {
			tab.Weight = nil
		}
		sparse := NewMoments(len(tab.Cols), Options{})
		profile := NewProfile(len(tab.Cols))
		rows := tab.Table
		rows.Sparse = true
		rows.Add(t, sparse, 0, 50, 20)
		rows.Add(t, profile, 0, 50, 20)
		if !reflect.DeepEqual(&sparse.Profile, profile) {
			t.Fatal("the profile alone is another than in the moments")
		}
		both := tab.moments(t, Options{}, 50) // dense rows and sparse rows together
		var twice table
		for _, col := range tab.Cols {
			twice.Cols = append(twice.Cols, slices.Repeat(col, 2))
		}
		if weighted {
			twice.Weight = slices.Repeat(tab.Weight, 2)
		}
		must.Do(t, both.Merge(sparse))
		for _, scale := range scales {
			// The pilot of sparse rows is 0, so only columns whose mean is not much
			// larger than their spread have the twin's condition: all of these, two
			// thirds of whose entries are 0.
			ref := twice.reference(scale, FillMean)
			again := NewMoments(len(tab.Cols), Options{})
			must.Do(t, again.Merge(both))
			ref.near(t, 1600, finish(t, again, tab, scale, FillMean).Sym)
			again = NewMoments(len(tab.Cols), Options{})
			must.Do(t, again.Merge(sparse))
			tab.reference(scale, FillMean).near(t, 800, finish(t, again, tab, scale, FillMean).Sym)
		}
	}
}

func TestSparseAfterDense(t *testing.T) {
	tab := wide(5, 10, false)
	tab.Cols[0][0] = 3 // a pilot that is not 0
	m := tab.moments(t, Options{}, 10)
	before := encode(t, m)
	for i, err := range []error{m.Add(tab.sparse(0, 10)), m.Add(&stream.Chunk{Cols: 4}), m.Merge(NewMoments(4, Options{}))} {
		if err == nil || !bytes.Equal(before, encode(t, m)) {
			t.Errorf("%d: err = %v, or state changed", i, err)
		}
	}
}
