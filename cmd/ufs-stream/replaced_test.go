package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	musts "github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// otherNames are further names of a file in the working directory: three spellings and two links.
func otherNames(t *testing.T, file string) []string {
	t.Helper()
	full := musts.Get(filepath.Abs(file))(t)
	soft, hard := "soft-"+filepath.Base(file), filepath.Join("links", "hard-"+filepath.Base(file))
	if _, err := os.Lstat(soft); err != nil {
		musts.Do(t, os.MkdirAll("links", 0o700))
		musts.Do(t, os.Symlink(file, soft))
		musts.Do(t, os.Link(file, hard))
	}
	return []string{"links/.././" + file, full, "file://" + full, soft, hard}
}

// inputsOfVerbs makes a file of each kind that verbs read, in the working directory.
func inputsOfVerbs(t *testing.T) {
	t.Helper()
	dir, _ := plant(t, 300, 2)
	t.Chdir(dir)
	musts.Do(t, os.Mkdir("data", 0o700))
	musts.Do(t, os.Rename("part-000.parquet", "data/a.parquet"))
	musts.Do(t, os.Rename("part-001.parquet", "b.parquet"))
	musts.Do(t, os.Mkdir("other", 0o700))
	write := func(name, text string) { musts.Do(t, os.WriteFile(name, []byte(text), 0o600)) }
	for _, name := range []string{"list.txt", "list.csv", "list.parquet", "list.py", "list.json", "list.ufs"} {
		write(name, "data\nb.parquet\n")
	}
	must(t, "select", "data", "-k", "3", "--method", "greedy", "--format", "json", "-o", "sel.json")
	for _, name := range []string{"sel.html", "sel.csv", "sel.py"} {
		write(name, string(musts.Get(os.ReadFile("sel.json"))(t)))
	}
	names := strings.Fields(must(t, "select", "data", "-k", "3", "--method", "greedy", "--format", "names"))
	write("groups.json", fmt.Sprintf(`{"g": [%q, %q]}`, names[0], names[1]))
	write("costs.json", fmt.Sprintf(`{%q: 2}`, names[0]))
	write("config.json", "threads: 1\n")
	must(t, "scan", "data", "-o", "s.ufs")
	must(t, "scan", "data", "--shard", "1/2", "-o", "1.ufs")
	must(t, "scan", "data", "--shard", "2/2", "-o", "2.ufs")
	must(t, "scan", "data", "--profile-only", "-o", "profile.ufs")
	must(t, "plan", "data", "-o", "job.plan.json")
	must(t, "tree", "data", "--tree", "correlation", "-o", "tree.json")
}

