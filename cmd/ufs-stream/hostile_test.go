package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// hostileNames are names of columns that want to be something else: another line, a command of the
// terminal, a part of a page, a formula.
func hostileNames() []string {
	return []string{
		"plain", "nul\x00byte", "line\nufs-stream: forged", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u009b2J",
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "{{.}}", "a\u202egpj.exe", "zero\u200bwidth\ufeff",
		strings.Repeat("long ", 1<<14), "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\ttab", "back\rreturn",
		`quoted", comma`, "a' OR 1=1; --", "%s%n%!d(x)", "{anchors}", "*/ -- #", "\u2028line",
		"", " ", ".", "..", "/", "a/../b",
	}
}

// unclean finds a character that no terminal should be shown.
func unclean(s string) int {
	if !utf8.ValidString(s) {
		return 0
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '\n' && (unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r))
	})
}

// runHostile is invoke for names that look like options.
func runHostile(t *testing.T, args ...string) result {
	var out, errw bytes.Buffer
	code := run(t.Context(), args, nil, &out, &errw)
	return result{code, out.String(), errw.String()}
}

// hostileTable writes a labelled table with such names, in a file that has such a name too.
func hostileTable(t *testing.T, dir string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	names := hostileNames()
	columns := make([][]float64, len(names))
	for j := range columns {
		columns[j] = make([]float64, 60)
		for i := range columns[j] {
			columns[j][i] = rng.NormFloat64()
			if j > 2 && j%3 == 0 {
				columns[j][i] = columns[j-1][i] + float64(j%2)*rng.NormFloat64()/10
			}
		}
	}
	class := make([]float64, 60)
	for i := range class {
		class[i] = float64(i % 3)
	}
	return columnsFile(t, filepath.Join(dir, "in\n\x1b[2J\u202e=.parquet"), append(names, "class\x1b[1m\u202e"), append(columns, class)...)
}

