package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestVersions: --version says what the verb does, and its JSON has a place for everything.
func TestVersions(t *testing.T) {
	if flag, verb := must(t, "--version"), must(t, "version"); flag != verb || !strings.Contains(verb, ufs.Release) {
		t.Errorf("--version prints %q and version prints %q, want the same with the release", flag, verb)
	}
	got := *decoded[map[string]any](t, "version")
	for field, want := range map[string]any{"version": ufs.Release, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH} {
		if got[field] != want {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
	for _, field := range []string{"commit", "date", "modified"} {
		if _, there := got[field]; !there {
			t.Errorf("no %s in %v", field, got)
		}
	}
	_, in := plant(t, 300, 1)
	ends(t, exit.Usage, "are for Delta tables", "select", in[0], "--version", "3")
}

// TestEveryOptionHasAFlag: each option of requests that a verb takes is a flag, an environment variable and a line of
// the configuration; the flag sets the field of the request.
func TestEveryOptionHasAFlag(t *testing.T) {
	known := knownFlagNames(newRoot(new(cli)))
	texts := []string{"7", "a", "skip-file", "yes", "mean", "l2", "true", "0.5", "2026-01-31", "5m"}
	for _, o := range request.ListParts(request.AllParts) {
		if !slices.Contains(known, o.Name) && !cannotHaveDefault(o.Name) {
			t.Errorf("no verb has --%s, or nothing can be its default", o.Name)
		}
		f, flags := new(requestFlags), pflag.NewFlagSet("", pflag.ContinueOnError)
		f.addOptions(flags, request.AllParts)
		before := fmt.Sprintf("%+v", f.req)
		if !slices.ContainsFunc(texts, func(text string) bool { return flags.Set(o.Name, text) == nil && fmt.Sprintf("%+v", f.req) != before }) {
			t.Errorf("--%s: none of %v changes the request", o.Name, texts)
		}
	}
}

// TestEveryFlagHasAPlace: the table of groups knows all flags of the verbs that show them so, each once,
// and help shows each once, everyday ones first.
func TestEveryFlagHasAPlace(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range flagGroups() {
		for _, name := range g.flags {
			if seen[name] {
				t.Errorf("--%s stands in two groups", name)
			}
			seen[name] = true
		}
	}
	count := 0
	for _, cmd := range newRoot(new(cli)).Commands() {
		if !hasGroupedHelp(cmd) {
			continue
		}
		count++
		_, help, _ := strings.Cut(must(t, cmd.Name(), "--help"), "\nUsage:\n")
		for _, g := range groupFlags(cmd) {
			if g.title == ungroupedTitle {
				t.Errorf("%s: the sections of the help have no place for %q", cmd.Name(), g.flags)
			}
			for _, name := range g.flags {
				if found := regexp.MustCompile(`(?m)^ +(-., )?--`+name+`[ \[]`).FindAllString(help, -1); len(found) != 1 {
					t.Errorf("%s --help shows --%s %d times", cmd.Name(), name, len(found))
				}
			}
		}
		if first := strings.Index(help, "\nEveryday:\n"); first < 0 || strings.Index(help, "--label") < first || strings.Index(help, "\nInput:\n") < first {
			t.Errorf("%s --help does not begin with everyday flags", cmd.Name())
		}
	}
	if count != 4 {
		t.Errorf("%d verbs show their flags in groups", count)
	}
}

// TestGuideTellsOfEveryMethod: help methods quotes the guide of every method, and every method has one.
func TestGuideTellsOfEveryMethod(t *testing.T) {
	guide := strings.Join(strings.Fields(must(t, "help", "methods")), " ")
	for _, s := range methods.All() {
		for _, text := range []string{s.About, s.Guide.When, s.Guide.Time, s.Guide.Caution} {
			if text == "" || !strings.Contains(guide, s.Name+": ") || !strings.Contains(guide, strings.Join(strings.Fields(text), " ")) {
				t.Errorf("%s: the guide lacks %q", s.Name, text)
			}
		}
	}
	if must(t, "methods") != must(t, "help", "methods") {
		t.Error("the topic by itself says something else")
	}
}

// completed is what the shell is offered.
func completed(t *testing.T, args ...string) (list []string, directive string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(must(t, append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...), "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// TestCompletion: values of flags, and columns of what was typed so far; what cannot be read offers nothing.
func TestCompletion(t *testing.T) {
	_, in := plant(t, 300, 2)
	dir := folder(t)
	must(t, "scan", in[0], in[1], "-o", dir("a.ufs"))
	sel := dir("sel.json")
	must(t, "select", in[0], "-k", "2", "-o", sel)
	columns := decoded[ufs.Inspection](t, "inspect", in[0]).Columns
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	methodNames := methods.Names(methods.All())
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"select", "--method", ""}, methodNames},
		{[]string{"plan", "--scale", ""}, ufs.ScaleNames()},
		{[]string{"scan", "--missing", ""}, ufs.MissingPolicies()},
		{[]string{"select", "--format", ""}, []string{"table", "json", "csv", "parquet", "names", "sql", "py", "yaml"}},
		{[]string{"plan", "--format", ""}, []string{"table", "json"}},
		{[]string{"apply", "--format", ""}, formatsOfApply()},
		{[]string{"select", "--dialect", ""}, []string{"duckdb", "spark", "bigquery", "snowflake", "clickhouse"}},
		{[]string{"select", "--refine", ""}, []string{"none", "swap"}},
		{[]string{"select", "--on-error", ""}, []string{"fail", "skip-file"}},
		{[]string{"select", "--progress", ""}, []string{"auto", "tty", "json", "off"}},
		{[]string{"select", in[0], "--label", ""}, names},
		{[]string{"select", in[0], "--label", names[1]}, []string{names[1]}},
		{[]string{"select", in[0], in[1], "--exclude", "zzz," + names[2]}, []string{"zzz," + names[2]}},
		{[]string{"eval", in[0], "--label", names[0]}, []string{names[0]}},
		{[]string{"apply", in[0], "--also", names[3]}, []string{names[3]}},
		{[]string{"select", "--stats", dir("a.ufs"), "--keep", names[1]}, []string{names[1]}},
		{[]string{"select", "--label", ""}, nil},
		{[]string{"select", dir("none.parquet"), "--label", ""}, nil},
		{[]string{"select", sel, "--label", ""}, nil},
		{[]string{"select", "-", "--label", ""}, nil},
	} {
		got, directive := completed(t, c.args...)
		got = slices.DeleteFunc(got, func(name string) bool { // names begin alike: p1, p10
			return !slices.Contains(c.want, name) && len(c.want) == 1 && strings.HasPrefix(name, c.want[0])
		})
		if !slices.Equal(got, c.want) || directive != ":4" && directive != ":6" {
			t.Errorf("%q: %q %s, want %q", c.args, got, directive, c.want)
		}
	}
}

// TestPlainType: a type is shown beside a column unless a file could have put something else into it.
func TestPlainType(t *testing.T) {
	for name, want := range map[string]string{
		"double": "double", "decimal(10, 2)": "decimal(10, 2)", "timestamp[us, tz=Europe/Berlin]": "timestamp[us, tz=Europe/Berlin]", "list<item: double>": "list<item: double>",
		"timestamp[us, tz=$(touch x)]": "", "timestamp[us, tz=`x`]": "", "a\nb": "", "a\tb": "", "": "", "dictionary<values=utf8, x=\u202e>": "",
	} {
		if got := plainTypeName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

// TestDefaults: what is given goes before the environment, that before the file; every mistake is named by its place.
func TestDefaults(t *testing.T) {
	_, in := plant(t, 300, 1)
	dir := folder(t)
	config := write(t, dir("ufs.yaml"), "# defaults\nk: 4 # few\nscale = \"none\"\nmethod: 'greedy'\npartitions-of-report: 3\n")
	ends(t, exit.Usage, config+":5: no flag --partitions-of-report", "select", in[0], "--config", config)
	write(t, config, "# defaults\nk: 4 # few\nscale = \"none\"\nmethod: 'greedy'\nruns: 7\n")
	names := func(args ...string) int {
		t.Helper()
		return strings.Count(must(t, append([]string{"select", in[0], "--format", "names"}, args...)...), "\n")
	}
	if n := names("--config", config); n != 4 {
		t.Errorf("%d features by the file", n)
	}
	t.Setenv("UFS_STREAM_K", "3")
	if n := names("--config", config); n != 3 {
		t.Errorf("%d features by the environment", n)
	}
	if n := names("--config", config, "-k", "2"); n != 2 {
		t.Errorf("%d features by the flag", n)
	}
	r := invoke("select", in[0], "-v", "--config", config, "--scale", "standard", "--format", "json")
	if r.code != exit.Done || !strings.Contains(r.out, `"scale": "standard"`) {
		t.Errorf("--scale over a --config: got %+v, want scale standard", r)
	}
	for _, want := range []string{"-k 3 from UFS_STREAM_K\n", "--method greedy from " + config + ":4\n"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("-v does not say %q:\n%s", want, r.err)
		}
	}
	if strings.Contains(r.err, "--scale") || strings.Contains(r.err, "--runs") {
		t.Errorf("-v tells of defaults that it did not take:\n%s", r.err)
	}
	// The variable of --config, and of a verb's argument that a flag replaces.
	t.Setenv("UFS_STREAM_CONFIG", config)
	t.Setenv("UFS_STREAM_K", "")
	if n := names(); n != 4 {
		t.Errorf("%d features by UFS_STREAM_CONFIG", n)
	}
	t.Setenv("UFS_STREAM_CONFIG", "")
	t.Setenv("UFS_STREAM_SCALE", "standart")
	ends(t, exit.Usage, "did you mean standard?; not from the command line but from defaults: --scale standart from UFS_STREAM_SCALE", "select", in[0])
	t.Setenv("UFS_STREAM_SCALE", "")
	t.Setenv("UFS_STREAM_MEMORY_LIMT", "1")
	if r := invoke("select", in[0], "-k", "2"); r.code != exit.Done || !strings.Contains(r.err, "did you mean UFS_STREAM_MEMORY_LIMIT?") {
		t.Errorf("misspelt variable: got %+v, want a suggestion of UFS_STREAM_MEMORY_LIMIT", r)
	}
	t.Setenv("UFS_STREAM_MEMORY_LIMT", "")
	ends(t, exit.Usage, "--auto-exclude perhaps: want true or false", "select", in[0], "--auto-exclude=perhaps")
	t.Setenv("UFS_STREAM_AUTO_EXCLUDE", "perhaps")
	ends(t, exit.Usage, "UFS_STREAM_AUTO_EXCLUDE: --auto-exclude perhaps: want true or false", "select", in[0])
	t.Setenv("UFS_STREAM_AUTO_EXCLUDE", "")
	t.Setenv("UFS_STREAM_THREADS", "many")
	ends(t, exit.Usage, "UFS_STREAM_THREADS: --threads many: want a whole number", "select", in[0])
	must(t, "version") // which has no threads
}

// TestConfigMistakes: each is named with its line.
func TestConfigMistakes(t *testing.T) {
	_, in := plant(t, 300, 1)
	config := filepath.Join(t.TempDir(), "ufs.conf")
	ends(t, exit.Usage, "cannot be read: no such file", "select", in[0], "--config", config)
	for text, says := range map[string]string{
		"k 3":                  ":1: \"k 3\": want flag: value",
		"\nk:":                 ":2: k: there is no value",
		"k: \"3":               ":1: k: \"3: the value must end with its quote",
		"k: '3' 4":             ":1: k: '3' 4: the value must end with its quote",
		"columns: [a, b]":      ":1: columns: [a, b]: want the value as on the command line",
		"[select]\nk = 3":      ":1: \"[select]\": want flag: value",
		"k: 3\nk: 4":           ":2: k is set a second time",
		"memory-limit: lots":   ":1: --memory-limit lots: want a size",
		"memory-limt: 4GiB":    ":1: no flag --memory-limt can have a default; did you mean memory-limit?",
		"version: 3":           ":1: no flag --version can have a default",
		"missing: \"nothing\"": ":1: --missing nothing: want mean",
	} {
		write(t, config, text)
		ends(t, exit.Usage, config+says, "select", in[0], "--config", config)
	}
}

// limitSeen writes down the bound on the heap while it is written to.
type limitSeen struct{ limit int64 }

func (w *limitSeen) Write(b []byte) (int, error) {
	w.limit = debug.SetMemoryLimit(-1)
	return len(b), nil
}

// The bound on the memory of the process stands while results are written too, and no longer than a run.
func TestMemoryLimitHoldsToTheEnd(t *testing.T) {
	dir, _ := plant(t, 200, 1)
	before := debug.SetMemoryLimit(-1)
	var out limitSeen
	if code := run(t.Context(), []string{"select", dir, "-k", "2", "--memory-limit", "90MiB", "--format", "json", "-q"}, nil, &out, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m) // what the tests hold themselves is beside the limit
	if out.limit <= 0 || out.limit >= 90<<20+int64(m.Sys) {
		t.Errorf("results are written within %d bytes of heap, of 90 MiB", out.limit)
	}
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("after the run the bound is %d, before it was %d", after, before)
	}
}

// TestReplaced: what stood at the place of an output is named, unless with -q or where nothing stood.
func TestReplaced(t *testing.T) {
	dir, in := plant(t, 300, 1)
	sel := filepath.Join(dir, "sel.json")
	must(t, "select", in[0], "-k", "2", "-o", sel)
	was := regexp.MustCompile(`^replaced (.*), \S+ (B|KiB|MiB) of \d{4}-\d\d-\d\d \d\d:\d\d$`)
	for _, c := range []struct{ name, args string }{
		{"sel.json", "select IN -k 2"}, {"a.ufs", "scan IN"}, {"a.parquet", "apply IN --selection SEL"}, {"a.sql", "apply IN --selection SEL"},
		{"a.plan.json", "plan IN"}, {"plan.json", "plan IN"}, {"tree.json", "tree IN --tree correlation"}, {"a.html", "report SEL"}, {"in.json", "inspect IN"},
		{"b.parquet", "convert IN"},
	} {
		out := filepath.Join(t.TempDir(), c.name)
		args := append(strings.Fields(strings.NewReplacer("IN", in[0], "SEL", sel).Replace(c.args)), "-o")
		for i, want := range []string{"", out} {
			said := ""
			for line := range strings.SplitSeq(invokeFine(t, append(args, out)...), "\n") {
				if m := was.FindStringSubmatch(line); m != nil {
					said = m[1]
				}
			}
			if said != want {
				t.Errorf("%q, time %d: replaced %q, want %q", args, i+1, said, want)
			}
		}
		if r := invoke(append(append([]string{"-q"}, args...), out)...); r.code != exit.Done || strings.Contains(r.err, "replaced") {
			t.Errorf("-q %q: got %+v, want success without a note on the replaced file", args, r)
		}
	}
}

// invokeFine runs the program, wants exit code 0, and returns what it said on standard error.
func invokeFine(t *testing.T, args ...string) string {
	t.Helper()
	r := invoke(args...)
	if r.code != exit.Done {
		t.Fatalf("%q: exit code %d\n%s", args, r.code, r.err)
	}
	return r.err
}

// TestManPages: a page for every verb that help lists, and one of the program, with all of their flags.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	must(t, "man", dir)
	root := newRoot(new(cli))
	for _, cmd := range append(root.Commands(), root) {
		path := filepath.Join(dir, manPageName(cmd)+".1")
		if cmd.Hidden {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("a page of the hidden %s", cmd.Name())
			}
			continue
		}
		page := read(t, path)
		if !strings.HasPrefix(page, ".TH ") || strings.IndexFunc(page, func(r rune) bool { return r > 126 }) >= 0 {
			t.Errorf("%s is no page", path)
		}
		for _, g := range groupFlags(cmd) {
			for _, name := range g.flags {
				if cmd.Runnable() && !strings.Contains(page, escapeRoff("--"+name)+`"`) {
					t.Errorf("%s lacks --%s", path, name)
				}
			}
		}
	}
}

// TestWorseThanRandom: a method whose features explain less than random ones says so, with the
// numbers and what to choose.
func TestWorseThanRandom(t *testing.T) {
	_, in := plant(t, 300, 1)
	warned := 0
	for _, s := range methods.All() {
		r := invoke("select", in[0], "-k", "6", "--method", s.Name, "--format", "json")
		var got struct{ Warnings []string }
		if r.code != exit.Done && r.code != exit.Unconverged {
			continue // wants a grid
		}
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatalf("decoding the output: %v", err)
		}
		for _, w := range got.Warnings {
			if strings.Contains(w, "as many random ones") {
				if warned++; !strings.Contains(w, "choose --method "+methods.Fallback) || s.Takes.Reconstructs {
					t.Errorf("%s: unexpected advice in the warning %q", s.Name, w)
				}
			}
		}
	}
	if warned == 0 {
		t.Error("no method warns on these data")
	}
}
