package pipeline

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// spanGoal is the size up to which spans grow if there is memory. A span that starts in the middle of a column chunk
// must read its dictionary and page headers again, so spans are best whole row groups. A pass over mnist70k (row groups
// of 8,778 rows × 784 columns, 55 MB decoded) with 2 threads took 1.39 s and read 109 MB with spans of 2,048 rows. It
// took 0.96 s and read 72 MB with 4,096 rows, and 0.49 s and 19 MB with whole row groups.
const spanGoal = 64 << 20

// spanBlocks is the number of blocks to which spans may grow even beyond spanGoal. Wide dense rows fill spanGoal with
// less than two blocks: for 100,000 columns a block is 128 rows, and every span decodes the pages of its row group
// again. A pass over 3,000 rows in row groups of 256 took 3.3 s of user time with two spans in each row group, and 1.8
// s with one span. Taller row groups were not measured.
const spanBlocks = 4

// Row groups of objects in a store are fetched before they are decoded. Enough row groups for fetchGoal bytes are
// fetched, so that many requests are under way if row groups are small, but at most mostAhead row groups, because each
// may be in a file of its own, with its own footer.
const (
	fetchGoal = 64 << 20

	mostAhead = 8
)

// memoryPlan divides the memory of a pass. Results never depend on it.
type memoryPlan struct {
	workers    int   // columns decoded at once
	buffers    int   // spans in memory: decoded, waiting or being consumed
	rows       int64 // rows of a span: a multiple of the block height, or the rows of the tallest row group
	bytes      int64 // the largest memory of the whole pass
	ahead      int   // number of row groups that are opened and fetched ahead of the row group being cut into spans
	pieceBytes int64 // size of a request whose bytes go to a scratch file; 0 if fetched bytes stay in memory
}

// PassNeeds contains the quantities that determine the memory of a pass.
type PassNeeds struct {
	rowBytes, blockBytes int64 // bytes of a span for each row and, in addition, for each block
	height               int64 // rows of a block
	tallest              int64 // rows of the tallest row group
	scratch              int64 // working memory of one decoder, in bytes
	openBytes            int64 // bytes of an open file
	baseBytes            int64 // bytes of the catalog and of other data that are always held
	files                int   // number of files
	isOneGroup           bool  // there is only one row group
	isDense              bool  // each row has at most rowBytes; else its bytes depend on its entries
	hasRemote            bool  // some files are objects in a store
	FetchSize            int64 // the most bytes that are fetched from a store for one row group
}

func decodesAnyTexts(t *Table) bool {
	return t.Pipe != nil && (t.Features.Label != nil || slices.ContainsFunc(t.Features.Reads, func(r schema.ColumnRead) bool { return r.Derivation != nil }))
}

func rowsPerBlock(t *Table) int {
	if t.Sparse != nil {
		return stream.SparseBlockRows(len(t.Features.Columns))
	}
	return stream.BlockRows(len(t.Features.Columns))
}

