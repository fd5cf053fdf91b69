package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestPixelsLimitsAndThreads: no bit of the answer depends on the threads, or on whether
// the rows stay in memory, are read in every iteration, or go through scratch files; only
// the number of passes does. No scratch files are left.
func TestPixelsLimitsAndThreads(t *testing.T) {
	in := wideOf(t, planted.New(planted.Options{Rows: 6000, Columns: 100}))
	for _, args := range []string{
		"--method cpufs --graph anchor --anchors 40 --clusters 4", "--method cpufsnn --missing mean --graph anchor --anchors 30 --clusters 4", "--method cpufs --sample 1500 --graph knn --clusters 4",
	} {
		flags := append(strings.Fields(args), in, "--shape", "10x10", "-k", "9", "--max-iter", "2", "--temp-dir", t.TempDir())
		m := forecastOf(t, append(flags, "--threads", "1")...).Memory
		if m.Smallest >= m.InMemory {
			t.Fatalf("%s: %+v: passes save nothing", args, m)
		}
		withG := m.Smallest + 8*100*100 // without G answers are equal to rounding only
		var bits string
		passes := 0
		for _, c := range []struct {
			threads string
			limit   int64
		}{{"1", 1 << 30}, {"8", 2 << 30}, {"1", m.InMemory - 1}, {"1", withG}} {
			s := selection(t, append(flags, "--threads", c.threads, "--memory-limit", fmt.Sprint(c.limit))...)
			if scratch := c.limit == withG && strings.Contains(args, "anchor"); scratch != (s.Memory.Scratch > 0) {
				t.Errorf("%s, limit %d: %d bytes of scratch", args, c.limit, s.Memory.Scratch)
			}
			if c.limit < m.InMemory && s.Passes <= passes {
				t.Errorf("%s, limit %d: %d passes, %d in memory", args, c.limit, s.Passes, passes)
			} else if passes == 0 {
				passes = s.Passes
			}
			s.Passes = 0
			if b := answer(t, s); bits == "" {
				bits = b
			} else if b != bits {
				t.Errorf("%s: %s threads and a limit of %d give other bits", args, c.threads, c.limit)
			}
		}
		if left, err := os.ReadDir(flags[len(flags)-1]); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", args, left, err)
		}
	}
}

// TestPixelsPlanKeepsItsWord is TestRowsPlanKeepsItsWord for cpufs, with and without G.
func TestPixelsPlanKeepsItsWord(t *testing.T) {
	in := wideOf(t, planted.New(planted.Options{Rows: 2400, Columns: 144}))
	holes := wideOf(t, holed(planted.New(planted.Options{Rows: 2400, Columns: 144})))
	for _, args := range []string{
		"--method cpufs --graph anchor " + in, "--method cpufsnn --graph anchor " + in, "--method cpufs " + in,
		"--method cpufs --sample 1000 " + in, "--method cpufs --graph anchor --missing mean " + holes, "--method cpufs --graph anchor --missing drop-row " + holes,
	} {
		flags := append(strings.Fields(args), "--shape", "12x12", "-k", "3", "--max-iter", "2", "--clusters", "3")
		m := forecastOf(t, flags...).Memory
		for _, limit := range []int64{m.Smallest, (m.Smallest + m.InMemory) / 2, m.InMemory} {
			at := append(slices.Clone(flags), "--memory-limit", fmt.Sprint(limit))
			f := forecastOf(t, at...)
			s := selection(t, at...)
			if s.Passes < f.Passes.Least || s.Passes > f.Passes.Most {
				t.Errorf("%s, limit %d: %d passes, planned %d to %d", args, limit, s.Passes, f.Passes.Least, f.Passes.Most)
			}
			if s.Memory.Scratch > f.Scratch || f.Memory.OutOfCore != (limit < m.InMemory) {
				t.Errorf("%s, limit %d: %d bytes of scratch, planned %d; out of core %v", args, limit, s.Memory.Scratch, f.Scratch, f.Memory.OutOfCore)
			}
			if f.Memory.Peak > limit || f.Memory.Smallest != m.Smallest {
				t.Errorf("%s: %+v", args, f.Memory)
			}
			if f.Scratch == 0 {
				continue
			}
			if r := ufs(append([]string{"select", "--max-temp-size", fmt.Sprint(f.Scratch - 1)}, at...)...); r.code != exit.Memory || !strings.Contains(r.err, "--max-temp-size") {
				t.Errorf("%s: exit code %d with too little scratch: %s", args, r.code, r.err)
			}
		}
		for _, verb := range []string{"plan", "select"} {
			if r := ufs(append([]string{verb, "--memory-limit", fmt.Sprint(m.Smallest - 1<<20)}, flags...)...); r.code != exit.Memory || !strings.Contains(r.err, mebibytes(m.Smallest)) {
				t.Errorf("%s %s: exit code %d below the smallest limit, %s: %s", verb, args, r.code, mebibytes(m.Smallest), r.err)
			}
		}
	}
}

// TestPacked: sampled rows come in full blocks without gaps, dense or sparse as they are.
func TestPacked(t *testing.T) {
	ctx := context.Background()
	_, paths := plant(t, 900, 2)
	sparse := dataset(t, "basehock_sparse.parquet")
	for _, c := range []struct {
		path string
		opt  chunkio.Options
	}{{paths[0], chunkio.Options{Sample: 130}}, {sparse, chunkio.Options{Sample: 300, Sparse: "indices,values,4862", Label: "label"}}} {
		c.opt.Seed, c.opt.Threads, c.opt.Memory = 7, 1, 1<<30
		ds, err := chunkio.Open(ctx, []string{c.path}, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		var want []float64 // row-major
		for b, err := range ds.Chunks(ctx, stream.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Rows {
				row := make([]float64, b.Cols)
				if b.Sparse == nil {
					for j := range row {
						row[j] = b.Col(j)[i]
					}
				} else {
					for e := b.Sparse.RowPtr[i]; e < b.Sparse.RowPtr[i+1]; e++ {
						row[b.Sparse.Index[e]] = b.Sparse.Value[e]
					}
				}
				want = append(append(want, float64(b.Position(i))), row...)
			}
		}
		p := &packed{ds, c.opt.Sample}
		var got []float64
		var heights []int
		for b, err := range p.Chunks(ctx, stream.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			heights = append(heights, b.Rows)
			for i := range b.Rows {
				got = append(got, float64(b.Position(i)))
				for j := range b.Cols {
					got = append(got, b.Col(j)[i])
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows differ", c.path)
		}
		for _, h := range heights[:len(heights)-1] {
			if h != p.height() {
				t.Errorf("%s: blocks of %v rows, want %d", c.path, heights, p.height())
			}
		}
		if n := len(got) / (len(ds.Columns()) + 1); int64(n) != c.opt.Sample {
			t.Errorf("%s: %d rows, want %d", c.path, n, c.opt.Sample)
		}
	}
}

// TestPixelsPeakMemory: a process stays below the smallest limit that plan names.
func TestPixelsPeakMemory(t *testing.T) {
	flags := []string{dataset(t, "mnist10k.parquet"), "--label", "label", "--method", "cpufs", "--graph", "anchor", "--sample", "0", "--max-iter", "2", "--threads", "2"}
	staysBelowSmallest(t, flags)
}

// TestPixelsInterrupt: a run that is interrupted in an iteration leaves neither output nor
// scratch.
func TestPixelsInterrupt(t *testing.T) {
	interruptIteration(t, "select", []string{wide(t), "--shape", "20x20", "--method", "cpufs", "--clusters", "4", "--graph", "anchor", "--tol", "1e-15"})
}
