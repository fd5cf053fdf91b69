package anchor

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The functions of this file are for few rows of many features. The tables of a [kernel.Nearest] would then need more
// memory than the rows and anchors themselves, and save little arithmetic. So all distances are computed from products,
// a panel of consecutive features at a time.

const (
	// panelColumns is the number of features in a panel, i.e. of columns that are in memory at a time.
	panelColumns = 256
	// wideColumns is the smallest number of features for which Among computes distances in panels too.
	wideColumns = 1 << 14
)

// columnPanels is a function that passes all columns of n rows to visit, a panel x of consecutive columns at a time. x
// is n×h, and its first column has the index `from`.
type columnPanels func(visit func(from int, x kernel.Matrix[float64]))

func factorPanels(factor *gram.Matrix, threads int) columnPanels {
	return func(visit func(int, kernel.Matrix[float64])) {
		factor.Panels(threads, func(first, count int, features []float64) {
			for from := 0; from < count; from += panelColumns {
				h := min(panelColumns, count-from)
				visit(first+from, kernel.RowMajor(features[from*factor.Rank:], h, factor.Rank, factor.Rank).Trans())
			}
		})
	}
}

func rowPanels(rows kernel.Matrix[float64]) columnPanels {
	return func(visit func(int, kernel.Matrix[float64])) {
		for from := 0; from < rows.Cols; from += panelColumns {
			visit(from, rows.Sub(0, from, rows.Rows, min(panelColumns, rows.Cols-from)))
		}
	}
}

// sumFactorRows computes the weights Z and the sums Δ, ZᵀZ and ZᵀX̃ of s (see [Statistics]) from the rows X̃ of a factor,
// which are centred and in the frame's scale. indices has the index of each feature in the frame.
func sumFactorRows(s *Statistics, g *gram.Gram, indices []int) error {
	m, d, all := s.m, g.D, len(s.frame.columns)
	points := kernel.RowMajor(s.anchors.Points, m, all, all)
	if d < all { // g lacks features of the anchors
		narrow := kernel.RowMajor(make([]float64, m*d), m, d, d)
		for i := range m {
			for k, j := range indices {
				narrow.Data[i*d+k] = points.Data[i*all+j]
			}
		}
		points = narrow
	}
	// The rows are about the mean, but the points are about the frame's centre.
	shift := make([]float64, d)
	for k, j := range indices {
		shift[k] = (g.Mean[k] - s.frame.center[j]) * s.frame.factor[j]
	}
	rows := factorPanels(&g.Matrix, s.opt.Threads)
	if err := findWeights(s, rows, g.Rank, points, shift); err != nil {
		return err
	}
	s.anchors, s.work, points.Data = nil, nil, nil
	if !s.opt.NoCross {
		s.zx = room.MakeSlice[float64](m * d)
		team, z := kernel.NewTeam(s.opt.Threads), s.rows.toSparseMatrix(m)
		rows(func(from int, x kernel.Matrix[float64]) {
			kernel.SparseGemm(team, z, x, kernel.RowMajor(s.zx, m, d, d).Sub(0, from, m, x.Cols))
		})
	}
	for k := range indices {
		indices[k] = k
	}
	return nil
}

func (z RowWeights) toSparseMatrix(anchorCount int) kernel.Sparse {
	return kernel.Sparse{Rows: z.Rows, Cols: anchorCount, Count: z.Count, Index: z.Index, Value: z.Value}
}

