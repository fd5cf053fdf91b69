package anchor

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MostSampled is the largest number of rows of a sample.
const MostSampled = 1 << 24

// SamplerOptions sets which rows a Sampler keeps, and how.
type SamplerOptions struct {
	Rows  int // largest number of rows kept; 0 means MostAnchors
	Seed  uint64
	Limit int64 // bytes that the Sampler may hold, see SamplerBytes; 0 means 2 GiB
	// Bound is the highest hash of a row to keep, see HashBound; 0 means no bound. If the parts of a table are sampled
	// with the same bound, they keep in total only a few more rows than one Sampler of the whole table.
	Bound uint64
	// Starts has the positions at which row groups start, in ascending order. Each row is stored with the start of its
	// group, which is 0 without Starts.
	Starts []int64
	// Entries makes the Sampler store sparse rows as lists of entries. InOrder then lists rows without values.
	Entries bool
}

func (o SamplerOptions) withDefaults() SamplerOptions {
	o.Rows = cmp.Or(o.Rows, MostAnchors)
	o.Limit = cmp.Or(o.Limit, defaultLimit)
	return o
}

// defaultLimit is the number of bytes that a Sampler or Statistics may hold by default: 2 GiB, as in gram.Options.
const defaultLimit = 2 << 30

// Sampler keeps the rows of a table whose global positions have the lowest hashes, unscaled. This is a random sample
// without replacement. It does not depend on how the table is cut, or on the order of the parts. The first m rows of a
// larger sample are the sample of m rows, so the size can be chosen after the pass. Row weights are not used.
//
// Tables that were numbered separately may have rows with the same position, and so with the same hash. Such rows are
// ordered by their values. The sample is then no less random, but differs from the sample of one table with distinct
// positions.
type Sampler struct {
	d           int
	opt         SamplerOptions
	rows        keyHeap
	spareValues []float64 // free memory for the values of further rows
	entryBytes  int64     // bytes of entries kept
}

type sampledRow struct {
	key      uint64 // hash of the position; different positions have different hashes
	position int64
	start    int64      // start of its row group
	values   []float64  // d
	entries  rowEntries // in place of values, if Entries is set
	chunkRow int        // index of the row in the chunk being added, or noChunkRow
}

// rowEntries has the entries of a sparse row, ordered by column.
type rowEntries struct {
	index []int32
	value []float64
}

func (e *rowEntries) heldBytes() int64 { return 4*int64(cap(e.index)) + 8*int64(cap(e.value)) }

// noChunkRow marks a row whose values have been copied.
const noChunkRow = -1

// keyHeap is a heap with the row of the highest key on top.
type keyHeap []sampledRow

func (h keyHeap) Len() int           { return len(h) }
func (h keyHeap) Less(i, j int) bool { return h[i].key > h[j].key }
func (h keyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *keyHeap) Push(x any)        { *h = append(*h, x.(sampledRow)) }
func (h *keyHeap) Pop() any          { panic("anchor: rows are replaced, never popped") }

// SamplerBytes bounds the memory of a Sampler of the given rows and columns, including buffers for encoding.
func SamplerBytes(rows, d int) int64 { return sampleBytes(rows, d) + bufferBytes }

// EntriesBytes bounds the memory of a Sampler that keeps the given numbers of sparse rows and of entries.
func EntriesBytes(rows int, entries int64) int64 {
	return int64(rows)*128 + 2*(4+8)*entries + bufferBytes // twice, because rows reuse the memory of longer rows
}

func sampleBytes(rows, d int) int64 {
	if d > maxColumns {
		return math.MaxInt64
	}
	return int64(rows) * (8*int64(d) + 128) // a row's head, twice while the heap grows
}

// bufferBytes bounds the memory of encoding, decoding and bookkeeping, in addition to matrices and rows.
const bufferBytes = 256 << 10

// NewSampler returns an empty sample of d columns. It allocates nothing.
func NewSampler(d int, opt SamplerOptions) *Sampler { return &Sampler{d: d, opt: opt.withDefaults()} }

// Len returns the number of rows kept.
func (s *Sampler) Len() int { return len(s.rows) }

// Entries returns the number of entries of the sparse rows kept.
func (s *Sampler) Entries() (n int64) {
	for i := range s.rows {
		n += int64(len(s.rows[i].entries.index))
	}
	return n
}

