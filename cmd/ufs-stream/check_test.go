package main

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// checkFiles are the statistics of two days, and a selection from the first.
func checkFiles(t *testing.T) (first, second, sel string, at func(string) string) {
	t.Helper()
	stats, at := scanDays(t, 2, 9)
	must(t, "select", "--stats", stats[0], "-k", "5", "-o", at("sel.json"))
	return stats[0], stats[1], at("sel.json"), at
}

// TestCheckAgainstItself: against the statistics that it was made from, a selection has the
// error that it records, loses nothing to a fresh one, which is the same, and no column moved.
func TestCheckAgainstItself(t *testing.T) {
	stats, _, _, at := checkFiles(t)
	for _, flags := range []string{"-k 5", "-k 5 --scale none", "-k 7 --scale minmax --keep x03,x22", "-k 4 --exclude x0*", "-k 30", "-k 1"} {
		sel := at("own.json")
		must(t, append([]string{"select", "--stats", stats, "-o", sel}, strings.Fields(flags)...)...)
		s := readSelection(t, sel)
		v, code := verdictOf(t, "--selection", sel, "--stats", stats, "--baseline", stats, "--psi-limit", "0.01")
		recorded := float64(s.Selected[len(s.Selected)-1].Error)
		for name, got := range map[string]float64{"error": float64(v.Error), "fresh error": float64(v.Fresh), "error by its own weights": float64(v.ByOldWeights)} {
			if math.Abs(got-recorded) > 1e-10 { // sums of 400 rows of 30 columns
				t.Errorf("%s: %s %g, recorded %g", flags, name, got, recorded)
			}
		}
		if code != exit.Done || math.Abs(float64(v.Lost)) > 1e-10 || !slices.Equal(v.FreshNames, names(s)) || len(v.Columns) != s.Features {
			t.Errorf("%s: exit code %d, lost %g, fresh %v, %d columns", flags, code, float64(v.Lost), v.FreshNames, len(v.Columns))
		}
		for _, c := range v.Columns {
			if c.PSI != 0 || c.Mean != 0 || c.Variance != 1 || c.IfNormal != 0 || c.Selected != slices.Contains(names(s), c.Name) {
				t.Errorf("%s: the data moved against itself: got %+v, want no shift", flags, c)
			}
		}
	}
}

// TestCheckOldWeights: weights of another day leave at least what fitted ones leave, and on the
// same factors not much more.
func TestCheckOldWeights(t *testing.T) {
	first, second, sel, _ := checkFiles(t)
	v, _ := verdictOf(t, "--selection", sel, "--stats", second, "--baseline", first)
	if !(v.ByOldWeights >= v.Error) || v.ByOldWeights > 1.2*v.Error {
		t.Errorf("left by old weights %g, by fitted ones %g", float64(v.ByOldWeights), float64(v.Error))
	}
}

// movedDay is statistics of day 2 after an edit of its columns.
func movedDay(t *testing.T, at func(string) string, edit func(names []string, columns [][]float64) ([]string, [][]float64)) string {
	t.Helper()
	columns, values := edit(dailyValues(2, false, dailyRows))
	out := at("moved.ufs")
	must(t, "scan", columnsFile(t, at("moved.parquet"), columns, values...), "-o", out)
	return out
}

// TestCheckGone: a selected column that is absent or constant is a reason by itself; one that
// is not selected is none.
func TestCheckGone(t *testing.T) {
	_, _, sel, at := checkFiles(t)
	first := names(readSelection(t, sel))[0]
	for why, edit := range map[string]func(name string, col []float64) (string, []float64){
		"no column of this name": func(name string, col []float64) (string, []float64) { return "z" + name, col },
		"constant (3": func(name string, col []float64) (string, []float64) {
			return name, slices.Repeat([]float64{3}, len(col))
		},
	} {
		stats := movedDay(t, at, func(names []string, columns [][]float64) ([]string, [][]float64) {
			j := slices.Index(names, first)
			names[j], columns[j] = edit(names[j], columns[j])
			return names, columns
		})
		v, code := verdictOf(t, "--selection", sel, "--stats", stats, "--tolerance", "1")
		if code != exit.Stale || len(v.Gone) != 1 || v.Gone[0].Name != first || !strings.Contains(v.Gone[0].Why, why) || !strings.Contains(v.Why[0], first) {
			t.Errorf("%s: exit code %d, gone %v, why %q", why, code, v.Gone, v.Why)
		}
		r := invoke("check", "--selection", sel, "--stats", stats, "--tolerance", "1")
		if r.code != exit.Stale || !strings.Contains(r.out, "select again:") || !strings.Contains(r.err, "select again: gone is a feature") {
			t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
		}
	}
	stats := movedDay(t, at, func(names []string, columns [][]float64) ([]string, [][]float64) {
		for j, name := range names {
			if !slices.Contains([]string{first}, name) && !slices.Contains(readNames(t, sel), name) {
				return slices.Delete(names, j, j+1), slices.Delete(columns, j, j+1)
			}
		}
		return names, columns
	})
	if v, code := verdictOf(t, "--selection", sel, "--stats", stats); code != exit.Done || len(v.Columns) != dailyColumns || v.Columns[0].Moved != ufs.Disappeared {
		t.Errorf("exit code %d, %d columns, %q", code, len(v.Columns), v.Why)
	}
}