// TestNoVerbReplacesItsInput: no output is put at the place of a file that it is made from, whatever that is for and
// whatever it is called; the files stay as they are.
func TestNoVerbReplacesItsInput(t *testing.T) {
	inputsOfVerbs(t)
	commands := []struct{ input, args string }{
		{"list.json", "select @list.json -k 3 --format json"},
		{"list.json", "path @list.json -k 3 --method greedy --format json"},
		{"list.json", "plan @list.json --format json"},
		{"list.json", "inspect @list.json --format json"},
		{"list.json", "redundancy @list.json --format json"},
		{"list.json", "eval @list.json --selection sel.json --format json"},
		{"list.json", "tree @list.json --tree correlation"},
		{"list.json", "explain f000 --selection sel.json @list.json --format json"},
		{"list.ufs", "scan @list.ufs"},
		{"list.csv", "apply @list.csv --selection sel.json"},
		{"list.parquet", "convert @list.parquet"},
		{"list.py", "apply @list.py --selection sel.json --format py"},
		{"list.py", "select @list.py -k 3 --format py"},
		{"data/a.parquet", "apply data --selection sel.json --format py"},
		{"data/a.parquet", "apply data b.parquet --selection sel.json"},
		{"data/a.parquet", "convert data/a.parquet"},
		{"b.parquet", "convert data/a.parquet b.parquet"},
		{"b.parquet", "convert data/*.parquet b.parquet"},
		{"sel.csv", "apply data/a.parquet --selection sel.csv"},
		{"sel.py", "apply data --selection sel.py --format py"},
		{"sel.html", "report sel.html"},
		{"sel.json", "diff sel.json sel.py --format json"},
		{"sel.json", "check --selection sel.json --stats s.ufs --format json"},
		{"s.ufs", "check --selection sel.json --stats s.ufs --format json"},
		{"profile.ufs", "check --selection sel.json --stats s.ufs --baseline profile.ufs --format json"},
		{"sel.json", "explain f000 --selection sel.json --format json"},
		{"sel.json", "eval data --selection sel.json --format json"},
		{"s.ufs", "select --stats s.ufs -k 3 --format json"},
		{"s.ufs", "path --stats s.ufs -k 3 --format json"},
		{"s.ufs", "redundancy --stats s.ufs --format json"},
		{"s.ufs", "explain f000 --selection sel.json --stats s.ufs --format json"},
		{"s.ufs", "inspect s.ufs --format json"},
		{"1.ufs", "merge 1.ufs 2.ufs"},
		{"2.ufs", "merge 1.ufs 2.ufs"},
		{"profile.ufs", "scan data --profile profile.ufs"},
		{"job.plan.json", "select --plan job.plan.json -k 3 --format json"},
		{"job.plan.json", "path --plan job.plan.json -k 3 --format json"},
		{"job.plan.json", "scan --plan job.plan.json"},
		{"job.plan.json", "inspect --plan job.plan.json --format json"},
		{"job.plan.json", "plan --plan job.plan.json"},
		{"job.plan.json", "tree --plan job.plan.json --tree correlation"},
		{"groups.json", "select data -k 2 --method greedy --groups groups.json --format json"},
		{"groups.json", "select --stats s.ufs -k 2 --method greedy --groups groups.json --format json"},
		{"costs.json", "select data -k 2 --method greedy --costs costs.json --budget 3 --format json"},
		{"tree.json", "select data -k 2 --method hufs --tree tree.json --format json"},
		{"tree.json", "tree data --tree tree.json"},
		{"b.parquet", "select data -k 2 --method sfufs --anchors-file b.parquet --format json"},
		{"b.parquet", "scan data --method sfufs --anchors-file b.parquet"},
		{"config.json", "select data -k 2 --method greedy --config config.json --format json"},
	}
	seen := map[string][]string{}
	for _, c := range commands {
		seen[c.input] = otherNames(t, c.input)
	}
	before := musts.Files(t, ".")
	for i, c := range commands {
		names := seen[c.input]
		for k := range 2 {
			ends(t, exit.Usage, "replace the input", append(strings.Fields(c.args), "-o", names[(2*i+k)%len(names)])...)
		}
	}
	wantFiles(t, before)
	for _, total := range otherNames(t, "1.ufs")[:2] { // yesterday's total becomes today's
		must(t, "merge", "--decay", "0.5", "1.ufs", "2.ufs", "-o", total)
		musts.Do(t, os.WriteFile("1.ufs", []byte(before["1.ufs"]), 0o600))
	}
	musts.Do(t, os.Mkdir("parts", 0o700))
	for _, name := range []string{"1.ufs", "2.ufs"} {
		musts.Do(t, os.Rename(name, filepath.Join("parts", name)))
	}
	full := musts.Get(filepath.Abs("parts"))(t)
	must(t, "merge", "parts", "-o", "parts/all.ufs")
	all := string(musts.Get(os.ReadFile("parts/all.ufs"))(t))
	for _, out := range []string{filepath.Join(full, "all.ufs"), "parts/../parts/all.ufs", "file://" + full + "/all.ufs"} {
		must(t, "merge", "parts", "-o", out) // what it made before is none of the parts
		if again := string(musts.Get(os.ReadFile("parts/all.ufs"))(t)); again != all {
			t.Errorf("merged again to %s: %d bytes, were %d", out, len(again), len(all))
		}
	}
}

