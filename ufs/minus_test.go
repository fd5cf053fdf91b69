package ufs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

var dayColumns = []string{"a:double", "b:double", "c:double", "ab:double", "far:double", "gap:double", "count:int32", "kind:int32", "weight:double"}

// dayFile writes the rows of a day, scaled by spread. The columns far and gap have a large offset and missing values.
func dayFile(t *testing.T, dir string, day, rows int, spread float64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(day), 55))
	values := make(map[string][]float64)
	add := func(name string, v float64) { values[name] = append(values[name], v) }
	for range rows {
		a, b, c := spread*rng.NormFloat64(), spread*rng.NormFloat64(), spread*rng.NormFloat64()
		gap := b + rng.NormFloat64()
		if rng.IntN(9) == 0 {
			gap = math.NaN()
		}
		for i, v := range []float64{3 * a, 2 * b, c, a + b + .1*rng.NormFloat64(), 1e7 + c + .2*rng.NormFloat64(), gap, float64(rng.IntN(6)), float64(rng.IntN(2)), 1 + rng.Float64()} {
			name, _, _ := strings.Cut(dayColumns[i], ":")
			add(name, v)
		}
	}
	return typedFile(t, filepath.Join(dir, fmt.Sprintf("%02d.parquet", day)), values, dayColumns...)
}

// days scans some days, each into a file of its own.
func days(t *testing.T, q ufs.ScanRequest, count int) (stats []string) {
	t.Helper()
	dir := t.TempDir()
	for day := range count {
		stats = append(stats, scan(t, q, dayFile(t, dir, day, 90+day, 1)))
	}
	return stats
}

func greedyOf(t *testing.T, stats string) string {
	t.Helper()
	return fmt.Sprint(picked(must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 4}}))(t)))
}

// roundingIn is the rounding error that the warnings of a file state.
func roundingIn(t *testing.T, stats string) float64 {
	t.Helper()
	found := regexp.MustCompile(`by about ([0-9e.+-]+), and`).FindStringSubmatch(strings.Join(headerOf(t, stats).Warnings, "\n"))
	if found == nil {
		t.Fatalf("warnings %q state no rounding error", headerOf(t, stats).Warnings)
	}
	return must.Get(strconv.ParseFloat(found[1], 64))(t)
}

// TestMinusIsTheRest: 30 days less some are the sum of the other days, whatever shaped the statistics.
func TestMinusIsTheRest(t *testing.T) {
	for name, edit := range map[string]func(*ufs.ScanRequest){
		"plain":    func(*ufs.ScanRequest) {},
		"zero":     func(q *ufs.ScanRequest) { q.Columns.Missing = "zero" },
		"pairwise": func(q *ufs.ScanRequest) { q.Columns.Missing = "pairwise" },
		"weights":  func(q *ufs.ScanRequest) { q.Columns.Weight = "weight" },
		"label":    func(q *ufs.ScanRequest) { q.Columns.Label = "kind" },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "zero" || name == "label" {
				long.SkipTest(t)
			}
			var q ufs.ScanRequest
			edit(&q)
			stats := days(t, q, 30)
			shuffled := slices.Clone(stats)
			rand.New(rand.NewPCG(5, 5)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			all := merged(t, ufs.MergeRequest{}, shuffled...)
			rest, want := merged(t, ufs.MergeRequest{Minus: stats[7:8]}, all), merged(t, ufs.MergeRequest{}, slices.Concat(stats[:7], stats[8:])...)
			sameRest(t, "less a day", rest, want)
			if rounding := roundingIn(t, rest); rounding > 1e-12 {
				t.Errorf("the rounding is %g", rounding)
			}
			// More days go, some at once, and one comes back.
			rest = merged(t, ufs.MergeRequest{Minus: []string{stats[29], stats[0], stats[12]}}, rest)
			left := slices.Concat(stats[1:7], stats[8:12], stats[13:29])
			sameRest(t, "less four days", rest, merged(t, ufs.MergeRequest{}, left...))
			sameRest(t, "with one again", merged(t, ufs.MergeRequest{}, stats[12], rest), merged(t, ufs.MergeRequest{}, append(left, stats[12])...))
			sameRest(t, "in one go", merged(t, ufs.MergeRequest{Minus: stats[:1]}, stats...), merged(t, ufs.MergeRequest{}, stats[1:]...))
			refused(t, exit.Usage, "both cover rows", ufs.MergeRequest{}, rest, stats[4])
			refused(t, exit.Usage, "do not have all its rows", ufs.MergeRequest{Minus: stats[12:13]}, rest)
		})
	}
}

