package cpufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Plan describes how a run of Select uses memory and scratch space, and how often it reads the input.
type Plan struct {
	Graph         GraphKind // GraphKNN or GraphAnchors
	Anchors       int       // m of GraphAnchors
	Gram          bool      // G = XᵀX is in memory; otherwise every product with it is a pass
	GramNoRoom    bool      // G does not fit, though it would have saved time
	RowsInMemory  bool      // the source is read once
	StateInMemory bool      // the state is in memory; otherwise it is in scratch
	Bytes         int64     // upper bound of the memory, in bytes, in addition to the source's chunks
	Least         int64     // the smallest Options.Memory that works
	Scratch       int64     // bytes of scratch space
	Rewritten     int64     // the part of Scratch that each iteration rewrites; if Options.Stages save it, it exists twice
	SetupPasses   int       // passes over the source before the first iteration
	// IterationPasses is the least number of passes over the source in an iteration. Without G in memory, backtracking of
	// projected steps needs one more pass for each trial.
	IterationPasses int

	room      int64 // bytes of memory left for finding nearest neighbours
	neighbors int   // number of neighbours of a row in either graph
	sides     int   // number of sides of the grid
}

// Plan returns Select's strategy for a source with a known number of rows. It contains more than a count of bytes,
// because memory decides how often the source is read. The options must be valid. The error is a *stream.MemoryError,
// or a *stream.UsageError if the number of rows of the source is not known.
//
// Memory is used first for the needs of every run. Then it is used for G, if that saves time. Computing G costs d²
// flops for each row, and a product with G costs 2d²c flops, while a product through the n rows costs 4·n·d·c. So G
// saves no time if d > 2n. Then memory is used for the state of the rows, and then for the rows themselves.
func (o Options) Plan(src stream.Source, grid Grid) (Plan, error) {
	n := src.Rows()
	if n < 0 {
		return Plan{}, stream.Usagef("cpufs reads the rows many times, but a stream can be read only once; save it to a file first")
	}
	d := len(src.Columns())
	if err := grid.checkColumnCount(d); err != nil {
		return Plan{}, err
	}
	o = o.WithDefaults(n)
	p := Plan{Graph: o.Graph, sides: len(grid.Shape)}
	if o.givenGraph != nil {
		p.Graph = GraphKNN
	}
	count := o.Neighbors
	if p.Graph == GraphAnchors {
		var err error
		switch {
		case o.givenWeights != nil:
			p.Anchors, count = o.givenWeights.Cols, o.givenWeights.Count
		case o.AnchorRows != nil:
			p.Anchors, err = anchor.Count(o.AnchorRows.Rows, math.MaxInt64, count)
		default:
			p.Anchors, err = anchor.Count(o.Anchors, n, count)
		}
		if err != nil {
			return Plan{}, err
		}
	}
	p.neighbors = count
	p.Bytes = o.baseBytes(src, grid.Shape, p.Anchors)
	// All records of scratch have as many rows as the largest block.
	most, blocks := measureBlocks(src, d)
	state := int64(rowsPerRecord(most)) * int64(blocks) * int64(stateBytesPerRow(o.Clusters, count))
	if p.Graph == GraphKNN {
		// These bytes are for all rows of C, F and LF, and for the neighbours.
		p.Bytes += 3*8*n*int64(o.Clusters) + n*int64(count+1)*rows.NeighbourBytes + rows.LeastBytes(d)
		p.StateInMemory = true
		p.IterationPasses = 2
	} else {
		p.IterationPasses = 1
	}
	p.Least = p.Bytes
	if p.Graph == GraphAnchors && o.Scratch == nil {
		p.Least += state
	}
	if p.Least > o.Memory {
		return p, &stream.MemoryError{What: "cpufs", Need: p.Least, Limit: o.Memory}
	}
	take := func(bytes int64, reserved int64) bool {
		if bytes > o.Memory-p.Bytes-reserved {
			return false
		}
		p.Bytes += bytes
		return true
	}
	if pays := int64(d) <= 2*n && !o.noGram; pays {
		p.Gram = take(8*int64(d)*int64(d), p.Least-p.Bytes)
		p.GramNoRoom = !p.Gram
	}
	if p.Graph == GraphAnchors {
		if p.StateInMemory = !o.stateOnDisk && take(state, 0); !p.StateInMemory {
			p.Scratch, p.Rewritten = state, int64(rowsPerRecord(most))*int64(blocks)*8*int64(o.Clusters)
		}
	}
	p.RowsInMemory = !o.rowsOnDisk && take(8*(n+int64(columnPadding*blocks))*int64(d), 0)
	p.room = o.Memory - p.Bytes + rows.LeastBytes(d)
	if p.RowsInMemory {
		p.SetupPasses, p.IterationPasses = 1, 0
		return p, nil
	}
	p.SetupPasses = 3 // scan, clusters, and the first Q
	if p.Graph == GraphKNN {
		parts := (n*rows.PointBytes(d) + p.room - 1) / p.room
		p.SetupPasses = 2 + 2*int(parts)
	}
	if !p.Gram {
		p.SetupPasses++ // GW of the start
		p.IterationPasses += p.sides * o.Steps
	}
	return p, nil
}

// baseBytes returns the memory that every run needs: for a block and its products, d×c matrices, the start's sample and
// BᵀX.
func (o Options) baseBytes(src stream.Source, shape []int, anchors int) int64 {
	s := &solver{opt: o}
	return room.Measure(func(l *room.Layout) {
		s.layOut(l, shape, anchors)
		most, blocks := measureBlocks(src, s.d)
		s.layOutBlock(l, most)
		h, d, c := int64(most), int64(s.d), int64(s.c)
		l.Add(8*(h+columnPadding)*d + 12*h + linalg.PolarBytes(s.c, piecesPerBlock*blocks, most))
		l.Add(int64(o.Threads) * 8 * 4 * h * c)                 // procrustes
		l.Add(8 * (2*c*c + 8*d))                                // roots, norms and results
		l.Add(kernel.TeamBytes(max(s.d, most), max(s.d, most))) // products
		// These bytes are for the sample of the start, as drawn and scaled, and for its clusters, when the sampler is freed.
		sample := sampleRowCount(s.d, s.c, anchors)
		l.Add(8 * int64(sample) * (d + 4))
		temporary := max(anchor.SamplerBytes(sample, s.d), o.kmeansOfStart().Bytes(sample, s.d))
		if anchors > 0 && o.AnchorKMeans {
			temporary = max(temporary, o.kmeansOfAnchors(anchors).Bytes(sample, s.d))
		}
		l.Add(temporary)
		l.Add(int64(o.Threads+1) * kernel.NearestBytes(1, s.c, s.d+1))
		if anchors > 0 {
			l.Add(8*2*int64(anchors) + kernel.NearestBytes(o.Threads, anchors, s.d))
			l.Add(h*int64(o.Neighbors+1)*(12+12) + kernel.SparseBytes(o.Threads, most, anchors, o.Neighbors))
		}
		l.Add(1 << 20)
	})
}

func measureBlocks(src stream.Source, d int) (rowsOfTallest, blockCount int) {
	h := int64(stream.BlockRows(d))
	cuts := src.Cuts()
	if len(cuts) < 2 {
		cuts = []int64{0, src.Rows()}
	}
	for i := range len(cuts) - 1 {
		rows := cuts[i+1] - cuts[i]
		rowsOfTallest = max(rowsOfTallest, int(min(rows, h)))
		blockCount += int((rows + h - 1) / h)
	}
	return rowsOfTallest, blockCount
}