func readNames(t *testing.T, path string) []string { return names(readSelection(t, path)) }

// TestCheckChanged: a column outside the selection that is constant, empty, or gone now, or was so before, is
// among those that moved, with the reason; it is a reason to select again only with a limit.
func TestCheckChanged(t *testing.T) {
	_, _, sel, at := checkFiles(t)
	outside := slices.DeleteFunc(slices.Clone(dailyNames()), func(name string) bool { return slices.Contains(readNames(t, sel), name) })
	outside = outside[len(outside)-1:]
	steady := func(value float64) func(names []string, columns [][]float64) ([]string, [][]float64) {
		return func(names []string, columns [][]float64) ([]string, [][]float64) {
			columns[slices.Index(names, outside[0])] = slices.Repeat([]float64{value}, dailyRows)
			return names, columns
		}
	}
	scanned := func(name string, edit func(names []string, columns [][]float64) ([]string, [][]float64)) (file, stats string) {
		names, columns := edit(dailyValues(1, false, dailyRows))
		file, stats = columnsFile(t, at(name+".parquet"), names, columns...), at(name+".ufs")
		must(t, "scan", file, "-o", stats, "--missing", "mean")
		return file, stats
	}
	whole := func(names []string, columns [][]float64) ([]string, [][]float64) { return names, columns }
	without := func(names []string, columns [][]float64) ([]string, [][]float64) {
		j := slices.Index(names, outside[0])
		return slices.Delete(names, j, j+1), slices.Delete(columns, j, j+1)
	}
	for name, c := range map[string]struct {
		before, after func(names []string, columns [][]float64) ([]string, [][]float64)
		moved, why    string
	}{
		"constant":       {whole, steady(3), ufs.BecameConstant, "constant (3 in every row)"},
		"empty":          {whole, steady(nan), ufs.Disappeared, "no value observed"},
		"gone":           {whole, without, ufs.Disappeared, "no column of this name"},
		"back":           {steady(3), whole, ufs.CameBack, "constant (3 in every row)"},
		"back, empty":    {steady(nan), whole, ufs.CameBack, "no value observed"},
		"another value":  {steady(3), steady(4), ufs.BecameConstant, "constant (4 in every row)"},
		"constant, gone": {steady(3), without, ufs.Disappeared, "no column of this name"},
		"same value":     {steady(3), steady(3), "", ""},
		"the same":       {whole, whole, "", ""},
	} {
		file, baseline := scanned("before", c.before)
		_, stats := scanned("after", c.after)
		must(t, "select", file, "-k", "5", "--missing", "mean", "-o", at("own.json"))
		if slices.Contains(readNames(t, at("own.json")), outside[0]) {
			t.Fatalf("%s: %s is chosen", name, outside[0])
		}
		for _, since := range [][]string{nil, {"--baseline", baseline}} {
			args := append([]string{"--selection", at("own.json"), "--stats", stats}, since...)
			v, code := verdictOf(t, args...)
			var moved []string
			for _, col := range v.Columns {
				if col.Moved != "" {
					moved = append(moved, col.Name+" "+col.Moved)
					if !strings.Contains(col.Why, c.why) {
						t.Errorf("%s: the moved column is %+v", name, col)
					}
				}
			}
			var want []string
			if c.moved != "" {
				want = []string{outside[0] + " " + c.moved}
			}
			if code != exit.Done || !slices.Equal(moved, want) || strings.Contains(strings.Join(v.Warnings, "\n"), outside[0]) != (want != nil) {
				t.Errorf("%s %v: exit code %d, moved %q, want %q; %q", name, since, code, moved, want, v.Warnings)
			}
			v, code = verdictOf(t, append(args, "--psi-limit", "0.25")...)
			if (code == exit.Stale) != (want != nil) || want != nil && !strings.Contains(v.Why[0], outside[0]+" ("+c.why) && !strings.Contains(v.Why[0], c.why) {
				t.Errorf("%s %v with a limit: exit code %d, why %q", name, since, code, v.Why)
			}
			if out := invoke(append([]string{"check"}, args...)...).out; want != nil && !strings.Contains(out, c.why) {
				t.Errorf("%s: the table has no reason:\n%s", name, out)
			}
		}
	}
}

