package chunkio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/leaktest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The naive twin of the whole pipeline: row by row over the planted table.
func naive(t *table, opt Options, columns []string) (delivered, error) {
	return naiveOf(t, opt, columns, naiveSample(opt, t.rows))
}

// naiveOf is naive of the rows in a sample.
func naiveOf(t *table, opt Options, columns []string, sampled []bool) (delivered, error) {
	out := delivered{missing: make([]stream.MissingCount, len(columns))}
	for i := range t.rows {
		weight := 1.0
		if opt.Weight != "" {
			weight = t.scalar[opt.Weight][i]
		}
		if !sampled[i] || weight == 0 {
			continue
		}
		row := make([]float64, len(columns))
		missing := false
		for j, name := range columns {
			v := t.value(name, i)
			if v-v != 0 {
				missing = true
				countMissingValue(&out.missing[j], v)
				if opt.Missing == stream.MissingError {
					return out, fmt.Errorf("row %d, column %q: missing value: %s", i, name, missingKind(v))
				}
				v = stream.MissingValue(v) // which keeps its kind
			}
			row[j] = v
		}
		if missing && opt.Missing == stream.MissingDropRow {
			continue
		}
		out.rows = append(out.rows, row)
		out.positions = append(out.positions, int64(i))
		out.weights = append(out.weights, weight)
	}
	return out, nil
}

func (t *table) value(name string, row int) float64 {
	if x, ok := t.scalar[name]; ok {
		return x[row]
	}
	list, element, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	return t.list[list][row][int(element[0]-'0')]
}

// naiveSample sorts all positions by hash.
func naiveSample(opt Options, rows int) []bool {
	positions := make([]int64, rows)
	for i := range positions {
		positions[i] = int64(i)
	}
	s := sampler{seed: opt.Seed}
	slices.SortFunc(positions, func(a, b int64) int { return cmp.Compare(s.hashRow(a), s.hashRow(b)) })
	keep := make([]bool, rows)
	for i, p := range positions {
		keep[p] = opt.Sample == 0 || int64(i) < opt.Sample
	}
	return keep
}

func columnNames(ds *Dataset) (names []string) {
	for _, c := range ds.Columns() {
		names = append(names, c.Name)
	}
	return names
}

func TestPoliciesAgreeWithNaiveTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		rows := []int{1, 2, 255, 256, 257, 3000, 20000}[rng.IntN(7)]
		tab := randomTable(rng, rows, 1+rng.IntN(6), []float64{0, 0.0001, 0.1}[rng.IntN(3)])
		weights := make([]float64, rows)
		for i := range weights {
			weights[i] = float64(rng.IntN(3))
		}
		tab.addScalar("w", weights)
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
		disk, paths := plant(tab, 1+rng.IntN(3), 1+rng.Int64N(int64(rows)), rng.Uint64())
		ds := disk.dataset(t, paths, opt)
		want, wantErr := naive(tab, opt, columnNames(ds))
		got, err := collect(ds, stream.Range{})
		disk.checkClosed(t)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("round %d: error %v, want %v", round, err, wantErr)
		}
		if err != nil {
			checkMissingError(t, disk, err, wantErr)
			continue
		}
		if d := diff(got, want); d != "" {
			t.Fatalf("round %d, %+v: %s", round, opt, d)
		}
	}
}

// checkMissingError compares the place of a missing value with the naive one, whose
// rows count over all files.
func checkMissingError(t *testing.T, disk *fakeDisk, err, want error) {
	t.Helper()
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || !errors.Is(err, stream.ErrMissing) {
		t.Fatalf("error %v, want a DataError of a missing value", err)
	}
	f := disk.byPath[e.Path]
	row := f.from + e.Row
	if got := fmt.Sprintf("row %d, column %q: %v", row, e.Column, e.Err); got != want.Error() {
		t.Fatalf("error %s, want %s", got, want)
	}
	start := int64(0)
	for _, rows := range f.groups[:e.RowGroup] {
		start += rows
	}
	if e.Row < start || e.Row >= start+f.groups[e.RowGroup] {
		t.Fatalf("row %d is not in row group %d", e.Row, e.RowGroup)
	}
}

func TestRowsDoNotDependOnFiles(t *testing.T) {
	tab := randomTable(rand.New(rand.NewPCG(3, 4)), 10_000, 5, 0.01)
	opt := Options{Missing: stream.MissingKeep, Sample: 7000, Seed: 9}
	var whole delivered
	for _, files := range []int{1, 7, 63} {
		disk, paths := plant(tab, files, 1000, 5)
		got, err := collect(disk.dataset(t, paths, opt), stream.Range{})
		formattest.Must(t, err)
		disk.checkClosed(t)
		if files == 1 {
			whole = got
		} else if d := diff(got, whole); d != "" {
			t.Errorf("%d files: %s", files, d)
		}
	}
}

func TestBlocksDoNotDependOnThreadsOrMemory(t *testing.T) {
	tab := randomTable(rand.New(rand.NewPCG(5, 6)), 20_000, 13, 0.001)
	disk, paths := plant(tab, 2, 9_000, 5)
	var first delivered
	for _, policy := range []stream.MissingPolicy{stream.MissingKeep, stream.MissingDropRow} {
		first = delivered{}
		for _, threads := range []int{1, 2, 8} {
			least := disk.dataset(t, paths, Options{Threads: threads}).MinMemory()
			for _, memory := range []int64{least, least * 2, least * 3, 1 << 30} {
				opt := Options{Missing: policy, Threads: threads, Memory: memory}
				got, err := collect(disk.dataset(t, paths, opt), stream.Range{})
				formattest.Must(t, err)
				if first.rows == nil {
					first = got
				}
				if d := diff(got, first); d != "" || !slices.Equal(got.blocks, first.blocks) {
					t.Errorf("%d threads, %d bytes: blocks differ: %s", threads, memory, d)
				}
			}
		}
	}
	disk.checkClosed(t)
	if disk.most.Load() > 8 {
		t.Errorf("%d columns decoded at once by 8 threads", disk.most.Load())
	}
}

