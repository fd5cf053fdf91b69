package chunkio

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// filterCase is a condition and its truth for a row of whereTable.
type filterCase struct {
	text string
	row  func(t *table, i int) bool
}

func filterCases() []filterCase {
	a0 := func(t *table, i int) float64 { return t.scalar["a0"][i] }
	word := func(t *table, i int) string { return t.text["word"][i] }
	return []filterCase{
		{"a0 < 0.5", func(t *table, i int) bool { return a0(t, i) < 0.5 }},
		{"a0 <> 0.25", func(t *table, i int) bool { return !format.IsNull(a0(t, i)) && a0(t, i) != 0.25 }}, // NaN too
		{"not (a0 >= -1)", func(t *table, i int) bool { return !format.IsNull(a0(t, i)) && !(a0(t, i) >= -1) }},
		{"emb[2] > 1", func(t *table, i int) bool { return t.list["emb"][i][2] > 1 }},
		{"word in ('', 'жж')", func(t *table, i int) bool { return word(t, i) == "" || word(t, i) == "жж" }},
		{"word is null or a0 is null", func(t *table, i int) bool { return word(t, i) == hiveNull || format.IsNull(a0(t, i)) }},
		{"rank >= 700 and rank < 1800", func(t *table, i int) bool { return i >= 700 && i < 1800 }},
		{"rank < 300 or word > 'ж' and a0 > 0", func(t *table, i int) bool {
			return i < 300 || word(t, i) != hiveNull && word(t, i) > "ж" && a0(t, i) > 0
		}},
		{"rank is not null", func(*table, int) bool { return true }},
		{"w = 1", func(t *table, i int) bool { return t.scalar["w"][i] == 1 }},
	}
}

// whereTable has numbers, lists and a text, a rising column and weights.
func whereTable(rng *rand.Rand, rows int, share float64) *table {
	tab := randomTable(rng, rows, 2, share)
	words, rank, weights := make([]string, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		words[i] = strings.Repeat("ж", rng.IntN(4))
		if rng.IntN(10) == 0 {
			words[i] = hiveNull
		}
		rank[i], weights[i] = float64(i), float64(rng.IntN(3))
	}
	return tab.addLabel("word", words).addScalar("rank", rank).addScalar("w", weights)
}

// plantStats gives the files of a disk true statistics.
func plantStats(disk *fakeDisk, tab *table) {
	for _, f := range disk.byPath {
		f.stats = func(group int, leaf string) format.Bounds {
			from := f.from
			for _, n := range f.groups[:group] {
				from += n
			}
			b := format.Bounds{Rows: f.groups[group]}
			for i := from; i < from+b.Rows; i++ {
				switch {
				case tab.text[leaf] != nil:
					v := tab.text[leaf][i]
					if v == hiveNull {
						b.Nulls++
						continue
					}
					if !b.Min.Known || v < string(b.Min.Text) {
						b.Min = format.Bound{Known: true, Text: []byte(v)}
					}
					if !b.Max.Known || v > string(b.Max.Text) {
						b.Max = format.Bound{Known: true, Text: []byte(v)}
					}
				case tab.scalar[leaf] != nil:
					v := tab.scalar[leaf][i]
					switch {
					case format.IsNull(v):
						b.Nulls++
					case v != v:
					default:
						if !b.Min.Known || v < b.Min.Number {
							b.Min = format.Bound{Known: true, Number: v}
						}
						if !b.Max.Known || v > b.Max.Number {
							b.Max = format.Bound{Known: true, Number: v}
						}
					}
				default:
					b.Nulls = -1
				}
			}
			return b
		}
	}
}

// With a condition, a pass delivers the matching rows of the naive twin: for every policy, weight, sample, cut into
// files and row groups, any number of threads, the least memory, with statistics and without.
func TestWhereAgreesWithNaiveTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	delivered, empty := 0, 0
	for round := range 150 {
		rows := []int{1, 2, 255, 256, 257, 3000, 9000}[rng.IntN(7)]
		tab := whereTable(rng, rows, []float64{0, 0.0002, 0.1}[rng.IntN(3)])
		cases := filterCases()
		c := cases[rng.IntN(len(cases))]
		opt := Options{
			Where: c.text, Missing: stream.MissingPolicy(rng.IntN(3)), Seed: rng.Uint64(), Threads: 1 + rng.IntN(4),
			Sample: []int64{0, 0, 1, int64(rows) / 3, int64(rows) + 5}[rng.IntN(5)], Exclude: []string{"emb[1]"},
		}
		if rng.IntN(2) == 0 {
			opt.Weight = "w"
		}
		disk, paths := plant(tab, 1+rng.IntN(3), 1+rng.Int64N(int64(rows)), rng.Uint64())
		if rng.IntN(2) == 0 {
			plantStats(disk, tab)
		}
		ds := disk.dataset(t, paths, opt)
		if rng.IntN(3) == 0 {
			opt.Memory = ds.MinMemory()
			ds = must.Get(ds.With(opt))(t)
		}
		match := make([]bool, rows)
		for i := range match {
			match[i] = c.row(tab, i)
		}
		want, wantErr := naiveOf(tab, opt, columnNames(ds), sampleOf(opt, match))
		got, err := collect(ds, stream.Range{})
		disk.checkClosed(t)
		switch {
		case !slices.Contains(match, true):
			if !isData(err) || !strings.Contains(err.Error(), "no row is left") {
				t.Fatalf("round %d, %s: nothing matches, error %v", round, c.text, err)
			}
			empty++
			continue
		case (err == nil) != (wantErr == nil):
			t.Fatalf("round %d, %s: error %v, want %v", round, c.text, err, wantErr)
		case err != nil:
			checkMissingError(t, disk, err, wantErr)
			continue
		}
		if d := diff(got, want); d != "" {
			t.Fatalf("round %d, %s, %+v: %s", round, c.text, opt, d)
		}
		delivered++
		checkShards(t, ds, got)
	}
	if delivered < 40 || empty < 3 {
		t.Errorf("%d rounds delivered something, %d nothing", delivered, empty)
	}
}

