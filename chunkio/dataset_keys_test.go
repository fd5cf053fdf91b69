package chunkio

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// keyFile writes NDJSON whose objects have identifiers as keys, and returns the sum of the values of each key.
func keyFile(t *testing.T, rows int) (path string, sums map[string]float64) {
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	sums = map[string]float64{}
	for range rows {
		m := map[string]float64{}
		for range 1 + rng.IntN(6) {
			m[fmt.Sprintf("u%d", rng.IntN(20_000))] = float64(1 + rng.IntN(9))
		}
		b.WriteString(`{"counts":{`)
		comma := ""
		for key, x := range m {
			fmt.Fprintf(&b, `%s"%s":%v`, comma, key, x)
			comma = ","
			sums[key] += x
		}
		b.WriteString("}}\n")
	}
	b.WriteString("{}\n{\"counts\":null}\n{\"counts\":{}}\n")
	path = filepath.Join(t.TempDir(), "ids.ndjson")
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o666))
	return path, sums
}

// sumsOf are the sums of the features of sparse rows, by name.
func sumsOf(t *testing.T, path string, opt Options) (map[string]float64, int) {
	ds, err := Open(t.Context(), []string{path}, opt)
	must.Do(t, err)
	defer ds.Close()
	sums, rows := map[string]float64{}, 0
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		rows += c.Rows
		for k, j := range c.Sparse.Index {
			sums[ds.Columns()[j].Name] += c.Sparse.Value[k]
		}
	}
	if len(ds.Columns()) != len(sums) {
		t.Errorf("%d features, of which %d have values", len(ds.Columns()), len(sums))
	}
	return sums, rows
}

// TestMapsOfTextsAreSparseRows: NDJSON with identifiers as keys, and the Parquet that convert makes of it, are sparse
// rows, a feature for every key. The test adds up the expected sums while it writes the keys.
func TestMapsOfTextsAreSparseRows(t *testing.T) {
	path, want := keyFile(t, 3000)
	if got := DefaultSparse(t.Context(), []string{path}, nil, true); got != "counts" {
		t.Fatalf("sniffed %q", got)
	}
	columns := filepath.Join(t.TempDir(), "ids.parquet")
	report, err := Convert(t.Context(), []string{path}, columns, ApplyOptions{})
	must.Do(t, err)
	if len(report.Warnings) != 1 {
		t.Errorf("the warnings are %v", report.Warnings)
	}
	for _, input := range []string{path, columns} {
		for _, opt := range []Options{{Sparse: "counts"}, {Sparse: fmt.Sprintf("counts,%d", len(want)), Threads: 1}} {
			got, rows := sumsOf(t, input, opt)
			if rows != 3003 || len(got) != len(want) {
				t.Fatalf("%s: %d rows of %d keys, want 3003 of %d", input, rows, len(got), len(want))
			}
			for key, sum := range want {
				if got["counts."+key] != sum {
					t.Fatalf("%s: %s adds up to %v, want %v", input, key, got["counts."+key], sum)
				}
			}
		}
		if _, err := Open(t.Context(), []string{input}, Options{Sparse: "counts,5"}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the map has %d keys", len(want))) {
			t.Errorf("%s with another number of keys: %v", input, err)
		}
		if _, err := Open(t.Context(), []string{input}, Options{Sparse: "counts", Memory: 3 << 20}); err == nil {
			t.Errorf("%s: its keys fit into 3 MiB", input)
		}
	}
	// A key is written dense, 0 in rows without it.
	out := filepath.Join(t.TempDir(), "out.csv")
	key := "counts.u" + strings.TrimPrefix(firstKey(want), "u")
	mustApply(t, []string{columns}, out, ApplyOptions{Columns: []string{key}, Sparse: "counts", Form: copying.FormCSV})
	sum := 0.0
	for _, line := range strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(out))(t))), "\n")[1:] {
		var x float64
		must.Get(fmt.Sscan(line, &x))(t)
		sum += x
	}
	if sum != want[firstKey(want)] {
		t.Errorf("%s adds up to %v, want %v", key, sum, want[firstKey(want)])
	}
}

// TestKeysTwice: a key that a row has twice is an error of the row.
func TestKeysTwice(t *testing.T) {
	path, _ := keyFile(t, 3000)
	text := string(must.Get(os.ReadFile(path))(t)) + `{"counts":{"u1":1,"u2":2,"u1":3}}` + "\n"
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	ds := must.Get(Open(t.Context(), []string{path}, Options{Sparse: "counts"}))(t)
	defer ds.Close()
	for _, err := range ds.Chunks(t.Context(), stream.Range{}) {
		if err == nil || !strings.Contains(err.Error(), `row 3003: key "u1" occurs twice`) {
			t.Errorf("got error %v", err)
		}
		break
	}
}

func firstKey(sums map[string]float64) (first string) {
	for key := range sums {
		if first == "" || key < first {
			first = key
		}
	}
	return first
}
