package halves

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stripRows is the number of rows in a chunk passed to a shard, except in its last chunk. It is the number of rows that
// gram.Moments processes at a time. Without waiting, a block of a table with 4,096 columns has only 64 rows for each of
// 8 shards. Adding the products of so few rows at a time would read and write the Gram matrix four times as often.
const stripRows = 256

// Splitter divides rows at random into shards, and passes each row to the statistics of its shard. Dense rows wait
// until their shard has stripRows rows. So the sums of a shard depend only on the order of its rows, and not on the
// division into chunks. Sparse rows do not wait.
type Splitter struct {
	d, threads int
	seed       uint64
	shards     []shard
	slot       []int32 // scratch space: index of each of some consecutive rows among the waiting rows of its shard
	owner      []uint8 // scratch space: shard of each of these rows
	err        error
}

// shard holds the waiting rows of a shard: stripRows values for each column, column after column.
type shard struct {
	adder    stream.Adder
	rows     int
	data     []float64
	position []int64
	weight   []float64             // weights of the rows; used if weighted is true
	missing  []stream.MissingCount // numbers of missing entries of each column, all of them as NaNs
	weighted bool
}

// SplitterBytes returns an upper bound of the memory of a Splitter with d columns.
func SplitterBytes(d, shards int) int64 {
	return 64<<10 + room.Measure(func(l *room.Layout) {
		for range shards {
			new(shard).layOut(l, d)
		}
	})
}

func (t *shard) layOut(l *room.Layout, d int) {
	t.data, t.position = room.Slice[float64](l, stripRows*d), room.Slice[int64](l, stripRows)
	t.weight, t.missing = room.Slice[float64](l, stripRows), room.Slice[stream.MissingCount](l, d)
}

// New returns a Splitter for chunks of d columns. It passes the rows of shard s to the statistics to[s].
func New(d, threads int, seed uint64, to []stream.Adder) *Splitter {
	s := &Splitter{d: d, threads: threads, seed: seed, shards: make([]shard, len(to)), slot: make([]int32, stripRows), owner: make([]uint8, stripRows)}
	for h := range s.shards {
		s.shards[h].adder = to[h]
	}
	return s
}

// Add adds the rows of c to the shards. If the statistics of a shard fail, Add and every later call fail too, because
// other shards may already have rows of c.
func (s *Splitter) Add(c *stream.Chunk) error {
	if s.err != nil {
		return s.err
	}
	if c.Cols != s.d {
		return fmt.Errorf("halves: chunk of %d columns, want %d", c.Cols, s.d)
	}
	if c.Sparse != nil {
		s.err = s.addSparse(c)
		return s.err
	}
	for from := 0; from < c.Rows; {
		n := s.assignShards(c, from)
		s.copyRowsToShards(c, from, n)
		if s.err = s.flushShardsHolding(stripRows); s.err != nil {
			return s.err
		}
		from += n
	}
	return nil
}

// Flush passes all waiting rows to the statistics of their shards.
func (s *Splitter) Flush() error {
	if s.err == nil {
		s.err = s.flushShardsHolding(1)
	}
	return s.err
}

// assignShards determines the shards of the rows of c, beginning with row `from` of c. It stops before a row whose
// shard would exceed stripRows waiting rows, and returns the number of assigned rows.
func (s *Splitter) assignShards(c *stream.Chunk, from int) int {
	n := min(stripRows, c.Rows-from)
	for i := range n {
		position := c.Position(from + i)
		h := ShardOf(s.seed, position, len(s.shards))
		t := &s.shards[h]
		if t.data == nil {
			t.layOut(nil, s.d)
		}
		s.owner[i], s.slot[i] = uint8(h), int32(t.rows)
		t.position[t.rows], t.weight[t.rows] = position, 1
		if c.Weight != nil {
			t.weight[t.rows], t.weighted = c.Weight[from+i], true
		}
		if t.rows++; t.rows == stripRows {
			return i + 1
		}
	}
	return n
}

func (s *Splitter) copyRowsToShards(c *stream.Chunk, from, n int) {
	const columns = 16 // number of columns in a parallel task
	kernel.Each(s.threads, (s.d+columns-1)/columns, func(task int) {
		var data [MostShards][]float64
		for j := task * columns; j < min(s.d, (task+1)*columns); j++ {
			for h := range s.shards {
				if s.shards[h].data != nil {
					data[h] = s.shards[h].data[j*stripRows:][:stripRows]
				}
			}
			column := c.Col(j)[from : from+n]
			for i, x := range column {
				data[s.owner[i]][s.slot[i]] = x
			}
			if c.Missing == nil || c.Missing[j].Total() == 0 {
				continue
			}
			for i, x := range column {
				if math.IsNaN(x) {
					s.shards[s.owner[i]].missing[j].NaNs++
				}
			}
		}
	})
}

func (s *Splitter) flushShardsHolding(waitingRows int) error {
	for h := range s.shards {
		if t := &s.shards[h]; t.rows >= waitingRows {
			if err := t.adder.Add(t.stripChunk(s.d)); err != nil {
				return err
			}
			t.rows, t.weighted = 0, false
			clear(t.missing)
		}
	}
	return nil
}

// stripChunk returns the waiting rows as a chunk. All kinds of missing entries have become NaN.
func (t *shard) stripChunk(d int) *stream.Chunk {
	c := &stream.Chunk{Start: t.position[0], Block: t.rows, Rows: t.rows, Cols: d, Data: t.data, Stride: stripRows, Positions: t.position[:t.rows]}
	if t.weighted {
		c.Weight = t.weight[:t.rows]
	}
	if slices.ContainsFunc(t.missing, func(n stream.MissingCount) bool { return n.NaNs > 0 }) {
		c.Missing = t.missing
	}
	return c
}

func (s *Splitter) addSparse(c *stream.Chunk) error {
	parts := make([]stream.Chunk, len(s.shards))
	for h := range parts {
		parts[h] = stream.Chunk{Start: c.Start, Cols: c.Cols, Sparse: &stream.CSR{RowPtr: []int{0}}}
	}
	for i := range c.Rows {
		p := &parts[ShardOf(s.seed, c.Position(i), len(parts))]
		from, to := c.Sparse.RowPtr[i], c.Sparse.RowPtr[i+1]
		if c.Missing != nil {
			p.Missing = countMissing(p.Missing, c, from, to)
		}
		p.Sparse.Index = append(p.Sparse.Index, c.Sparse.Index[from:to]...)
		p.Sparse.Value = append(p.Sparse.Value, c.Sparse.Value[from:to]...)
		p.Sparse.RowPtr = append(p.Sparse.RowPtr, len(p.Sparse.Index))
		p.Positions = append(p.Positions, c.Position(i))
		if c.Weight != nil {
			p.Weight = append(p.Weight, c.Weight[i])
		}
		p.Rows++
		p.Block++
	}
	for h := range parts {
		if parts[h].Rows == 0 {
			continue
		}
		if err := s.shards[h].adder.Add(&parts[h]); err != nil {
			return err
		}
	}
	return nil
}

// countMissing adds the numbers of missing entries in the rows [from, to) of c to counts. It allocates counts when it
// finds the first missing entry. All kinds of missing entries are counted as NaN.
func countMissing(counts []stream.MissingCount, c *stream.Chunk, from, to int) []stream.MissingCount {
	for e := from; e < to; e++ {
		if x := c.Sparse.Value[e]; x != x {
			if counts == nil {
				counts = make([]stream.MissingCount, c.Cols)
			}
			counts[c.Sparse.Index[e]].NaNs++
		}
	}
	return counts
}
