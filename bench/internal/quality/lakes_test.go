package quality

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// momentsOf are the mean and the deviation of the values that are not missing.
func momentsOf(x []float64) (mean, deviation float64) {
	n := 0.0
	for _, v := range x {
		if !math.IsNaN(v) {
			mean, n = mean+v, n+1
		}
	}
	mean /= n
	for _, v := range x {
		if !math.IsNaN(v) {
			deviation += (v - mean) * (v - mean) / n
		}
	}
	return mean, math.Sqrt(deviation)
}

// correlationOf correlates two columns over rows in which neither is missing.
func correlationOf(x, y []float64) (sum float64) {
	mx, dx := momentsOf(x)
	my, dy := momentsOf(y)
	n := 0.0
	for i := range x {
		if p := (x[i] - mx) / dx * (y[i] - my) / dy; !math.IsNaN(p) {
			sum, n = sum+p, n+1
		}
	}
	return sum / n
}

// TestLakes: sensors of one factor repeat one another, and sensors of two factors do not; there are two flags;
// units are alike or apart; and only clusters have a label, which the factors follow.
func TestLakes(t *testing.T) {
	for _, k := range lakeKinds() {
		s := must.Get(k.writeSet(t.Context(), t.TempDir()))(t)
		names, columns := benchtest.ReadTable(t, s.path, chunkio.Options{})
		column := func(name string) []float64 { return columns[slices.Index(names, name)] }
		clusters := strings.HasSuffix(k.name, "-clusters")
		if labelled := slices.Contains(names, "label"); labelled != clusters || s.unranked == clusters || !s.lake {
			t.Errorf("%s: a label %v, unranked %v", k.name, labelled, s.unranked)
		}
		for f, group := range s.answer {
			for _, other := range group[1:] {
				least := 0.9
				if other == "flow_total" { // of two readings, either of which may be missing
					least = 0.8
				}
				if r := math.Abs(correlationOf(column(group[0]), column(other))); r < least {
					t.Errorf("%s: %s and %s of one factor have the correlation %.3f", k.name, group[0], other, r)
				}
			}
			if r := math.Abs(correlationOf(column(group[0]), column(s.answer[(f+1)%len(s.answer)][0]))); !clusters && r > 0.15 {
				t.Errorf("%s: two factors have the correlation %.3f", k.name, r)
			}
		}
		if !strings.HasSuffix(k.name, "e") && !strings.Contains(k.name, "apart") && !clusters { // the demos
			continue
		}
		var ones []float64
		smallest, largest := math.Inf(1), 0.0
		for j, x := range columns {
			mean, deviation := momentsOf(x)
			switch flag := !slices.ContainsFunc(x, func(v float64) bool { return v != 0 && v != 1 }); {
			case names[j] == "label":
			case flag:
				ones = append(ones, mean)
			default:
				smallest, largest = min(smallest, deviation), max(largest, deviation)
			}
		}
		slices.Sort(ones)
		// Of 2,000 rows shares of 2 and 50 % have deviations of 0.3 and 1.1 %: five of each.
		if len(ones) != 2 || math.Abs(ones[0]-0.02) > 0.016 || math.Abs(ones[1]-0.5) > 0.056 {
			t.Errorf("%s: flags that %v of the rows have", k.name, ones)
		}
		if apart := largest > 100*smallest; apart != strings.Contains(k.name, "apart") {
			t.Errorf("%s: deviations from %g to %g", k.name, smallest, largest)
		}
		if clusters {
			share := 0.0
			for _, group := range s.answer {
				share += classShare(column(group[0]), column("label")) / float64(len(s.answer))
			}
			// Classes of 500 rows by chance have shares of up to 0.01, and 0.05 of a sensor is noise.
			if want := 0.95 * 12. / float64(12+len(s.answer)); math.Abs(share-want) > 0.03 {
				t.Errorf("%s: %.2f of the variance of factors is between the classes, want about %.2f", k.name, share, want)
			}
		}
	}
	if n := len(makeTelemetrySet().groups); n != 12 {
		t.Errorf("telemetry has %d factors, want 12", n)
	}
}

// TestLakeDemands against sentences by hand, and the cells of the table.
func TestLakeDemands(t *testing.T) {
	lakes := []dataset{{name: "lake-a", answer: make([][]string, 3), lake: true}, {name: "lake-b", answer: make([][]string, 2), lake: true}}
	choice := func(k int, covered, unexplained float64) choiceMade {
		c := stream.Number(covered)
		return choiceMade{K: k, Chosen: k, Covered: &c, Error: stream.Number(unexplained)}
	}
	r := &run{options: &options{variants: []variant{{name: defaultVariant}, {name: "greedy"}}}}
	for i, choices := range [][]choiceMade{
		{choice(3, 1, 0.9), choice(5, 3, 0.411)}, // the default on the lakes: by number, and by itself
		{choice(2, 2, 0.5), choice(1, 1, 0.5)},
		{choice(3, 3, 0.4), choice(3, 3, 0.4)}, // greedy
		{choice(2, 2, 0.4), choice(2, 2, 0.4)},
	} {
		r.cells = append(r.cells, cell{lakes[i%2], r.variants[i/2], finding{Choices: choices}})
	}
	want := []string{
		"MISSED: lakes of which the default by -k auto misses a factor: lake-b (1/2 by 1, 50.0)",
		"MISSED: lakes of which it explains less than 0.98 of greedy's share: lake-b (50.0, greedy 60.0)",
	}
	if got := r.listLakeDemands(lakes); !slices.Equal(got, want) {
		t.Errorf("demands\n%q, want\n%q", got, want)
	}
	if got := r.listLakeDemands(lakes[:1]); !strings.HasPrefix(got[0], "met: ") || !strings.HasPrefix(got[1], "met: ") {
		t.Errorf("demands %q, want them met", got)
	}
	var text strings.Builder
	r.writeLakes(&text, lakes)
	for _, want := range []string{"| default | 66.7 | 30.0 | 1/3, 10.0 | 2/2, 50.0 |", "| default | 75.0 | 54.4 | 3/3 by 5, 58.9 | 1/2 by 1, 50.0 |", "MISSED"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	r.cells[2].finding.Choices[0] = choiceMade{K: 3, Error: stream.Number(math.NaN()), Refusal: "no"}
	if got := r.findLakeChoice(lakes[0], r.variants[1], false).formatLakeCell(lakes[0]); got != "–" {
		t.Errorf("the cell of a refusal is %q", got)
	}
	if got := fmt.Sprint(listKinds([]dataset{{kind: "mine"}, {kind: kindLakes}, {kind: kindText}, {kind: kindText}})); got != "[text lakes mine]" {
		t.Errorf("the order of kinds is %s", got)
	}
}
