package chunkio

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestMessyAgreesWithItsReadme(t *testing.T) {
	ds := OpenReal(t, Options{Missing: stream.MissingKeep, Label: "label"}, "messy.parquet")
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	if len(got.Rows) != 5000 {
		t.Errorf("%d rows, want 5000", len(got.Rows))
	}
	missing := map[string]stream.MissingCount{ // nothing else is missing
		"flag": {Nulls: 251}, "price": {Nulls: 184}, "temp_f": {Nulls: 142, NaNs: 94, Infs: 64}, "d_messy": {Nulls: 478, NaNs: 50, Infs: 23},
		"i16": {Nulls: 97}, "u64_big": {Nulls: 39}, "huge": {Nulls: 49}, "null_col": {Nulls: 5000}, "late_f": {Nulls: 4096},
	}
	names := ColumnNames(ds)
	want := "id,flag,price,temp_f,d_clean,d_messy,i16,u32,u64_big,huge,const_col,null_col,d_clean_copy,d_clean_affine,late_f,weird name.col," +
		"emb[0],emb[1],emb[2],emb[3],emb[4],emb[5],emb[6],emb[7],emb[8],emb[9],emb[10],emb[11],emb[12],emb[13],emb[14],emb[15],geo.lat,geo.lon"
	if got := strings.Join(names, ","); got != want {
		t.Errorf("features %s, want %s", got, want)
	}
	for j, name := range names {
		if got.Missing[j] != missing[name] {
			t.Errorf("%s: missing %+v, want %+v", name, got.Missing[j], missing[name])
		}
	}
	var left []string
	for _, l := range ds.LeftOut() {
		left = append(left, l.Name)
		if l.Why == "" {
			t.Errorf("%s is left out without a reason", l.Name)
		}
	}
	if want := []string{"ts", "category", "day", "vals", "label"}; !slices.Equal(left, want) {
		t.Errorf("left out %v, want %v", left, want)
	}
	u32 := slices.Index(names, "u32")
	if largest := slices.MaxFunc(got.Rows, func(a, b []float64) int { return int(a[u32] - b[u32]) }); largest[u32] != math.MaxUint32 {
		t.Errorf("u32 reaches %v, want %v", largest[u32], math.MaxUint32)
	}
}

func TestMessyStopsAtItsFirstMissingValue(t *testing.T) {
	ds := OpenReal(t, Options{}, "messy.parquet")
	_, err := chunkiotest.CollectRows(ds, stream.Range{})
	if !errors.Is(err, stream.ErrMissing) || !chunkiotest.IsData(err) {
		t.Fatalf("error %v", err)
	}
	for _, word := range []string{"messy.parquet", "row group 0", "column", "row ", "missing"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestRealBlocksDoNotDependOnThreadsOrMemory(t *testing.T) {
	for _, name := range []string{"messy.parquet", "usps.parquet"} {
		var first chunkiotest.Delivered
		for _, threads := range []int{1, 3} {
			ds := OpenReal(t, Options{}, name)
			for _, memory := range []int64{ds.MinMemory(), 1 << 30} {
				ds, err := ds.With(Options{Missing: stream.MissingKeep, Threads: threads, Memory: memory})
				formattest.Must(t, err)
				got, err := chunkiotest.CollectRows(ds, stream.Range{})
				formattest.Must(t, err)
				if first.Rows == nil {
					first = got
				}
				if d := chunkiotest.DescribeDiff(got, first); d != "" || !slices.Equal(got.Blocks, first.Blocks) {
					t.Errorf("%s, %d threads, %d bytes: %s", name, threads, memory, d)
				}
			}
		}
	}
}

func TestSparseBasehockEqualsDense(t *testing.T) {
	dense, err := chunkiotest.CollectRows(OpenReal(t, Options{Label: "label"}, "basehock.parquet"), stream.Range{})
	formattest.Must(t, err)
	ds := OpenReal(t, Options{Label: "label", Sparse: "indices,values"}, "basehock_sparse.parquet")
	sparse, err := chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	if d := chunkiotest.DescribeDiff(sparse, dense); d != "" {
		t.Errorf("sparse rows differ from dense ones: %s", d)
	}
	if c := ds.Columns(); len(c) != 4862 || c[4861].Name != "values[4861]" {
		t.Errorf("%d columns", len(c))
	}
}

func TestInputsAreFingerprinted(t *testing.T) {
	ds := OpenReal(t, Options{}, "orl.parquet")
	in := ds.Inputs()
	if len(in) != 1 || in[0].Rows != 400 || in[0].Bytes != 764227 || len(in[0].Fingerprint) != 16 {
		t.Errorf("inputs %+v", in)
	}
	content, err := os.ReadFile(in[0].Path)
	formattest.Must(t, err)
	content[100] ^= 1
	other := filepath.Join(t.TempDir(), "other.parquet")
	formattest.Must(t, os.WriteFile(other, content, 0o600))
	changed, err := Open(context.Background(), []string{other}, Options{})
	formattest.Must(t, err)
	if changed.Inputs()[0].Fingerprint == in[0].Fingerprint {
		t.Error("a flipped byte leaves the fingerprint as it was")
	}
}

func TestFilesWithoutData(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "short": "PA", "text": "a,b,c\n1,2\n", "cut": "PAR1abcdefgh", "arrow": "ARROW1\x00\x00abc",
	} {
		path := filepath.Join(folder, name)
		formattest.Must(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := Open(context.Background(), []string{path}, Options{})
		if !chunkiotest.IsData(err) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: error %v, want a DataError that names the file once", name, err)
		}
	}
}

func mustApply(t *testing.T, inputs []string, out string, opt ApplyOptions) ApplyReport {
	t.Helper()
	report, err := Apply(t.Context(), inputs, out, opt)
	formattest.Must(t, err)
	return report
}
