package sfufs

import "math"

// extrapolator takes longer and longer steps of the iteration over W and Q: adaptive over-relaxation of the map from
// log Q to the log Q of the next W (Salakhutdinov, Roweis: Adaptive overrelaxed bound optimization methods, ICML 2003).
// A row of W that vanishes shrinks by nearly the same factor in each update, so that its log Q falls in equal steps.
// The caller must refuse a step that raises the objective.
type extrapolator struct {
	logQ    []float64 // of the last update
	logNext []float64 // the log Q of its W
	stretch float64   // length of the next step; 1 is the step of the paper
}

// stretchGrowth is the factor from one step to the next. With 2, mnist10k and USPS take 18 updates a setting on average
// over 7 values each of α and γ, in place of 55 and 45, and their minima are 0.1 % higher on average (3 % in the worst
// of 98 settings; the problem has many local minima). With 3 it takes as many, and with 4 the minima are 2 % higher.
const stretchGrowth = 2

func (e *extrapolator) recordUpdate(q, rowNorms []float64) {
	if e.logQ == nil {
		e.logQ, e.logNext, e.stretch = make([]float64, len(q)), make([]float64, len(q)), 1
	}
	computeQ(e.logNext, rowNorms)
	for i := range q {
		e.logQ[i], e.logNext[i] = math.Log(q[i]), math.Log(e.logNext[i])
	}
	e.stretch *= stretchGrowth
}

func (e *extrapolator) predictQ(q []float64) bool {
	if e.logQ == nil {
		return false
	}
	for i, from := range e.logQ {
		q[i] = min(math.Exp(from+e.stretch*(e.logNext[i]-from)), 0.5/math.Sqrt(epsilon))
	}
	return true
}
