package chunkio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The naive twin of the whole pipeline: row by row over the planted table.
func naive(t *chunkiotest.FakeTable, opt Options, columns []string) (chunkiotest.Delivered, error) {
	return naiveOf(t, opt, columns, naiveSample(opt, t.Rows))
}

// naiveOf is naive of the rows in a sample.
func naiveOf(t *chunkiotest.FakeTable, opt Options, columns []string, sampled []bool) (chunkiotest.Delivered, error) {
	out := chunkiotest.Delivered{Missing: make([]stream.MissingCount, len(columns))}
	for i := range t.Rows {
		weight := 1.0
		if opt.Weight != "" {
			weight = t.Scalar[opt.Weight][i]
		}
		if !sampled[i] || weight == 0 {
			continue
		}
		row := make([]float64, len(columns))
		missing := false
		for j, name := range columns {
			v := value(t, name, i)
			if v-v != 0 {
				missing = true
				kind := "null"
				switch {
				case format.IsNull(v):
					out.Missing[j].Nulls++
				case math.IsNaN(v):
					kind = "NaN"
					out.Missing[j].NaNs++
				default:
					kind = fmt.Sprintf("%+v", v)
					out.Missing[j].Infs++
				}
				if opt.Missing == stream.MissingError {
					return out, fmt.Errorf("row %d, column %q: missing value: %s", i, name, kind)
				}
				v = stream.MissingValue(v) // which keeps its kind
			}
			row[j] = v
		}
		if missing && opt.Missing == stream.MissingDropRow {
			continue
		}
		out.Rows = append(out.Rows, row)
		out.Positions = append(out.Positions, int64(i))
		out.Weights = append(out.Weights, weight)
	}
	return out, nil
}

func value(t *chunkiotest.FakeTable, name string, row int) float64 {
	if x, ok := t.Scalar[name]; ok {
		return x[row]
	}
	list, element, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	return t.List[list][row][int(element[0]-'0')]
}

// naiveSample sorts all positions by hash.
func naiveSample(opt Options, rows int) []bool {
	positions := make([]int64, rows)
	for i := range positions {
		positions[i] = int64(i)
	}
	hash := func(position int64) uint64 { return splitmix.Hash(opt.Seed, uint64(position)) }
	slices.SortFunc(positions, func(a, b int64) int { return cmp.Compare(hash(a), hash(b)) })
	keep := make([]bool, rows)
	for i, p := range positions {
		keep[p] = opt.Sample == 0 || int64(i) < opt.Sample
	}
	return keep
}

func TestPoliciesAgreeWithNaiveTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		rows := []int{1, 2, 255, 256, 257, 3000, 20000}[rng.IntN(7)]
		tab := chunkiotest.RandomTable(rng, rows, 1+rng.IntN(6), []float64{0, 0.0001, 0.1}[rng.IntN(3)])
		weights := make([]float64, rows)
		for i := range weights {
			weights[i] = float64(rng.IntN(3))
		}
		tab.AddScalar("w", weights)
		opt := Options{
			Missing: stream.MissingPolicy(rng.IntN(3)),
			Sample:  []int64{0, 0, 1, int64(rows) / 2, int64(rows) - 1, int64(rows) + 5}[rng.IntN(6)],
			Seed:    rng.Uint64(),
			Threads: 1 + rng.IntN(4),
			Exclude: []string{"emb[1]"},
		}
		if rng.IntN(2) == 0 {
			opt.Weight = "w"
		}
		disk, paths := PlantTable(tab, 1+rng.IntN(3), 1+rng.Int64N(int64(rows)), rng.Uint64())
		ds := disk.OpenDataset(t, paths, opt)
		want, wantErr := naive(tab, opt, ColumnNames(ds))
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		disk.CheckClosed(t)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("round %d: error %v, want %v", round, err, wantErr)
		}
		if err != nil {
			checkMissingError(t, disk, err, wantErr)
			continue
		}
		if d := chunkiotest.DescribeDiff(got, want); d != "" {
			t.Fatalf("round %d, %+v: %s", round, opt, d)
		}
	}
}

// checkMissingError compares the place of a missing value with the naive one, whose
// rows count over all files.
func checkMissingError(t *testing.T, disk *FakeDisk, err, want error) {
	t.Helper()
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || !errors.Is(err, stream.ErrMissing) {
		t.Fatalf("error %v, want a DataError of a missing value", err)
	}
	f := disk.ByPath[e.Path]
	row := f.From + e.Row
	if got := fmt.Sprintf("row %d, column %q: %v", row, e.Column, e.Err); got != want.Error() {
		t.Fatalf("error %s, want %s", got, want)
	}
	start := int64(0)
	for _, rows := range f.Groups[:e.RowGroup] {
		start += rows
	}
	if e.Row < start || e.Row >= start+f.Groups[e.RowGroup] {
		t.Fatalf("row %d is not in row group %d", e.Row, e.RowGroup)
	}
}

func TestRowsDoNotDependOnFiles(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(3, 4)), 10_000, 5, 0.01)
	opt := Options{Missing: stream.MissingKeep, Sample: 7000, Seed: 9}
	var whole chunkiotest.Delivered
	for _, files := range []int{1, 7, 63} {
		disk, paths := PlantTable(tab, files, 1000, 5)
		got, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, opt), stream.Range{})
		formattest.Must(t, err)
		disk.CheckClosed(t)
		if files == 1 {
			whole = got
		} else if d := chunkiotest.DescribeDiff(got, whole); d != "" {
			t.Errorf("%d files: %s", files, d)
		}
	}
}

