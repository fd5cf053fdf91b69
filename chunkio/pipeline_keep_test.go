package chunkio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// keptTable has the columns of WhereTable and a column of each kind of hard values. Most rows hold only the first
// value if rare.
func keptTable(rng *rand.Rand, rows int, share float64, missing bool) *chunkiotest.FakeTable {
	tab := chunkiotest.WhereTable(rng, rows, share)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range formattest.HardValues {
			if !yield(name) {
				return
			}
		}
	}) {
		pool := slices.DeleteFunc(slices.Clone(formattest.HardValues[name]), func(v float64) bool { return !missing && v-v != 0 })
		if len(pool) == 0 {
			pool = []float64{7}
		}
		x := make([]float64, rows)
		for i := range x {
			x[i] = pool[rng.IntN(len(pool))]
		}
		tab.AddScalar(name, x)
	}
	return tab
}

// A pass delivers the same whatever is kept for it: of every type, policy, condition, sample and
// weight, for any limit, memory and number of threads, and after a pass that failed.
func TestKeepChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 3))
	rounds := long.CountCases(60, 300)
	whole, part := 0, 0
	for round := range rounds {
		rows := []int{1, 255, 257, 3000, 9000}[rng.IntN(5)]
		tab := keptTable(rng, rows, []float64{0, 0.0002, 0.1}[rng.IntN(3)], rng.IntN(3) > 0)
		opt := Options{
			Missing: stream.MissingPolicy(rng.IntN(3)), Seed: rng.Uint64(), Threads: 1 + rng.IntN(4),
			Sample: []int64{0, 0, 1, int64(rows) / 3}[rng.IntN(4)], Exclude: []string{"emb[1]"},
		}
		if rng.IntN(2) == 0 {
			cases := filterCases()
			opt.Where = cases[rng.IntN(len(cases))].text
		}
		if rng.IntN(2) == 0 {
			opt.Weight = "w"
		}
		disk, paths := PlantTable(tab, 1+rng.IntN(3), 1+rng.Int64N(int64(rows)), rng.Uint64())
		if rng.IntN(2) == 0 {
			plantStats(disk, tab)
		}
		plain := disk.OpenDataset(t, paths, opt)
		limit := []int64{0, 5000, 1 << 16, 1 << 18, 1 << 30}[rng.IntN(5)]
		keep := NewKeep(limit)
		failed := false
		for pass := range 4 {
			if pass == 3 {
				keep.Settle(limit / 2)
			}
			want, wantErr := chunkiotest.CollectRows(must.Get(plain.With(opt))(t), stream.Range{})
			opt.Keep = keep
			ds := must.Get(plain.With(opt))(t)
			if rng.IntN(2) == 0 {
				opt.Memory = ds.MinMemory()
				ds = must.Get(ds.With(opt))(t)
			}
			clear(disk.Touched)
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			disk.CheckClosed(t)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("round %d, pass %d, %+v: error %v, want %v", round, pass, opt, err, wantErr)
			}
			if d := chunkiotest.DescribeDiff(got, want); err == nil && (d != "" || !slices.Equal(got.Blocks, want.Blocks)) {
				t.Fatalf("round %d, pass %d, %+v: other blocks: %s", round, pass, opt, d)
			}
			groups, bytes := keep.HeldGroups()
			if bytes > limit || groups == 0 && bytes > 0 || pass == 3 && bytes > limit/2 {
				t.Fatalf("round %d: %d bytes of %d are held in %d groups", round, bytes, limit, groups)
			}
			if pass > 0 && pass < 3 && !failed && limit == 1<<30 && len(disk.Touched) > 0 {
				t.Fatalf("round %d, pass %d, %+v: %d row groups are read again", round, pass, opt, len(disk.Touched))
			}
			if pass > 0 && groups > 0 {
				if len(disk.Touched) == 0 {
					whole++
				} else {
					part++
				}
			}
			failed = failed || err != nil
			opt.Keep, opt.Memory, opt.Threads = nil, 0, 1+rng.IntN(4)
			opt.Missing = stream.MissingPolicy(rng.IntN(3))
			if failed {
				opt.Missing = stream.MissingKeep
			}
			if rng.IntN(2) == 0 {
				opt.LeaveOut = []stream.LeftOut{{Name: "byte"}, {Name: "a1"}}
			}
		}
	}
	if whole < rounds/3 || part < rounds/10 {
		t.Errorf("%d passes read nothing, %d something", whole, part)
	}
}

