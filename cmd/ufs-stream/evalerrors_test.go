package main

import (
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

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
)

// TestEvalMemory: a limit that is too low is refused, and the message names one that works.
func TestEvalMemory(t *testing.T) {
	path, sel := labelled(t, 2000)
	args := quick("eval", path, "--selection", sel, "--label", "label", "--classify", "knn,ridge")
	r := invoke(append(args, "--memory-limit", "10MiB")...)
	enough := namedLimit(t, r)
	var least int
	if _, err := fmt.Sscanf(enough, "%dMiB", &least); err != nil {
		t.Fatalf("reading the limit from the message: %v", err)
	}
	little := append(slices.Clone(args), "--memory-limit", fmt.Sprintf("%dMiB", least-1))
	few := regexp.MustCompile(`--sample (\d+)`).FindStringSubmatch(invoke(little...).err)
	if few == nil {
		t.Fatalf("no number of rows that fit: %q", invoke(little...).err)
	}
	must(t, append(little, "--sample", few[1])...)
	a := must(t, append(args, "--memory-limit", enough, "--threads", "4")...)
	if b := must(t, append(args, "--threads", "1")...); a != b {
		t.Errorf("the limit changes the result:\n%s\n%s", a, b)
	}
}

// namedLimit is the limit that a refusal names.
func namedLimit(t *testing.T, r result) string {
	t.Helper()
	m := regexp.MustCompile(`--memory-limit (\d+MiB)`).FindStringSubmatch(r.err)
	if r.code != exit.Memory || m == nil {
		t.Fatalf("exit code %d, %q", r.code, r.err)
	}
	return m[1]
}

// TestEvalMemoryNamed: the limit that a refusal names works, also where eval selects again.
// A stream, whose rows are not known, takes a few refusals.
func TestEvalMemoryNamed(t *testing.T) {
	path, sel := labelled(t, 2000)
	args := []string{"eval", path, "--selection", sel, "--memory-limit"}
	refused := invoke(append(args, "10MiB", "--resamples", "2")...)
	must(t, append(args, namedLimit(t, refused), "--resamples", "2")...)
	_, columns, class := grouped(2000)
	in := arrowStream(t, append(columns, class)...)
	renamed := edited(t, sel, func(sel, _ map[string]any) {
		delete(sel, "columns")
		for i, f := range sel["selected"].([]any) {
			f.(map[string]any)["name"] = fmt.Sprintf("c%d", i)
		}
	})
	limit := 60
	for range 8 {
		r := invokeWith(t.Context(), in, "eval", "-", "--selection", renamed, "--label", "c12", "--runs", "1", "--restarts", "1", "--memory-limit", fmt.Sprintf("%dMiB", limit))
		if r.code == exit.Done {
			return
		}
		next, err := strconv.Atoi(strings.TrimSuffix(namedLimit(t, r), "MiB"))
		if err != nil || next <= limit {
			t.Fatalf("at %d MiB: %q", limit, r.err)
		}
		limit = next
	}
	t.Errorf("refused up to %d MiB", limit)
}

// TestEvalErrors: requests and data that cannot be judged say why.
func TestEvalErrors(t *testing.T) {
	path, sel := labelled(t, 60)
	at := folder(t)
	names, columns, _ := grouped(30)
	one, none := make([]float64, 30), slices.Repeat([]float64{nan}, 30)
	flat := columnsFile(t, at("one.parquet"), append(slices.Clone(names), "label", "none", "id"), append(slices.Clone(columns), one, none, columns[4])...)
	other := columnsFile(t, at("other.parquet"), append([]string{"A0x"}, names[4:]...), columns[:9]...)
	withLabel, zeros := at("l.json"), at("zero.json")
	must(t, "select", path, "-k", "3", "-o", withLabel)
	must(t, "select", path, "--label", "label", "-k", "3", "--missing", "zero", "-o", zeros)
	twice := edited(t, sel, func(sel, _ map[string]any) {
		for _, f := range sel["selected"].([]any) {
			f.(map[string]any)["name"] = "a0"
		}
	})
	gone := edited(t, sel, func(sel, _ map[string]any) { sel["method"] = "cpufs" })
	for _, c := range []outcome{
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
		{path + " --selection SEL --classify knn", exit.Usage, "--classify predicts the classes of rows: add --label COL"},
		{path + " --selection SEL --label label --classify rigde", exit.Usage, "did you mean ridge?"},
		{path + " --selection SEL --label label --folds 3", exit.Usage, "add --classify knn,ridge"},
		{path + " --selection SEL --label label --classify knn --folds 1", exit.Usage, "2 or more"},
		{path + " --selection SEL --label label --classify knn --folds 61", exit.Usage, "61 folds are more than the 60 rows"},
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
		{path + " --selection " + at("no.json"), exit.Data, "no.json"},
		{flat + " --selection SEL --label label", exit.Usage, "one class"},
		{flat + " --selection SEL --label none", exit.Data, "null in every row"},
		{other + " --selection SEL", exit.Usage, `"a0" (did you mean A0x?)`},
		{flat + " --selection SEL --label id", exit.Usage, "seems to be no class"},
		{path + " --selection " + gone + " --label label --resamples 2", exit.Usage, "--resamples 0 does without"},
		{at("no.parquet") + " --selection SEL", exit.Data, "no.parquet"},
		{path + " --selection SEL --label label -o " + path, exit.Usage, "names no format"},
		{path + " --selection SEL --label label --format json -o " + path, exit.Usage, "replace the input"},
		{path + " --selection SEL --label label -o SEL", exit.Usage, "replace the input"},
		{path + " --selection SEL --label label -o " + at("no/e.json"), exit.Fault, "create the folder"},
	} {
		ends(t, c.code, c.says, strings.Fields("eval "+strings.ReplaceAll(c.args, "SEL", sel))...)
	}
}

