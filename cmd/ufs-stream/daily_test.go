package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

const (
	dailyFactors = 5
	dailyColumns = 30
	dailyRows    = 400
)

// factorOf is the factor that column j shows: from the day of the change on, another one. Every
// column has mean 0 and variance 1 before and after, so that no column by itself tells.
func factorOf(j int, changed bool) int {
	if changed {
		return j / (dailyColumns / dailyFactors)
	}
	return j % dailyFactors
}

// dailyValues are the columns of one day.
func dailyValues(day int, changed bool, rows int) (names []string, columns [][]float64) {
	from := int64(day) * dailyRows
	for j := range dailyColumns {
		factor, own := planted.NewSeries(7, uint64(factorOf(j, changed))), planted.NewSeries(7, uint64(100+j))
		x := make([]float64, rows)
		for i := range x {
			x[i] = math.Sqrt(0.9)*factor.Normal(from+int64(i)) + math.Sqrt(0.1)*own.Normal(from+int64(i))
		}
		names, columns = append(names, fmt.Sprintf("x%02d", j)), append(columns, x)
	}
	return names, columns
}

// dayName is the date of a day, counted from 1.
func dayName(day int) string { return fmt.Sprintf("2026-11-%02d", day) }

// dailyPartition writes one day's Hive partition and returns its folder.
func dailyPartition(t *testing.T, data string, day int, changed bool) string {
	t.Helper()
	dir := filepath.Join(data, "day="+dayName(day))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	names, columns := dailyValues(day, changed, dailyRows)
	columnsFile(t, filepath.Join(dir, "part-0.parquet"), names, columns...)
	return dir
}

// scanDays makes the statistics of days 1 to n, the factors changed from day change on.
func scanDays(t *testing.T, n, change int) (stats []string, at func(string) string) {
	t.Helper()
	at = folder(t)
	for day := 1; day <= n; day++ {
		out := at(dayName(day) + ".ufs")
		must(t, "scan", dailyPartition(t, at("data"), day, day >= change), "-o", out)
		stats = append(stats, out)
	}
	return stats, at
}

// verdictOf runs check with JSON output.
func verdictOf(t *testing.T, args ...string) (*ufs.Verdict, int) {
	t.Helper()
	r := invoke(append([]string{"check", "--format", "json"}, args...)...)
	v := new(ufs.Verdict)
	if err := json.Unmarshal([]byte(r.out), v); err != nil {
		t.Fatalf("decoding the verdict: %v\n%s%s", err, r.out, r.err)
	}
	undecided := r.code == exit.Undecided
	if v.Again != (r.code == exit.Stale) || v.Again != (len(v.Why) > 0) || undecided != (len(v.Undecided) > 0) || !v.Again && !undecided && r.code != exit.Done {
		t.Fatalf("exit code %d with the verdict %v %q", r.code, v.Again, v.Why)
	}
	return v, r.code
}

// TestThirtyDays is the daily batch: every day is scanned, merged into the total of a week or
// into one that decays, and the selection checked against it and made anew where it no longer
// serves. Until the factors change on day 20 it serves; within the reach of the total it does not;
// the last selection has one column of each new factor, and diff names those that came and went.
func TestThirtyDays(t *testing.T) {
	change, week := long.CountCases(10, 20), 7
	days := change + week + 3
	stats, at := scanDays(t, days, change)
	for name, files := range map[string]func(day int, yesterday string) []string{
		"window 7":  func(day int, _ string) []string { return append([]string{"--window", "7"}, stats[:day]...) },
		"decay 0.7": func(day int, yesterday string) []string { return []string{"--decay", "0.7", yesterday, stats[day-1]} },
	} {
		sel, baseline, yesterday := at("sel "+name+".json"), at("base "+name+".ufs"), at("first "+name+".ufs")
		must(t, slices.Concat([]string{"merge", "--decay", "0.7", "-o", yesterday}, stats[:week-1])...)
		var again []int
		for day := week; day <= days; day++ {
			total := at(fmt.Sprintf("total %s %02d.ufs", name, day))
			must(t, slices.Concat([]string{"merge", "-o", total}, files(day, yesterday))...)
			yesterday = total
			if day > week {
				v, code := verdictOf(t, "--selection", sel, "--stats", total, "--baseline", baseline)
				if len(v.Gone) > 0 || slices.ContainsFunc(v.Columns, func(c ufs.ColumnShift) bool { return c.Moved != "" }) {
					t.Errorf("%s, day %d: columns are gone or moved, and no column by itself did: %v", name, day, v.Warnings)
				}
				if code == exit.Done {
					continue
				}
				again = append(again, day)
			}
			next := at(fmt.Sprintf("sel %s %02d.json", name, day))
			must(t, "select", "--stats", total, "-k", "5", "-o", next)
			if day > week {
				d := decoded[ufs.Difference](t, "diff", sel, next)
				t.Logf("%s: select again on day %d; came %v, went %v", name, day, namesOf(d.Came), namesOf(d.Went))
				if len(d.Came) == 0 || len(d.Came) != len(d.Went) || len(d.Came)+d.Both != 5 {
					t.Errorf("%s, day %d: %d came, %d went, %d in both", name, day, len(d.Came), len(d.Went), d.Both)
				}
			}
			sel, baseline = next, total
		}
		if len(again) == 0 || again[0] < change || again[0] >= change+week {
			t.Errorf("%s: select again on days %v, want none before %d and one within %d days", name, again, change, week)
		}
		seen := make(map[int]bool)
		for _, column := range names(readSelection(t, sel)) {
			var j int
			fmt.Sscanf(column, "x%d", &j)
			seen[factorOf(j, true)] = true
		}
		if len(seen) != dailyFactors {
			t.Errorf("%s: at the end %v shows %d of the %d new factors", name, names(readSelection(t, sel)), len(seen), dailyFactors)
		}
	}
	// A day by itself shows the change at once.
	old := at("first.json")
	must(t, "select", "--stats", stats[0], "-k", "5", "-o", old)
	for day := 2; day <= days; day++ {
		if v, code := verdictOf(t, "--selection", old, "--stats", stats[day-1]); (code == exit.Stale) != (day >= change) {
			t.Errorf("day %d by itself: exit code %d, %.3f lost", day, code, float64(v.Lost))
		}
	}
}

