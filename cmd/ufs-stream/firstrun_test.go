package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// What is said of the values that holedTable lacks: by the data, and by the footers, to which NaN and infinities are values.
const (
	filledThere = "missing values (1 of them infinite) are filled by their column's mean: 21 in c3, 14 in c1, 3 in c4"
	filledByNow = "missing values are filled by their column's mean: 20 in c3, 14 in c1, 2 in c4"
	refusedBy   = "; --missing error refuses them\n"
)

// holedTable is CSV of six columns of 200 rows with nulls and an infinite value, and one column without any value.
func holedTable() string {
	var b strings.Builder
	b.WriteString("c0,c1,c2,c3,c4,c5,none\n")
	for i := range 200 {
		for j := range 6 {
			value := fmt.Sprint(math.Round(100*math.Sin(float64(i*(j%3+1))/7)) + float64((i*(j+3))%5))
			switch {
			case j == 3 && i == 9:
				value = "inf"
			case j == 1 && i%15 == 2 || j == 3 && i%10 == 5 || j == 4 && i%90 == 80:
				value = ""
			case j == 4 && i == 9:
				value = "-inf"
			}
			b.WriteString(value + ",")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestFirstRunFillsByMean: without --missing every verb fills values as with --missing mean. It reports once how many
// values it fills in which columns, and which flag refuses them. With the flag it reports nothing. The record is the
// same.
func TestFirstRunFillsByMean(t *testing.T) {
	at := folder(t)
	in := write(t, at("holes.csv"), strings.Replace(holedTable(), "-inf", "", 1))
	for _, c := range []string{
		"select -k 3", "select", "select -k 3 --auto-exclude", "select --method greedy -k auto", "select --method variance -k 2", "select --method partgreedy --partitions 2 -k 3",
		"select --method sfufs --clusters 2 --anchors 50 -k 3", "select --method eufs --clusters 2 --max-iter 2 -k 3", "select --method greedy --scale rank -k 3",
		"select --method greedy --stability=4 -k 3", "select --method greedy --missing-indicators -k 3", "select --method greedy --sketch 64 -k 3",
		"select --method cpufs --shape 1x7 --max-iter 2 -k 2", "path --method greedy -k 2", "path --method sfufs --anchors 50 --clusters 2 --gamma 1,2 -k 2", "redundancy", "tree --tree correlation",
	} {
		t.Run(c, func(t *testing.T) {
			args := append(strings.Fields(c), in)
			if strings.HasPrefix(c, "select") {
				args = append(args, "--format", "csv")
			}
			got, want := invoke(args...), invoke(append(args, "--missing", "mean")...)
			if got.code != exit.Done || got.out != want.out {
				t.Fatalf("exit code %d: %s\n%s\nwith --missing mean %d:\n%s", got.code, got.err, got.out, want.code, want.out)
			}
			if n := strings.Count(got.err, filledThere+refusedBy); n != 1 || strings.Count(got.err, "filled") != 1 {
				t.Errorf("said %d times, in\n%s", n, got.err)
			}
			if strings.Contains(want.err, "filled") {
				t.Errorf("asked for, it is said all the same:\n%s", want.err)
			}
			if !strings.Contains(c, "indicators") { // which are refused beside error as such
				ends(t, exit.Data, `column "`, append(args, "--missing", "error")...)
			}
		})
	}
	unasked, asked := selection(t, in, "-k", "3"), selection(t, in, "-k", "3", "--missing", "mean")
	if answer(t, unasked) != answer(t, asked) || unasked.Options["missing"] != "mean" || unasked.Filled != filledThere {
		t.Errorf("recorded %v, %q; asked for\n%s\nbut got\n%s", unasked.Options, unasked.Filled, answer(t, asked), answer(t, unasked))
	}
	if why := fmt.Sprint(unasked.LeftOut); !strings.Contains(why, "none no value observed") {
		t.Errorf("the column without values: left out %s", why)
	}
	if r := invoke("select", in, "-k", "3", "-q"); r.err != "" {
		t.Errorf("with -q standard error has %s", r.err)
	}
	clean := write(t, at("clean.csv"), strings.NewReplacer(",,", ",1,", "inf", "2").Replace(holedTable()))
	if r := invoke("select", clean, "-k", "3"); r.code != exit.Done || strings.Contains(r.err, "missing") {
		t.Errorf("where nothing is missing: exit code %d: %s", r.code, r.err)
	}
}

// TestFirstRunForesees: inspect and plan announce, from the footers, the fills of select.
func TestFirstRunForesees(t *testing.T) {
	at := folder(t)
	in := write(t, at("holes.csv"), holedTable())
	footers := strings.TrimSuffix(filledByNow+refusedBy, "\n")
	parquet := at("holes.parquet")
	must(t, "convert", in, "-o", parquet)
	for want, args := range map[string][]string{
		footers: {"inspect", in}, strings.Replace(strings.TrimSuffix(filledThere+refusedBy, "\n"), "1 of", "2 of", 1): {"inspect", "--scan", in},
	} {
		if out := must(t, args...); strings.Count(out, "  "+want+"\n") != 1 {
			t.Errorf("%v: want a line of %q in\n%s", args, want, out)
		}
		if out := must(t, append(args, "--missing", "zero")...); strings.Contains(out, "filled") {
			t.Errorf("%v --missing zero:\n%s", args, out)
		}
	}
	for _, args := range [][]string{{"plan", in}, {"plan", parquet, "-o", at("job.plan.json")}} {
		if r := invoke(args...); r.code != exit.Done || strings.Count(r.err, footers+"\n") != 1 {
			t.Errorf("%v: exit code %d: want %q once in\n%s", args, r.code, footers, r.err)
		}
	}
	if h, err := chunkio.ReadPlanHeader(t.Context(), at("job.plan.json"), chunkio.FetchOptions{}); err != nil || h.Options["missing"] != "mean" {
		t.Errorf("the plan records %v: %v", h.Options, err)
	}
	part := invoke("scan", "--plan", at("job.plan.json"), "-o", at("part.ufs"))
	if part.code != exit.Done || strings.Contains(part.err, "filled") {
		t.Errorf("a scan by the plan, which has said so: exit code %d: %s", part.code, part.err)
	}
	ends(t, exit.Usage, "was made with --missing mean", "scan", "--plan", at("job.plan.json"), "--missing", "error", "-o", at("other.ufs"))
}

// TestFirstRunByStatistics: a scan says what is filled, and so does the selection from it, which cannot refuse any more.
func TestFirstRunByStatistics(t *testing.T) {
	at := folder(t)
	in := write(t, at("holes.csv"), strings.Replace(holedTable(), "-inf", "", 1))
	if r := invoke("scan", in, "-o", at("a.ufs")); r.code != exit.Done || r.err != filledThere+refusedBy {
		t.Errorf("scan: exit code %d: %s", r.code, r.err)
	}
	seen := decoded[ufs.Inspection](t, "inspect", at("a.ufs"))
	from := invoke("select", "--stats", at("a.ufs"), "--method", "greedy", "-k", "3", "--format", "csv")
	if want := must(t, "select", in, "--method", "greedy", "-k", "3", "--format", "csv"); from.out != want || strings.Count(from.err, filledThere+"\n") != 1 || seen.Options["missing"] != "mean" {
		t.Errorf("options %v; %s\n%s\nfrom the data:\n%s", seen.Options, from.err, from.out, want)
	}
	ends(t, exit.Usage, "scan again with --missing error", "select", "--stats", at("a.ufs"), "-k", "3", "--missing", "error")
	rows := at("rows.ufs")
	must(t, "scan", in, "--profile-only", "--sample-rows", "200", "-o", rows)
	if r := invoke("select", "--stats", rows, "--method", "eufs", "--clusters", "2", "--max-iter", "2", "-k", "3"); r.code != exit.Done || strings.Count(r.err, filledThere+refusedBy) != 1 {
		t.Errorf("from kept rows: exit code %d: %s", r.code, r.err)
	}
}

// TestMissingErrorOnceTheDefault: statistics that were scanned under the default before, error, are added to those of today.
// Nothing is missing in them, so that the sum fills; two policies that fill do not add up.
func TestMissingErrorOnceTheDefault(t *testing.T) {
	at := folder(t)
	table := strings.NewReplacer(",\n", "\n", ",none", "").Replace(holedTable())
	clean := write(t, at("a.csv"), strings.NewReplacer(",,", ",1,", ",\n", ",3\n", "-inf", "2", "inf", "2").Replace(table))
	holes := write(t, at("b.csv"), table)
	must(t, "scan", clean, "--missing", "error", "-o", at("old.ufs"))
	must(t, "scan", holes, "-o", at("new.ufs"))
	must(t, "scan", holes, "--missing", "zero", "-o", at("zero.ufs"))
	want := selection(t, clean, holes, "--method", "greedy", "-k", "3")
	for _, order := range [][]string{{"old.ufs", "new.ufs"}, {"new.ufs", "old.ufs"}} {
		sum := at("sum-" + order[0])
		must(t, "merge", at(order[0]), at(order[1]), "-o", sum)
		got := selection(t, "--stats", sum, "--method", "greedy", "-k", "3")
		if got.Options["missing"] != "mean" || fmt.Sprint(names(got)) != fmt.Sprint(names(want)) || got.Filled != want.Filled || want.Filled == "" {
			t.Errorf("%v: %v, %v, %q; want %v, %q", order, got.Options, names(got), got.Filled, names(want), want.Filled)
		}
		for i, f := range want.Selected {
			if g := got.Selected[i]; math.Abs(float64(g.Score-f.Score)) > 1e-9*float64(f.Score) { // sums in another order
				t.Errorf("%v: %+v, want %+v", order, g, f)
			}
		}
	}
	ends(t, exit.Usage, `--missing "mean" against "zero"`, "merge", at("old.ufs"), at("new.ufs"), at("zero.ufs"), "-o", at("all.ufs"))
}

// TestMissingByDefaults: the environment and a configuration file choose the policy as the flag does.
func TestMissingByDefaults(t *testing.T) {
	at := folder(t)
	in := write(t, at("holes.csv"), holedTable())
	config := write(t, at("config"), "missing: error\n")
	ends(t, exit.Data, `column "c`, "select", in, "-k", "3", "--config", config)
	t.Setenv("UFS_STREAM_MISSING", "error")
	ends(t, exit.Data, `column "c`, "select", in, "-k", "3")
	t.Setenv("UFS_STREAM_MISSING", "mean")
	if r := invoke("select", in, "-k", "3"); r.code != exit.Done || strings.Contains(r.err, "filled") {
		t.Errorf("asked for by the environment: exit code %d: %s", r.code, r.err)
	}
}

// TestFirstRunOfStream: a stream of Arrow IPC with missing values is read once, without a folder to keep it in.
func TestFirstRunOfStream(t *testing.T) {
	x, y, z := make([]float64, 60), make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i], y[i], z[i] = float64(i%7), float64(i%5), float64(i*i%11)
	}
	x[9], y[3], y[4] = math.NaN(), math.NaN(), math.Inf(1)
	data, path := arrowStream(t, x, y, z), filepath.Join(t.TempDir(), "t.arrows")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatalf("writing %s: %v", path, err)
	}
	flags := []string{"-k", "2", "--method", "greedy", "--format", "csv"}
	file := invoke(append([]string{"select", path}, flags...)...)
	in := invokeWith(t.Context(), data, append([]string{"select", "-"}, flags...)...)
	const says = "missing values (1 of them infinite) are filled by their column's mean: 2 in "
	if in.code != exit.Done || in.out != file.out || strings.Count(in.err, says) != 1 || file.err != in.err {
		t.Errorf("exit code %d: %s%s\nof the file %d: %s%s", in.code, in.out, in.err, file.code, file.out, file.err)
	}
}

