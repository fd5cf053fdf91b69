package statistics

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestJoin: coverage is by file, wherever the file lies and whatever else was read.
func TestJoin(t *testing.T) {
	file := func(path, digest string, rows int64) stream.Input {
		return stream.Input{Path: path, Fingerprint: digest, Rows: rows}
	}
	a, aRows := []stream.Input{file("a", "1", 10), file("b", "2", 20)}, []stream.Range{{From: 5, To: 15}}
	b, bRows := []stream.Input{file("c", "3", 7), file("elsewhere/b", "2", 20)}, []stream.Range{{From: 0, To: 7}, {From: 12, To: 27}}
	var c Coverage
	c.AddRanges(0, a, aRows)
	c.AddRanges(1, b, bRows)
	// a rows 5 to 9, b rows 0 to 4 and 5 to 19, c whole; in the order a, b, c.
	if o, got := c.FirstOverlap(), c.CoveredRanges(); o != nil || !slices.Equal(got, []stream.Range{{From: 5, To: 37}}) || len(c.Files) != 3 {
		t.Errorf("covered %v of %v, %v twice", got, c.Files, o)
	}
	c.AddRanges(2, b, bRows)
	if o := c.FirstOverlap(); o == nil || o.First.StatsFile != 1 || o.Second.StatsFile != 2 {
		t.Errorf("the same rows were joined twice: %v", o)
	}
	copies := []stream.Input{file("x", "1", 10), file("copy of x", "1", 10)}
	var within, apart Coverage
	within.AddRanges(0, copies, []stream.Range{{From: 0, To: 20}})
	apart.PathsDiffer = true
	apart.AddRanges(0, copies[:1], []stream.Range{{From: 0, To: 10}})
	apart.AddRanges(1, copies[1:], []stream.Range{{From: 0, To: 10}})
	if len(within.Files) != 2 || within.FirstOverlap() != nil || len(apart.Files) != 2 || apart.FirstOverlap() != nil {
		t.Errorf("copies read in one run, or as parts of one plan, are two files: %v, %v", within.Files, apart.Files)
	}
}

// TestSubtract: the rows left are those of a set of single rows, and foreign rows change nothing.
func TestSubtract(t *testing.T) {
	type row struct {
		file string
		at   int64
	}
	const rows = 12
	rng := rand.New(rand.NewPCG(55, 1))
	cover := func(c *Coverage, statsFile int, chance int) map[row]bool {
		covered := make(map[row]bool)
		for _, file := range []string{"1", "2", "3"} {
			var ranges []stream.Range
			for at := range int64(rows) {
				if rng.IntN(100) < chance {
					ranges, covered[row{file, at}] = append(ranges, stream.Range{From: at, To: at + 1}), true
				}
			}
			c.AddRanges(statsFile, []stream.Input{{Path: file, Fingerprint: file, Rows: rows}}, ranges)
		}
		return covered
	}
	rowsOf := func(c *Coverage) map[row]bool {
		covered := make(map[row]bool)
		for _, s := range c.Stretches {
			for at := s.From; at < s.To; at++ {
				covered[row{c.Files[s.file].Fingerprint, at}] = true
			}
		}
		return covered
	}
	refused, emptied := 0, 0
	for range 3000 {
		var whole, part Coverage
		want, lost := cover(&whole, 0, 90+rng.IntN(11)), cover(&part, 7, rng.IntN(2)*rng.IntN(101))
		whole.FirstOverlap()
		part.FirstOverlap()
		isForeign := false
		for r := range lost {
			isForeign = isForeign || !want[r]
		}
		if !isForeign {
			maps.DeleteFunc(want, func(r row, _ bool) bool { return lost[r] })
		}
		foreign, statsFile := whole.Subtract(&part)
		if got := rowsOf(&whole); !maps.Equal(got, want) || (foreign != nil) != isForeign || isForeign && statsFile != 7 {
			t.Fatalf("%d rows are left, want %d; foreign %v of %d, want %v", len(got), len(want), foreign, statsFile, isForeign)
		}
		if isForeign {
			refused++
		} else if len(whole.Files) < 3 {
			emptied++
		}
	}
	if refused < 100 || emptied < 20 {
		t.Errorf("only %d were refused, and %d lost a file", refused, emptied)
	}
}
