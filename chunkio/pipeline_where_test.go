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

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// filterCase is a condition and its truth for a row of WhereTable.
type filterCase struct {
	text string
	row  func(t *chunkiotest.FakeTable, i int) bool
}

func filterCases() []filterCase {
	a0 := func(t *chunkiotest.FakeTable, i int) float64 { return t.Scalar["a0"][i] }
	word := func(t *chunkiotest.FakeTable, i int) string { return t.Text["word"][i] }
	return []filterCase{
		{"a0 < 0.5", func(t *chunkiotest.FakeTable, i int) bool { return a0(t, i) < 0.5 }},
		{"a0 <> 0.25", func(t *chunkiotest.FakeTable, i int) bool { return !format.IsNull(a0(t, i)) && a0(t, i) != 0.25 }}, // NaN too
		{"not (a0 >= -1)", func(t *chunkiotest.FakeTable, i int) bool { return !format.IsNull(a0(t, i)) && !(a0(t, i) >= -1) }},
		{"emb[2] > 1", func(t *chunkiotest.FakeTable, i int) bool { return t.List["emb"][i][2] > 1 }},
		{"word in ('', 'жж')", func(t *chunkiotest.FakeTable, i int) bool { return word(t, i) == "" || word(t, i) == "жж" }},
		{"word is null or a0 is null", func(t *chunkiotest.FakeTable, i int) bool {
			return word(t, i) == listing.HiveNull || format.IsNull(a0(t, i))
		}},
		{"rank >= 700 and rank < 1800", func(t *chunkiotest.FakeTable, i int) bool { return i >= 700 && i < 1800 }},
		{"rank < 300 or word > 'ж' and a0 > 0", func(t *chunkiotest.FakeTable, i int) bool {
			return i < 300 || word(t, i) != listing.HiveNull && word(t, i) > "ж" && a0(t, i) > 0
		}},
		{"rank is not null", func(*chunkiotest.FakeTable, int) bool { return true }},
		{"w = 1", func(t *chunkiotest.FakeTable, i int) bool { return t.Scalar["w"][i] == 1 }},
	}
}

