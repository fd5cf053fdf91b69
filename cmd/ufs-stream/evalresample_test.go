package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// edited writes a copy of the selection at path after change has changed its JSON.
func edited(t *testing.T, path string, change func(sel, options map[string]any)) string {
	t.Helper()
	var sel map[string]any
	if err := json.Unmarshal([]byte(read(t, path)), &sel); err != nil {
		t.Fatalf("decoding the selection file: %v", err)
	}
	change(sel, sel["options"].(map[string]any))
	return write(t, filepath.Join(t.TempDir(), "edited.json"), marshal(t, sel))
}

// TestEvalRecordedNumbers: whole numbers that a selection records, which JSON reads as
// floats, become the flag's whole numbers again, however large.
func TestEvalRecordedNumbers(t *testing.T) {
	path, _ := labelled(t, 120)
	sel := filepath.Join(t.TempDir(), "s.json")
	must(t, "select", path, "--exclude", "label", "--method", "sfufs", "--max-iter", "1000000", "--tol", "1e-7", "-k", "3", "-o", sel)
	if e := evaluated(t, path, "--selection", sel, "--resamples", "2"); e.Results[1].Stability == nil {
		t.Errorf("result of 2 resamples: got %+v, want a stability", e.Results[1])
	}
}

// TestEvalTrustsNoFile: options in a selection's file cannot make eval write a file, and
// options that cannot be right are an error of data.
func TestEvalTrustsNoFile(t *testing.T) {
	path, sel := labelled(t, 60)
	dir := filepath.Join(t.TempDir(), "made")
	hostile := edited(t, sel, func(_, options map[string]any) {
		options["checkpoint"], options["temp-dir"], options["stats"] = dir, dir, path
	})
	must(t, "eval", path, "--selection", hostile, "--label", "label", "--resamples", "2", "--runs", "1", "--restarts", "1")
	if _, err := os.Stat(dir); err == nil {
		t.Error("the selection's --checkpoint was made")
	}
	for _, flag := range []string{"missing", "scale"} {
		bad := edited(t, sel, func(_, options map[string]any) { options[flag] = "bogus" })
		ends(t, exit.Data, "", "eval", path, "--selection", bad, "--label", "label")
	}
}

// TestEvalGoesOn: an interrupted eval names its checkpoint, the same command goes on from there and
// says the same, and nothing is left of it.
func TestEvalGoesOn(t *testing.T) {
	path, sel := labelled(t, 60)
	at := t.TempDir()
	state := filepath.Join(at, "state")
	args := []string{"eval", path, "--selection", sel, "--resamples", "4", "--format", "csv"}
	want := must(t, args...)
	args = append(args, "--checkpoint", state, "--checkpoint-every", "1ns")
	interruptMidway(t, 10, 3, args...)
	r := invoke(args...)
	if r.code != exit.Done || r.out != want || !strings.Contains(r.err, "continuing from "+state) {
		t.Errorf("exit code %d, said %s\n%s\nuninterrupted\n%s", r.code, r.err, r.out, want)
	}
	if left, err := os.ReadDir(state); err == nil && len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestEvalStabilityCountsAllFeatures: the correction for chance uses the number of all
// features, also for a selection that does not list them.
func TestEvalStabilityCountsAllFeatures(t *testing.T) {
	path, sel := labelled(t, 60)
	bare := edited(t, sel, func(sel, _ map[string]any) { delete(sel, "columns"); delete(sel, "scores") })
	args := []string{path, "--label", "label", "--baselines", "none", "--runs", "1", "--restarts", "1", "--resamples", "3", "--selection"}
	a, b := evaluated(t, append(args, sel)...).Results[0].Stability, evaluated(t, append(args, bare)...).Results[0].Stability
	if *a != *b {
		t.Errorf("%+v with the features listed, %+v without", *a, *b)
	}
}

// TestEvalBaselineTwice: naming a baseline twice changes nothing.
func TestEvalBaselineTwice(t *testing.T) {
	path, sel := labelled(t, 60)
	args := append(quick(path, "--selection", sel, "--label", "label"), "--baselines")
	if a, b := bits(t, evaluated(t, append(args, "all,random")...)), bits(t, evaluated(t, append(args, "all,random,all,random")...)); a != b {
		t.Errorf("once  %s\ntwice %s", a, b)
	}
}

// TestEvalRanks: the ranks, not the order in the file, say which features come first. Ranks
// or columns that contradict each other are an error of data.
func TestEvalRanks(t *testing.T) {
	path, sel := labelled(t, 60)
	turned := edited(t, sel, func(sel, _ map[string]any) { slices.Reverse(sel["selected"].([]any)) })
	args := append(quick(path, "--label", "label", "-k", "2"), "--selection")
	want, got := evaluated(t, append(args, sel)...), evaluated(t, append(args, turned)...)
	if a, b := means(&want.Results[1]), means(&got.Results[1]); !slices.Equal(a, b) {
		t.Errorf("turned round: %v, want %v", b, a)
	}
	for what, change := range map[string]func(sel map[string]any){
		"ranks": func(sel map[string]any) { sel["selected"].([]any)[1].(map[string]any)["rank"] = 1 },
		"twice": func(sel map[string]any) {
			list := sel["columns"].([]any)
			sel["columns"] = append(list, list[0])
		},
	} {
		bad := edited(t, sel, func(sel, _ map[string]any) { change(sel) })
		ends(t, exit.Data, what, "eval", path, "--selection", bad, "--resamples", "2")
	}
}
