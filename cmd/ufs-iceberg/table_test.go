package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// lakeFS is the file system that tests write tables with. What lies at root for the table's
// metadata is in a folder of this disk: the bucket of a server of objects, or the same folder.
type lakeFS struct {
	icebergio.LocalFS
	root, dir string
}

func (l lakeFS) local(name string) string {
	if rest, ok := strings.CutPrefix(name, l.root); ok {
		return filepath.Join(l.dir, rest)
	}
	return name
}

func (l lakeFS) Open(name string) (icebergio.File, error) { return l.LocalFS.Open(l.local(name)) }
func (l lakeFS) ReadFile(name string) ([]byte, error)     { return l.LocalFS.ReadFile(l.local(name)) }
func (l lakeFS) Create(name string) (icebergio.FileWriter, error) {
	return l.LocalFS.Create(l.local(name))
}
func (l lakeFS) WriteFile(name string, b []byte) error { return l.LocalFS.WriteFile(l.local(name), b) }
func (l lakeFS) Remove(name string) error              { return l.LocalFS.Remove(l.local(name)) }

// shelf is a catalog of one table: it writes its metadata as Hadoop's catalog does.
type shelf struct {
	t       *testing.T
	fs      lakeFS
	current *table.Table
	version int
}

// newShelf makes an empty table at a location, which lies in dir.
func newShelf(t *testing.T, location, dir string, schema *iceberg.Schema, spec *iceberg.PartitionSpec, props iceberg.Properties) *shelf {
	t.Helper()
	s := &shelf{t: t, fs: lakeFS{root: location, dir: dir}}
	meta := must.Get(table.NewMetadata(schema, spec, table.UnsortedSortOrder, location, props))(t)
	must.Do(t, s.put(meta))
	return s
}

// local is a shelf in a folder of its own.
func local(t *testing.T, schema *iceberg.Schema, spec *iceberg.PartitionSpec, props iceberg.Properties) *shelf {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "t")
	return newShelf(t, dir, dir, schema, spec, props)
}

func (s *shelf) put(meta table.Metadata) error {
	s.version++
	at := fmt.Sprintf("%s/metadata/v%d.metadata.json", meta.Location(), s.version)
	b, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	if err := s.fs.WriteFile(at, b); err != nil {
		return err
	}
	s.current = table.New(table.Identifier{"db", "t"}, meta, at, func(context.Context) (icebergio.IO, error) { return s.fs, nil }, s)
	return s.fs.WriteFile(meta.Location()+"/metadata/version-hint.text", []byte(fmt.Sprint(s.version)))
}

// LoadTable implements table.CatalogIO.
func (s *shelf) LoadTable(context.Context, table.Identifier) (*table.Table, error) {
	return s.current, nil
}

// CommitTable implements table.CatalogIO.
func (s *shelf) CommitTable(_ context.Context, _ table.Identifier, reqs []table.Requirement, updates []table.Update) (table.Metadata, string, error) {
	for _, r := range reqs {
		if err := r.Validate(s.current.Metadata()); err != nil {
			return nil, "", err
		}
	}
	meta, err := table.UpdateTableMetadata(s.current.Metadata(), updates, s.current.MetadataLocation())
	if err != nil {
		return nil, "", err
	}
	err = s.put(meta)
	return s.current.Metadata(), s.current.MetadataLocation(), err
}

// append writes rows as one append and returns the ID of its snapshot.
func (s *shelf) append(rows []row) int64 {
	s.t.Helper()
	must.Get(s.current.Append(s.t.Context(), s.reader(rows), nil))(s.t)
	return s.snapshot()
}

// reader has the rows as Arrow's records, under the table's present schema.
func (s *shelf) reader(rows []row) array.RecordReader {
	s.t.Helper()
	schema := must.Get(table.SchemaToArrowSchema(s.current.Schema(), nil, true, false))(s.t)
	return must.Get(array.NewRecordReader(schema, []arrow.RecordBatch{record(schema, rows)}))(s.t)
}

func (s *shelf) snapshot() int64 { return s.current.CurrentSnapshot().SnapshotID }

// change runs a transaction.
func (s *shelf) change(work func(tx *table.Transaction) error) {
	s.t.Helper()
	tx := s.current.NewTransaction()
	must.Do(s.t, work(tx))
	must.Get(tx.Commit(s.t.Context()))(s.t)
}

// row is a row by the names of its columns; a name that is not there is a null.
type row map[string]any

