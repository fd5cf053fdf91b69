package mtx

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ufs-stream/ufs-stream/stream"
)

// makeCells writes a matrix of genes in rows and cells in columns in the order of the cells, and returns its entries by
// cell, from 1, and by gene, from 0.
func makeCells(rng *rand.Rand, genes, cells int, isShuffled bool) (text string, m matrix) {
	m = matrix{rows: cells, entries: map[[2]int]float64{}}
	var lines []string
	for j := 1; j <= cells; j++ {
		for i := 1; i <= genes; i++ {
			if rng.IntN(3) == 0 {
				x := 1 + rng.IntN(9)
				lines = append(lines, fmt.Sprintf("%d %d %d\n", i, j, x))
				m.entries[[2]int{j, i - 1}] = float64(x)
			}
		}
	}
	if isShuffled {
		rng.Shuffle(len(lines), func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
	}
	header := fmt.Sprintf("%s matrix coordinate integer general\n%%metadata_json: {}\n%d %d %d\n", Magic, genes, cells, len(lines))
	return header + strings.Join(lines, ""), m
}

// TestCells: genes become columns and cells rows. Coordinates in the order of cells are not sorted, others must be.
func TestCells(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		genes, cells, isShuffled := rng.IntN(40), rng.IntN(60), seed%2 == 1
		text, want := makeCells(rng, genes, cells, isShuffled)
		for _, sorts := range []bool{false, true} {
			to := new(spool)
			table, err := ParseCells(t.Context(), "t.mtx", iotest.OneByteReader(strings.NewReader(text)), to, 1<<30, genes, cells, sorts)
			if isShuffled && !sorts && len(want.entries) > 9 {
				if !errors.Is(err, ErrOrder) {
					t.Errorf("seed %d, shuffled: error %v, want %v", seed, err, ErrOrder)
				}
				continue
			}
			if err != nil {
				if !isShuffled || !errors.Is(err, ErrOrder) {
					t.Errorf("seed %d, sorted %v: %v", seed, sorts, err)
				}
				continue
			}
			file := table.OpenFrom(input{strings.NewReader("")})
			if perRow := file.Leaves()[0].PerRow; cells > 0 && perRow != int64((len(want.entries)+cells-1)/cells) { // all rows are one group
				t.Errorf("seed %d: %d entries a row are planned for %d entries of %d cells", seed, perRow, len(want.entries), cells)
			}
			got := readMatrix(t, file)
			if got.rows != want.rows || !maps.Equal(got.entries, want.entries) {
				t.Errorf("seed %d, sorted %v: %d rows and entries %v, want %d and %v", seed, sorts, got.rows, got.entries, want.rows, want.entries)
			}
			if most := 12 * (len(want.entries) + cells); !sorts && len(to.data) > most {
				t.Errorf("seed %d: %d entries in order take %d bytes of the spool, want at most %d", seed, len(want.entries), len(to.data), most)
			}
		}
	}
}

func TestBadCells(t *testing.T) {
	const header = Magic + " matrix coordinate integer general\n"
	for text, want := range map[string]string{
		header + "2 3 0\n":                     "line 2: the matrix has 2 rows and 3 columns, but the files beside it name 3 features and 2 cells",
		header + "3 2 2\n1 1 5\n1 1 5\n":       "the entry in row 1 and column 1 occurs twice",
		header + "3 2 1\n4 1 5\n":              `line 3: the row, "4", is no whole number from 1 to 3`,
		header + "3 2 2\n1 1 5\n":              "the text ends after 1 entries",
		header + "3 2147483648 0\n":            "the number of columns",
		header + "16777216 2 0\n":              "the number of rows",
		Magic + " matrix array real general\n": "the number of rows is missing",
	} {
		for _, sorts := range []bool{false, true} {
			_, err := ParseCells(t.Context(), "t.mtx", strings.NewReader(text), new(spool), 1<<30, 3, 2, sorts)
			if data, ok := errors.AsType[*stream.DataError](err); !ok || !strings.Contains(err.Error(), want) || data.Path != "t.mtx" {
				t.Errorf("%q: error %v, want %s", text, err, want)
			}
		}
	}
}

