package quality

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// preparedTable is a made table with this number of rows and missing values, scored by at most 200 of them.
func preparedTable(t *testing.T, rows string) (*options, preparedSet) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.parquet")
	must.Do(t, bench.Generate(t.Context(), []string{"gen", "planted", "-q", "-o", path, "--rows", rows, "--columns", "40", "--label", "--nulls", "0.02"}))
	o := &options{seed: 3, seeds: 4, rows: 1000, evalRows: 200, timeout: time.Minute, memory: 2 << 30, threads: 2}
	s := preparedSet{dataset: dataset{name: "a", path: path}}
	must.Do(t, o.inspectSet(t.Context(), &s.dataset))
	s.scoring = must.Get(o.readScoringRows(t.Context(), s.dataset))(t)
	return o, s
}

// TestJudgeIsEval: scores as in the file and standardized, and the error, equal those of ufs.Eval.
func TestJudgeIsEval(t *testing.T) {
	for _, rows := range []string{"150", "400"} {
		o, s := preparedTable(t, rows)
		r := &run{options: o, scratch: t.TempDir()}
		v := variant{name: "greedy", method: "greedy"}
		choices := []choiceMade{{K: 2}, {K: 2}, {K: 5}}
		must.Do(t, r.findGroupChoices(t.Context(), s, v, choices))
		sel := must.Get(r.selectFeatures(t.Context(), s.dataset, v, s.path, 5))(t)
		evaluate := func(label, scale string) []stream.Evaluated {
			e := ufs.EvalRequest{Input: ufs.Input{Paths: []string{s.path}}, Label: label, Scale: scale, Selections: []ufs.NamedSelection{{Name: "greedy", Selection: sel}}, K: []int{2, 5}, Missing: missingPolicy, Sample: o.evalRows, Baselines: []string{"none"}, Resamples: -1, Seed: o.seed, Limits: ufs.Limits{Threads: 1}}
			if label != "" {
				e.Runs, e.Restarts = o.seeds, 1
			}
			return must.Get(ufs.Eval(t.Context(), e))(t).Results
		}
		file, standard, whole := evaluate(s.label, ""), evaluate(s.label, "standard"), evaluate("", "")
		for i, at := range []int{0, 0, 1} {
			c := choices[i]
			if *c.NMI != *file[at].NMISqrt || *c.ACC != *file[at].ACC || *c.Standard.NMI != *standard[at].NMISqrt || *c.Standard.ACC != *standard[at].ACC {
				t.Errorf("%s rows, %d features: NMI and ACC %v %v, standardized %v %v; eval has %v %v, %v %v", rows, c.K,
					*c.NMI, *c.ACC, *c.Standard.NMI, *c.Standard.ACC, *file[at].NMISqrt, *file[at].ACC, *standard[at].NMISqrt, *standard[at].ACC)
			}
			if math.Abs(float64(c.Error-whole[at].Reconstruction)) > 1e-12 || c.Ran != "greedy, standard" {
				t.Errorf("%s rows, %d features: error %v of %s, eval has %v", rows, c.K, c.Error, c.Ran, whole[at].Reconstruction)
			}
		}
	}
}

// TestJudgeBaselines: all features explain everything; random ones are others in every run, and the
// smaller number is the beginning of the larger.
func TestJudgeBaselines(t *testing.T) {
	o, s := preparedTable(t, "300")
	r := &run{options: o}
	choices := []choiceMade{{K: 2}, {K: 20}}
	must.Do(t, r.findGroupChoices(t.Context(), s, variant{baseline: judge.All}, choices))
	if a, b := choices[0], choices[1]; a.Error != 0 || b.Error != 0 || a.Chosen != len(s.scoring.varying) || *a.NMI != *b.NMI || a.Covered != nil {
		t.Errorf("all features are judged as %+v and %+v", a, b)
	}
	if n := len(s.scoring.varying); n != 38 { // of 40, of which 2 are constant
		t.Errorf("%d columns can be features, want 38", n)
	}
	must.Do(t, r.findGroupChoices(t.Context(), s, variant{baseline: judge.Random}, choices))
	if a, b := choices[0], choices[1]; !(b.Error < a.Error && b.Error > 0 && a.Error < 1) || a.NMI.Std == 0 || a.Ran != "" {
		t.Errorf("random features are judged as %+v and %+v", a, b)
	}
	orders := s.scoring.columnOrders(o, variant{baseline: judge.Random}, nil)
	for i, order := range orders {
		sorted := slices.Sorted(slices.Values(order))
		if !slices.Equal(sorted, s.scoring.varying) || i > 0 && slices.Equal(order, orders[0]) {
			t.Errorf("run %d takes %v, the first %v", i, order, orders[0])
		}
	}
}

// TestDivideRows: rows get length 1 and keep their direction; rows of zeros stay.
func TestDivideRows(t *testing.T) {
	x := normalizeRows(kernel.ColMajor([]float64{3, 0, -1e200, 4, 0, 0}, 3, 2, 3))
	if want := []float64{0.6, 0, -1, 0.8, 0, 0}; !slices.EqualFunc(x.Data, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("rows divided by their lengths are %v, want %v", x.Data, want)
	}
}

// TestVariantsRun: every variant chooses by the method, the scale and the options in its name, on
// columns of several units too; and a selection by another one is refused.
func TestVariantsRun(t *testing.T) {
	_, s := preparedTable(t, "120")
	o := &options{seed: 1, rows: 1000, timeout: time.Minute, memory: 2 << 30, threads: 2}
	r := &run{options: o, scratch: t.TempDir()}
	probe := must.Get(probeKind().writeSet(t.Context(), r.scratch))(t)
	must.Do(t, o.inspectSet(t.Context(), &probe))
	for _, v := range knownVariants() {
		if v.baseline != "" {
			continue
		}
		sets := []dataset{probe, s.dataset}
		if v.method == "cpufs" || v.method == "cpufsnn" { // which want pixels
			sets = sets[:1]
		}
		for _, set := range sets[:long.CountCases(1, len(sets))] {
			sel, err := r.selectFeatures(t.Context(), set, v, set.path, 4)
			if slices.Contains([]string{"seurat", "seurat_v3", "cell_ranger"}, v.method) { // these sets have negative values
				if err == nil || !strings.Contains(err.Error(), "takes counts") {
					t.Errorf("%s on %s: error %v, want a refusal of values that are no counts", v.name, set.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s on %s: %v", v.name, set.name, err)
				continue
			}
			for option, want := range v.settings {
				if got := sel.Options[option]; got != want && want != "auto" { // which ends as a number
					t.Errorf("%s on %s ran with %s %v, want %v", v.name, set.name, option, got, want)
				}
			}
			other := variant{name: "other", method: "variance", settings: method.Settings{}}
			if err := other.checkSelection(sel); (err == nil) != (sel.Method == "variance") {
				t.Errorf("%s in the place of variance: %v", sel.Method, err)
			}
		}
	}
	sel := &stream.Selection{Method: "align", Options: map[string]any{"scale": "pareto"}}
	for v, want := range map[string]bool{"": true, "pareto": true, "none": false} {
		if err := (variant{name: "align:" + v, method: "align", scale: v}).checkSelection(sel); (err == nil) != want {
			t.Errorf("align at pareto for scale %q: %v", v, err)
		}
	}
}
