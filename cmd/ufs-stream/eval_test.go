package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// grouped makes n rows of three groups with 12 features. a0 … a3 tell the groups apart;
// b0 … b7 do not, though they vary more. class has the groups, 0 to 2.
func grouped(n int) (names []string, columns [][]float64, class []float64) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		class = append(class, float64(i%3))
	}
	for j := range 12 {
		col := make([]float64, n)
		for i := range col {
			if j < 4 {
				col[i] = float64((i+j)%3) + 0.2*random.NormFloat64()
			} else {
				col[i] = 4 * random.NormFloat64()
			}
		}
		name := fmt.Sprintf("a%d", j)
		if j >= 4 {
			name = fmt.Sprintf("b%d", j-4)
		}
		names, columns = append(names, name), append(columns, col)
	}
	return names, columns, class
}

// labelled writes grouped rows to a file with a column label, and selects 6 features.
func labelled(t *testing.T, n int) (path, sel string) {
	t.Helper()
	dir := t.TempDir()
	names, columns, class := grouped(n)
	src := memory{rows: n, data: slices.Concat(columns...)}
	for _, name := range names {
		src.columns = append(src.columns, stream.Column{Name: name, Type: "double"})
	}
	path, sel = filepath.Join(dir, "g.parquet"), filepath.Join(dir, "sel.json")
	writeSource(t, path, src, chunkio.WriteOptions{RowGroupRows: 50, Label: func(p int64) int32 { return int32(class[p]) }})
	must(t, "select", path, "--label", "label", "-k", "6", "-o", sel)
	return path, sel
}

// evaluated runs eval with JSON output.
func evaluated(t *testing.T, args ...string) *stream.Evaluation {
	t.Helper()
	return decoded[stream.Evaluation](t, "eval", args...)
}

// bits is e as JSON, without what differs from run to run.
func bits(t *testing.T, e *stream.Evaluation) string {
	t.Helper()
	e.Timing, e.Memory = stream.Timing{}, stream.Memory{}
	return marshal(t, e)
}

// quick adds the flags of a protocol that takes no time.
func quick(args ...string) []string { return append(args, "--runs", "3", "--restarts", "2") }

// TestEvalJSON checks the contract of the JSON: its names, scores as shares of 1, and the
// settings that led to them.
func TestEvalJSON(t *testing.T) {
	path, sel := labelled(t, 150)
	raw := *decoded[map[string]any](t, "eval", path, "--selection", sel, "--label", "label", "-k", "2,6")
	for key, want := range map[string]any{
		"schema": "ufs-stream/eval/v1", "protocol": "greedy", "runs": 20.0, "restarts": 10.0, "clusters": 3.0, "label": "label",
		"scale": "none", "reconstruction_scale": "pareto", "seed": 1.0, "rows": 150.0, "rows_used": 150.0, "sampled": false, "features": 12.0,
	} {
		if raw[key] != want {
			t.Errorf("%s is %v, want %v", key, raw[key], want)
		}
	}
	for _, key := range []string{"classes", "warnings", "timing", "memory", "inputs"} {
		if raw[key] == nil {
			t.Errorf("no %s", key)
		}
	}
	var order []string
	for _, r := range raw["results"].([]any) {
		r := r.(map[string]any)
		order = append(order, fmt.Sprintf("%v %v", r["name"], r["k"]))
		for _, score := range []string{"acc", "nmi_sqrt", "nmi_max", "purity", "ari"} {
			s, ok := r[score].(map[string]any)
			if mean, _ := s["mean"].(float64); !ok || !(mean >= -1 && mean <= 1) || !(s["std"].(float64) >= 0) {
				t.Errorf("%v: %s is %v", r["name"], score, r[score])
			}
		}
		if _, compared := r["p_nmi"].(float64); compared != (r["name"] != "all") {
			t.Errorf("%v: p_nmi is %v", r["name"], r["p_nmi"])
		}
	}
	want := []string{"all 12", "selection 2", "random 2", "variance 2", "selection 6", "random 6", "variance 6"}
	if !slices.Equal(order, want) {
		t.Errorf("results %q, want %q", order, want)
	}
	e := evaluated(t, path, "--selection", sel, "--label", "label", "--protocol", "sfufs", "--spherical")
	if drawn := evaluated(t, path, "--selection", sel, "--label", "label", "--protocol", "sfufs", "--spherical", "--starts", "random"); e.Starts != "plusplus" || drawn.Starts != "random" || *drawn.Results[1].NMISqrt == *e.Results[1].NMISqrt {
		t.Errorf("starts %s: NMI %v; starts %s: NMI %v", e.Starts, *e.Results[1].NMISqrt, drawn.Starts, *drawn.Results[1].NMISqrt)
	}
	if e.Runs != 30 || e.Restarts != 1 || e.Protocol != "sfufs" || !e.Spherical || e.Results[1].K != 6 {
		t.Errorf("protocol sfufs: %d runs of %d, k = %d", e.Runs, e.Restarts, e.Results[1].K)
	}
}

