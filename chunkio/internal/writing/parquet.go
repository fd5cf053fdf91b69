package writing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/apache/arrow/go/v15/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// WriteOptions controls the form of the file that WriteParquet writes. The zero value is a good choice.
type WriteOptions struct {
	// Type is the type of every feature: bool, int8 … int64, uint8 … uint32, float or double. If empty, each column
	// has its own Type if it is one of these, else double. A value that an integer type cannot hold is an error;
	// float rounds.
	Type string
	// Required makes REQUIRED columns; a missing value is an error then. By default
	// columns are OPTIONAL and NaN becomes null.
	Required bool
	// RowGroupRows is the height of the row groups; 0 means stream.BlockRows.
	RowGroupRows int
	// Label, if set, gives the value of an extra last column LabelName (default "label",
	// int32) for the row at a global position.
	Label      func(position int64) int32
	LabelName  string
	labelValue func(position int64) float64 // used in place of Label if Convert writes sparse rows; its values are doubles
	// Sparse writes the entries that are not zero as two list columns, "indices" of INT32 and "values" of Type, which
	// is float or double. If Type is empty, it is float if float represents the types of all features, else double. A
	// missing value becomes a null entry. Features keep their numbers, not their names, and features after the last one
	// that occurs are not in the file, so Options.Sparse "indices,values,D" must name their number D when the file is
	// read. Row groups are of 512 rows by default.
	Sparse bool
	// List, if set, writes all features as one column of that name, of lists of Type: features keep their numbers, not
	// their names. Sparse chunks are an error.
	List string
	// Threads is the number of columns encoded at once; 0 means GOMAXPROCS. The file does not depend on it.
	Threads int
}

func (o WriteOptions) withDefaults(features int) WriteOptions {
	switch {
	case o.RowGroupRows > 0:
	case o.Sparse:
		o.RowGroupRows = sparseGroupRows
	default:
		o.RowGroupRows = stream.BlockRows(features)
	}
	o.LabelName = cmp.Or(o.LabelName, "label")
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return o
}

// WriteParquet implements chunkio.WriteParquet: it writes all rows of src to the file or object at path, which appears
// only once it is complete.
func WriteParquet(ctx context.Context, path string, src stream.Source, opt WriteOptions) error {
	out, err := atomicfile.Create(ctx, path)
	if err != nil {
		return err
	}
	defer out.Close()
	rows, leaves, err := WriteSource(ctx, out, src, opt)
	if err != nil {
		return err
	}
	if err := VerifyWritten(out, rows, leaves); err != nil {
		return err
	}
	return out.Commit()
}

// WriteSparseWithLabels writes sparse rows of doubles with a column of labels.
func WriteSparseWithLabels(ctx context.Context, path string, src stream.Source, label func(position int64) float64, threads int) error {
	return WriteParquet(ctx, path, src, WriteOptions{Sparse: true, Type: "double", Threads: threads, labelValue: label})
}

// WriteSource is WriteParquet for any writer. It returns the numbers of rows and columns written.
func WriteSource(ctx context.Context, out io.Writer, src stream.Source, opt WriteOptions) (rows int64, leaves int, err error) {
	columns := src.Columns()
	opt = opt.withDefaults(len(columns))
	if opt.Sparse {
		return writeSparseLists(ctx, out, src, opt)
	}
	if opt.List != "" {
		return writeRowsAsLists(ctx, out, src, opt)
	}
	t := &tableWriter{opt: opt, d: len(columns)}
	var fields schema.FieldList
	var dict []bool
	for _, c := range columns {
		typ := cmp.Or(opt.Type, c.Type)
		n := writer.NumberOf(typ)
		t.types = append(t.types, n)
		// Columns of integers get a dictionary, because their values often repeat. Floats seldom repeat, and hashing
		// them costs more than a dictionary saves.
		dict = append(dict, n.Bits > 0)
		fields = append(fields, n.Node(c.Name, opt.Required))
	}
	if opt.Label != nil {
		dict = append(dict, true)
		fields = append(fields, writer.NumberOf("int32").Node(opt.LabelName, true))
	}
	if t.w, err = beginTable(out, fields, dict); err != nil {
		return 0, 0, err
	}
	t.data = make([]float64, t.d*opt.RowGroupRows)
	if err := writeChunks(ctx, src, t.addChunk); err != nil {
		return 0, 0, err
	}
	if err := t.writeRowGroup(); err != nil {
		return 0, 0, err
	}
	return t.w.Rows, len(fields), t.w.Finish()
}

// beginTable begins a file with new columns, whose names must differ.
func beginTable(out io.Writer, fields schema.FieldList, dict []bool) (*writer.File, error) {
	names := make(map[string]bool, len(fields))
	for _, f := range fields {
		if names[f.Name()] {
			return nil, stream.Usagef("two columns are named %q", f.Name())
		}
		names[f.Name()] = true
	}
	return writer.New(out, fields, dict)
}

