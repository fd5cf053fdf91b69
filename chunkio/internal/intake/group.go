package intake

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxGroupText limits the text of a row group: a group ends early when it reaches this number of bytes.
const maxGroupText = 32 << 20

// gatherer joins batches into row groups and writes the row groups.
type gatherer struct {
	columns        []Column
	leaves         []leaf // leaves of the columns in the file
	file           *writer.File
	opt            Options
	nulls          nullSpellings
	workers        int
	slots          chan struct{} // one slot for each worker that may parse
	surplusBatches int           // batches of stopped workers that are still to be dropped
	inputBytes     int64         // length of the input; 0: unknown
	bytesRead      int64
	name           string // name of the input
	cellCount      int64  // number of cells in all batches
	groups         int    // row groups written
	height         int    // number of rows in a row group
	stride         int    // number of rows for which cells and present have room; row i of column j is cells[j*stride+i]
	rows           int    // rows gathered for the current group
	cells          []cell
	present        []bool
	text           []byte
}

// A table whose columns are nearly empty still has rows times columns cells. Processing up to emptyCells cells takes
// seconds. A table with more cells is refused if it has more than maxEmptyPerByte cells for every byte of the input.
const (
	emptyCells      = 1 << 26
	maxEmptyPerByte = 250
)

// leaf is a leaf column of the file to be written: a column of the table, or the keys or the values of a map.
type leaf struct {
	column int
	values bool // the leaf contains the values of a map
}

func newGatherer(out Output, columns []Column, opt Options, bytes int64) (*gatherer, error) {
	var fields schema.FieldList
	var dict []bool
	var leaves []leaf
	height := groupRows(len(columns))
	for j, c := range columns {
		fields = append(fields, schemaNodeOfColumn(c))
		useDictionary := c.Kind == Text || height > maxPlainRows && c.Kind != Local && c.Kind != UTC && c.Kind != Map
		dict, leaves = append(dict, useDictionary), append(leaves, leaf{column: j})
		if c.Kind == Map {
			dict, leaves = append(dict, false), append(leaves, leaf{column: j, values: true})
		}
	}
	g := &gatherer{columns: columns, leaves: leaves, height: height, opt: opt, nulls: newNullSpellings(opt.Nulls), workers: opt.affordableWorkers(len(columns)), inputBytes: bytes}
	g.slots = make(chan struct{}, g.workers)
	var err error
	if g.file, err = writer.New(out, fields, dict); err == nil && height <= maxPlainRows {
		err = g.file.ExpectShortPages()
	}
	return g, err
}

// groupCells and maxGroupRows limit the size of a row group.
const (
	groupCells    = 4 << 20
	maxGroupRows  = 1 << 20
	cellBytes     = 9       // bytes of a cell and its present flag
	encodingBytes = 8 << 20 // bytes of the columns that are being encoded

	// Numbers in row groups of at most maxPlainRows rows, as tables of more than 4,096 columns have, get no dictionary.
	// With one, select took 1.7 times the cpu time on a CSV of 256 rows × 100,000 columns, and the Parquet file of a CSV
	// of 5,000 columns of 0 to 255 was 1.4 times as large.
	maxPlainRows = 512
)

// groupRows returns the number of rows in a row group of a table with d columns. It is a multiple of the block height
// with which rows are read, so that the blocks are cut as in a file of one row group. It depends on d alone.
func groupRows(d int) int {
	h := stream.BlockRows(d)
	for 2*h*d <= groupCells && 2*h <= maxGroupRows {
		h *= 2
	}
	return h
}

