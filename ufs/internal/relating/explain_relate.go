package relating

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judging/alike"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// relations computes from correlations the relations of columns to each other and to the chosen features.
type relations struct {
	*correlations
	dependence *alike.Dependence
	chosen     []int // chosen columns, sorted by rank
	isChosen   map[int]bool
	regression *alike.Regression // regression on all chosen columns
}

func (x *explainer) newRelations(c *correlations) (*relations, error) {
	r := &relations{correlations: c, isChosen: make(map[int]bool)}
	x.out.Data = &result.ExplainedData{Rows: c.rows, RowsUsed: c.rowsUsed, Features: c.D, Scale: c.scale, Missing: c.missing, Inputs: c.inputs, Passes: c.passes}
	x.out.Warnings = append(x.out.Warnings, c.warnings...)
	var missing []string
	for _, f := range x.selection.Selected {
		before := len(r.chosen)
		for _, name := range f.Features() {
			if j, there := c.index[name]; there {
				r.chosen = append(r.chosen, j)
			}
		}
		if len(r.chosen) == before {
			missing = append(missing, f.Name)
		}
	}
	if missing != nil {
		x.out.Warnings = append(x.out.Warnings, fmt.Sprintf("%s of the selection, the first %q: no feature of these data, which explain without", wording.CountNoun(len(missing), "feature"), missing[0]))
	}
	for _, j := range r.chosen {
		r.isChosen[j] = true
	}
	r.regression = c.RegressOn(r.chosen)
	var err error
	r.dependence, err = c.FindDependence()
	return r, err
}

func (r *relations) columnRelations(j int) *result.Relations {
	regression := r.regression
	if r.isChosen[j] {
		regression = r.RegressOn(slices.DeleteFunc(slices.Clone(r.chosen), func(i int) bool { return i == j }))
	}
	e := regression.ExplainColumn(j)
	out := &result.Relations{
		Mean: stream.Number(r.mean[j]), Std: stream.Number(r.std[j]), R2: stream.Number(e.R2), Exact: e.Exact,
		Residual: stream.Number(r.std[j] * math.Sqrt(1-e.R2)), Terms: []result.Term{}, Nearest: []result.NearColumn{}, Combinations: []result.LinearCombination{},
	}
	for k, i := range regression.Basis {
		out.Terms = append(out.Terms, r.newTerm(j, i, e.Weights[k]))
	}
	out.Constant = r.constantTerm(j, out.Terms, r.RoundingBound(j, regression.Basis, e.Weights))
	slices.SortStableFunc(out.Terms, func(a, b result.Term) int {
		return cmp.Or(cmp.Compare(math.Abs(float64(b.Standardized)), math.Abs(float64(a.Standardized))), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range r.NearestColumns(j, nearestShown) {
		out.Nearest = append(out.Nearest, result.NearColumn{Name: r.Names[n.Column], Correlation: stream.Number(n.Correlation), Selected: r.isChosen[n.Column]})
	}
	out.VIF, out.Determined = vifNumber(r.dependence.VIF[j])
	if r.isChosen[j] {
		vif, _ := vifNumber(1 / (1 - e.R2))
		out.VIFSelected = &vif
	}
	r.addCombinations(j, out)
	return out
}

// addCombinations adds to out the copies and linear combinations that contain column j. If j is a copy, it also adds
// the combinations that contain the original, the first column of the group of copies.
func (r *relations) addCombinations(j int, out *result.Relations) {
	first := j
	for _, group := range r.dependence.Copies {
		for _, n := range group.Of {
			if n.Column != j && group.Column != j {
				continue
			}
			first = group.Column
			copied := r.newCopy(group.Column, n)
			bound := r.RoundingBound(n.Column, []int{group.Column}, []float64{n.Correlation})
			out.Combinations = append(out.Combinations, result.LinearCombination{
				Name: copied.Name, Constant: copied.Constant, Terms: []result.Term{r.newTerm(n.Column, group.Column, n.Correlation)},
				Left: stream.Number(1 - n.Correlation*n.Correlation), Bound: stream.Number(bound),
			})
		}
	}
	for _, found := range r.dependence.Combinations {
		if found.HasColumn(first) {
			out.Combinations = append(out.Combinations, r.newLinearCombination(found))
		}
	}
	out.LongCombinations = out.Determined && len(out.Combinations) == 0
}
