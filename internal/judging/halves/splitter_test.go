package halves

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// seenRows are the rows that a shard was given, as text, and the heights of their chunks.
type seenRows struct {
	rows    []string
	heights []int
	missing int64
	fail    error
}

func (s *seenRows) Add(c *stream.Chunk) error {
	if s.fail != nil {
		return s.fail
	}
	s.heights = append(s.heights, c.Rows)
	s.rows = append(s.rows, texts(c)...)
	for _, m := range c.Missing {
		s.missing += m.Total()
	}
	return nil
}

// texts has position, weight and values of every row of c.
func texts(c *stream.Chunk) (list []string) {
	for i := range c.Rows {
		values := make([]float64, c.Cols)
		if c.Sparse == nil {
			for j := range values {
				values[j] = c.Col(j)[i]
			}
		} else {
			for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
				values[c.Sparse.Index[e]] = c.Sparse.Value[e]
			}
		}
		weight := 1.0
		if c.Weight != nil {
			weight = c.Weight[i]
		}
		list = append(list, fmt.Sprint(c.Position(i), weight, values))
	}
	return list
}

// table is rows with missing values, weights in the second half, and gaps between positions.
func table(rows, d int) *stream.Chunk {
	r := rand.New(rand.NewPCG(1, 1))
	c := &stream.Chunk{Block: rows, Rows: rows, Cols: d, Stride: rows + 3, Data: make([]float64, (rows+3)*d), Missing: make([]stream.MissingCount, d)}
	for i := range rows {
		c.Positions = append(c.Positions, int64(3*i))
		c.Weight = append(c.Weight, float64(1+i*2/rows))
		for j := range d {
			c.Data[j*c.Stride+i] = r.NormFloat64()
			if j%2 == 1 && r.IntN(9) == 0 {
				c.Data[j*c.Stride+i] = math.NaN()
				c.Missing[j].Nulls++
			}
		}
	}
	return c
}

// cut is rows from to to-1 of c.
func cut(c *stream.Chunk, from, to int) *stream.Chunk {
	part := *c
	part.Rows, part.Block, part.Data = to-from, to-from, c.Data[from:]
	part.Positions, part.Weight = c.Positions[from:to], c.Weight[from:to]
	return &part
}

func split(d, shards, threads int) (*Splitter, []*seenRows) {
	seen, to := make([]*seenRows, shards), make([]stream.Adder, shards)
	for h := range seen {
		seen[h] = new(seenRows)
		to[h] = seen[h]
	}
	return New(d, threads, 5, to), seen
}

// TestSplit: each shard is given its rows in their order, in the same strips however the table was
// cut, and whether or not the rows that wait were stored in between.
func TestSplit(t *testing.T) {
	const rows, d, shards = 3000, 19, 4
	whole := table(rows, d)
	want := make([][]string, shards)
	for i, text := range texts(whole) {
		h := ShardOf(5, whole.Position(i), shards)
		want[h] = append(want[h], text)
	}
	for _, height := range []int{1, 7, 255, 256, 257, 1024, rows} {
		s, seen := split(d, shards, 1+height%3)
		for from := 0; from < rows; from += height {
			must.Do(t, s.Add(cut(whole, from, min(from+height, rows))))
			if from/height%2 == 1 && height > 100 {
				again, _ := split(d, shards, 2)
				for h := range seen {
					again.shards[h].adder = seen[h]
				}
				must.Get(again.ReadFrom(bytes.NewReader(wordstest.EncodeState(t, s))))(t)
				s = again
			}
		}
		must.Do(t, s.Flush())
		for h, got := range seen {
			if !slices.Equal(got.rows, want[h]) {
				t.Fatalf("chunks of %d rows: shard %d has %d other rows, want %d", height, h, len(got.rows), len(want[h]))
			}
			for i, n := range got.heights {
				if last := i == len(got.heights)-1; n != stripRows && !last {
					t.Fatalf("chunks of %d rows: strips of %v rows", height, got.heights)
				}
			}
		}
		missing, counted := int64(0), int64(0)
		for h := range seen {
			counted += seen[h].missing
		}
		for _, m := range whole.Missing {
			missing += m.Total()
		}
		if counted != missing {
			t.Errorf("chunks of %d rows: %d missing, want %d", height, counted, missing)
		}
	}
}