func schemaNodeOfColumn(c Column) schema.Node {
	var logical schema.LogicalType = schema.NoLogicalType{}
	physical := parquet.Types.Int64
	switch c.Kind {
	case Map:
		return mapSchemaNode(c.Name)
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

func (g *gatherer) addBatch(ctx context.Context, b *batch) error {
	for from := 0; from < b.rows; {
		if g.rows == g.stride {
			g.makeRoom(b.rows)
		}
		n := min(b.rows-from, g.stride-g.rows)
		for j, c := range g.columns {
			to, at := j*g.stride+g.rows, j*b.stride+from
			copy(g.present[to:to+n], b.present[at:])
			if c.Kind != Text && c.Kind != Map {
				copy(g.cells[to:to+n], b.cells[at:])
				continue
			}
			for i := range n {
				if b.present[at+i] {
					s := textOfCell(b.text, b.cells[at+i])
					g.cells[to+i] = cell(len(g.text))<<32 | cell(len(s))
					g.text = append(g.text, s...)
				}
			}
		}
		g.rows += n
		from += n
		if g.rows == g.height || len(g.text) >= maxGroupText {
			if err := g.writeGroup(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gatherer) makeRoom(firstRows int) {
	old := *g
	if g.stride = g.height; old.stride == 0 {
		// The first batch is all of a small file. Clearing the 36 MiB of a row group took a third of the cpu time of
		// reading a CSV file of 1,000 rows × 10 columns.
		g.stride = min(firstRows, g.height)
	}
	n := len(g.columns) * g.stride
	g.cells, g.present = room.MakeSlice[cell](n), make([]bool, n)
	for j := range g.columns {
		copy(g.cells[j*g.stride:], old.cells[j*old.stride:][:old.stride])
		copy(g.present[j*g.stride:], old.present[j*old.stride:][:old.stride])
	}
}

// columnsAtOnce is the number of columns encoded at the same time.
const columnsAtOnce = 64

func (g *gatherer) writeGroup(ctx context.Context) error {
	if g.rows == 0 {
		return nil
	}
	if err := g.reserveGroup(); err != nil {
		return err
	}
	room.EnsureFree(encodingBytes) // the previous row group has left garbage of this size
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
		work.SetLimit(g.workers)
		for i, c := range chunks {
			work.Go(func() error {
				if err := g.encodeLeaf(c, g.leaves[lo+i]); err != nil {
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

// reserveGroup counts one more row group. Its metadata stays in memory until the file ends: with 20,000 columns it
// takes 9 MiB per row group of 208 rows. To free memory, reserveGroup stops workers until one is left. If that is not
// enough, the error requests the memory for the whole input if its length is known, else the memory for twice the
// number of row groups.
func (g *gatherer) reserveGroup() error {
	g.groups++
	d := len(g.columns)
	for g.workers > 1 && g.opt.neededMemory(d, g.workers, g.groups) > g.opt.Memory {
		g.slots <- struct{}{} // never released: this waits until a worker has finished its piece
		g.surplusBatches++
		g.workers--
	}
	g.file.SetWorkers(g.workers)
	ahead := 2 * g.groups
	if g.inputBytes > 0 && g.bytesRead > 0 {
		ahead = int(math.Ceil(float64(g.groups) * float64(g.inputBytes) / float64(g.bytesRead)))
	}
	return g.opt.checkMemory(d, g.groups, ahead)
}

func (g *gatherer) encodeLeaf(chunk *writer.Chunk, l leaf) error {
	j := l.column
	cells, present := g.cells[j*g.stride:][:g.rows], g.present[j*g.stride:][:g.rows]
	switch g.columns[j].Kind {
	case Bool:
		return writeCells(chunk, cells, present, func(x cell) bool { return x != 0 })
	case Int, Uint, Local, UTC:
		return writeCells(chunk, cells, present, func(x cell) int64 { return int64(x) })
	case Date:
		return writeCells(chunk, cells, present, func(x cell) int32 { return int32(int64(x)) })
	case Map:
		return putMap(chunk, cells, present, g.text, l.values)
	case Text:
		return writeCells(chunk, cells, present, func(x cell) parquet.ByteArray { return textOfCell(g.text, x) })
	}
	if g.height > maxPlainRows && !repeatsInSample(cells, present) {
		chunk.DropDictionary()
	}
	return writeCells(chunk, cells, present, math.Float64frombits)
}

func repeatsInSample(cells []cell, present []bool) bool {
	// Of n rows, √(2n) are looked at. Among these, two values are probably equal if fewer than n are distinct, so a
	// dictionary of values that do not repeat here would be nearly as long as the column. Making one took half of the
	// cpu time of converting a CSV file of 1,000 rows × 1,000 numbers.
	step := max(int(math.Sqrt(float64(len(cells))/2)), 1)
	seen := map[cell]bool{}
	for i := 0; i < len(cells); i += step {
		if present[i] && seen[cells[i]] {
			return true
		}
		seen[cells[i]] = present[i] || seen[cells[i]]
	}
	return false
}

func writeCells[T any](c *writer.Chunk, cells []cell, present []bool, value func(cell) T) error {
	values, def := make([]T, 0, len(cells)), make([]int16, len(cells))
	for i, x := range cells {
		if present[i] {
			values, def[i] = append(values, value(x)), 1
		}
	}
	return format.Guard(func() error { return writer.Put(c, values, def, nil) })
}

func (g *gatherer) finishFile() error {
	if err := g.writeGroup(context.Background()); err != nil {
		return err
	}
	return g.file.Finish()
}
