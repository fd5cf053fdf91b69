package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestGraphExitCodes: a request that a graph method cannot serve is refused before anything
// is read; bad data is refused with its place.
func TestGraphExitCodes(t *testing.T) {
	dir, paths := plant(t, 300, 1)
	in := paths[0]
	at := func(name string) string { return filepath.Join(dir, "other", name) }
	if err := os.MkdirAll(at(""), 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	holes, _ := plantHoled(t, 300, 1)
	tiny, _ := plant(t, 5, 1) // all rows are 5 anchors
	few := columnsFile(t, at("few.parquet"), []string{"a", "b"}, []float64{1, 2, 3}, []float64{2, 3, 5})
	strange := columnsFile(t, at("strange.parquet"), []string{"a", "b"}, []float64{1, 2, 3, 4, 5, 6}, []float64{2, 3, 5, 7, 11, 13})
	constant := columnsFile(t, at("constant.parquet"), []string{"a", "b"}, slices.Repeat([]float64{1}, 30), slices.Repeat([]float64{3}, 30))
	gone := columnsFile(t, at("gone.parquet"), []string{"a", "b"}, slices.Repeat([]float64{1, nan, 2, nan, 3, nan}, 9), slices.Repeat([]float64{nan, 1, nan, 2, nan, 3}, 9))
	huge := columnsFile(t, at("huge.parquet"), []string{"a", "b"}, slices.Repeat([]float64{4e152, 1, 8e152, 3, -4e152}, 9), slices.Repeat([]float64{5, 1, 4, 3, 2}, 9))
	graph, second, other, plain := at("graph.ufs"), at("second.ufs"), at("seed2.ufs"), at("gram.ufs")
	profile, kmeansless := at("profile.ufs"), at("bare.ufs")
	must(t, "scan", in, "--method", "sfufs", "--shard", "1/2", "-o", graph)
	must(t, "scan", in, "--method", "sfufs", "--shard", "2/2", "--seed", "2", "-o", other)
	must(t, "scan", in, "--method", "sfufs", "--shard", "2/2", "-o", second)
	must(t, "scan", in, "--shard", "2/2", "-o", plain)
	must(t, "scan", in, "--method", "sfufs", "--profile-only", "--anchors", "20", "-o", profile)
	must(t, "scan", in, "--profile-only", "-o", kmeansless)
	forFile := columnsFile(t, at("byfile.parquet"), []string{"a", "b"}, slices.Repeat([]float64{1, 2, 3, 4, 7}, 9), slices.Repeat([]float64{5, 1, 4, 3, 2}, 9))
	byFile := at("byfile.ufs")
	must(t, "scan", forFile, "--method", "sfufs", "--anchors-file", strange, "-o", byFile)
	whole := read(t, graph)
	bad := write(t, at("damaged.ufs"), damaged(whole, len(whole)-1000, len(whole)-999, 1))
	read := "select --method sfufs " + in
	checkAll(t, []outcome{
		{read + " --anchors 5", exit.Usage, "at least 6"},
		{read + " --anchors 0", exit.Usage, "want 1 or more"},
		{read + " --neighbors 0", exit.Usage, "want 1 or more"},
		{read + " --anchors 301", exit.Usage, "only 300 rows"},
		{read + " --neighbors 300", exit.Usage, "only 300 rows: lower --neighbors"},
		{"plan --method sfufs --neighbors 300 " + in, exit.Usage, "only 300 rows: lower --neighbors"},
		{"select --method sfufs " + tiny, exit.Usage, "lower --neighbors"},
		{read + " --rows 5", exit.Usage, "lower --neighbors"},
		{read + " --anchors 20 --anchors-file " + few, exit.Usage, "cannot be combined with"},
		{read + " --anchors-file " + few, exit.Usage, "at least 6"},
		{"plan --method sfufs --anchors-file " + few + " " + in, exit.Usage, "at least 6"},
		{read + " --anchors-file " + strange, exit.Usage, "--anchors-file"},
		{read + " --anchors-file -", exit.Usage, "a stream"},
		{read + " --anchors-file " + at("nothing.parquet"), exit.Data, "nothing.parquet"},
		{read + " --weight x000", exit.Usage, "not for method sfufs"},
		{"scan --method mcfs --weight x000 -o " + at("x.ufs") + " " + in, exit.Usage, "not for method mcfs"},
		{"select --method sfufs -", exit.Usage, "--method greedy"},
		{"select --method graphgreedy -", exit.Usage, "save it to a file"},
		{read + " --smooth 2", exit.Usage, "--smooth is not for method sfufs but for --method graphgreedy"},
		{"select --method mcfs --require-converged " + in, exit.Usage, "not for method mcfs"},
		{"select --method graphgreedy --target spectral --smooth 3 " + in, exit.Usage, "--clusters"},
		{"select --method graphgreedy --clusters 3 " + in, exit.Usage, "--target spectral"},
		{"select --method graphgreedy --smooth 101 " + in, exit.Usage, "0 to 100, or auto"},
		{"select --method graphgreedy --variance 0.9 " + in, exit.Usage, "-k"},
		{"select --method u2fs --keep x000 " + in, exit.Usage, "not for method u2fs"},
		{read + " --alpha 1,10", exit.Usage, "path takes several"},
		{read + " --gamma 1e-3..1e3", exit.Usage, "path takes several"},
		{"plan --method sfufs --alpha 1,10 " + in, exit.Usage, "path takes several"},
		{read + " --alpha 0", exit.Usage, "--alpha"},
		{read + " --alpha 1e-12", exit.Usage, "ufs-stream: --alpha = 1e-12 is not between"},
		{"path --method sfufs --alpha 0,1 " + in, exit.Usage, "--alpha"},
		{read + " --gamma much", exit.Usage, "want a number"},
		{read + " --gamma 10..1", exit.Usage, "FROM <= TO"},
		{read + " --gamma -1", exit.Usage, "at least 0"},
		{read + " --gamma NaN", exit.Usage, "want a number"},
		{read + " --tol 1", exit.Usage, "share"},
		{read + " --max-iter 0", exit.Usage, "want 1 or more"},
		{read + " -k 49", exit.Usage, "more than the 48 features"},
		{"path --method mcfs " + in, exit.Usage, "no curve"},
		{"select --method sfufs --missing error " + holes, exit.Data, `column "x002", row 0`},
		{"select --method laplacian --scale none --columns x000,x00[5-9] --missing error " + holes, exit.Done, ""},

		{"select --method sfufs " + constant, exit.Data, "constant.parquet: no usable feature"},
		{"select --method sfufs --missing drop-row " + gone, exit.Data, "gone.parquet: no rows"},
		{"select --method sfufs --scale none " + huge, exit.Data, "huge.parquet: "},
		{"select --method laplacian " + huge, exit.Done, ""},
		{read + " --clusters 100 -k 3", exit.Done, "more than the 48 features"},
		{read + " --constraint identity --clusters 3 -k 3", exit.Done, "--constraint scatter"},

		{"select --method sfufs --stats " + plain, exit.Usage, "holds no anchor graph"},
		{"select --method sfufs --stats " + profile, exit.Usage, "holds no anchor graph"},
		{"select --method sfufs --exclude x000 --stats " + graph, exit.Usage, "scan again"},
		{"select --method mcfs --columns x00* --stats " + graph, exit.Usage, "scan again"},
		{"select --method sfufs --scale unit --stats " + graph, exit.Usage, "made with standard"},
		{"select --method sfufs --neighbors 4 --stats " + graph, exit.Usage, "made with 5"},
		{"select --method sfufs --seed 9 --stats " + graph, exit.Usage, "made with 1"},
		{"select --method sfufs --anchors 299 --stats " + graph, exit.Usage, "made with 300"},
		{"select --method sfufs --anchors-file " + strange + " --stats " + graph, exit.Usage, "made without"},
		{"select --method sfufs --anchor-method kmeans --stats " + byFile, exit.Usage, "made without"},
		{"select --method sfufs --anchors 300 --neighbors 5 --scale standard --missing mean --stats " + graph, exit.Done, ""},
		{"select --method sfufs --stats " + bad, exit.Data, "damaged.ufs"},
		{"merge -o " + at("m.ufs") + " " + graph + " " + plain, exit.Usage, "one kind"},
		{"merge -o " + at("m.ufs") + " " + graph + " " + other, exit.Usage, "--seed"},
		{"merge -o " + at("m.ufs") + " " + graph + " " + graph, exit.Usage, "both cover"},
		{"merge -o " + at("m.ufs") + " " + profile + " " + kmeansless, exit.Usage, "both cover"},
		{"scan --method sfufs --profile " + kmeansless + " -o " + at("x.ufs") + " " + in, exit.Usage, "no sample of rows"},
		{"scan --method sfufs --profile " + profile + " -o " + at("x.ufs") + " " + in, exit.Usage, "keeps 20 rows"},
		{"scan --method sfufs --profile " + profile + " --anchors 20 --anchor-method kmeans -o " + at("x.ufs") + " " + in, exit.Usage, "kmeans"},
		{"scan --method sfufs --profile " + profile + " --anchors 20 --seed 3 -o " + at("x.ufs") + " " + in, exit.Usage, "drawn with --seed 1"},
		{"scan --method sfufs --profile " + profile + " --anchors 20 --rows 100 -o " + at("x.ufs") + " " + in, exit.Usage, "--rows"},
		{"scan --method sfufs --profile " + profile + " --anchors 20 --exclude x000 -o " + at("x.ufs") + " " + in, exit.Usage, "other columns"},
		{"scan --method sfufs --profile " + profile + " --anchors 20 -o " + at("x.ufs") + " " + in, exit.Done, ""},
		{"scan --method sfufs --profile " + profile + " --anchors 12 -o " + at("x.ufs") + " " + in, exit.Done, ""},

		{"select --method sfufs --memory-limit 10MiB " + in, exit.Memory, "--memory-limit"},
		{"select --method sfufs --memory-limit 10MiB --stats " + graph, exit.Memory, "--memory-limit"},
		{"merge --memory-limit 48MiB -o " + at("m.ufs") + " " + graph + " " + second, exit.Memory, "--memory-limit"},
	}, in, dir)
}

// TestUnconverged: --require-converged makes an iteration that stops early exit code 5; the
// result is written with and without it.
func TestUnconverged(t *testing.T) {
	in, _ := plant(t, 300, 1)
	args := []string{"select", in, "--method", "sfufs", "--max-iter", "2", "--tol", "1e-12", "-k", "5"}
	for _, c := range []struct {
		required string
		code     int
	}{{"", exit.Done}, {"--require-converged", exit.Unconverged}} {
		out := filepath.Join(t.TempDir(), "sel.json")
		ends(t, c.code, "not converged after 2 iterations", slices.Concat(args, strings.Fields(c.required), []string{"-o", out})...)
		s := readSelection(t, out)
		if s.Converged || s.Iterations != 2 || len(s.Objective) != 2 || len(s.Trace) != 2 || !strings.Contains(strings.Join(s.Warnings, "\n"), "--max-iter") {
			t.Errorf("%v: converged %v after %d, objective %v, warnings %q", c.required, s.Converged, s.Iterations, s.Objective, s.Warnings)
		}
	}
	must(t, "select", in, "--method", "sfufs", "-k", "40", "--require-converged", "--tol", "0.5")
	out := filepath.Join(t.TempDir(), "grid.json")
	ends(t, exit.Unconverged, "", "path", in, "--method", "sfufs", "--gamma", "1,10", "--max-iter", "1", "--tol", "1e-12", "--require-converged", "-o", out)
	var g stream.Grid
	if err := json.Unmarshal([]byte(read(t, out)), &g); err != nil || len(g.Settings) != 2 {
		t.Errorf("path: %v, %d settings", err, len(g.Settings))
	}
	if !strings.Contains(strings.Join(g.Warnings, "\n"), "2 of 2 settings did not converge") {
		t.Errorf("path: warnings %q", g.Warnings)
	}
}