// TestHostileNames: whatever columns and files are called, what is shown to people has nothing that a
// terminal obeys and no line that a name has made; JSON and CSV can be read back with all names.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	in := hostileTable(t, dir)
	at := func(name string) string { return filepath.Join(dir, "\x1b[31m\u202e"+name) }
	label := "class\x1b[1m\u202e"
	names := hostileNames()
	check := func(r result, people bool, args []string) {
		t.Helper()
		if i := unclean(r.err); i >= 0 {
			t.Errorf("%q: standard error has %q", args, r.err[max(i-30, 0):min(i+30, len(r.err))])
		}
		if i := unclean(r.out); people && i >= 0 {
			t.Errorf("%q: standard output has %q", args, r.out[max(i-30, 0):min(i+30, len(r.out))])
		}
		for line := range strings.Lines(r.out + "\n" + r.err) {
			if strings.HasPrefix(line, "ufs-stream: forged") && people {
				t.Errorf("%q: a name has made the line %q", args, line)
			}
		}
		for _, text := range []string{r.out, r.err} {
			if strings.Contains(text, "%!") && !strings.Contains(text, "%!d(x)") {
				t.Errorf("%q: a name was taken for a format: %s", args, text)
			}
		}
	}
	done := func(args ...string) result {
		t.Helper()
		r := runHostile(t, args...)
		if r.code != exit.Done && r.code != exit.Stale {
			t.Errorf("%q: exit code %d\n%s", args, r.code, r.err)
		}
		return r
	}
	sel, stats, all := at("sel.json"), at("all.ufs"), fmt.Sprint(len(names))
	for _, args := range [][]string{
		{"scan", in, "-o", stats, "--label", label, "-v"},
		{"scan", in, "-o", stats, "--label", label, "-v"}, // and says what it replaced
		{"merge", stats, "-o", at("merged.ufs"), "-v"},
		{"select", in, "-k", all, "-o", sel, "--label", label, "-v"},
		{"select", in, "-k", "3", "-o", at("less.json"), "--label", label, "--details", "all"},
		{"path", in, "-k", "5", "--label", label, "-o", at("path.json")},
		{"eval", in, "--selection", at("less.json"), "--label", label, "--runs", "2", "-o", at("eval.json")},
		{"apply", in, "--selection", sel, "-o", at("a.parquet")},
		{"apply", in, "--selection", sel, "-o", at("a.csv")},
		{"convert", at("a.csv"), "-o", at("c.parquet")},
		{"plan", in, "-o", at("job.plan.json"), "--label", label},
		{"inspect", stats}, {"inspect", in, "--scan"}, {"inspect", at("a.csv"), "-v"}, {"inspect", at("c.parquet")},
		{"plan", in, "--label", label}, {"plan", in, "--machines", "1,10", "--label", label},
		{"select", in, "-k", "3"}, {"select", in, "-k", "3", "-v"}, {"select", "--stats", stats, "-k", "3"},
		{"select", in, "-k", "2", "--groups", "regex:^(.)", "--label", label}, {"select", in, "-k", "3", "--stability=8"},
		{"path", in, "-k", "5"}, {"path", in, "--method", "sfufs", "--alpha", "0.1,1", "-k", "3"},
		{"explain", "line\nufs-stream: forged", names[3], "--selection", sel, "--stats", stats, "-v"},
		{"explain", names[1], "--selection", at("less.json"), in},
		{"redundancy", in}, {"redundancy", in, "-v"}, {"redundancy", "--stats", stats},
		{"matrix", in, "-o", at("m.csv"), "-v"}, {"matrix", "--stats", stats, "--pairs", "0.1", "-o", at("m.parquet")},
		{"diff", at("less.json"), sel}, {"check", "--selection", at("less.json"), "--stats", stats, "-v"},
		{"eval", in, "--selection", at("less.json"), "--label", label, "--runs", "2"},
		{"eval", in, "--selection", "a\n\x1b[1m=" + at("less.json"), "--label", label, "--runs", "2"},
		{"tree", in, "--tree", "correlation", "-o", at("tree.json"), "-v"},
		{"report", sel, at("less.json"), at("path.json"), at("eval.json"), "-o", at("page.html")},
	} {
		check(done(args...), true, args)
	}
	// Errors are shown too.
	for _, args := range [][]string{
		{"select", at("none\n.parquet")}, {"select", in, "--label", "cla\x1b[1m\n"}, {"select", in, "--columns", "pla\u202en"},
		{"select", in, "--method", "gre\x1bedy"}, {"select", in, "-o", at("x\n.jso\x1bn")}, {"sel\x1b[1mect"}, {"select", in, "--k\x1b[1m", "3"},
		{"select", in, "-k", "\x1b[1m\n"}, {"apply", in, "--selection", stats, "-o", at("x.parquet")}, {"select", "--config", at("none\n")},
		{"select", in, "--where", "pla\x1bin = 'x'"}, {"select", "s3://bu\x1bcket\n/key"}, {"report", stats, "-o", at("x.html")},
		{"select", "@" + at("none")}, {"explain", "no\n\x1bne", "--selection", sel}, {"select", in, "--temp-dir", at("no\nne")},
		{"eval", in, "--selection", sel, "--label", names[1]}, {"select", in, "--groups", at("no\nne")}, {"merge", in, "-o", at("m.ufs")},
		{"select", in, in}, {"convert", in, "-o", at("none\n/x.parquet")}, {"tree", in, "--tree", "correl\x1bation"},
	} {
		r := runHostile(t, args...)
		if r.code == exit.Done || r.code == exit.Fault && !strings.Contains(r.err, "cannot write") {
			t.Errorf("%q: exit code %d\n%s", args, r.code, r.err)
		}
		check(r, true, args)
	}
	for _, args := range [][]string{
		{"inspect", in}, {"select", in, "-k", "3"}, {"path", in, "-k", "3"}, {"redundancy", in},
		{"eval", in, "--selection", at("less.json"), "--label", label, "--runs", "2"},
		{"path", in, "--method", "sfufs", "--alpha", "0.1,1", "-k", "3"},
	} {
		r := done(append(args, "--format", "csv")...)
		check(r, false, args)
		rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%q: %d rows, %v", args, len(rows), err)
		}
		if column := slices.Index(rows[0], "name"); args[0] == "select" || args[0] == "redundancy" {
			for _, row := range rows[1:] {
				if !slices.Contains(append(names, label), row[column]) {
					t.Errorf("%q: the name %q is none", args, row[column])
				}
			}
		}
	}
	for _, args := range [][]string{
		{"inspect", in}, {"select", in, "-k", all, "--label", label}, {"path", in, "-k", "3"}, {"redundancy", in}, {"plan", in},
		{"explain", names[2], "--selection", sel}, {"diff", at("less.json"), sel}, {"check", "--selection", sel, "--stats", stats},
		{"eval", in, "--selection", at("less.json"), "--label", label, "--runs", "2"},
	} {
		r := done(append(args, "--format", "json")...)
		check(r, false, args)
		if !json.Valid([]byte(r.out)) {
			t.Errorf("%q: no JSON:\n%s", args, r.out)
		}
	}
	page := read(t, at("page.html"))
	for _, live := range []string{"<script>alert", "<img src=x", "\x00"} {
		if strings.Contains(page, live) {
			t.Errorf("the page has %q", live)
		}
	}
	if r := runHostile(t, "select", in, "-k", all, "--label", label, "--format", "names"); r.code != exit.Usage || !strings.Contains(r.err, "has a line break") || r.out != "" {
		t.Errorf("names with a line break among them: exit code %d, %s, %q", r.code, r.err, r.out)
	}
	if r := done("select", in, "-k", all, "--format", "csv", "--label", label); !strings.Contains(r.err, "a spreadsheet takes the name") {
		t.Errorf("formulas in CSV: %s", r.err)
	}
	if r := runHostile(t, "__complete", "select", in, "--label", ""); unclean(strings.ReplaceAll(r.out, "\t", "")) >= 0 || strings.Contains(r.out, "=1+1") {
		t.Errorf("completion offers %q", r.out)
	}
	s := readSelection(t, sel)
	for _, f := range s.Selected {
		if !slices.Contains(names, f.Name) {
			t.Errorf("%q is no name", f.Name)
		}
	}
	if len(s.Selected)+len(s.LeftOut) < len(names) {
		t.Errorf("%d selected, %d left out of %d", len(s.Selected), len(s.LeftOut), len(names))
	}
}

