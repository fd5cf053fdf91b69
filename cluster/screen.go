package cluster

import (
	"math"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// screen holds a set of centres, prepared for screening the rows of a store in float32. Unlike [kernel.Nearest] it
// keeps the float32 values, from which bounds of distances follow, and can search any set of rows.
//
// Let u = 2⁻²⁴, and let x be a row and y a centre of k coordinates, both shifted and scaled like the rows in
// [store].narrow. The float32 value of ‖y‖²/2 − xᵀy is wrong by at most
//
//	g·‖x‖‖y‖ + h·‖y‖²/2,  g = (min(k, 256) + b + 12)·u,  h = (b + 12)·u,
//
// with b the number of blocks of 256 coordinates. Within a block each term rounds at most twice, when it is multiplied
// and when it is added. Each block rounds once when it is added to the sum, and coordinates and ‖y‖²/2 round to float32.
// The constant 12 leaves room for terms of second order. The comment in
// kernel/screen.go derives the bound. Computing ‖x‖² plus twice the value adds an error of about 6u(‖x‖² + ‖y‖²), and
// float32 underflow an error of k·2⁻¹²⁰.
type screen struct {
	store       *store
	c           int
	points      []float64 // c×padded: the centres
	narrow      []float32 // c×stride, as in the store
	halfSquares []float32 // c: ‖y‖²/2
	shifted     []float64 // k: a centre, shifted and scaled
	longestNorm float64   // largest ‖y‖
	g, h        float64
}

func (t *store) layOutScreen(l *room.Layout, c int) *screen {
	return &screen{store: t, c: c, points: room.Slice[float64](l, c*t.paddedRowLength()), narrow: room.Slice[float32](l, c*t.stride),
		halfSquares: room.Slice[float32](l, c), shifted: room.Slice[float64](l, t.k)}
}

func (s *screen) setCenters(centers matrix) {
	t, k, shifted := s.store, s.store.k, s.shifted
	s.longestNorm = 0
	for j := range centers.Rows {
		to, narrow := s.paddedCenter(j)[:len(shifted)], s.narrow[j*t.stride:][:len(shifted)]
		copy(to, centers.Data[j*centers.RowStride:])
		for l, shift := range t.shift[:len(shifted)] {
			v := (to[l] - shift) * t.scale
			shifted[l], narrow[l] = v, float32(v)
		}
		square := kernel.Dot(shifted, shifted)
		s.halfSquares[j] = float32(square / 2)
		s.longestNorm = max(s.longestNorm, math.Sqrt(square))
	}
	const unit = 0x1p-24
	blocks := float64((k + 255) / 256)
	s.g, s.h = (float64(min(k, 256))+blocks+12)*unit, (blocks+12)*unit
}

func (s *screen) paddedCenter(center int) []float64 {
	long := s.store.paddedRowLength()
	return s.points[center*long:][:long]
}

// slack bounds the error of ‖x‖² + 2v for a row x with square = ‖x‖² and the float32 value v of any centre.
func (s *screen) slack(square float64) float32 {
	const unit = 0x1p-24
	e := 2*s.g*math.Sqrt(square)*s.longestNorm + s.h*s.longestNorm*s.longestNorm + 16*unit*(square+s.longestNorm*s.longestNorm) + float64(s.store.k)*0x1p-119
	return float32(e * (1 + 0x1p-20))
}

// batchRows is the number of rows that a worker screens together. A batch, all centres and their values fit in a
// level-2 cache.
const batchRows = 256

// valueRows is the distance in memory between the values of two centres. It is not a power of two, for which the values
// of a row would share few sets of a level-1 cache.
const valueRows = batchRows + 16

const paddedRows = 32 // number of consecutive rows that distancesTo compares with their centres at a time

// worker is the working memory of one goroutine.
type worker struct {
	team       *kernel.Team       // of one thread
	batch      []int32            // numbers of the rows of the batch
	rows       []float32          // batchRows×stride: copies of rows that are not consecutive
	values     []float32          // c×valueRows: ‖y‖²/2 − xᵀy
	padded     []float64          // paddedRows rows, padded
	groupLeast [maxGroups]float32 // least value in each group of centres, see bounds
	moves      []clusterMove
	rowReader  rowGroup // copies of rows for the seeder
}

func newWorker(t *store) *worker {
	return &worker{team: kernel.NewTeam(1), batch: make([]int32, 0, batchRows), padded: make([]float64, paddedRows*t.paddedRowLength()), rowReader: rowGroup{from: -1}}
}

func (t *store) workerBytes(c int) int64 {
	values := 8*(paddedRows+groupRows)*t.paddedRowLength() + 4*batchRows*(t.stride+1) + 4*c*valueRows
	return int64(values) + kernel.TeamBytes(c, batchRows)
}

func runTasksOnWorkers(workers []*worker, tasks int, body func(w *worker, task int)) {
	var next atomic.Int64
	kernel.Each(len(workers), min(len(workers), tasks), func(number int) {
		for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
			body(workers[number], task)
		}
	})
}

