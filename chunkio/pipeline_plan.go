package chunkio

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// spanGoal is the size up to which spans grow if there is memory. A span that starts in the middle of a column chunk
// must read its dictionary and page headers again, so spans are best whole row groups. Measured with 2 threads on
// mnist70k (row groups of 8,778 rows × 784 columns, 55 MB decoded): spans of 2,048 rows 1.39 s and 109 MB read, 4,096
// rows 0.96 s and 72 MB, whole row groups 0.49 s and 19 MB.
const spanGoal = 64 << 20

// spanBlocks is the number of blocks to which spans may grow even beyond spanGoal. Wide dense rows fill spanGoal with
// less than two blocks: for 100,000 columns a block is 128 rows, and every span decodes the pages of its row group
// again. A pass over 3,000 rows in row groups of 256 took 3.3 s of user time when it decoded them in halves, and 1.8 s
// when whole. Taller row groups were not measured.
const spanBlocks = 4

// Row groups of objects in a store are fetched before they are decoded. Enough row groups for fetchGoal bytes are
// fetched, so that many requests are under way if row groups are small, but at most mostAhead row groups, because each
// may be in a file of its own, with its own footer.
const (
	fetchGoal = 64 << 20
	mostAhead = 8
)

// memoryPlan is the use of memory by a pass. Results never depend on it.
type memoryPlan struct {
	workers    int   // decoders at work at once
	buffers    int   // spans in memory: decoded, waiting or being consumed
	rows       int64 // height of a span; whole blocks, or the tallest row group
	bytes      int64 // the most memory of the whole pass
	ahead      int   // row groups opened and fetched after the one that is cut into spans
	pieceBytes int64 // bytes of a request into scratch files; 0 if ranges go to memory
}

// passNeeds contains the quantities that determine the memory of a pass.
type passNeeds struct {
	row, block int64 // bytes for a row and, on top, for a block of a span
	height     int64 // rows of a block
	tallest    int64 // rows of the tallest row group
	scratch    int64 // bytes of one decoder at work
	openBytes  int64 // bytes of an open file
	base       int64 // bytes of the catalog and others that are always held
	files      int   // files in all
	isOneGroup bool  // there is only one row group
	isDense    bool  // row bounds the bytes of a row; else its entries decide
	hasRemote  bool  // some files are objects in a store
	fetch      int64 // for objects: the most bytes of a row group's leaves in its file
}

func (d *Dataset) readsTexts() bool {
	return d.pipe != nil && (d.features.label != nil || slices.ContainsFunc(d.features.reads, func(r columnRead) bool { return r.derivation != nil }))
}

func (d *Dataset) blockRows() int {
	if d.sparse != nil {
		return stream.SparseBlockRows(len(d.features.columns))
	}
	return stream.BlockRows(len(d.features.columns))
}

// memoryNeeds describes a pass under the Dataset's options, with the given memory in all.
func (d *Dataset) memoryNeeds(memory int64) passNeeds {
	cols := int64(len(d.features.columns))
	n := passNeeds{
		height:     int64(d.blockRows()),
		tallest:    d.catalog.maxGroup,
		openBytes:  d.catalog.openBytes,
		base:       d.catalog.memoryBytes() + featureBytes*int64(countEntries(d.catalog, d.opt, d.sparse)),
		files:      len(d.catalog.files),
		isOneGroup: d.pipe == nil && d.catalog.rows == d.catalog.maxGroup,
		row:        8 * cols,
		block:      24 * cols, // counts of missing values
		isDense:    d.sparse == nil,
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
			// The scheduler decodes weights and targets itself while the workers decode features.
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
		if r.leaf >= 0 { // the scheduler decodes it too
			n.base += d.catalog.leaves[r.leaf].TextScratch
		}
	}
	if d.readsTexts() { // dictionaries of a stream, as received and as text
		n.base += batchMemory(memory) / 2
	}
	d.catalog.filter.addNeeds(&n, d.catalog)
	n.row += 8 + 1 // positions of the remaining rows, and two bits
	if n.hasRemote = d.catalog.hasRemote; n.hasRemote {
		for _, l := range d.leavesToRead() {
			n.fetch += d.catalog.leaves[l].Packed
		}
		n.fetch += n.fetch/4 + fetchGap // buffers are reused for somewhat smaller sizes
	}
	return n
}

// fetchPlans returns the ways to fetch row groups, from the best one to the one with the least memory. For local files
// there is only one.
func (n passNeeds) fetchPlans() []memoryPlan {
	if !n.hasRemote {
		return []memoryPlan{{}}
	}
	most := int(min(max(fetchGoal/max(n.fetch, 1), 1), mostAhead))
	ways := []memoryPlan{{ahead: most}, {ahead: 1}, {}}
	if spooled := (memoryPlan{pieceBytes: spoolRequestBytes, buffers: 1}); n.fetchBytes(spooled) < n.fetchBytes(memoryPlan{buffers: 1}) {
		ways = append(ways, spooled)
	}
	return ways
}