func dailyNames() []string {
	names, _ := dailyValues(1, false, 1)
	return names
}

// TestCheckMoved: a column whose values moved is named in a warning, by histograms or, without
// a baseline that has any, by mean and spread; it is a reason only where a limit says so.
func TestCheckMoved(t *testing.T) {
	first, _, sel, at := checkFiles(t)
	stats := movedDay(t, at, func(names []string, columns [][]float64) ([]string, [][]float64) {
		for i := range columns[4] {
			columns[4][i] += 1.5 // deviations: the index is 1.5² = 2.25, less what groups lose
			columns[9][i] *= 1.5 // the index is (2.25 + 1/2.25)/2 − 1 = 0.35
		}
		return names, columns
	})
	plain := withoutHistograms(t, first, at("plain.ufs"))
	for name, baseline := range map[string][]string{"histograms": {"--baseline", first}, "profiles": {"--baseline", plain}, "selection": nil} {
		v, code := verdictOf(t, append([]string{"--selection", sel, "--stats", stats}, baseline...)...)
		var moved []string
		for _, c := range v.Columns {
			if c.Moved != "" {
				moved = append(moved, c.Name)
			}
			if histograms := !math.IsNaN(float64(c.PSI)); histograms != (name == "histograms") {
				t.Fatalf("%s: index %v", name, c.PSI)
			}
		}
		if code != exit.Done || !slices.Equal(moved, []string{"x04", "x09"}) || !strings.Contains(strings.Join(v.Warnings, "\n"), "x04") {
			t.Errorf("%s: exit code %d, moved %v, warnings %q", name, code, moved, v.Warnings)
		}
		if c := v.Columns[4]; c.Index() < 1.2 || c.Index() > 3 || c.Moved != ufs.MovedMuch || math.Abs(float64(c.Mean)-1.5) > 0.25 {
			t.Errorf("%s: column 4: got %+v, want it moved by a mean of about 1.5", name, c)
		}
		if c := v.Columns[9]; math.Abs(float64(c.Variance)-2.25) > 0.6 {
			t.Errorf("%s: column 9: got %+v, want a variance ratio of about 2.25", name, c)
		}
		limited := append([]string{"--selection", sel, "--stats", stats, "--psi-limit", "0.5"}, baseline...)
		if v, code := verdictOf(t, limited...); code != exit.Stale || !strings.Contains(v.Why[0], "x04") || strings.Contains(v.Why[0], "x09") {
			t.Errorf("%s: exit code %d, why %q", name, code, v.Why)
		}
	}
	if out := invoke("check", "--selection", sel, "--stats", stats, "--baseline", first).out; !strings.Contains(out, "index (PSI)") || !strings.Contains(out, "still serves") {
		t.Errorf("the table is\n%s", out)
	}
}

// section passes the bytes of a section on.
type section struct{ io.Reader }

func (s section) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, s.Reader) }

// withoutHistograms is a statistics file as versions before histograms wrote it, but for the positions of
// columns and a section that none knows.
func withoutHistograms(t *testing.T, path, to string) string {
	t.Helper()
	r, err := chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{})
	if err != nil {
		t.Fatalf("opening the statistics: %v", err)
	}
	defer r.Close()
	if !r.Has("histograms") {
		t.Fatalf("%s has no histograms", path)
	}
	sections := []chunkio.Section{{Name: "of the future", Body: section{strings.NewReader("what it may be")}}}
	for _, name := range []string{"profile", "moments", "positions", "sample"} {
		body, err := r.SectionReader(name)
		if err != nil {
			t.Fatalf("opening a section of the statistics: %v", err)
		}
		sections = append(sections, chunkio.Section{Name: name, Body: section{body}})
	}
	if err := chunkio.WriteStats(t.Context(), to, r.Header, sections...); err != nil {
		t.Fatalf("writing the statistics: %v", err)
	}
	return to
}

