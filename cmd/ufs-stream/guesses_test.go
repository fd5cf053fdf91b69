package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	filesof "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

const years = "2001,2002,2003\n1,5,2\n2,4,7\n3,9,1\n4,2,8\n"

// newFile is a new file of a text.
func newFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	filesof.Do(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// selectionIn reads a selection.
func selectionIn(t *testing.T, path string) *stream.Selection {
	t.Helper()
	s := new(stream.Selection)
	filesof.Do(t, json.Unmarshal(filesof.Get(os.ReadFile(path))(t), s))
	return s
}

// TestHeaderInEveryVerb: whether a first row of years is names is a guess, which every verb tells and the flag overrules.
// pandas.read_csv of the text has 4 rows of 2001, 2002 and 2003; with header=None it has 5.
func TestHeaderInEveryVerb(t *testing.T) {
	file, dir := newFile(t, "y.csv", years), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const guess = "the first row is taken as the names of the columns, 2001, 2002, 2003; if it is data, of columns c0, c1, c2, give --header no"
	selection := at("y.json")
	for _, verb := range []string{
		"select " + file + " -k 2 --method greedy -o " + selection, // which those below take
		"inspect " + file, "scan " + file + " -o " + at("y.ufs"), "plan " + file + " -k 2", "plan " + file + " -k 2 --method greedy -o " + at("y.plan.json"),
		"path " + file + " -k 2 --method greedy", "redundancy " + file, "convert " + file + " -o " + at("y.parquet"),
		"apply " + file + " --selection " + selection + " -o " + at("z.parquet"),
		"eval " + file + " --selection " + selection + " --label 2001 -k 1",
		"scan --plan " + at("y.plan.json") + " --shard 1/1 -o " + at("shard.ufs"),
	} {
		args := strings.Fields(verb)
		if args[0] == "eval" { // a label is no feature
			labelled := at("labelled.json")
			must(t, "select", file, "-k", "1", "--method", "greedy", "--label", "2001", "-o", labelled)
			args = []string{"eval", file, "--selection", labelled, "--label", "2001"}
		}
		if r := invoke(args...); r.code != exit.Done || strings.Count(r.err, guess) != 1 {
			t.Errorf("%s: exit code %d, want the guess once:\n%s", verb, r.code, r.err)
		}
	}
	s := selectionIn(t, selection)
	if s.Rows != 4 || s.Options["header"] != "yes" || !strings.HasPrefix(s.Selected[0].Name, "200") {
		t.Errorf("%d rows, header %v, %s first; want 4, yes, a year", s.Rows, s.Options["header"], s.Selected[0].Name)
	}
	for _, header := range []string{"yes", "no"} {
		for _, verb := range []string{"inspect", "convert"} {
			args := []string{verb, file, "--header", header}
			if verb == "convert" {
				args = append(args, "-o", at(header+".parquet"))
			}
			if r := invoke(args...); r.code != exit.Done || strings.Contains(r.err, "first row") {
				t.Errorf("%v: exit code %d, want no doubt:\n%s", args, r.code, r.err)
			}
		}
		rows := map[string]string{"yes": "4 rows", "no": "5 rows"}[header]
		if out := must(t, "inspect", at(header+".parquet")); !strings.Contains(out, rows) {
			t.Errorf("header %s: want %s\n%s", header, rows, out)
		}
	}
	ends(t, exit.Usage, "--header", "select", file, "-k", "1", "--header", "perhaps")
	// A selection of columns by number reads the same file in the same way.
	must(t, "select", file, "-k", "2", "--method", "greedy", "--header", "no", "-o", at("numbers.json"))
	must(t, "apply", file, "--selection", at("numbers.json"), "-o", at("numbers.parquet"))
	if out := must(t, "inspect", at("numbers.parquet")); !strings.Contains(out, "5 rows") || !strings.Contains(out, "c0") {
		t.Errorf("want 5 rows of c0\n%s", out)
	}
}

// TestHeaderOfShards: a shard of a plan reads its file as the plan has read the first one, though alone it would be read
// otherwise, and the shards together give what one run does.
func TestHeaderOfShards(t *testing.T) {
	lake, dir := filepath.Join(t.TempDir(), "lake"), t.TempDir()
	filesof.Do(t, os.MkdirAll(lake, 0o777))
	var one strings.Builder
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		fmt.Fprintf(&one, "%.3f,%.3f,%d\n", rng.NormFloat64(), rng.NormFloat64(), rng.IntN(9))
	}
	filesof.Do(t, os.WriteFile(filepath.Join(lake, "1.csv"), []byte(one.String()), 0o666))
	filesof.Do(t, os.WriteFile(filepath.Join(lake, "2.csv"), []byte("100,200,300\n0.5,0.1,3\n0.1,0.2,4\n-1,1,5\n"), 0o666))
	if r := invoke("inspect", filepath.Join(lake, "2.csv")); !strings.Contains(r.err, "taken as the names of the columns, 100, 200, 300") {
		t.Fatalf("alone it has names, or the test tests nothing:\n%s", r.err)
	}
	plan := filepath.Join(dir, "job.plan.json")
	must(t, "plan", lake, "-k", "2", "--method", "greedy", "-o", plan)
	var parts []string
	for i := range 2 {
		parts = append(parts, filepath.Join(dir, fmt.Sprint(i, ".ufs")))
		must(t, "scan", "--plan", plan, "--shard", fmt.Sprint(i+1, "/2"), "-o", parts[i])
	}
	all := filepath.Join(dir, "all.ufs")
	must(t, append([]string{"merge", "-o", all}, parts...)...)
	args := []string{"-k", "2", "--method", "greedy", "--format", "names"}
	want, got := must(t, append([]string{"select", lake}, args...)...), must(t, append([]string{"select", "--stats", all}, args...)...)
	if got != want || !strings.HasPrefix(want, "c") {
		t.Errorf("shards choose %q, one run %q", got, want)
	}
	if got := must(t, append([]string{"select", "--plan", plan}, args...)...); got != want {
		t.Errorf("by the plan %q is chosen, without it %q", got, want)
	}
	for _, other := range [][2]string{{"--header", "yes"}, {"--types", "c0=text"}, {"--null-values", "5"}} {
		r := invoke("select", "--plan", plan, "-k", "1", other[0], other[1])
		if r.code != exit.Usage || !strings.Contains(r.err, strings.Join(other[:], " ")) || strings.Contains(r.err, "changed") {
			t.Errorf("%v beside the plan: exit code %d, %s; want a usage error about the option", other, r.code, r.err)
		}
	}
}