// record makes a record of rows.
func record(schema *arrow.Schema, rows []row) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, f := range schema.Fields() {
		for _, r := range rows {
			appendValue(b.Field(i), f.Type, r[f.Name])
		}
	}
	return b.NewRecordBatch()
}

func appendValue(b array.Builder, t arrow.DataType, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.LargeStringBuilder:
		b.Append(v.(string))
	case *array.Date32Builder:
		b.Append(arrow.Date32FromTime(v.(time.Time)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(time.Time).UnixMicro()))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(time.Time).Sub(v.(time.Time).Truncate(24 * time.Hour)).Microseconds()))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		b.Append(v.([]byte))
	case *extensions.UUIDBuilder:
		b.AppendBytes([16]byte(v.([]byte)))
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range t.(*arrow.StructType).Fields() {
			appendValue(b.FieldBuilder(i), f.Type, v.(row)[f.Name])
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, x := range v.([]any) {
			appendValue(b.ValueBuilder(), t.(*arrow.ListType).Elem(), x)
		}
	case *array.Decimal128Builder:
		scale := math.Pow10(int(t.(arrow.DecimalType).GetScale()))
		b.Append(decimal128.FromI64(int64(math.Round(v.(float64) * scale))))
	default:
		panic(fmt.Sprintf("no rows of type %v", t))
	}
}

// events is a schema with a column of every type that conditions can prune by, and features.
func events() *iceberg.Schema {
	p := iceberg.PrimitiveTypes
	f := func(id int, name string, t iceberg.Type) iceberg.NestedField {
		return iceberg.NestedField{ID: id, Name: name, Type: t}
	}
	return iceberg.NewSchema(0,
		f(1, "id", p.Int64), f(2, "qty", p.Int32), f(3, "score", p.Float64), f(4, "narrow", p.Float32), f(5, "ok", p.Bool), f(6, "site", p.String),
		f(7, "day", p.Date), f(8, "at", p.Timestamp), f(9, "utc", p.TimestampTz), f(10, "price", iceberg.DecimalTypeOf(9, 2)),
		f(11, "x0", p.Float64), f(12, "x1", p.Float64), f(13, "x2", p.Float64), f(14, "x3", p.Float64), f(15, "x4", p.Float64),
	)
}

// someEvents are random rows; those of one call lie near each other, as in a lake, so that
// files can be left out.
func someEvents(rng *rand.Rand, n int) []row {
	rows := make([]row, n)
	center, sites := rng.Int64N(40), []string{"a", "b", "c", "köln", "zürich", ""}
	site := rng.IntN(len(sites))
	for i := range rows {
		near := center + rng.Int64N(5)
		x := rng.NormFloat64()
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(near) * 6 * time.Hour).Add(time.Duration(rng.IntN(3)) * time.Microsecond)
		r := row{
			"id": 1000*center + int64(i), "qty": near - 20, "score": float64(near)/10 - 2, "narrow": float64(float32(near) / 10), "ok": center%2 == 0,
			"site": sites[(site+rng.IntN(2))%len(sites)], "day": at.Truncate(24 * time.Hour), "at": at, "utc": at, "price": float64(near)/100 - 0.2,
			"x0": x, "x1": 2*x + 0.1*rng.NormFloat64(), "x2": rng.NormFloat64(), "x3": rng.NormFloat64() * float64(1+near), "x4": rng.Float64(),
		}
		for _, name := range []string{"qty", "score", "ok", "site", "day", "at", "utc", "price"} {
			if rng.IntN(12) == 0 {
				delete(r, name)
			}
		}
		if rng.IntN(15) == 0 {
			r["score"] = math.NaN()
		}
		rows[i] = r
	}
	return rows
}

// planOf runs the program and returns its exit code and what it said.
func planOf(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var errw strings.Builder
	code = run(t.Context(), args, strings.NewReader(""), &errw, &errw)
	return code, errw.String()
}

// mustPlan makes a plan of a table and returns its path.
func mustPlan(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "t.plan.json")
	if code, said := planOf(t, append(args, "-o", out)...); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, said)
	}
	return out
}

// refused wants the program to end with a code, to say all of the texts and to leave no file.
func refused(t *testing.T, code int, args []string, texts ...string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "t.plan.json")
	got, said := planOf(t, append(args, "-o", out)...)
	if got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, said)
	}
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("%v says %q\nwithout %q", args, said, text)
		}
	}
	if entries := must.Get(os.ReadDir(filepath.Dir(out)))(t); len(entries) > 0 {
		t.Errorf("%v left %v", args, entries)
	}
}
