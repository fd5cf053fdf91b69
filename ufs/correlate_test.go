package ufs

import (
	"errors"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
)

// correlation is the naive one.
func correlation(a, b []float64) float64 {
	mean := func(x []float64) (m float64) {
		for _, v := range x {
			m += v / float64(len(x))
		}
		return m
	}
	ma, mb := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

// TestCorrelations: every method with a Gram matrix, in any scale, centred or not, of more
// features than rows too, records the correlations of the chosen features.
func TestCorrelations(t *testing.T) {
	for _, c := range []struct {
		rows, features int
		scale          string
	}{{300, 24, ""}, {300, 24, "none"}, {40, 60, ""}, {40, 60, "minmax"}} {
		table := faces(c.rows, c.features, 5)
		path := table.write(t)
		known := 0
		each(t, func(t *testing.T, spec method.Spec, q Request) {
			q.Input.Paths, q.Choice.Scale = []string{path}, c.scale
			s, err := Select(t.Context(), q)
			if errors.As(err, new(*stream.UsageError)) {
				return // not in this scale
			}
			if err != nil {
				t.Fatalf("selecting: %v", err)
			}
			if s.Correlations == nil {
				return
			}
			known++
			if len(s.Correlations) != len(s.Selected) {
				t.Fatalf("%d rows of %d", len(s.Correlations), len(s.Selected))
			}
			at := func(i int) int { place, _ := s.Selected[i].Column.Index(); return place }
			for i, row := range s.Correlations {
				if len(row) != i {
					t.Fatalf("row %d has %d", i, len(row))
				}
				for j, r := range row {
					want := correlation(table.Cols[at(i)], table.Cols[at(j)])
					// Half of the fourth decimal, and the rounding of sums over 300 rows.
					if !(math.Abs(float64(r)-want) <= 0.5e-4+1e-9) {
						t.Errorf("%s and %s: %v, want %v", s.Selected[i].Name, s.Selected[j].Name, r, want)
					}
				}
			}
		})
		if known < 12 {
			t.Errorf("%+v: only %d methods record correlations", c, known)
		}
	}
	q := Request{Input: Input{Paths: []string{faces(200, 120, 5).write(t)}}, Choice: Choice{Method: "greedy", K: selecting.MaxCorrelated + 1}}
	if selected(t, q).Correlations != nil {
		t.Error("correlations of more features than the bound")
	}
}