// textWithSentinels is CSV of n rows, whose t is missing in every 20th, spelled so. The rest of it lies within 0 and 50.
func textWithSentinels(n int, missing string) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("t,u,v,w\n")
	for i := range n {
		x, y := 25+25*rng.Float64()*float64(rng.IntN(2)*2-1), rng.NormFloat64()
		t := fmt.Sprintf("%.2f", x)
		if i%20 == 7 {
			t = missing
		}
		fmt.Fprintf(&b, "%s,%.3f,%.3f,%.3f\n", t, y, 0.5*y+rng.NormFloat64(), x/10+rng.NormFloat64())
	}
	return b.String()
}

// TestSentinels: one number again and again, far from all others, is warned of in every format, and the flag makes it
// missing there: the selection is that of the file where it is empty.
func TestSentinels(t *testing.T) {
	dir := t.TempDir()
	const n = 600
	for _, value := range []string{"-999", "9999", "1e+20"} {
		csv, empty := newFile(t, "t.csv", textWithSentinels(n, value)), newFile(t, "t.csv", textWithSentinels(n, ""))
		parquet, ndjson := filepath.Join(dir, value+".parquet"), filepath.Join(dir, value+".jsonl")
		must(t, "convert", csv, "-o", parquet)
		var lines strings.Builder
		for i, line := range strings.Split(strings.TrimSpace(textWithSentinels(n, value)), "\n") {
			if f := strings.Split(line, ","); i > 0 {
				fmt.Fprintf(&lines, "{\"t\":%s,\"u\":%s,\"v\":%s,\"w\":%s}\n", f[0], f[1], f[2], f[3])
			}
		}
		filesof.Do(t, os.WriteFile(ndjson, []byte(lines.String()), 0o666))
		args := []string{"-k", "3", "--method", "greedy", "--missing", "mean", "--format", "json", "-o"}
		out := filepath.Join(dir, "s.json")
		must(t, append([]string{"select", empty}, append(args, out)...)...)
		want := scoresOf(selectionIn(t, out))
		warning := fmt.Sprintf("1 column has a repeated number that is far outside all others: t (%s, in 5.0 %% of the rows); if it stands for a missing value, give --null-values %s", value, value)
		for _, file := range []string{csv, parquet, ndjson} {
			for _, verb := range []string{"select", "scan"} {
				a := []string{verb, file, "--missing", "mean", "-o", filepath.Join(dir, "x.json")}
				if verb == "scan" {
					a[5] = filepath.Join(dir, "x.ufs")
				} else {
					a = append(a, "-k", "3", "--method", "greedy")
				}
				if r := invoke(a...); r.code != exit.Done || strings.Count(r.err, warning) != 1 {
					t.Errorf("%v: exit code %d, want %q once:\n%s", a, r.code, warning, r.err)
				}
			}
			r := invoke(append([]string{"select", file, "--null-values", value}, append(args, out)...)...)
			s := selectionIn(t, out)
			if got := scoresOf(s); r.code != exit.Done || fmt.Sprint(got) != fmt.Sprint(want) || strings.Contains(r.err, "far outside") {
				t.Errorf("%s with --null-values %s: exit code %d, %v, want %v:\n%s", filepath.Base(file), value, r.code, got, want, r.err)
			}
			if nulls := s.Columns[0].Nulls; nulls != n/20 || s.Options["null-values"] != value {
				t.Errorf("%s: %d nulls, recorded %v; want %d, %s", filepath.Base(file), nulls, s.Options["null-values"], n/20, value)
			}
		}
		ends(t, exit.Data, "missing value", "select", parquet, "-k", "3", "--method", "greedy", "--missing", "error", "--null-values", value)
	}
}

