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
)

// thin finds the anchors of sparse rows, and adds the rows, in time that does not grow with the number of
// features: an absent entry is 0 in the frame wherever the centre is 0, which it is of all columns with
// few entries. So the coordinates of a row that are not 0 are those of its entries and of the columns of
// other centres, and the same holds of anchors that are rows.
//
// With the lists of anchors by feature xᵀy of all y costs the entries that they share. It rules out
// anchors by ‖y‖² − 2xᵀy, whose error is bounded, and the others are compared by Σ(x_i − y_i)².
type thin struct {
	m, d, count int
	kept        []int32   // source column → feature + 1; 0: left out
	common      []int32   // features whose centre is not 0
	absent      []float64 // coordinates of absent entries there
	std         gram.Standardizer

	byFeature, byAnchor lists
	norm                []float64 // ‖y‖²
	longest             int       // coordinates of an anchor
	widest              float64   // the largest of norm

	rows lists // the block's
	most int   // coordinates of a block, but for the last row
	byZ  lists // rows and weights of the block, by anchor
	work []thinWork
}

// thinWork is one worker's.
type thinWork struct {
	product []float64 // m
	least   []float64
}

// lists are rows of places, ascending, and values.
type lists struct {
	starts []int
	at     []int32
	value  []float64
}

func (l *lists) row(i int) ([]int32, []float64) {
	from, to := l.starts[i], l.starts[i+1]
	return l.at[from:to], l.value[from:to]
}

func (l *lists) reset() { l.starts, l.at, l.value = append(l.starts[:0], 0), l.at[:0], l.value[:0] }

func (l *lists) add(at int32, value float64) {
	l.at, l.value = append(l.at, at), append(l.value, value)
}

func (l *lists) end() { l.starts = append(l.starts, len(l.at)) }

// newThin is nil where the anchors are not thin. It depends on them alone, and so do the bits of sums.
func newThin(a *Anchors, count, workers, most int) *thin {
	d := len(a.columns)
	if d < thinLeast {
		return nil
	}
	entries := 0
	for _, y := range a.Points {
		if y != 0 {
			entries++
		}
	}
	if entries > len(a.Points)/thinShare {
		return nil
	}
	t := &thin{m: a.M, d: d, count: count, most: most, std: a.place.all, kept: make([]int32, a.place.columns),
		norm: make([]float64, a.M), work: make([]thinWork, workers)}
	for k, j := range a.columns {
		t.kept[j] = int32(k + 1)
		if a.center[k] != 0 {
			t.common = append(t.common, int32(k))
			t.absent = append(t.absent, (0-a.center[k])*a.factor[k])
		}
	}
	t.byAnchor = lists{at: make([]int32, 0, entries), value: make([]float64, 0, entries)}
	t.byAnchor.reset()
	for j := range a.M {
		for k, y := range a.Points[j*d : (j+1)*d] {
			if y != 0 {
				t.byAnchor.add(int32(k), y)
				t.norm[j] += y * y
			}
		}
		t.byAnchor.end()
		t.widest = max(t.widest, t.norm[j])
		t.longest = max(t.longest, t.byAnchor.starts[j+1]-t.byAnchor.starts[j])
	}
	t.byFeature = transposed32(&t.byAnchor, a.M, d)
	for w := range t.work {
		t.work[w] = thinWork{make([]float64, a.M), make([]float64, 0, count)}
	}
	return t
}

// transposed32 turns lists of rows into lists by place, in the order of the rows.
func transposed32(l *lists, rows, places int) lists {
	out := lists{make([]int, places+1), make([]int32, len(l.at)), make([]float64, len(l.at))}
	for _, k := range l.at {
		out.starts[k+1]++
	}
	for k := range places {
		out.starts[k+1] += out.starts[k]
	}
	next := append([]int(nil), out.starts[:places]...)
	for i := range rows {
		at, value := l.row(i)
		for e, k := range at {
			out.at[next[k]], out.value[next[k]] = int32(i), value[e]
			next[k]++
		}
	}
	return out
}

// place takes rows of c from the given one on, at most so many, into the frame, and returns their number.
func (t *thin) place(c *stream.Chunk, from, most int) int {
	t.rows.reset()
	i := from
	for ; i < min(from+most, c.Rows) && (i == from || len(t.rows.at) < t.most); i++ {
		next := 0 // of the common features
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			k := t.kept[c.Sparse.Index[e]] - 1
			if k < 0 {
				continue
			}
			for ; next < len(t.common) && t.common[next] < k; next++ {
				t.rows.add(t.common[next], t.absent[next])
			}
			if next < len(t.common) && t.common[next] == k {
				next++
			}
			x := c.Sparse.Value[e]
			if x != x {
				x = t.std.Fill[k]
			}
			t.rows.add(k, (x-t.std.Shift[k])*t.std.Factor[k])
		}
		for ; next < len(t.common); next++ {
			t.rows.add(t.common[next], t.absent[next])
		}
		t.rows.end()
	}
	return i - from
}

// nearest writes the count anchors nearest to row i, as kernel.Nearest.To does: equal ones by index.
func (t *thin) nearest(w *thinWork, i int, index []int32, distance []float64) {
	at, value := t.rows.row(i)
	clear(w.product)
	size := 0.0
	for e, k := range at {
		x := value[e]
		size += x * x
		anchors, y := t.byFeature.row(int(k))
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
	yAt, y := t.byAnchor.row(j)
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
	workers, start := w.team.Threads(), time.Now()
	rows = t.place(c, from, mostBlockRows)
	s.opt.Busy.Add(stream.PartConvert, time.Since(start))
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
	start = time.Now()
	if i := w.weigh(rows, s.k); i >= 0 {
		return rows, overflows(c, from+i)
	}
	z := kernel.Sparse{Rows: rows, Cols: s.m, Count: s.k, Index: w.index, Value: w.weight}
	s.addPairs(z)
	t.byZ.reset()
	for i := range rows {
		for e := i * s.k; e < (i+1)*s.k; e++ {
			t.byZ.add(w.index[e], w.weight[e])
		}
		t.byZ.end()
	}
	byAnchor := transposed32(&t.byZ, rows, s.m)
	busy = time.Since(start)
	d := len(s.frame.columns)
	busy += kernel.Each(workers, s.m, func(j int) {
		of, weight := byAnchor.row(j)
		zx := s.zx[j*d:][:d]
		for e, i := range of {
			at, value := t.rows.row(int(i))
			for q, k := range at {
				zx[k] += float64(weight[e] * value[q])
			}
		}
	})
	s.opt.Busy.Add(stream.PartScatter, busy)
	return rows, s.sketchRows(c, from, rows)
}

// overflows is the error of a row that is too far from the anchors.
func overflows(c *stream.Chunk, i int) error {
	return stream.Dataf("", "the squared distance of the row at position %d from the anchors overflows; scale the columns", c.Position(i))
}
