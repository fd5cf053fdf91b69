package eufs

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Need is an upper bound of the memory and the scratch space of Prepare and Solve, without the source's own chunks.
type Need struct {
	Memory  int64 // bytes, including the scratch if that is a stream.InMemory
	Scratch int64 // bytes in files
	// Rewritten is the part of Scratch that each iteration writes anew. If Setup.Stages save it, it exists twice.
	Rewritten int64
}

// ValueBytes returns the largest number of bytes of a value in the copy of X, from the types that the columns declare.
// It returns 1 for columns of bytes, and 8 for unknown types. If filled is true, missing entries are replaced by means,
// and it returns 8. The copy may need less.
func ValueBytes(cols []stream.Column, filled bool) int {
	e := asUint8
	for _, c := range cols {
		typ := c.Type
		for strings.HasPrefix(typ, "list<") {
			typ = strings.TrimSuffix(strings.TrimPrefix(typ, "list<"), ">")
		}
		switch typ {
		case "uint8", "bool":
		case "int8", "int16":
			e = max(e, asInt16)
		case "uint16", "float", "float16":
			e = max(e, asFloat32)
		default:
			e = asFloat64
		}
	}
	if filled {
		e = asFloat64
	}
	return e.byteSize()
}

// Needs bounds the memory and scratch space for n rows of d features, with values of valueBytes bytes in the copy of X
// (see ValueBytes). It returns two results: with everything in memory, and with scratch files. It fails with the same
// errors as Validate.
//
// In files a row needs valueBytes·d bytes for X, 8·d or 4·d for M, 8·(4k+1) for its state, 4 for the start and
// 12·neighbors for the anchor graph.
func Needs(n int64, d, valueBytes int, s Setup, opt Options) (memory, files Need, err error) {
	if err := s.Validate(n, d); err != nil {
		return Need{}, Need{}, err
	}
	if err := opt.Validate(); err != nil {
		return Need{}, Need{}, err
	}
	if opt.Threads == 0 {
		opt.Threads = s.Threads
	}
	s, opt = s.withDefaults(n), opt.WithDefaults()
	shape := newLayout(n, d, s.Clusters, s.blockRows)
	perRow, rewritten, buffers := s.scratchBytesPerRow(shape, valueBytes, opt)
	fixed := room.Measure(func(l *room.Layout) { s.layOutWithoutScratch(l, shape, valueBytes, opt) })
	memory = Need{Memory: fixed + n*perRow}
	files = Need{Memory: fixed + int64(shape.rowsOfBlock(0))*buffers, Scratch: n * perRow, Rewritten: n * rewritten}
	return memory, files, nil
}

// scratchBytesPerRow returns the bytes of scratch for each row, the part of them that each iteration writes, and, if
// scratch is in files, the bytes of buffers for each row of a block.
func (s Setup) scratchBytesPerRow(shape layout, valueBytes int, opt Options) (all, rewritten, buffers int64) {
	// A pass has two buffers for each file that it reads, and three for a file that it also writes. A file keeps the
	// largest number of buffers that a pass has needed (scratch.Buffers).
	add := func(bytes, count int64) {
		all += bytes
		buffers += bytes * count
	}
	size, d := int64(wordBytes), int64(shape.d)
	if opt.Float32 {
		size = singleBytes
	}
	add(size*d, 3)
	add(int64(shape.stateNumbersPerRow())*wordBytes, 3)
	rewritten = all
	if s.Start != StartGiven {
		add(singleBytes, 2)
	}
	if !s.Reread {
		add(int64(valueBytes)*d, 2)
	}
	if s.Graph == GraphAnchor {
		add(int64(s.Neighbors)*rows.EntryBytes, 3)
	}
	return all, rewritten, buffers
}

func (s Setup) layOutWithoutScratch(l *room.Layout, shape layout, valueBytes int, opt Options) {
	l.Add(8*int64(shape.d)*int64(shape.k) + 8*opt.Tree.Entries()) // the first V, and the tree
	if s.Reread {
		shape.newRecord(l, wordBytes)
	}
	anchors := 0
	var g *graph
	switch s.Graph {
	case GraphKNN:
		g = &graph{neighbours: new(rows.Graph)}
		l.Add(8*(2*shape.n+1) + 2*12*shape.n*min(int64(s.Neighbors), shape.n-1))
	case GraphAnchor:
		anchors, _ = anchor.Count(s.Anchors, shape.n, s.Neighbors)                // no error: s has been validated
		g = &graph{anchored: &rows.AnchoredGraph{M: anchors, Count: s.Neighbors}} // its shape is enough
	}
	l.Phase(func() { s.layOutPrepare(l, shape, valueBytes, anchors) })
	new(solver).layOut(l, shape, opt, g)
	l.Add(linalg.PolarBytes(shape.k, shape.blocks, shape.rowsOfBlock(0)) + kernel.TeamBytes(shape.d, shape.d))
}

func (s Setup) layOutPrepare(l *room.Layout, shape layout, valueBytes, anchors int) {
	if !s.Reread {
		l.Phase(func() { shape.newRecord(l, valueBytes) })
	}
	n, d, block, m, threads := shape.n, shape.d, int64(shape.rowsOfBlock(0)), int64(anchors), int64(s.Threads)
	sample := sampledRowCount(n, d, shape.k, anchors)
	team := kernel.TeamBytes(d, d)
	near := func(points int) int64 { return kernel.NearestBytes(s.Threads, points, d) + team }
	start := max(cluster.Options{Clusters: shape.k, Restarts: s.Restarts, Threads: s.Threads}.Bytes(sample, d), near(shape.k)+clusterBytes*threads) + 24*int64(sample)
	var graph int64
	switch s.Graph {
	case GraphKNN:
		graph = rows.SearchBytes(n, d, int(min(int64(s.Neighbors), n-1)), s.Threads) + team + 24*n
	case GraphAnchor:
		graph = near(anchors) + 12*block*int64(s.Neighbors+1) + 8*m
		if s.AnchorKMeans {
			graph += s.clusterOptions(anchors).Bytes(sample, d)
		}
	}
	// The start, the graph and the first V are made one after the other, and each of them holds the sample.
	l.Add(8 * int64(sample) * int64(d))
	l.Phase(func() {
		shape.newRecord(l, wordBytes)
		l.Add(max(start, graph))
	})
	layOutFirstV(l, s.Threads, shape)
}

// clusterBytes is the memory that a cluster.Pass needs for each worker: rows, indices, distances, and partial sums.
const clusterBytes = 3 << 20
