package chunkio

import (
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestTargetsComeWithTheirRows: targets belong to the remaining rows, also from kept row groups, from one element of
// a list as from a column, and as codes of texts; a label that is no class has none.
func TestTargetsComeWithTheirRows(t *testing.T) {
	const n = 900
	a, y := make([]float64, n), make([]float64, n)
	lists, words, codes := make([][]float64, n), make([]string, n), make([]float64, n)
	for i := range n {
		a[i], y[i] = float64(i), float64(i%7)
		if i%5 == 0 {
			a[i] = format.Null
		}
		if i%11 == 0 {
			y[i] = format.Null
		}
		lists[i] = []float64{-1, y[i]}
		words[i] = []string{"", "no", "größe", listing.HiveNull}[i%4]
		if codes[i] = float64(xxhash.Sum64String(words[i]) >> 11); words[i] == listing.HiveNull {
			codes[i] = format.Null
		}
	}
	tab := chunkiotest.NewTable(n).AddScalar("a", a).AddScalar("y", y).AddList("l", 2, lists).AddLabel("word", words).AddText("name")
	tab.Leaves[len(tab.Leaves)-1].NoClass = "no class"
	disk, paths := PlantTable(tab, 3, 100, 1)
	for _, c := range []struct {
		label string
		want  []float64
		codes bool
	}{{"y", y, false}, {"l[1]", y, false}, {"word", codes, true}, {"l", nil, false}, {"name", nil, false}} {
		for _, missing := range []stream.MissingPolicy{stream.MissingKeep, stream.MissingDropRow} {
			opt := Options{Columns: []string{"a"}, Label: c.label, Target: true, Missing: missing, Keep: NewKeep(1 << 20)}
			ds := disk.OpenDataset(t, paths, opt)
			for pass := range 2 {
				var got, rows []float64
				for chunk, err := range ds.Chunks(t.Context(), stream.Range{}) {
					must.Do(t, err)
					if (chunk.Target != nil) != (c.want != nil) || chunk.TargetCodes != c.codes {
						t.Fatalf("%s: targets %v, codes %v", c.label, chunk.Target, chunk.TargetCodes)
					}
					got = append(got, chunk.Target...)
					for i := range len(chunk.Target) {
						rows = append(rows, c.want[chunk.Position(i)])
					}
				}
				if !slices.EqualFunc(got, rows, func(x, z float64) bool { return x == z || x != x && z != z }) {
					t.Errorf("%s, pass %d: targets %v of rows with %v", c.label, pass, got[:9], rows[:9])
				}
			}
			if groups, _ := opt.Keep.HeldGroups(); groups == 0 {
				t.Errorf("%s: nothing was kept", c.label)
			}
		}
	}
}