// MemoryNeeds returns the needs of a pass with the Dataset's options, if the whole pass may use memory bytes.
func MemoryNeeds(t *Table, memory int64) PassNeeds {
	cols := int64(t.Features.ColumnCount())
	n := PassNeeds{
		height:     int64(rowsPerBlock(t)),
		tallest:    max(t.Catalog.MaxGroup, 1), // a span has at least a row
		openBytes:  t.Catalog.OpenBytes,
		baseBytes:  t.Catalog.MemoryBytes() + schema.FeatureBytes*int64(schema.CountEntries(t.Catalog, t.Options, t.Sparse)),
		files:      len(t.Catalog.Files),
		isOneGroup: t.Pipe == nil && t.Catalog.Rows == t.Catalog.MaxGroup,
		rowBytes:   8 * cols,
		blockBytes: 24 * cols, // counts of missing values
		isDense:    t.Sparse == nil,
	}
	if t.Options.RowScale.IsSet() {
		n.blockBytes += 8 * (n.height + cols) // the norms of a block, and one row
		n.baseBytes += t.Options.RowScale.Bytes + 8*int64(len(t.factors))
	}
	if t.Pipe != nil {
		n.tallest = math.MaxInt64
		n.baseBytes += batchesHeld*batchMemory(memory) + t.Pipe.stream.HeldBytes()
	}
	if t.Sparse != nil {
		n.rowBytes = schema.SparseEntryBytes * t.RowEntries()
		n.scratch = max(t.Catalog.Leaves[t.Sparse.Indices].Scratch, t.Catalog.Leaves[t.Sparse.Values].Scratch)
	}
	for _, r := range t.Features.Reads {
		switch {
		case r.Leaf < 0:
		case r.Derivation != nil:
			n.scratch = max(n.scratch, t.Catalog.Leaves[r.Leaf].TextScratch+timesBytes)
		default:
			n.scratch = max(n.scratch, t.Catalog.Leaves[r.Leaf].Scratch)
		}
	}
	for _, w := range []*schema.ColumnRead{t.Features.Weight, t.Features.Target} {
		if w == nil {
			continue
		}
		n.rowBytes += 8 * int64(len(w.Cols)+1)
		if w.Leaf >= 0 {
			// The scheduler decodes weights and targets itself while the workers decode features.
			if w == t.Features.Target && t.Features.UsesCodes {
				n.baseBytes += t.Catalog.Leaves[w.Leaf].TextScratch + codesBytes
			} else {
				n.baseBytes += t.Catalog.Leaves[w.Leaf].Scratch
			}
		}
	}
	if r := t.Features.Label; r != nil {
		rows := t.Catalog.Rows
		if t.Options.Sample > 0 {
			rows = min(rows, t.Options.Sample)
		}
		n.rowBytes += 4
		n.baseBytes += bytesOfClasses(rows)
		if r.Leaf >= 0 { // the scheduler also decodes the label, while the workers decode features
			n.baseBytes += t.Catalog.Leaves[r.Leaf].TextScratch
		}
	}
	if decodesAnyTexts(t) { // the dictionaries of a stream are in memory twice: as received and as text
		n.baseBytes += batchMemory(memory) / 2
	}
	addMemoryNeeds(t.Catalog.Filter, &n, t.Catalog)
	n.rowBytes += 8 + 1 // 8 bytes for the position of the row, and 1 for its bits in skip and drop
	if n.hasRemote = t.Catalog.HasRemote; n.hasRemote {
		for _, l := range ListLeavesToRead(t) {
			n.FetchSize += t.Catalog.Leaves[l].Packed
		}
		n.FetchSize += n.FetchSize/4 + storage.FetchGap // a reused buffer may be somewhat larger than needed
	}
	return n
}

// fetchPlans returns the possible ways to fetch row groups, from the fastest to the one with the least memory. For
// local files there is only one way.
func (n PassNeeds) fetchPlans() []memoryPlan {
	if !n.hasRemote {
		return []memoryPlan{{}}
	}
	most := int(min(max(fetchGoal/max(n.FetchSize, 1), 1), mostAhead))
	ways := []memoryPlan{{ahead: most}, {ahead: 1}, {}}
	if spooled := (memoryPlan{pieceBytes: storage.SpoolRequestBytes, buffers: 1}); n.fetchBytes(spooled) < n.fetchBytes(memoryPlan{buffers: 1}) {
		ways = append(ways, spooled)
	}
	return ways
}

// fetchBytes returns the memory for fetched bytes: of the row groups opened ahead, of the row groups of the spans, and
// of the row group that waits for a span.
func (n PassNeeds) fetchBytes(l memoryPlan) int64 {
	switch {
	case !n.hasRemote:
		return 0
	case l.pieceBytes > 0:
		return int64(l.buffers) * (l.pieceBytes + l.pieceBytes/4 + storage.LeastRequest)
	}
	return int64(l.countOpenGroups()) * (n.FetchSize + storage.LeastRequest)
}

// countOpenGroups returns the largest number of row groups that are open at a time. If row groups are not opened ahead,
// each is opened when there is a span for it.
func (l memoryPlan) countOpenGroups() int {
	if l.ahead == 0 {
		return l.buffers
	}
	return l.ahead + 1 + l.buffers
}

// countOpenFiles returns the number of files that a pass holds open: the one being delivered, the next one, whose
// footer is read meanwhile, and more files if row groups are opened ahead.
func (l memoryPlan) countOpenFiles() int { return 2 + l.ahead }

