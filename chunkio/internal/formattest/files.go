// Package formattest provides test files of every type, and simple functions to read them, for the tests of chunkio and
// of its readers.
package formattest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// Dump contains the contents of a Parquet file, by leaf column. The contents are read with v15's own file reader and
// formatted as text that preserves every bit.
type Dump struct {
	Meta   *metadata.FileMetaData
	Root   *schema.GroupNode
	Groups []int64
	Leaves []Leaf
}

// Leaf is a leaf column of a test file.
type Leaf struct {
	Path     string
	Top      string // the enclosing top-level field
	Node     *schema.PrimitiveNode
	max      int16
	Def, Rep []int16
	Values   []string // all values that are not null
}

// FindLeaf returns the leaf with this dotted path, or nil.
func (d *Dump) FindLeaf(path string) *Leaf {
	for i := range d.Leaves {
		if d.Leaves[i].Path == path {
			return &d.Leaves[i]
		}
	}
	return nil
}

// RowTexts returns the values of a flat column. A value is "null" if it or an enclosing group is null.
func (l *Leaf) RowTexts() []string {
	if l.max == 0 {
		return l.Values
	}
	rows := make([]string, len(l.Def))
	next := 0
	for i, d := range l.Def {
		rows[i] = "null"
		if d == l.max {
			rows[i] = l.Values[next]
			next++
		}
	}
	return rows
}

// RowNumbers returns the values of a flat column of numbers, with NaN for null.
func (l *Leaf) RowNumbers(t *testing.T) []float64 {
	t.Helper()
	var numbers []float64
	unsigned, _ := l.Node.LogicalType().(*schema.IntLogicalType)
	for _, row := range l.RowTexts() {
		word, bits, _ := strings.Cut(row, " ")
		x := map[string]float64{"null": math.NaN(), "true": 1, "false": 0}[word]
		if n, err := strconv.ParseUint(bits, 16, 64); err == nil && len(bits) == 16 {
			x = math.Float64frombits(n)
		} else if err == nil {
			x = float64(math.Float32frombits(uint32(n)))
		} else if n, err := strconv.ParseInt(word, 10, 64); err == nil && unsigned != nil && !unsigned.IsSigned() {
			x = float64(uint32(n))
		} else if err == nil {
			x = float64(n)
		}
		numbers = append(numbers, x)
	}
	return numbers
}

// ElementTexts returns one element of every row of a list column, or "null" if the list of the row is too short.
func (l *Leaf) ElementTexts(e int) []string {
	var rows []string
	next, at := 0, 0
	for i, d := range l.Def {
		if l.Rep[i] == 0 {
			rows = append(rows, "null")
			at = 0
		} else {
			at++
		}
		if d == l.max {
			if at == e {
				rows[len(rows)-1] = l.Values[next]
			}
			next++
		}
	}
	return rows
}

// ReadDump reads the columns of a file whose paths are in the list only, or all columns if this list is empty.
func ReadDump(t *testing.T, path string, only ...string) *Dump {
	t.Helper()
	f, err := os.Open(path)
	Must(t, err)
	defer f.Close()
	return ReadFrom(t, f, only...)
}

// ReadFrom reads the columns of an open file or of a file in memory whose paths are in the list only, or all columns if
// this list is empty.
func ReadFrom(t *testing.T, file parquet.ReaderAtSeeker, only ...string) *Dump {
	t.Helper()
	r, err := pqfile.NewParquetReader(file)
	Must(t, err)
	s := r.MetaData().Schema
	d := &Dump{Meta: r.MetaData(), Root: s.Root()}
	for i := range s.NumColumns() {
		c := s.Column(i)
		d.Leaves = append(d.Leaves, Leaf{Path: c.Path(), Top: c.ColumnPath()[0], Node: c.SchemaNode().(*schema.PrimitiveNode), max: c.MaxDefinitionLevel()})
	}
	for g := range r.NumRowGroups() {
		d.Groups = append(d.Groups, r.RowGroup(g).NumRows())
		for i := range d.Leaves {
			if len(only) > 0 && !slices.Contains(only, d.Leaves[i].Path) {
				continue
			}
			cr, err := r.RowGroup(g).Column(i)
			Must(t, err)
			Must(t, ReadChunk(cr, &d.Leaves[i]))
		}
	}
	return d
}

