package statistics

import (
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
