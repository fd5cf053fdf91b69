package anchor

import (
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// thinShare: anchors are thin where at most this share of their coordinates is not 0, and their two
	// lists are then smaller than what the search among dense ones holds.
	thinShare = 4
	// thinLeast is the number of features from which thin anchors pay: the search among dense ones does some
	// fifty multiplications while this one follows an entry.
	thinLeast = 1024
	// mostCoordinates of rows are in work at a time.
	mostCoordinates = 1 << 20
)

// thinFrame brings sparse rows into a frame, in time that does not grow with the number of features: an
// absent entry is 0 there wherever the centre is 0, which it is of all columns with few entries. So the
// coordinates of a row that are not 0 are those of its entries and of the columns of other centres, and
// the same holds of anchors that are rows.
type thinFrame struct {
	kept   []int32   // source column → feature + 1; 0: left out
	common []int32   // features whose centre is not 0
	absent []float64 // coordinates of absent entries there
	std    gram.Standardizer
}

func newThinFrame(f *frame, p *placer) *thinFrame {
	t := &thinFrame{kept: make([]int32, p.columns), std: p.all}
	for k, j := range f.columns {
		t.kept[j] = int32(k + 1)
		if f.center[k] != 0 {
			t.common = append(t.common, int32(k))
			t.absent = append(t.absent, (0-f.center[k])*f.factor[k])
		}
	}
	return t
}

// add adds a row of entries to the rows of to.
func (t *thinFrame) add(to *kernel.Compressed, index []int32, value []float64) {
	next := 0 // of the common features
	for e, j := range index {
		k := t.kept[j] - 1
		if k < 0 {
			continue
		}
		for ; next < len(t.common) && t.common[next] < k; next++ {
			to.Add(int(t.common[next]), t.absent[next])
		}
		if next < len(t.common) && t.common[next] == k {
			next++
		}
		x := value[e]
		if x != x {
			x = t.std.Fill[k]
		}
		to.Add(int(k), (x-t.std.Shift[k])*t.std.Factor[k])
	}
	for ; next < len(t.common); next++ {
		to.Add(int(t.common[next]), t.absent[next])
	}
	to.End()
}

// thin finds the anchors of sparse rows among thin ones. With the lists of anchors by feature xᵀy of all y
// costs the entries that they share. It rules out anchors by ‖y‖² − 2xᵀy, whose error is bounded, and
// the others are compared by Σ(x_i − y_i)².
//
// A feature that many anchors share is a column of them all, which is added without looking up places:
// 20 times as fast an entry.
type thin struct {
	m, d, count int

	byFeature, byAnchor kernel.Compressed
	dense               []int32   // feature → its column + 1; 0: of the list
	columns             []float64 // m each
	norm                []float64 // ‖y‖²
	longest             int       // coordinates of an anchor
	widest              float64   // the largest of norm

	rows kernel.Compressed // the block's
	most int               // coordinates of a block, but for the last row
	byZ  kernel.Compressed // weights of the block on the anchors
	work []thinWork
}

// thinWork is one worker's.
type thinWork struct {
	product []float64 // m
	least   []float64
}

// columnShare: features of more than this share of the anchors are columns. They take no more memory
// than twice their lists do.
const columnShare = 4

// compressedPoints are points by their coordinates that are not 0; false where these are too many.
func compressedPoints(points []float64, m, d int) (kernel.Compressed, bool) {
	entries := 0
	for _, y := range points {
		if y != 0 {
			entries++
		}
	}
	if d < thinLeast || entries > len(points)/thinShare {
		return kernel.Compressed{}, false
	}
	out := kernel.Compressed{Cols: d, Index: make([]int32, 0, entries), Value: make([]float64, 0, entries)}
	for j := range m {
		for k, y := range points[j*d : (j+1)*d] {
			if y != 0 {
				out.Add(k, y)
			}
		}
		out.End()
	}
	return out, true
}

