package hygiene

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// sketch keeps the distinct values of a column with the least hashes, and how often each came: a uniform
// sample of the distinct values, the same for any order of the rows (bottom-k: Cohen and Kaplan, Summarizing
// data using bottom-k sketches, PODC 2007). A column without repeats has every one of them once, and where
// values repeat, k over the sum of the counts estimates distinct values a row.
type sketch struct {
	seen  int64 // observed values
	hash  []uint64
	count []uint32
}

const (
	// sketched is k: of a column where one value in 20 repeats, the estimate is off by a hundredth.
	sketched    = 256
	sketchBytes = 12 * sketched
	// mostSketched columns may have a sketch. A table with more columns of whole numbers that hardly repeat
	// has measurements.
	mostSketched = 256
	// fewRows are enough to see that most columns repeat their values: they are no identifiers if fewer
	// than half of their values differ.
	fewRows = 64
)

func (s *sketch) add(x float64) {
	s.seen++
	h := splitmix.Mix(math.Float64bits(x + 0)) // -0 is 0
	n := len(s.hash)
	if n == sketched && h > s.hash[n-1] {
		return
	}
	at, there := slices.BinarySearch(s.hash, h)
	if there {
		s.count[at]++
		return
	}
	s.put(at, h, 1)
}

// put makes h number at, and lets go of the last where there is one too many.
func (s *sketch) put(at int, h uint64, count uint32) {
	if s.hash == nil {
		s.hash, s.count = make([]uint64, 0, sketched), make([]uint32, 0, sketched)
	}
	if n := len(s.hash); n == sketched {
		s.hash, s.count = s.hash[:n-1], s.count[:n-1]
	}
	s.hash, s.count = slices.Insert(s.hash, at, h), slices.Insert(s.count, at, count)
}

// merge adds the values of o.
func (s *sketch) merge(o *sketch) {
	s.seen += o.seen
	for i, h := range o.hash {
		at, there := slices.BinarySearch(s.hash, h)
		switch {
		case there:
			s.count[at] += o.count[i]
		case at < sketched:
			s.put(at, h, o.count[i])
		}
	}
}

func (s *sketch) clone() *sketch {
	return &sketch{s.seen, slices.Clone(s.hash), slices.Clone(s.count)}
}

// share is the number of distinct values over that of values, estimated beyond k of them. It is exactly
// 1 where none of those kept came twice.
func (s *sketch) share() float64 {
	var sum int64
	for _, n := range s.count {
		sum += int64(n)
	}
	if sum == 0 {
		return 0
	}
	return float64(len(s.hash)) / float64(sum)
}

// look adds values of a column that may be an identifier.
func (f *Facts) look(col *column, values []float64) {
	if col.kept == nil {
		switch repeats(values) {
		case manyRepeat:
			col.notID(f)
			return
		case noneObserved:
			return
		}
		if f.candidates == mostSketched {
			f.crowd()
			return
		}
		f.candidates++
		col.kept = new(sketch)
	}
	for _, x := range values {
		switch {
		case x != x:
		case !whole(x):
			col.notID(f)
			return
		default:
			if col.kept.add(x); col.kept.seen%sketched == 0 && col.kept.repeats() {
				col.notID(f)
				return
			}
		}
	}
	if col.kept.seen >= fewRows && col.kept.repeats() {
		col.notID(f)
	}
}

// repeats says that fewer than half of the values differ.
func (s *sketch) repeats() bool { return s.share() < 0.5 }

const (
	noneObserved = iota
	manyRepeat   // or no whole number
	fewRepeat
)

// repeats looks at the first values of a column.
func repeats(values []float64) int {
	var room [fewRows]float64
	first := room[:0]
	for _, x := range values {
		if x != x {
			continue
		}
		if !whole(x) {
			return manyRepeat
		}
		if first = append(first, x); len(first) == fewRows {
			break
		}
	}
	if len(first) == 0 {
		return noneObserved
	}
	if len(first) < fewRows {
		return fewRepeat
	}
	slices.Sort(first)
	if len(slices.Compact(first)) < fewRows/2 {
		return manyRepeat
	}
	return fewRepeat
}

// notID says that the column is no identifier.
func (c *column) notID(f *Facts) {
	if c.plain = true; c.kept != nil {
		c.kept = nil
		f.candidates--
	}
}

// crowd gives up looking for identifiers.
func (f *Facts) crowd() {
	f.crowded = true
	for j := range f.columns {
		f.columns[j].notID(f)
	}
}
