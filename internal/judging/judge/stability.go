package judge

import "math"

// Stability measures how similar the selections from several resamplings of the rows are.
type Stability struct {
	Resamples int
	// Jaccard is the mean over pairs of selections of |A∩B|/|A∪B|. It is 1 if all selections are the same. It grows
	// with the selected share of the features, even for random selections.
	Jaccard float64
	// Nogueira is corrected for chance: it is 1 if all selections are the same, and about 0 for random selections of
	// the same sizes (Nogueira, Sechidis, Brown 2018, definition 4). It is 1 − mean_f(s_f²)/((k̄/d)(1−k̄/d)), s_f²
	// being the unbiased variance of the indicator of feature f, k̄ the mean size of a selection, and d the number of
	// features. Nogueira is NaN if all selections are empty or all have every feature.
	Nogueira float64
	// Low and High are the ends of the 95 % confidence interval of Nogueira, by the variance of section 4.3 of the
	// paper, eq. (5) and theorem 7. It assumes independent selections. Selections from half-samples that share rows
	// vary less, so that the interval is too short for these. Low and High are NaN if Nogueira is.
	Low, High float64
}

// MeasureStability compares the m selections of sets, each with distinct features 0 … d-1. With fewer than two
// selections all measures are NaN. It costs O(m²·k) for selections of k features.
func MeasureStability(sets [][]int, d int) Stability {
	m := len(sets)
	s := Stability{Resamples: m, Jaccard: math.NaN(), Nogueira: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if m < 2 {
		return s
	}
	times := make([]int, d) // number of selections that contain each feature
	size := 0
	for _, set := range sets {
		size += len(set)
		for _, f := range set {
			times[f]++
		}
	}
	in := make([]bool, d)
	shares := 0.0
	for i, a := range sets {
		for _, f := range a {
			in[f] = true
		}
		for _, b := range sets[i+1:] {
			both := 0
			for _, f := range b {
				if in[f] {
					both++
				}
			}
			if union := len(a) + len(b) - both; union > 0 {
				shares += float64(both) / float64(union)
			} else {
				shares++ // the share of two empty selections counts as 1
			}
		}
		for _, f := range a {
			in[f] = false
		}
	}
	s.Jaccard = shares / float64(m*(m-1)/2)
	variance := 0.0
	for _, t := range times {
		p := float64(t) / float64(m)
		variance += p * (1 - p)
	}
	variance *= float64(m) / float64(m-1) / float64(d)
	if share := float64(size) / float64(m) / float64(d); share > 0 && share < 1 {
		s.Nogueira = 1 - variance/(share*(1-share))
		half := normal95 * math.Sqrt(s.nogueiraVariance(sets, times, d))
		s.Low, s.High = s.Nogueira-half, s.Nogueira+half
	}
	return s
}

const normal95 = 1.959963984540054 // 95 % of standard normal numbers have at most this magnitude

// nogueiraVariance estimates the variance v of Nogueira's measure Φ, computed from m selections of d features, from the
// contributions Φ_i of the selections. With z_if being 1 if selection i contains feature f, p_f the mean of z_if, k_i
// the size of selection i and k̄ = Σ_f p_f:
//
//	Φ_i = [ Σ_f z_if·p_f/d − k_i·k̄/d² + Φ/2·(2k̄k_i/d² − k_i/d − k̄/d + 1) ] / (k̄/d·(1−k̄/d))
//	v = 4/m²·Σ_i (Φ_i − mean of Φ_i)²
//
// times has the number of selections that contain each feature.
func (s Stability) nogueiraVariance(sets [][]int, times []int, d int) float64 {
	m, n := float64(len(sets)), float64(d)
	share := 0.0 // k̄/d
	for _, t := range times {
		share += float64(t) / m / n
	}
	parts := make([]float64, len(sets))
	mean := 0.0
	for i, set := range sets {
		common := 0.0
		for _, f := range set {
			common += float64(times[f]) / m
		}
		own := float64(len(set)) / n
		parts[i] = (common/n - own*share + s.Nogueira/2*(2*share*own-own-share+1)) / (share * (1 - share))
		mean += parts[i] / m
	}
	v := 0.0
	for _, p := range parts {
		v += (p - mean) * (p - mean)
	}
	return 4 * v / (m * m)
}
