package intake

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// textMost is how many bytes of text end a row group early.
const textMost = 32 << 20

// gatherer makes row groups of batches.
type gatherer struct {
	columns []Column
	leaves  []leaf // that the columns have in the file
	file    *writer.File
	opt     Options
	nulls   spellings
	threads int
	slots   chan struct{} // of the workers that parse
	surplus int           // batches of workers that are no longer there
	bytes   int64         // of the input, 0 where that is not known, and of them taken in
	taken   int64
	name    string // of the input
	filled  int64  // cells of all batches
	groups  int    // written
	height  int    // of a row group
	rows    int    // gathered
	cells   []cell
	there   []bool
	text    []byte
}

// Columns of which a row has next to none take rows times columns all the same. Up to emptyCells that is a matter of
// seconds; more are refused if there are emptyShare of them for every byte of the input.
const (
	emptyCells = 1 << 26
	emptyShare = 250
)

// leaf is a column of the file: one of the table, or the keys or the values of a map.
type leaf struct {
	column int
	values bool
}

// newGatherer is of columns of an input of so many bytes, with as many workers as the memory allows.
func newGatherer(out Output, columns []Column, opt Options, bytes int64) (*gatherer, error) {
	var fields schema.FieldList
	var dict []bool
	var leaves []leaf
	for j, c := range columns {
		fields = append(fields, node(c))
		dict, leaves = append(dict, c.Kind != Local && c.Kind != UTC && c.Kind != Map), append(leaves, leaf{column: j})
		if c.Kind == Map {
			dict, leaves = append(dict, false), append(leaves, leaf{column: j, values: true})
		}
	}
	g := &gatherer{columns: columns, leaves: leaves, height: groupRows(len(columns)), opt: opt, nulls: newSpellings(opt.Nulls), threads: opt.affordable(len(columns)), bytes: bytes}
	g.slots = make(chan struct{}, g.threads)
	var err error
	g.file, err = writer.New(out, fields, dict)
	return g, err
}

// groupCells bounds the cells of a row group, and tallest its rows.
const (
	groupCells  = 4 << 20
	tallest     = 1 << 20
	bytesOfCell = 9       // and of what is there
	encoding    = 8 << 20 // bytes of columns at work
)

// groupRows is the height of row groups of d columns: that of the blocks that rows are read in, or a
// multiple, so that blocks are cut as in a file of one row group. It depends on d alone.
func groupRows(d int) int {
	h := stream.BlockRows(d)
	for 2*h*d <= groupCells && 2*h <= tallest {
		h *= 2
	}
	return h
}

// node is a column of the scratch file.
func node(c Column) schema.Node {
	var logical schema.LogicalType = schema.NoLogicalType{}
	physical := parquet.Types.Int64
	switch c.Kind {
	case Map:
		return mapNode(c.Name)
	case Bool:
		return writer.NumberOf("bool").Node(c.Name, false)
	case Int:
		return writer.NumberOf("int64").Node(c.Name, false)
	case Uint:
		logical = schema.NewIntLogicalType(64, false)
	case Float, Unknown:
		return writer.NumberOf("double").Node(c.Name, false)
	case Date:
		logical, physical = schema.DateLogicalType{}, parquet.Types.Int32
	case Local, UTC:
		logical = schema.NewTimestampLogicalType(c.Kind == UTC, schema.TimeUnitMicros)
	case Text:
		logical, physical = schema.StringLogicalType{}, parquet.Types.ByteArray
	}
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Optional, logical, physical, -1, -1))
}