// compressed views rows of d features.
func compressed(c *stream.CSR, d int) kernel.Compressed {
	out := kernel.Compressed{Rows: len(c.RowPtr) - 1, Cols: d, Starts: make([]int32, len(c.RowPtr)), Index: c.Index, Value: c.Value}
	for i, start := range c.RowPtr {
		out.Starts[i] = int32(start)
	}
	return out
}

// newThin searches among the rows of y. Its rows have most coordinates in a block.
func newThin(y kernel.Compressed, count, workers, most int) *thin {
	t := &thin{m: y.Rows, d: y.Cols, count: count, most: most, byAnchor: y, norm: make([]float64, y.Rows), work: make([]thinWork, workers)}
	t.rows.Cols, t.byZ.Cols = t.d, t.m
	for j := range t.m {
		at, value := y.Row(j)
		for _, v := range value {
			t.norm[j] += v * v
		}
		t.widest, t.longest = max(t.widest, t.norm[j]), max(t.longest, len(at))
	}
	t.byFeature = y.Transposed()
	t.dense = make([]int32, t.d)
	for k := range t.d {
		at, value := t.byFeature.Row(k)
		if len(at)*columnShare <= t.m {
			continue
		}
		from := len(t.columns)
		t.columns = append(t.columns, make([]float64, t.m)...)
		for q, j := range at {
			t.columns[from+int(j)] = value[q]
		}
		t.dense[k] = int32(from/t.m + 1)
	}
	for w := range t.work {
		t.work[w] = thinWork{make([]float64, t.m), make([]float64, 0, count)}
	}
	return t
}

// thinBytes bounds what a search among m anchors of so many coordinates in all holds beside these.
func thinBytes(m, d, coordinates, count, workers int) int64 {
	return int64(coordinates)*(12+8*columnShare) + 16*int64(d) + int64(workers)*8*int64(m+count) + 8*int64(m)
}

// place takes rows of c from the given one on, at most so many, into the frame, and returns their number.
func (t *thin) place(f *thinFrame, c *stream.Chunk, from, most int) int {
	t.rows.Reset()
	i := from
	for ; i < min(from+most, c.Rows) && (i == from || len(t.rows.Index) < t.most); i++ {
		lo, hi := c.Sparse.RowPtr[i], c.Sparse.RowPtr[i+1]
		f.add(&t.rows, c.Sparse.Index[lo:hi], c.Sparse.Value[lo:hi])
	}
	return i - from
}