// sampleOf is the naive sample among the rows that match.
func sampleOf(opt Options, match []bool) []bool {
	var positions []int64
	for i, ok := range match {
		if ok {
			positions = append(positions, int64(i))
		}
	}
	s := sampler{seed: opt.Seed}
	slices.SortFunc(positions, func(a, b int64) int { return cmp.Compare(s.hashRow(a), s.hashRow(b)) })
	take := make([]bool, len(match))
	for i, p := range positions {
		take[p] = opt.Sample == 0 || int64(i) < opt.Sample
	}
	return take
}

// checkShards makes sure that ranges add up to the whole.
func checkShards(t *testing.T, ds *Dataset, whole delivered) {
	t.Helper()
	sum := delivered{missing: make([]stream.MissingCount, len(whole.missing))}
	for i := range 3 {
		r := must.Get(stream.Shard(ds, i+1, 3))(t)
		part := must.Get(collect(ds, r))(t)
		sum.rows, sum.positions = append(sum.rows, part.rows...), append(sum.positions, part.positions...)
		sum.weights = append(sum.weights, part.weights...)
		for j, m := range part.missing {
			sum.missing[j] = sum.missing[j].Plus(m)
		}
	}
	if d := diff(sum, whole); d != "" {
		t.Fatalf("shards: %s", d)
	}
}

// Row groups that statistics exclude, and files with no others, are not opened; for row groups that statistics
// accept, the condition is not evaluated again.
func TestStatisticsSpareReading(t *testing.T) {
	tab := whereTable(rand.New(rand.NewPCG(2, 2)), 4000, 0)
	for i := range tab.leaves { // statistics of floats accept nothing: they do not show NaN
		if tab.leaves[i].Name == "rank" {
			tab.leaves[i].Type = "int64"
		}
	}
	disk, paths := plant(tab, 4, 100, 1)
	plantStats(disk, tab)
	for _, f := range disk.byPath {
		f.fault = func(_ int, leaf string, _, _ int64) error {
			if leaf == "rank" {
				return fmt.Errorf("the condition's column was decoded")
			}
			return nil
		}
	}
	ds := disk.dataset(t, paths, Options{Where: "rank >= 1100 and rank < 1300", Columns: []string{"a0"}, Sample: 50, Threads: 2})
	got := must.Get(collect(ds, stream.Range{}))(t)
	if len(got.rows) != 50 || slices.Min(got.positions) < 1100 || slices.Max(got.positions) >= 1300 {
		t.Errorf("%d rows, from %d", len(got.rows), slices.Min(got.positions))
	}
	for place := range disk.touched {
		if place != [2]int{1, 1} && place != [2]int{1, 2} {
			t.Errorf("row group %d of file %d was opened", place[1], place[0])
		}
	}
}

