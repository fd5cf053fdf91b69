package cluster

import (
	"math"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// screen is a set of centres prepared for the rows of a store. Unlike [kernel.Nearest] it
// keeps the float32 values, for bounds, and searches any set of rows.
//
// With u = 2⁻²⁴, y a centre and x a row about the store's shift, scaled, the float32
// value of ‖y‖²/2 − xᵀy is off by at most
//
//	g·‖x‖‖y‖ + h·‖y‖²/2,  g = (min(k, 256) + b + 12)·u,  h = (b + 12)·u,
//
// b being the number of blocks of 256 terms: a chain rounds once or twice a term (in
// plain Go, where a product rounds by itself and the first sum does not), each block
// once as it is added, and coordinates and ‖y‖²/2 round to float32; the rest is for
// terms of second order. See kernel/screen.go, which derives it. ‖x‖² plus twice the
// value rounds by some 6u(‖x‖² + ‖y‖²) more, and float32 underflows by k·2⁻¹²⁰.
type screen struct {
	t      *store
	c      int
	points []float64 // c×padded: the centres
	narrow []float32 // c×stride, as in the store
	half   []float32 // c: ‖y‖²/2
	widest float64   // max ‖y‖
	g, h   float64
}

// newScreen prepares centres, row-major.
func newScreen(t *store, centers matrix) *screen {
	c, k, long := centers.Rows, centers.Cols, t.padded()
	s := &screen{t: t, c: c, points: make([]float64, c*long), narrow: make([]float32, c*t.stride), half: make([]float32, c)}
	about := make([]float64, k)
	for j := range c {
		to, narrow := s.point(j)[:len(about)], s.narrow[j*t.stride:][:len(about)]
		copy(to, centers.Data[j*centers.RowStride:])
		for l, shift := range t.shift[:len(about)] {
			v := (to[l] - shift) * t.scale
			about[l], narrow[l] = v, float32(v)
		}
		square := kernel.Dot(about, about)
		s.half[j] = float32(square / 2)
		s.widest = max(s.widest, math.Sqrt(square))
	}
	const unit = 0x1p-24
	blocks := float64((k + 255) / 256)
	s.g, s.h = (float64(min(k, 256))+blocks+12)*unit, (blocks+12)*unit
	return s
}

func (s *screen) point(j int) []float64 {
	long := s.t.padded()
	return s.points[j*long:][:long]
}

// slack bounds the error of ‖x‖² plus twice a value, for a row with square = ‖x‖².
func (s *screen) slack(square float64) float32 {
	const unit = 0x1p-24
	e := 2*s.g*math.Sqrt(square)*s.widest + s.h*s.widest*s.widest + 16*unit*(square+s.widest*s.widest) + float64(s.t.k)*0x1p-119
	return float32(e * (1 + 0x1p-20))
}

// batchRows is the number of rows that a worker screens at a time: with all centres,
// they and their values stay in a level-2 cache.
const batchRows = 256

// valueRows is the distance between the values of two centres: no power of two, or the
// values of a row would share few sets of a level-1 cache.
const valueRows = batchRows + 16

// worker is the scratch of one goroutine.
type worker struct {
	team   *kernel.Team // of one thread
	at     []int32      // the rows of the batch
	rows   []float32    // batchRows×stride: copies of rows that are not consecutive
	values []float32    // c×valueRows: ‖y‖²/2 − xᵀy
	row    []float64    // a row, padded
	group  []float32    // see bounds
	moves  []move
	near   rowGroup // see seeder
}

func newWorker(t *store) *worker {
	return &worker{team: kernel.NewTeam(1), at: make([]int32, 0, batchRows), row: make([]float64, t.padded()), near: rowGroup{from: -1}}
}

// share calls body(w, task) for all tasks; a worker takes one after the other.
func share(workers []*worker, tasks int, body func(w *worker, task int)) {
	var next atomic.Int64
	kernel.Each(len(workers), min(len(workers), tasks), func(number int) {
		for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
			body(workers[number], task)
		}
	})
}

// search fills w.values for the rows w.at, which ascend: the value of centre j and row
// w.at[i] is at [j·valueRows + i]. Costs 2·rows·c·k flops.
func (s *screen) search(w *worker) {
	t, count := s.t, len(w.at)
	rows := t.narrow[int(w.at[0])*t.stride:]
	if int(w.at[count-1]-w.at[0]) != count-1 {
		if w.rows == nil {
			w.rows = make([]float32, batchRows*t.stride)
		}
		rows = w.rows
		for i, r := range w.at {
			copy(rows[i*t.stride:][:t.k], t.narrow[int(r)*t.stride:])
		}
	}
	if len(w.values) < s.c*valueRows {
		w.values = make([]float32, s.c*valueRows)
	}
	for j, v := range s.half {
		to := w.values[j*valueRows:][:count]
		for i := range to {
			to[i] = v
		}
	}
	kernel.Gemm(w.team, -1, kernel.RowMajor(s.narrow, s.c, t.k, t.stride),
		kernel.RowMajor(rows, count, t.k, t.stride).Trans(), kernel.RowMajor(w.values, s.c, count, valueRows))
}

// settle returns the nearest of the centres whose value for row i of the batch is at
// most limit, and its squared distance, with the bits of [kernel.Nearest].
func (s *screen) settle(w *worker, i int, limit float32) (int32, float64) {
	s.t.row(int(w.at[i]), w.row)
	at, least := int32(-1), math.Inf(1)
	for j := range s.c {
		if w.values[j*valueRows+i] <= limit {
			p := s.point(j)
			if d, _ := kernel.Squares(w.row, p, p); d < least || at < 0 {
				at, least = int32(j), d
			}
		}
	}
	return at, least
}
