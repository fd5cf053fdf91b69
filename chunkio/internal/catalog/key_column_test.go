package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestKeyColumnByStatistics: if the statistics of a row group show that all its values are the key's, no row is read.
func TestKeyColumnByStatistics(t *testing.T) {
	for _, c := range []struct {
		key, value string
		told       bool
	}{
		{"2021", "2021", true}, {"2021", "2022", false}, {"a", "a", true}, {"a", "b", false}, {"true", "true", true},
		{"0.5", "0.5", false}, // NaN does not show in bounds
		{listing.HiveNull, "NA", true},
	} {
		in, out := filepath.Join(t.TempDir(), "in.csv"), filepath.Join(t.TempDir(), "a.parquet")
		formattest.Must(t, os.WriteFile(in, fmt.Appendf(nil, "x,k\n0,%[1]s\n1,%[1]s\n", c.value), 0o600))
		must.Get(chunkio.Convert(t.Context(), []string{in}, out, chunkio.ApplyOptions{}))(t)
		opened := must.Get(parquet.Open(formattest.OpenFile(t, out), 1<<30))(t)
		if got := catalog.IsKeyByStatistics(opened, 1, c.key); got != c.told {
			t.Errorf("k=%s of %s: told %v, want %v; the bounds are %+v", c.key, c.value, got, c.told, opened.Bounds(0, 1))
		}
		formattest.Must(t, opened.Close())
	}
}