// TestEvalWithoutRecordedPolicy: a selection that records no policy is judged by the default one.
func TestEvalWithoutRecordedPolicy(t *testing.T) {
	at := folder(t)
	in := write(t, at("holes.csv"), holedTable())
	s := selection(t, in, "--method", "greedy", "-k", "3")
	delete(s.Options, "missing")
	var text strings.Builder
	if err := s.Encode(&text); err != nil {
		t.Fatalf("encoding: %v", err)
	}
	got := decoded[stream.Evaluation](t, "eval", in, "--selection", write(t, at("s.json"), text.String()), "--resamples", "2")
	if got.Missing != "mean" {
		t.Errorf("judged by %q, want mean", got.Missing)
	}
}

// TestFilledInManyColumns: of many columns those with the most are named, and the others counted.
func TestFilledInManyColumns(t *testing.T) {
	columns := make([][]float64, 8)
	var names []string
	for j := range columns {
		names = append(names, fmt.Sprintf("f%d", j))
		for i := range 2000 {
			v := float64(i * (j + 3) % 101)
			if j > 0 && i < 1000+200*j {
				v = math.NaN()
			}
			columns[j] = append(columns[j], v)
		}
	}
	path := columnsFile(t, filepath.Join(t.TempDir(), "t.parquet"), names, columns...)
	const want = "missing values are filled by their column's mean: 1,800 in f4, 1,600 in f3, 1,400 in f2, 1,200 in f1"
	if s := selection(t, path, "--method", "greedy", "-k", "2"); s.Filled != want { // f5 to f7 have no value
		t.Errorf("got  %q\nwant %q", s.Filled, want)
	}
	for j := range columns {
		for i := range columns[j] {
			if j > 0 && i >= 10*j {
				columns[j][i] = float64(i * (j + 3) % 101)
			}
		}
	}
	path = columnsFile(t, filepath.Join(t.TempDir(), "t.parquet"), names, columns...)
	const more = "missing values are filled by their column's mean: 70 in f7, 60 in f6, 50 in f5, 40 in f4, and 60 in 3 more columns"
	if s := selection(t, path, "--method", "greedy", "-k", "2"); s.Filled != more {
		t.Errorf("got  %q\nwant %q", s.Filled, more)
	}
}