// ReadChunk appends the contents of a column chunk to a leaf.
func ReadChunk(r pqfile.ColumnChunkReader, to *Leaf) error {
	switch r := r.(type) {
	case *pqfile.BooleanColumnChunkReader:
		return readValues(r, to, func(v bool) string { return fmt.Sprint(v) })
	case *pqfile.Int32ColumnChunkReader:
		return readValues(r, to, func(v int32) string { return fmt.Sprint(v) })
	case *pqfile.Int64ColumnChunkReader:
		return readValues(r, to, func(v int64) string { return fmt.Sprint(v) })
	case *pqfile.Int96ColumnChunkReader:
		return readValues(r, to, func(v parquet.Int96) string { return fmt.Sprintf("%x", v[:]) })
	case *pqfile.Float32ColumnChunkReader:
		return readValues(r, to, func(v float32) string { return fmt.Sprintf("%v %08x", v, math.Float32bits(v)) })
	case *pqfile.Float64ColumnChunkReader:
		return readValues(r, to, func(v float64) string { return fmt.Sprintf("%v %016x", v, math.Float64bits(v)) })
	case *pqfile.ByteArrayColumnChunkReader:
		return readValues(r, to, func(v parquet.ByteArray) string { return fmt.Sprintf("%q", []byte(v)) })
	case *pqfile.FixedLenByteArrayColumnChunkReader:
		return readValues(r, to, func(v parquet.FixedLenByteArray) string { return fmt.Sprintf("%x", []byte(v)) })
	}
	return fmt.Errorf("unexpected column type %v", r.Type())
}

func readValues[T any](r interface {
	Err() error
	ReadBatch(n int64, values []T, def, rep []int16) (levels int64, read int, err error)
}, to *Leaf, text func(T) string) error {
	const batch = 64 // smaller than any page, because byte arrays are only valid until the next page
	values, def, rep := make([]T, batch), make([]int16, batch), make([]int16, batch)
	for {
		n, read, err := r.ReadBatch(batch, values, def, rep)
		if err == nil {
			err = r.Err()
		}
		if err != nil || n == 0 {
			return err
		}
		for _, v := range values[:read] {
			to.Values = append(to.Values, text(v))
		}
		to.Def = append(to.Def, def[:n]...)
		to.Rep = append(to.Rep, rep[:n]...)
	}
}

// WriteEveryType writes a Parquet file with a column of every physical type, both OPTIONAL with nulls and REQUIRED, and
// with a list and a struct. Its row groups have the given numbers of rows. The values depend on salt.
func WriteEveryType(t *testing.T, path string, salt int, groups ...int) {
	t.Helper()
	node := func(name string, rep parquet.Repetition, logical schema.LogicalType, physical parquet.Type, size int) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, rep, logical, physical, size, -1))
	}
	opt, req := parquet.Repetitions.Optional, parquet.Repetitions.Required
	none := schema.NoLogicalType{}
	var fields schema.FieldList
	for _, rep := range []parquet.Repetition{opt, req} {
		p := "o_"
		if rep == req {
			p = "r_"
		}
		fields = append(fields,
			node(p+"bool", rep, none, parquet.Types.Boolean, -1),
			node(p+"u8", rep, schema.NewIntLogicalType(8, false), parquet.Types.Int32, -1),
			node(p+"u64", rep, schema.NewIntLogicalType(64, false), parquet.Types.Int64, -1),
			node(p+"i96", rep, none, parquet.Types.Int96, -1),
			node(p+"float", rep, none, parquet.Types.Float, -1),
			node(p+"double", rep, none, parquet.Types.Double, -1),
			node(p+"text", rep, schema.StringLogicalType{}, parquet.Types.ByteArray, -1),
			node(p+"decimal", rep, schema.NewDecimalLogicalType(20, 3), parquet.Types.FixedLenByteArray, 9),
			node(p+"half", rep, schema.Float16LogicalType{}, parquet.Types.FixedLenByteArray, 2),
			node(p+"ts", rep, schema.NewTimestampLogicalType(true, schema.TimeUnitNanos), parquet.Types.Int64, -1),
			node(p+"day", rep, schema.DateLogicalType{}, parquet.Types.Int32, -1))
	}
	list, err := schema.ListOfWithName("emb", node("element", opt, none, parquet.Types.Float, -1), opt, -1)
	Must(t, err)
	geo, err := schema.NewGroupNode("geo", opt, schema.FieldList{
		node("lat", opt, none, parquet.Types.Double, -1), node("name", req, schema.StringLogicalType{}, parquet.Types.ByteArray, -1),
	}, -1)
	Must(t, err)
	fields = append(fields, list, geo)
	file := WriteFile(t, fields, len(groups), func(g, _ int, w pqfile.ColumnChunkWriter) error {
		from := salt
		for _, rows := range groups[:g] {
			from += rows
		}
		return writeTestColumn(w, from, groups[g])
	})
	Must(t, os.WriteFile(path, file, 0o600))
}