// sameRest compares a file from which rows were subtracted with one that never had them.
func sameRest(t *testing.T, what, got, want string) {
	t.Helper()
	near(t, what, got, want)
	a, b := headerOf(t, got), headerOf(t, want)
	order := func(x, y stream.Input) int { return strings.Compare(x.Path, y.Path) }
	slices.SortFunc(a.Inputs, order)
	slices.SortFunc(b.Inputs, order)
	if !slices.Equal(a.Inputs, b.Inputs) || !slices.Equal(a.Ranges, b.Ranges) || a.Subtracted == 0 {
		t.Errorf("%s: %d inputs, rows %v, want %d, %v; %d subtracted", what, len(a.Inputs), a.Ranges, len(b.Inputs), b.Ranges, a.Subtracted)
	}
	p, q := profileOf(t, got), profileOf(t, want)
	if p.Rows != q.Rows || p.Seen != q.Seen || math.Abs(p.Weight-q.Weight) > 1e-12*q.Weight {
		t.Errorf("%s: %d rows of %d, weight %v, want %d of %d, %v", what, p.Rows, p.Seen, p.Weight, q.Rows, q.Seen, q.Weight)
	}
	for j := range p.Columns {
		x, y := p.Columns[j], q.Columns[j]
		if mean, want := x.Pilot+x.Sum/x.Weight, y.Pilot+y.Sum/y.Weight; x.Observed != y.Observed || x.Missing != y.Missing || x.Min > y.Min || x.Max < y.Max || math.Abs(mean-want) > 1e-12*math.Max(1, math.Abs(want)) {
			t.Errorf("%s: column %d: got %+v, want %+v", what, j, x, y)
		}
	}
	if x, y := greedyOf(t, got), greedyOf(t, want); x != y {
		t.Errorf("%s: selected %s, want %s", what, x, y)
	}
}

// TestMinusMeasuresRounding: a day whose values are much larger leaves its rounding error behind, no more than stated.
func TestMinusMeasuresRounding(t *testing.T) {
	dir := t.TempDir()
	small, other := scan(t, ufs.ScanRequest{}, dayFile(t, dir, 1, 300, 1)), scan(t, ufs.ScanRequest{}, dayFile(t, dir, 2, 300, 1))
	want := merged(t, ufs.MergeRequest{}, small, other)
	last := 0.0
	for i, spread := range []float64{1, 1e2, 1e4, 1e6} {
		large := scan(t, ufs.ScanRequest{}, dayFile(t, dir, 10+i, 300, spread))
		rest := merged(t, ufs.MergeRequest{Minus: []string{large}}, small, large, other)
		a, b := gramOf(t, rest), gramOf(t, want)
		worst := 0.0
		for i := range b.D {
			for j := range b.D {
				worst = max(worst, math.Abs(a.Sym[i*b.D+j]-b.Sym[i*b.D+j])/math.Sqrt(b.Sym[i*b.D+i]*b.Sym[j*b.D+j]))
			}
		}
		stated := roundingIn(t, rest)
		t.Logf("spread %g: error %g, stated %g", spread, worst, stated)
		if worst > stated || stated > 1e5*worst || stated < last {
			t.Errorf("spread %g: the error is %g, and %g is stated", spread, worst, stated)
		}
		last = stated
	}
}