// findWeights computes the weights of n rows on the points, and adds them to the sums Δ and ZᵀZ of s, in
// 2·n·m·d flops. The rows are X + 1·shiftᵀ, n×d, and points is m×d row-major. Candidates for the nearest points p of a
// row x are found by ‖x‖² − 2xᵀp + ‖p‖². Every point that may be among the nearest, considering rounding, is then
// compared exactly.
func findWeights(s *Statistics, rows columnPanels, n int, points kernel.Matrix[float64], shift []float64) error {
	m, k := s.m, s.k
	team := kernel.NewTeam(s.opt.Threads)
	s.rows = RowWeights{Rows: n, Count: k, Index: make([]int32, n*k), Value: make([]float64, n*k)}
	shiftedP := &pointShifter{team, points, shift, make([]float64, m*panelColumns)}
	rowSquares, pointSquares := make([]float64, n), make([]float64, m)
	rows(func(from int, x kernel.Matrix[float64]) {
		eachRowRange(team.Threads(), n, func(at, to int) {
			for c := range x.Cols {
				for i := at; i < to; i++ {
					v := x.Data[i*x.RowStride+c*x.ColStride]
					rowSquares[i] += float64(v * v)
				}
			}
		})
		shiftedP.shiftColumns(from, x.Cols, func(j int, p []float64) { pointSquares[j] += kernel.Dot(p, p) })
	})
	longest := slices.Max(pointSquares)
	near := scaledProducts(rows, shiftedP, rowSquares, longest)
	lists := make([][]candidate, n)
	eachRowRange(team.Threads(), n, func(at, to int) {
		row := make([]float64, m)
		for i := at; i < to; i++ {
			lengths := 2 * math.Sqrt(rowSquares[i]) * math.Sqrt(longest)
			for j, v := range near[i*m:][:m] {
				row[j] = rowSquares[i] + pointSquares[j] - lengths*float64(v)
			}
			lists[i] = nearCandidates(row, rowSquares[i]+longest, len(shift), k+1)
		}
	})
	near = nil
	block := make([]float64, n*panelColumns)
	rows(func(from int, x kernel.Matrix[float64]) {
		h := x.Cols
		shiftedP.shiftColumns(from, h, func(int, []float64) {})
		eachRowRange(team.Threads(), n, func(at, to int) {
			kernel.Copy(kernel.RowMajor(block[at*panelColumns:], to-at, h, panelColumns), x.Sub(at, 0, to-at, h))
			for i := at; i < to; i++ {
				row := block[i*panelColumns:][:paddedLength(h)]
				clear(row[h:])
				for list := range slices.Chunk(lists[i], 2) {
					a, b := &list[0], &list[len(list)-1]
					da, db := kernel.SquaredDistances(row, shiftedP.pointColumns(a.j), shiftedP.pointColumns(b.j))
					if a.distance += da; a != b {
						b.distance += db
					}
				}
			}
		})
	})
	overflow := make([]bool, n)
	kernel.Each(team.Threads(), n, func(i int) {
		index, distance := selectNearest(lists[i], k+1)
		overflow[i] = !Weights(s.rows.Value[i*k:][:k], distance)
		copy(s.rows.Index[i*k:][:k], index)
	})
	if i := slices.Index(overflow, true); i >= 0 {
		return stream.Dataf("", "the squared distance of row %d from the anchors overflows; scale the columns", i)
	}
	s.Rows = int64(n)
	s.addSumsOfWeights(s.rows.toSparseMatrix(m))
	return nil
}

// pointShifter computes P − 1·shiftᵀ for the matrix P of points, at most panelColumns columns at a time, padded with 0.
type pointShifter struct {
	team           *kernel.Team
	points         kernel.Matrix[float64]
	shift          []float64
	shiftedColumns []float64
}

// shiftColumns computes h columns, beginning with column `from`, and calls visit with the shifted columns p of each
// point j.
func (s *pointShifter) shiftColumns(from, h int, visit func(j int, p []float64)) {
	shift := s.shift[from:][:h]
	eachRowRange(s.team.Threads(), s.points.Rows, func(at, to int) {
		for j := at; j < to; j++ {
			p := s.pointColumns(j)
			for c, v := range s.points.Data[j*s.points.RowStride+from:][:h] {
				p[c] = v - shift[c]
			}
			clear(p[h:])
			visit(j, p[:h])
		}
	})
}

func (s *pointShifter) pointColumns(point int) []float64 {
	return s.shiftedColumns[point*panelColumns:][:panelColumns]
}

func paddedLength(length int) int {
	return (length + kernel.SquaresBlock - 1) / kernel.SquaresBlock * kernel.SquaresBlock
}

