package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// asCSV is a source as CSV.
func asCSV(src memory, comma string) []byte {
	var b bytes.Buffer
	for j, c := range src.columns {
		if j > 0 {
			b.WriteString(comma)
		}
		b.WriteString(c.Name)
	}
	b.WriteByte('\n')
	for i := range src.rows {
		for j := range src.columns {
			if j > 0 {
				b.WriteString(comma)
			}
			b.WriteString(strconv.FormatFloat(src.data[j*src.rows+i], 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// asNDJSON is a source as NDJSON.
func asNDJSON(src memory) []byte {
	var b bytes.Buffer
	for i := range src.rows {
		for j, c := range src.columns {
			fmt.Fprintf(&b, "%c%q:%v", "{,"[min(j, 1)], c.Name, src.data[j*src.rows+i])
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// scoresOf is the chosen features with their scores, to the last digit.
func scoresOf(s *stream.Selection) (list []string) {
	for _, f := range s.Selected {
		list = append(list, fmt.Sprint(f.Name, f.Score, f.Error))
	}
	return list
}

// TestFormatsOfInput: the same rows as Parquet, CSV, TSV and NDJSON, compressed or not, give the same
// selection to the bit, of files and of standard input, and all verbs take them.
func TestFormatsOfInput(t *testing.T) {
	dir := t.TempDir()
	src := sparseCounts(300, true).(memory)
	at := func(name string) string { return filepath.Join(dir, name) }
	writeSource(t, at("t.parquet"), src, chunkio.WriteOptions{Type: "double"})
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatalf("making a zstd writer: %v", err)
	}
	files := map[string][]byte{"t.csv": asCSV(src, ","), "t.tsv.zst": w.EncodeAll(asCSV(src, "\t"), nil), "t.ndjson": asNDJSON(src)}
	for name, data := range files {
		if err := os.WriteFile(at(name), data, 0o644); err != nil {
			t.Fatalf("writing the input: %v", err)
		}
	}
	for _, method := range []string{"greedy", "laplacian", "eufs --clusters 2 --max-iter 2"} {
		args := append([]string{"-k", "5", "--method"}, strings.Fields(method)...)
		want := scoresOf(selection(t, append(args, at("t.parquet"))...))
		for name := range files {
			if got := scoresOf(selection(t, append(args, at(name))...)); !slices.Equal(got, want) {
				t.Errorf("%s: %s gives %v, want %v", method, name, got, want)
			}
		}
	}
	want := must(t, "select", at("t.parquet"), "-k", "5", "--method", "greedy", "--format", "names")
	for name, data := range files {
		r := invokeWith(context.Background(), data, "select", "-", "-k", "5", "--method", "greedy", "--format", "names")
		if r.code != exit.Done || r.out != want {
			t.Errorf("%s on standard input: exit code %d, %s, want %s\n%s", name, r.code, r.out, want, r.err)
		}
	}
	sel := at("s.json")
	must(t, "select", at("t.csv"), "-k", "3", "-o", sel)
	must(t, "apply", at("t.csv"), "--selection", sel, "-o", at("small.parquet"))
	if seen := must(t, "inspect", at("small.parquet")); !strings.Contains(seen, "int64") {
		t.Errorf("apply did not keep whole numbers:\n%s", seen)
	}
	if seen := must(t, "inspect", at("t.csv")); !strings.Contains(seen, "CSV, separated by commas, types from the first 300 rows: 12 numbers; 300 rows") {
		t.Errorf("inspect does not say what the text was taken as:\n%s", seen)
	}
	must(t, "scan", at("t.tsv.zst"), "-o", at("t.ufs"))
	if got := must(t, "select", "--stats", at("t.ufs"), "-k", "5", "--method", "greedy", "--format", "names"); got != want {
		t.Errorf("of statistics: %s, want %s", got, want)
	}
	if plan := must(t, "plan", at("t.csv"), "-k", "3", "--method", "greedy", "--format", "json"); strings.Contains(plan, `"scratch_bytes": 0`) {
		t.Errorf("the plan knows no scratch space:\n%s", plan)
	}
}

// TestConvert: any input becomes Parquet, from standard input too, and nothing is left of a failure.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := "id,name,x\n1,ann,0.5\n2,bob,\n"
	if err := os.WriteFile(at("t.csv"), []byte(text), 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	if out := must(t, "convert", at("t.csv"), "-o", at("t.parquet")); !strings.Contains(out, "1 file, 2 rows, 3 columns") {
		t.Errorf("convert says %s", out)
	}
	r := invokeWith(context.Background(), []byte(text), "convert", "-", "-o", at("piped.parquet"))
	if r.code != exit.Done {
		t.Errorf("of standard input: exit code %d\n%s", r.code, r.err)
	}
	a, err := os.ReadFile(at("t.parquet"))
	if err != nil {
		t.Fatalf("reading a file: %v", err)
	}
	if b, err := os.ReadFile(at("piped.parquet")); err != nil || !bytes.Equal(a, b) {
		t.Errorf("standard input is converted to another file (%v)", err)
	}
	must(t, "convert", at("t.parquet"), "--where", "id > 1", "-o", at("less.parquet"))
	if seen := must(t, "inspect", at("less.parquet")); !strings.Contains(seen, "1 row") || !strings.Contains(seen, "string") {
		t.Errorf("under a condition:\n%s", seen)
	}
	ends(t, exit.Usage, "no output", "convert", at("t.csv"))
	for _, other := range []string{"t.tsv", "u.csv.zst", "u.csv.gz", "u.NDJSON"} {
		ends(t, exit.Usage, "OUT is Parquet", "convert", at("t.csv"), "-o", at(other))
	}
	if err := os.WriteFile(at("bad.csv"), []byte(text+"3,x\n"), 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	ends(t, exit.Data, "line 4 has 2 fields, not 3", "convert", at("bad.csv"), "-o", at("bad.parquet"))
	ends(t, exit.Data, "line 4 has 2 fields, not 3", "select", at("bad.csv"), "-k", "1")
	if _, err := os.Stat(at("bad.parquet")); err == nil {
		t.Error("a failed conversion left its output")
	}
	must(t, "convert", at("t.csv"), "--max-temp-size", "1B", "-o", at("once.parquet"))
	ends(t, exit.Memory, "scratch", "convert", at("t.csv"), "--where", "id > 1", "--max-temp-size", "1B", "-o", at("bad.parquet"))
}