// TestNullValuesOffered: where one spelling makes a column text, every verb offers the flag that makes it numbers, and
// inspect has the reason with its line.
func TestNullValuesOffered(t *testing.T) {
	text := "a,b\n"
	for i := range 200 {
		a := fmt.Sprint(i % 17)
		if i == 130 {
			a = "?"
		}
		text += a + fmt.Sprintf(",%d\n", i%13)
	}
	file, out := newFile(t, "q.csv", text), filepath.Join(t.TempDir(), "q.parquet")
	const offer = `column "a" is text only because of "?" (line 132); if that stands for a missing value, give --null-values ?`
	for _, args := range [][]string{{"inspect", file}, {"select", file, "-k", "1"}, {"convert", file, "-o", out}, {"plan", file, "-k", "1"}} {
		if r := invoke(args...); r.code != exit.Done || strings.Count(r.err, offer) != 1 {
			t.Errorf("%v: exit code %d, want the offer once:\n%s", args, r.code, r.err)
		}
	}
	if got := must(t, "inspect", file); !strings.Contains(got, `text (line 132: "?")`) {
		t.Errorf("inspect gives no reason:\n%s", got)
	}
	if r := invoke("inspect", file, "--null-values", "?"); r.code != exit.Done || strings.Contains(r.err, "offer") || !strings.Contains(r.out, "2 of 2 columns are features") {
		t.Errorf("with the flag:\n%s%s", r.out, r.err)
	}
	if r := invoke("inspect", newFile(t, "e.csv", "a\nNA\n1\n"), "--null-values", ""); !strings.Contains(r.out, `text (line 2: "NA")`) {
		t.Errorf("an empty list:\n%s%s", r.out, r.err)
	}
}
