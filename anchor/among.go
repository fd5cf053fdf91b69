package anchor

import (
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Among returns the graph whose rows and anchors are the same points, for a row-major m×d array of points. Every point
// is both a row and an anchor, and is its own nearest anchor. Of the matrices of a [Graph], this one has no G. It has
// no C either if there are many features; [Graph.AddCross] then computes products with C from the points. Among neither
// scales nor centres the points, but C is made from their centred columns. Among costs 2·m²·d flops for the distances.
// Besides the points it needs the memory given by AmongBytes. It fails unless there are more than K points, or if
// distances overflow.
func Among(points []float64, m, d int, opt Options) (*Graph, error) {
	plain := frame{columns: make([]int, d), center: make([]float64, d), factor: make([]float64, d), fill: make([]float64, d)}
	for j := range d {
		plain.columns[j], plain.factor[j] = j, 1
	}
	opt.Later = d >= wideColumns
	s, err := NewStatistics(&Anchors{M: m, D: d, Points: points, frame: plain}, opt)
	if err != nil {
		return nil, err
	}
	if d >= wideColumns {
		x := kernel.RowMajor(points, m, d, d)
		if err := findWeights(s, rowPanels(x), m, x, make([]float64, d)); err != nil {
			return nil, err
		}
		z := s.rows
		s.rows = RowWeights{} // there is no G
		g := s.toGraph(plain.columns, float64(m))
		g.cross = &crossSource{rows: rowPanels(x), weights: z}
		return g, nil
	}
	*s.work = s.newScratch(false)
	w := s.work
	for from := 0; from < m; from += w.rows {
		rows := min(w.rows, m-from)
		kernel.Copy(kernel.ColMajor(w.points, rows, d, w.stride), kernel.RowMajor(points[from*d:], rows, d, d))
		if i := s.addPoints(rows); i >= 0 {
			return nil, stream.Dataf("", "the squared distance of anchor %d from others overflows; scale the columns", from+i)
		}
		s.Rows += int64(rows)
	}
	return s.toGraph(plain.columns, float64(m)), nil
}

// AmongThin returns the graph whose rows and anchors are the same points, as Among does, for points given as lists of
// nonzero coordinates. Its cost grows with the number of features that two points share, and it stores C by columns.
func AmongThin(p *stream.CSR, d int, opt Options) (*Graph, error) {
	points, m := compressedRows(p, d), len(p.RowPtr)-1
	s := &Statistics{opt: opt.withDefaults(), m: m, k: opt.withDefaults().Neighbors, work: new(scratch)}
	if err := checkAnchorCount(m, s.k); err != nil {
		return nil, err
	}
	s.layOutSums(nil, 0)
	*s.work = s.newThinScratch(kernel.NewTeam(opt.Threads), points, 0)
	entries, all := make([]int64, d), make([]int, d)
	for k := range d {
		entries[k], all[k] = int64(s.work.thin.byFeature.Starts[k+1]-s.work.thin.byFeature.Starts[k]), k
	}
	s.columns = newColumns(m, s.k, entries)
	for from := 0; from < m; from += maxBlockRows {
		rows := min(maxBlockRows, m-from)
		s.work.thin.rows = kernel.Compressed{Rows: rows, Cols: d, Starts: points.Starts[from : from+rows+1], Index: points.Index, Value: points.Value}
		if i, _ := s.addThinRows(rows); i >= 0 { // the error is nil: columns has room for all entries
			return nil, stream.Dataf("", "the squared distance of anchor %d from others overflows; scale the columns", from+i)
		}
		s.Rows += int64(rows)
	}
	return s.toGraph(all, float64(m)), nil
}

// AmongThinBytes bounds the memory of AmongThin with its result, in addition to the points. The points have the given
// total number of nonzero coordinates.
func AmongThinBytes(m, d, neighbors, threads int, coordinates int64) int64 {
	return thinSumsBytes(m, neighbors) + ColumnsBytes(m, d, neighbors, coordinates) +
		thinSearchBytes(m, d, int(coordinates), neighbors+1, kernel.NewTeam(threads).Threads()) + 16*int64(d)
}

// AmongBytes bounds the memory of Among with its result, in addition to the points.
func AmongBytes(m, d, neighbors, threads int) int64 {
	if d >= wideColumns {
		return searchBytes(m, d, m, neighbors)
	}
	return Bytes(m, d, neighbors, threads)
}

// AmongUpToBytes bounds the memory of Among for points with d or fewer features. For many features Among uses another
// algorithm, which needs less memory, so the largest d need not be the worst case.
func AmongUpToBytes(m, d, neighbors, threads int) int64 {
	return max(AmongBytes(m, d, neighbors, threads), AmongBytes(m, min(d, wideColumns-1), neighbors, threads))
}
