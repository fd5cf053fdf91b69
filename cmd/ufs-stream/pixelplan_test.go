package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
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
			if r := invoke(append([]string{"select", "--max-temp-size", fmt.Sprint(f.Scratch - 1)}, at...)...); r.code != exit.Memory || !strings.Contains(r.err, "--max-temp-size") {
				t.Errorf("%s: exit code %d with too little scratch: %s", args, r.code, r.err)
			}
		}
		for _, verb := range []string{"plan", "select"} {
			if r := invoke(append([]string{verb, "--memory-limit", fmt.Sprint(m.Smallest - 1<<20)}, flags...)...); r.code != exit.Memory || !strings.Contains(r.err, mebibytes(m.Smallest)) {
				t.Errorf("%s %s: exit code %d below the smallest limit, %s: %s", verb, args, r.code, mebibytes(m.Smallest), r.err)
			}
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