// TestSplitSparse: sparse rows go to the same shards.
func TestSplitSparse(t *testing.T) {
	c := &stream.Chunk{Start: 10, Block: 50, Rows: 50, Cols: 30, Sparse: &stream.CSR{RowPtr: []int{0}}}
	for i := range c.Rows {
		for j := range i % 4 {
			c.Sparse.Index = append(c.Sparse.Index, int32(i%7+j))
			c.Sparse.Value = append(c.Sparse.Value, float64(i+1))
		}
		c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Index))
	}
	s, seen := split(c.Cols, 4, 1)
	must.Do(t, s.Add(c))
	must.Do(t, s.Flush())
	want := make([][]string, 4)
	for i, text := range texts(c) {
		h := ShardOf(5, c.Position(i), 4)
		want[h] = append(want[h], text)
	}
	for h := range seen {
		if !slices.Equal(seen[h].rows, want[h]) {
			t.Errorf("shard %d: %v, want %v", h, seen[h].rows, want[h])
		}
	}
}

// TestWaiting: the rows that wait have a binary form.
func TestWaiting(t *testing.T) {
	s, _ := split(3, 4, 1)
	must.Do(t, s.Add(table(40, 3)))
	b := wordstest.EncodeState(t, s)
	again, _ := split(3, 4, 1)
	wordstest.CheckReread(t, b, again)
	for _, other := range [][2]int{{2, 4}, {3, 6}} {
		o, _ := split(other[0], other[1], 1)
		if _, err := o.ReadFrom(bytes.NewReader(b)); err == nil {
			t.Errorf("%v columns and shards read rows of 3 in 4", other)
		}
	}
}

// TestBroken: where one shard fails nothing is added any more, nor stored.
func TestBroken(t *testing.T) {
	s, seen := split(3, 4, 1)
	seen[2].fail = errors.New("full")
	must.Do(t, s.Add(table(40, 3)))
	for range 2 {
		if err := s.Flush(); !errors.Is(err, seen[2].fail) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := s.WriteTo(new(bytes.Buffer)); !errors.Is(err, seen[2].fail) {
		t.Errorf("stored: %v", err)
	}
	if err := s.Add(&stream.Chunk{Cols: 4}); !errors.Is(err, seen[2].fail) {
		t.Errorf("got %v", err)
	}
}

// FuzzWaiting: no bytes make reading panic or take more memory than they promise rows.
func FuzzWaiting(f *testing.F) {
	s, _ := split(2, 4, 1)
	must.Do(f, s.Add(table(9, 2)))
	f.Add(wordstest.EncodeState(f, s))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _ := split(2, 4, 1)
		if n, err := got.ReadFrom(bytes.NewReader(b)); err == nil {
			if again := wordstest.EncodeState(t, got); int64(len(again)) != n {
				t.Errorf("%d bytes, read %d", len(again), n)
			}
		}
	})
}

// BenchmarkSplit: beside the d²/2 multiplications that a row costs in a Gram matrix, splitting is
// to be next to nothing.
func BenchmarkSplit(b *testing.B) {
	for _, d := range []int{64, 1024} {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			c := table(stream.BlockRows(d), d)
			s, seen := split(d, 8, 0)
			for h := range seen {
				s.shards[h].adder = ignored{}
			}
			b.SetBytes(int64(8 * c.Rows * d))
			for b.Loop() {
				if err := s.Add(c); err != nil {
					b.Fatalf("splitting a chunk: %v", err)
				}
			}
		})
	}
}

type ignored struct{}

func (ignored) Add(*stream.Chunk) error { return nil }

// TestLayout: the rows that wait take the memory of their layout, and no more.
func TestLayout(t *testing.T) {
	const rows, d, shards = 3000, 300, 4
	whole := table(rows, d)
	to := make([]stream.Adder, shards)
	for h := range to {
		to[h] = ignored{}
	}
	roomtest.CheckLayout(t, "a splitter", SplitterBytes(d, shards)-64<<10, func() { must.Do(t, New(d, 1, 5, to).Add(whole)) })
}