// TestStatsOfOtherVersions: sections that a program does not know are passed over, and files
// without histograms serve selections; merged with others, they leave no histograms, and say so.
func TestStatsOfOtherVersions(t *testing.T) {
	first, second, _, at := checkFiles(t)
	plain := withoutHistograms(t, first, at("plain.ufs"))
	if a, b := selection(t, "--stats", first, "-k", "5"), selection(t, "--stats", plain, "-k", "5"); answer(t, a) != answer(t, b) {
		t.Error("another selection without histograms")
	}
	for _, order := range [][]string{{plain, second}, {second, plain}} {
		r := invoke(append([]string{"merge", "-o", at("both.ufs")}, order...)...)
		if r.code != exit.Done || !strings.Contains(r.err, "without histograms") {
			t.Errorf("exit code %d: %s", r.code, r.err)
		}
		s, err := chunkio.OpenStats(t.Context(), at("both.ufs"), chunkio.FetchOptions{})
		if err != nil || s.Has("histograms") {
			t.Errorf("histograms of a part: %v", err)
		}
		s.Close()
	}
}

// TestCheckOtherMethods: a method that does not aim at the least error is measured by what it
// lost on the baseline already, and not at all without one.
func TestCheckOtherMethods(t *testing.T) {
	first, second, _, at := checkFiles(t)
	sel := at("random.json")
	must(t, "select", "--stats", first, "--method", "random", "-k", "3", "-o", sel)
	s := readSelection(t, sel)
	for i, name := range []string{"x00", "x05", "x10"} { // all of one factor: a poor choice
		s.Selected[i].Name = name
	}
	var b strings.Builder
	if err := s.Encode(&b); err != nil {
		t.Fatalf("encoding the selection: %v", err)
	}
	write(t, sel, b.String())
	v, code := verdictOf(t, "--selection", sel, "--stats", second)
	if code != exit.Undecided || !strings.Contains(strings.Join(v.Undecided, "\n"), "--baseline") || v.Lost < 0.1 {
		t.Errorf("exit code %d, lost %g, %q", code, float64(v.Lost), v.Undecided)
	}
	if r := invoke("check", "--selection", sel, "--stats", second); !strings.Contains(r.out, "cannot tell") || strings.Contains(r.out, "still serves\n") {
		t.Errorf("the verdict is\n%s", r.out)
	}
	// Of its own data nothing can be lost since, however poor the choice is.
	if v, code := verdictOf(t, "--selection", sel, "--stats", first); code != exit.Done || v.Lost < 0.1 || v.LostSince != 0 {
		t.Errorf("its own data: exit code %d, lost %g, since %g, want 0, 0.1 or more, 0; %q", code, float64(v.Lost), float64(v.LostSince), v.Undecided)
	}
	v, code = verdictOf(t, "--selection", sel, "--stats", second, "--baseline", first)
	if code != exit.Done || math.Abs(float64(v.Lost-v.LostBefore)) > 0.05 {
		t.Errorf("exit code %d, lost %g, before %g", code, float64(v.Lost), float64(v.LostBefore))
	}
}

// TestCheckMissing: a column that gets missing values moved, and is a reason to select again
// only once it has no other.
func TestCheckMissing(t *testing.T) {
	_, _, _, at := checkFiles(t)
	columns, values := dailyValues(1, false, dailyRows)
	file := columnsFile(t, at("a.parquet"), columns, values...)
	for i := range values[3] {
		if i%2 == 0 {
			values[3][i] = nan
		}
	}
	holed := columnsFile(t, at("b.parquet"), columns, values...)
	must(t, "scan", file, "--missing", "mean", "-o", at("a.ufs"))
	must(t, "scan", holed, "--missing", "mean", "-o", at("b.ufs"))
	for _, missing := range []string{"mean", "zero"} {
		must(t, "select", file, "--missing", missing, "-k", "5", "-o", at("m.json"))
		v, _ := verdictOf(t, "--selection", at("m.json"), "--stats", at("b.ufs"), "--baseline", at("a.ufs"))
		for _, c := range v.Columns {
			if (c.Moved == ufs.MovedMuch) != (c.Name == "x03") {
				t.Errorf("--missing %s: got %+v, want only x03 moved much", missing, c)
			}
		}
	}
}