func writeChunks(ctx context.Context, src stream.Source, addChunk func(*stream.Chunk) error) error {
	for c, err := range src.Chunks(ctx, stream.Range{}) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = addChunk(c)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// tableWriter cuts chunks into row groups of equal height.
type tableWriter struct {
	w     *writer.File
	opt   WriteOptions
	d     int // number of features
	types []writer.Number
	// data is column-major, with RowGroupRows values a column. positions are the global positions of its rows.
	data      []float64
	positions []int64
}

func (t *tableWriter) addChunk(c *stream.Chunk) error {
	if c.Cols != t.d {
		return fmt.Errorf("a chunk has %d columns, not %d", c.Cols, t.d)
	}
	for from := 0; from < c.Rows; {
		at := len(t.positions)
		n := min(c.Rows-from, t.opt.RowGroupRows-at)
		for i := from; i < from+n; i++ {
			t.positions = append(t.positions, c.Position(i))
		}
		for j := range t.d {
			dst := t.bufferOfColumn(j)[at : at+n]
			if c.Sparse == nil {
				copy(dst, c.Col(j)[from:])
			} else {
				clear(dst)
			}
		}
		if s := c.Sparse; s != nil {
			for i := range n {
				for e := s.RowPtr[from+i]; e < s.RowPtr[from+i+1]; e++ {
					t.bufferOfColumn(int(s.Index[e]))[at+i] = s.Value[e]
				}
			}
		}
		from += n
		if len(t.positions) == t.opt.RowGroupRows {
			if err := t.writeRowGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tableWriter) bufferOfColumn(feature int) []float64 {
	h := t.opt.RowGroupRows
	return t.data[feature*h : (feature+1)*h]
}

// encodeWindow is the number of columns open at once. An open column holds one or two pages and its dictionary.
const encodeWindow = 64

func (t *tableWriter) writeRowGroup() error {
	rows := len(t.positions)
	if rows == 0 {
		return nil
	}
	g := t.w.Group(int64(rows))
	total := t.w.Schema.NumColumns()
	for lo := 0; lo < total; lo += encodeWindow {
		chunks, err := g.Columns(min(encodeWindow, total-lo))
		if err != nil {
			return err
		}
		var work errgroup.Group
		work.SetLimit(t.opt.Threads)
		for i, c := range chunks {
			work.Go(func() error { return t.encodeColumn(c, lo+i) })
		}
		if err := work.Wait(); err != nil {
			return err
		}
		if err := g.Place(chunks); err != nil {
			return err
		}
	}
	t.positions = t.positions[:0]
	return g.End()
}

func (t *tableWriter) encodeColumn(chunk *writer.Chunk, feature int) error {
	var err error
	if feature == t.d {
		err = t.opt.writeLabels(chunk, t.positions)
	} else {
		err = t.types[feature].Encode(chunk, t.bufferOfColumn(feature)[:len(t.positions)], math.IsNaN)
	}
	if bad, ok := errors.AsType[*writer.ValueError](err); ok {
		return &stream.DataError{RowGroup: -1, Column: chunk.Descr().Name(), Row: t.positions[bad.Row], Err: err,
			Remedy: stream.Textf("write this column as double and OPTIONAL")}
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", chunk.Descr().Name(), err)
	}
	return chunk.Finish()
}

func (o WriteOptions) writeLabels(chunk *writer.Chunk, positions []int64) error {
	if o.labelValue != nil {
		labels := convert.Each(positions, o.labelValue)
		return writer.NumberOf("double").Encode(chunk, labels, math.IsNaN)
	}
	labels := convert.Each(positions, o.Label)
	return format.Guard(func() error { return writer.Put(chunk, labels, nil, nil) })
}

// VerifyWritten reads back the footer of a finished file, before the file gets its name. [writer.File.FooterBytes]
// counts the memory of this footer.
func VerifyWritten(out *atomicfile.File, rows int64, leaves int) error {
	again, err := out.Reopen()
	if err != nil {
		return err
	}
	size, err := again.Seek(0, io.SeekEnd)
	var f *parquet.File
	if err == nil {
		f, err = parquet.Open(writtenInput{again, size, out.Path()}, math.MaxInt64)
	}
	if err != nil {
		again.Close()
		return &stream.OutputError{Path: out.Path(), Err: fmt.Errorf("the file written cannot be read back: %w", err), Remedy: stream.PlainText("check the disk")}
	}
	defer f.Close()
	found := int64(0)
	for _, n := range f.GroupRows() {
		found += n
	}
	if columns := f.Schema().NumColumns(); found != rows || columns != leaves {
		return &stream.OutputError{Path: out.Path(), Err: fmt.Errorf("the file written reads back as %d rows and %d columns, not %d and %d",
			found, columns, rows, leaves), Remedy: stream.PlainText("check the disk")}
	}
	return nil
}

// writtenInput is a file that has no name yet.
type writtenInput struct {
	atomicfile.Reader
	size int64
	name string
}

func (w writtenInput) Size() int64 { return w.size }

func (w writtenInput) Name() string { return w.name }