// WriteFile writes a Parquet file with arrow's writer; put writes column c of group g.
func WriteFile(t testing.TB, fields schema.FieldList, groups int, put func(g, c int, w pqfile.ColumnChunkWriter) error, props ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	w := pqfile.NewParquetWriter(&out, root, pqfile.WithWriterProps(parquet.NewWriterProperties(props...)))
	for g := range groups {
		rg := w.AppendRowGroup()
		for c := range w.NumColumns() {
			column, err := rg.NextColumn()
			if err == nil {
				err = put(g, c, column)
			}
			if err == nil {
				err = column.Close()
			}
			Must(t, err)
		}
		Must(t, rg.Close())
	}
	Must(t, w.Close())
	return out.Bytes()
}

// writeTestColumn writes `rows` rows, whose values depend only on their position. Lists have three elements; every
// fifth row is null if the column may be null.
func writeTestColumn(w pqfile.ColumnChunkWriter, from, rows int) (err error) {
	d := w.Descr()
	var def, rep []int16
	var at []int
	each := 1
	if d.MaxRepetitionLevel() > 0 {
		each = 3
	}
	for i := from; i < from+rows; i++ {
		for e := range each {
			level := d.MaxDefinitionLevel()
			if level > 0 && i%5 == 2 {
				level = int16(i/5) % level // null at one of the levels
				if each > 1 && level < 2 {
					level = 2 // a null element, so that all lists have the same length
				}
			}
			def = append(def, level)
			rep = append(rep, int16(min(e, 1)))
			if level == d.MaxDefinitionLevel() {
				at = append(at, each*i+e)
			}
		}
	}
	if d.MaxDefinitionLevel() == 0 {
		def = nil
	}
	if d.MaxRepetitionLevel() == 0 {
		rep = nil
	}
	switch w := w.(type) {
	case *pqfile.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) bool { return i%3 == 0 }), def, rep)
	case *pqfile.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) int32 { return int32(i * i % 251) }), def, rep)
	case *pqfile.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) int64 { return int64(i) * 0x7E3779B97F4A7C15 }), def, rep)
	case *pqfile.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) parquet.Int96 { return parquet.Int96{byte(i), 2, byte(i >> 8)} }), def, rep)
	case *pqfile.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) float32 {
			if i%7 == 0 {
				return math.Float32frombits(0x7FC00000 | uint32(i)) // a NaN with a payload
			}
			return float32(i) * 0.37
		}), def, rep)
	case *pqfile.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) float64 {
			special := []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.Float64frombits(0xFFF8_0000_0000_0000 | uint64(i)), 5e-324}
			if i%11 < len(special) {
				return special[i%11]
			}
			return float64(i) * 0.1
		}), def, rep)
	case *pqfile.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) parquet.ByteArray {
			if i%6 == 0 {
				return parquet.ByteArray{}
			}
			return parquet.ByteArray(fmt.Sprintf("ключ %d \x00", i%97))
		}), def, rep)
	case *pqfile.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(convert.Each(at, func(i int) parquet.FixedLenByteArray {
			b := make([]byte, d.TypeLength())
			b[0], b[len(b)-1] = byte(i), byte(i>>8)
			return b
		}), def, rep)
	default:
		err = fmt.Errorf("no test writes %T", w)
	}
	return err
}

// WriteArrow writes records with the same schema as an Arrow IPC stream or file. Without records, opts must contain the
// schema.
func WriteArrow(t testing.TB, stream bool, records []arrow.Record, opts ...ipc.Option) []byte {
	t.Helper()
	if len(records) > 0 {
		opts = append(opts, ipc.WithSchema(records[0].Schema()))
	}
	var b bytes.Buffer
	var w interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(&b, opts...)
	if !stream {
		var err error
		w, err = ipc.NewFileWriter(&seekBuffer{&b}, opts...)
		Must(t, err)
	}
	for _, r := range records {
		Must(t, w.Write(r))
	}
	Must(t, w.Close())
	return b.Bytes()
}

// seekBuffer is a WriteSeeker for NewFileWriter, which uses Seek only to get the position.
type seekBuffer struct{ *bytes.Buffer }

func (b *seekBuffer) Seek(int64, int) (int64, error) { return int64(b.Len()), nil }
