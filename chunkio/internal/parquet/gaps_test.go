package parquet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestNullAndEmptyLists: among lists of one length, a row whose list is null or empty has missing elements, and all
// others have their values, in any decoded range of rows. The values are the ones that listGroups writes: 100 for
// every row of the group, and one for every element; the second element of some lists (100 more) is null.
func TestNullAndEmptyLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for width := 1; width < 9; width++ {
		for range 12 {
			groups := make([][]int, 1+rng.IntN(3))
			for g := range groups {
				lengths := make([]int, 1+rng.IntN(60))
				for i := range lengths {
					lengths[i] = width
					switch rng.IntN(6) {
					case 0:
						lengths[i] = -rng.IntN(2)
					case 1:
						if width > 1 {
							lengths[i] = width + 100
						}
					}
				}
				groups[g] = lengths
			}
			if !slices.ContainsFunc(groups[len(groups)-1], func(n int) bool { return n > 0 }) { // groups before may be gaps all
				groups[len(groups)-1][0] = width
			}
			f := listGroups(t, groups...)
			l := f.leaves[0]
			if l.Why != "" || l.Width != width {
				t.Fatalf("%v: leaf %+v, want width %d", groups, l, width)
			}
			for g, lengths := range groups {
				group, err := f.Open(t.Context(), g, []int{0})
				formattest.Must(t, err)
				for range 4 {
					from := rng.IntN(len(lengths))
					to := from + 1 + rng.IntN(len(lengths)-from)
					dst := make([][]float64, width)
					for e := range dst {
						if e == 0 || rng.IntN(3) > 0 {
							dst[e] = make([]float64, to-from)
						}
					}
					formattest.Must(t, group.Decode(t.Context(), 0, int64(from), int64(to), dst))
					for e, got := range dst {
						for i := range got {
							want, n := float64(100*(from+i)+e), lengths[from+i]
							if n < 1 || n >= 100 && e == 1 {
								want = format.Null
							}
							if !formattest.SameBits(got[i], want) {
								t.Fatalf("%v: group %d, row %d, element %d: %v, want %v", groups, g, from+i, e, got[i], want)
							}
						}
					}
				}
			}
		}
	}
}

// TestUnevenBesideGaps: a list of another length stays an error of its row, or all lists are of varying length.
func TestUnevenBesideGaps(t *testing.T) {
	for _, c := range []struct {
		lengths []int
		row     int
		says    string // empty: they are left out
	}{
		{[]int{3, -1, 3, 3, 5, 1, 3}, 4, "a list of 5 values"},
		{[]int{3, 0, 3, 3, 1, 5, 3}, 4, "a list of 1 value"},
		{append(slices.Repeat([]int{3}, 40), 0, 2, 4), 41, "a list of 2 values"},
		{[]int{3, -1, 3, 2}, 0, ""},
		{[]int{3, -1, 2, 4}, 2, "a list of 2 values"},
		{[]int{2, 3, 0, 4}, 0, ""},
	} {
		f := listFile(t, c.lengths...)
		l := f.leaves[0]
		if c.says == "" {
			if l.Why != format.WhyVarying || l.Width != 0 {
				t.Errorf("%v: leaf %+v", c.lengths, l)
			}
			continue
		}
		if l.Why != "" || l.Width != 3 {
			t.Errorf("%v: leaf %+v", c.lengths, l)
			continue
		}
		group, err := f.Open(t.Context(), 0, []int{0})
		formattest.Must(t, err)
		dst := [][]float64{make([]float64, len(c.lengths)), nil, nil}
		err = group.Decode(t.Context(), 0, 0, int64(len(c.lengths)), dst)
		if d, ok := errors.AsType[*stream.DataError](err); !ok || d.Row != int64(c.row) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want row %d and %q", c.lengths, err, c.row, c.says)
		}
		dst = [][]float64{make([]float64, c.row), nil, nil}
		if err := group.Decode(t.Context(), 0, 0, int64(c.row), dst); err != nil {
			t.Errorf("%v: the rows before: %v", fmt.Sprint(c.lengths), err)
		}
	}
}
