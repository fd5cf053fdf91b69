package anchor

import (
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// thinShare: anchors are thin if at most 1/thinShare of their coordinates are not 0. The two lists of these
	// coordinates, by anchor and by feature, then need less memory than a search among dense anchors.
	thinShare = 4
	// minThinFeatures is the smallest number of features for which thin anchors are used. A search among dense anchors
	// makes about fifty multiplications in the time in which a search among thin anchors looks up one entry.
	minThinFeatures = 1024
	// maxCoordinates is the largest number of coordinates in a block of rows.
	maxCoordinates = 1 << 20
)

// thinFrame maps sparse rows into a frame, in time that does not grow with the number of features. An absent entry
// becomes 0 if the column's centre is 0, which holds for all columns with few entries. So the nonzero coordinates of a
// row come only from its entries and from columns whose centre is not 0. The same holds for anchors that are rows.
type thinFrame struct {
	featureOf []int32   // source column → feature + 1; 0 if left out
	common    []int32   // features whose centre is not 0
	absent    []float64 // coordinates of these features for a row without the entry
	std       gram.Standardizer
}

func newThinFrame(f *frame, p *frameMapper) *thinFrame {
	t := &thinFrame{featureOf: make([]int32, p.columns), std: p.all}
	for k, j := range f.columns {
		t.featureOf[j] = int32(k + 1)
		if f.center[k] != 0 {
			t.common = append(t.common, int32(k))
			t.absent = append(t.absent, (0-f.center[k])*f.factor[k])
		}
	}
	return t
}

func (t *thinFrame) appendMappedRow(points *kernel.Compressed, columns []int32, values []float64) {
	next := 0 // index in common
	for e, j := range columns {
		k := t.featureOf[j] - 1
		if k < 0 {
			continue
		}
		for ; next < len(t.common) && t.common[next] < k; next++ {
			points.AddEntry(int(t.common[next]), t.absent[next])
		}
		if next < len(t.common) && t.common[next] == k {
			next++
		}
		x := values[e]
		if x != x {
			x = t.std.Fill[k]
		}
		points.AddEntry(int(k), (x-t.std.Shift[k])*t.std.Factor[k])
	}
	for ; next < len(t.common); next++ {
		points.AddEntry(int(t.common[next]), t.absent[next])
	}
	points.EndRow()
}

// thinSearch finds the nearest thin anchors of sparse rows. It has a list of anchors for each feature. So xᵀy of a row
// x with all anchors y costs one operation for each feature that x shares with an anchor. Most anchors are ruled out by
// ‖y‖² − 2xᵀy, whose error is bounded, and the others are compared by Σ(x_i − y_i)².
//
// A feature that many anchors share is stored as a column with one number for each anchor. Such a column is added
// without index look-ups, which is 20 times as fast per entry as a list.
type thinSearch struct {
	m, d, count int

	byFeature, byAnchor kernel.Compressed
	denseColumn         []int32   // feature → number of its column + 1; 0 if the feature is stored as a list
	denseValues         []float64 // columns of m numbers
	norm                []float64 // ‖y‖²
	longestAnchor       int       // largest number of coordinates of an anchor
	largestNorm         float64   // the largest of norm

	rows             kernel.Compressed // the current block
	blockCoordinates int               // largest number of coordinates of a block, not counting its last row
	weightRows       kernel.Compressed // weights of the block on the anchors
	work             []thinScratch
}

// thinScratch is the working memory of one worker.
type thinScratch struct {
	product []float64 // m
	lowest  []float64 // the thinSearch.count lowest values of ‖y‖² − 2xᵀy
}

// columnShare: a feature that more than 1/columnShare of the anchors share is stored as a column. Columns then need at
// most twice the memory of lists.
const columnShare = 4

// compressedPoints returns points as lists of nonzero coordinates, or false if there are too many nonzero coordinates.
func compressedPoints(points []float64, m, d int) (kernel.Compressed, bool) {
	entries := 0
	for _, y := range points {
		if y != 0 {
			entries++
		}
	}
	if d < minThinFeatures || entries > len(points)/thinShare {
		return kernel.Compressed{}, false
	}
	out := kernel.Compressed{Cols: d, Index: make([]int32, 0, entries), Value: make([]float64, 0, entries)}
	for j := range m {
		for k, y := range points[j*d : (j+1)*d] {
			if y != 0 {
				out.AddEntry(k, y)
			}
		}
		out.EndRow()
	}
	return out, true
}

