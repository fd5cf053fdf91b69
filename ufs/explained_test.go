package ufs

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// cheapAndCostly is a random table of three hidden factors: 9 cheap columns and 4 costly ones, y0 to y3, which are mixtures
// of the factors. Entries are missing, and w has weights of rows.
func cheapAndCostly(seed uint64, rows int) columns {
	rng := rand.New(rand.NewPCG(seed, 9))
	c := tableOf(nil, make([][]float64, 14))
	loading := make([][3]float64, 13)
	for j := range loading {
		loading[j] = [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		name := fmt.Sprintf("x%d", j)
		if j >= 9 {
			name = fmt.Sprintf("y%d", j-9)
		}
		c.Names = append(c.Names, name)
	}
	c.Names = append(c.Names, "w")
	for range rows {
		f := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		for j, l := range loading {
			v := float64(j%4) + float64(1+j%3)*(l[0]*f[0]+l[1]*f[1]+l[2]*f[2]+0.4*rng.NormFloat64())
			if rng.Float64() < 0.06 {
				v = math.NaN()
			}
			c.Cols[j] = append(c.Cols[j], v)
		}
		c.Cols[13] = append(c.Cols[13], 0.2+3*rng.Float64())
	}
	return c
}

// scaledByDefinition fills, centres, scales and weights the columns of c, but the last, as the documentation defines it.
func scaledByDefinition(c columns, scale, missing string, weighed bool) *mat.Dense {
	n := len(c.Cols[0])
	x := mat.NewDense(n, len(c.Cols)-1, nil)
	for j := range len(c.Cols) - 1 {
		weight := func(i int) float64 {
			if weighed {
				return c.Cols[len(c.Cols)-1][i]
			}
			return 1
		}
		var sum, count, square float64
		for i, v := range c.Cols[j] {
			if !math.IsNaN(v) {
				sum, count = sum+weight(i)*v, count+weight(i)
			}
		}
		mean, all := sum/count, 0.0
		filled := slices.Clone(c.Cols[j])
		for i, v := range filled {
			if all += weight(i); math.IsNaN(v) {
				if filled[i] = mean; missing == "zero" {
					filled[i] = 0
				}
			}
		}
		for i, v := range filled {
			square += weight(i) * (v - mean) * (v - mean)
		}
		for i, v := range filled {
			if scale != "none" {
				v -= mean
			}
			if scale == "standard" {
				v /= math.Sqrt(square / all)
			}
			x.Set(i, j, v*math.Sqrt(weight(i)))
		}
	}
	return x
}

// leftAfter is ‖B − QQᵀB‖²/‖B‖² for some columns B of x, and Q from the QR decomposition of others.
func leftAfter(x *mat.Dense, explained, chosen []int) float64 {
	n, _ := x.Dims()
	columnsOf := func(list []int) *mat.Dense {
		m := mat.NewDense(n, len(list), nil)
		for at, j := range list {
			m.SetCol(at, mat.Col(nil, j, x))
		}
		return m
	}
	b := columnsOf(explained)
	total := mat.Norm(b, 2)
	var qr mat.QR
	var q, inner, fit mat.Dense
	qr.Factorize(columnsOf(chosen))
	qr.QTo(&q)
	thin := q.Slice(0, n, 0, len(chosen))
	inner.Mul(thin.T(), b)
	fit.Mul(thin, &inner)
	b.Sub(b, &fit)
	left := mat.Norm(b, 2) / total
	return left * left
}

// TestExplainColumnsEqualsDefinition: with missing values, scales and weights, the columns that explain others are those
// that a projection for each candidate finds, with the same errors; an explained column has this role, and no rank.
func TestExplainColumnsEqualsDefinition(t *testing.T) {
	explained := []int{9, 10, 11, 12}
	for seed := range uint64(3) {
		c := cheapAndCostly(seed, 150)
		path := c.write(t)
		for _, set := range []struct {
			scale, missing string
			weighed        bool
		}{{"standard", "mean", false}, {"standard", "mean", true}, {"center", "mean", true}, {"none", "zero", false}, {"none", "mean", true}} {
			q := Request{Input: Input{Paths: []string{path}}, Columns: Columns{Missing: set.missing, Exclude: []string{"w"}},
				Choice: Choice{Method: "greedy", K: 4, Scale: set.scale, ExplainColumns: []string{"y*"}, Forbid: []string{"x2"}}}
			if set.weighed {
				q.Columns.Exclude, q.Columns.Weight = nil, "w"
			}
			s := selected(t, q)
			x := scaledByDefinition(c, set.scale, set.missing, set.weighed)
			var order []int
			for turn, f := range s.Selected {
				best, least := -1, math.Inf(1)
				for j := range 9 {
					if left := leftAfter(x, explained, append(slices.Clone(order), j)); j != 2 && !slices.Contains(order, j) && left < least {
						best, least = j, left
					}
				}
				order = append(order, best)
				if f.Name != c.Names[best] || math.Abs(float64(f.Error)-least) > 1e-9 {
					t.Errorf("seed %d, %+v, rank %d: %s, error %v; want %s, %v", seed, set, turn+1, f.Name, f.Error, c.Names[best], least)
				}
			}
			for _, col := range s.Columns {
				if isExplained := strings.HasPrefix(col.Name, "y"); (col.Role == stream.RoleExplained) != isExplained {
					t.Errorf("%s has the role %q", col.Name, col.Role)
				} else if j := slices.Index(c.Names, col.Name); isExplained && math.Abs(1-float64(col.Explained)-leftAfter(x, []int{j}, order)) > 1e-9 {
					t.Errorf("%s is explained to %v", col.Name, col.Explained)
				}
			}
		}
	}
}

// TestExplainColumnsOfAnyForm: statistics, shards of them, threads, a record and the smallest memory change nothing.
func TestExplainColumnsOfAnyForm(t *testing.T) {
	first, second := cheapAndCostly(3, 400), cheapAndCostly(4, 300)
	paths := []string{first.write(t), second.write(t)}
	for _, name := range []string{"greedy", "partgreedy"} {
		q := Request{Input: Input{Paths: paths}, Columns: Columns{Missing: "mean", Weight: "w"}, Choice: Choice{Method: name, ExplainColumns: []string{"y*"}, Keep: []string{"x3"}}}
		if name == "partgreedy" {
			q.Choice.K, q.Choice.Options = 3, method.Settings{"partitions": 2}
		}
		want := selected(t, q)
		if want.Selected[0].Name != "x3" || len(want.Selected) < 2 || name == "greedy" && want.Options["k"] != "auto" {
			t.Errorf("%s: selected %v, want more than x3 alone", name, want.Selected)
		}
		check := func(what string, got *stream.Selection) {
			t.Helper()
			if len(got.Selected) != len(want.Selected) {
				t.Fatalf("%s, %s: %d selected, want %d", name, what, len(got.Selected), len(want.Selected))
			}
			for i, f := range got.Selected {
				if w := want.Selected[i]; f.Name != w.Name || math.Abs(float64(f.Error-w.Error)) > 1e-9 {
					t.Errorf("%s, %s, rank %d: %s, error %v; want %s, %v", name, what, i+1, f.Name, f.Error, w.Name, w.Error)
				}
			}
		}
		threads := q
		threads.Limits.Threads = 3
		check("three threads", selected(t, threads))
		again := must.Get(RecordedRequest(want, nil))(t)
		if !slices.Equal(again.Choice.ExplainColumns, q.Choice.ExplainColumns) {
			t.Errorf("the record has %q", again.Choice.ExplainColumns)
		}
		again.Input.Paths, again.Choice.K = paths, len(want.Selected)
		check("as recorded", selected(t, again))
		var parts []string
		for i, path := range paths {
			part := filepath.Join(t.TempDir(), fmt.Sprintf("%d.ufs", i))
			scan := ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Columns: q.Columns, Choice: Choice{Method: "greedy"}, Output: part}}
			must.Get(Scan(t.Context(), scan))(t)
			parts = append(parts, part)
		}
		whole := filepath.Join(t.TempDir(), "all.ufs")
		must.Get(Merge(t.Context(), MergeRequest{Files: parts, Output: whole}))(t)
		stats := Request{Stats: whole, Choice: q.Choice}
		check("merged statistics", selected(t, stats))
		if name == "greedy" {
			curve := must.Get(Path(t.Context(), func() Request { p := stats; p.Choice.K = len(want.Selected); return p }()))(t).Curve
			for i, p := range curve.Points {
				if p.Name != want.Selected[i].Name || math.Abs(float64(p.Error-want.Selected[i].Error)) > 1e-9 {
					t.Errorf("path, point %d: %s, error %v; want %+v", i+1, p.Name, p.Error, want.Selected[i])
				}
			}
		}
	}
}