func (n PassNeeds) bytesOfPass(chosen memoryPlan) int64 {
	blocks := (chosen.rows + n.height - 1) / n.height
	files := int64(min(chosen.countOpenGroups(), chosen.countOpenFiles(), n.files))
	return n.baseBytes + files*n.openBytes + int64(chosen.workers)*n.scratch + n.fetchBytes(chosen) + int64(chosen.buffers)*(chosen.rows*n.rowBytes+blocks*n.blockBytes)
}

// choosePlan fits a pass into memory bytes, of which fetching ahead may use half. If memory is short, it first reduces
// the threads. Then it gives up decoding ahead, because with a single span decoding and consuming take turns. Remaining
// memory makes taller spans, up to spanGoal or spanBlocks.
func (n PassNeeds) choosePlan(memory int64, threads int) (memoryPlan, error) {
	least := min(n.height, max(n.tallest, 1))
	var l memoryPlan
	for _, way := range n.fetchPlans() {
		l = way
		l.workers, l.buffers, l.rows = threads, 2, least
		if n.fetchBytes(l) <= memory/2 && n.bytesOfPass(l) <= memory {
			break
		}
	}
	for l.workers > 1 && n.bytesOfPass(l) > memory {
		l.workers--
	}
	if n.bytesOfPass(l) > memory {
		l.buffers = 1
	}
	perBlock, goal := n.height*n.rowBytes+n.blockBytes, int64(spanGoal)
	if n.isDense {
		goal = max(goal, spanBlocks*perBlock)
	}
	if whole := l; n.isOneGroup && n.tallest*n.rowBytes <= goal {
		whole.rows, whole.buffers = n.tallest, 1 // nothing to decode ahead
		if n.bytesOfPass(whole) <= memory {
			l.buffers = 1
		}
	}
	if need := n.bytesOfPass(l); need > memory {
		return memoryPlan{}, &stream.MemoryError{What: "reading the input", Need: need, Limit: memory}
	}
	l.rows = 0
	spare := (memory - n.bytesOfPass(l)) / int64(l.buffers)
	l.rows = least
	if blocks := min(spare, goal) / perBlock; blocks > 1 {
		l.rows = min(blocks*n.height, n.tallest)
	}
	l.bytes = n.bytesOfPass(l)
	return l, nil
}

// MinMemory returns the smallest Options.Memory that suffices for Chunks: for an open footer, one decoder and one
// block. For sparse rows a block is planned with 100 entries a row. Denser rows may exceed it, and a MemoryError then
// reports the memory needed. For a stream MinMemory is twice as large, because half of the memory is reserved for its
// batches, whose sizes are unknown beforehand.
func (t *Table) MinMemory() int64 {
	n := MemoryNeeds(t, 0)
	ways := n.fetchPlans()
	l := ways[len(ways)-1]
	l.workers, l.buffers, l.rows = 1, 1, min(n.height, max(n.tallest, 1))
	least := n.bytesOfPass(l)
	if t.Pipe != nil {
		least = 2*least + 2*batchesHeld // batchMemory rounds down
		if decodesAnyTexts(t) {
			least += least / 2 // a twelfth of the memory for dictionaries
		}
	}
	return least
}

// MemoryFor predicts the most memory that a pass uses if its limit is memory bytes, with the Dataset's threads. It is
// less than memory if the pass cannot use more. It is memory itself if memory is below MinMemory.
func (t *Table) MemoryFor(memory int64) int64 {
	p, err := MemoryNeeds(t, memory).choosePlan(memory, t.Options.Threads)
	if err != nil {
		return memory
	}
	return p.bytes
}

// ScratchFor predicts the scratch space in bytes of a pass whose limit is memory bytes. The pass uses it for row groups
// of objects that do not fit into memory.
func (t *Table) ScratchFor(memory int64) int64 {
	n := MemoryNeeds(t, memory)
	p, err := n.choosePlan(memory, t.Options.Threads)
	if err != nil || p.pieceBytes == 0 {
		return 0
	}
	return int64(p.buffers) * n.FetchSize
}

// SpoolBytes returns the bytes of scratch space for converted rows (RowsScratch), plus the most that a pass used.
func (t *Table) SpoolBytes() int64 { return t.spool().Most() + t.Catalog.Texts.ScratchBytes() }
