package pca

import (
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// realRows returns the standardized rows of a real dataset without its label, standardized by gonum.
func realRows(t *testing.T, name string) *mat.Dense {
	t.Helper()
	path := fixtures.DatasetPath(t, filepath.Join("more", name+".parquet"))
	ds := must.Get(chunkio.Open(t.Context(), []string{path}, chunkio.Options{Exclude: []string{"label"}}))(t)
	defer ds.Close()
	columns := make([][]float64, len(ds.Columns()))
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		for j := range columns {
			columns[j] = append(columns[j], c.Col(j)...)
		}
	}
	x := mat.NewDense(len(columns[0]), len(columns), nil)
	for j, column := range columns {
		x.SetCol(j, column)
	}
	return standardize(x)
}

// TestRealSetsAreTheNaiveTwin: on real tables, narrow and wide, both methods agree with their definitions on the rows.
func TestRealSetsAreTheNaiveTwin(t *testing.T) {
	for name, k := range map[string]int{"wine": 5, "sonar": 12, "libras": 10, "khan": 15} {
		x := realRows(t, name)
		checkLargest(t, name, x, k)
		for _, c := range []method.ComponentCount{{Share: 0.9}, {Count: 5}} {
			checkPrincipal(t, name+", components "+c.ToText(), x, k, c)
		}
	}
}