// TestFeatures: genes are named by their symbols, genes that share one with their identifiers too, and features of other
// types with the type.
func TestFeatures(t *testing.T) {
	const aside = "a feature of type Antibody Capture, not Gene Expression: to use it, name it among the columns"
	for text, want := range map[string]Features{
		"":                                  {},
		"ENSG1\tA\nENSG2\tB\r\nENSG3\tA":    {Names: []string{"A.ENSG1", "B", "A.ENSG3"}}, // version 2
		"ENSG1\nENSG2\t\tGene Expression":   {Names: []string{"ENSG1", "ENSG2"}},
		"p1\tchr1:1-9\tPeaks\tchr1\t1\t9\n": {Names: []string{"chr1:1-9"}},
		"p1\tCD3\tAntibody Capture\ng1\tCD3\tGene Expression\np2\tCD3\tAntibody Capture\n": {
			Names: []string{"Antibody Capture.CD3.p1", "CD3", "Antibody Capture.CD3.p2"}, Asides: []string{aside, "", aside},
		},
	} {
		got, err := ParseFeatures("features.tsv", strings.NewReader(text), 1<<20)
		if err != nil {
			t.Errorf("the features %q: %v", text, err)
			continue
		}
		if !slices.Equal(got.Names, want.Names) || !slices.Equal(got.Asides, want.Asides) {
			t.Errorf("%q: names %q and reasons %q, want %q and %q", text, got.Names, got.Asides, want.Names, want.Asides)
		}
	}
	for text, want := range map[string]string{
		"g\tA\n\tB\n":                         "line 2: there is no identifier",
		"g\tA\ng\tA\n":                        `line 2: the feature "A.g" is already in line 1`,
		"g\tA.h\nh\tA\ni\tA\n":                `line 2: the feature "A.h" is already in line 1`,
		strings.Repeat("x", maxLine+1) + "\n": "line 1: longer than",
	} {
		_, err := ParseFeatures("features.tsv", strings.NewReader(text), 1<<20)
		if !errors.As(err, new(*stream.DataError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
	if _, err := ParseFeatures("features.tsv", strings.NewReader(strings.Repeat("g\tA\n", 1000)), 1<<10); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("little memory: error %v, want a MemoryError", err)
	}
	if n, err := CountBarcodes("barcodes.tsv", strings.NewReader("AC-1\nAG-1")); n != 2 || err != nil {
		t.Errorf("two barcodes: %d and error %v", n, err)
	}
	if _, err := CountBarcodes("barcodes.tsv", strings.NewReader("AC-1\n\nAG-1")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("an empty barcode: error %v, want one in line 2", err)
	}
}

// TestFindFolder: only a matrix with both files of names beside it is one of CellRanger.
func TestFindFolder(t *testing.T) {
	for files, want := range map[string]*Folder{
		"d/matrix.mtx d/features.tsv d/barcodes.tsv":                         {"d/features.tsv", "d/barcodes.tsv"},
		"d/matrix.mtx.gz d/features.tsv.gz d/barcodes.tsv.gz d/features.tsv": {"d/features.tsv.gz", "d/barcodes.tsv.gz"},
		"matrix.mtx genes.tsv barcodes.tsv":                                  {"genes.tsv", "barcodes.tsv"},
		"d/GSM1_matrix.mtx.gz d/GSM1_genes.tsv.gz d/GSM1_barcodes.tsv":       {"d/GSM1_genes.tsv.gz", "d/GSM1_barcodes.tsv"},
		"d/GSM1_matrix.mtx.gz d/GSM2_genes.tsv.gz d/GSM1_barcodes.tsv":       nil,
		"d/matrix.mtx d/features.tsv e/barcodes.tsv":                         nil,
		"d/mymatrix.mtx d/myfeatures.tsv d/mybarcodes.tsv":                   nil,
		"d/other.mtx d/features.tsv d/barcodes.tsv":                          nil,
	} {
		list := strings.Fields(files)
		exists := func(path string) bool { return slices.Contains(list, path) }
		got := FindFolder(list[0], exists)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: found %v, want %v", files, got, want)
		}
		for _, beside := range list[1:3] {
			if is := NamesFeatures(beside, exists); is != (want != nil) {
				t.Errorf("%s: NamesFeatures(%s) = %v", files, beside, is)
			}
		}
	}
}

// FuzzFeatures: no text is too strange, and names are distinct.
func FuzzFeatures(f *testing.F) {
	f.Add([]byte("ENSG1\tA\tGene Expression\nENSG2\tA\tAntibody Capture\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseFeatures("features.tsv", strings.NewReader(string(text)), 1<<30)
		if err != nil {
			if !errors.As(err, new(*stream.DataError)) {
				t.Errorf("%q: error %v, want a DataError", text, err)
			}
			return
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(got.Names))); len(distinct) < len(got.Names) || got.Asides != nil && len(got.Asides) != len(got.Names) {
			t.Errorf("%q: names %q with %d reasons", text, got.Names, len(got.Asides))
		}
	})
}