// TestEvalErrorIsSelects: on the same rows and scale, eval finds the reconstruction error
// that select reports, for any scale and prefix.
func TestEvalErrorIsSelects(t *testing.T) {
	path, _ := labelled(t, 150)
	sel := filepath.Join(t.TempDir(), "s.json")
	for _, scale := range []string{"none", "center", "minmax", "unit", "standard", "pareto"} {
		must(t, "select", path, "--label", "label", "--method", "greedy", "--scale", scale, "-k", "12", "-o", sel)
		s := readSelection(t, sel)
		e := evaluated(t, path, "--selection", sel, "--label", "label", "--runs", "1", "--restarts", "1", "-k", "1,5,11,12", "--baselines", "variance")
		for _, r := range e.Results {
			// Both subtract 12 squares from sums of 150 squares, each at most 1.
			if want := s.Selected[r.K-1].Error; r.Name == "selection" && math.Abs(float64(r.Reconstruction-want)) > 1e-13 {
				t.Errorf("scale %s, k = %d: error %v, the selection has %v", scale, r.K, r.Reconstruction, want)
			}
		}
	}
}

// TestEvalLaws: threads change no bit. A list of k gives the results of a run for each k.
// A selection of all features has the scores of all features.
func TestEvalLaws(t *testing.T) {
	path, sel := labelled(t, 150)
	args := quick(path, "--selection", sel, "--label", "label", "--resamples", "3")
	both := evaluated(t, append(args, "-k", "2,5", "--threads", "1")...)
	if a, b := bits(t, both), bits(t, evaluated(t, append(args, "-k", "2,5", "--threads", "8")...)); a != b {
		t.Errorf("8 threads give\n%s\n1 gives\n%s", b, a)
	}
	for _, k := range []string{"2", "5"} {
		for _, r := range evaluated(t, append(args, "-k", k)...).Results {
			at := slices.IndexFunc(both.Results, func(o stream.Evaluated) bool { return o.Name == r.Name && o.K == r.K })
			if a, b := marshal(t, r), marshal(t, both.Results[at]); a != b {
				t.Errorf("-k %s, %s: %s, in a list %s", k, r.Name, a, b)
			}
		}
	}
	must(t, "select", path, "--label", "label", "--method", "random", "-k", "12", "-o", sel)
	e := evaluated(t, quick(path, "--selection", sel, "--label", "label")...)
	for i, v := range means(&e.Results[1]) {
		// The columns are in another order, so distances are rounded differently.
		if all := means(&e.Results[0])[i]; math.Abs(v-all) > 1e-9 {
			t.Errorf("all features selected: %v, all: %v", v, all)
		}
	}
	if e.Results[1].Reconstruction != 0 {
		t.Errorf("all features leave %v", e.Results[1].Reconstruction)
	}
}

