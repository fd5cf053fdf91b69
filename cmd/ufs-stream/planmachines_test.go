package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestPlanMachines: the forecast has a row for each number of machines, in the given order. Table and JSON name it an
// estimate and give its rates. The described job is the same as in the rest of the forecast.
func TestPlanMachines(t *testing.T) {
	in, _ := plant(t, 3000, 3)
	table := must(t, "plan", in, "--machines", "1,10,1000", "--cores", "4", "--rates", "start=1m30s,scan=5e7")
	for _, want := range []string{"Estimate, nothing was run", "machines of 4 cores", "\n       1  ", "\n      10  ", "\n   1,000  ",
		"The knee is at 1 machine (", "Rates given: scan 50 Mvalues/s a core, start 1m30s\n", "Rates measured: ", "Rates assumed: ", "row groups, which are scanned whole"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	if plain := must(t, "plan", in); strings.Contains(plain, "machines") {
		t.Errorf("asked for no machines:\n%s", plain)
	}
	if _, has := decodedAny(t, must(t, "plan", in, "--format", "json"))["machines"]; has {
		t.Error("the JSON has machines that nobody asked for")
	}
	for _, c := range []struct {
		args   string
		rounds int
	}{
		{"", 1}, {"--missing mean", 1}, {"--method variance", 1}, {"--method sfufs", 2}, {"--method eufs", 1},
	} {
		f := forecastOf(t, append(strings.Fields(c.args), in, "--machines", "7,1", "--cores", "2")...)
		m := f.Machines
		if m == nil || !m.Estimate || m.Rounds != c.rounds || m.Cores != 2 || m.Groups < 3 || len(m.Rates) < 10 ||
			!slices.EqualFunc(m.Points, []int{7, 1}, func(p ufs.MachinesPoint, n int) bool { return p.Machines == n }) {
			t.Fatalf("%s: machines: got %+v, want %d rounds and points for 7 and 1 machines", c.args, m, c.rounds)
		}
		// Of so small a table nothing is left but what is assumed of starting.
		if one, start := m.Points[1], 10.0; math.Abs(one.Total-start) > 1 || one.Merge != 0 || m.Knee.Machines != 1 {
			t.Errorf("%s: %+v, knee %+v", c.args, one, m.Knee)
		}
		if many := m.Points[0]; many.Merge < float64(c.rounds)*10 || many.Total < m.Points[1].Total || many.Parts == 0 {
			t.Errorf("%s: point of 7 machines: got %+v, want a merge of 10 s a round or more and no less time than 1 machine", c.args, many)
		}
		if iterates := strings.Contains(c.args, "eufs"); iterates != strings.Contains(strings.Join(m.Warnings, "\n"), "that is not in these times") {
			t.Errorf("%s: warnings: got %q, want one on times left out: %v", c.args, m.Warnings, iterates)
		}
	}
	holes, _ := plantHoled(t, 3000, 1)
	if m := forecastOf(t, holes, "--missing", "drop-row", "--machines", "2").Machines; m.Rounds != 2 {
		t.Errorf("missing values take a round of profiles first: %+v", m)
	}
	for says, args := range map[string]string{
		"--machines: want numbers from 1 on":      "--machines 0",
		"add --machines 1,10,100":                 "--cores 4",
		"--cores -1: want 1 or more":              "--machines 1 --cores -1",
		`--rates "speed=9": want NAME=VALUE`:      "--machines 1 --rates speed=9",
		`--rates "start=9": want a duration such`: "--machines 1 --rates start=9",
	} {
		ends(t, exit.Usage, says, append([]string{"plan", in}, strings.Fields(args)...)...)
	}
	ends(t, exit.Usage, "estimate", "plan", in, "--machines", "4", "-o", filepath.Join(t.TempDir(), "job.plan.json"))
}

func decodedAny(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("decoding the output: %v", err)
	}
	return v
}
