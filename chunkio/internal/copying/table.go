package copying

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/export"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
)

// TableFile writes a table from memory, some rows at a time, to a file or object of any [Form] that appears whole or
// not at all.
type TableFile struct {
	out     *atomicfile.File
	parquet *writing.Table // nil for other forms
	leaves  int

	table  *export.Table
	sink   export.Sink
	packed *compressedOutput
}

// CreateTable begins a table with these columns, whose values are []string, []int64 or []float64. Only the types of the
// values matter.
func CreateTable(ctx context.Context, path string, form Form, columns []writing.TableColumn) (t *TableFile, err error) {
	t = &TableFile{leaves: len(columns)}
	if t.out, err = atomicfile.Create(ctx, path); err != nil {
		return nil, err
	}
	if form == FormParquet {
		t.parquet, err = writing.NewTable(t.out, columns)
	} else {
		err = t.openSink(form, columns)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *TableFile) openSink(form Form, columns []writing.TableColumn) error {
	fields, err := writing.TableFields(columns)
	if err != nil {
		return err
	}
	if t.table, err = export.New(fields); err != nil {
		return err
	}
	t.packed, t.sink, err = newSink(form, t.table, t.out)
	return err
}

// WriteRows appends rows. The columns must be as in CreateTable. In a number, NaN and ±Inf mean null.
func (t *TableFile) WriteRows(rows int, columns []writing.TableColumn) error {
	if rows == 0 {
		return nil
	}
	if t.parquet != nil {
		return t.parquet.WriteRows(rows, columns)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.table.Schema)
	defer b.Release()
	for i, c := range columns {
		switch v := c.Values.(type) {
		case []string:
			for _, s := range v {
				b.Field(i).(*array.StringBuilder).Append(s)
			}
		case []int64:
			b.Field(i).(*array.Int64Builder).AppendValues(v, nil)
		case []float64:
			to := b.Field(i).(*array.Float64Builder)
			to.Reserve(len(v))
			for _, x := range v {
				if writing.IsNullNumber(x) {
					to.AppendNull()
				} else {
					to.Append(x)
				}
			}
		default:
			return fmt.Errorf("column %s: values of type %T", c.Name, c.Values)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return t.sink.Write(record)
}

// Commit ends the table, and puts it in its place.
func (t *TableFile) Commit() error {
	if t.parquet == nil {
		if err := errors.Join(t.sink.Close(), t.packed.Close()); err != nil {
			return err
		}
		return t.out.Commit()
	}
	if err := t.parquet.Finish(); err != nil {
		return err
	}
	if err := writing.VerifyWritten(t.out, t.parquet.Rows, t.leaves); err != nil {
		return err
	}
	return t.out.Commit()
}

// Close removes the unfinished table. It does nothing after Commit.
func (t *TableFile) Close() error { return t.out.Close() }
