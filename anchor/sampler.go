package anchor

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MostSampled bounds the rows of a sample.
const MostSampled = 1 << 24

// SamplerOptions says what a Sampler keeps.
type SamplerOptions struct {
	Rows  int // kept at most; 0 means MostAnchors
	Seed  uint64
	Limit int64 // bytes that the Sampler may hold, see SamplerBytes; 0 means 2 GiB
	// Bound is the highest hash of a row to keep, see HashBound; 0 means none. Parts of a table
	// that share it keep together little more than the whole does.
	Bound uint64
	// Starts are the positions at which row groups start, in order: the one that a row is in is
	// noted with it. Without any it is 0.
	Starts []int64
	// Entries keeps sparse rows by their entries: such a sample is not listed.
	Entries bool
}

func (o SamplerOptions) withDefaults() SamplerOptions {
	o.Rows = cmp.Or(o.Rows, MostAnchors)
	o.Limit = cmp.Or(o.Limit, defaultLimit)
	return o
}

// defaultLimit is 2 GiB, as in gram.Options.
const defaultLimit = 2 << 30

// Sampler keeps the rows of a table with the lowest hashes of their global positions,
// unscaled: a random sample without replacement, the same however the table is cut and
// in whatever order the parts come. A smaller sample is the start of a larger one, so that
// its size can be settled after the pass. Row weights play no part.
//
// Tables that were numbered apart may have rows with the same position, and so the same
// hash; their values order them. Such a sample is as good, but differs from the sample of
// the tables numbered as one.
type Sampler struct {
	d    int
	opt  SamplerOptions
	rows highest
	free []float64 // room for further rows
	size int64     // bytes of entries kept
}

// sampled is one row.
type sampled struct {
	key      uint64 // hash of the position, a bijection
	position int64
	start    int64     // of its row group
	values   []float64 // d
	entries  entries   // in place of values, where rows are kept so
	from     int       // its row in the chunk being added, or settled
}

// entries are those of a sparse row, by column.
type entries struct {
	index []int32
	value []float64
}

func (e *entries) bytes() int64 { return 4*int64(cap(e.index)) + 8*int64(cap(e.value)) }

// settled marks a row that has its values.
const settled = -1

// highest is a heap with the row of the highest key on top.
type highest []sampled

func (h highest) Len() int           { return len(h) }
func (h highest) Less(i, j int) bool { return h[i].key > h[j].key }
func (h highest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *highest) Push(x any)        { *h = append(*h, x.(sampled)) }
func (h *highest) Pop() any          { panic("anchor: rows are replaced, never popped") }

// SamplerBytes bounds what a Sampler of so many rows and columns holds, with the buffers of
// encoding and decoding.
func SamplerBytes(rows, d int) int64 { return sampleBytes(rows, d) + buffers }

// EntriesBytes bounds what a Sampler of so many sparse rows holds that keeps so many entries in all.
func EntriesBytes(rows int, kept int64) int64 {
	return int64(rows)*128 + 2*(4+8)*kept + buffers // twice, as rows take the room of longer ones
}

func sampleBytes(rows, d int) int64 {
	if d > maxColumns {
		return math.MaxInt64
	}
	return int64(rows) * (8*int64(d) + 128) // a row's head, twice while the heap grows
}

// buffers bounds what encoding, decoding and bookkeeping hold beside matrices and rows.
const buffers = 256 << 10

// NewSampler returns an empty sample of d columns. It allocates nothing.
func NewSampler(d int, opt SamplerOptions) *Sampler { return &Sampler{d: d, opt: opt.withDefaults()} }

// Len is the number of rows kept.
func (s *Sampler) Len() int { return len(s.rows) }

// Entries is the number of entries of the sparse rows kept.
func (s *Sampler) Entries() (n int64) {
	for i := range s.rows {
		n += int64(len(s.rows[i].entries.index))
	}
	return n
}

// Seed is the seed that rows are drawn with.
func (s *Sampler) Seed() uint64 { return s.opt.Seed }

// Rows is the number of rows kept at most.
func (s *Sampler) Rows() int { return s.opt.Rows }

