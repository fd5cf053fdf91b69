package anchor

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Where rows are few and wide, the tables of a [kernel.Nearest] would take more than rows and anchors
// themselves, to save arithmetic of which there is little. All distances come from products here, some
// features at a time.

const (
	// laterColumns are in work at a time.
	laterColumns = 256
	// wideColumns is the number of features from which on the anchors' own graph is made so too.
	wideColumns = 1 << 14
)

// panels calls do for all columns of n rows in turn, those from `from` on as n×h.
type panels func(do func(from int, x kernel.Matrix[float64]))

// panelsOf are the rows of a factor.
func panelsOf(g *gram.Matrix, threads int) panels {
	return func(do func(int, kernel.Matrix[float64])) {
		g.Panels(threads, func(first, count int, features []float64) {
			for from := 0; from < count; from += laterColumns {
				h := min(laterColumns, count-from)
				do(first+from, kernel.RowMajor(features[from*g.Rank:], h, g.Rank, g.Rank).Trans())
			}
		})
	}
}

// panelsOfRows are those of a matrix by rows.
func panelsOfRows(x kernel.Matrix[float64]) panels {
	return func(do func(int, kernel.Matrix[float64])) {
		for from := 0; from < x.Cols; from += laterColumns {
			do(from, x.Sub(0, from, x.Rows, min(laterColumns, x.Cols-from)))
		}
	}
}

// take makes Z, ΔᵀZ and ZᵀX̃ of the rows of a factor, which are centred and in the frame's scale. at has
// the place in the frame of each feature.
func (s *Statistics) take(g *gram.Gram, at []int) error {
	m, d, all := s.m, g.D, len(s.frame.columns)
	points := kernel.RowMajor(s.anchors.Points, m, all, all)
	if d < all { // features that the anchors know and g has not
		narrow := kernel.RowMajor(make([]float64, m*d), m, d, d)
		for i := range m {
			for k, j := range at {
				narrow.Data[i*d+k] = points.Data[i*all+j]
			}
		}
		points = narrow
	}
	// The frame's centre is not the mean.
	shift := make([]float64, d)
	for k, j := range at {
		shift[k] = (g.Mean[k] - s.frame.center[j]) * s.frame.factor[j]
	}
	rows := panelsOf(&g.Matrix, s.opt.Threads)
	if err := s.search(rows, g.Rank, points, shift); err != nil {
		return err
	}
	s.anchors, s.work, points.Data = nil, nil, nil
	if !s.opt.NoCross {
		s.zx = room.Make[float64](m * d)
		team, z := kernel.NewTeam(s.opt.Threads), s.rows.sparse(m)
		rows(func(from int, x kernel.Matrix[float64]) {
			kernel.SparseGemm(team, z, x, kernel.RowMajor(s.zx, m, d, d).Sub(0, from, m, x.Cols))
		})
	}
	for k := range at {
		at[k] = k
	}
	return nil
}

func (z RowWeights) sparse(m int) kernel.Sparse {
	return kernel.Sparse{Rows: z.Rows, Cols: m, Count: z.Count, Index: z.Index, Value: z.Value}
}

// search finds the weights of the n rows of X + 1·shiftᵀ, n×d, on the points, m×d row-major, and adds
// Δ and ZᵀZ: 2nmd flops. Candidates are found by ‖x‖² − 2xᵀp + ‖p‖², and those that rounding lets be
// among the nearest are measured by their differences.
func (s *Statistics) search(rows panels, n int, points kernel.Matrix[float64], shift []float64) error {
	m, k := s.m, s.k
	team := kernel.NewTeam(s.opt.Threads)
	s.rows = RowWeights{Rows: n, Count: k, Index: make([]int32, n*k), Value: make([]float64, n*k)}
	shifted := &shifted{team, points, shift, make([]float64, m*laterColumns)}
	own, length := make([]float64, n), make([]float64, m)
	rows(func(from int, x kernel.Matrix[float64]) {
		eachRun(team.Threads(), n, func(at, to int) {
			for c := range x.Cols {
				for i := at; i < to; i++ {
					v := x.Data[i*x.RowStride+c*x.ColStride]
					own[i] += float64(v * v)
				}
			}
		})
		shifted.columns(from, x.Cols, func(j int, p []float64) { length[j] += kernel.Dot(p, p) })
	})
	longest := slices.Max(length)
	near := nearness(rows, shifted, own, longest)
	lists := make([][]candidate, n)
	eachRun(team.Threads(), n, func(at, to int) {
		row := make([]float64, m)
		for i := at; i < to; i++ {
			by := 2 * math.Sqrt(own[i]) * math.Sqrt(longest)
			for j, v := range near[i*m:][:m] {
				row[j] = own[i] + length[j] - by*float64(v)
			}
			lists[i] = candidates(row, own[i]+longest, len(shift), k+1)
		}
	})
	near = nil
	block := make([]float64, n*laterColumns)
	rows(func(from int, x kernel.Matrix[float64]) {
		h := x.Cols
		shifted.columns(from, h, func(int, []float64) {})
		eachRun(team.Threads(), n, func(at, to int) {
			kernel.Copy(kernel.RowMajor(block[at*laterColumns:], to-at, h, laterColumns), x.Sub(at, 0, to-at, h))
			for i := at; i < to; i++ {
				row := block[i*laterColumns:][:wholeSquares(h)]
				clear(row[h:])
				for list := range slices.Chunk(lists[i], 2) {
					a, b := &list[0], &list[len(list)-1]
					da, db := kernel.Squares(row, shifted.point(a.j), shifted.point(b.j))
					if a.distance += da; a != b {
						b.distance += db
					}
				}
			}
		})
	})
	overflow := make([]bool, n)
	kernel.Each(team.Threads(), n, func(i int) {
		index, distance := nearestOf(lists[i], k+1)
		overflow[i] = !Weights(s.rows.Value[i*k:][:k], distance)
		copy(s.rows.Index[i*k:][:k], index)
	})
	if i := slices.Index(overflow, true); i >= 0 {
		return stream.Dataf("", "the squared distance of row %d from the anchors overflows; scale the columns", i)
	}
	s.Rows = int64(n)
	s.addPairs(s.rows.sparse(m))
	return nil
}

