package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestEvalMemory: a limit that is too low is refused, and the message names one that works.
func TestEvalMemory(t *testing.T) {
	path, sel := labelled(t, 2000)
	args := quick("eval", path, "--selection", sel, "--label", "label")
	r := invoke(append(args, "--memory-limit", "10MiB")...)
	m := regexp.MustCompile(`--memory-limit (\d+)MiB`).FindStringSubmatch(r.err)
	if r.code != exit.Memory || m == nil || !strings.Contains(r.err, "--sample") {
		t.Fatalf("exit code %d, %q", r.code, r.err)
	}
	a := must(t, append(args, "--memory-limit", m[1]+"MiB", "--threads", "4")...)
	if b := must(t, append(args, "--threads", "1")...); a != b {
		t.Errorf("the limit changes the result:\n%s\n%s", a, b)
	}
}

// TestEvalMemoryNamed: the limit that a refusal names works, also where eval selects again.
// A stream, whose rows are not known, takes a few refusals.
func TestEvalMemoryNamed(t *testing.T) {
	path, sel := labelled(t, 2000)
	args := []string{"eval", path, "--selection", sel, "--memory-limit"}
	refused := invoke(append(args, "10MiB", "--resamples", "2")...)
	m := regexp.MustCompile(`--memory-limit (\d+)MiB`).FindStringSubmatch(refused.err)
	if m == nil {
		t.Fatalf("exit code %d, %q", refused.code, refused.err)
	}
	must(t, append(args, m[1]+"MiB", "--resamples", "2")...)
	_, columns, class := grouped(2000)
	label := make([]float64, len(class))
	for i, c := range class {
		label[i] = float64(c)
	}
	in := arrowStream(t, append(columns, label)...)
	renamed := edited(t, sel, func(sel, _ map[string]any) {
		delete(sel, "columns")
		for i, f := range sel["selected"].([]any) {
			f.(map[string]any)["name"] = fmt.Sprintf("c%d", i)
		}
	})
	limit := 60
	for range 8 {
		var out, errw bytes.Buffer
		code := run(t.Context(), []string{"eval", "-", "--selection", renamed, "--label", "c12", "--runs", "1", "--restarts", "1", "--memory-limit", fmt.Sprintf("%dMiB", limit)}, bytes.NewReader(in), &out, &errw)
		if code == exit.Done {
			return
		}
		m := regexp.MustCompile(`--memory-limit (\d+)MiB`).FindStringSubmatch(errw.String())
		if code != exit.Memory || m == nil {
			t.Fatalf("at %d MiB: exit code %d, %q", limit, code, errw.String())
		}
		next, err := strconv.Atoi(m[1])
		if err != nil || next <= limit {
			t.Fatalf("at %d MiB: %q", limit, errw.String())
		}
		limit = next
	}
	t.Errorf("refused up to %d MiB", limit)
}