func compressedRows(sparse *stream.CSR, columns int) kernel.Compressed {
	out := kernel.Compressed{Rows: len(sparse.RowPtr) - 1, Cols: columns, Starts: make([]int32, len(sparse.RowPtr)), Index: sparse.Index, Value: sparse.Value}
	for i, start := range sparse.RowPtr {
		out.Starts[i] = int32(start)
	}
	return out
}

// newThinSearch returns a search for the `count` anchors that are nearest to a row. The rows of y are the anchors.
// blockCoordinates is the largest number of coordinates in a block of rows.
func newThinSearch(y kernel.Compressed, count, workers, blockCoordinates int) *thinSearch {
	t := &thinSearch{m: y.Rows, d: y.Cols, count: count, blockCoordinates: blockCoordinates, byAnchor: y, norm: make([]float64, y.Rows), work: make([]thinScratch, workers)}
	t.rows.Cols, t.weightRows.Cols = t.d, t.m
	for j := range t.m {
		at, value := y.Row(j)
		for _, v := range value {
			t.norm[j] += v * v
		}
		t.largestNorm, t.longestAnchor = max(t.largestNorm, t.norm[j]), max(t.longestAnchor, len(at))
	}
	t.byFeature = y.TransposedCopy()
	t.denseColumn = make([]int32, t.d)
	for k := range t.d {
		at, value := t.byFeature.Row(k)
		if len(at)*columnShare <= t.m {
			continue
		}
		from := len(t.denseValues)
		t.denseValues = append(t.denseValues, make([]float64, t.m)...)
		for q, j := range at {
			t.denseValues[from+int(j)] = value[q]
		}
		t.denseColumn[k] = int32(from/t.m + 1)
	}
	for w := range t.work {
		t.work[w] = thinScratch{make([]float64, t.m), make([]float64, 0, count)}
	}
	return t
}

// thinSearchBytes bounds the memory of a search among m anchors, in addition to the anchors. coordinates is the total
// number of their nonzero coordinates.
func thinSearchBytes(m, d, coordinates, count, workers int) int64 {
	return int64(coordinates)*(12+8*columnShare) + 16*int64(d) + int64(workers)*8*int64(m+count) + 8*int64(m)
}

// mapRowsIntoFrame maps at most maxRows rows of c into the frame, beginning with row `from`, and returns their number.
func (t *thinSearch) mapRowsIntoFrame(f *thinFrame, c *stream.Chunk, from, maxRows int) int {
	t.rows.Reset()
	i := from
	for ; i < min(from+maxRows, c.Rows) && (i == from || len(t.rows.Index) < t.blockCoordinates); i++ {
		lo, hi := c.Sparse.RowPtr[i], c.Sparse.RowPtr[i+1]
		f.appendMappedRow(&t.rows, c.Sparse.Index[lo:hi], c.Sparse.Value[lo:hi])
	}
	return i - from
}

// findNearest writes the t.count anchors nearest to row i, ordered by distance, then by index, as kernel.Nearest does.
func (t *thinSearch) findNearest(w *thinScratch, i int, index []int32, distance []float64) {
	at, value := t.rows.Row(i)
	clear(w.product)
	size := 0.0
	for e, k := range at {
		x := value[e]
		size += x * x
		if c := int(t.denseColumn[k]); c > 0 {
			kernel.Axpy(x, t.denseValues[(c-1)*t.m:c*t.m], w.product)
			continue
		}
		anchors, y := t.byFeature.Row(int(k))
		for q, j := range anchors {
			w.product[j] += x * y[q]
		}
	}
	// Find the t.count lowest values of ‖y‖² − 2xᵀy.
	w.lowest = w.lowest[:0]
	for j, p := range w.product {
		v := t.norm[j] - 2*p
		if w.product[j] = v; len(w.lowest) == t.count && !(v < w.lowest[t.count-1]) {
			continue
		}
		w.lowest = insertSorted(w.lowest, v, t.count)
	}
	// terms bounds the number of terms of each of two sums that are compared. The rounding error of a term is at most
	// 2^-53·(‖y‖² + 2‖x‖‖y‖).
	terms := float64(max(len(at), t.longestAnchor) + 8)
	bound := w.lowest[t.count-1] + terms*0x1p-51*(2*t.largestNorm+size)
	found := 0
	for j, v := range w.product {
		if v > bound {
			continue
		}
		square := t.squaredDistance(at, value, j)
		if square != square {
			square = math.Inf(1)
		}
		q := found
		for ; q > 0 && square < distance[q-1]; q-- {
			if q < t.count {
				index[q], distance[q] = index[q-1], distance[q-1]
			}
		}
		if q < t.count {
			index[q], distance[q] = int32(j), square
			found = min(found+1, t.count)
		}
	}
}

