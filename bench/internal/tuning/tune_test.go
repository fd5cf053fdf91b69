package tuning

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestCompareRuns: a result that is better in every run of equal seed is better by every test, and swapping the results
// swaps the one-tailed test alone; without the runs there is no test.
func TestCompareRuns(t *testing.T) {
	var low, high stream.Evaluated
	for run := range 10 {
		x := stream.Number(0.5 + 0.02*float64(run%5))
		low.NMIRuns, high.NMIRuns = append(low.NMIRuns, x), append(high.NMIRuns, x+0.005*stream.Number(1+run))
	}
	up, down := CompareRuns(high, low), CompareRuns(low, high)
	if up.Wilcoxon != 2.0/1024 || down.Wilcoxon != up.Wilcoxon || down.TwoTailed != up.TwoTailed || math.Abs(up.OneTailed+down.OneTailed-1) > 1e-15 || up.OneTailed != up.TwoTailed/2 {
		t.Errorf("tests are %+v, and swapped %+v; want Wilcoxon 2 of 1024 signs", up, down)
	}
	for _, other := range []stream.Evaluated{{}, {NMIRuns: high.NMIRuns[:1]}} {
		if got := CompareRuns(high, other); !math.IsNaN(got.TwoTailed) || !math.IsNaN(got.OneTailed) || !math.IsNaN(got.Wilcoxon) {
			t.Errorf("beside %d runs: %+v, want no tests", len(other.NMIRuns), got)
		}
	}
}

// TestRunOnce: a command runs again only if it, its input or the program changes; a failure is not kept; and the total
// counts every command once.
func TestRunOnce(t *testing.T) {
	dir := t.TempDir()
	input, program := filepath.Join(dir, "input"), filepath.Join(dir, "program")
	must.Do(t, os.WriteFile(input, []byte("1"), 0o666))
	must.Do(t, os.WriteFile(program, []byte("1"), 0o666))
	runs := 0
	newRunner := func() *Runner {
		return must.Get(NewRunner(&workshop.Workshop{Program: program}, filepath.Join(dir, "kept")))(t)
	}
	run := func(r *Runner, flag string, failure error) (int, error) {
		out, _, err := runOnce(t.Context(), r, "eval", []string{input, flag}, func(to *int) (workshop.Cost, error) {
			runs++
			*to = runs
			return workshop.Cost{Wall: time.Second, CPU: 2 * time.Second}, failure
		})
		if err != nil {
			return 0, err
		}
		return *out, nil
	}
	r := newRunner()
	if _, err := run(r, "-a", os.ErrInvalid); err == nil {
		t.Error("a failure was hidden")
	}
	for i, c := range []struct {
		change func()
		flag   string
		want   int
	}{
		{func() {}, "-a", 2},
		{func() {}, "-a", 2},
		{func() {}, "-b", 3},
		{func() { r = newRunner() }, "-a", 2},
		{func() { must.Do(t, os.WriteFile(input, []byte("22"), 0o666)) }, "-a", 4},
		{func() { must.Do(t, os.WriteFile(program, []byte("2"), 0o666)); r = newRunner() }, "-a", 5},
	} {
		c.change()
		if got, err := run(r, c.flag, nil); got != c.want || err != nil {
			t.Errorf("step %d: the output is that of run %d, want run %d; error %v", i, got, c.want, err)
		}
	}
	for range 2 {
		must.Get(run(r, "-b", nil))(t)
	}
	if n, total := r.TotalCost(); n != 2 || total.Wall != 2*time.Second || total.CPU != 4*time.Second {
		t.Errorf("%d commands took %v and %v, want 2 commands of 1 s and 2 s each", n, total.Wall, total.CPU)
	}
}
