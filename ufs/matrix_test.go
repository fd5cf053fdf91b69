package ufs

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// correlatedColumns has factors, copies, integers with many ties, a constant, weights, and holes if wanted.
func correlatedColumns(seed uint64, rows, columnCount int, holes bool) columns {
	random := rand.New(rand.NewPCG(seed, 3))
	factors := make([][]float64, 5)
	for k := range factors {
		for range rows {
			factors[k] = append(factors[k], random.NormFloat64())
		}
	}
	c := tableOf(nil, nil)
	for j := range columnCount {
		column := make([]float64, rows)
		for i := range column {
			column[i] = float64(j%7) + factors[j%5][i] + 0.4*random.NormFloat64()
			switch j {
			case 3:
				column[i] = math.Round(2 * column[i])
			case 4:
				column[i] = 7 - 3*c.Cols[0][i]
			}
			if holes && j%2 == 1 && random.IntN(4) == 0 {
				column[i] = math.NaN()
			}
		}
		c.Names, c.Cols = append(c.Names, fmt.Sprintf("x.%d", j)), append(c.Cols, column)
	}
	weight, flat := make([]float64, rows), make([]float64, rows)
	for i := range weight {
		weight[i], flat[i] = 0.5+float64(random.IntN(5)), 3
	}
	c.Names, c.Cols = append(c.Names, "w", "flat"), append(c.Cols, weight, flat)
	return c
}

// midranks returns the ranks of the values of x in rows of these weights, of which equal values share the middle. NaN
// stays NaN.
func midranks(x []float64, weightOf func(i int) float64) []float64 {
	ranks := make([]float64, len(x))
	for i, v := range x {
		if v != v {
			ranks[i] = v
			continue
		}
		for k, u := range x {
			if u < v {
				ranks[i] += weightOf(k)
			} else if u == v {
				ranks[i] += weightOf(k) / 2
			}
		}
	}
	return ranks
}

// matrixByDefinition is the naive twin of Matrix: the entry for two columns, and n.
type matrixByDefinition struct {
	of, missing string
	weight      []float64 // nil: 1
}

func (m matrixByDefinition) entry(a, b []float64) (value, n float64) {
	weightOf := func(i int) float64 {
		if m.weight == nil {
			return 1
		}
		return m.weight[i]
	}
	prepare := func(x []float64) []float64 {
		if m.of == MatrixSpearman {
			x = midranks(x, weightOf)
		}
		if m.missing != "mean" {
			return x
		}
		sum, w := 0.0, 0.0
		for i, v := range x {
			if v == v {
				sum, w = sum+weightOf(i)*v, w+weightOf(i)
			}
		}
		x = slices.Clone(x)
		for i, v := range x {
			if v != v {
				x[i] = sum / w
			}
		}
		return x
	}
	a, b = prepare(a), prepare(b)
	var sa, sb, w float64
	each := func(use func(x, y, w float64)) {
		for i, x := range a {
			if x == x && b[i] == b[i] {
				use(x, b[i], weightOf(i))
			}
		}
	}
	each(func(x, y, v float64) { sa, sb, w = sa+v*x, sb+v*y, w+v })
	var aa, ab, bb float64
	each(func(x, y, v float64) {
		x, y = x-sa/w, y-sb/w
		aa, ab, bb = aa+v*x*x, ab+v*x*y, bb+v*y*y
	})
	switch {
	case m.of == MatrixCovariance && m.weight != nil:
		return ab / w, w
	case m.of == MatrixCovariance:
		return ab / (w - 1), w
	}
	return ab / math.Sqrt(aa*bb), w
}

// readMatrixCSV returns the names in the first column and the numbers in the others; NaN means null.
func readMatrixCSV(t *testing.T, path string) (names []string, numbers [][]float64) {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	rows := must.Get(csv.NewReader(f).ReadAll())(t)
	for _, row := range rows[1:] {
		names = append(names, row[0])
		var list []float64
		for _, text := range row[1:] {
			x, err := strconv.ParseFloat(text, 64)
			if text == "" {
				x, err = math.NaN(), nil
			}
			must.Do(t, err)
			list = append(list, x)
		}
		numbers = append(numbers, list)
	}
	if !slices.Equal(rows[0][1:], names) {
		t.Fatalf("%s: the header is %q, and the names are %q", path, rows[0], names)
	}
	return names, numbers
}

// leastMemory returns the smallest limit within which a request runs, which holds the matrix in parts.
func leastMemory(t *testing.T, o MatrixRequest) int64 {
	t.Helper()
	o.Limits.Memory = 1
	_, err := Matrix(t.Context(), o)
	var short *stream.MemoryError
	if !errors.As(err, &short) {
		t.Fatalf("within 1 byte: got %v, want an error of too little memory", err)
	}
	return short.Need
}