// TestMinusOfRanges: the rows to subtract may be some of a file, and the same contents may be read twice.
func TestMinusOfRanges(t *testing.T) {
	dir := t.TempDir()
	path := dayFile(t, dir, 3, 400, 1)
	var shards []string
	for i := range 4 {
		shards = append(shards, scan(t, ufs.ScanRequest{Shard: fmt.Sprintf("%d/4", i+1)}, path))
	}
	whole := scan(t, ufs.ScanRequest{}, path)
	sameRest(t, "less a shard", merged(t, ufs.MergeRequest{Minus: shards[1:2]}, whole), merged(t, ufs.MergeRequest{}, shards[0], shards[2], shards[3]))
	sameRest(t, "less two shards", merged(t, ufs.MergeRequest{Minus: []string{shards[3], shards[0]}}, shards...), merged(t, ufs.MergeRequest{}, shards[1], shards[2]))
	refused(t, exit.Usage, "do not have all its rows", ufs.MergeRequest{Minus: []string{whole}}, shards[0], shards[1])
	refused(t, exit.Usage, "both cover rows", ufs.MergeRequest{Minus: []string{shards[1], shards[1]}}, whole)
	refused(t, exit.Usage, "no rows would be left", ufs.MergeRequest{Minus: shards}, whole)
	twin := filepath.Join(dir, "twin.parquet")
	must.Do(t, os.WriteFile(twin, contents(t, path), 0o600))
	both := scan(t, ufs.ScanRequest{}, path, twin)
	once := merged(t, ufs.MergeRequest{Minus: []string{whole}}, both)
	near(t, "one of two copies", once, whole)
	if h := headerOf(t, once); len(h.Inputs) != 1 {
		t.Errorf("%d inputs are left of two copies less one", len(h.Inputs))
	}
}

// TestMinusOfOtherOrders: the files to subtract may have their columns in another order, and other numeric types.
func TestMinusOfOtherOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 3))
	dir := t.TempDir()
	file := func(name string, columns ...string) string {
		return scan(t, ufs.ScanRequest{}, typedFile(t, filepath.Join(dir, name), randomColumns(rng, 150, "p", "q", "r", "s"), columns...))
	}
	a, b := file("a.parquet", "s:double", "q:int32", "r:double", "p:double"), file("b.parquet", "p:double", "q:double", "r:double", "s:float")
	near(t, "less the later file", merged(t, ufs.MergeRequest{Minus: []string{b}}, b, a), a)
	all := merged(t, ufs.MergeRequest{}, b, a)
	rest := merged(t, ufs.MergeRequest{Minus: []string{a}}, all)
	if !bytes.Equal(section(t, rest, "positions"), section(t, all, "positions")) {
		t.Error("the columns have other positions in the input than before")
	}
	near(t, "less the file with the order", rest, scan(t, ufs.ScanRequest{}, inOrder(t, filepath.Join(dir, "b.parquet"), filepath.Join(dir, "a.parquet"))))
}

// TestMinusOfATable: a file of a table is subtracted from a version of it, and the rest is of no version.
func TestMinusOfATable(t *testing.T) {
	l := newLake(t, 55)
	l.commit(l.addRows(l.newRows(70), true))
	whole, file := l.scanned(-1, 0), l.firstFile()
	var others []string
	for name := range l.past[0] {
		if name != file {
			others = append(others, filepath.Join(l.dir, name))
		}
	}
	part := scan(t, ufs.ScanRequest{}, filepath.Join(l.dir, file))
	rest := merged(t, ufs.MergeRequest{Minus: []string{part}}, whole)
	near(t, "less a file", rest, scan(t, ufs.ScanRequest{}, others...))
	if h := headerOf(t, rest); h.Table != nil || len(h.Inputs) != len(others) {
		t.Errorf("the rest is of the table %+v and %d files, want no table and %d", h.Table, len(h.Inputs), len(others))
	}
	changes := l.scanned(0, 1)
	refused(t, exit.Usage, "is of no version of a table", ufs.MergeRequest{}, rest, changes)
	refused(t, exit.Usage, "which has changes of a table", ufs.MergeRequest{Minus: []string{part}}, whole, changes)
	refused(t, exit.Usage, "which has changes of a table", ufs.MergeRequest{Minus: []string{changes}}, whole)
}