// Files excluded by their keys are not opened: their faults do not matter, and positions begin with the remaining
// files.
func TestKeysLeaveFilesOut(t *testing.T) {
	paths := []string{
		"day=2026-01-01/hour=7/x", "day=2026-01-01/hour=11/x", "day=2026-01-02/hour=7/x",
		"day=" + hiveNull + "/hour=9/x", "day=2026-01-03/hour=12/x",
	}
	disk := plantAt(2, paths...)
	for _, c := range []struct {
		where string
		kept  []int
	}{
		{`day >= "2026-01-02"`, []int{2, 4}},
		{`day < "2026-01-02" and hour > 8`, []int{1}}, // 11 is no text here
		{`day is null`, []int{3}},
		{`day not in ("2026-01-01")`, []int{2, 4}},
		{`hour = "07" or day = "2026-01-03"`, []int{0, 2, 4}},
		{`day = "2026-01-03" and a == 0`, []int{4}},
		{`a >= 0 or day = "2026-01-03"`, []int{0, 1, 2, 3, 4}},
	} {
		var broken []string
		for i, p := range paths {
			if !slices.Contains(c.kept, i) {
				broken = append(broken, p)
			}
		}
		few := &fakeDisk{byPath: map[string]*fakeFile{}, touched: map[[2]int]bool{}}
		for p, f := range disk.byPath {
			if !slices.Contains(broken, p) {
				few.byPath[p] = f
			}
		}
		ds, err := openPaths(context.Background(), paths, few.open, Options{Where: c.where, Missing: stream.MissingKeep})
		formattest.Must(t, err)
		var kept []int
		for _, in := range ds.Inputs() {
			kept = append(kept, slices.Index(paths, in.Path))
		}
		got := must.Get(collect(ds, stream.Range{}))(t)
		if !slices.Equal(kept, c.kept) || len(got.rows) != 2*len(kept) || got.positions[0] != 0 {
			t.Errorf("%s: files %v with %d rows, want %v", c.where, kept, len(got.rows), c.kept)
		}
	}
	for where, words := range map[string][]string{
		`day > "2027-01-01"`: {"none of the 5 files", "day = 2026-01-01, 2026-01-02, " + hiveNull + ", 2026-01-03"},
		`hour = 3`:           {"hour = 7, 11, 9, 12"},
	} {
		_, err := openPaths(context.Background(), paths, disk.open, Options{Where: where})
		for _, w := range words {
			if !isData(err) || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q", where, err, w)
			}
		}
	}
	for where, words := range map[string]string{
		`day > 3`:       "a partition key of texts",
		`hour > "x"`:    "a partition key of numbers",
		`hours > 3`:     "did you mean hour?",
		`a = "x"`:       "is no number",
		`col("a b") =1`: "no column is named a b; the keys of its partitions are ",
		`a`:             "only a boolean column",
	} {
		if _, err := openPaths(context.Background(), paths, disk.open, Options{Where: where}); !isUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v; want %q", where, err, words)
		}
	}
}

// A filtered list of files keeps the values of its table's keys.
func TestListKeepsTableKeys(t *testing.T) {
	l := newLocalList([]string{"a", "b", "c", "d"})
	l.keyTexts = &keyTexts{keys: []string{"k"}, texts: [][]string{{"1", "2", "3", hiveNull}}}
	f := must.Get(newFilter("k >= 2"))(t)
	kept := must.Get(f.pruneFiles(l))(t)
	if got := kept.paths(); !slices.Equal(got, []string{"b", "c"}) || !slices.Equal(kept.keyTexts.texts[0], []string{"2", "3"}) {
		t.Errorf("%v with %v", got, kept.keyTexts.texts)
	}
}

// Sparse rows are filtered by other columns, but not by their own lists.
func TestWhereOfSparseRows(t *testing.T) {
	sparse, _ := sparseTable(rand.New(rand.NewPCG(4, 4)), 1000, 6, 0)
	rank := make([]float64, sparse.rows)
	for i := range rank {
		rank[i] = float64(i)
	}
	sparse.addScalar("rank", rank)
	disk, paths := plant(sparse, 2, 300, 1)
	all := must.Get(collect(disk.dataset(t, paths, Options{Sparse: "ix,values,6"}), stream.Range{}))(t)
	some := must.Get(collect(disk.dataset(t, paths, Options{Sparse: "ix,values,6", Where: "rank >= 250 and rank < 650"}), stream.Range{}))(t)
	if len(some.rows) != 400 || !slices.Equal(some.positions, all.positions[250:650]) || !slices.EqualFunc(some.rows, all.rows[250:650], slices.Equal[[]float64]) {
		t.Errorf("%d rows", len(some.rows))
	}
	if _, err := openPaths(context.Background(), paths, disk.open, Options{Sparse: "ix,values,6", Where: "values[1] > 0"}); !isUsage(err) {
		t.Errorf("a condition on the sparse rows: %v", err)
	}
}

// On standard input numbers are compared, with the answer of a file; texts are refused.
func TestWhereOfAStream(t *testing.T) {
	tab := whereTable(rand.New(rand.NewPCG(5, 5)), 5000, 0.01)
	opt := Options{Where: "rank < 4000 and not a0 > 0", Missing: stream.MissingKeep, Weight: "w"}
	path := filepath.Join(t.TempDir(), "x")
	formattest.Must(t, os.WriteFile(path, arrowBytes(t, tab, 700, true), 0o600))
	want := must.Get(collect(must.Get(Open(t.Context(), []string{path}, opt))(t), stream.Range{}))(t)
	opt.Stdin = bytes.NewReader(arrowBytes(t, tab, 700, false))
	got := must.Get(collect(must.Get(Open(t.Context(), []string{"-"}, opt))(t), stream.Range{}))(t)
	if d := diff(got, want); d != "" || len(got.rows) == 0 {
		t.Errorf("%d rows: %s", len(got.rows), d)
	}
	if opt.Stdin = bytes.NewReader(arrowBytes(t, tab, 700, false)); second(Open(t.Context(), []string{"-"}, Options{Stdin: opt.Stdin, Where: "day = 3"})) == nil {
		t.Error("an unknown column was not refused")
	}
	leaves := []format.Leaf{{Name: "t", Type: "string", Why: "text"}}
	if err := must.Get(newFilter("t = 'a'"))(t).bindStream(leaves); !isUsage(err) || !strings.Contains(err.Error(), "save it to a file first") {
		t.Errorf("a text: %v", err)
	}
}
