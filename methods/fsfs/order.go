package fsfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// rankedFeature is a feature with its sort key `index`. Features with lower keys come first.
type rankedFeature struct {
	feature int32
	index   float64
}

const (
	// nearSteps is the largest number of neighbours of two tied features that are compared, each at the cost of a product.
	nearSteps = 16
	// headSize is the number of nearest features stored for a feature that ties with another in nearSteps neighbours.
	headSize = 64
)

// distanceHead describes the list of all λ₂ of a feature to other features, ascending: its smallest values, and a
// digest of the whole list.
type distanceHead struct {
	nearest []float64
	digest  *[sha256.Size]byte
}

// sortRanked sorts features by their index of quality, the lowest first. Features with the same index are compared by
// their distances λ₂ to other features: first by the distance to the nearest one, then to the second nearest, and so on.
// The feature with the smaller distance comes first. If all distances are equal, column order decides. Two features that
// are each other's nearest have the same smallest distance, so usually their second one decides.
func (s *similarity) sortRanked(ctx context.Context, list []rankedFeature) error {
	slices.SortFunc(list, func(a, b rankedFeature) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.feature, b.feature))
	})
	tied := splitTies([][]rankedFeature{list}, func(a, b rankedFeature) int { return cmp.Compare(a.index, b.index) })
	if s.graphHasAll {
		tied = splitTies(tied, s.compareNeighbours)
	}
	if err := s.addDistanceHeads(ctx, tied); err != nil {
		return err
	}
	tied = splitTies(tied, func(a, b rankedFeature) int {
		return slices.Compare(s.heads[a.feature].nearest, s.heads[b.feature].nearest)
	})
	if s.d-1 <= headSize || len(tied) == 0 {
		return nil
	}
	if err := s.addDistanceDigests(ctx, tied); err != nil {
		return err
	}
	for _, run := range tied {
		if err := s.sortByWholeLists(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// sortByWholeLists sorts features that tie so far by their whole lists of λ₂. Lists with the same digest are equal.
func (s *similarity) sortByWholeLists(ctx context.Context, run []rankedFeature) (err error) {
	places := make(map[[sha256.Size]byte]int)
	var distinct []int32
	for _, c := range run {
		digest := *s.heads[c.feature].digest
		if _, found := places[digest]; !found {
			places[digest] = 0
			distinct = append(distinct, c.feature)
		}
	}
	slices.SortFunc(distinct, func(i, j int32) int {
		if i == j || err != nil {
			return 0
		}
		var lists [2][]float64
		err = s.visitRows(ctx, []int32{i, j}, func(x int, row []float64) {
			lists[x] = slices.Clone(row)
			slices.Sort(lists[x])
		})
		return slices.Compare(lists[0], lists[1])
	})
	for place, i := range distinct {
		places[*s.heads[i].digest] = place
	}
	slices.SortStableFunc(run, func(a, b rankedFeature) int {
		return cmp.Compare(places[*s.heads[a.feature].digest], places[*s.heads[b.feature].digest])
	})
	return err
}

// splitTies sorts each run of features, and returns the parts of runs whose elements compare as equal.
func splitTies(runs [][]rankedFeature, compare func(a, b rankedFeature) int) (equal [][]rankedFeature) {
	for _, run := range runs {
		slices.SortStableFunc(run, compare)
		for from := 0; from < len(run); {
			to := from + 1
			for to < len(run) && compare(run[from], run[to]) == 0 {
				to++
			}
			if to > from+1 {
				equal = append(equal, run[from:to])
			}
			from = to
		}
	}
	return equal
}

// compareNeighbours compares the nearest neighbours of two features in the graph of all features, one after the other.
// Features that are not in the graph are farther than all neighbours.
func (s *similarity) compareNeighbours(a, b rankedFeature) int {
	x, y := s.graph.nearestFeatures(a.feature), s.graph.nearestFeatures(b.feature)
	for p := range nearSteps {
		if p == len(x) || p == len(y) {
			return cmp.Compare(len(y), len(x))
		}
		if c := cmp.Compare(s.pairCompressionIndex(a.feature, x[p]), s.pairCompressionIndex(b.feature, y[p])); c != 0 {
			return c
		}
	}
	return 0
}

func (s *similarity) addDistanceHeads(ctx context.Context, runs [][]rankedFeature) error {
	var list []int32
	for _, run := range runs {
		for _, c := range run {
			if s.heads[c.feature] == nil {
				list = append(list, c.feature)
				s.heads[c.feature] = &distanceHead{nearest: make([]float64, min(headSize, s.d-1))}
			}
		}
	}
	return s.visitRows(ctx, list, func(x int, row []float64) {
		others := withoutOwnDistance(row, list[x])
		to := s.heads[list[x]].nearest
		if len(to) > 0 {
			nthSmallest(others, len(to)-1)
		}
		copy(to, others)
		slices.Sort(to)
	})
}

func (s *similarity) addDistanceDigests(ctx context.Context, runs [][]rankedFeature) error {
	var list []int32
	for _, run := range runs {
		for _, c := range run {
			if s.heads[c.feature].digest == nil {
				list = append(list, c.feature)
			}
		}
	}
	return s.visitRows(ctx, list, func(x int, row []float64) {
		slices.Sort(row)
		sum, word := sha256.New(), make([]byte, 8)
		for _, v := range row {
			binary.LittleEndian.PutUint64(word, math.Float64bits(v))
			sum.Write(word)
		}
		s.heads[list[x]].digest = new([sha256.Size]byte)
		sum.Sum(s.heads[list[x]].digest[:0])
	})
}

func withoutOwnDistance(row []float64, own int32) []float64 {
	return slices.Delete(row, int(own), int(own)+1)
}

// nthSmallest returns the k-th smallest element of x, counted from 0, and partitions x around it.
func nthSmallest(x []float64, k int) float64 {
	lo, hi := 0, len(x)
	for {
		a, b, c := x[lo], x[lo+(hi-lo)/2], x[hi-1]
		pivot := max(min(a, b), min(max(a, b), c))
		// x[lo:less] < pivot, x[less:at] = pivot, x[more:hi] > pivot.
		less, more := lo, hi
		for at := lo; at < more; {
			switch v := x[at]; {
			case v < pivot:
				x[at], x[less] = x[less], v
				less++
				at++
			case v > pivot:
				more--
				x[at], x[more] = x[more], v
			default:
				at++
			}
		}
		switch {
		case k < less:
			hi = less
		case k >= more:
			lo = more
		default:
			return pivot
		}
	}
}