func TestMinusRefused(t *testing.T) {
	dir := t.TempDir()
	a, b := dayFile(t, dir, 1, 200, 1), dayFile(t, dir, 2, 200, 1)
	scanBoth := func(edit func(*ufs.ScanRequest)) (all, part string) {
		var q ufs.ScanRequest
		edit(&q)
		part = scan(t, q, a)
		return scan(t, q, a, b), part
	}
	all, part := scanBoth(func(*ufs.ScanRequest) {})
	for says, edit := range map[string]func(*ufs.ScanRequest){
		"profile statistics do not": func(q *ufs.ScanRequest) { q.ProfileOnly = true },
		"hash shards":               func(q *ufs.ScanRequest) { q.Choice.Stability = 4 },
		"graph statistics do not": func(q *ufs.ScanRequest) {
			q.Choice.Method, q.Choice.Options = "laplacian", method.Settings{"anchors": 50}
		},
		"rows drawn at random":     func(q *ufs.ScanRequest) { q.SampleRows = 50 },
		"sketch statistics do not": func(q *ufs.ScanRequest) { q.Choice.Sketch = "16" },
	} {
		all, part := scanBoth(edit)
		refused(t, exit.Usage, says, ufs.MergeRequest{Minus: []string{part}}, all)
	}
	profile := scan(t, ufs.ScanRequest{ProfileOnly: true, Request: ufs.Request{Choice: ufs.Choice{Scale: "rank"}}}, a, b)
	ranked, rankedPart := scanBoth(func(q *ufs.ScanRequest) { q.Profile, q.Choice.Scale = profile, "rank" })
	refused(t, exit.Usage, "ranks (scale rank) do not", ufs.MergeRequest{Minus: []string{rankedPart}}, ranked)
	decayed := merged(t, ufs.MergeRequest{Decay: .9}, part, scan(t, ufs.ScanRequest{}, b))
	refused(t, exit.Usage, "weigh less the older", ufs.MergeRequest{Minus: []string{part}}, decayed)
	for _, m := range []ufs.MergeRequest{{Window: 2}, {Decay: .9}, {Partial: true}} {
		m.Minus = []string{part}
		refused(t, exit.Usage, "does not go with window, decay or partial", m, all)
	}
	refused(t, exit.Usage, "their options differ", ufs.MergeRequest{Minus: []string{scan(t, ufs.ScanRequest{Request: ufs.Request{Columns: ufs.Columns{Missing: "drop-row"}}}, a)}}, all)
	refused(t, exit.Usage, "their columns differ", ufs.MergeRequest{Minus: []string{scan(t, ufs.ScanRequest{Request: ufs.Request{Columns: ufs.Columns{Exclude: []string{"a"}}}}, a)}}, all)
	window := merged(t, ufs.MergeRequest{Window: 2}, part, scan(t, ufs.ScanRequest{}, b))
	near(t, "less a day of a window", merged(t, ufs.MergeRequest{Minus: []string{part}}, window), scan(t, ufs.ScanRequest{}, b))
	rest := merged(t, ufs.MergeRequest{Minus: []string{part}}, all)
	_, err := ufs.Select(t.Context(), ufs.Request{Stats: rest, Choice: ufs.Choice{K: 3, Method: "greedy", Scale: "minmax"}})
	if exit.CodeOf(err) != exit.Usage || !strings.Contains(fmt.Sprint(err), "were subtracted") {
		t.Errorf("scale minmax: %v, want a refusal", err)
	}
}

// TestMinusStopped: wherever a subtraction is stopped, it leaves nothing behind.
func TestMinusStopped(t *testing.T) {
	stats := days(t, ufs.ScanRequest{}, 3)
	m := ufs.MergeRequest{Files: stats, Minus: stats[:2], Output: filepath.Join(t.TempDir(), "rest.ufs")}
	for reports := 1; reports <= 2; reports++ {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		m.Hooks.Progress = func(ufs.Progress) {
			if seen++; seen == reports {
				cancel()
			}
		}
		if _, err := ufs.Merge(ctx, m); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at report %d: %v", reports, err)
		}
		if left := must.Get(os.ReadDir(filepath.Dir(m.Output)))(t); len(left) > 0 {
			t.Errorf("stopped at report %d: left behind: %v", reports, left)
		}
	}
	m.Hooks.Progress = nil
	must.Get(ufs.Merge(t.Context(), m))(t)
	near(t, "not stopped", m.Output, stats[2])
}