// TestMatrixIsTheTwin: every kind, policy for missing values and weight, from the data in one pass, from the data in
// parts, and from statistics.
func TestMatrixIsTheTwin(t *testing.T) {
	const count = 800 // so many that the whole matrix needs more memory than its parts
	cases := 0
	for _, holes := range []bool{false, true} {
		c := correlatedColumns(1, 130, count, holes)
		in := c.write(t)
		for _, of := range MatrixKinds() {
			for _, missing := range []string{"mean", "pairwise"} {
				for _, weighted := range slices.Compact([]bool{false, holes}) {
					if of == MatrixSpearman && missing == "pairwise" && holes {
						continue // refused
					}
					if cases++; !long.TakesCase(cases, 3) {
						continue
					}
					twin := matrixByDefinition{of: of, missing: missing}
					o := MatrixRequest{Of: of}
					o.Input.Paths, o.Columns.Missing, o.Columns.Exclude = []string{in}, missing, []string{"w"}
					if weighted {
						twin.weight, o.Columns.Weight, o.Columns.Exclude = c.Cols[count], "w", nil
					}
					name := fmt.Sprint(of, missing, weighted, holes)
					o.Output = filepath.Join(t.TempDir(), "m.csv")
					done := must.Get(Matrix(t.Context(), o))(t)
					c.compareMatrix(t, name, o.Output, twin)
					if !slices.ContainsFunc(done.Warnings, func(w string) bool { return strings.Contains(w, "flat: constant") }) {
						t.Errorf("%s: warnings %q, want one that flat is constant", name, done.Warnings)
					}
					if o.Limits.Memory = leastMemory(t, o); of == MatrixCovariance && missing == "pairwise" {
						continue // moments suffice, and need no parts
					}
					parts := must.Get(Matrix(t.Context(), o))(t)
					if needsPlannedMemory := missing == "mean" || holes; needsPlannedMemory && parts.Passes < 4 {
						t.Errorf("%s: %d passes within %d bytes, want 4 or more", name, parts.Passes, o.Limits.Memory)
					}
					c.compareMatrix(t, name+" in parts", o.Output, twin)
				}
			}
		}
	}
}

func (c columns) compareMatrix(t *testing.T, name, path string, twin matrixByDefinition) {
	t.Helper()
	names, got := readMatrixCSV(t, path)
	if len(names) != 800 {
		t.Fatalf("%s: %d columns, want 800", name, len(names))
	}
	for i := range names {
		for j := range names {
			if i >= 8 && (i*800+j)%97 > 0 { // the first columns are all different; of the others some pairs suffice
				continue
			}
			want, _ := twin.entry(c.Cols[i], c.Cols[j])
			unit := 1.0
			if twin.of == MatrixCovariance {
				unit = 20 // the largest variance
			}
			if math.Abs(got[i][j]-want) > 1e-12*unit {
				t.Fatalf("%s: entry %s, %s: got %v, want %v", name, names[i], names[j], got[i][j], want)
			}
		}
	}
}

// TestMatrixFromStatistics: the numbers of the statistics are those of the data; correlations of pairs of rows, which
// they lack, are refused.
func TestMatrixFromStatistics(t *testing.T) {
	c := correlatedColumns(2, 200, 12, true)
	in, dir := c.write(t), t.TempDir()
	s := ScanRequest{Request: Request{Output: filepath.Join(dir, "all.ufs")}}
	s.Input.Paths = []string{in}
	must.Get(Scan(t.Context(), s))(t)
	for _, q := range []struct{ of, missing string }{{MatrixCorrelation, "mean"}, {MatrixCovariance, "pairwise"}, {MatrixCovariance, "mean"}} {
		var tables [2][][]float64
		for k := range tables {
			o := MatrixRequest{Of: q.of}
			o.Columns.Missing, o.Output = q.missing, filepath.Join(dir, "m.csv")
			if o.Input.Paths = []string{in}; k == 1 {
				o.Input.Paths, o.Stats = nil, s.Output
			}
			must.Get(Matrix(t.Context(), o))(t)
			_, tables[k] = readMatrixCSV(t, o.Output)
		}
		for i, row := range tables[0] {
			if !slices.Equal(row, tables[1][i]) {
				t.Errorf("%v: row %d is %v of the data, %v of the statistics", q, i, row, tables[1][i])
			}
		}
	}
	for words, o := range map[string]MatrixRequest{
		"lack the spread":     {Request: Request{Columns: Columns{Missing: "pairwise"}}},
		"spearman needs":      {Of: MatrixSpearman},
		"unknown":             {Format: "unknown"},
		"want correlation":    {Of: "tau"},
		"NumPy array":         {Format: "npy", Pairs: 0.5},
		"are of correlatio":   {Of: MatrixCovariance, PValues: true},
		"up to 1":             {Pairs: 1.5},
		"whole or not at all": {Request: Request{Output: "-none-"}},
	} {
		o.Stats = s.Output
		if o.Output = filepath.Join(dir, "none"); words == "whole or not at all" {
			o.Output = ""
		}
		_, err := Matrix(t.Context(), o)
		if !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: got %v, want a usage error with %q", o, err, words)
		}
	}
	if left := must.Files(t, dir); len(left) != 2 {
		t.Errorf("files %v, want the statistics and a matrix only", len(left))
	}
}

