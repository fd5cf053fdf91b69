package greedy

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// sparseBlockMost is the number of entries and rows of a block of sparse rows: what a block costs
	// whatever it holds, O(d), is little beside it.
	sparseBlockMost = 1 << 18
	// sparseEntryBytes and sparseRowBytes are what an entry and a row take in a block: value and feature
	// by rows, place and row by features, and of a row its end, weight and position.
	sparseEntryBytes = 8 + 4 + 4 + 4
	sparseRowBytes   = 8 + 8 + 8
	// mostWhole is the number of entries that places by features can tell apart.
	mostWhole = math.MaxInt32
)

// sparseBlockSize is the number of entries and rows of a block of d features: no more bytes than a
// block of dense rows has, which is planned for.
func sparseBlockSize(d int) int {
	return max(min(sparseBlockMost, d*stream.BlockRows(d)*8/(sparseEntryBytes+sparseRowBytes)), 1)
}

// wholeBytes is what all sparse rows take in memory.
func wholeBytes(entries, rows int64, d int) int64 {
	return entries*sparseEntryBytes + rows*sparseRowBytes + 16*int64(d)
}

// sparseBlock holds x′ of the entries present, by rows, and their places by features. Features ascend
// within a row.
//
// Columns of G wait for memory: with value, feature and row of an entry side by side in 16 bytes, 20
// million entries took 1.4 times as long.
type sparseBlock struct {
	d        int
	value    []float64
	feature  []int32
	rowEnd   []int
	weight   []float64 // w of each row
	position []int64   // of each row among all

	sorted bool // by features too
	colPtr []int
	at     []int32 // places of the entries by features
	row    []int32 // and their rows
	next   []int
}

func (s *sparseBlock) reset() {
	s.sorted = false
	s.rowEnd, s.feature, s.value = s.rowEnd[:0], s.feature[:0], s.value[:0]
	s.weight, s.position = s.weight[:0], s.position[:0]
}

// size is the number of entries and rows.
func (s *sparseBlock) size() int { return len(s.value) + len(s.rowEnd) }

// reserve makes room, so that nothing is outgrown.
func (s *sparseBlock) reserve(entries, rows int64) {
	s.rowEnd, s.weight, s.position = make([]int, 0, rows), make([]float64, 0, rows), make([]int64, 0, rows)
	s.feature, s.value = make([]int32, 0, entries), make([]float64, 0, entries)
	s.at, s.row = make([]int32, 0, entries), make([]int32, 0, entries)
}

// add adds an entry to the row at work.
func (s *sparseBlock) add(feature int, value float64) {
	s.feature, s.value = append(s.feature, int32(feature)), append(s.value, value)
}

// end ends the row at work.
func (s *sparseBlock) end(weight float64, position int64) {
	s.rowEnd = append(s.rowEnd, len(s.value))
	s.weight, s.position = append(s.weight, weight), append(s.position, position)
}

// entries are the features and values of row i from the place at on.
func (s *sparseBlock) entries(i int32, at int) (feature []int32, value []float64) {
	to := s.rowEnd[i]
	return s.feature[at:to], s.value[at:to]
}

// start is the place where row i begins.
func (s *sparseBlock) start(i int32) int {
	if i == 0 {
		return 0
	}
	return s.rowEnd[i-1]
}

// block lends all rows, sorted by features too.
func (s *sparseBlock) block() *block {
	if !s.sorted {
		s.sort()
	}
	return &block{rows: len(s.rowEnd), sparse: s}
}

// sort finds the places of the entries by features: O(entries + d).
func (s *sparseBlock) sort() {
	s.colPtr = rows.Room(s.colPtr, s.d+1)
	clear(s.colPtr)
	for _, k := range s.feature {
		s.colPtr[k+1]++
	}
	for k := range s.d {
		s.colPtr[k+1] += s.colPtr[k]
	}
	s.at, s.row = rows.Room(s.at, len(s.value)), rows.Room(s.row, len(s.value))
	s.next = append(s.next[:0], s.colPtr[:s.d]...)
	e := 0
	for i, end := range s.rowEnd {
		for ; e < end; e++ {
			k := s.feature[e]
			s.at[s.next[k]], s.row[s.next[k]] = int32(e), int32(i)
			s.next[k]++
		}
	}
	s.sorted = true
}

// addColumn adds Σ w x′_p x′ to acc.
func (s *sparseBlock) addColumn(acc []float64, p int) {
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		i := s.row[k]
		x := s.value[s.at[k]] * s.weight[i]
		feature, value := s.entries(i, s.start(i))
		for e, j := range feature {
			acc[j] += x * value[e]
		}
	}
}

// addFrom is addColumn for the features from p on: acc starts at the feature first, which is at most p.
func (s *sparseBlock) addFrom(acc []float64, p, first int) {
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		i := s.row[k]
		feature, value := s.entries(i, int(s.at[k]))
		x := value[0] * s.weight[i]
		for e, j := range feature {
			acc[int(j)-first] += x * value[e]
		}
	}
}

// addProduct adds Σ w y x′ to acc, y = (x′ − shift)ᵀv, and returns sum + Σ w y.
func (s *sparseBlock) addProduct(acc, v, shift []float64, sum float64) float64 {
	fixed := kernel.Dot(shift, v)
	for i, w := range s.weight {
		feature, value := s.entries(int32(i), s.start(int32(i)))
		y := -fixed
		for e, j := range feature {
			y += value[e] * v[j]
		}
		y *= w
		sum += y
		for e, j := range feature {
			acc[j] += y * value[e]
		}
	}
	return sum
}

// groupsPerTask is the number of groups whose sums a worker makes in one walk over the entries.
const groupsPerTask = 64

// addGroups adds Σ w z x′ to row j of acc for each of so many groups j, z the sum of a row's x′ in the group.
func (s *sparseBlock) addGroups(workers int, acc []float64, groups []int, count int) {
	kernel.Each(workers, tasks(count, groupsPerTask), func(task int) {
		lo, hi := span(task, groupsPerTask, count)
		var sums [groupsPerTask]float64
		var seen [groupsPerTask]bool
		var touched []int
		for i, w := range s.weight {
			feature, value := s.entries(int32(i), s.start(int32(i)))
			touched = touched[:0]
			for e, k := range feature {
				j := groups[k]
				if j < lo || j >= hi {
					continue
				}
				if !seen[j-lo] {
					seen[j-lo], sums[j-lo] = true, 0
					touched = append(touched, j)
				}
				sums[j-lo] += value[e]
			}
			for _, j := range touched {
				seen[j-lo] = false
				z, row := w*sums[j-lo], acc[j*s.d:(j+1)*s.d]
				for e, k := range feature {
					row[k] += z * value[e]
				}
			}
		}
	})
}