// computeValues fills w.values for the rows w.batch, which are in ascending order. The value of centre j and row
// w.batch[i] is at [j·valueRows + i]. The cost is 2·rows·c·k flops.
func (s *screen) computeValues(w *worker) {
	t, count := s.store, len(w.batch)
	rows := t.narrow[int(w.batch[0])*t.stride:]
	if int(w.batch[count-1]-w.batch[0]) != count-1 {
		if w.rows == nil {
			w.rows = make([]float32, batchRows*t.stride)
		}
		rows = w.rows
		for i, r := range w.batch {
			copy(rows[i*t.stride:][:t.k], t.narrow[int(r)*t.stride:])
		}
	}
	if len(w.values) < s.c*valueRows {
		w.values = make([]float32, s.c*valueRows)
	}
	for j, v := range s.halfSquares {
		to := w.values[j*valueRows:][:count]
		for i := range to {
			to[i] = v
		}
	}
	kernel.Gemm(w.team, -1, kernel.RowMajor(s.narrow, s.c, t.k, t.stride),
		kernel.RowMajor(rows, count, t.k, t.stride).Trans(), kernel.RowMajor(w.values, s.c, count, valueRows))
}

// nearestWithin finds the nearest centre of row i of the batch, among the centres whose value is at most limit. It
// returns the centre and its squared distance, with the same bits as [kernel.Nearest].
func (s *screen) nearestWithin(w *worker, i int, limit float32) (int32, float64) {
	s.store.copyRow(int(w.batch[i]), w.padded)
	at, least := int32(-1), math.Inf(1)
	for j := range s.c {
		if w.values[j*valueRows+i] <= limit {
			p := s.paddedCenter(j)
			if d, _ := kernel.SquaredDistances(w.padded[:len(p)], p, p); d < least || at < 0 {
				at, least = int32(j), d
			}
		}
	}
	return at, least
}

// distancesTo writes the squared distance of every row from the centre of its cluster to squares, with the same bits
// as [kernel.Nearest]. It calls setCenters.
func (s *screen) distancesTo(workers []*worker, centers matrix, cluster func(row int) int, squares []float64) {
	s.setCenters(centers)
	t, long := s.store, s.store.paddedRowLength()
	runTasksOnWorkers(workers, (t.n+batchRows-1)/batchRows, func(w *worker, task int) {
		for from := task * batchRows; from < min((task+1)*batchRows, t.n); from += paddedRows {
			count := min(paddedRows, t.n-from)
			t.copyPaddedRows(from, count, w.padded)
			for i := range count {
				p := s.paddedCenter(cluster(from + i))
				squares[from+i], _ = kernel.SquaredDistances(w.padded[i*long:][:long], p, p)
			}
		}
	})
}
