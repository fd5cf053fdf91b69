package anchor

import (
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Among returns the graph of points on themselves, m×d row-major: every point is a row and an
// anchor, and its own nearest one. It has no G, and of many features no C, but [Graph.AddCross] all the same:
// it refers to the points then. The points are as they are: neither scaled nor
// centred by this, though C is that of centred columns. Costs 2·m²·d flops for the distances and holds
// AmongBytes beside the points. It fails unless there are more than K points, or where
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
		if err := s.search(panelsOfRows(x), m, x, make([]float64, d)); err != nil {
			return nil, err
		}
		z := s.rows
		s.rows = RowWeights{} // there is no G
		g := s.become(plain.columns, float64(m))
		g.through = &through{rows: panelsOfRows(x), weights: z}
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
	return s.become(plain.columns, float64(m)), nil
}

// AmongThin is Among for points of d features by their coordinates that are not 0. Costs the coordinates that
// points share, and has C by its columns.
func AmongThin(p *stream.CSR, d int, opt Options) (*Graph, error) {
	points, m := compressed(p, d), len(p.RowPtr)-1
	s := &Statistics{opt: opt.withDefaults(), m: m, k: opt.withDefaults().Neighbors, delta: make([]float64, m), zz: make([]float64, m*m), work: new(scratch)}
	if err := enough(m, s.k); err != nil {
		return nil, err
	}
	*s.work = s.thinScratch(kernel.NewTeam(opt.Threads), points, 0)
	entries, all := make([]int64, d), make([]int, d)
	for k := range d {
		entries[k], all[k] = int64(s.work.thin.byFeature.Starts[k+1]-s.work.thin.byFeature.Starts[k]), k
	}
	s.columns = newColumns(m, s.k, entries)
	for from := 0; from < m; from += mostBlockRows {
		rows := min(mostBlockRows, m-from)
		s.work.thin.rows = kernel.Compressed{Rows: rows, Cols: d, Starts: points.Starts[from : from+rows+1], Index: points.Index, Value: points.Value}
		if i, _ := s.addThinRows(rows); i >= 0 { // their entries are counted
			return nil, stream.Dataf("", "the squared distance of anchor %d from others overflows; scale the columns", from+i)
		}
		s.Rows += int64(rows)
	}
	return s.become(all, float64(m)), nil
}

// AmongThinBytes bounds what AmongThin holds beside points of so many coordinates in all, its result included.
func AmongThinBytes(m, d, neighbors, threads int, coordinates int64) int64 {
	return 8*int64(m)*int64(m+1) + ColumnsBytes(m, d, neighbors, coordinates) +
		thinBytes(m, d, int(coordinates), neighbors+1, kernel.NewTeam(threads).Threads()) + mostBlockRows*int64(24*neighbors+16) + 16*int64(d)
}

// AmongBytes bounds what Among holds beside the points, its result included.
func AmongBytes(m, d, neighbors, threads int) int64 {
	if d >= wideColumns {
		return throughBytes(m, d, m, neighbors)
	}
	return Bytes(m, d, neighbors, threads)
}

// AmongUpToBytes bounds what Among holds for points of d features or of any number of these: from some number on Among makes
// the graph in another way, which holds less.
func AmongUpToBytes(m, d, neighbors, threads int) int64 {
	return max(AmongBytes(m, d, neighbors, threads), AmongBytes(m, min(d, wideColumns-1), neighbors, threads))
}
