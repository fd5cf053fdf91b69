package parquet_test

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	arrowparquet "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Every value of every type lies within its Bounds, in files of three writers, and the null counts are right. Most
// types have bounds.
func TestBoundsHoldEveryValue(t *testing.T) {
	every := filepath.Join(t.TempDir(), "every.parquet")
	formattest.WriteEveryType(t, every, 1, 700, 300)
	known := map[string]bool{}
	for _, path := range []string{every, fixtures.DatasetPath(t, "messy.parquet")} {
		f := must.Get(parquet.Open(formattest.OpenFile(t, path), 1<<30))(t)
		for l, leaf := range f.Leaves() {
			for g := range f.GroupRows() {
				b := f.Bounds(g, l)
				if b.Min.Known && b.Max.Known {
					known[leaf.Type] = true
				}
				checkBounds(t, f, g, l, leaf, b)
			}
		}
		must.Do(t, f.Close())
	}
	for _, typ := range []string{"bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float", "double", "decimal(10,2)", "string", "date", "timestamp"} {
		if !known[typ] {
			t.Errorf("no bounds of any column of type %s", typ)
		}
	}
}

func checkBounds(t *testing.T, f *parquet.File, g, l int, leaf format.Leaf, b format.Bounds) {
	t.Helper()
	ctx, rows := context.Background(), f.GroupRows()[g]
	group := must.Get(f.Open(ctx, g, []int{l}))(t)
	defer group.Close()
	if b.Rows != rows {
		t.Errorf("%s: %d rows, the group has %d", leaf.Name, b.Rows, rows)
	}
	fail := func(i int, v any) {
		t.Errorf("%s of type %s, group %d, row %d: %v is not within %+v", leaf.Name, leaf.Type, g, i, v, b)
	}
	if leaf.Why == "" {
		dst := make([][]float64, leaf.Width)
		for e := range dst {
			dst[e] = make([]float64, rows)
		}
		must.Do(t, group.Decode(ctx, l, 0, rows, dst))
		nulls := int64(0)
		for _, x := range dst {
			for i, v := range x {
				switch {
				case format.IsNull(v):
					nulls++
				case v == v && (b.Min.Known && v < b.Min.Number || b.Max.Known && v > b.Max.Number):
					fail(i, v)
				}
			}
		}
		if b.Nulls >= 0 && b.Nulls != nulls {
			t.Errorf("%s: %d nulls, not %d", leaf.Name, nulls, b.Nulls)
		}
	}
	if leaf.NoClass != "" {
		return
	}
	decimal := strings.HasPrefix(leaf.Type, "decimal")
	isTime := slices.Contains([]string{"date", "timestamp", "time"}, leaf.Type)
	at := 0
	must.Do(t, group.DecodeTexts(ctx, l, 0, rows, func(ids []int32, values *text.List) error {
		for _, id := range ids {
			at++
			if id < 0 || leaf.Why == "" && !decimal {
				continue
			}
			v := values.Value(int(id))
			switch {
			case decimal: // of one scale: as numbers, exactly where they are short
				if x := b.Min; x.Known && len(v) == len(x.Text) && v[0] != '-' && x.Text[0] != '-' && bytes.Compare(v, x.Text) < 0 {
					fail(at-1, string(v))
				}
			case isTime:
				when, ok := text.ParseInstant(v, leaf.PerSecond)
				if !ok || b.Min.Known && when.Compare(b.Min.Instant) < 0 || b.Max.Known && when.Compare(b.Max.Instant) > 0 {
					fail(at-1, string(v))
				}
			case b.Min.Known && bytes.Compare(v, b.Min.Text) < 0 || b.Max.Known && bytes.Compare(v, b.Max.Text) > 0:
				fail(at-1, string(v))
			}
		}
		return nil
	}))
}

// The deprecated bounds of an unsigned or text column, in the order of signed numbers, are ignored; without column
// orders in the footer all of its bounds are.
func TestBoundsNeedAnOrder(t *testing.T) {
	fields := schema.FieldList{
		must.Get(schema.NewPrimitiveNodeLogical("u", arrowparquet.Repetitions.Required, schema.NewIntLogicalType(32, false), arrowparquet.Types.Int32, 0, -1))(t),
		schema.NewInt32Node("i", arrowparquet.Repetitions.Required, -1),
		must.Get(schema.NewPrimitiveNodeLogical("s", arrowparquet.Repetitions.Required, schema.StringLogicalType{}, arrowparquet.Types.ByteArray, 0, -1))(t),
	}
	file := formattest.WriteFile(t, fields, 1, func(_, c int, w pqfile.ColumnChunkWriter) (err error) {
		switch w := w.(type) {
		case *pqfile.Int32ColumnChunkWriter:
			_, err = w.WriteBatch([]int32{-5, 7}, nil, nil)
		case *pqfile.ByteArrayColumnChunkWriter:
			_, err = w.WriteBatch([]arrowparquet.ByteArray{[]byte("a"), []byte("ž")}, nil, nil)
		}
		return err
	})
	f := must.Get(parquet.Open(formattest.NewMemory(file), 1<<30))(t)
	for l, want := range []struct{ low, high float64 }{{7, 1<<32 - 5}, {-5, 7}} {
		if b := f.Bounds(0, l); !b.Min.Known || b.Min.Number != want.low || b.Max.Number != want.high || b.Nulls != 0 {
			t.Errorf("%s: bounds are %+v, want %v to %v without nulls", f.Leaves()[l].Name, b, want.low, want.high)
		}
	}
	if b := f.Bounds(0, 2); string(b.Min.Text) != "a" || string(b.Max.Text) != "ž" {
		t.Errorf("s: bounds are %+v, want a to ž", b)
	}
	f.DropOrders()
	for l, known := range []bool{false, true, false} {
		f.SetOldBounds(l, true)
		if b := f.Bounds(0, l); b.Min.Known != known || b.Max.Known != known {
			t.Errorf("%s without orders: %+v", f.Leaves()[l].Name, b)
		}
		if f.SetOldBounds(l, false); f.Bounds(0, l).Min.Known {
			t.Errorf("%s: what has no order is believed", f.Leaves()[l].Name)
		}
	}
}
