package planted

import (
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// The number of columns is met exactly, by parts that cover them all.
func TestColumns(t *testing.T) {
	for _, d := range []int{3, 4, 7, 8, 10, 37, 100, 1000, 10000} {
		tab := New(Options{Columns: d})
		a := tab.Answer()
		shows := len(slices.Concat(a.Groups...)) + len(a.Mixtures)
		if len(tab.Columns()) != d || shows+len(a.Noise)+len(a.Constant) != d {
			t.Errorf("%d columns, %d of them in groups and mixtures, for %d", len(tab.Columns()), shows, d)
		}
		if d > 10 && (shows > d/2 || shows < d/4) {
			t.Errorf("%d of %d columns show factors", shows, d)
		}
	}
	// Names sort in the order of the columns, however many there are.
	names := New(Options{Columns: 1001}).Columns()
	if !slices.IsSortedFunc(names, func(a, b stream.Column) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("names are not in order")
	}
}

func TestValidate(t *testing.T) {
	for want, o := range map[string]Options{
		"negative":                 {Rows: -1},
		"give only one of the two": {Columns: 9, Noise: 2},
		"need 3,":                  {Columns: 1},
		"4 constants need 7":       {Columns: 6, Factors: 1, Constant: 4},
		"want a power of two":      {Classes: 12},
		"1 classes":                {Classes: 1},
		"8 classes need 4 factors": {Factors: 3, Classes: 8},
		"negative; the columns of": {Rows: -1, Columns: 9, Noise: 2},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if err := (Options{Columns: 3, Classes: 2}).Validate(); err != nil {
		t.Errorf("valid options are refused: %v", err)
	}
}

// Rows are nearest to the centre of their own class, on one column of each group, and
// the factors stay uncorrelated (which TestAnswerIsUnambiguous needs).
func TestClassesAreClusters(t *testing.T) {
	const n = 4000
	for _, opt := range []Options{{Factors: 6, Classes: 8}, {Factors: 20, Classes: 16}, {Factors: 3, Classes: 4}} {
		opt.Rows = n
		tab := New(opt)
		var cols [][]float64
		for _, g := range tab.Answer().Groups[:min(opt.Factors, opt.Classes-1)] {
			x := make([]float64, n)
			tab.FillColumn(g[0], 0, x)
			cols = append(cols, x)
		}
		gram := gramOf(cols) // standardizes cols
		for i, row := range gram {
			for j, r := range row[:i] {
				if r*r > 25.0/n { // a correlation by chance has variance 1/n: five deviations
					t.Errorf("%+v: factors %d and %d have the correlation %.3f", opt, i+1, j+1, r)
				}
			}
		}
		count := make([]float64, opt.Classes)
		centres := make([][]float64, opt.Classes)
		for c := range centres {
			centres[c] = make([]float64, len(cols))
		}
		for i := range n {
			c := tab.Class(int64(i))
			count[c]++
			for f, x := range cols {
				centres[c][f] += x[i]
			}
		}
		right := 0
		for i := range n {
			best, nearest := -1, 0.0
			for c, centre := range centres {
				d := 0.0
				for f, x := range cols {
					e := x[i] - centre[f]/count[c]
					d += e * e
				}
				if best < 0 || d < nearest {
					best, nearest = c, d
				}
			}
			if best == tab.Class(int64(i)) {
				right++
			}
		}
		// Two classes differ in half of the factors, or one fewer, by four deviations
		// each: at least 4·√2 with three factors, so a boundary lies 2.8 deviations away,
		// beyond which are 0.25 % for each of three neighbours.
		if share := float64(right) / n; share < 0.98 {
			t.Errorf("%+v: %.3f of the rows are nearest to their own class", opt, share)
		}
	}
}
