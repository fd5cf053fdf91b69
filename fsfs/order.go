package fsfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// ranked is a feature with what it is ranked by, lower first.
type ranked struct {
	feature int32
	index   float64
}

const (
	// steps is how many neighbours are compared in the graph, where λ₂ of each is a product of its own.
	steps = 16
	// headSize is how many nearest features are kept of those that are equal in these.
	headSize = 64
)

// head is the beginning of a feature's λ₂ to all others, ascending, and a digest of them all.
type head struct {
	nearest []float64
	digest  *[sha256.Size]byte
}

// sort sorts features by their index; of two that are equal in that the one with the nearer features comes
// first, the nearest of all compared, then the second nearest and so on; then column order decides. It
// tells features apart that are each other's nearest, where column order would be the alternative.
func (s *similar) sort(ctx context.Context, list []ranked) error {
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.feature, b.feature))
	})
	tied := split([][]ranked{list}, func(a, b ranked) int { return cmp.Compare(a.index, b.index) })
	if s.whole {
		tied = split(tied, s.compareNear)
	}
	if err := s.addHeads(ctx, tied); err != nil {
		return err
	}
	tied = split(tied, func(a, b ranked) int {
		return slices.Compare(s.heads[a.feature].nearest, s.heads[b.feature].nearest)
	})
	if s.d-1 <= headSize || len(tied) == 0 {
		return nil
	}
	if err := s.addDigests(ctx, tied); err != nil {
		return err
	}
	for _, run := range tied {
		if err := s.sortWhole(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// sortWhole sorts a run by whole lists, of which those with one digest are equal.
func (s *similar) sortWhole(ctx context.Context, run []ranked) (err error) {
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
		err = s.rows(ctx, []int32{i, j}, func(x int, row []float64) {
			lists[x] = slices.Clone(row)
			slices.Sort(lists[x])
		})
		return slices.Compare(lists[0], lists[1])
	})
	for place, i := range distinct {
		places[*s.heads[i].digest] = place
	}
	slices.SortStableFunc(run, func(a, b ranked) int {
		return cmp.Compare(places[*s.heads[a.feature].digest], places[*s.heads[b.feature].digest])
	})
	return err
}

// split sorts each of the runs and returns what stays equal in them.
func split(runs [][]ranked, compare func(a, b ranked) int) (equal [][]ranked) {
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

// compareNear compares the first neighbours of two in the graph of all features. Those beyond it are farther away.
func (s *similar) compareNear(a, b ranked) int {
	x, y := s.graph.of(a.feature), s.graph.of(b.feature)
	for p := range steps {
		if p == len(x) || p == len(y) {
			return cmp.Compare(len(y), len(x))
		}
		if c := cmp.Compare(s.index(a.feature, x[p]), s.index(b.feature, y[p])); c != 0 {
			return c
		}
	}
	return 0
}

// addHeads makes the heads that are missing.
func (s *similar) addHeads(ctx context.Context, runs [][]ranked) error {
	var list []int32
	for _, run := range runs {
		for _, c := range run {
			if s.heads[c.feature] == nil {
				list = append(list, c.feature)
				s.heads[c.feature] = &head{nearest: make([]float64, min(headSize, s.d-1))}
			}
		}
	}
	return s.rows(ctx, list, func(x int, row []float64) {
		others := without(row, list[x])
		to := s.heads[list[x]].nearest
		if len(to) > 0 {
			nth(others, len(to)-1)
		}
		copy(to, others)
		slices.Sort(to)
	})
}

// addDigests makes the digests that are missing.
func (s *similar) addDigests(ctx context.Context, runs [][]ranked) error {
	var list []int32
	for _, run := range runs {
		for _, c := range run {
			if s.heads[c.feature].digest == nil {
				list = append(list, c.feature)
			}
		}
	}
	return s.rows(ctx, list, func(x int, row []float64) {
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

// without is a row without the feature's own place, in the row's room.
func without(row []float64, i int32) []float64 { return slices.Delete(row, int(i), int(i)+1) }

// nth is the value of place k of x in ascending order; x is reordered so that no lower one comes after it.
func nth(x []float64, k int) float64 {
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
