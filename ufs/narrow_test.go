package ufs

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestNarrowFactorSelectsAlike: a table whose types a float32 holds takes half the room as a factor,
// and gives the selection of the same values as double: with missing values, constant columns, a
// sample, several scales, and from sparse rows.
func TestNarrowFactorSelectsAlike(t *testing.T) {
	table := faces(40, 300, 9)
	for j, column := range table.Cols {
		for i, v := range column {
			if table.Cols[j][i] = float64(float32(v)); j%7 == 3 && i%5 == 1 {
				table.Cols[j][i] = math.NaN()
			}
			if j == 11 {
				table.Cols[j][i] = 2.5
			}
		}
	}
	written := make(map[string]string)
	for _, form := range []string{"float", "double", "sparse float", "sparse double"} {
		typ, sparse := strings.CutPrefix(form, "sparse ")
		if sparse {
			for _, column := range table.Cols {
				for i, v := range column {
					if math.IsNaN(v) {
						column[i] = 0 // absent
					}
				}
			}
		}
		path := filepath.Join(t.TempDir(), form+".parquet")
		must.Do(t, chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{Type: typ, Sparse: sparse}))
		written[form] = path
	}
	for _, prefix := range []string{"", "sparse "} {
		for _, name := range []string{"greedy", "partgreedy"} {
			for _, scale := range []string{"", "none", "minmax", "rank"} {
				for _, sample := range []int64{0, 25}[:long.CountCases(1, 2)] {
					q := Request{Choice: Choice{Method: name, K: 12, Scale: scale}, Columns: Columns{Missing: "mean"}, SampleRows: sample}
					if prefix != "" {
						if q.Columns.Sparse = fmt.Sprint("indices,values,", len(table.Cols)); scale == "rank" {
							continue
						}
					}
					q.Input.Paths = []string{written[prefix+"double"]}
					want, planned := must.Get(Select(t.Context(), q))(t), must.Get(Plan(t.Context(), q))(t).Memory
					q.Input.Paths = []string{written[prefix+"float"]}
					got, narrow := must.Get(Select(t.Context(), q))(t), must.Get(Plan(t.Context(), q))(t).Memory
					what := fmt.Sprintf("%s%s, scale %s, sample %d", prefix, name, scale, sample)
					if less := 4 * planned.Factor * int64(len(table.Cols)); planned.Factor == 0 || scale != "rank" && planned.Statistics-narrow.Statistics != less {
						t.Errorf("%s: %d bytes of %d rows, as double %d: want %d less", what, narrow.Statistics, narrow.Factor, planned.Statistics, less)
					}
					if len(got.Selected) != len(want.Selected) {
						t.Fatalf("%s: %d features, want %d", what, len(got.Selected), len(want.Selected))
					}
					for i, f := range got.Selected {
						w := want.Selected[i]
						if f.Name != w.Name || math.Abs(float64(f.Score-w.Score)) > 1e-9*float64(w.Score) || math.Abs(float64(f.Error-w.Error)) > 1e-9 {
							t.Errorf("%s, rank %d: %s, score %v, error %v; want %s, %v, %v", what, f.Rank, f.Name, f.Score, f.Error, w.Name, w.Score, w.Error)
						}
					}
				}
			}
		}
	}
}
