package delta

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// cell is one entry of a column: its definition level, and its value if this is the column's largest level.
type cell struct {
	def    int16
	text   []byte // value of a byte array; valid while the cursor is open
	number int64  // value of an integer
}

// columnCursor reads a column chunk of a checkpoint row by row. Each row is an action. All cursors advance together.
type columnCursor struct {
	path     string
	levels   columnLevels
	unloaded int64 // number of entries that have not been loaded yet, according to the footer
	load     func() (entries int64, err error)
	value    func(i int) cell // returns value i of the loaded values, which do not include nulls

	def, rep         []int16 // levels of the loaded entries
	at, entries      int     // index of the next entry, and number of loaded entries
	next, valueCount int     // index of the next value, and number of loaded values
	done             func()
}

// columnLevels has the lowest definition levels at which parts of a column are present.
type columnLevels struct {
	max      int16
	group    int16 // level of the action, which is a top-level group
	element  int16 // level of an element of the list or map; 0 if the column has neither
	repeated bool
}

func levelsOfColumn(s *schema.Schema, column int) (l columnLevels) {
	d := s.Column(column)
	l.max, l.repeated = d.MaxDefinitionLevel(), d.MaxRepetitionLevel() > 0
	var node schema.Node = s.Root()
	level := int16(0)
	for i, name := range d.ColumnPath() {
		group, ok := node.(*schema.GroupNode)
		if !ok {
			break
		}
		at := group.FieldIndexByName(name)
		if at < 0 {
			break
		}
		node = group.Field(at)
		if node.RepetitionType() != parquet.Repetitions.Required {
			level++
		}
		if node.RepetitionType() == parquet.Repetitions.Repeated {
			l.element = level
		}
		if i == 0 {
			l.group = level
		}
	}
	return l
}

// batchEntries is the number of entries that a cursor loads at a time.
const batchEntries = 512

// openCursor opens the column chunk of physical column i in row group g. The caller must call done.
func openCursor(f *pq.File, g, i int) (*columnCursor, error) {
	s := f.Schema()
	c := &columnCursor{path: s.Column(i).Path(), levels: levelsOfColumn(s, i), unloaded: f.Chunk(g, i).Values}
	if s.Column(i).MaxRepetitionLevel() > 1 {
		return nil, fmt.Errorf("column %s has lists of lists, where checkpoints have none", c.path)
	}
	reader, done, err := f.ColumnReader(g, i)
	if err != nil {
		return nil, err
	}
	c.done = done
	c.def, c.rep = make([]int16, batchEntries), make([]int16, batchEntries)
	switch r := reader.(type) {
	case *pqfile.ByteArrayColumnChunkReader:
		setLoadAndValue(c, r, func(v parquet.ByteArray) cell { return cell{text: v} })
	case *pqfile.Int32ColumnChunkReader:
		setLoadAndValue(c, r, func(v int32) cell { return cell{number: int64(v)} })
	case *pqfile.Int64ColumnChunkReader:
		setLoadAndValue(c, r, func(v int64) cell { return cell{number: v} })
	default:
		done()
		return nil, fmt.Errorf("column %s holds %v, where checkpoints have a text or a whole number", c.path, reader.Type())
	}
	return c, nil
}

func setLoadAndValue[T any](c *columnCursor, r pq.TypedReader[T], convert func(T) cell) {
	values := make([]T, batchEntries)
	c.load = func() (int64, error) {
		var def, rep []int16
		if c.levels.max > 0 {
			def = c.def
		}
		if c.levels.repeated {
			rep = c.rep
		}
		n, have, err := r.ReadBatch(min(batchEntries, c.unloaded), values, def, rep)
		if err == nil {
			err = r.Err()
		}
		c.valueCount = have
		return n, err
	}
	c.value = func(i int) cell { return convert(values[i]) }
}

func (c *columnCursor) loadBatchIfUsedUp() (bool, error) {
	if c.at < c.entries {
		return true, nil
	}
	if c.unloaded == 0 {
		return false, nil
	}
	n, err := c.load()
	if err == nil && (n <= 0 || n > c.unloaded || c.valueCount > int(n)) {
		err = fmt.Errorf("read %d values for %d entries", c.valueCount, n)
	}
	if err != nil {
		return false, fmt.Errorf("column %s: %w", c.path, err)
	}
	c.unloaded -= n
	c.at, c.entries, c.next = 0, int(n), 0
	return true, nil
}

func (c *columnCursor) nextCell() (cell, error) {
	def := c.levels.max
	if def > 0 {
		def = c.def[c.at]
	}
	c.at++
	if def < c.levels.max {
		return cell{def: def}, nil
	}
	if c.next >= c.valueCount {
		return cell{}, fmt.Errorf("column %s has fewer values than its levels say", c.path)
	}
	v := c.value(c.next)
	v.def = def
	c.next++
	return v, nil
}

// nextRow appends the entries of the next row to the slice into: the elements of a list, or a single entry. Every row
// has at least one entry.
func (c *columnCursor) nextRow(into []cell) ([]cell, error) {
	into = into[:0]
	for {
		more, err := c.loadBatchIfUsedUp()
		if err != nil {
			return nil, err
		}
		first := len(into) == 0
		if !more && first {
			return nil, errors.New("column " + c.path + " ends before its row group")
		}
		if !more || !first && (!c.levels.repeated || c.rep[c.at] == 0) {
			return into, nil
		}
		if first && c.levels.repeated && c.rep[c.at] != 0 {
			return nil, errors.New("column " + c.path + " begins in the middle of a row")
		}
		v, err := c.nextCell()
		if err != nil {
			return nil, err
		}
		into = append(into, v)
		if !c.levels.repeated {
			return into, nil
		}
	}
}