func TestBlocksDoNotDependOnThreadsOrMemory(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(5, 6)), 20_000, 13, 0.001)
	disk, paths := PlantTable(tab, 2, 9_000, 5)
	var first chunkiotest.Delivered
	for _, policy := range []stream.MissingPolicy{stream.MissingKeep, stream.MissingDropRow} {
		first = chunkiotest.Delivered{}
		for _, threads := range []int{1, 2, 8} {
			least := disk.OpenDataset(t, paths, Options{Threads: threads}).MinMemory()
			for _, memory := range []int64{least, least * 2, least * 3, 1 << 30} {
				opt := Options{Missing: policy, Threads: threads, Memory: memory}
				got, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, opt), stream.Range{})
				formattest.Must(t, err)
				if first.Rows == nil {
					first = got
				}
				if d := chunkiotest.DescribeDiff(got, first); d != "" || !slices.Equal(got.Blocks, first.Blocks) {
					t.Errorf("%d threads, %d bytes: blocks differ: %s", threads, memory, d)
				}
			}
		}
	}
	disk.CheckClosed(t)
	if disk.Most.Load() > 8 {
		t.Errorf("%d columns decoded at once by 8 threads", disk.Most.Load())
	}
}

func TestShardsAddUpToTheWhole(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(7, 8)), 5000, 3, 0.01)
	disk, paths := PlantTable(tab, 4, 300, 5)
	ds := disk.OpenDataset(t, paths, Options{Missing: stream.MissingDropRow, Sample: 2000})
	whole, err := chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	parts := chunkiotest.Delivered{Missing: make([]stream.MissingCount, len(ds.Columns()))}
	for i := range 6 {
		r, err := stream.Shard(ds, i+1, 6)
		formattest.Must(t, err)
		part, err := chunkiotest.CollectRows(ds, r)
		formattest.Must(t, err)
		parts.Rows = append(parts.Rows, part.Rows...)
		parts.Positions = append(parts.Positions, part.Positions...)
		parts.Weights = append(parts.Weights, part.Weights...)
		parts.Blocks = append(parts.Blocks, part.Blocks...)
		for j, m := range part.Missing {
			parts.Missing[j] = parts.Missing[j].Plus(m)
		}
	}
	if d := chunkiotest.DescribeDiff(parts, whole); d != "" || !slices.Equal(parts.Blocks, whole.Blocks) {
		t.Errorf("shards differ from the whole: %s", d)
	}
	if _, err := chunkiotest.CollectRows(ds, stream.Range{From: 1, To: 300}); !chunkiotest.IsUsage(err) {
		t.Errorf("range inside a row group: %v, want a usage error", err)
	}
}

func TestStoppingEarlyLeavesNothingBehind(t *testing.T) {
	defer leaktest.CheckGoroutines(t)()
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(2, 1)), 20_000, 10, 0)
	disk, paths := PlantTable(tab, 10, 100, 1)
	ds := disk.OpenDataset(t, paths, Options{Threads: 4})
	for stop := range 25 {
		ctx, cancel := context.WithCancel(context.Background())
		seen, failed := 0, error(nil)
		for _, err := range ds.Chunks(ctx, stream.Range{}) {
			if err != nil {
				failed = err
				break
			}
			if seen++; seen == stop {
				if stop%2 == 0 {
					break
				}
				cancel()
			}
		}
		cancel()
		if stop%2 == 1 && (!errors.Is(failed, context.Canceled) || seen != stop) {
			t.Errorf("cancelled at %d: %d chunks, error %v", stop, seen, failed)
		}
		disk.CheckClosed(t)
	}
}

func TestPassFitsItsMemory(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(2, 1)), 40_000, 30, 0)
	disk, paths := PlantTable(tab, 2, 20_000, 1)
	ds := disk.OpenDataset(t, paths, Options{Threads: 4})
	least := ds.MinMemory()
	for memory := least; memory < 64<<20; memory += memory / 3 {
		if got := ds.MemoryFor(memory); got > memory {
			t.Errorf("given %d bytes, reading takes %d", memory, got)
		}
	}
	if a, b := ds.MemoryFor(1<<30), ds.MemoryFor(1<<40); a != b || a > 3*64<<20 { // the goal of a span
		t.Errorf("plenty of memory: reading takes %d and %d bytes", a, b)
	}
	ds, err := ds.With(Options{Memory: least - 1})
	formattest.Must(t, err)
	_, err = chunkiotest.CollectRows(ds, stream.Range{})
	if e, ok := errors.AsType[*stream.MemoryError](err); !ok || e.Need != least || e.Limit != least-1 {
		t.Errorf("one byte below the minimum: %v, want a MemoryError of %d", err, least)
	}
}

func TestOnlySampledRowGroupsAreRead(t *testing.T) {
	disk, paths := PlantTable(chunkiotest.RandomTable(rand.New(rand.NewPCG(1, 1)), 10_000, 2, 0), 5, 100, 1)
	ds := disk.OpenDataset(t, paths, Options{Sample: 10, Seed: 3})
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	if err != nil || len(got.Rows) != 10 {
		t.Fatalf("%d rows, error %v", len(got.Rows), err)
	}
	want := map[int64]bool{}
	for _, p := range got.Positions {
		want[p/100] = true
	}
	if len(disk.Touched) != len(want) {
		t.Errorf("%d row groups read for rows in %d", len(disk.Touched), len(want))
	}
}