// plantStats gives the files of a disk true statistics.
func plantStats(disk *FakeDisk, tab *chunkiotest.FakeTable) {
	for _, f := range disk.ByPath {
		f.Stats = func(group int, leaf string) format.Bounds {
			from := f.From
			for _, n := range f.Groups[:group] {
				from += n
			}
			b := format.Bounds{Rows: f.Groups[group]}
			for i := from; i < from+b.Rows; i++ {
				switch {
				case tab.Text[leaf] != nil:
					v := tab.Text[leaf][i]
					if v == listing.HiveNull {
						b.Nulls++
						continue
					}
					if !b.Min.Known || v < string(b.Min.Text) {
						b.Min = format.Bound{Known: true, Text: []byte(v)}
					}
					if !b.Max.Known || v > string(b.Max.Text) {
						b.Max = format.Bound{Known: true, Text: []byte(v)}
					}
				case tab.Scalar[leaf] != nil:
					v := tab.Scalar[leaf][i]
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
		tab := chunkiotest.WhereTable(rng, rows, []float64{0, 0.0002, 0.1}[rng.IntN(3)])
		cases := filterCases()
		c := cases[rng.IntN(len(cases))]
		opt := Options{
			Where: c.text, Missing: stream.MissingPolicy(rng.IntN(3)), Seed: rng.Uint64(), Threads: 1 + rng.IntN(4),
			Sample: []int64{0, 0, 1, int64(rows) / 3, int64(rows) + 5}[rng.IntN(5)], Exclude: []string{"emb[1]"},
		}
		if rng.IntN(2) == 0 {
			opt.Weight = "w"
		}
		disk, paths := PlantTable(tab, 1+rng.IntN(3), 1+rng.Int64N(int64(rows)), rng.Uint64())
		if rng.IntN(2) == 0 {
			plantStats(disk, tab)
		}
		ds := disk.OpenDataset(t, paths, opt)
		if rng.IntN(3) == 0 {
			opt.Memory = ds.MinMemory()
			ds = must.Get(ds.With(opt))(t)
		}
		match := make([]bool, rows)
		for i := range match {
			match[i] = c.row(tab, i)
		}
		want, wantErr := naiveOf(tab, opt, ColumnNames(ds), sampleOf(opt, match))
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		disk.CheckClosed(t)
		switch {
		case !slices.Contains(match, true):
			if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "no row is left") {
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
		if d := chunkiotest.DescribeDiff(got, want); d != "" {
			t.Fatalf("round %d, %s, %+v: %s", round, c.text, opt, d)
		}
		delivered++
		checkShards(t, ds, got)
	}
	if delivered < 40 || empty < 3 {
		t.Errorf("%d rounds delivered something, %d nothing", delivered, empty)
	}
}

func fails[T any](_ T, err error) bool { return err != nil }

// sampleOf is the naive sample among the rows that match.
func sampleOf(opt Options, match []bool) []bool {
	var positions []int64
	for i, ok := range match {
		if ok {
			positions = append(positions, int64(i))
		}
	}
	hash := func(position int64) uint64 { return splitmix.Hash(opt.Seed, uint64(position)) }
	slices.SortFunc(positions, func(a, b int64) int { return cmp.Compare(hash(a), hash(b)) })
	take := make([]bool, len(match))
	for i, p := range positions {
		take[p] = opt.Sample == 0 || int64(i) < opt.Sample
	}
	return take
}

// checkShards makes sure that ranges add up to the whole.
func checkShards(t *testing.T, ds *Dataset, whole chunkiotest.Delivered) {
	t.Helper()
	sum := chunkiotest.Delivered{Missing: make([]stream.MissingCount, len(whole.Missing))}
	for i := range 3 {
		r := must.Get(stream.Shard(ds, i+1, 3))(t)
		part := must.Get(chunkiotest.CollectRows(ds, r))(t)
		sum.Rows, sum.Positions = append(sum.Rows, part.Rows...), append(sum.Positions, part.Positions...)
		sum.Weights = append(sum.Weights, part.Weights...)
		for j, m := range part.Missing {
			sum.Missing[j] = sum.Missing[j].Plus(m)
		}
	}
	if d := chunkiotest.DescribeDiff(sum, whole); d != "" {
		t.Fatalf("shards: %s", d)
	}
}

// Row groups that statistics exclude, and files with no others, are not opened; for row groups that statistics
// accept, the condition is not evaluated again.
func TestStatisticsSpareReading(t *testing.T) {
	tab := chunkiotest.WhereTable(rand.New(rand.NewPCG(2, 2)), 4000, 0)
	for i := range tab.Leaves { // statistics of floats accept nothing: they do not show NaN
		if tab.Leaves[i].Name == "rank" {
			tab.Leaves[i].Type = "int64"
		}
	}
	disk, paths := PlantTable(tab, 4, 100, 1)
	plantStats(disk, tab)
	for _, f := range disk.ByPath {
		f.Fault = func(_ int, leaf string, _, _ int64) error {
			if leaf == "rank" {
				return fmt.Errorf("the condition's column was decoded")
			}
			return nil
		}
	}
	ds := disk.OpenDataset(t, paths, Options{Where: "rank >= 1100 and rank < 1300", Columns: []string{"a0"}, Sample: 50, Threads: 2})
	got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
	if len(got.Rows) != 50 || slices.Min(got.Positions) < 1100 || slices.Max(got.Positions) >= 1300 {
		t.Errorf("%d rows, from %d", len(got.Rows), slices.Min(got.Positions))
	}
	for place := range disk.Touched {
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
		"day=" + listing.HiveNull + "/hour=9/x", "day=2026-01-03/hour=12/x",
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
		few := &FakeDisk{ByPath: map[string]*FakeFile{}, Touched: map[[2]int]bool{}}
		for p, f := range disk.ByPath {
			if !slices.Contains(broken, p) {
				few.ByPath[p] = f
			}
		}
		ds, err := OpenPaths(context.Background(), paths, few.Open, Options{Where: c.where, Missing: stream.MissingKeep})
		formattest.Must(t, err)
		var kept []int
		for _, in := range ds.Inputs() {
			kept = append(kept, slices.Index(paths, in.Path))
		}
		got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		if !slices.Equal(kept, c.kept) || len(got.Rows) != 2*len(kept) || got.Positions[0] != 0 {
			t.Errorf("%s: files %v with %d rows, want %v", c.where, kept, len(got.Rows), c.kept)
		}
	}
	for where, words := range map[string][]string{
		`day > "2027-01-01"`: {"none of the 5 files", "day = 2026-01-01, 2026-01-02, " + listing.HiveNull + ", 2026-01-03"},
		`hour = 3`:           {"hour = 7, 11, 9, 12"},
	} {
		_, err := OpenPaths(context.Background(), paths, disk.Open, Options{Where: where})
		for _, w := range words {
			if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), w) {
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
		if _, err := OpenPaths(context.Background(), paths, disk.Open, Options{Where: where}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v; want %q", where, err, words)
		}
	}
}

// Sparse rows are filtered by other columns, but not by their own lists.
func TestWhereOfSparseRows(t *testing.T) {
	sparse, _ := SparseTable(rand.New(rand.NewPCG(4, 4)), 1000, 6, 0)
	rank := make([]float64, sparse.Rows)
	for i := range rank {
		rank[i] = float64(i)
	}
	sparse.AddScalar("rank", rank)
	disk, paths := PlantTable(sparse, 2, 300, 1)
	all := must.Get(chunkiotest.CollectRows(disk.OpenDataset(t, paths, Options{Sparse: "ix,values,6"}), stream.Range{}))(t)
	some := must.Get(chunkiotest.CollectRows(disk.OpenDataset(t, paths, Options{Sparse: "ix,values,6", Where: "rank >= 250 and rank < 650"}), stream.Range{}))(t)
	if len(some.Rows) != 400 || !slices.Equal(some.Positions, all.Positions[250:650]) || !slices.EqualFunc(some.Rows, all.Rows[250:650], slices.Equal[[]float64]) {
		t.Errorf("%d rows", len(some.Rows))
	}
	if _, err := OpenPaths(context.Background(), paths, disk.Open, Options{Sparse: "ix,values,6", Where: "values[1] > 0"}); !chunkiotest.IsUsage(err) {
		t.Errorf("a condition on the sparse rows: %v", err)
	}
}

// On standard input numbers are compared, with the answer of a file; texts are refused.
func TestWhereOfAStream(t *testing.T) {
	tab := chunkiotest.WhereTable(rand.New(rand.NewPCG(5, 5)), 5000, 0.01)
	opt := Options{Where: "rank < 4000 and not a0 > 0", Missing: stream.MissingKeep, Weight: "w"}
	path := filepath.Join(t.TempDir(), "x")
	formattest.Must(t, os.WriteFile(path, chunkiotest.ArrowBytes(t, tab, 700, true), 0o600))
	want := must.Get(chunkiotest.CollectRows(must.Get(Open(t.Context(), []string{path}, opt))(t), stream.Range{}))(t)
	opt.Stdin = bytes.NewReader(chunkiotest.ArrowBytes(t, tab, 700, false))
	got := must.Get(chunkiotest.CollectRows(must.Get(Open(t.Context(), []string{"-"}, opt))(t), stream.Range{}))(t)
	if d := chunkiotest.DescribeDiff(got, want); d != "" || len(got.Rows) == 0 {
		t.Errorf("%d rows: %s", len(got.Rows), d)
	}
	if opt.Stdin = bytes.NewReader(chunkiotest.ArrowBytes(t, tab, 700, false)); !fails(Open(t.Context(), []string{"-"}, Options{Stdin: opt.Stdin, Where: "day = 3"})) {
		t.Error("an unknown column was not refused")
	}
	leaves := []format.Leaf{{Name: "t", Type: "string", Why: "text"}}
	if err := must.Get(catalog.NewFilter("t = 'a'"))(t).BindStream(leaves); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "save it to a file first") {
		t.Errorf("a text: %v", err)
	}
}