// shifted are P − 1·shiftᵀ, at most laterColumns columns at a time, those after them 0.
type shifted struct {
	team   *kernel.Team
	points kernel.Matrix[float64]
	shift  []float64
	some   []float64
}

// columns makes h columns from `from` on, and calls do for those of each point.
func (s *shifted) columns(from, h int, do func(j int, p []float64)) {
	by := s.shift[from:][:h]
	eachRun(s.team.Threads(), s.points.Rows, func(at, to int) {
		for j := at; j < to; j++ {
			p := s.point(j)
			for c, v := range s.points.Data[j*s.points.RowStride+from:][:h] {
				p[c] = v - by[c]
			}
			clear(p[h:])
			do(j, p[:h])
		}
	})
}

func (s *shifted) point(j int) []float64 { return s.some[j*laterColumns:][:laterColumns] }

// wholeSquares is the length of the blocks of [kernel.Squares] that n numbers take.
func wholeSquares(n int) int {
	return (n + kernel.SquaresBlock - 1) / kernel.SquaresBlock * kernel.SquaresBlock
}

// nearness is xᵀp of all rows and points in float32, for rows of unit length and points of which the longest is.
func nearness(rows panels, points *shifted, squares []float64, longest float64) []float32 {
	n, m, team := len(squares), points.points.Rows, points.team
	unit := func(square float64) float64 {
		if square > 0 {
			return 1 / math.Sqrt(square)
		}
		return 0
	}
	by, all := make([]float64, n), unit(longest)
	for i, v := range squares {
		by[i] = unit(v)
	}
	near := kernel.RowMajor(make([]float32, n*m), n, m, m)
	few, some := make([]float32, n*laterColumns), make([]float32, m*laterColumns)
	rows(func(from int, x kernel.Matrix[float64]) {
		h := x.Cols
		left := kernel.Matrix[float32]{Rows: n, Cols: h, RowStride: h, ColStride: 1, Data: few}
		if x.RowStride == 1 {
			left.RowStride, left.ColStride = 1, n
		}
		eachRun(team.Threads(), n, func(at, to int) { toSingles(left.Sub(at, 0, to-at, h), x.Sub(at, 0, to-at, h), by[at:to]) })
		points.columns(from, h, func(j int, p []float64) {
			for c, v := range p {
				some[j*h+c] = float32(v * all)
			}
		})
		kernel.Gemm(team, 1, left, kernel.RowMajor(some, m, h, h).Trans(), near)
	})
	return near.Data
}

// toSingles writes x to y, of the same layout, row i times by[i].
func toSingles(y kernel.Matrix[float32], x kernel.Matrix[float64], by []float64) {
	if x.RowStride != 1 {
		for i, f := range by {
			for c, v := range x.Data[i*x.RowStride:][:x.Cols] {
				y.Data[i*y.RowStride+c] = float32(v * f)
			}
		}
		return
	}
	for c := range x.Cols {
		column, to := x.Data[c*x.ColStride:][:x.Rows], y.Data[c*y.ColStride:][:x.Rows]
		for i, v := range column {
			to[i] = float32(v * by[i])
		}
	}
}

// eachRun calls do for runs of n rows, [at, to).
func eachRun(threads, n int, do func(at, to int)) {
	const run = 32
	kernel.Each(threads, (n+run-1)/run, func(t int) { do(t*run, min((t+1)*run, n)) })
}

// candidate is a point that may be among the nearest of a row.
type candidate struct {
	j        int
	distance float64
}

// candidates are the points that rounding lets be among the count nearest, given all distances to rounding of
// float32 products of d numbers whose squares add up to so much, summed laterColumns at a time.
func candidates(near []float64, squares float64, d, count int) (list []candidate) {
	sorted := slices.Clone(near)
	slices.Sort(sorted)
	bar := sorted[count-1] + 32*(math.Sqrt(laterColumns)+math.Sqrt(float64(d)/laterColumns))*0x1p-24*squares
	for j, v := range near {
		if !(v > bar) {
			list = append(list, candidate{j: j})
		}
	}
	return list
}

// nearestOf returns the count nearest of candidates, nearest first, the lowest of equal ones, with
// their squared distances.
func nearestOf(list []candidate, count int) (index []int32, distance []float64) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return 0
	})
	for len(list) < count { // NaN: said by the caller
		list = append(list, candidate{0, math.NaN()})
	}
	for _, c := range list[:count] {
		index, distance = append(index, int32(c.j)), append(distance, c.distance)
	}
	return index, distance
}

// LaterBytes bounds what Statistics of m anchors of d features hold that take n rows later, with the
// anchors themselves, and what they become.
func LaterBytes(m, d, n, neighbors int) int64 {
	return 8*int64(m)*int64(d) + throughBytes(m, d, n, neighbors)
}

// throughBytes is the same without anchors and C.
func throughBytes(m, d, n, neighbors int) int64 {
	return 8*int64(m)*int64(m+1) + 12*int64(n)*int64(neighbors) + 8*int64(n)*int64(3*m+laterColumns+40) + 12*laterColumns*int64(m) + frameBytes*int64(d) + buffers
}