// TestEvalHostile: values that overflow are reported; constants and duplicates are judged.
func TestEvalHostile(t *testing.T) {
	at := folder(t)
	_, columns, class := grouped(60)
	huge, late := slices.Clone(columns[0]), make([]float64, 60)
	for i := range huge {
		huge[i] *= 1e152
	}
	late[59] = 1 // constant in most samples
	names := []string{"<script>", "a\"b", "same", "late", "label"}
	path := columnsFile(t, at("t.parquet"), names, columns[0], columns[1], columns[1], late, class)
	sel := at("s.json")
	must(t, "select", path, "--label", "label", "--method", "random", "-k", "4", "-o", sel)
	e := evaluated(t, quick(path, "--selection", sel, "--label", "label", "--sample", "40")...)
	if r := e.Results[1]; r.Reconstruction != 0 || !(r.Redundancy > 0 && r.Redundancy <= 1) {
		t.Errorf("result: got %+v, want error 0 and a redundancy in (0, 1]", r)
	}
	path = columnsFile(t, at("h.parquet"), names, huge, huge, columns[1], late, class)
	must(t, quick("eval", path, "--selection", sel, "--label", "label", "--scale", "standard")...)
	for i := range huge {
		huge[i] *= 1e20
	}
	path = columnsFile(t, at("h2.parquet"), names, huge, huge, columns[1], late, class)
	ends(t, exit.Data, "--scale standard", quick("eval", path, "--selection", sel, "--label", "label")...)
}

// TestEvalInterrupted: an interruption leaves no output.
func TestEvalInterrupted(t *testing.T) {
	path, sel := labelled(t, 150)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "e.json")
	if r := invokeWith(ctx, nil, "eval", path, "--selection", sel, "--label", "label", "-o", out); r.code != exit.Interrupted {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an output file is left")
	}
}

// TestEvalReal: the greedy selection of COIL20 beats random features, and basehock
// gives the same from sparse and dense rows.
func TestEvalReal(t *testing.T) {
	path := fixtures.DatasetPath(t, "coil20.parquet")
	sel := filepath.Join(t.TempDir(), "s.json")
	must(t, "select", path, "--label", "label", "--method", "greedy", "--scale", "none", "-k", "41", "-o", sel)
	e := evaluated(t, path, "--selection", sel, "--label", "label", "--runs", "5", "--restarts", "3", "--baselines", "random,variance")
	if r := e.Results[0]; e.Clusters != 20 || r.NMISqrt.Mean < 0.72 || r.NMISqrt.Mean > 0.82 || !*r.Best || *e.Results[2].Best {
		t.Errorf("%d clusters, NMI %v, best %v", e.Clusters, *r.NMISqrt, *r.Best)
	}
	if s := readSelection(t, sel); math.Abs(float64(s.Selected[40].Error-e.Results[0].Reconstruction)) > 1e-9 {
		t.Errorf("error %v, the selection has %v", e.Results[0].Reconstruction, s.Selected[40].Error)
	}
	var results []string
	for _, args := range [][]string{{fixtures.DatasetPath(t, "basehock_sparse.parquet"), "--sparse", "indices,values"}, {fixtures.DatasetPath(t, "basehock.parquet")}} {
		must(t, append([]string{"select", "--label", "label", "--method", "variance", "-k", "30", "-o", sel}, args...)...)
		r := evaluated(t, args[0], "--selection", sel, "--label", "label", "--spherical", "--runs", "2", "--restarts", "1", "--baselines", "none").Results[0]
		results = append(results, marshal(t, r))
	}
	if results[0] != results[1] {
		t.Errorf("sparse %s\ndense  %s", results[0], results[1])
	}
}