// add appends a batch. Row groups end where they are high, whatever the batches are.
func (g *gatherer) add(ctx context.Context, b *batch) error {
	if g.cells == nil {
		n := len(g.columns) * g.height
		g.cells, g.there = room.Make[cell](n), make([]bool, n)
	}
	for from := 0; from < b.rows; {
		n := min(b.rows-from, g.height-g.rows)
		for j, c := range g.columns {
			to, at := j*g.height+g.rows, j*b.stride+from
			copy(g.there[to:to+n], b.there[at:])
			if c.Kind != Text && c.Kind != Map {
				copy(g.cells[to:to+n], b.cells[at:])
				continue
			}
			for i := range n {
				if b.there[at+i] {
					s := textAt(b.text, b.cells[at+i])
					g.cells[to+i] = cell(len(g.text))<<32 | cell(len(s))
					g.text = append(g.text, s...)
				}
			}
		}
		g.rows += n
		from += n
		if g.rows == g.height || len(g.text) >= textMost {
			if err := g.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// columnsAtOnce is how many columns are open at once.
const columnsAtOnce = 64

// flush writes the rows gathered as a row group.
func (g *gatherer) flush(ctx context.Context) error {
	if g.rows == 0 {
		return nil
	}
	if err := g.grow(); err != nil {
		return err
	}
	room.For(encoding) // the row group before left as much garbage
	group := g.file.Group(int64(g.rows))
	for lo := 0; lo < len(g.leaves); lo += columnsAtOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunks, err := group.Columns(min(columnsAtOnce, len(g.leaves)-lo))
		if err != nil {
			return err
		}
		var work errgroup.Group
		work.SetLimit(g.threads)
		for i, c := range chunks {
			work.Go(func() error {
				if err := g.encode(c, g.leaves[lo+i]); err != nil {
					return err
				}
				return c.Finish()
			})
		}
		if err := work.Wait(); err != nil {
			return err
		}
		if err := group.Place(chunks); err != nil {
			return err
		}
	}
	g.rows, g.text = 0, g.text[:0]
	return group.End()
}

// grow counts one more row group, whose metadata stay in memory until the file ends: of 20,000 columns 9 MiB are
// counted, for each 208 rows. It takes the place of workers while there is more than one. Where even one has no
// room, as much is asked for as there will be if the length of the input is known, else as much again.
func (g *gatherer) grow() error {
	g.groups++
	d := len(g.columns)
	for g.threads > 1 && g.opt.holds(d, g.threads, g.groups) > g.opt.Memory {
		g.slots <- struct{}{} // for good: it waits for a worker to end its piece
		g.surplus++
		g.threads--
	}
	g.file.Workers(g.threads)
	ahead := 2 * g.groups
	if g.bytes > 0 && g.taken > 0 {
		ahead = int(math.Ceil(float64(g.groups) * float64(g.bytes) / float64(g.taken)))
	}
	return g.opt.check(d, g.groups, ahead)
}

// encode writes a leaf of the rows gathered.
func (g *gatherer) encode(c *writer.Chunk, l leaf) error {
	j := l.column
	cells, there := g.cells[j*g.height:][:g.rows], g.there[j*g.height:][:g.rows]
	switch g.columns[j].Kind {
	case Bool:
		return put(c, cells, there, func(x cell) bool { return x != 0 })
	case Int, Uint, Local, UTC:
		return put(c, cells, there, func(x cell) int64 { return int64(x) })
	case Date:
		return put(c, cells, there, func(x cell) int32 { return int32(int64(x)) })
	case Map:
		return putMap(c, cells, there, g.text, l.values)
	case Text:
		return put(c, cells, there, func(x cell) parquet.ByteArray { return textAt(g.text, x) })
	}
	return put(c, cells, there, math.Float64frombits)
}

func put[T any](c *writer.Chunk, cells []cell, there []bool, value func(cell) T) error {
	values, def := make([]T, 0, len(cells)), make([]int16, len(cells))
	for i, x := range cells {
		if there[i] {
			values, def[i] = append(values, value(x)), 1
		}
	}
	return format.Guard(func() error { return writer.Put(c, values, def, nil) })
}

// finish writes what is left, and the footer.
func (g *gatherer) finish() error {
	if err := g.flush(context.Background()); err != nil {
		return err
	}
	return g.file.Finish()
}