// TestExplainColumnsRefuses: what does not go together is a usage error that names it.
func TestExplainColumnsRefuses(t *testing.T) {
	path := cheapAndCostly(5, 60).write(t)
	for name, c := range map[string]struct {
		choice Choice
		words  []string
	}{
		"a glob of no column": {Choice{ExplainColumns: []string{"z*"}}, []string{"explain-columns", "z*"}},
		"all columns":         {Choice{ExplainColumns: []string{"*"}}, []string{"explain-columns", "all columns"}},
		"kept":                {Choice{ExplainColumns: []string{"y*"}, Keep: []string{"y1"}}, []string{"keep", "explain-columns", "y1"}},
		"forbidden":           {Choice{ExplainColumns: []string{"y*"}, Forbid: []string{"y1"}}, []string{"forbid", "explain-columns", "y1"}},
		"none left":           {Choice{ExplainColumns: []string{"y*"}, Forbid: []string{"x*", "w"}}, []string{"nothing to choose"}},
		"too many":            {Choice{ExplainColumns: []string{"y*"}, K: 11}, []string{"explain-columns", "10"}},
		"graphgreedy":         {Choice{Method: "graphgreedy", ExplainColumns: []string{"y*"}}, []string{"explain-columns", "graphgreedy"}},
		"variance":            {Choice{Method: "variance", ExplainColumns: []string{"y*"}}, []string{"explain-columns", "method variance"}},
		"a sketch":            {Choice{Method: "greedy", Sketch: "40", ExplainColumns: []string{"y*"}}, []string{"explain-columns", "sketch"}},
	} {
		_, err := Select(t.Context(), Request{Input: Input{Paths: []string{path}}, Columns: Columns{Missing: "mean"}, Choice: c.choice})
		if !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("%s: %v, want a usage error", name, err)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v, want %q in it", name, err, word)
			}
		}
	}
	q := Request{Input: Input{Paths: []string{path}}, Columns: Columns{Missing: "mean"}, Choice: Choice{ExplainColumns: []string{"y*"}}}
	if s := selected(t, q); s.Method != "greedy" || !strings.Contains(s.Why, "explain-columns") {
		t.Errorf("without a method: %s, because %q", s.Method, s.Why)
	}
}

// TestExplainColumnsOutOfCore: rows that are read again lead to the selection of a Gram matrix in memory, for single
// features and for groups, within the smallest limit that plan names.
func TestExplainColumnsOutOfCore(t *testing.T) {
	path := noiseFile(t, 1300, 1200, 4)
	for _, groups := range []string{"", `regex:^px_\d_(\d*)\d$`} {
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 3, Groups: groups, ExplainColumns: []string{"*_1?"}}}
		alikeSelections(t, withinSmallest(t, q), selected(t, q))
	}
}