// Kept row groups take at most the bytes predicted by the types, and are kept in order.
func TestKeepHoldsWhatIsPredicted(t *testing.T) {
	const rows, groupRows = 40_000, 1_500
	tab := chunkiotest.NewTable(rows)
	for typ, most := range map[string]float64{"bool": 1, "uint8": 255, "int16": -300, "int32": 1 << 20, "float": 0.5, "double": 0.1} {
		x := make([]float64, rows)
		for i := range x {
			x[i] = most*float64(i%2+i%3) + 0 // not -0
		}
		if typ == "uint8" || typ == "bool" {
			for i := range x {
				x[i] = min(x[i], most)
			}
		}
		tab.AddScalar(typ, x)
		l := &tab.Leaves[len(tab.Leaves)-1]
		l.Type, l.Nulls = typ, 0
	}
	disk, paths := PlantTable(tab, 1, groupRows, 5)
	plain := disk.OpenDataset(t, paths, Options{Threads: 1})
	_, of, all := plain.Keeps(1<<30, math.MaxInt64)
	if of != (rows+groupRows-1)/groupRows || all < rows*(1+1+2+4+4+8) || all > rows*(1+1+2+4+4+8)*5/4+int64(of)*8*1024 {
		t.Errorf("%d bytes in %d groups", all, of)
	}
	for _, limit := range []int64{0, all / 7, all / 2, all - 1, all} {
		promised, _, most := plain.Keeps(1<<30, limit)
		keep := NewKeep(limit)
		ds := must.Get(plain.With(Options{Threads: 1, Keep: keep}))(t)
		must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		groups, bytes := keep.HeldGroups()
		if groups < promised || most > limit || bytes > limit || limit == all && (groups != of || bytes > most) {
			t.Errorf("limit %d: %d bytes in %d groups, predicted %d in %d", limit, bytes, groups, most, promised)
		}
		clear(disk.Touched)
		must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		for g := range of {
			if disk.Touched[[2]int{0, g}] != (g >= groups) {
				t.Errorf("limit %d: row group %d of %d kept: read again %v", limit, g, groups, g >= groups)
			}
		}
	}
}

// Row groups of mostly doubles are not kept of local files.
func TestKeepOfDoubles(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(16, 7)), 3000, 2, 0)
	for name, c := range map[string]struct{ whole, kept int }{"half": {5, 3}, "more": {4, 0}} {
		tab := *tab
		tab.Scalar = maps.Clone(tab.Scalar)
		tab.Leaves = slices.Clone(tab.Leaves)
		for i := range c.whole {
			tab.AddScalar(fmt.Sprintf("w%d", i), slices.Repeat([]float64{1, 2, 3}, 1000))
		}
		disk, paths := PlantTable(&tab, 1, 1000, 5)
		keep := NewKeep(1 << 30)
		ds := disk.OpenDataset(t, paths, Options{Threads: 2, Keep: keep})
		must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		promised, _, _ := ds.Keeps(1<<30, 1<<30)
		if groups, bytes := keep.HeldGroups(); groups != c.kept || c.kept == 0 && bytes != 0 || promised > groups {
			t.Errorf("%s: %d row groups, %d bytes, promised %d", name, groups, bytes, promised)
		}
	}
}

