package eufs

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
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
	l := newLayout(n, d, s.Clusters, s.blockRows)
	c := s.memoryNeeds(l, valueBytes, opt)
	fixed := max(c.prepare, c.solve) + c.lasting
	memory = Need{Memory: fixed + n*c.scratchPerRow}
	files = Need{Memory: fixed + min(int64(l.block), n)*c.buffersPerRow, Scratch: n * c.scratchPerRow, Rewritten: n * c.rewrittenPerRow}
	return memory, files, nil
}

// memoryNeeds has the memory of a run in bytes, by its uses.
type memoryNeeds struct {
	scratchPerRow   int64 // bytes of scratch for each row
	rewrittenPerRow int64 // the part of scratchPerRow that each iteration writes
	buffersPerRow   int64 // bytes of buffers for each row of a block, if scratch is in files
	prepare, solve  int64 // bytes held only during Prepare, and only during Solve
	lasting         int64 // bytes held during both
}

func (s Setup) memoryNeeds(l layout, valueBytes int, opt Options) (c memoryNeeds) {
	n, d, k := l.n, int64(l.d), int64(l.k)
	block := min(n, int64(l.block))
	// A pass has two buffers for each file that it reads, and three for a file that it also writes. A file keeps the
	// largest number of buffers that a pass has needed (scratch.Buffers).
	add := func(bytes, buffers int64) {
		c.scratchPerRow += bytes
		c.buffersPerRow += bytes * buffers
	}
	size := int64(wordBytes)
	if opt.Float32 {
		size = singleBytes
	}
	add(size*d, 3)
	add(int64(l.stateNumbersPerRow())*wordBytes, 3)
	c.rewrittenPerRow = c.scratchPerRow
	if s.Start != StartGiven {
		add(singleBytes, 2)
	}
	if s.Reread {
		c.lasting += 8 * block * d // the block that gathers the source's chunks
	} else {
		add(int64(valueBytes)*d, 2)
		c.prepare += int64(valueBytes) * block * d
	}

	team := kernel.TeamBytes(l.d, l.d)
	workers := int64(min(s.Threads, laneCount))
	pool := workers * (8*int64(l.stripRows)*(4*d+k) + team)
	c.solve = 8*d*k*(laneCount+2) + pool + 8*block*k + linalg.PolarBytes(l.k, l.blocks, l.block) + team
	c.lasting += 8 * d * k
	if opt.Tree != nil {
		c.solve += opt.Tree.Entries() * (16*k + 8)
	}

	m := 0
	if s.Graph == GraphAnchor {
		m, _ = anchor.Count(s.Anchors, n, s.Neighbors) // no error: s has been validated
		entry := int64(s.Neighbors) * rows.EntryBytes
		add(entry, 3)
		c.solve += 2*8*int64(m)*k + kernel.SparseBytes(s.Threads, int(block), m, s.Neighbors)
	}
	sample := int64(sampledRowCount(n, l.d, l.k, m))
	near := func(points int) int64 { return kernel.NearestBytes(s.Threads, points, l.d) + team }
	// The start, the graph and the fit run one after the other, and each of them holds the sample.
	start := 8*block*d + max(cluster.Bytes(int(sample), l.d, l.k, min(s.Restarts, s.Threads)), near(l.k)+clusterBytes*int64(s.Threads)) + 24*sample
	fit := 2*8*d*k*laneCount + pool
	var graph int64
	switch s.Graph {
	case GraphKNN:
		count := min(int64(s.Neighbors), n-1)
		graph = 8*block*d + rows.SearchBytes(n, l.d, int(count), s.Threads) + team + 24*n
		c.lasting += 8*(n+1) + 2*12*n*count
		c.solve += 2 * 8 * n * k
	case GraphAnchor:
		graph = 8*block*d + near(m) + 12*block*int64(s.Neighbors+1) + 8*int64(m)
		if s.AnchorKMeans {
			graph += 2*8*int64(m)*d + 24*sample + clusterBytes*int64(s.Threads)
		}
	}
	c.prepare = max(c.prepare, 8*sample*d+max(start, graph, fit))
	return c
}

// clusterBytes is the memory that a cluster.Pass needs for each worker: rows, indices, distances, and partial sums.
const clusterBytes = 3 << 20