// scaledProducts returns xᵀp of all rows x and points p in float32. Before the product each row is scaled to length 1,
// and all points are divided by the length of the longest point.
func scaledProducts(rows columnPanels, points *pointShifter, squares []float64, longest float64) []float32 {
	n, m, team := len(squares), points.points.Rows, points.team
	unit := func(square float64) float64 {
		if square > 0 {
			return 1 / math.Sqrt(square)
		}
		return 0
	}
	rowFactors, pointFactor := make([]float64, n), unit(longest)
	for i, v := range squares {
		rowFactors[i] = unit(v)
	}
	near := kernel.RowMajor(make([]float32, n*m), n, m, m)
	rowPanel, pointPanel := make([]float32, n*panelColumns), make([]float32, m*panelColumns)
	rows(func(from int, x kernel.Matrix[float64]) {
		h := x.Cols
		left := kernel.Matrix[float32]{Rows: n, Cols: h, RowStride: h, ColStride: 1, Data: rowPanel}
		if x.RowStride == 1 {
			left.RowStride, left.ColStride = 1, n
		}
		eachRowRange(team.Threads(), n, func(at, to int) { toFloat32(left.Sub(at, 0, to-at, h), x.Sub(at, 0, to-at, h), rowFactors[at:to]) })
		points.shiftColumns(from, h, func(j int, p []float64) {
			for c, v := range p {
				pointPanel[j*h+c] = float32(v * pointFactor)
			}
		})
		kernel.Gemm(team, 1, left, kernel.RowMajor(pointPanel, m, h, h).Trans(), near)
	})
	return near.Data
}

// toFloat32 converts x to y, which has the same layout, and multiplies row i by factors[i].
func toFloat32(y kernel.Matrix[float32], x kernel.Matrix[float64], factors []float64) {
	if x.RowStride != 1 {
		for i, f := range factors {
			for c, v := range x.Data[i*x.RowStride:][:x.Cols] {
				y.Data[i*y.RowStride+c] = float32(v * f)
			}
		}
		return
	}
	for c := range x.Cols {
		column, to := x.Data[c*x.ColStride:][:x.Rows], y.Data[c*y.ColStride:][:x.Rows]
		for i, v := range column {
			to[i] = float32(v * factors[i])
		}
	}
}

func eachRowRange(threads, rowCount int, visitRange func(at, to int)) {
	const run = 32
	kernel.Each(threads, (rowCount+run-1)/run, func(t int) { visitRange(t*run, min((t+1)*run, rowCount)) })
}

// candidate is a point that may be among the nearest of a row.
type candidate struct {
	j        int
	distance float64
}

// nearCandidates lists the points that may be among the `count` points nearest to a row. The parameter `near` has the
// approximate squared distance of each point from the row. The list allows for the rounding of float32 products of d
// numbers, which are summed panelColumns at a time. squares is the sum of the squared lengths of the row and of the
// longest point.
func nearCandidates(near []float64, squares float64, d, count int) (list []candidate) {
	sorted := slices.Clone(near)
	slices.Sort(sorted)
	bar := sorted[count-1] + 32*(math.Sqrt(panelColumns)+math.Sqrt(float64(d)/panelColumns))*0x1p-24*squares
	for j, v := range near {
		if !(v > bar) {
			list = append(list, candidate{j: j})
		}
	}
	return list
}

// selectNearest returns the nearest candidates, `count` of them, with their squared distances, nearest first. Of
// candidates at equal distances, the ones with the lowest index come first.
func selectNearest(list []candidate, count int) (index []int32, distance []float64) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return 0
	})
	for len(list) < count { // NaN is reported by the caller
		list = append(list, candidate{0, math.NaN()})
	}
	for _, c := range list[:count] {
		index, distance = append(index, int32(c.j)), append(distance, c.distance)
	}
	return index, distance
}

// LaterBytes bounds the memory of Statistics with Options.Later, whose n rows come from a factor, for m anchors and d
// features. It includes the anchors and the resulting graph.
func LaterBytes(m, d, n, neighbors int) int64 {
	return 8*int64(m)*int64(d) + searchBytes(m, d, n, neighbors)
}

// searchBytes bounds the memory of findWeights: LaterBytes without the anchors and C.
func searchBytes(m, d, n, neighbors int) int64 {
	return 8*int64(m)*int64(m+1) + 12*int64(n)*int64(neighbors) + 8*int64(n)*int64(3*m+panelColumns+40) + 12*panelColumns*int64(m) + frameBytes*int64(d) + bufferBytes
}
