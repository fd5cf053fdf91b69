package chunkio

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// spanGoal is the size up to which spans grow where there is memory. Starting in the
// middle of a column chunk costs reading its dictionary and page headers again, so
// spans are best whole row groups. Measured with 2 threads on mnist70k (row groups
// of 8,778 rows × 784 columns, 55 MB decoded): spans of 2,048 rows 1.39 s and 109 MB
// read, 4,096 rows 0.96 s and 72 MB, whole row groups 0.49 s and 19 MB.
const spanGoal = 64 << 20

// spanBlocks is how many blocks spans may grow to where that is more than spanGoal, which wide dense
// rows fill with less than two: of 100,000 columns a block is 128 rows, and every span of a
// row group takes its pages apart again. A pass over 3,000 rows in row groups of 256 took 3.3 s of
// user time decoding them in halves, and 1.8 whole; taller row groups were not measured.
const spanBlocks = 4

// Of objects in a store, row groups are fetched ahead of those that are decoded: as many as
// make fetchGoal, so that many requests are under way where row groups are small, but no more
// than mostAhead, because every one may be of a file of its own, with a footer.
const (
	fetchGoal = 64 << 20
	mostAhead = 8
)

// plan is how a pass uses its memory. Results never depend on it.
type plan struct {
	workers int   // decoders at work at once
	buffers int   // spans in memory: decoded, waiting or being consumed
	rows    int64 // height of a span; whole blocks, or the tallest row group
	bytes   int64 // what all of it holds at most
	ahead   int   // row groups opened and fetched beyond the one that is cut into spans
	piece   int64 // what is fetched at a time into scratch files; 0 where it goes to memory
}

// needs is what the memory of a pass depends on.
type needs struct {
	row, block int64 // bytes for a row and, on top, for a block of a span
	height     int64 // rows of a block
	tallest    int64 // rows of the tallest row group
	scratch    int64 // bytes of one decoder at work
	openBytes  int64 // bytes of an open file
	base       int64 // bytes that are held anyway: the catalog
	files      int   // files in all
	single     bool  // there is only one row group
	dense      bool  // rows take what row says, not what they hold
	far        bool  // some files are objects in a store
	fetch      int64 // then: bytes that a row group's leaves take in its file, at most
}

// readsTexts reports whether texts of a stream are wanted.
func (d *Dataset) readsTexts() bool {
	return d.pipe != nil && (d.features.label != nil || slices.ContainsFunc(d.features.reads, func(r columnRead) bool { return r.derivation != nil }))
}

// blockRows is the height of the blocks.
func (d *Dataset) blockRows() int {
	if d.sparse != nil {
		return stream.SparseBlockRows(len(d.features.columns))
	}
	return stream.BlockRows(len(d.features.columns))
}

// needs describes a pass under the Dataset's options, with the given memory in all.
func (d *Dataset) needs(memory int64) needs {
	cols := int64(len(d.features.columns))
	n := needs{
		height:    int64(d.blockRows()),
		tallest:   d.catalog.maxGroup,
		openBytes: d.catalog.openBytes,
		base:      d.catalog.memoryBytes() + featureBytes*int64(countEntries(d.catalog, d.opt, d.sparse)),
		files:     len(d.catalog.files),
		single:    d.pipe == nil && d.catalog.rows == d.catalog.maxGroup,
		row:       8 * cols,
		block:     24 * cols, // counts of missing values
		dense:     d.sparse == nil,
	}
	if d.pipe != nil {
		n.tallest = math.MaxInt64
		n.base += batchesHeld*batchMemory(memory) + d.pipe.stream.HeldBytes()
	}
	if d.sparse != nil {
		n.row = sparseEntryBytes * d.RowEntries()
		n.scratch = max(d.catalog.leaves[d.sparse.indices].Scratch, d.catalog.leaves[d.sparse.values].Scratch)
	}
	for _, r := range d.features.reads {
		switch {
		case r.leaf < 0:
		case r.derivation != nil:
			n.scratch = max(n.scratch, d.catalog.leaves[r.leaf].TextScratch+timesBytes)
		default:
			n.scratch = max(n.scratch, d.catalog.leaves[r.leaf].Scratch)
		}
	}
	for _, w := range []*columnRead{d.features.weight, d.features.target} {
		if w == nil {
			continue
		}
		n.row += 8 * int64(len(w.cols)+1)
		if w.leaf >= 0 {
			// The scheduler decodes weights and targets itself, beside the workers.
			if w == d.features.target && d.features.usesCodes {
				n.base += d.catalog.leaves[w.leaf].TextScratch + codesBytes
			} else {
				n.base += d.catalog.leaves[w.leaf].Scratch
			}
		}
	}
	if r := d.features.label; r != nil {
		rows := d.catalog.rows
		if d.opt.Sample > 0 {
			rows = min(rows, d.opt.Sample)
		}
		n.row += 4
		n.base += classMemory(rows)
		if r.leaf >= 0 { // decoded by the scheduler too
			n.base += d.catalog.leaves[r.leaf].TextScratch
		}
	}
	if d.readsTexts() { // of a stream: its dictionaries, as they come and as text
		n.base += batchMemory(memory) / 2
	}
	d.catalog.filter.addTo(&n, d.catalog)
	n.row += 8 + 1 // positions of the rows that stay, and two bits
	if n.far = d.catalog.hasRemote; n.far {
		for _, l := range d.leaves() {
			n.fetch += d.catalog.leaves[l].Packed
		}
		n.fetch += n.fetch/4 + fetchGap // buffers are used again for what is somewhat smaller
	}
	return n
}