// Add samples from the rows of c. It computes one hash for each row, and costs O(d) for each of the few rows that are
// kept. If n rows come in random order, about Rows·(1 + ln(n/Rows)) of them are kept. It fails, with s unchanged, if c
// has other columns, or with a *stream.MemoryError.
func (s *Sampler) Add(c *stream.Chunk) error {
	if c.Cols != s.d {
		return fmt.Errorf("anchor: chunk of %d columns, want %d", c.Cols, s.d)
	}
	if s.opt.Entries && c.Sparse == nil {
		return fmt.Errorf("anchor: a sample of entries takes no dense rows")
	}
	left := s.countBelowBound(c)
	if err := s.checkMemoryLimit(min(len(s.rows)+left, s.opt.Rows)); err != nil {
		return err
	}
	anyTaken := false
	for i := 0; left > 0; i++ {
		r := sampledRow{key: s.hashRow(c.Position(i)), position: c.Position(i), chunkRow: i}
		if r.key > s.maxKey() {
			continue
		}
		left--
		if len(s.rows) == s.opt.Rows {
			if r.key >= s.rows[0].key {
				continue
			}
			r.values, r.entries = s.rows[0].values, s.rows[0].entries
			r.start = s.groupStart(r.position)
			s.rows[0] = r
			heap.Fix(&s.rows, 0)
		} else {
			if !s.opt.Entries {
				r.values = s.rowMemory(left + 1)
			}
			r.start = s.groupStart(r.position)
			heap.Push(&s.rows, r)
		}
		anyTaken = true
	}
	if anyTaken {
		s.copyTakenRows(c)
	}
	return s.checkMemoryLimit(len(s.rows))
}

func (s *Sampler) hashRow(position int64) uint64 { return splitmix.Hash(s.opt.Seed, uint64(position)) }

func (s *Sampler) maxKey() uint64 {
	if s.opt.Bound == 0 {
		return math.MaxUint64
	}
	return s.opt.Bound
}

func (s *Sampler) countBelowBound(c *stream.Chunk) (count int) {
	if s.opt.Bound == 0 {
		return c.Rows
	}
	for i := range c.Rows {
		if s.hashRow(c.Position(i)) <= s.opt.Bound {
			count++
		}
	}
	return count
}

func (s *Sampler) groupStart(position int64) int64 {
	at, found := slices.BinarySearch(s.opt.Starts, position)
	switch {
	case found:
		return position
	case at == 0:
		return 0
	}
	return s.opt.Starts[at-1]
}

func (s *Sampler) checkMemoryLimit(rowCount int) error {
	need := SamplerBytes(rowCount, s.d)
	if s.opt.Entries {
		need = EntriesBytes(rowCount, 0) + s.entryBytes
	}
	if need > s.opt.Limit {
		return &stream.MemoryError{What: fmt.Sprintf("a sample of %d rows of %d columns", rowCount, s.d),
			Need: need, Limit: s.opt.Limit}
	}
	return nil
}

// rowMemory returns memory for the values of one row. more is the largest number of calls that will follow.
func (s *Sampler) rowMemory(more int) []float64 {
	if len(s.spareValues) < s.d {
		s.spareValues = make([]float64, s.d*min(more, s.opt.Rows-len(s.rows)))
	}
	row := s.spareValues[:s.d:s.d]
	s.spareValues = s.spareValues[s.d:]
	return row
}

func (s *Sampler) copyTakenRows(c *stream.Chunk) {
	var taken []*sampledRow
	for i := range s.rows {
		if r := &s.rows[i]; r.chunkRow >= 0 {
			taken = append(taken, r)
		}
	}
	switch {
	case s.opt.Entries:
		for _, r := range taken {
			from, to := c.Sparse.RowPtr[r.chunkRow], c.Sparse.RowPtr[r.chunkRow+1]
			s.entryBytes -= r.entries.heldBytes()
			r.entries.index = append(r.entries.index[:0], c.Sparse.Index[from:to]...)
			r.entries.value = append(r.entries.value[:0], c.Sparse.Value[from:to]...)
			s.entryBytes += r.entries.heldBytes()
		}
	case c.Sparse != nil:
		for _, r := range taken {
			clear(r.values)
			for e := c.Sparse.RowPtr[r.chunkRow]; e < c.Sparse.RowPtr[r.chunkRow+1]; e++ {
				r.values[c.Sparse.Index[e]] = c.Sparse.Value[e]
			}
		}
	default:
		for j := range s.d {
			col := c.Col(j)
			for _, r := range taken {
				r.values[j] = col[r.chunkRow]
			}
		}
	}
	for _, r := range taken {
		r.chunkRow = noChunkRow
	}
}

// SampledRow is one row of a sample.
type SampledRow struct {
	Position int64     // row number in the whole table
	Start    int64     // position at which its row group starts
	Values   []float64 // d values, NaN for missing entries; they belong to the sample
}

// Put adds a row to a sample that has room for it, and keeps the slice of its values. If the memory limit does not
// suffice, it fails with a *stream.MemoryError, with s unchanged.
func (s *Sampler) Put(r SampledRow) error {
	if len(r.Values) != s.d || len(s.rows) == s.opt.Rows {
		panic("anchor: a row of another table, or one too many")
	}
	if err := s.checkMemoryLimit(len(s.rows) + 1); err != nil {
		return err
	}
	heap.Push(&s.rows, sampledRow{key: s.hashRow(r.Position), position: r.Position, start: r.Start, values: r.Values, chunkRow: noChunkRow})
	return nil
}

// Columns returns the number of columns.
func (s *Sampler) Columns() int { return s.d }

// Options returns the options of s, with defaults filled in.
func (s *Sampler) Options() SamplerOptions { return s.opt }