// TestEvalErrors: requests and data that cannot be judged say why.
func TestEvalErrors(t *testing.T) {
	path, sel := labelled(t, 60)
	dir := t.TempDir()
	names, columns, _ := grouped(30)
	one := make([]float64, 30)
	nan := slices.Repeat([]float64{math.NaN()}, 30)
	flat := columnsFile(t, filepath.Join(dir, "one.parquet"), append(slices.Clone(names), "label", "none", "id"), append(slices.Clone(columns), one, nan, columns[4])...)
	other := columnsFile(t, filepath.Join(dir, "other.parquet"), append([]string{"A0x"}, names[4:]...), columns[:9]...)
	withLabel := filepath.Join(dir, "l.json")
	must(t, "select", path, "-k", "3", "-o", withLabel)
	zeros := filepath.Join(dir, "zero.json")
	must(t, "select", path, "--label", "label", "-k", "3", "--missing", "zero", "-o", zeros)
	twice := filepath.Join(dir, "twice.json")
	if b, err := os.ReadFile(sel); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(twice, regexp.MustCompile(`"name": "[ab]\d",\n      "column"`).ReplaceAll(b, []byte(`"name": "a0", "column"`)), 0o666); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone.json")
	if b, err := os.ReadFile(sel); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(gone, []byte(strings.Replace(string(b), `"greedy"`, `"cpufs"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{path, exit.Usage, "--selection SEL.json"},
		{"--selection SEL", exit.Usage, "no INPUT"},
		{path + " --selection SEL --label lable", exit.Usage, "did you mean label?"},
		{path + " --selection SEL --label label -k 7", exit.Usage, "-k 7 is more than the 6 features"},
		{path + " --selection SEL --label label -k 0", exit.Usage, "from 1 on"},
		{path + " --selection SEL --label label -k 2,x", exit.Usage, "whole numbers"},
		{path + " --selection SEL --label label --clusters 0", exit.Usage, "--clusters 0"},
		{path + " --selection SEL --label label --clusters 61", exit.Usage, "more than the 60 rows"},
		{path + " --selection SEL --label label --runs -1", exit.Usage, "--runs -1"},
		{path + " --selection SEL --label label --restarts 0", exit.Usage, "--restarts 0"},
		{path + " --selection SEL --label label --protocol gredy", exit.Usage, "did you mean greedy?"},
		{path + " --selection SEL --label label --baselines rndom", exit.Usage, "did you mean random?"},
		{path + " --selection SEL --label label --scale standart", exit.Usage, "did you mean standard?"},
		{path + " --selection SEL --label label --missing men", exit.Usage, "did you mean mean?"},
		{path + " --selection SEL --label label --sample -1", exit.Usage, "--sample -1"},
		{path + " --selection SEL --label label --resamples 1", exit.Usage, "2 or more"},
		{path + " --selection SEL --label label --format parquet", exit.Usage, "table, json, csv"},
		{path + " --selection SEL --runs 3", exit.Usage, "add --label"},
		{path + " --selection SEL --label a0", exit.Usage, "judged by itself"},
		{path + " --selection " + withLabel + " --label label", exit.Usage, "judged by itself"},
		{path + " --selection SEL --selection SEL --label label", exit.Usage, "is taken"},
		{path + " --selection all=SEL --label label", exit.Usage, "is taken"},
		{path + " --selection =SEL --label label", exit.Usage, "NAME=SEL.json"},
		{path + " --selection a=SEL --selection b=" + zeros + " --label label", exit.Usage, "different --missing"},
		{path + " --selection " + twice + " --label label", exit.Data, "twice"},
		{path + " --selection " + path + " --label label", exit.Data, "not a selection"},
		{path + " --selection= --label label", exit.Usage, "names no file"},
		{path + " --selection SEL --label label --sample 1", exit.Usage, "a larger --sample"},
		{path + " --selection " + filepath.Join(dir, "no.json"), exit.Data, "no.json"},
		{flat + " --selection SEL --label label", exit.Usage, "one class"},
		{flat + " --selection SEL --label none", exit.Data, "null in every row"},
		{other + " --selection SEL", exit.Usage, `"a0" (did you mean A0x?)`},
		{flat + " --selection SEL --label id", exit.Usage, "seems to be no class"},
		{path + " --selection " + gone + " --label label --resamples 2", exit.Usage, "--resamples 0 does without"},
		{filepath.Join(dir, "no.parquet") + " --selection SEL", exit.Data, "no.parquet"},
		{path + " --selection SEL --label label -o " + path, exit.Usage, "names no format"},
		{path + " --selection SEL --label label --format json -o " + path, exit.Usage, "replace the input"},
		{path + " --selection SEL --label label -o SEL", exit.Usage, "replace the input"},
		{path + " --selection SEL --label label -o " + filepath.Join(dir, "no", "e.json"), exit.Fault, "create the folder"},
	} {
		args := append([]string{"eval"}, strings.Fields(strings.ReplaceAll(c.args, "SEL", sel))...)
		r := invoke(args...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit code %d, want %d; %q, want something of %q", c.args, r.code, c.code, r.err, c.says)
		}
	}
}

// TestEvalHostile: values that overflow are reported; constants and duplicates are judged.
func TestEvalHostile(t *testing.T) {
	dir := t.TempDir()
	_, columns, class := grouped(60)
	label := make([]float64, 60)
	for i := range label {
		label[i] = float64(class[i])
	}
	huge, late := slices.Clone(columns[0]), make([]float64, 60)
	for i := range huge {
		huge[i] *= 1e152
	}
	late[59] = 1 // constant in most samples
	path := columnsFile(t, filepath.Join(dir, "t.parquet"), []string{"<script>", "a\"b", "same", "late", "label"}, columns[0], columns[1], columns[1], late, label)
	sel := filepath.Join(dir, "s.json")
	must(t, "select", path, "--label", "label", "--method", "random", "-k", "4", "-o", sel)
	e := evaluated(t, quick(path, "--selection", sel, "--label", "label", "--sample", "40")...)
	if r := e.Results[1]; r.Reconstruction != 0 || !(r.Redundancy > 0 && r.Redundancy <= 1) {
		t.Errorf("%+v", r)
	}
	path = columnsFile(t, filepath.Join(dir, "h.parquet"), []string{"<script>", "a\"b", "same", "late", "label"}, huge, huge, columns[1], late, label)
	must(t, quick("eval", path, "--selection", sel, "--label", "label", "--scale", "standard")...)
	for i := range huge {
		huge[i] *= 1e20
	}
	path = columnsFile(t, filepath.Join(dir, "h2.parquet"), []string{"<script>", "a\"b", "same", "late", "label"}, huge, huge, columns[1], late, label)
	if r := invoke(quick("eval", path, "--selection", sel, "--label", "label")...); r.code != exit.Data || !strings.Contains(r.err, "--scale standard") {
		t.Errorf("overflow: exit code %d, %q", r.code, r.err)
	}
}

// TestEvalInterrupted: an interruption leaves no output.
func TestEvalInterrupted(t *testing.T) {
	path, sel := labelled(t, 150)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "e.json")
	if r := invokeContext(ctx, "eval", path, "--selection", sel, "--label", "label", "-o", out); r.code != exit.Interrupted {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an output file is left")
	}
}

// TestEvalReal: the greedy selection of COIL20 beats random features, and basehock
// gives the same from sparse and dense rows.
func TestEvalReal(t *testing.T) {
	path := dataset(t, "coil20.parquet")
	dir := t.TempDir()
	sel := filepath.Join(dir, "s.json")
	must(t, "select", path, "--label", "label", "--scale", "none", "-k", "41", "-o", sel)
	e := evaluated(t, path, "--selection", sel, "--label", "label", "--runs", "5", "--restarts", "3", "--baselines", "random,variance")
	if r := e.Results[0]; e.Clusters != 20 || r.NMISqrt.Mean < 0.72 || r.NMISqrt.Mean > 0.82 || !*r.Best || *e.Results[2].Best {
		t.Errorf("%d clusters, NMI %v, best %v", e.Clusters, *r.NMISqrt, *r.Best)
	}
	if s, err := ufs.ReadSelection(sel); err != nil || math.Abs(float64(s.Selected[40].Error-e.Results[0].Reconstruction)) > 1e-9 {
		t.Errorf("error %v, the selection has %v (%v)", e.Results[0].Reconstruction, s.Selected[40].Error, err)
	}
	sparse, whole := filepath.Join(dir, "sparse.json"), filepath.Join(dir, "whole.json")
	must(t, "select", dataset(t, "basehock_sparse.parquet"), "--sparse", "indices,values", "--label", "label", "--method", "variance", "-k", "30", "-o", sparse)
	must(t, "select", dataset(t, "basehock.parquet"), "--label", "label", "--method", "variance", "-k", "30", "-o", whole)
	args := []string{"--label", "label", "--spherical", "--runs", "2", "--restarts", "1", "--baselines", "none"}
	a := evaluated(t, append(args, dataset(t, "basehock_sparse.parquet"), "--selection", sparse)...).Results[0]
	b := evaluated(t, append(args, dataset(t, "basehock.parquet"), "--selection", whole)...).Results[0]
	a.Path, b.Path = "", ""
	if x, y := scoresText(&a), scoresText(&b); x != y {
		t.Errorf("sparse %s\ndense  %s", x, y)
	}
}