// Passes that end early, by a cancellation or an error keep the row groups that were complete; others
// of another sample, of more columns or of other files read everything themselves.
func TestKeepOfBrokenAndStrangePasses(t *testing.T) {
	tab := keptTable(rand.New(rand.NewPCG(16, 4)), 9000, 0, false)
	disk, paths := PlantTable(tab, 2, 1000, 5)
	plain := disk.OpenDataset(t, paths, Options{Threads: 3, Exclude: []string{"byte"}})
	want := must.Get(chunkiotest.CollectRows(plain, stream.Range{}))(t)
	for stop := range 12 {
		for _, how := range []string{"leave", "cancel", "fault"} {
			keep := NewKeep(1 << 30)
			opt := dataset.TableOf(plain).Options
			opt.Keep = keep
			ds := must.Get(plain.With(opt))(t)
			ctx, cancel := context.WithCancel(t.Context())
			broken := errors.New("broken")
			if how == "fault" {
				disk.ByPath[paths[0]].Fault = func(group int, _ string, _, _ int64) error {
					if group == stop {
						return broken
					}
					return nil
				}
			}
			seen := 0
			var err error
			for _, err = range ds.Chunks(ctx, stream.Range{}) {
				if seen++; err != nil || how == "leave" && seen > stop {
					break
				}
				if how == "cancel" && seen > stop {
					cancel()
				}
			}
			cancel()
			disk.ByPath[paths[0]].Fault = nil
			disk.CheckClosed(t)
			before, _ := keep.HeldGroups()
			if how == "fault" && stop < 5 && (!errors.Is(err, broken) || before < stop || before > stop+2) {
				t.Errorf("a fault in row group %d: %v, %d are kept", stop, err, before)
			}
			for range 2 {
				got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
				if d := chunkiotest.DescribeDiff(got, want); d != "" {
					t.Errorf("%s after %d: %s", how, stop, d)
				}
			}
			if after, _ := keep.HeldGroups(); after != 10 {
				t.Errorf("%s after %d: %d row groups are kept of 10", how, stop, after)
			}
		}
	}
	keep := NewKeep(1 << 30)
	opt := dataset.TableOf(plain).Options
	opt.Keep = keep
	must.Get(chunkiotest.CollectRows(must.Get(plain.With(opt))(t), stream.Range{}))(t)
	sampled, more := opt, opt
	sampled.Sample, more.Exclude = 100, nil
	other, otherPaths := PlantTable(keptTable(rand.New(rand.NewPCG(16, 5)), 9000, 0, false), 2, 1000, 5)
	for name, c := range map[string]struct {
		disk  *FakeDisk
		ds    *Dataset
		plain Options
	}{
		"sample": {disk, must.Get(plain.With(sampled))(t), sampled},
		"more":   {disk, must.Get(plain.With(more))(t), more},
		"other":  {other, other.OpenDataset(t, otherPaths, opt), opt},
	} {
		clear(c.disk.Touched)
		got := must.Get(chunkiotest.CollectRows(c.ds, stream.Range{}))(t)
		c.plain.Keep = nil
		if len(c.disk.Touched) != 10 {
			t.Errorf("%s: %d row groups are read", name, len(c.disk.Touched))
		}
		if d := chunkiotest.DescribeDiff(got, must.Get(chunkiotest.CollectRows(must.Get(c.ds.With(c.plain))(t), stream.Range{}))(t)); d != "" {
			t.Errorf("%s: kept rows differ from rows read again: %s", name, d)
		}
	}
}

// Several passes at a time have the same from a Keep, whichever of them adds to it.
func TestKeepOfPassesAtATime(t *testing.T) {
	tab := keptTable(rand.New(rand.NewPCG(16, 6)), 9000, 0.01, true)
	disk, paths := PlantTable(tab, 1, 700, 5)
	plain := disk.OpenDataset(t, paths, Options{Missing: stream.MissingKeep, Threads: 2})
	want := must.Get(chunkiotest.CollectRows(plain, stream.Range{}))(t)
	for _, limit := range []int64{1 << 18, 1 << 30} {
		opt := dataset.TableOf(plain).Options
		opt.Keep = NewKeep(limit)
		var passes sync.WaitGroup
		for range 4 {
			ds := must.Get(plain.With(opt))(t)
			passes.Go(func() {
				for range 3 {
					got, err := chunkiotest.CollectRows(ds, stream.Range{})
					if d := chunkiotest.DescribeDiff(got, want); err != nil || d != "" {
						t.Errorf("limit %d: %v; %s", limit, err, d)
					}
				}
			})
		}
		passes.Wait()
		if _, bytes := opt.Keep.HeldGroups(); bytes > limit || bytes == 0 {
			t.Errorf("%d bytes of %d are held", bytes, limit)
		}
	}
}

// Row groups of objects in a store that are kept are not asked for again.
func TestKeepSparesRequests(t *testing.T) {
	for _, ending := range []string{".parquet", ".arrow"} {
		s, inputs := plantWeb(t, ending)
		for _, where := range []string{"", `site == "a" and rank >= 1400`} {
			opt := Options{Missing: stream.MissingKeep, Where: where, Weight: "weight", Keep: NewKeep(1 << 30)}
			ds := must.Get(Open(t.Context(), inputs, opt))(t)
			want := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
			s.requests = 0
			got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
			if d := chunkiotest.DescribeDiff(got, want); d != "" || s.requests != 0 {
				t.Errorf("%s, %q: %d requests; %s", ending, where, s.requests, d)
			}
		}
	}
}
