package hvg

import (
	"math"
	"slices"
)

const intervals = 20

// noScore is the score of columns that cannot be compared with others.
var noScore = math.Inf(-1)

// ScoreSeurat scores columns by their means and variances as the method seurat does.
func ScoreSeurat(mean, variance []float64) []float64 {
	scores := slices.Repeat([]float64{noScore}, len(mean))
	level := make([]float64, len(mean))
	low, high := math.Inf(1), math.Inf(-1)
	for j, m := range mean {
		if level[j] = math.Log1p(m); hasDispersion(m, variance[j]) {
			low, high = min(low, level[j]), max(high, level[j])
		}
	}
	edges := make([]float64, intervals) // upper ends
	for i := range edges {
		edges[i] = float64(i+1)*((high-low)/intervals) + low
	}
	edges[intervals-1] = high
	for _, group := range groupColumns(mean, variance, level, edges) {
		sum, squares := 0.0, 0.0
		for _, j := range group {
			scores[j] = math.Log(variance[j] / mean[j])
			sum += scores[j]
		}
		centre := sum / float64(len(group))
		for _, j := range group {
			squares += (scores[j] - centre) * (scores[j] - centre)
		}
		spread := math.Sqrt(squares / float64(len(group)-1))
		for _, j := range group {
			switch {
			case len(group) == 1:
				scores[j] = 1
			case spread > 0:
				scores[j] = (scores[j] - centre) / spread
			default:
				scores[j] = noScore
			}
		}
	}
	return scores
}

// madOfNormal is the median absolute deviation of a standard normal variable.
const madOfNormal = 0.6744897501960817

// ScoreCellRanger scores columns by their means and variances as the method cell_ranger does. It returns the number of
// columns without a score because their intervals have no deviation.
func ScoreCellRanger(mean, variance []float64) (scores []float64, unscored int) {
	scores = slices.Repeat([]float64{noScore}, len(mean))
	var sorted []float64
	for j, m := range mean {
		if hasDispersion(m, variance[j]) {
			sorted = append(sorted, m)
		}
	}
	slices.Sort(sorted)
	var edges []float64
	for percent := 10; percent <= 100 && len(sorted) > 0; percent += 5 {
		edges = append(edges, quantileOfSorted(sorted, float64(percent)/100))
	}
	for _, group := range groupColumns(mean, variance, mean, edges) {
		dispersions := make([]float64, len(group))
		for i, j := range group {
			dispersions[i] = variance[j] / mean[j]
		}
		centre := medianOf(dispersions)
		deviations := make([]float64, len(group))
		for i, j := range group {
			scores[j] = variance[j]/mean[j] - centre
			deviations[i] = math.Abs(scores[j])
		}
		deviation := medianOf(deviations) / madOfNormal
		for _, j := range group {
			if scores[j] /= deviation; deviation == 0 {
				scores[j] = noScore
				unscored++
			}
		}
	}
	return scores, unscored
}

func hasDispersion(mean, variance float64) bool { return mean > 0 && variance > 0 }

// groupColumns divides the columns that have a dispersion into the intervals of their levels with these upper ends.
func groupColumns(mean, variance, level, ends []float64) [][]int {
	groups := make([][]int, len(ends)+1)
	for j, m := range mean {
		if hasDispersion(m, variance[j]) {
			i, _ := slices.BinarySearch(ends, level[j])
			groups[i] = append(groups[i], j)
		}
	}
	return groups
}

func medianOf(values []float64) float64 {
	slices.Sort(values)
	return quantileOfSorted(values, 0.5)
}

// quantileOfSorted interpolates between neighbouring values, as type 7 of Hyndman and Fan does.
func quantileOfSorted(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (sorted[i+1]-sorted[i])*(at-float64(i))
}