// TestEvalClassify: classifiers are accurate on columns that tell the groups apart, and no better than chance on noise.
// Threads change no bit, equal features have equal accuracies, and other results do not change.
func TestEvalClassify(t *testing.T) {
	path, sel := labelled(t, 153)
	dir := t.TempDir()
	good, noise := filepath.Join(dir, "good.json"), filepath.Join(dir, "noise.json")
	must(t, "select", path, "--columns", "a*", "-k", "3", "-o", good)
	must(t, "select", path, "--columns", "b*", "--method", "variance", "-k", "5", "-o", noise)
	args := quick(path, "--selection", good, "--selection", noise, "--selection", "twin="+good, "--label", "label")
	without := evaluated(t, args...)
	args = append(args, "--classify", "ridge,knn", "--folds", "4")
	e := evaluated(t, append(args, "--threads", "1")...)
	if a, b := bits(t, e), bits(t, evaluated(t, append(args, "--threads", "8")...)); a != b {
		t.Errorf("8 threads give\n%s\n1 gives\n%s", b, a)
	}
	if e.Folds != 4 || without.Folds != 0 {
		t.Errorf("%d folds, without classifiers %d; want 4, 0", e.Folds, without.Folds)
	}
	results := map[string]stream.Evaluated{}
	for i := range e.Results {
		r := &e.Results[i]
		results[r.Name] = *r
		for _, s := range r.ClassifierScores() {
			if s.Spread == nil || !(s.Mean >= 0 && s.Mean <= 1 && s.Std >= 0) {
				t.Errorf("%s of %s: %v, want an accuracy", s.Field, r.Name, s.Spread)
			}
		}
		r.KNN, r.Ridge = nil, nil
		if a, b := marshal(t, r), marshal(t, without.Results[i]); a != b {
			t.Errorf("with classifiers %s, without %s", a, b)
		}
	}
	for _, c := range []struct {
		name        string
		least, most float64
	}{{"good", 0.98, 1}, {"twin", 0.98, 1}, {"noise", 0.2, 0.5}} {
		r := results[c.name]
		for _, s := range r.ClassifierScores() {
			if v := float64(s.Mean); v < c.least || v > c.most {
				t.Errorf("%s: %s %v, want %v to %v", c.name, s.Field, v, c.least, c.most)
			}
		}
	}
	if a, b := results["good"], results["twin"]; *a.KNN != *b.KNN || *a.Ridge != *b.Ridge {
		t.Errorf("one selection twice: kNN %v and %v, ridge %v and %v", a.KNN, b.KNN, a.Ridge, b.Ridge)
	}
	must(t, "select", path, "--label", "label", "--method", "random", "-k", "12", "-o", sel)
	e = evaluated(t, quick(path, "--selection", sel, "--label", "label", "--classify", "knn")...)
	if all, chosen := e.Results[0], e.Results[1]; *all.KNN != *chosen.KNN || all.Ridge != nil {
		t.Errorf("all features: kNN %v, selected one by one %v; ridge %v, want none", all.KNN, chosen.KNN, all.Ridge)
	}
	for format, wants := range map[string][]string{
		"table": {"classifiers: accuracy in the same 5 stratified folds for all", " kNN\n", "100.0 ±  0.0\n"},
		"csv":   {",knn_mean,knn_std,ridge_mean,ridge_std\n", ",1,0,,\n"},
	} {
		out := must(t, quick("eval", path, "--selection", good, "--label", "label", "--classify", "knn", "--format", format)...)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
}

// means lists the means of the scores.
func means(r *stream.Evaluated) (v []float64) {
	for _, s := range r.ClusterScores() {
		v = append(v, float64(s.Mean))
	}
	return v
}

// TestEvalComparison: several selections appear under their names, and only a selection that
// finds the groups is marked as the best.
func TestEvalComparison(t *testing.T) {
	path, _ := labelled(t, 150)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json")
	must(t, "select", path, "--columns", "a*", "-k", "3", "-o", good)
	must(t, "select", path, "--columns", "b*", "--method", "variance", "-k", "5", "-o", bad)
	e := evaluated(t, quick(path, "--selection", good, "--selection", "noise="+bad, "--label", "label")...)
	best := map[string]bool{}
	for _, r := range e.Results[1:] {
		if r.K != 3 {
			t.Errorf("k = %d, want that of the shorter selection", r.K)
		}
		best[r.Name] = *r.Best
	}
	if want := map[string]bool{"good": true, "noise": false, "random": false, "variance": false}; fmt.Sprint(best) != fmt.Sprint(want) {
		t.Errorf("best: %v, want %v", best, want)
	}
	if e.Features != 12 || !strings.Contains(strings.Join(e.Warnings, "\n"), "different features") {
		t.Errorf("%d features, warnings %q", e.Features, e.Warnings)
	}
}

// TestEvalTable: the table shows what people read.
func TestEvalTable(t *testing.T) {
	path, _ := labelled(t, 300)
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, "select", path, "--columns", "a*", "--method", "greedy", "--scale", "none", "-k", "3", "-o", sel)
	out := must(t, "eval", path, "--selection", sel, "--label", "label", "-k", "2,3", "--sample", "200", "--baselines", "all,variance")
	for _, want := range []string{
		"judged by 200 of 300 rows, a seeded sample (--sample); 3 classes of label\n",
		"protocol greedy: 20 runs, each the best of 10 restarts; k-means, 3 clusters, values as in the file; seed 1\n",
		"in per cent, mean ± standard deviation of the runs\n",
		"reconstruction error in scale none\n",
		"   k = 2 ", "   k = 3 ", " ACC ", "NMI sqrt", "NMI max", "purity", "ARI",
		"*  selection (greedy)  100.0 ±  0.0  100.0 ±  0.0", "   all 4 features      100.0 ±  0.0",
		"not significantly worse (Welch's t-test at 5 %)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "NaN") {
		t.Errorf("NaN in\n%s", out)
	}
}

