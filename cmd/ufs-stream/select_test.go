package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/progress"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestMessy: a table with everything in it works under every policy, and the report
// has the counts of the data's own description.
func TestMessy(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	counts := map[string][3]int64{ // nulls, NaN, infinities
		"flag": {251}, "price": {184}, "temp_f": {142, 94, 64}, "d_clean": {}, "i16": {97}, "u32": {}, "u64_big": {39},
		"huge": {49}, "late_f": {4096}, "weird name.col": {}, "emb[0]": {}, "geo.lat": {}, "id": {},
	}
	leftOut := map[string]string{
		"ts": "timestamp", "category": "text", "const_col": "constant", "null_col": "no value",
		"d_messy": "overflows", "day": "date", "vals": "varying length", "label": "label",
	}
	for _, missing := range []string{"drop-row", "mean", "zero"} {
		s := selection(t, path, "--method", "greedy", "--missing", missing, "--label", "label", "-k", "30")
		why := make(map[string]string)
		for _, l := range s.LeftOut {
			why[l.Name] = l.Why
		}
		for name, want := range leftOut {
			if !strings.Contains(why[name], want) {
				t.Errorf("%s: %s was left out because %q, want %q", missing, name, why[name], want)
			}
		}
		if len(why) != len(leftOut) {
			t.Errorf("%s: left out %v", missing, why)
		}
		at := make(map[string]stream.ColumnReport)
		for _, c := range s.Columns {
			at[c.Name] = c
		}
		for name, want := range counts {
			c, ok := at[name]
			if got := [3]int64{c.Nulls, c.NaNs, c.Infs}; !ok || got != want {
				t.Errorf("%s: %s has %v missing, want %v", missing, name, got, want)
			}
			filled := want[0] + want[1] + want[2]
			if missing == "drop-row" {
				filled = 0
			}
			if c.Filled != filled {
				t.Errorf("%s: %s: %d filled, want %d", missing, name, c.Filled, filled)
			}
		}
		if m := float64(at["u32"].Mean); !(m > 1e9 && m < 1<<32) {
			t.Errorf("%s: the mean of u32 is %v: read as signed?", missing, m)
		}
		if m := float64(at["u64_big"].Mean); !(m > 1<<63) {
			t.Errorf("%s: the mean of u64_big is %v: read as signed?", missing, m)
		}
		for _, f := range s.Selected { // copies tell nothing new: they come when the others are used up
			if strings.HasPrefix(f.Name, "d_clean_") && f.Layer < 2 {
				t.Errorf("%s: a copy of d_clean was selected: %+v", missing, f)
			}
		}
		if s.Rows != 5000 || (s.RowsUsed == 5000) != (missing != "drop-row") {
			t.Errorf("%s: %d of %d rows used", missing, s.RowsUsed, s.Rows)
		}
		if !strings.Contains(strings.Join(s.Warnings, "\n"), "3 columns look like identifiers: id, u32, u64_big; --auto-exclude leaves them out") {
			t.Errorf("%s: no warning about identifiers: %q", missing, s.Warnings)
		}
	}
	ends(t, exit.Data, "column", "select", path, "--label", "label", "--missing", "error")
	ends(t, exit.Data, "row ", "select", path, "--label", "label", "--missing", "error")
}

// TestFormats: every format has the same ranking, on standard output and in a file whose
// ending names the format.
func TestFormats(t *testing.T) {
	in, _ := plant(t, 300, 1)
	dir := t.TempDir()
	want := names(selection(t, in, "-k", "4"))
	if got := strings.Fields(must(t, "select", in, "-k", "4", "--format", "names")); !slices.Equal(got, want) {
		t.Errorf("names: %v, want %v", got, want)
	}
	for _, format := range []string{"json", "csv", "names", "table"} {
		path := filepath.Join(dir, "sel."+format)
		if out := must(t, "select", in, "-k", "4", "-o", path); out != "" {
			t.Errorf("%s: wrote to standard output too: %q", format, out)
		}
		rest := read(t, path)
		for _, name := range want {
			var found bool
			if _, rest, found = strings.Cut(rest, name); !found {
				t.Fatalf("%s: no %s after the ones before:\n%s", format, name, read(t, path))
			}
		}
	}
	path := filepath.Join(dir, "sel.parquet")
	must(t, "select", in, "-k", "4", "-o", path)
	if out := must(t, "inspect", path); !strings.Contains(out, "4 rows") || !strings.Contains(out, "rank") {
		t.Errorf("the Parquet form:\n%s", out)
	}
}