// Add considers the rows of c: O(rows) hashes, and O(d) for each of the few that are
// taken: of n rows, about Rows·(1 + ln(n/Rows)) if they come in random order. It
// fails, with s unchanged, if c has other columns, or with a *stream.MemoryError.
func (s *Sampler) Add(c *stream.Chunk) error {
	if c.Cols != s.d {
		return fmt.Errorf("anchor: chunk of %d columns, want %d", c.Cols, s.d)
	}
	if s.opt.Entries && c.Sparse == nil {
		return fmt.Errorf("anchor: a sample of entries takes no dense rows")
	}
	left := s.below(c)
	if err := s.fits(min(len(s.rows)+left, s.opt.Rows)); err != nil {
		return err
	}
	taken := false
	for i := 0; left > 0; i++ {
		r := sampled{key: s.key(c.Position(i)), position: c.Position(i), from: i}
		if r.key > s.bound() {
			continue
		}
		left--
		if len(s.rows) == s.opt.Rows {
			if r.key >= s.rows[0].key {
				continue
			}
			r.values, r.entries = s.rows[0].values, s.rows[0].entries
			r.start = s.start(r.position)
			s.rows[0] = r
			heap.Fix(&s.rows, 0)
		} else {
			if !s.opt.Entries {
				r.values = s.room(left + 1)
			}
			r.start = s.start(r.position)
			heap.Push(&s.rows, r)
		}
		taken = true
	}
	if taken {
		s.fetch(c)
	}
	return s.fits(len(s.rows))
}

func (s *Sampler) key(position int64) uint64 { return splitmix.Hash(s.opt.Seed, uint64(position)) }

// bound is the highest key that is kept.
func (s *Sampler) bound() uint64 {
	if s.opt.Bound == 0 {
		return math.MaxUint64
	}
	return s.opt.Bound
}

// below counts the rows of c within the bound.
func (s *Sampler) below(c *stream.Chunk) (n int) {
	if s.opt.Bound == 0 {
		return c.Rows
	}
	for i := range c.Rows {
		if s.key(c.Position(i)) <= s.opt.Bound {
			n++
		}
	}
	return n
}

// start is where the row group of a position starts.
func (s *Sampler) start(position int64) int64 {
	at, found := slices.BinarySearch(s.opt.Starts, position)
	switch {
	case found:
		return position
	case at == 0:
		return 0
	}
	return s.opt.Starts[at-1]
}

// fits fails where so many rows are beyond the limit.
func (s *Sampler) fits(rows int) error {
	need := SamplerBytes(rows, s.d)
	if s.opt.Entries {
		need = EntriesBytes(rows, 0) + s.size
	}
	if need > s.opt.Limit {
		return &stream.MemoryError{What: fmt.Sprintf("a sample of %d rows of %d columns", rows, s.d),
			Need: need, Limit: s.opt.Limit}
	}
	return nil
}

// room returns memory for one row; up to soon more calls will follow.
func (s *Sampler) room(soon int) []float64 {
	if len(s.free) < s.d {
		s.free = make([]float64, s.d*min(soon, s.opt.Rows-len(s.rows)))
	}
	row := s.free[:s.d:s.d]
	s.free = s.free[s.d:]
	return row
}

// fetch copies the values of the rows that were taken from c, column by column.
func (s *Sampler) fetch(c *stream.Chunk) {
	var taken []*sampled
	for i := range s.rows {
		if r := &s.rows[i]; r.from >= 0 {
			taken = append(taken, r)
		}
	}
	switch {
	case s.opt.Entries:
		for _, r := range taken {
			from, to := c.Sparse.RowPtr[r.from], c.Sparse.RowPtr[r.from+1]
			s.size -= r.entries.bytes()
			r.entries.index = append(r.entries.index[:0], c.Sparse.Index[from:to]...)
			r.entries.value = append(r.entries.value[:0], c.Sparse.Value[from:to]...)
			s.size += r.entries.bytes()
		}
	case c.Sparse != nil:
		for _, r := range taken {
			clear(r.values)
			for e := c.Sparse.RowPtr[r.from]; e < c.Sparse.RowPtr[r.from+1]; e++ {
				r.values[c.Sparse.Index[e]] = c.Sparse.Value[e]
			}
		}
	default:
		for j := range s.d {
			col := c.Col(j)
			for _, r := range taken {
				r.values[j] = col[r.from]
			}
		}
	}
	for _, r := range taken {
		r.from = settled
	}
}
