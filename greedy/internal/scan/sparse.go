package scan

import (
	"math"

	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// maxSparseBlockSize is the largest number of entries plus rows of a sparse block. The fixed cost of a block, O(d), is
	// then small.
	maxSparseBlockSize = 1 << 18
	// sparsePlaceBytes is the memory of an entry and a row of a block, see sparseBlock.layOut.
	sparsePlaceBytes = 44
	// MaxSparsePlaces is the largest number of entries that entryAt can index.
	MaxSparsePlaces = math.MaxInt32
)

// sparseBlockSize returns the largest number of entries plus rows of a block of d features. A block of this size needs
// at most as much memory as a block of dense rows, for which the plan has room.
func sparseBlockSize(d int) int {
	return max(min(maxSparseBlockSize, d*stream.BlockRows(d)*8/sparsePlaceBytes), 1)
}

// SparseRowsBytes returns the memory of sparse rows of d features that stay in memory.
func SparseRowsBytes(entries, rows int64, d int) int64 {
	return room.Measure(func(l *room.Layout) { new(sparseBlock).layOut(l, int(entries), int(max(rows, 0)), d) })
}

// sparseBlock holds the values x′ = factor·x of the present entries in the order of rows, and the indices of these
// entries in the order of features. Features ascend within a row.
//
// Memory latency limits the speed at which columns of G are computed. With 20 million entries, computing columns took
// 1.4 times as long if the value, feature and row of an entry were stored together in 16 bytes.
type sparseBlock struct {
	d        int
	value    []float64
	feature  []int32
	rowEnd   []int     // end of each row in value and feature
	weight   []float64 // w of each row
	position []int64   // position of each row in the whole table

	isSorted  bool    // the fields below are up to date
	colPtr    []int   // start of each feature in entryAt and entryRow
	entryAt   []int32 // indices into value and feature, in the order of features
	entryRow  []int32 // row of each of these entries
	nextPlace []int   // scratch of sortByFeature
}

func (s *sparseBlock) removeRows() {
	s.isSorted = false
	s.rowEnd, s.feature, s.value = s.rowEnd[:0], s.feature[:0], s.value[:0]
	s.weight, s.position = s.weight[:0], s.position[:0]
}

func (s *sparseBlock) entriesPlusRows() int { return len(s.value) + len(s.rowEnd) }

func (s *sparseBlock) layOut(l *room.Layout, entries, rows, d int) {
	s.value, s.weight = room.Slice[float64](l, entries)[:0], room.Slice[float64](l, rows)[:0]
	s.rowEnd, s.position = room.Slice[int](l, rows)[:0], room.Slice[int64](l, rows)[:0]
	s.feature, s.entryAt, s.entryRow = room.Slice[int32](l, entries)[:0], room.Slice[int32](l, entries), room.Slice[int32](l, entries)
	s.colPtr, s.nextPlace = room.Slice[int](l, d+1), room.Slice[int](l, d)
}

func (s *sparseBlock) addEntry(feature int, value float64) {
	s.feature, s.value = append(s.feature, int32(feature)), append(s.value, value)
}

func (s *sparseBlock) endRow(weight float64, position int64) {
	s.rowEnd = append(s.rowEnd, len(s.value))
	s.weight, s.position = append(s.weight, weight), append(s.position, position)
}

func (s *sparseBlock) rowEntries(row int32, start int) (feature []int32, value []float64) {
	to := s.rowEnd[row]
	return s.feature[start:to], s.value[start:to]
}

func (s *sparseBlock) rowStart(row int32) int {
	if row == 0 {
		return 0
	}
	return s.rowEnd[row-1]
}

func (s *sparseBlock) sortedBlock() *Block {
	if !s.isSorted {
		s.sortByFeature()
	}
	return &Block{Rows: len(s.rowEnd), Sparse: s}
}

func (s *sparseBlock) sortByFeature() {
	s.colPtr = rows.ResizeSlice(s.colPtr, s.d+1)
	clear(s.colPtr)
	for _, k := range s.feature {
		s.colPtr[k+1]++
	}
	for k := range s.d {
		s.colPtr[k+1] += s.colPtr[k]
	}
	s.entryAt, s.entryRow = rows.ResizeSlice(s.entryAt, len(s.value)), rows.ResizeSlice(s.entryRow, len(s.value))
	s.nextPlace = append(s.nextPlace[:0], s.colPtr[:s.d]...)
	e := 0
	for i, end := range s.rowEnd {
		for ; e < end; e++ {
			k := s.feature[e]
			s.entryAt[s.nextPlace[k]], s.entryRow[s.nextPlace[k]] = int32(e), int32(i)
			s.nextPlace[k]++
		}
	}
	s.isSorted = true
}

// addColumn adds Σ w x′_p x′ to acc, summed over the rows x′ of the block with their weights w.
func (s *sparseBlock) addColumn(acc []float64, p int) {
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		i := s.entryRow[k]
		x := s.value[s.entryAt[k]] * s.weight[i]
		feature, value := s.rowEntries(i, s.rowStart(i))
		for e, j := range feature {
			acc[j] += x * value[e]
		}
	}
}

// addColumnFrom adds the same as addColumn, but only for the features from p on. The entry of acc at 0 belongs to the
// feature given by the parameter first, which is at most p.
func (s *sparseBlock) addColumnFrom(acc []float64, p, first int) {
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		i := s.entryRow[k]
		feature, value := s.rowEntries(i, int(s.entryAt[k]))
		x := value[0] * s.weight[i]
		for e, j := range feature {
			acc[int(j)-first] += x * value[e]
		}
	}
}

// addProduct adds Σ w y x′ to acc, summed over the rows x′ with their weights w, with y = (x′ − shift)ᵀv for each row.
// It returns sum + Σ w y.
func (s *sparseBlock) addProduct(acc, v, shift []float64, sum float64) float64 {
	fixed := kernel.Dot(shift, v)
	for i, w := range s.weight {
		feature, value := s.rowEntries(int32(i), s.rowStart(int32(i)))
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

// groupsPerTask is the number of groups whose sums a worker computes in one pass over the entries.
const groupsPerTask = 64

// addGroupProducts adds the sum of w·z·x to row j of acc for each group j, over the rows x with their weights w. z is the
// sum of the entries of x that belong to features of the group.
func (s *sparseBlock) addGroupProducts(workers int, acc []float64, groups []int, count int) {
	kernel.Each(workers, tasks.TaskCount(count, groupsPerTask), func(task int) {
		lo, hi := tasks.TaskRange(task, groupsPerTask, count)
		var sums [groupsPerTask]float64
		var seen [groupsPerTask]bool
		var touched []int
		for i, w := range s.weight {
			feature, value := s.rowEntries(int32(i), s.rowStart(int32(i)))
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

func (s *sparseBlock) columnProduct(feature, other int) (sum float64) {
	k, end := s.colPtr[other], s.colPtr[other+1]
	for at := s.colPtr[feature]; at < s.colPtr[feature+1]; at++ {
		row := s.entryRow[at]
		for k < end && s.entryRow[k] < row {
			k++
		}
		if k < end && s.entryRow[k] == row {
			sum += s.weight[row] * s.value[s.entryAt[at]] * s.value[s.entryAt[k]]
		}
	}
	return sum
}
