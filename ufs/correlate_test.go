package ufs

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

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
			checkNearest(t, table.Cols, s)
			checkMap(t, table.Cols, s)
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
	if s := selected(t, q); s.Correlations != nil || s.Map != nil || s.Columns[0].Correlation == nil {
		t.Errorf("more features than the bound: correlations %v, map %v, the first column's %v; want none, none, and one", s.Correlations, s.Map, s.Columns[0].Correlation)
	}
}

// positionsOf returns the position of each column by its name.
func positionsOf(s *stream.Selection) map[string]int {
	at := map[string]int{}
	for _, c := range s.Columns {
		at[c.Name], _ = c.Column.Index()
	}
	return at
}

// checkNearest compares the correlation of each column with its nearest chosen one with the naive correlation.
func checkNearest(t *testing.T, columns [][]float64, s *stream.Selection) {
	t.Helper()
	at := positionsOf(s)
	for _, c := range s.Columns {
		if (c.Correlation != nil) != (c.Nearest != "") {
			t.Errorf("%s: nearest %q, correlation %v", c.Name, c.Nearest, c.Correlation)
		} else if c.Correlation != nil && !(math.Abs(float64(*c.Correlation)-correlation(columns[at[c.Name]], columns[at[c.Nearest]])) <= 0.5e-4+1e-9) {
			t.Errorf("%s and %s: got %v, want %v", c.Name, c.Nearest, *c.Correlation, correlation(columns[at[c.Name]], columns[at[c.Nearest]]))
		}
	}
}

// checkMap compares the map with the two largest eigenpairs that gonum finds of the naive correlation matrix of its
// columns, and checks that these are the chosen ones and others.
func checkMap(t *testing.T, columns [][]float64, s *stream.Selection) {
	t.Helper()
	want := len(s.Selected)
	for _, c := range s.Columns {
		if c.Nearest != "" && !slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return f.Name == c.Name }) {
			want++
		}
	}
	if s.Map == nil || len(s.Map.Columns) != want {
		t.Errorf("%s: a map of %+v, want %d columns", s.Method, s.Map, want)
		return
	}
	at, n := positionsOf(s), len(s.Map.Columns)
	r := mat.NewSymDense(n, nil)
	for i, a := range s.Map.Columns {
		if i < len(s.Selected) && a.Name != s.Selected[i].Name {
			t.Errorf("%s: column %d of the map is %s, want %s", s.Method, i, a.Name, s.Selected[i].Name)
		}
		for j, b := range s.Map.Columns[:i+1] {
			r.SetSym(i, j, correlation(columns[at[a.Name]], columns[at[b.Name]]))
		}
	}
	var e mat.EigenSym
	var v mat.Dense
	if !e.Factorize(r, true) {
		t.Fatal("gonum finds no eigenvectors")
	}
	e.VectorsTo(&v)
	values := e.Values(nil)
	if want := (values[n-1] + values[n-2]) / float64(n); math.Abs(float64(s.Map.Shown)-want) > 1e-4 {
		t.Errorf("%s: the map shows %v, want %v", s.Method, s.Map.Shown, want)
	}
	for axis, coordinate := range []func(stream.MapColumn) float64{
		func(c stream.MapColumn) float64 { return float64(c.X) }, func(c stream.MapColumn) float64 { return float64(c.Y) },
	} {
		largest, sign := 0.0, 1.0
		for i := range n {
			largest = max(largest, math.Abs(v.At(i, n-1-axis)))
		}
		for i := range n {
			if x := v.At(i, n-1-axis); math.Abs(x) >= largest/2 {
				sign = math.Copysign(1, x)
				break
			}
		}
		for i, c := range s.Map.Columns {
			// The correlations of the map have four decimals, which move an eigenvector by their error over the gap.
			want := sign * v.At(i, n-1-axis) * math.Sqrt(values[n-1-axis])
			if got := coordinate(c); math.Abs(got-want) > 0.5e-4+0.5e-4*float64(n)/(values[n-1-axis]-values[n-2-axis]) {
				t.Errorf("%s: coordinate %d of %s: got %v, want %v", s.Method, axis, c.Name, got, want)
			}
		}
	}
}
