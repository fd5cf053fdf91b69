package halves

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stripRows is the height of the chunks that a shard is given, but for its last one: that of
// the strips that gram.Moments adds. A block of 8 shards and 4,096 columns has 64 rows of each,
// and a product of so few rows moves G four times as often.
const stripRows = 256

// Splitter hands each row to the statistics of its shard. Dense rows wait until a strip of
// their shard is full, so that what a shard sums up, and in which strips, depends on the order
// of its rows alone, and not on how they were cut into chunks. Sparse rows do not wait.
type Splitter struct {
	d, threads int
	seed       uint64
	shards     []shard
	place      []int32 // scratch: slot of each row of a run in its shard's strip
	owner      []uint8 // scratch: shard of each row of a run
	broken     error
}

// shard is the rows of a shard that wait for more, column-major with stripRows rows a column.
type shard struct {
	to       stream.Adder
	rows     int
	data     []float64
	position []int64
	weight   []float64 // of the rows; used where weighted
	missing  []int64   // entries of each column that are missing
	weighted bool
}

// Bytes bounds what a Splitter of so many columns and shards holds.
func Bytes(d, shards int) int64 {
	return int64(shards)*(stripRows*(8*int64(d)+16)+32*int64(d)) + 64<<10
}

// New splits chunks of d columns among the statistics of the shards.
func New(d, threads int, seed uint64, to []stream.Adder) *Splitter {
	s := &Splitter{d: d, threads: threads, seed: seed, shards: make([]shard, len(to)), place: make([]int32, stripRows), owner: make([]uint8, stripRows)}
	for h := range s.shards {
		s.shards[h].to = to[h]
	}
	return s
}

// Add hands on the rows of c. Where the statistics of a shard fail, so do Add and every later
// call: other shards may have rows that it has not.
func (s *Splitter) Add(c *stream.Chunk) error {
	if s.broken != nil {
		return s.broken
	}
	if c.Cols != s.d {
		return fmt.Errorf("halves: chunk of %d columns, want %d", c.Cols, s.d)
	}
	if c.Sparse != nil {
		s.broken = s.addSparse(c)
		return s.broken
	}
	for from := 0; from < c.Rows; {
		n := s.run(c, from)
		s.take(c, from, n)
		if s.broken = s.flush(stripRows); s.broken != nil {
			return s.broken
		}
		from += n
	}
	return nil
}

// Flush hands on the rows that wait.
func (s *Splitter) Flush() error {
	if s.broken == nil {
		s.broken = s.flush(1)
	}
	return s.broken
}

// run finds the shards of rows of c from the given one on, as many as fit into the strips of
// all of them, and returns their number.
func (s *Splitter) run(c *stream.Chunk, from int) int {
	n := min(stripRows, c.Rows-from)
	for i := range n {
		position := c.Position(from + i)
		h := Of(s.seed, position, len(s.shards))
		t := &s.shards[h]
		if t.data == nil {
			t.data, t.position = make([]float64, stripRows*s.d), make([]int64, stripRows)
			t.weight, t.missing = make([]float64, stripRows), make([]int64, s.d)
		}
		s.owner[i], s.place[i] = uint8(h), int32(t.rows)
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

// take copies n rows of c to where run found a place for them. Every column is read once.
func (s *Splitter) take(c *stream.Chunk, from, n int) {
	const columns = 16 // of a task
	kernel.Each(s.threads, (s.d+columns-1)/columns, func(task int) {
		var data [Most][]float64
		for j := task * columns; j < min(s.d, (task+1)*columns); j++ {
			for h := range s.shards {
				if s.shards[h].data != nil {
					data[h] = s.shards[h].data[j*stripRows:][:stripRows]
				}
			}
			column := c.Col(j)[from : from+n]
			for i, x := range column {
				data[s.owner[i]][s.place[i]] = x
			}
			if c.Missing == nil || c.Missing[j].Total() == 0 {
				continue
			}
			for i, x := range column {
				if math.IsNaN(x) {
					s.shards[s.owner[i]].missing[j]++
				}
			}
		}
	})
}

// flush hands on the rows of the shards that have so many.
func (s *Splitter) flush(rows int) error {
	for h := range s.shards {
		if t := &s.shards[h]; t.rows >= rows {
			if err := t.to.Add(t.chunk(s.d)); err != nil {
				return err
			}
			t.rows, t.weighted = 0, false
			clear(t.missing)
		}
	}
	return nil
}

// chunk is the rows that wait. What is missing is told as NaN, whatever it was in the file.
func (t *shard) chunk(d int) *stream.Chunk {
	c := &stream.Chunk{Start: t.position[0], Block: t.rows, Rows: t.rows, Cols: d, Data: t.data, Stride: stripRows, Positions: t.position[:t.rows]}
	if t.weighted {
		c.Weight = t.weight[:t.rows]
	}
	for j, n := range t.missing {
		if n == 0 {
			continue
		}
		if c.Missing == nil {
			c.Missing = make([]stream.MissingCount, d)
		}
		c.Missing[j].NaNs = n
	}
	return c
}

// addSparse hands on sparse rows, which are no products of strips.
func (s *Splitter) addSparse(c *stream.Chunk) error {
	parts := make([]stream.Chunk, len(s.shards))
	for h := range parts {
		parts[h] = stream.Chunk{Start: c.Start, Cols: c.Cols, Sparse: &stream.CSR{RowPtr: []int{0}}}
	}
	for i := range c.Rows {
		p := &parts[Of(s.seed, c.Position(i), len(parts))]
		from, to := c.Sparse.RowPtr[i], c.Sparse.RowPtr[i+1]
		if c.Missing != nil {
			p.Missing = countHoles(p.Missing, c, from, to)
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
		if err := s.shards[h].to.Add(&parts[h]); err != nil {
			return err
		}
	}
	return nil
}

// countHoles adds the missing entries [from, to) of c to the counts of a part, which are made for the
// first. What is missing is told as NaN, whatever it was in the file.
func countHoles(counts []stream.MissingCount, c *stream.Chunk, from, to int) []stream.MissingCount {
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
