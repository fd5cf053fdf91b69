// Package realtest reads real datasets. It is a package of its own, because chunkio brings the object stores into every
// test binary that links it.
package realtest

import (
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ReadColumns returns the columns of one of the further real datasets, without its label.
func ReadColumns(t *testing.T, name string) [][]float64 {
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
	return columns
}
