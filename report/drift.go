package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// driftView says how far the features moved from the data of one selection to those of another.
type driftView struct {
	From, To string
	Rows     []driftRow
	Note     string
}

type driftRow struct {
	Name                string
	Chosen              string // by which of the two
	Shift, Ratio, Nulls string
	Moved               bool
}

// How much of the drift the page shows, and what it marks as moved.
const (
	mostDrifts    = 3
	mostDrifted   = 20
	movedDeviates = 0.2  // of a mean, in standard deviations: Cohen's small effect
	movedRatio    = 1.25 // of standard deviations, or its inverse
	movedNulls    = 0.05 // of the share of missing values
)

// move is how far a feature moved.
type move struct {
	name                string
	shift, ratio, nulls float64
}

// size orders moves: each measure in units of what counts as moved.
func (m move) size() float64 {
	size := math.Abs(m.shift) / movedDeviates
	size = max(size, math.Abs(math.Log(m.ratio))/math.Log(movedRatio), math.Abs(m.nulls)/movedNulls)
	if math.IsNaN(size) {
		return 0
	}
	return size
}

// driftOf compares the data of the first selection with those of the others that have other
// inputs, each data once.
func driftOf(list []named) []driftView {
	var views []driftView
	seen := map[string]bool{inputsOf(list[0].Selection): true}
	for _, s := range list[1:] {
		if of := inputsOf(s.Selection); !seen[of] && len(views) < mostDrifts {
			seen[of] = true
			if v, ok := drift(list[0], s); ok {
				views = append(views, v)
			}
		}
	}
	return views
}

// inputsOf tells data apart: fingerprints, or paths where there are none.
func inputsOf(s *stream.Selection) string {
	var b strings.Builder
	for _, in := range s.Inputs {
		fmt.Fprintf(&b, "%q %d\n", cmp.Or(in.Fingerprint, in.Path), in.Rows)
	}
	return b.String()
}

func drift(from, to named) (driftView, bool) {
	before := make(map[string]stream.ColumnReport, len(from.Columns))
	for _, c := range from.Columns {
		before[c.Name] = c
	}
	var moves []move
	for _, c := range to.Columns {
		b, ok := before[c.Name]
		if !ok {
			continue
		}
		moves = append(moves, move{
			c.Name, float64((c.Mean - b.Mean) / b.Std), float64(c.Std / b.Std), missingShare(c, to.Rows) - missingShare(b, from.Rows),
		})
	}
	if len(moves) == 0 {
		return driftView{}, false
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(b.size(), a.size()) })
	by := map[string][]string{}
	for _, s := range []named{from, to} {
		for _, f := range s.Selected {
			by[f.Name] = append(by[f.Name], cut(s.name, briefName))
		}
	}
	v := driftView{From: from.name, To: to.name}
	moved := 0
	for i, m := range moves {
		if m.size() >= 1 {
			moved++
		}
		if i < mostDrifted {
			v.Rows = append(v.Rows, driftRow{
				Name: m.name, Chosen: strings.Join(by[m.name], ", "), Moved: m.size() >= 1,
				Shift: signed(fixed(m.shift, 2)), Ratio: fixed(m.ratio, 2), Nulls: signed(fixed(100*m.nulls, 1)),
			})
		}
	}
	v.Note = fmt.Sprintf("%s of %s that both have moved: the mean by %g standard deviations or more, the standard deviation by a factor of %g, or the share of missing values by %g points.", count(int64(moved)), plural(len(moves), "feature"), movedDeviates, movedRatio, 100*movedNulls)
	return v, true
}

// signed has a plus sign where it has no minus.
func signed(s string) string {
	if strings.HasPrefix(s, "−") || s == "–" {
		return s
	}
	return "+" + s
}