func namesOf(list []ufs.Change) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// sameToRounding is whether two selections are the same, their errors and scores to rounding.
func sameToRounding(a, b *stream.Selection) bool {
	if !slices.Equal(names(a), names(b)) {
		return false
	}
	for i, f := range a.Selected {
		g := b.Selected[i]
		if math.Abs(float64(f.Error-g.Error)) > 1e-10 || math.Abs(float64(f.Score-g.Score)) > 1e-10*math.Abs(float64(g.Score)) {
			return false
		}
	}
	return true
}

// TestWindowIsTheLastFiles: a window has the statistics of a merge of the last files by name,
// to the last bit, however they are given, and says which are outside of it.
func TestWindowIsTheLastFiles(t *testing.T) {
	stats, at := scanDays(t, 33, 40)
	must(t, append([]string{"merge", "-o", at("last.ufs")}, stats[3:]...)...)
	shuffled := slices.Concat(stats[17:], stats[:17])
	slices.Reverse(shuffled[:9])
	r := invoke(append([]string{"merge", "-v", "--window", "30", "-o", at("window.ufs")}, shuffled...)...)
	if r.code != exit.Done || strings.Count(r.err, "outside the window of 30") != 3 || !strings.Contains(r.err, dayName(3)) || strings.Contains(r.err, dayName(4)) {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	must(t, append([]string{"merge", "--window", "99", "-o", at("all.ufs")}, stats[3:]...)...)
	want := selection(t, "--stats", at("last.ufs"), "-k", "5")
	for file, window := range map[string]string{"window.ufs": "30", "all.ufs": "99"} {
		got := selection(t, "--stats", at(file), "-k", "5")
		if got.Options["window"] != window || got.Options["decay"] != nil {
			t.Errorf("%s records %v", file, got.Options)
		}
		for _, section := range []string{"profile", "moments", "histograms"} {
			if sectionOf(t, at(file), section) != sectionOf(t, at("last.ufs"), section) {
				t.Errorf("%s: section %s is another than of the last 30 files", file, section)
			}
		}
		delete(got.Options, "window")
		if answer(t, got) != answer(t, want) {
			t.Errorf("%s: another selection than from the last 30 files", file)
		}
	}
	ends(t, exit.Usage, "already", append([]string{"merge", "--window", "2", "-o", at("m.ufs"), at("window.ufs")}, stats[:3]...)...)
	ends(t, exit.Usage, "both cover rows", "merge", "--window", "3", "-o", at("m.ufs"), stats[0], stats[1], stats[1])
	must(t, "merge", "--window", "2", "-o", at("m.ufs"), stats[0], stats[0], stats[1], stats[2]) // the same file twice, outside
}

// TestDecayIsWeight: merging with a decay gives what a scan gives of all rows with weights
// γ^age; day by day into a total, or all at once.
func TestDecayIsWeight(t *testing.T) {
	const days, gamma = 6, 0.7
	at := folder(t)
	var stats, files []string
	for day := 1; day <= days; day++ {
		columns, values := dailyValues(day, day >= 4, 100)
		weight := slices.Repeat([]float64{math.Pow(gamma, float64(days-day))}, 100)
		path := columnsFile(t, at(dayName(day)+".parquet"), append(columns, "w"), append(values, weight)...)
		files, stats = append(files, path), append(stats, at(dayName(day)+".ufs"))
		must(t, "scan", path, "--exclude", "w", "-o", stats[day-1])
	}
	must(t, slices.Concat([]string{"merge", "--decay", "0.7", "-o", at("all.ufs")}, stats)...)
	total := at("zzz-total.ufs") // its name is behind every day's, and yet it goes first
	must(t, "merge", "--decay", "0.7", "-o", total, stats[0])
	for _, day := range stats[1:] {
		must(t, "merge", "--decay", "0.7", "-o", at("next.ufs"), day, total)
		write(t, total, read(t, at("next.ufs")))
	}
	for _, scale := range []string{"none", "center", "standard"} {
		weighted := selection(t, slices.Concat(files, []string{"--weight", "w", "--scale", scale, "-k", "5"})...)
		for _, total := range []string{"all.ufs", "zzz-total.ufs"} {
			got := selection(t, "--stats", at(total), "--scale", scale, "-k", "5")
			if !sameToRounding(got, weighted) || got.Options["decay"] != "0.7" || got.RowsUsed != days*100 {
				t.Errorf("%s, scale %s: %v, %d rows, options %v; with weights %v", total, scale, got.Selected, got.RowsUsed, got.Options, weighted.Selected)
			}
		}
	}
	columns, values := dailyValues(9, true, 100)
	day := columnsFile(t, at("new.parquet"), columns, values...)
	must(t, "scan", day, "-o", at("new.ufs"))
	must(t, "scan", day, "-o", at("profile.ufs"), "--profile-only")
	for args, says := range map[string]string{
		"--decay 0.5 all new":        "merged with --decay 0.7",
		"all new":                    "merge them with --decay 0.7",
		"new all":                    "merge them with --decay 0.7",
		"--window 3 all new":         "cannot tell apart",
		"--decay 0.7 all zzz-total":  "both decayed totals",
		"--decay 0 all new":          "above 0",
		"--decay 1.5 all new":        "up to 1",
		"--window 0 all new":         "want 1 or more",
		"--decay 0.7 all 2026-11-06": "both cover rows",
		"--decay 0.7 profile":        "a profile only",
	} {
		list := []string{"merge", "-o", at("m.ufs")}
		for _, arg := range strings.Fields(args) {
			if _, err := os.Stat(at(arg + ".ufs")); err == nil {
				arg = at(arg + ".ufs")
			}
			list = append(list, arg)
		}
		ends(t, exit.Usage, says, list...)
	}
}

// TestDecayOfOne: where nothing decays, a decay changes no bit of the statistics, with or without
// an anchor graph; a decay that leaves nothing of the oldest rows is refused.
func TestDecayOfOne(t *testing.T) {
	at := folder(t)
	var files []string
	for day := 1; day <= 3; day++ {
		columns, values := dailyValues(day, false, dailyRows)
		files = append(files, columnsFile(t, at(dayName(day)+".parquet"), columns, values...))
	}
	graph := []string{"--method", "laplacian", "--anchors", "40"}
	must(t, slices.Concat([]string{"scan", "--profile-only", "-o", at("profile.ufs")}, graph, files)...)
	for kind, flags := range map[string][]string{"gram": nil, "graph": append(graph, "--profile", at("profile.ufs"))} {
		var stats []string
		for i, file := range files {
			out := at(fmt.Sprintf("%s-%d.ufs", kind, i))
			must(t, slices.Concat([]string{"scan", file, "-o", out}, flags)...)
			stats = append(stats, out)
		}
		merge := func(out string, flags ...string) string {
			must(t, slices.Concat([]string{"merge", "-o", at(out)}, flags, stats)...)
			return at(out)
		}
		sum, one, half := merge("sum.ufs"), merge("one.ufs", "--decay", "1"), merge("half.ufs", "--decay", "0.5")
		sections := []string{"profile", "moments", "histograms"}
		if kind == "graph" {
			sections = append(sections, "graph")
		}
		for _, name := range sections {
			if x := sectionOf(t, sum, name); sectionOf(t, one, name) != x || sectionOf(t, half, name) == x {
				t.Errorf("%s: section %s differs with a decay of 1, or does not with one of 0.5", kind, name)
			}
		}
		if kind == "graph" {
			s := selection(t, "--stats", half, "--method", "laplacian", "-k", "4")
			if s.Options["decay"] != "0.5" || len(s.Selected) != 4 {
				t.Errorf("selection from decayed statistics: got features %v and options %v, want 4 features and decay 0.5", s.Selected, s.Options)
			}
		}
		ends(t, exit.Usage, "--window keeps the newest", slices.Concat([]string{"merge", "-o", at("m.ufs"), "--decay", "1e-120"}, stats)...)
	}
}

// sectionOf is what a section of a statistics file holds.
func sectionOf(t *testing.T, path, name string) string {
	t.Helper()
	r, err := chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{})
	if err != nil {
		t.Fatalf("opening the statistics: %v", err)
	}
	defer r.Close()
	body, err := r.SectionReader(name)
	if err != nil {
		t.Fatalf("opening a section of the statistics: %v", err)
	}
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("reading the section: %v", err)
	}
	return string(b)
}
