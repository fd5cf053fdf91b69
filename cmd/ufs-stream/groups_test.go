package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sensorFile has sensors a, b, c and d of two readings each, and a column by itself.
func sensorFile(t *testing.T, at func(string) string) string {
	t.Helper()
	var names []string
	var columns [][]float64
	for s := range 9 {
		name := "alone"
		if s < 8 {
			name = fmt.Sprintf("%c_%d", 'a'+s/2, s%2)
		}
		column := make([]float64, 60)
		for i := range column {
			column[i] = float64(9-s)*math.Sin(float64(i*(s/2+2))) + 0.3*math.Cos(float64(i*i*(s+1)))
		}
		names, columns = append(names, name), append(columns, column)
	}
	columnsFile(t, at("sensors.parquet"), names, columns...)
	return at("sensors.parquet")
}

// TestGroupsRendered: every format of a selection of groups has their members and costs.
func TestGroupsRendered(t *testing.T) {
	at := folder(t)
	in := sensorFile(t, at)
	costs := write(t, at("costs.csv"), "name,cost\na,1.5\n")
	args := []string{"select", in, "--method", "greedy", "--scale", "none", "--groups", "prefix:_", "--costs", costs, "--budget", "4.5"}
	s := decoded[stream.Selection](t, "select", args[1:]...)
	if first := s.Selected[0]; first.Name != "a" || !slices.Equal(first.Members, []string{"a_0", "a_1"}) || *first.Cost != 1.5 || *s.Cost > 4.5 {
		t.Errorf("selected %+v, cost %v", first, *s.Cost)
	}
	table := must(t, slices.Concat(args, []string{"--format", "table"})...)
	for _, want := range []string{"group or feature", "columns", "cost", fmt.Sprintf("cost %v of a budget of 4.5", float64(*s.Cost)), "groups"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not say %q:\n%s", want, table)
		}
	}
	csv := strings.Split(must(t, slices.Concat(args, []string{"--format", "csv"})...), "\n")
	if csv[0] != "rank,name,column,score,error,members,cost" || !strings.HasSuffix(csv[1], ",a_0;a_1,1.5") {
		t.Errorf("csv: %q", csv[:2])
	}
	var members []string
	for _, f := range s.Selected {
		members = append(members, f.Features()...)
	}
	if got := strings.Fields(must(t, slices.Concat(args, []string{"--format", "names"})...)); !slices.Equal(got, members) {
		t.Errorf("names %v, want %v", got, members)
	}
	parquet := at("sel.parquet")
	must(t, slices.Concat(args, []string{"-o", parquet})...)
	if shown := must(t, "inspect", parquet); !strings.Contains(shown, "members") || !strings.Contains(shown, "cost") {
		t.Errorf("Parquet: %s", shown)
	}
	sel, out := at("sel.json"), at("out.parquet")
	must(t, slices.Concat(args, []string{"-o", sel})...)
	must(t, "apply", in, "--selection", sel, "-o", out)
	if shown := must(t, "inspect", out, "--format", "json"); strings.Count(shown, `"name"`) != len(members) {
		t.Errorf("applied: %s", shown)
	}
	must(t, "report", sel, "-o", at("r.html"))
	if page, want := read(t, at("r.html")), fmt.Sprintf("greedy: %d groups, %d of 9 features", len(s.Selected), len(members)); !strings.Contains(page, want) {
		t.Errorf("the report does not say %q", want)
	}
	if why, want := must(t, "explain", members[0], "--selection", sel), fmt.Sprintf("%d features of greedy", len(members)); !strings.Contains(why, want) {
		t.Errorf("explain does not say %q: %s", want, why)
	}
	if plan := must(t, slices.Concat([]string{"plan"}, args[1:])...); !strings.Contains(plan, "of 5 groups or features that can be chosen") {
		t.Errorf("plan: %s", plan)
	}
	ends(t, exit.Usage, "--budget 0", slices.Concat(args, []string{"--budget", "0"})...)
	ends(t, exit.Usage, "--group-most 0", slices.Concat(args, []string{"--group-most", "0"})...)
	ends(t, exit.Usage, "--keep b costs 2, more than --budget 1", "select", in, "--groups", "prefix:_", "--keep", "b", "--budget", "1")
}

// TestPathOfGroupsRendered: every format of a path over groups has their members, costs and counts.
func TestPathOfGroupsRendered(t *testing.T) {
	at := folder(t)
	in := sensorFile(t, at)
	args := []string{in, "--scale", "none", "--groups", "prefix:_", "--costs", write(t, at("costs.csv"), "name,cost\na,1.5\n")}
	says := func(text string, lines ...string) {
		t.Helper()
		for _, want := range lines {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("it does not say %q:\n%s", want, text)
			}
		}
	}
	path := func(more ...string) []string {
		return slices.Concat([]string{"path"}, args, []string{"--method", "greedy"}, more)
	}
	says(must(t, path()...), "k group or feature", "columns cost together", "how many single features", "as select -k auto; of single features")
	csv := strings.Split(must(t, path("--format", "csv", "-k", "3")...), "\n")
	if csv[0] != "k,name,score,error,explained,members,cost,total_cost" || !strings.Contains(csv[1], ",a_0;a_1,1.5,1.5") || len(csv) != 5 {
		t.Errorf("csv: %q", csv)
	}
	says(must(t, path("-k", "1", "--scale", "standard")...), "recommended: more than these; of single features")
	ends(t, exit.Usage, "leave --budget out", path("--budget", "4")...)
	must(t, path("-o", at("curve.json"))...)
	must(t, "report", at("curve.json"), "-o", at("curve.html"))
	says(read(t, at("curve.html")), "error over 1 to 5 groups, 9 of 9 features", "groups k")

	grid := func(more ...string) []string {
		return slices.Concat([]string{"path", in, "--method", "fufs", "--gamma", "1,10", "--anchors", "15", "--budget", "4"}, args[3:], more)
	}
	says(must(t, grid()...), "agreement: of the first 5 groups or features", "first groups or features cost")
	g := decoded[stream.Grid](t, "path", grid()[1:]...)
	if set := g.Settings[0]; set.Cost == nil || *set.Cost > 4 || len(g.Members) == 0 || !slices.Equal(g.Members["a"], []string{"a_0", "a_1"}) && slices.Contains(set.Selected, "a") {
		t.Errorf("grid: %+v, members %v", set, g.Members)
	}
	if lines := strings.Split(must(t, grid("--format", "csv")...), "\n"); !strings.HasSuffix(lines[0], ",selected,cost") {
		t.Errorf("csv: %q", lines)
	}
	must(t, grid("-o", at("grid.parquet"))...)
	says(must(t, "inspect", at("grid.parquet")), "cost")
	must(t, grid("-o", at("grid.json"))...)
	must(t, "report", at("grid.json"), "-o", at("grid.html"))
	says(read(t, at("grid.html")), "2 settings, up to 5 groups of 9 features each")
}
