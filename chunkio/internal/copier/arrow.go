package copier

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

// arrowView is a leaf column of a record batch. Row i has value i of the array, unless an enclosing struct is null.
type arrowView struct {
	arrow.Array
	structs  []arrow.Array
	skipBits []uint64 // one bit for each row that is not written: see Target.Skip
}

func newArrowView(batchRecord arrow.Record, path []int, skipBits []uint64) arrowView {
	v := arrowView{Array: batchRecord.Column(path[0]), skipBits: skipBits}
	for _, i := range path[1:] {
		s := v.Array.(*array.Struct)
		v.structs = append(v.structs, s)
		v.Array = s.Field(i)
	}
	return v
}

func (v arrowView) isRowNull(i int) bool {
	for _, s := range v.structs {
		if s.IsNull(i) {
			return true
		}
	}
	return isNullAt(v.Array, i)
}

// isNullAt reports whether value i of a is null. For dictionaries and runs, it also checks the value to which i refers.
func isNullAt(a arrow.Array, i int) bool {
	switch a := a.(type) {
	case *array.Null:
		return true
	case *array.Dictionary:
		return a.IsNull(i) || a.Dictionary().IsNull(a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return isNullAt(a.Values(), a.GetPhysicalIndex(i))
	}
	return a.IsNull(i)
}

// arrowBatch collects rows to be written: the indices of their values in the array, and their levels.
type arrowBatch struct {
	places   []int
	def, rep []int16
}

func (v arrowView) writeFlatColumn(ctx context.Context, to *writer.Chunk) error {
	return v.passRowsInBatches(ctx, to, v.Array, func(b *arrowBatch, row int) error {
		if v.isRowNull(row) {
			return b.addNull(to)
		}
		b.addValueAtIndex(row, 1)
		return nil
	})
}

// writeElement writes the element with index e of every list to a flat column.
func (v arrowView) writeElement(ctx context.Context, c *writer.Chunk, e int) error {
	list, ok := v.Array.(array.ListLike)
	if !ok {
		return fmt.Errorf("%v is no list", v.DataType())
	}
	values := list.ListValues()
	return v.passRowsInBatches(ctx, c, values, func(b *arrowBatch, row int) error {
		from, to := list.ValueOffsets(row)
		at := int(from) + e
		if v.isRowNull(row) || at >= int(to) || isNullAt(values, at) {
			return b.addNull(c)
		}
		b.addValueAtIndex(at, 1)
		return nil
	})
}

func (v arrowView) writeNestedColumn(ctx context.Context, to *writer.Chunk, nullable []bool) error {
	return v.passRowsInBatches(ctx, to, v.Array, func(b *arrowBatch, row int) error {
		level, null, err := v.definitionLevel(row, nullable)
		switch {
		case err != nil:
			return err
		case null:
			b.def = append(b.def, level)
		default:
			b.addValueAtIndex(row, level)
		}
		return nil
	})
}

// definitionLevel returns the number of optional structs that are present in a row, plus 1 if the value is optional and
// present. nullable is as in ipcLeaf. null reports whether any of the structs, or the value, is null.
func (v arrowView) definitionLevel(row int, nullable []bool) (level int16, null bool, err error) {
	for i, optional := range nullable {
		if i < len(v.structs) {
			null = v.structs[i].IsNull(row)
		} else {
			null = isNullAt(v.Array, row)
		}
		switch {
		case null && !optional:
			return 0, true, errRequiredNull
		case null:
			return level, true, nil
		case optional:
			level++
		}
	}
	return level, false, nil
}

func (v arrowView) writeListColumn(ctx context.Context, c *writer.Chunk, nullable []bool) error {
	list, ok := v.Array.(array.ListLike)
	if !ok {
		return fmt.Errorf("%v is no list", v.DataType())
	}
	values := list.ListValues()
	// Definition levels from the highest down: element, null element, empty list, null list. If elements are required,
	// there is no level for null elements.
	full := c.Descr().MaxDefinitionLevel()
	elements := c.Descr().SchemaNode().RepetitionType() == parquet.Repetitions.Optional
	return v.passRowsInBatches(ctx, c, values, func(b *arrowBatch, row int) error {
		empty, null, err := v.definitionLevel(row, nullable)
		if err != nil {
			return err
		}
		from, to := list.ValueOffsets(row)
		if null || from == to {
			b.def, b.rep = append(b.def, empty), append(b.rep, 0)
			return nil
		}
		for i := from; i < to; i++ {
			if i == from {
				b.rep = append(b.rep, 0)
			} else {
				b.rep = append(b.rep, 1)
			}
			switch null := isNullAt(values, int(i)); {
			case null && !elements:
				return errRequiredNull
			case null:
				b.def = append(b.def, full-1)
			default:
				b.addValueAtIndex(int(i), full)
			}
		}
		return nil
	})
}

var errRequiredNull = errors.New("a null in a column that the schema declares without nulls")

func (b *arrowBatch) addValueAtIndex(at int, level int16) {
	b.places, b.def = append(b.places, at), append(b.def, level)
}

func (b *arrowBatch) addNull(c *writer.Chunk) error {
	if !c.Optional() {
		return errRequiredNull
	}
	b.def = append(b.def, 0)
	return nil
}

func (v arrowView) passRowsInBatches(ctx context.Context, c *writer.Chunk, values arrow.Array, row func(b *arrowBatch, row int) error) error {
	var b arrowBatch
	for i := range v.Len() {
		if !skipsRow(v.skipBits, i) {
			if err := row(&b, i); err != nil {
				return err
			}
		}
		if len(b.def) < copyBatch && i+1 < v.Len() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		def := b.def
		if !c.Optional() {
			def = nil
		}
		if err := writeArrowValues(c, values, b.places, def, b.rep); err != nil {
			return err
		}
		b = arrowBatch{b.places[:0], b.def[:0], b.rep[:0]}
	}
	return nil
}
