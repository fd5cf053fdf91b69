package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestLibsvm: text of libsvm goes where Parquet goes, and gives the answer of the same rows as lists.
func TestLibsvm(t *testing.T) {
	dir := t.TempDir()
	src := sparseCounts(300, true).(memory)
	lists, text := filepath.Join(dir, "lists.parquet"), filepath.Join(dir, "rows.svm")
	writeSource(t, lists, src, chunkio.WriteOptions{Sparse: true})
	var b strings.Builder
	for i := range src.rows {
		fmt.Fprint(&b, i%2)
		for j := range src.columns {
			if x := src.data[j*src.rows+i]; x != 0 {
				fmt.Fprintf(&b, " %d:%v", j+1, x)
			}
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(text, []byte(b.String()), 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	ends(t, exit.Data, `name them with --sparse "indices,values"`, "select", lists, "-k", "2")
	for _, method := range []string{"greedy", "laplacian", "eufs --clusters 2 --max-iter 2"} {
		args := append([]string{"-k", "5", "--method"}, strings.Fields(method)...)
		want := selection(t, append(args, lists, "--sparse", "indices,values,12")...)
		for i, f := range selection(t, append(args, text, "--label", "label")...).Selected {
			var number int
			if _, err := fmt.Sscanf(want.Selected[i].Name, "values[%d]", &number); err != nil || f.Name != fmt.Sprintf("x[%d]", number+1) {
				t.Errorf("%s: feature %d is %s, and %s of lists", method, i, f.Name, want.Selected[i].Name)
			}
		}
	}
	sel := filepath.Join(dir, "s.json")
	must(t, "select", text, "-k", "3", "-o", sel)
	must(t, "apply", text, "--selection", sel, "--also", "label", "-o", filepath.Join(dir, "small.parquet"))
	must(t, "eval", text, "--selection", sel, "--label", "label", "--resamples", "2")
	must(t, "inspect", text, "--scan")
	stats := filepath.Join(dir, "rows.ufs")
	must(t, "scan", text, "-o", stats)
	selection(t, "--stats", stats, "-k", "3", "--method", "greedy")
	ends(t, exit.Usage, "whole", "apply", text, "--selection", sel, "--also", "x", "-o", filepath.Join(dir, "x.parquet"))
	ends(t, exit.Usage, "number of features", "plan", text, "--sparse", "x,0", "-o", filepath.Join(dir, "x.plan.json"))
}

// TestMatrixMarket: a matrix goes where libsvm text goes, under its name or from standard input, and gives the answer of
// the same rows.
func TestMatrixMarket(t *testing.T) {
	dir := t.TempDir()
	src := sparseCounts(300, true).(memory)
	var rows, entries strings.Builder
	count := 0
	for i := range src.rows {
		rows.WriteByte('0')
		for j := range src.columns {
			if x := src.data[j*src.rows+i]; x != 0 {
				fmt.Fprintf(&rows, " %d:%v", j+1, x)
			}
		}
		rows.WriteByte('\n')
	}
	for j := range src.columns {
		for i := range src.rows {
			if x := src.data[j*src.rows+i]; x != 0 {
				fmt.Fprintln(&entries, i+1, j+1, x)
				count++
			}
		}
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatalf("writing the input: %v", err)
		}
		return path
	}
	svm := file("rows.svm", rows.String())
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n%s", src.rows, len(src.columns), count, entries.String())
	mtx := file("rows.mtx", text)
	for _, method := range []string{"greedy", "align", "eufs --clusters 2 --max-iter 2"} {
		args := append([]string{"-k", "5", "--method"}, strings.Fields(method)...)
		want := selection(t, append(args, svm)...).Selected
		if got := selection(t, append(args, mtx)...).Selected; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: of the matrix it selects %v, want %v as of the same rows", method, got, want)
		}
	}
	sel := filepath.Join(dir, "s.json")
	must(t, "select", mtx, "-k", "3", "-o", sel)
	must(t, "apply", mtx, "--selection", sel, "-o", filepath.Join(dir, "small.parquet"))
	must(t, "eval", mtx, "--selection", sel, "--resamples", "2")
	must(t, "convert", mtx, "-o", filepath.Join(dir, "lists.parquet"))
	for k := range 2 {
		must(t, "scan", mtx, "--sparse", fmt.Sprintf("x,%d", len(src.columns)+1), "--shard", fmt.Sprintf("%d/2", k+1), "-o", filepath.Join(dir, fmt.Sprintf("%d.ufs", k)))
	}
	must(t, "merge", filepath.Join(dir, "0.ufs"), filepath.Join(dir, "1.ufs"), "-o", filepath.Join(dir, "all.ufs"))
	ends(t, exit.Usage, "DuckDB does not read Matrix Market", "apply", mtx, "--selection", sel, "--format", "sql")
	ends(t, exit.Usage, "whole", "apply", mtx, "--selection", sel, "--also", "x", "-o", filepath.Join(dir, "x.parquet"))
	ends(t, exit.Usage, "OUT is Parquet", "convert", svm, "-o", filepath.Join(dir, "x.mtx"))
	ends(t, exit.Data, "cut off", "select", file("cut.mtx", text[:strings.LastIndex(text[:len(text)/2], "\n")+1]), "-k", "3")
}

// TestDocsNameEveryFormat: the page on inputs names every ending and every format, and so does the help of select.
func TestDocsNameEveryFormat(t *testing.T) {
	page, err := os.ReadFile("../../docs/lakes.md")
	if err != nil {
		t.Fatalf("reading the page on inputs: %v", err)
	}
	help := must(t, "select", "--help")
	for _, f := range chunkio.InputFormats() {
		for _, word := range append(f.Endings, f.Name) {
			if !strings.Contains(string(page), word) {
				t.Errorf("docs/lakes.md does not name %q", word)
			}
			if f.IsText() && strings.HasPrefix(word, ".") && !strings.Contains(help, word) {
				t.Errorf("select --help does not name %q", word)
			}
		}
	}
}