func insertSorted(list []float64, value float64, maxLength int) []float64 {
	if len(list) < maxLength {
		list = append(list, value)
	}
	q := len(list) - 1
	for ; q > 0 && value < list[q-1]; q-- {
		list[q] = list[q-1]
	}
	list[q] = value
	return list
}

func (t *thinSearch) squaredDistance(features []int32, values []float64, anchor int) float64 {
	sum := 0.0
	yFeatures, y := t.byAnchor.Row(anchor)
	q := 0
	for e, k := range features {
		for ; q < len(yFeatures) && yFeatures[q] < k; q++ {
			sum += y[q] * y[q]
		}
		x := values[e]
		if q < len(yFeatures) && yFeatures[q] == k {
			x -= y[q]
			q++
		}
		sum += x * x
	}
	for ; q < len(yFeatures); q++ {
		sum += y[q] * y[q]
	}
	return sum
}

// addThinBlock adds a block of rows of c, beginning with row `from`, and returns the number of rows added.
func (s *Statistics) addThinBlock(c *stream.Chunk, from int) (rows int, err error) {
	w, t := s.work, s.work.thin
	start := time.Now()
	rows = t.mapRowsIntoFrame(w.thinFrame, c, from, maxBlockRows)
	s.opt.Busy.Add(stream.PartConvert, time.Since(start))
	i, err := s.addThinRows(rows)
	if i >= 0 {
		err = errOverflow(c, from+i)
	}
	if err != nil {
		return rows, err
	}
	return rows, s.addWeightsToSketch(c, from, rows)
}

// addThinRows adds the rows in s.work.thin. It returns the first row whose distances overflow, or -1.
func (s *Statistics) addThinRows(rows int) (overflowing int, err error) {
	w, t := s.work, s.work.thin
	workers := w.team.Threads()
	const run = 32
	tasks := (rows + run - 1) / run
	parts := min(workers, tasks)
	busy := kernel.Each(parts, parts, func(part int) {
		for task := part; task < tasks; task += parts {
			for i := task * run; i < min(rows, (task+1)*run); i++ {
				t.findNearest(&t.work[part], i, w.index[i*(s.k+1):][:s.k+1], w.distance[i*(s.k+1):][:s.k+1])
			}
		}
	})
	s.opt.Busy.Add(stream.PartSearch, busy)
	start := time.Now()
	if i := w.weighRows(rows, s.k); i >= 0 {
		return i, nil
	}
	z := kernel.Sparse{Rows: rows, Cols: s.m, Count: s.k, Index: w.index, Value: w.weight}
	s.addSumsOfWeights(z)
	busy = time.Since(start)
	if s.columns != nil {
		more, ok := s.columns.addRows(workers, z, &t.rows)
		if busy += more; !ok {
			err = stream.Dataf("", "a column has more entries than when they were counted: the input has changed meanwhile; run again")
		}
	} else {
		busy += s.addThinProducts(rows)
	}
	s.opt.Busy.Add(stream.PartScatter, busy)
	return -1, err
}

func (s *Statistics) addThinProducts(rowCount int) (busy time.Duration) {
	w, t := s.work, s.work.thin
	start := time.Now()
	t.weightRows.Reset()
	for i := range rowCount {
		for e := i * s.k; e < (i+1)*s.k; e++ {
			t.weightRows.AddEntry(int(w.index[e]), w.weight[e])
		}
		t.weightRows.EndRow()
	}
	byAnchor := t.weightRows.TransposedCopy()
	busy, d := time.Since(start), len(s.frame.columns)
	return busy + kernel.Each(w.team.Threads(), s.m, func(j int) {
		rowsOfAnchor, weight := byAnchor.Row(j)
		zx := s.zx[j*d:][:d]
		for e, i := range rowsOfAnchor {
			at, value := t.rows.Row(int(i))
			for q, k := range at {
				zx[k] += float64(weight[e] * value[q])
			}
		}
	})
}

func errOverflow(c *stream.Chunk, row int) error {
	return stream.Dataf("", "the squared distance of the row at position %d from the anchors overflows; scale the columns", c.Position(row))
}