// nearest writes the count anchors nearest to row i, as kernel.Nearest.To does: equal ones by index.
func (t *thin) nearest(w *thinWork, i int, index []int32, distance []float64) {
	at, value := t.rows.Row(i)
	clear(w.product)
	size := 0.0
	for e, k := range at {
		x := value[e]
		size += x * x
		if c := int(t.dense[k]); c > 0 {
			kernel.Axpy(x, t.columns[(c-1)*t.m:c*t.m], w.product)
			continue
		}
		anchors, y := t.byFeature.Row(int(k))
		for q, j := range anchors {
			w.product[j] += x * y[q]
		}
	}
	// The count lowest of ‖y‖² − 2xᵀy.
	w.least = w.least[:0]
	for j, p := range w.product {
		v := t.norm[j] - 2*p
		if w.product[j] = v; len(w.least) == t.count && !(v < w.least[t.count-1]) {
			continue
		}
		w.least = insert(w.least, v, t.count)
	}
	// Both sums have no more terms than this, each rounded by a share of 2^-53 of ‖y‖² + 2‖x‖‖y‖, and two of
	// them are compared.
	terms := float64(max(len(at), t.longest) + 8)
	bound := w.least[t.count-1] + terms*0x1p-51*(2*t.widest+size)
	found := 0
	for j, v := range w.product {
		if v > bound {
			continue
		}
		square := t.distance(at, value, j)
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

// insert puts v into an ascending list of at most so many.
func insert(list []float64, v float64, most int) []float64 {
	if len(list) < most {
		list = append(list, v)
	}
	q := len(list) - 1
	for ; q > 0 && v < list[q-1]; q-- {
		list[q] = list[q-1]
	}
	list[q] = v
	return list
}

// distance is Σ(x_i − y_i)² for anchor j.
func (t *thin) distance(at []int32, value []float64, j int) float64 {
	sum := 0.0
	yAt, y := t.byAnchor.Row(j)
	q := 0
	for e, k := range at {
		for ; q < len(yAt) && yAt[q] < k; q++ {
			sum += y[q] * y[q]
		}
		x := value[e]
		if q < len(yAt) && yAt[q] == k {
			x -= y[q]
			q++
		}
		sum += x * x
	}
	for ; q < len(yAt); q++ {
		sum += y[q] * y[q]
	}
	return sum
}

// addThin is Add for the rows of c from the given one on; it returns how many it took.
func (s *Statistics) addThin(c *stream.Chunk, from int) (rows int, err error) {
	w, t := s.work, s.work.thin
	start := time.Now()
	rows = t.place(w.thinFrame, c, from, mostBlockRows)
	s.opt.Busy.Add(stream.PartConvert, time.Since(start))
	i, err := s.addThinRows(rows)
	if i >= 0 {
		err = overflows(c, from+i)
	}
	if err != nil {
		return rows, err
	}
	return rows, s.sketchRows(c, from, rows)
}

// addThinRows adds the rows that are in work. It returns the first whose distances overflow, or -1.
func (s *Statistics) addThinRows(rows int) (overflowing int, err error) {
	w, t := s.work, s.work.thin
	workers := w.team.Threads()
	const run = 32
	tasks := (rows + run - 1) / run
	parts := min(workers, tasks)
	busy := kernel.Each(parts, parts, func(part int) {
		for task := part; task < tasks; task += parts {
			for i := task * run; i < min(rows, (task+1)*run); i++ {
				t.nearest(&t.work[part], i, w.index[i*(s.k+1):][:s.k+1], w.distance[i*(s.k+1):][:s.k+1])
			}
		}
	})
	s.opt.Busy.Add(stream.PartSearch, busy)
	start := time.Now()
	if i := w.weigh(rows, s.k); i >= 0 {
		return i, nil
	}
	z := kernel.Sparse{Rows: rows, Cols: s.m, Count: s.k, Index: w.index, Value: w.weight}
	s.addPairs(z)
	busy = time.Since(start)
	if s.columns != nil {
		more, ok := s.columns.add(workers, z, &t.rows)
		if busy += more; !ok {
			err = stream.Dataf("", "a column has more entries than when they were counted: the input has changed meanwhile; run again")
		}
	} else {
		busy += s.addThinProducts(rows)
	}
	s.opt.Busy.Add(stream.PartScatter, busy)
	return -1, err
}

// addThinProducts adds ZᵀX.
func (s *Statistics) addThinProducts(rows int) time.Duration {
	w, t := s.work, s.work.thin
	start := time.Now()
	t.byZ.Reset()
	for i := range rows {
		for e := i * s.k; e < (i+1)*s.k; e++ {
			t.byZ.Add(int(w.index[e]), w.weight[e])
		}
		t.byZ.End()
	}
	byAnchor := t.byZ.Transposed()
	busy, d := time.Since(start), len(s.frame.columns)
	return busy + kernel.Each(w.team.Threads(), s.m, func(j int) {
		of, weight := byAnchor.Row(j)
		zx := s.zx[j*d:][:d]
		for e, i := range of {
			at, value := t.rows.Row(int(i))
			for q, k := range at {
				zx[k] += float64(weight[e] * value[q])
			}
		}
	})
}

// overflows is the error of a row that is too far from the anchors.
func overflows(c *stream.Chunk, i int) error {
	return stream.Dataf("", "the squared distance of the row at position %d from the anchors overflows; scale the columns", c.Position(i))
}
