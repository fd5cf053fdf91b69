package quality

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

// TestTuneByLabels: labels choose the best of all settings, the results have it beside random features and the default,
// and the same command again runs nothing.
func TestTuneByLabels(t *testing.T) {
	long.SkipTest(t)
	shop := must.Get(benchtest.BuildOnce())(t)
	dir, out := smallSets(t), filepath.Join(t.TempDir(), "q")
	args := fewFlags(dir, out, "--halves", "0", "--methods", "greedy,sfufs:alpha=1..10,clusters=3,fufs", "--tune", "labels", "--binary", shop.Program)
	code, _, said := bench.Run(t.Context(), args...)
	if code != exit.Done || strings.Count(said, "grid 1 of 1") != 4 {
		t.Fatalf("exit %d, want 4 grids: %s", code, said)
	}
	var got struct {
		Tuned []tunedRecord `json:"tuned_by_labels"`
	}
	must.Do(t, json.Unmarshal([]byte(benchtest.ReadText(t, out+".json")), &got))
	var names []string
	for _, x := range got.Tuned {
		names = append(names, x.Variant+" "+x.Set)
		settings := map[string]int{"fufs": 7, "sfufs:alpha=1..10,clusters=3": 2}[x.Variant] // decades from 1e-3 to 1e3
		if x.Refusal != "" || x.Settings < 1 || x.Settings > settings || x.K < 2 || x.K > 8 || !strings.Contains(x.Setting, "--") {
			t.Errorf("%+v: want a setting of at most %d", x, settings)
		}
		for _, nmi := range []float64{float64(x.Chosen), float64(x.Again), float64(x.Random), float64(x.Default)} {
			if !(nmi >= 0 && nmi <= 1) {
				t.Errorf("%s on %s: NMI %v", x.Variant, x.Set, nmi)
			}
		}
	}
	slices.Sort(names)
	if want := []string{"fufs one", "fufs two", "sfufs:alpha=1..10,clusters=3 one", "sfufs:alpha=1..10,clusters=3 two"}; !slices.Equal(names, want) {
		t.Errorf("tuned are %q, want %q", names, want)
	}
	summary := benchtest.ReadText(t, out+".md")
	_, tuned, ok := strings.Cut(summary, "## Tuned by the labels")
	if !ok || !strings.Contains(tuned, "| fufs | 2 | ") || !strings.Contains(tuned, "| fufs | one | `--gamma ") {
		t.Errorf("the summary lacks the tuned variants:\n%s", tuned)
	}
	benchtest.CheckTables(t, summary)
	benchtest.CheckNoScratch(t)
	short := append(slices.Clone(args), "--fresh", "--timeout", "1ms", "--methods", "fufs", "--sets", "one", "-o", filepath.Join(t.TempDir(), "q"))
	if code, _, said := bench.Run(t.Context(), short...); code != exit.Done || !strings.Contains(benchtest.ReadText(t, short[len(short)-1]+".md"), "| fufs | one | takes more than 7ms for 7 settings |") {
		t.Errorf("within a millisecond a setting: exit %d: %s", code, said)
	}
	args[slices.Index(args, shop.Program)] = "/nonexistent"
	if code, _, said := bench.Run(t.Context(), args...); code == exit.Done || !strings.Contains(said, "nonexistent") {
		t.Errorf("without a program: exit %d: %s", code, said)
	}
}

// TestTuneGrids: the grid has the several values in the name of a variant, or decades for the weights without a value.
func TestTuneGrids(t *testing.T) {
	for name, want := range map[string]string{
		"sfufs": "--alpha 1e-3..1e3 --gamma 1e-3..1e3", "sfufs:alpha=2": "--gamma 1e-3..1e3", "sfufs:alpha=1..100": "--alpha 1..100", "fufs": "--gamma 1e-3..1e3",
		"eufs:scale=unit,beta=0.1x..10x": "--beta 0.1x..10x", "ndfs": "--alpha 1e-3..1e3 --beta 1e-3..1e3", "ndfs:beta=1": "--alpha 1e-3..1e3", "greedy": "", "fufs:gamma=1": "", "udfs": "",
	} {
		v := must.Get(parseVariant(name, true))(t)
		grid, settings, err := v.grid()
		got := strings.Join(grid.Weights, " ")
		count := math.Pow(7, float64(strings.Count(want, "1e-3..1e3"))) * math.Pow(3, float64(strings.Count(want, "1..100")+strings.Count(want, "0.1x..10x")))
		if err != nil || got != want || want != "" && float64(settings) != count {
			t.Errorf("%s: grid %q of %d settings, want %q of %v; error %v", name, got, settings, want, count, err)
		}
	}
	if v := must.Get(parseVariant("eufs:scale=unit,alpha=0.1x,beta=0.1x..10x", true))(t); strings.Join(v.selectFlags(), " ") != "--method eufs --scale unit --alpha 0.1x" {
		t.Errorf("the default of a variant with a range is %q", v.selectFlags())
	}
}

func TestTuneRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"want labels":       {"--tune", "scores"},
		"weights that path": {"--tune", "labels", "--methods", "greedy,udfs"},
		"takes one":         {"--methods", "sfufs:alpha=1..10"},
		"want a number":     {"--tune", "labels", "--methods", "sfufs:alpha=1..x"},
	} {
		bench.CheckRefusal(t, exit.Usage, want, append([]string{"quality", t.TempDir()}, args...)...)
	}
}