// TestMinRows: files with too few rows are named, counted without the rows that were left out, and so is a small rest.
func TestMinRows(t *testing.T) {
	stats := days(t, ufs.ScanRequest{}, 4) // of 90 to 93 rows
	merged(t, ufs.MergeRequest{MinRows: 90}, stats...)
	refused(t, exit.Usage, filepath.Base(filepath.Dir(stats[0])), ufs.MergeRequest{MinRows: 91}, stats...)
	refused(t, exit.Usage, stats[0]+", "+stats[1]+"; leave", ufs.MergeRequest{MinRows: 92}, stats...)
	refused(t, exit.Usage, "only 92 rows would be left", ufs.MergeRequest{MinRows: 100, Minus: []string{stats[0], stats[1], stats[3]}}, merged(t, ufs.MergeRequest{}, stats...))
	dropped := days(t, ufs.ScanRequest{Request: ufs.Request{Columns: ufs.Columns{Missing: "drop-row"}}}, 2)
	if used, seen := profileOf(t, dropped[0]).Rows, profileOf(t, dropped[0]).Seen; used >= seen {
		t.Fatalf("%d of %d rows are used: none was dropped", used, seen)
	}
	refused(t, exit.Usage, "fewer rows are in", ufs.MergeRequest{MinRows: 90}, dropped...)
	for name, edit := range map[string]func(*ufs.ScanRequest){
		"profile": func(q *ufs.ScanRequest) { q.ProfileOnly = true },
		"graph":   func(q *ufs.ScanRequest) { q.Choice.Method = "laplacian" },
		"sketch":  func(q *ufs.ScanRequest) { q.Choice.Sketch = "16" },
	} {
		var q ufs.ScanRequest
		edit(&q)
		all := scan(t, q, dayFile(t, t.TempDir(), 1, 200, 1))
		if kind := headerOf(t, all).Kind; kind != name {
			t.Errorf("scanned a %s, want a %s", kind, name)
		}
		merged(t, ufs.MergeRequest{MinRows: 200}, all)
		refused(t, exit.Usage, "fewer rows are in", ufs.MergeRequest{MinRows: 201}, all)
	}
}

// TestMinusWithinMemory: the memory that an error names suffices, and gives the same bits.
func TestMinusWithinMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 4))
	var names []string
	for i := range 700 {
		names = append(names, fmt.Sprintf("x%d", i))
	}
	var stats []string
	for i := range 3 {
		values := make(map[string][]float64)
		for _, name := range names {
			for range 60 {
				values[name] = append(values[name], rng.NormFloat64())
			}
		}
		var columns []string
		for _, name := range names {
			columns = append(columns, name+":double")
		}
		stats = append(stats, scan(t, ufs.ScanRequest{}, typedFile(t, filepath.Join(t.TempDir(), fmt.Sprint(i, ".parquet")), values, columns...)))
	}
	all := merged(t, ufs.MergeRequest{}, stats...)
	m := ufs.MergeRequest{Files: []string{all}, Minus: stats[1:2], Output: filepath.Join(t.TempDir(), "rest.ufs"), Limits: ufs.Limits{Memory: 1 << 20}}
	for tries := 0; ; tries++ {
		_, err := ufs.Merge(t.Context(), m)
		if err == nil {
			break
		}
		short := new(stream.MemoryError)
		if !errors.As(err, &short) || tries == 4 || short.Need <= m.Limits.Memory {
			t.Fatalf("with %d bytes: %v", m.Limits.Memory, err)
		}
		m.Limits.Memory = short.Need
	}
	near(t, "limited", m.Output, merged(t, ufs.MergeRequest{}, stats[0], stats[2]))
	if string(contents(t, m.Output)) != string(contents(t, merged(t, ufs.MergeRequest{Minus: stats[1:2]}, all))) {
		t.Error("other bits than with more memory")
	}
}