// TestEvalCSV: the CSV has one line for each result, in full precision.
func TestEvalCSV(t *testing.T) {
	path, sel := labelled(t, 150)
	args := quick(path, "--selection", sel, "--label", "label", "-k", "2,6")
	lines, err := csv.NewReader(strings.NewReader(must(t, append([]string{"eval", "--format", "csv"}, args...)...))).ReadAll()
	if err != nil {
		t.Fatalf("reading the CSV: %v", err)
	}
	e := evaluated(t, args...)
	if len(lines) != 1+len(e.Results) || strings.Join(lines[0][:5], ",") != "name,method,k,acc_mean,acc_std" {
		t.Fatalf("%d lines, head %v", len(lines), lines[0])
	}
	for i, r := range e.Results {
		if got := lines[i+1]; got[0] != r.Name || got[2] != fmt.Sprint(r.K) || got[5] != decimal(r.NMISqrt.Mean) || got[17] != decimal(r.Redundancy) {
			t.Errorf("line %v of %+v", got, r)
		}
	}
}

// TestEvalWithoutLabel: without a label there are only error, redundancy and stability.
func TestEvalWithoutLabel(t *testing.T) {
	path, _ := labelled(t, 300)
	sel := filepath.Join(t.TempDir(), "sel.json")
	for _, method := range []string{"greedy", "partgreedy", "variance", "random", "laplacian", "sfufs", "mcfs", "graphgreedy", "align"} {
		must(t, "select", path, "--exclude", "label", "--method", method, "-k", "4", "-o", sel)
		args := []string{path, "--selection", sel, "-k", "2,4"}
		if out := must(t, append([]string{"eval", "--format", "json"}, args...)...); strings.Contains(out, "nmi") || strings.Contains(out, "clusters") || strings.Contains(out, "protocol") {
			t.Errorf("%s: k-means without classes:\n%s", method, out)
		}
		for _, r := range evaluated(t, args...).Results {
			if !(r.Reconstruction >= 0 && r.Reconstruction <= 1) || !(r.Redundancy >= 0 && r.Redundancy <= 1) {
				t.Errorf("%s: got %+v, want an error and a redundancy in [0, 1]", method, r)
			}
			if (r.Stability != nil) != (r.Name == "selection") {
				t.Errorf("%s: %s has stability %v", method, r.Name, r.Stability)
			}
			if s := r.Stability; s != nil && (s.Resamples != 5 || !(s.Jaccard >= 0 && s.Jaccard <= 1) || !(s.Nogueira <= 1)) {
				t.Errorf("%s: stability %+v", method, s)
			}
		}
	}
	// The eight columns of large variance are chosen from any half of the rows.
	must(t, "select", path, "--exclude", "label", "--method", "variance", "-k", "8", "-o", sel)
	e := evaluated(t, path, "--selection", sel)
	if s := e.Results[1].Stability; s.Jaccard != 1 || s.Nogueira != 1 {
		t.Errorf("the same selection every time: %+v", s)
	}
	if out := must(t, "eval", path, "--selection", sel); !strings.Contains(out, "stability") || strings.Contains(out, "NMI") {
		t.Errorf("table:\n%s", out)
	}
}