// TestPathIsSelect: the points of the curve are the errors that select reports; they fall.
func TestPathIsSelect(t *testing.T) {
	in, _ := plant(t, 300, 1)
	for method, passes := range map[string]int{"greedy": 1, "graphgreedy": 2} {
		p := decoded[stream.Curve](t, "path", in, "--method", method, "-k", "7")
		s := selection(t, in, "--method", method, "-k", "7")
		if len(p.Points) != 7 || p.Passes != passes {
			t.Fatalf("%s: %d points in %d passes, want 7 in %d", method, len(p.Points), p.Passes, passes)
		}
		for i, point := range p.Points {
			if f := s.Selected[i]; point.K != f.Rank || point.Name != f.Name || point.Error != f.Error {
				t.Errorf("%s: point %+v, want %+v", method, point, f)
			}
			if i > 0 && !(point.Error <= p.Points[i-1].Error) {
				t.Errorf("%s: the error rises at %d", method, point.K)
			}
		}
	}
	if out := must(t, "path", in, "-k", "3", "--format", "csv"); strings.Count(out, "\n") != 4 {
		t.Errorf("csv:\n%s", out)
	}
}

// TestAutoIsWhatPathRecommends: under the curve stand four rules and a number, the one that
// select -k auto takes; csv has the curve alone.
func TestAutoIsWhatPathRecommends(t *testing.T) {
	in, _ := plant(t, 1000, 1)
	p := decoded[stream.Curve](t, "path", in, "--method", "greedy", "-k", "3")
	if p.Size == nil || len(p.Size.Rules) != 4 || len(p.Points) != 3 {
		t.Fatalf("%d points, size %+v", len(p.Points), p.Size)
	}
	s := selection(t, in, "--method", "greedy", "-k", "auto")
	if s.K != p.Size.Recommended || len(s.Selected) != s.K || s.Options["k"] != "auto" || s.Size.Why != p.Size.Why {
		t.Errorf("%d features, options %v; path recommends %+v", s.K, s.Options, p.Size)
	}
	out := must(t, "path", in, "--method", "greedy", "-k", "3")
	for _, r := range p.Size.Rules {
		if !strings.Contains(out, r.Name) || !strings.Contains(out, r.Why) {
			t.Errorf("no rule %+v in\n%s", r, out)
		}
	}
	if want := fmt.Sprintf("recommended: -k %d: %s", s.K, s.Size.Why); !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	if out, want := must(t, "select", in, "--method", "greedy", "-k", "auto"), fmt.Sprintf("k = %d: %s\n", s.K, s.Size.Why); !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	ends(t, exit.Usage, "-k many: want a whole number, or auto", "select", in, "-k", "many")
	ends(t, exit.Usage, "-k auto rests on the Gram matrix", "select", in, "-k", "auto", "--method", "variance")
}

