package chunkio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// cellsFolder writes a folder as CellRanger does: genes in rows, cells in columns. counts has the cells of the table.
func cellsFolder(t *testing.T, dir, ending string, counts [][]float64, isShuffled bool) {
	t.Helper()
	formattest.Must(t, os.MkdirAll(dir, 0o755))
	write := func(name string, lines []string) {
		text := []byte(strings.Join(lines, "\n") + "\n")
		if ending != "" {
			text = chunkiotest.ZipText(t, text)
		}
		formattest.Must(t, os.WriteFile(filepath.Join(dir, name+ending), text, 0o600))
	}
	var entries, barcodes, features []string
	for i, row := range counts {
		barcodes = append(barcodes, fmt.Sprintf("CELL%d-1", i))
		for j, x := range row {
			if x != 0 {
				entries = append(entries, fmt.Sprintf("%d %d %v", j+1, i+1, x))
			}
		}
	}
	if isShuffled {
		rand.New(rand.NewPCG(5, 5)).Shuffle(len(entries), func(a, b int) { entries[a], entries[b] = entries[b], entries[a] })
	}
	for j := range counts[0] {
		typ := "Gene Expression"
		if j%4 == 3 {
			typ = "Antibody Capture"
		}
		features = append(features, fmt.Sprintf("ENSG%d\tGENE%d\t%s", j, max(j, 1), typ)) // two genes are GENE1
	}
	size := fmt.Sprintf("%d %d %d", len(features), len(counts), len(entries))
	write("matrix.mtx", append([]string{"%%MatrixMarket matrix coordinate integer general", "%metadata_json: {}", size}, entries...))
	write("features.tsv", features)
	write("barcodes.tsv", barcodes)
}

// TestCellsEqualTable: a folder of CellRanger has the counts of its cells under the names of its genes, compressed or not,
// in any order of its coordinates, named as a folder or by its matrix, as one sample or several, and from a plan.
func TestCellsEqualTable(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(55, 5))
	counts := make([][]float64, 700)
	for i := range counts {
		counts[i] = make([]float64, 11)
		for j := range counts[i] {
			if rng.IntN(3) == 0 {
				counts[i][j] = float64(1 + rng.IntN(20))
			}
		}
	}
	names := []string{"GENE1.ENSG0", "GENE1.ENSG1", "GENE2", "Antibody Capture.GENE3", "GENE4", "GENE5", "GENE6", "Antibody Capture.GENE7", "GENE8", "GENE9", "GENE10"}
	cellsFolder(t, filepath.Join(dir, "plain"), "", counts, false)
	cellsFolder(t, filepath.Join(dir, "packed"), ".gz", counts, true)
	cellsFolder(t, filepath.Join(dir, "samples", "a"), "", counts[:300], true)
	cellsFolder(t, filepath.Join(dir, "samples", "b"), ".gz", counts[300:], false)
	open := func(in string, opt Options) *Dataset {
		if opt.Plan == "" {
			opt.Sparse = DefaultSparse(t.Context(), []string{in}, nil, false)
			if strings.Contains(in, "*") { // of a glob without the ending of a format there is no default
				opt.Sparse = "x"
			}
			return must.Get(Open(t.Context(), []string{in}, opt))(t)
		}
		opt.Sparse = "x"
		return must.Get(Open(t.Context(), nil, opt))(t)
	}
	check := func(what string, ds *Dataset, pattern string, from int) {
		t.Helper()
		var keep []int
		for j, name := range names {
			if pattern == "*" || strings.HasPrefix(name, "GENE") {
				keep = append(keep, j)
			}
		}
		var wantNames []string
		for _, j := range keep {
			wantNames = append(wantNames, names[j])
		}
		if got := ColumnNames(ds); !slices.Equal(got, wantNames) {
			t.Errorf("%s: features %q, want %q", what, got, wantNames)
			return
		}
		got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		for i, row := range got.Rows {
			for k, x := range row {
				if want := counts[from+i][keep[k]]; x != want {
					t.Fatalf("%s: %v of %s in cell %d, want %v", what, x, wantNames[k], i, want)
				}
			}
		}
		for _, l := range ds.LeftOut() {
			if !strings.Contains(l.Why, "of type Antibody Capture") {
				t.Errorf("%s: %s is left out because %s", what, l.Name, l.Why)
			}
		}
		formattest.Must(t, ds.Close())
	}
	for _, in := range []string{"plain", "packed", "samples", "samples/a/*", "samples/{a,b}/*", "plain/matrix.mtx", "packed/matrix.mtx.gz"} {
		check(in, open(filepath.Join(dir, in), Options{}), "", 0)
		check(in+", all columns", open(filepath.Join(dir, in), Options{Columns: []string{"*"}}), "*", 0)
	}
	planned := open(filepath.Join(dir, "samples"), Options{ForPlan: true})
	plan := filepath.Join(dir, "a.plan.json")
	must.Get(planned.WritePlan(t.Context(), plan, PlanHeader{}))(t)
	formattest.Must(t, planned.Close())
	check("plan", open("", Options{Plan: plan}), "", 0)
}

// TestBadCellsFolders: folders whose files do not belong together are refused.
func TestBadCellsFolders(t *testing.T) {
	counts := [][]float64{{1, 0, 2, 1}, {0, 3, 0, 1}}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  string
		input string // of the folder; empty for the folder itself
	}{
		"barcodes": {func(string) error { return nil }, "only names the features or cells", "barcodes.tsv"},
		"fewer barcodes": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "barcodes.tsv"), []byte("A-1\n"), 0o600)
		}, "4 features and 1 cells", ""},
		"no identifier": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "features.tsv"), []byte("\tA\n"), 0o600)
		}, "line 1: there is no identifier", ""},
		"no gzip": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "features.tsv"), append([]byte{0x1f, 0x8b, 8}, bytes.Repeat([]byte{7}, 40)...), 0o600)
		}, "features.tsv", ""},
		"other features": {func(dir string) error {
			cellsFolder(t, filepath.Join(dir, "other"), "", [][]float64{{1, 2, 3}}, false)
			return nil
		}, "its features differ", ""},
	} {
		dir := filepath.Join(t.TempDir(), "a")
		cellsFolder(t, dir, "", counts, false)
		formattest.Must(t, c.spoil(dir))
		if c.input != "" {
			dir = filepath.Join(dir, c.input)
		}
		if _, err := Open(t.Context(), []string{dir}, Options{Sparse: "x"}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %s", name, err, c.want)
		}
	}
}