// TestEvalRows: rows without a class take no part, missing values go by the selection's
// policy or the flag's, and a class may be of any type.
func TestEvalRows(t *testing.T) {
	dir := t.TempDir()
	names, columns, class := grouped(90)
	for i := range class {
		if class[i] /= 2; i%10 == 3 {
			class[i] = nan
		}
	}
	columns[5][4] = nan
	path := columnsFile(t, filepath.Join(dir, "t.parquet"), append(names, "kind"), append(columns, class)...)
	sel := filepath.Join(dir, "s.json")
	must(t, "select", path, "--label", "kind", "--missing", "mean", "-k", "4", "-o", sel)
	e := evaluated(t, quick(path, "--selection", sel, "--label", "kind")...)
	if e.Rows != 90 || e.RowsUsed != 81 || e.Unlabelled != 9 || e.Missing != "mean" || len(e.Classes) != 3 || e.Clusters != 3 {
		t.Errorf("%d of %d rows, %d without label, missing %s, classes %v", e.RowsUsed, e.Rows, e.Unlabelled, e.Missing, e.Classes)
	}
	if out := must(t, quick("eval", path, "--selection", sel, "--label", "kind")...); !strings.Contains(out, "81 of 90 rows (9 without a label left out)") {
		t.Errorf("table:\n%s", out)
	}
	if e := evaluated(t, quick(path, "--selection", sel, "--label", "kind", "--missing", "drop-row")...); e.RowsUsed != 80 {
		t.Errorf("drop-row: %d rows", e.RowsUsed)
	}
	ends(t, exit.Data, "b1", quick("eval", path, "--selection", sel, "--label", "kind", "--missing", "error")...)
}

// TestEvalStream: of standard input the judgement is that of the file, with samples and selections from
// those too.
func TestEvalStream(t *testing.T) {
	_, columns, class := grouped(60)
	columns = [][]float64{columns[0], columns[1], columns[4], columns[5], class}
	in := arrowStream(t, columns...) // c0 … c4
	at := folder(t)
	path := columnsFile(t, at("t.parquet"), []string{"c0", "c1", "c2", "c3", "c4"}, columns...)
	sel := at("s.json")
	must(t, "select", path, "--label", "c4", "-k", "2", "-o", sel)
	args := quick("eval", "-", "--selection", sel, "--label", "c4", "--format", "json")
	if r := invokeWith(t.Context(), in, args...); r.code != exit.Done {
		t.Errorf("all rows in one pass: exit code %d: %s", r.code, r.err)
	}
	for _, flag := range []string{"--resamples=3", "--sample=10"} {
		if r := invokeWith(t.Context(), in, append(args, flag)...); r.code != exit.Usage || !strings.Contains(r.err, "--temp-dir") {
			t.Errorf("%s without a folder: exit code %d: %s", flag, r.code, r.err)
		}
	}
	for _, flag := range []string{"--sample=0", "--sample=30", "--resamples=3"} {
		r := invokeWith(t.Context(), in, append(args, flag, "--temp-dir", t.TempDir())...)
		var got stream.Evaluation
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatalf("%s: %v: exit code %d: %s", flag, err, r.code, r.err)
		}
		want := evaluated(t, quick(path, "--selection", sel, "--label", "c4", flag)...)
		if a, b := marshal(t, got.Results), marshal(t, want.Results); a != b {
			t.Errorf("%s: from a stream %s, from a file %s", flag, a, b)
		}
	}
}

// TestEvalTies: a selection whose scores are all equal is judged with a warning, and so is such a setting of a path.
func TestEvalTies(t *testing.T) {
	in, _ := plant(t, 200, 1)
	dir := t.TempDir()
	zero, fine, grid := filepath.Join(dir, "zero.json"), filepath.Join(dir, "fine.json"), filepath.Join(dir, "grid.json")
	flags := []string{in, "--method", "eufs", "--clusters", "3", "-k", "4", "--max-iter", "3"}
	must(t, append([]string{"select", "-o", zero, "--mu", "1e-9"}, flags...)...)
	must(t, append([]string{"select", "-o", fine}, flags...)...)
	must(t, append([]string{"path", "-o", grid, "--mu", "1e-9", "--alpha", "0.1x,0.2x"}, flags...)...)
	for file, want := range map[string]int{zero: 1, fine: 0, grid: 2} {
		if r := invoke("eval", in, "--selection", file, "--baselines", "none"); r.code != 0 || strings.Count(r.err, "have equal scores") != want {
			t.Errorf("%s: exit code %d, want %d warnings of equal scores:\n%s", filepath.Base(file), r.code, want, r.err)
		}
	}
}
