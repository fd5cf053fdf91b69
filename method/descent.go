package method

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Descent is the outcome of an iteration that lowers an objective, as a ranking of all features.
type Descent struct {
	Order     []int     // all features, by falling score
	Ties      Ties      // ties of Order
	Scores    []float64 // of each feature
	Objective []float64 // after each iteration
	FromStart bool      // Objective also has the value before the first iteration, at its beginning
	Converged bool      // the objective fell by at most the tolerance, as a share of its value
	Rose      *Rise     // nil if the objective never rose
}

// RecordStep adds the objective of iteration t, counted from 1, and calls progress, which may be nil. It sets Converged,
// except for the first objective. It returns false, and sets Rose, if the objective rose by more than allowed.
func (d *Descent) RecordStep(t int, value, allowed, tol float64, progress func(iteration int, objective float64)) bool {
	d.Objective = append(d.Objective, value)
	if progress != nil {
		progress(t, value)
	}
	if len(d.Objective) == 1 {
		return true
	}
	before := d.Objective[len(d.Objective)-2]
	if !(value-before <= allowed) {
		d.Rose, d.Converged = &Rise{Iteration: t, From: before, To: value, Allowed: allowed}, false
		return false
	}
	d.Converged = before-value <= tol*math.Abs(value)
	return true
}

// ToRanking returns the outcome as a Ranking with a trace.
func (d *Descent) ToRanking() *Ranking {
	iterations := d.Objective
	if d.FromStart {
		iterations = iterations[1:]
	}
	r := &Ranking{Order: d.Order, Scores: d.Scores, Ties: d.Ties, Rose: d.Rose, Unsettled: !d.Converged}
	for t, v := range iterations {
		r.Trace = append(r.Trace, stream.TraceStep{Iteration: t + 1, Objective: stream.Number(v)})
	}
	return r
}