// TestMatrixForms: Parquet, Arrow, CSV, compressed CSV and NumPy hold the same numbers, and null or NaN for none.
func TestMatrixForms(t *testing.T) {
	c := tableOf([]string{"name", "a,\"b", "z"}, [][]float64{{1, 2, 4, 3, math.NaN(), math.NaN()}, {5, 1, 1, 2, math.NaN(), 8}, {math.NaN(), math.NaN(), math.NaN(), 7, 8, 1}})
	in, dir := c.write(t), t.TempDir()
	var want [][]float64
	for _, file := range []string{"m.csv", "m.parquet", "m.arrow", "m.csv.gz", "m.csv.zst", "m.npy"} {
		o := MatrixRequest{}
		o.Input.Paths, o.Columns.Missing, o.Output = []string{in}, "pairwise", filepath.Join(dir, file)
		must.Get(Matrix(t.Context(), o))(t)
		if file == "m.csv" {
			_, want = readMatrixCSV(t, o.Output)
			if want[0][0] != 1 || want[0][2] == want[0][2] || !strings.HasPrefix(string(must.Get(os.ReadFile(o.Output))(t)), "name_2,name,\"a,\"\"b\",z\n") {
				t.Errorf("matrix %v, want 1 first and no number for two columns with one row in common", want)
			}
			continue
		}
		ds := must.Get(chunkio.Open(t.Context(), []string{o.Output}, chunkio.Options{Missing: stream.MissingKeep}))(t)
		for chunk, err := range ds.Chunks(t.Context(), stream.Range{}) {
			must.Do(t, err)
			if chunk.Cols != 3 || chunk.Rows != 3 {
				t.Fatalf("%s: %d rows of %d numbers, want 3 of 3", file, chunk.Rows, chunk.Cols)
			}
			for i := range 3 {
				for j := range 3 {
					if got := chunk.Col(j)[i]; got != want[i][j] && (got == got || want[i][j] == want[i][j]) {
						t.Errorf("%s: entry %d, %d: got %v, want %v", file, i, j, got, want[i][j])
					}
				}
			}
		}
		must.Do(t, ds.Close())
	}
}

// TestMatrixPairs: the list has every pair above the threshold, once, in the order of the columns, with n and p by their
// definitions; in parts it is the same file.
func TestMatrixPairs(t *testing.T) {
	c := correlatedColumns(3, 120, 700, true)
	in, dir := c.write(t), t.TempDir()
	for _, missing := range []string{"mean", "pairwise"} {
		var want []string
		twin := matrixByDefinition{missing: missing}
		near := 0
		for i := range 40 {
			for j := i + 1; j < 40; j++ {
				r, n := twin.entry(c.Cols[i], c.Cols[j])
				if near++; math.Abs(r) >= 0.8 {
					want = append(want, fmt.Sprintf("%s %s %.9f %v %.6g", c.Names[i], c.Names[j], r, n, judge.CorrelationPValue(r, n)))
				}
			}
		}
		o := MatrixRequest{Pairs: 0.8, PValues: true}
		o.Input.Paths, o.Columns.Missing, o.Columns.Exclude = []string{in}, missing, []string{"w"}
		o.Output = filepath.Join(dir, "pairs.csv")
		for _, limit := range []int64{0, leastMemory(t, o)} {
			o.Limits.Memory = limit
			done := must.Get(Matrix(t.Context(), o))(t)
			text := strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(o.Output))(t))), "\n")
			if text[0] != "a,b,r,n,p" || int64(len(text)-1) != done.Pairs || done.Columns != 700 {
				t.Fatalf("%d lines, header %s, report %+v", len(text), text[0], done)
			}
			var got []string
			for _, line := range text[1:] {
				f := strings.Split(line, ",")
				if slices.Index(c.Names, f[0]) >= 40 || slices.Index(c.Names, f[1]) >= 40 {
					continue
				}
				number := func(k int) float64 { return must.Get(strconv.ParseFloat(f[k], 64))(t) }
				got = append(got, fmt.Sprintf("%s %s %.9f %v %.6g", f[0], f[1], number(2), number(3), number(4)))
			}
			if !slices.Equal(got, want) || len(want) < 30 || len(want) > near/2 {
				t.Errorf("%s, within %d bytes: got %d pairs\n%v\nwant %d\n%v", missing, limit, len(got), got, len(want), want)
			}
		}
	}
}

// TestMatrixCancelled: an interrupted run leaves no file.
func TestMatrixCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := MatrixRequest{}
	dir := t.TempDir()
	o.Input.Paths, o.Output = []string{correlatedColumns(4, 50, 5, false).write(t)}, filepath.Join(dir, "m.parquet")
	if _, err := Matrix(ctx, o); !errors.Is(err, context.Canceled) || len(must.Files(t, dir)) > 0 {
		t.Errorf("error %v, files %v", err, must.Files(t, dir))
	}
}