// TestBlankNames: a column whose name is empty, a space or a place in a tree of folders is seen in what every
// verb shows, can be asked for, and is found again by apply.
func TestBlankNames(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	rng := rand.New(rand.NewPCG(1, 1))
	names := []string{"", " ", ".", "..", "/", "plain"}
	columns := make([][]float64, len(names))
	for j := range columns {
		columns[j] = make([]float64, 60)
		for i := range columns[j] {
			columns[j][i] = rng.NormFloat64() / 100
			if j == 1 || j == 5 { // plain and the space are nearly the empty one
				columns[j][i] += columns[0][i] * 100
			}
		}
	}
	copied := slices.Clone(columns[0])
	in := columnsFile(t, at("in.parquet"), append(names, "copy"), append(columns, copied)...)
	for _, c := range []struct {
		shows []string
		args  []string
	}{
		{[]string{"\n\"\" ", "\n\" \" ", "\n.. ", "\n/ "}, []string{"inspect", in}},
		{nil, []string{"select", in, "-k", "6", "--exclude", "copy", "--method", "greedy", "-o", at("all.json")}},
		{nil, []string{"select", in, "-k", "2", "--keep", "/,..", "--method", "greedy", "-o", at("two.json")}},
		{[]string{`  ""  `, `  " "  `}, []string{"select", in, "-k", "6", "--exclude", "copy"}},
		{[]string{`  ""  `}, []string{"select", in, "-k", "1", "--columns", `""," "`}},
		{[]string{`  "": not among`}, []string{"select", in, "-k", "2", "--columns", "/,.", "--method", "greedy"}},
		{[]string{`from`, `  "": `, `mostly by`}, []string{"select", in, "-k", "2", "--keep", `" "`, "--exclude", "copy", "--method", "greedy", "-v"}},
		{[]string{`  ""  `}, []string{"path", in, "-k", "6", "--exclude", "copy"}},
		{[]string{`""`, `= ""` + "\n"}, []string{"redundancy", in}},
		{[]string{"\n\"\": kept", `  " "`, "\n\" \": kept"}, []string{"explain", "", " ", "--selection", at("all.json"), in}},
		{[]string{"  \"\"  ", "  /"}, []string{"diff", at("two.json"), at("all.json")}},
		{nil, []string{"scan", in, "-o", at("in.ufs")}},
		{[]string{"\n\"\" ", "\n\" \" "}, []string{"inspect", at("in.ufs")}},
		{[]string{"\n\"\" ", "\n\" \" "}, []string{"check", "--selection", at("two.json"), "--stats", at("in.ufs"), "-v"}},
		{[]string{"- \"\"\n"}, []string{"select", in, "-k", "6", "--exclude", "copy", "--format", "yaml"}},
	} {
		r := runHostile(t, c.args...)
		if r.code != exit.Done && r.code != exit.Stale {
			t.Errorf("%q: exit code %d\n%s", c.args, r.code, r.err)
		}
		if n := strings.Count(r.out, ": kept"); c.args[0] == "explain" && n != 2 {
			t.Errorf("%q: %d columns explained", c.args, n)
		}
		for _, want := range c.shows {
			if !strings.Contains(r.out, want) {
				t.Errorf("%q: no %q in\n%s", c.args, want, r.out)
			}
		}
	}
	r := runHostile(t, "select", in, "-k", "6", "--exclude", "copy", "--format", "sql")
	if r.code != exit.Usage || !strings.Contains(r.err, `column "", or of a field in it, is empty`) {
		t.Errorf("SQL: exit code %d, %s", r.code, r.err)
	}
	sel := readSelection(t, at("all.json"))
	must(t, "apply", in, "--selection", at("all.json"), "-o", at("out.parquet"))
	for i, col := range decoded[ufs.Inspection](t, "inspect", at("out.parquet")).Columns {
		if want := sel.Selected[i].Name; col.Name != want || !slices.Contains(names, want) {
			t.Errorf("column %d is %q, want %q", i, col.Name, want)
		}
	}
	must(t, "select", at("out.parquet"), "-k", "6", "--method", "greedy", "-o", at("again.json"))
	if d := decoded[ufs.Difference](t, "diff", at("all.json"), at("again.json")); d.Both != 6 || len(d.Came)+len(d.Went) > 0 {
		t.Errorf("of what apply wrote another choice: %+v", d)
	}
}