// TestProgressJSON: progress is one object a line, on standard error only.
func TestProgressJSON(t *testing.T) {
	in, files := plant(t, 600, 2)
	r := invoke("select", in, "-k", "3", "--progress", "json", "--format", "names")
	if r.code != exit.Done || strings.Count(r.out, "\n") != 3 {
		t.Fatalf("exit code %d, %q", r.code, r.out)
	}
	if last := lastProgress(t, r.err); last.Event != "pass" || last.Rows != 600 || last.Total != 600 || last.Pass != 1 || last.Bytes == 0 {
		t.Errorf("the last line: %+v", last)
	}
	if r := invoke("select", in, "-k", "3", "--progress", "tty", "-q"); r.err != "" {
		t.Errorf("-q, yet standard error has %q", r.err)
	}
	at := folder(t)
	for i, f := range files {
		must(t, "scan", f, "-o", at(fmt.Sprint(i, ".ufs")))
	}
	r = invoke("merge", at("0.ufs"), at("1.ufs"), "-o", at("all.ufs"), "--progress", "json")
	said, _, _ := strings.Cut(r.err, "merged ")
	if last := lastProgress(t, said); last.What != "adding 2 files" || last.Event != "pass" || last.Rows != 600 || last.Total != 600 || last.Pass != 2 {
		t.Errorf("the last line of merge: %+v\n%s", last, r.err)
	}
}

// lastProgress decodes all lines of --progress json and returns the last.
func lastProgress(t *testing.T, lines string) (last progress.Snapshot) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("decoding the progress line %q: %v", line, err)
		}
	}
	return last
}

// TestApply: the reduced file has the chosen columns in order, then the others asked for.
func TestApply(t *testing.T) {
	in, paths := plant(t, 300, 2)
	dir := t.TempDir()
	sel := filepath.Join(dir, "sel.json")
	must(t, "select", in, "-k", "3", "-o", sel)
	want := append(names(readSelection(t, sel)), "x000")
	for _, c := range []struct{ from, to string }{{in, filepath.Join(dir, "small")}, {paths[0], filepath.Join(dir, "small.parquet")}} {
		must(t, "apply", c.from, "--selection", sel, "--also", "x000", "-o", c.to)
		var got []string
		for _, col := range decoded[ufs.Inspection](t, "inspect", c.to).Columns {
			got = append(got, col.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("columns %v, want %v", got, want)
		}
	}
	if out := must(t, "select", filepath.Join(dir, "small"), "-k", "3", "--format", "names", "--exclude", "x000"); len(strings.Fields(out)) != 3 {
		t.Errorf("select from the reduced data: %q", out)
	}
}

// TestInspectScan: inspect --scan reports what reading finds: counts of missing values,
// ranges, and columns that are of no use.
func TestInspectScan(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	seen := decoded[ufs.Inspection](t, "inspect", path, "--scan")
	if *seen.Rows != 5000 || *seen.Groups != 3 || len(seen.Columns) != 39 {
		t.Errorf("%d rows, %d row groups, %d columns", *seen.Rows, *seen.Groups, len(seen.Columns))
	}
	for _, c := range seen.Columns {
		switch c.Name {
		case "temp_f":
			if *c.Nulls != 142 || *c.NaNs != 94 || *c.Infs != 64 || !c.Used {
				t.Errorf("temp_f: %+v", c)
			}
		case "u32":
			if *c.Max != 4294967295 {
				t.Errorf("u32: largest value %v", *c.Max)
			}
		case "const_col", "null_col", "d_messy", "ts", "vals":
			if c.Used || c.Why == "" {
				t.Errorf("column %s: got %+v, want it unused with a reason", c.Name, c)
			}
		}
	}
}

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		out  string
	}{{"2GiB", 2 << 30, "2GiB"}, {"512MiB", 512 << 20, "512MiB"}, {"1000", 1000, "1000"}, {"4GB", 4e9, "3906250KiB"}, {"1.5GiB", 3 << 29, "1536MiB"}} {
		var b program.Bytes
		if err := b.Set(c.in); err != nil || int64(b) != c.want || b.String() != c.out {
			t.Errorf("%s: %d, %s, %v; want %d, %s", c.in, b, b.String(), err, c.want, c.out)
		}
	}
	for _, bad := range []string{"", "0", "-1", "much", "16EiB"} {
		var b program.Bytes
		if err := b.Set(bad); err == nil {
			t.Errorf("%q was taken as %d", bad, b)
		}
	}
}