// ways are the ways to fetch row groups, the best one first and last the one that takes the
// least; of local files there is one.
func (n needs) ways() []plan {
	if !n.far {
		return []plan{{}}
	}
	most := int(min(max(fetchGoal/max(n.fetch, 1), 1), mostAhead))
	ways := []plan{{ahead: most}, {ahead: 1}, {}}
	if spooled := (plan{piece: spoolRequestBytes, buffers: 1}); n.fetching(spooled) < n.fetching(plan{buffers: 1}) {
		ways = append(ways, spooled)
	}
	return ways
}

// fetching is what fetching holds: the row groups ahead, those of the spans, and the one that
// waits for a span.
func (n needs) fetching(l plan) int64 {
	switch {
	case !n.far:
		return 0
	case l.piece > 0:
		return int64(l.buffers) * (l.piece + l.piece/4 + leastRequest)
	}
	return int64(l.opened()) * (n.fetch + leastRequest)
}

// opened is the number of row groups that are open at most. Without any ahead, one is opened
// when there is a span for it.
func (l plan) opened() int {
	if l.ahead == 0 {
		return l.buffers
	}
	return l.ahead + 1 + l.buffers
}

// openFiles is the number of files that a pass holds open: the one being delivered and the
// next, whose footer is read meanwhile; ahead of objects in a store, some more.
func (l plan) openFiles() int { return 2 + l.ahead }

// total is what a pass holds.
func (n needs) total(l plan) int64 {
	blocks := (l.rows + n.height - 1) / n.height
	files := int64(min(l.opened(), l.openFiles(), n.files))
	return n.base + files*n.openBytes + int64(l.workers)*n.scratch + n.fetching(l) + int64(l.buffers)*(l.rows*n.row+blocks*n.block)
}

// plan fits a pass into memory. Fetching ahead may have half of it. Then it gives up threads
// before it gives up decoding ahead, because without the second buffer decoding and consuming
// take turns; and spends what is left on taller spans, up to spanGoal or spanBlocks.
func (n needs) plan(memory int64, threads int) (plan, error) {
	least := min(n.height, max(n.tallest, 1))
	var l plan
	for _, way := range n.ways() {
		l = way
		l.workers, l.buffers, l.rows = threads, 2, least
		if n.fetching(l) <= memory/2 && n.total(l) <= memory {
			break
		}
	}
	for l.workers > 1 && n.total(l) > memory {
		l.workers--
	}
	if n.total(l) > memory {
		l.buffers = 1
	}
	perBlock, goal := n.height*n.row+n.block, int64(spanGoal)
	if n.dense {
		goal = max(goal, spanBlocks*perBlock)
	}
	if whole := l; n.single && n.tallest*n.row <= goal {
		whole.rows, whole.buffers = n.tallest, 1 // nothing to decode ahead
		if n.total(whole) <= memory {
			l.buffers = 1
		}
	}
	if need := n.total(l); need > memory {
		return plan{}, &stream.MemoryError{What: "reading the input", Need: need, Limit: memory}
	}
	l.rows = 0
	spare := (memory - n.total(l)) / int64(l.buffers)
	l.rows = least
	if blocks := min(spare, goal) / perBlock; blocks > 1 {
		l.rows = min(blocks*n.height, n.tallest)
	}
	l.bytes = n.total(l)
	return l, nil
}

// MinMemory is the smallest Options.Memory that Chunks works within: an open footer,
// one decoder at work and one block; for sparse rows, a block of 100 entries a row,
// which denser rows may exceed (a MemoryError then says by how much). For a stream it is
// twice that, because half of the memory is set aside for its batches, whose sizes are
// not known beforehand.
func (d *Dataset) MinMemory() int64 {
	n := d.needs(0)
	ways := n.ways()
	l := ways[len(ways)-1]
	l.workers, l.buffers, l.rows = 1, 1, min(n.height, max(n.tallest, 1))
	least := n.total(l)
	if d.pipe != nil {
		least = 2*least + 2*batchesHeld // batchMemory rounds down
		if d.readsTexts() {
			least += least / 2 // a twelfth of the memory for dictionaries
		}
	}
	return least
}

// MemoryFor predicts what a pass holds at most when it is given memory bytes and the
// Dataset's threads: less than given where the data is small or more brings nothing.
// It is memory itself where that is below MinMemory.
func (d *Dataset) MemoryFor(memory int64) int64 {
	p, err := d.needs(memory).plan(memory, d.opt.Threads)
	if err != nil {
		return memory
	}
	return p.bytes
}

// ScratchFor predicts what a pass takes in scratch files when it is given memory bytes: row
// groups of objects that do not fit there.
func (d *Dataset) ScratchFor(memory int64) int64 {
	n := d.needs(memory)
	p, err := n.plan(memory, d.opt.Threads)
	if err != nil || p.piece == 0 {
		return 0
	}
	return int64(p.buffers) * n.fetch
}

// Spooled is what rows take in scratch files since the input was opened, and what passes took there at
// most.
func (d *Dataset) Spooled() int64 { return d.spool().Most() + d.RowsScratch() }