// fetchBytes returns the memory of fetching: for the row groups ahead, the row groups of the spans, and the one that
// waits for a span.
func (n passNeeds) fetchBytes(l memoryPlan) int64 {
	switch {
	case !n.hasRemote:
		return 0
	case l.pieceBytes > 0:
		return int64(l.buffers) * (l.pieceBytes + l.pieceBytes/4 + leastRequest)
	}
	return int64(l.openGroups()) * (n.fetch + leastRequest)
}

// openGroups returns the largest number of row groups open at a time. If none is opened ahead, a row group is opened
// when there is a span for it.
func (l memoryPlan) openGroups() int {
	if l.ahead == 0 {
		return l.buffers
	}
	return l.ahead + 1 + l.buffers
}

// openFiles returns the number of files that a pass holds open: the one being delivered, the next one, whose footer is
// read meanwhile, and more files if row groups are opened ahead.
func (l memoryPlan) openFiles() int { return 2 + l.ahead }

func (n passNeeds) totalBytes(l memoryPlan) int64 {
	blocks := (l.rows + n.height - 1) / n.height
	files := int64(min(l.openGroups(), l.openFiles(), n.files))
	return n.base + files*n.openBytes + int64(l.workers)*n.scratch + n.fetchBytes(l) + int64(l.buffers)*(l.rows*n.row+blocks*n.block)
}

// choosePlan fits a pass into memory. Fetching ahead may have half of it. If memory is short, it gives up threads
// before decoding ahead, because without the second buffer decoding and consuming take turns; remaining memory makes
// taller spans, up to spanGoal or spanBlocks.
func (n passNeeds) choosePlan(memory int64, threads int) (memoryPlan, error) {
	least := min(n.height, max(n.tallest, 1))
	var l memoryPlan
	for _, way := range n.fetchPlans() {
		l = way
		l.workers, l.buffers, l.rows = threads, 2, least
		if n.fetchBytes(l) <= memory/2 && n.totalBytes(l) <= memory {
			break
		}
	}
	for l.workers > 1 && n.totalBytes(l) > memory {
		l.workers--
	}
	if n.totalBytes(l) > memory {
		l.buffers = 1
	}
	perBlock, goal := n.height*n.row+n.block, int64(spanGoal)
	if n.isDense {
		goal = max(goal, spanBlocks*perBlock)
	}
	if whole := l; n.isOneGroup && n.tallest*n.row <= goal {
		whole.rows, whole.buffers = n.tallest, 1 // nothing to decode ahead
		if n.totalBytes(whole) <= memory {
			l.buffers = 1
		}
	}
	if need := n.totalBytes(l); need > memory {
		return memoryPlan{}, &stream.MemoryError{What: "reading the input", Need: need, Limit: memory}
	}
	l.rows = 0
	spare := (memory - n.totalBytes(l)) / int64(l.buffers)
	l.rows = least
	if blocks := min(spare, goal) / perBlock; blocks > 1 {
		l.rows = min(blocks*n.height, n.tallest)
	}
	l.bytes = n.totalBytes(l)
	return l, nil
}

// MinMemory returns the smallest Options.Memory that suffices for Chunks: for an open footer, one decoder and one
// block. For sparse rows a block is planned with 100 entries a row. Denser rows may exceed it, and a MemoryError then
// reports the memory needed. For a stream MinMemory is twice as large, because half of the memory is reserved for its
// batches, whose sizes are unknown beforehand.
func (d *Dataset) MinMemory() int64 {
	n := d.memoryNeeds(0)
	ways := n.fetchPlans()
	l := ways[len(ways)-1]
	l.workers, l.buffers, l.rows = 1, 1, min(n.height, max(n.tallest, 1))
	least := n.totalBytes(l)
	if d.pipe != nil {
		least = 2*least + 2*batchesHeld // batchMemory rounds down
		if d.readsTexts() {
			least += least / 2 // a twelfth of the memory for dictionaries
		}
	}
	return least
}

// MemoryFor predicts the most memory that a pass uses if it is given memory bytes and the Dataset's threads. It is less
// than memory if the data are small or more memory has no use. It is memory itself if memory is below MinMemory.
func (d *Dataset) MemoryFor(memory int64) int64 {
	p, err := d.memoryNeeds(memory).choosePlan(memory, d.opt.Threads)
	if err != nil {
		return memory
	}
	return p.bytes
}

// ScratchFor predicts the scratch space of a pass that is given memory bytes, for row groups of objects that do not fit
// into memory.
func (d *Dataset) ScratchFor(memory int64) int64 {
	n := d.memoryNeeds(memory)
	p, err := n.choosePlan(memory, d.opt.Threads)
	if err != nil || p.pieceBytes == 0 {
		return 0
	}
	return int64(p.buffers) * n.fetch
}

// SpoolBytes returns the scratch space of rows since the input was opened, plus the largest scratch space of a pass.
func (d *Dataset) SpoolBytes() int64 { return d.spool().Most() + d.RowsScratch() }