func TestShardsAddUpToTheWhole(t *testing.T) {
	tab := randomTable(rand.New(rand.NewPCG(7, 8)), 5000, 3, 0.01)
	disk, paths := plant(tab, 4, 300, 5)
	ds := disk.dataset(t, paths, Options{Missing: stream.MissingDropRow, Sample: 2000})
	whole, err := collect(ds, stream.Range{})
	formattest.Must(t, err)
	parts := delivered{missing: make([]stream.MissingCount, len(ds.Columns()))}
	for i := range 6 {
		r, err := stream.Shard(ds, i+1, 6)
		formattest.Must(t, err)
		part, err := collect(ds, r)
		formattest.Must(t, err)
		parts.rows = append(parts.rows, part.rows...)
		parts.positions = append(parts.positions, part.positions...)
		parts.weights = append(parts.weights, part.weights...)
		parts.blocks = append(parts.blocks, part.blocks...)
		for j, m := range part.missing {
			parts.missing[j] = parts.missing[j].Plus(m)
		}
	}
	if d := diff(parts, whole); d != "" || !slices.Equal(parts.blocks, whole.blocks) {
		t.Errorf("shards differ from the whole: %s", d)
	}
	if _, err := collect(ds, stream.Range{From: 1, To: 300}); !isUsage(err) {
		t.Errorf("range inside a row group: %v, want a usage error", err)
	}
}

func TestStoppingEarlyLeavesNothingBehind(t *testing.T) {
	defer leaktest.CheckGoroutines(t)()
	tab := randomTable(rand.New(rand.NewPCG(2, 1)), 20_000, 10, 0)
	disk, paths := plant(tab, 10, 100, 1)
	ds := disk.dataset(t, paths, Options{Threads: 4})
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
		disk.checkClosed(t)
	}
}

func TestPassFitsItsMemory(t *testing.T) {
	tab := randomTable(rand.New(rand.NewPCG(2, 1)), 40_000, 30, 0)
	disk, paths := plant(tab, 2, 20_000, 1)
	ds := disk.dataset(t, paths, Options{Threads: 4})
	least := ds.MinMemory()
	for memory := least; memory < 64<<20; memory += memory / 3 {
		if got := ds.MemoryFor(memory); got > memory {
			t.Errorf("given %d bytes, reading takes %d", memory, got)
		}
	}
	if a, b := ds.MemoryFor(1<<30), ds.MemoryFor(1<<40); a != b || a > 3*spanGoal {
		t.Errorf("plenty of memory: reading takes %d and %d bytes", a, b)
	}
	ds, err := ds.With(Options{Memory: least - 1})
	formattest.Must(t, err)
	_, err = collect(ds, stream.Range{})
	if e, ok := errors.AsType[*stream.MemoryError](err); !ok || e.Need != least || e.Limit != least-1 {
		t.Errorf("one byte below the minimum: %v, want a MemoryError of %d", err, least)
	}
}

// Spans of wide dense rows grow to four blocks if there is memory, spans of sparse rows do not; if a span covers the
// only row group, there is no second span.
func TestSpansOfWideRows(t *testing.T) {
	wide := passNeeds{rowBytes: 8e5, blockBytes: 24e5, height: 128, tallest: 1000, files: 3, isDense: true}
	sparse, single := wide, wide
	sparse.isDense = false
	single.tallest, single.isOneGroup = 500, true
	for _, c := range []struct {
		name    string
		needs   passNeeds
		memory  int64
		rows    int64
		buffers int
	}{
		{"plenty", wide, 1 << 40, 512, 2},
		{"for two blocks and a half", wide, 2*25e5 + 2*8e5*320, 256, 2},
		{"for one block", wide, 2 * (128*8e5 + 24e5), 128, 2},
		{"sparse", sparse, 1 << 40, 128, 2},
		{"one row group", single, 1 << 40, 500, 1},
	} {
		p, err := c.needs.choosePlan(c.memory, 2)
		formattest.Must(t, err)
		if p.rows != c.rows || p.buffers != c.buffers || p.bytes > c.memory {
			t.Errorf("%s: plan %+v, want %d rows in %d buffers and at most %d bytes", c.name, p, c.rows, c.buffers, c.memory)
		}
	}
}

func TestOnlySampledRowGroupsAreRead(t *testing.T) {
	disk, paths := plant(randomTable(rand.New(rand.NewPCG(1, 1)), 10_000, 2, 0), 5, 100, 1)
	ds := disk.dataset(t, paths, Options{Sample: 10, Seed: 3})
	got, err := collect(ds, stream.Range{})
	if err != nil || len(got.rows) != 10 {
		t.Fatalf("%d rows, error %v", len(got.rows), err)
	}
	want := map[int64]bool{}
	for _, p := range got.positions {
		want[p/100] = true
	}
	if len(disk.touched) != len(want) {
		t.Errorf("%d row groups read for rows in %d", len(disk.touched), len(want))
	}
}
