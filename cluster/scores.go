package cluster

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Scores compares a clustering of n rows into r clusters with s known classes. Of the rows, n_ij are in cluster i and
// class j, a_i in cluster i, and b_j in class j. The best value of each score is 1. Only the adjusted Rand index can be
// negative.
type Scores struct {
	// ACC is the share of rows whose class is paired with their cluster. The pairing of clusters with classes, each
	// with at most one, is the best possible. Kuhn, The Hungarian method for the assignment problem, Naval Research
	// Logistics Quarterly 2 (1955); Munkres, J. SIAM 5 (1957).
	ACC float64
	// NMISqrt and NMIMax are the mutual information I = Σ n_ij/n·ln(n·n_ij/(a_i·b_j)), normalized by the entropies H_a
	// of the clusters and H_b of the classes. NMISqrt is I/√(H_a·H_b), as in Strehl and Ghosh, Cluster ensembles, JMLR
	// 3 (2002). NMIMax is I/max(H_a, H_b), as in much of the literature on feature selection. Both are 1 if there is a
	// single cluster and a single class, and 0 if only one of these holds.
	NMISqrt, NMIMax float64
	// Purity is Σ_i max_j n_ij/n: the share of rows in the largest class of their cluster.
	Purity float64
	// ARI is the adjusted Rand index of Hubert and Arabie, Comparing partitions, J. Classification 2 (1985): the share
	// of pairs of rows on which both groupings agree, rescaled so that chance gives 0. It is 1 if both groupings are
	// trivial in the same way: a single group, or every row by itself.
	ARI float64
}

// Compare scores clusters against labels, two slices with one element for each row. The names of clusters and classes
// do not affect the scores, not even in the last bit. The cost is O(n + max(r, s)³), with r·s counts in memory. If
// there are no rows, or the slices differ in length, the error is a *stream.UsageError.
func Compare[C, L comparable](clusters []C, labels []L) (Scores, error) {
	if len(clusters) != len(labels) || len(labels) == 0 {
		return Scores{}, stream.Usagef("a score needs a label for every row, and has %d labels for %d rows", len(labels), len(clusters))
	}
	// Groups are numbered in the order in which they first appear, so results do not depend on their names.
	first, second := numberGroups(clusters), numberGroups(labels)
	t := contingencyTable{n: float64(len(labels)), a: make([]float64, first.count), b: make([]float64, second.count)}
	t.cells = make([][]float64, first.count)
	for i := range t.cells {
		t.cells[i] = make([]float64, second.count)
	}
	for row, i := range first.group {
		j := second.group[row]
		t.cells[i][j]++
		t.a[i]++
		t.b[j]++
	}
	s := Scores{ACC: t.countMatchedRows() / t.n, Purity: t.countMajorityRows() / t.n, ARI: t.adjustedRandIndex()}
	s.NMISqrt, s.NMIMax = t.normalizedInformation()
	return s, nil
}

// groupNumbers gives each row the number of its group.
type groupNumbers struct {
	group []int32
	count int
}

func numberGroups[T comparable](groups []T) groupNumbers {
	numbers := make(map[T]int32)
	group := make([]int32, len(groups))
	for row, g := range groups {
		i, known := numbers[g]
		if !known {
			i = int32(len(numbers))
			numbers[g] = i
		}
		group[row] = i
	}
	return groupNumbers{group, len(numbers)}
}

// contingencyTable holds the counts n_ij, a_i and b_j. They are whole numbers, so their sums are exact.
type contingencyTable struct {
	n     float64
	cells [][]float64 // n_ij
	a, b  []float64
}

func (t contingencyTable) countMajorityRows() (sum float64) {
	for _, row := range t.cells {
		sum += slices.Max(row)
	}
	return sum
}

func (t contingencyTable) countMatchedRows() (sum float64) {
	for i, j := range pairRowsByGain(t.cells) {
		if j >= 0 {
			sum += t.cells[i][j]
		}
	}
	return sum
}

func (t contingencyTable) normalizedInformation() (sqrt, largest float64) {
	ha, hb := t.entropyOfSizes(t.a), t.entropyOfSizes(t.b)
	if len(t.a) == 1 && len(t.b) == 1 {
		return 1, 1
	}
	if len(t.a) == 1 || len(t.b) == 1 {
		return 0, 0
	}
	information := 0.0
	for i, row := range t.cells {
		for j, v := range row {
			if v > 0 {
				information += v / t.n * math.Log(t.n*v/(t.a[i]*t.b[j]))
			}
		}
	}
	// 0 ≤ I ≤ min(H_a, H_b), up to rounding.
	ratio := func(most float64) float64 { return min(max(information/most, 0), 1) }
	return ratio(math.Sqrt(ha * hb)), ratio(max(ha, hb))
}

func (t contingencyTable) entropyOfSizes(sizes []float64) (h float64) {
	for _, v := range sizes {
		h -= v / t.n * math.Log(v/t.n)
	}
	return h
}

func (t contingencyTable) adjustedRandIndex() float64 {
	pairs := func(v float64) float64 { return v * (v - 1) / 2 }
	var both, a, b float64
	for _, row := range t.cells {
		for _, v := range row {
			both += pairs(v)
		}
	}
	for _, v := range t.a {
		a += pairs(v)
	}
	for _, v := range t.b {
		b += pairs(v)
	}
	if all := pairs(t.n); a == b && (a == 0 || a == all) {
		return 1
	}
	chance := a * b / pairs(t.n)
	return (both - chance) / ((a+b)/2 - chance)
}