// wantFiles checks that the working directory has these files with these bytes.
func wantFiles(t *testing.T, want map[string]string) {
	t.Helper()
	got := musts.Files(t, ".")
	for name := range maps.Keys(want) {
		if got[name] != want[name] {
			t.Errorf("%s has changed: %d bytes, were %d", name, len(got[name]), len(want[name]))
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s was written", name)
	}
}

// TestChartsReplaceNoInput: the names of charts are chosen for the user, and may be those of links to what they are of.
func TestChartsReplaceNoInput(t *testing.T) {
	inputsOfVerbs(t)
	must(t, "report", "sel.json", "--png", "charts")
	charts := musts.Get(os.ReadDir("charts"))(t)
	chart := filepath.Join("charts", charts[len(charts)-1].Name())
	musts.Do(t, os.Remove(chart))
	musts.Do(t, os.Link("sel.json", chart))
	before := musts.Files(t, ".")
	ends(t, exit.Usage, "replace the input", "report", "sel.json", "--png", "charts")
	wantFiles(t, before)
}

// TestOutputOfAFolderStaysBelowIt is how the fault was found: one input above the working directory.
func TestOutputOfAFolderStaysBelowIt(t *testing.T) {
	inputsOfVerbs(t)
	musts.Do(t, os.MkdirAll("w/c", 0o700))
	musts.Do(t, os.Rename("b.parquet", "w/c/b.parquet"))
	t.Chdir("w")
	for _, verb := range []string{"apply", "convert"} {
		for _, out := range []string{"out-" + verb, "../out-" + verb} {
			t.Chdir("..")
			before := musts.Files(t, ".")
			t.Chdir("w")
			args := []string{verb, "../data/a.parquet", "c/b.parquet", "-o", out}
			if verb == "apply" {
				args = append(args, "--selection", "../sel.json")
			}
			if said := must(t, args...); !strings.Contains(said, "2 files") {
				t.Errorf("%s to %s: %s", verb, out, said)
			}
			for _, name := range []string{"data/a.parquet", "w/c/b.parquet"} {
				before[filepath.ToSlash(filepath.Join("w", out, name))] = string(musts.Get(os.ReadFile(filepath.Join(out, filepath.FromSlash(name))))(t))
			}
			t.Chdir("..")
			wantFiles(t, before)
			t.Chdir("w")
		}
	}
}

// TestLogOfATableIsNotReplaced: whatever lies in the log of a Delta table may change what the table is.
func TestLogOfATableIsNotReplaced(t *testing.T) {
	at := folder(t)
	deltaTable(t, at("table"), 2)
	t.Chdir(at("."))
	musts.Do(t, os.Symlink("table", "link"))
	before := musts.Files(t, "table")
	for _, out := range []string{"table/_delta_log/00000000000000000000.json", "link/_delta_log/00000000000000000007.json", "table/./_delta_log/_last_checkpoint"} {
		for _, table := range []string{"table", "delta://table", "link"} {
			ends(t, exit.Usage, "would take it in the next time", "select", table, "-k", "2", "--format", "json", "-o", out)
		}
	}
	t.Chdir("table")
	wantFiles(t, before)
}

// TestOutputOfStoresStaysBelowIt: files here and objects there are laid out below one folder, here or there.
func TestOutputOfStoresStaysBelowIt(t *testing.T) {
	inputsOfVerbs(t)
	s := storetest.S3(t)
	content := musts.Get(os.ReadFile("b.parquet"))(t)
	s.PutObject("in/b.parquet", content)
	musts.Do(t, os.Mkdir("w", 0o700))
	t.Chdir("w")
	before := musts.Files(t, "..")
	must(t, "convert", "../data/a.parquet", s.URL("in/b.parquet"), "-o", s.URL("out"))
	must(t, "convert", "../data/a.parquet", s.URL("in/b.parquet"), "-o", "../other/out")
	for _, rel := range []string{"data/a.parquet", "s3/lake/in/b.parquet"} {
		here := string(musts.Get(os.ReadFile(filepath.Join("../other/out", filepath.FromSlash(rel))))(t))
		if there := string(musts.Get(os.ReadFile(filepath.Join(s.Dir, "out", filepath.FromSlash(rel))))(t)); there != here {
			t.Errorf("%s has %d bytes in the store, and %d here", rel, len(there), len(here))
		}
		before["other/out/"+rel] = here
	}
	if got := musts.Get(os.ReadFile(filepath.Join(s.Dir, "in/b.parquet")))(t); !bytes.Equal(got, content) {
		t.Errorf("the object has %d bytes, had %d", len(got), len(content))
	}
	t.Chdir("..")
	wantFiles(t, before)
}

// TestStdinIsInput: no verb replaces the file that a shell has opened as standard input.
func TestStdinIsInput(t *testing.T) {
	_, paths := plant(t, 400, 1)
	input, at := paths[0], folder(t)
	must(t, "select", input, "-k", "2", "-o", at("sel.json"))
	want := read(t, input)
	for _, args := range []string{
		"apply - --selection " + at("sel.json"), "convert -", "select - -k 2", "scan -", "inspect - --format json", "eval - --format json --selection " + at("sel.json"),
		"redundancy - --format json", "path - -k 2 --method greedy --format json", "tree - --tree correlation", "plan - -k 2 --format json",
	} {
		stdin, err := os.Open(input)
		if err != nil {
			t.Fatalf("opening a file: %v", err)
		}
		var out, errw bytes.Buffer
		code := run(t.Context(), append(strings.Fields(args), "-o", input), stdin, &out, &errw)
		stdin.Close()
		if got := read(t, input); code != exit.Usage || got != want || !strings.Contains(errw.String(), "replace the input") {
			t.Errorf("%s: exit code %d, %d bytes of input; want %d, %d bytes:\n%s", args, code, len(got), exit.Usage, len(want), errw.String())
		}
		write(t, input, want)
	}
}
