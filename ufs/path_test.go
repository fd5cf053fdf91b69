package ufs

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestCurveOfGroupsIsSelect: point k of a curve over groups at a cost is the selection of k groups, and the number
// that it recommends is the one that {k} auto takes.
func TestCurveOfGroupsIsSelect(t *testing.T) {
	costs := textFile(t, "costs.csv", "s1,2\nother,0.5\ns2.r0,4\n")
	nested := slices.DeleteFunc(methods.All(), func(s method.Spec) bool { return !s.Takes.Nested || s.Takes.Turns })
	eachOf(t, nested, func(t *testing.T, _ method.Spec, q Request) {
		q.Input.Paths, q.Choice.Groups, q.Choice.Costs, q.Choice.K = []string{sensors(t)}, "prefix:.", costs, 0
		c := must.Get(Path(t.Context(), q))(t).Curve
		if len(c.Points) != 8 {
			t.Fatalf("%d points, want 6 groups and 2 features", len(c.Points))
		}
		for _, p := range c.Points[:4] {
			q.Choice.K = p.K
			s := selected(t, q)
			f := last(s.Selected)
			if p.Name != f.Name || !slices.Equal(p.Members, f.Members) || *p.Cost != *f.Cost || *p.Total != *s.Cost || p.Error != f.Error {
				t.Errorf("point %+v, of the selection %+v, cost %v", p, f, *s.Cost)
			}
		}
		q.Choice.K, q.Choice.AutoK = 0, true
		if s := selected(t, q); c.Size.Groups != len(s.Selected) || s.Size.Groups != len(s.Selected) {
			t.Errorf("%d groups are recommended, and %d by the selection; {k} auto takes %d", c.Size.Groups, s.Size.Groups, len(s.Selected))
		}
		q.Choice.K, q.Choice.AutoK, q.Choice.Budget = 3, false, 7
		if _, err := Path(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "budget") {
			t.Errorf("within a budget: %v", err)
		}
	})
}

// TestGridOfGroupsIsSelect: every setting of a grid over groups, at a cost and within a budget, is the selection with
// its weights, and agrees with its neighbours as far as their groups do.
func TestGridOfGroupsIsSelect(t *testing.T) {
	costs := textFile(t, "costs.csv", "s1,2\nother,0.5\ns2.r0,4\n")
	var varied []method.Spec
	for _, s := range methods.All() {
		if _, is := s.New().(method.Varied); is && !s.Takes.Cells {
			varied = append(varied, s)
		}
	}
	eachOf(t, varied, func(t *testing.T, spec method.Spec, q Request) {
		q.Input.Paths, q.Choice.Groups, q.Choice.Costs, q.Choice.Budget, q.Choice.K = []string{sensors(t)}, "prefix:.", costs, 9, 4
		weight := "alpha"
		if spec.Declare().Options.Find(weight) == nil {
			weight = "gamma"
		}
		values := []float64{0.01, 1, 100}
		q.Choice.Options[weight] = "0.01,1,100"
		g := must.Get(Path(t.Context(), q))(t).Grid
		if g.K != 4 || len(g.Settings) != len(values) {
			t.Fatalf("%d settings of %d groups", len(g.Settings), g.K)
		}
		for i, set := range g.Settings {
			q.Choice.Options[weight] = values[i]
			s := selected(t, q)
			var names []string
			for _, f := range s.Selected {
				if names = append(names, f.Name); !slices.Equal(g.Members[f.Name], f.Members) {
					t.Errorf("%s has the members %v, want %v", f.Name, g.Members[f.Name], f.Members)
				}
			}
			if !slices.Equal(set.Selected, names) || *set.Cost != *s.Cost {
				t.Errorf("%s %v: %v at %v, want %v at %v", weight, values[i], set.Selected, *set.Cost, names, *s.Cost)
			}
			sum, near := 0.0, 0.0
			for _, other := range []int{i - 1, i + 1} {
				if other >= 0 && other < len(values) {
					sum, near = sum+jaccard(set.Selected, g.Settings[other].Selected), near+1
				}
			}
			if a := float64(set.Agreement); a == a && math.Abs(a-sum/near) > 1e-15 { // NaN where rounding decides
				t.Errorf("%s %v agrees to %v with its neighbours, want %v", weight, values[i], a, sum/near)
			}
		}
	})
}

// TestGridOfGroupsAuto: a grid whose {k} auto takes groups counts those, not the features that the rules speak of.
func TestGridOfGroupsAuto(t *testing.T) {
	q := Request{Input: Input{Paths: []string{sensors(t)}}, Choice: Choice{Groups: "prefix:.", Method: "sfufs", Options: method.Settings{"gamma": "0.01,1"}, AutoK: true}}
	g := must.Get(Path(t.Context(), q))(t).Grid
	most := 0
	for _, set := range g.Settings {
		most = max(most, len(set.Selected))
	}
	q.Choice.Options["gamma"] = 1.0
	s := selected(t, q)
	if g.K != most || g.K >= s.Size.Recommended || len(g.Settings[1].Selected) != s.K {
		t.Errorf("%d groups where the settings have %d, and the selection %d for %d features", g.K, most, s.K, s.Size.Recommended)
	}
}

// jaccard is |A∩B|/|A∪B|.
func jaccard(a, b []string) float64 {
	both := 0
	for _, name := range a {
		if slices.Contains(b, name) {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