// TestDiff: what came and went, who stands for whom, and which settings differ.
func TestDiff(t *testing.T) {
	first, _, sel, at := checkFiles(t)
	other := at("other.json")
	must(t, "select", "--stats", first, "-k", "6", "--exclude", names(readSelection(t, sel))[0], "--scale", "center", "-o", other)
	d := decoded[ufs.Difference](t, "diff", sel, other)
	back := decoded[ufs.Difference](t, "diff", other, sel)
	if !slices.Equal(namesOf(d.Came), namesOf(back.Went)) || !slices.Equal(namesOf(d.Went), namesOf(back.Came)) || len(d.Moved) != len(back.Moved) {
		t.Errorf("there %+v, back %+v", d, back)
	}
	if d.Both+len(d.Came) != 6 || d.Both+len(d.Went) != 5 || len(d.Came) == 0 {
		t.Errorf("%d in both, %d came, %d went", d.Both, len(d.Came), len(d.Went))
	}
	if gone := d.Went[0]; gone.Rank != 1 || gone.Why != "excluded" {
		t.Errorf("the excluded feature: %+v", gone)
	}
	for _, f := range d.Came {
		if !(f.Explained > 0.5) || !slices.Contains(readNames(t, sel), f.Nearest) {
			t.Errorf("came: %+v", f)
		}
	}
	var settings []string
	for _, s := range d.Settings {
		settings = append(settings, s.Option+" "+s.Old+" "+s.New)
	}
	if want := []string{"exclude  " + names(readSelection(t, sel))[0], "k 5 6", "scale standard center"}; len(settings) != 3 || !slices.Equal(settings, want) {
		t.Errorf("settings %q, want %q", settings, want)
	}
	out := must(t, "diff", sel, other)
	for _, words := range []string{"came", "went", "excluded", "standard", "setting"} {
		if !strings.Contains(out, words) {
			t.Errorf("no %q in\n%s", words, out)
		}
	}
	if same := must(t, "diff", sel, sel); !strings.Contains(same, "5 features in both, 0 came, 0 went") || strings.Contains(same, "setting") {
		t.Errorf("of one selection with itself:\n%s", same)
	}
}

// TestCheckAndDiffRefuse: bad requests have their exit codes, and no output replaces an input.
func TestCheckAndDiffRefuse(t *testing.T) {
	first, _, sel, at := checkFiles(t)
	profile := at("profile.ufs")
	must(t, "scan", filepath.Join(at("data"), "day="+dayName(1)), "--profile-only", "-o", profile)
	text := write(t, at("text.json"), "{}")
	with := "check --selection " + sel + " --stats " + first
	checkAll(t, []outcome{
		{"diff " + sel, exit.Usage, "want two"},
		{"diff " + sel + " " + text, exit.Data, "not a selection"},
		{"diff " + sel + " " + at("none.json"), exit.Data, "none.json"},
		{"diff " + sel + " " + sel + " --format csv", exit.Usage, "want table, json"},
		{"diff " + sel + " " + sel + " -o " + sel, exit.Usage, "replace the input"},
		{"check", exit.Usage, "--selection SEL.json"},
		{"check --selection " + sel, exit.Usage, "--stats NEW.ufs"},
		{with + " " + first, exit.Usage, "takes no INPUT"},
		{with + " --tolerance 2", exit.Usage, "share"},
		{with + " --tolerance 0", exit.Usage, "share"},
		{with + " --psi-limit 0", exit.Usage, "above 0"},
		{with + " -o " + sel, exit.Usage, "replace the input"},
		{with + " --format json -o " + first, exit.Usage, "replace the input"},
		{with + " --baseline " + profile, exit.Usage, "a profile only"},
		{"check --selection " + sel + " --stats " + profile, exit.Usage, "a profile only"},
		{"check --selection " + sel + " --stats " + at("none.ufs"), exit.Data, "none.ufs"},
		{"check --selection " + text + " --stats " + first, exit.Data, "not a selection"},
		{with + " --memory-limit 10MiB", exit.Memory, "--memory-limit"},
		{with + " -o " + at("none/v.json"), exit.Fault, "create the folder"},
		{with + " -o /dev/full", exit.Fault, "cannot write"},
		{with, exit.Done, ""},
	}, filepath.Dir(sel))
	r := invoke(append(strings.Fields(with), "--memory-limit", "10MiB")...)
	_, limit, _ := strings.Cut(retryCommand(r.err), "--memory-limit ")
	must(t, append(strings.Fields(with), "--memory-limit", limit)...)
}
