package remaining

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	pq "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// testFile is a Parquet file with a column of every type, lists of varying length and maps, in row groups of these
// heights.
func testFile(t *testing.T, heights ...int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "every")
	formattest.WriteEveryType(t, path, 3, heights...)
	b, err := os.ReadFile(path)
	formattest.Must(t, err)
	return b
}

// nestedFile is a Parquet file of lists of varying length and maps, in row groups of these heights.
func nestedFile(t *testing.T, heights ...int) []byte {
	t.Helper()
	none := schema.NoLogicalType{}
	leaf := func(name string, rep pq.Repetition, logical schema.LogicalType, typ pq.Type) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, rep, logical, typ, -1, -1))
	}
	opt, req := pq.Repetitions.Optional, pq.Repetitions.Required
	list, err := schema.ListOfWithName("element", leaf("element", opt, none, pq.Types.Double), opt, -1)
	formattest.Must(t, err)
	byNumber, err := schema.MapOf("byNumber", leaf("key", req, none, pq.Types.Int32), leaf("value", opt, none, pq.Types.Double), opt, -1)
	formattest.Must(t, err)
	byText, err := schema.MapOf("byText", leaf("key", req, schema.StringLogicalType{}, pq.Types.ByteArray), leaf("value", opt, none, pq.Types.Double), opt, -1)
	formattest.Must(t, err)
	return formattest.WriteFile(t, schema.FieldList{list, byNumber, byText}, len(heights), func(g, c int, w pqfile.ColumnChunkWriter) error {
		rng := rand.New(rand.NewPCG(uint64(g), uint64((c+1)/2))) // keys and values of a map have the same lengths
		var def, rep []int16
		var values []int
		for range heights[g] {
			n, null := rng.IntN(5), rng.IntN(6) == 0
			switch {
			case null:
				def, rep = append(def, 0), append(rep, 0)
			case n == 0:
				def, rep = append(def, 1), append(rep, 0)
			}
			for e := range n {
				x := rng.IntN(500)
				if !null {
					values, def, rep = append(values, 1000*e+x), append(def, w.Descr().MaxDefinitionLevel()), append(rep, int16(min(e, 1)))
				}
			}
		}
		var err error
		switch w := w.(type) {
		case *pqfile.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(convert.Each(values, func(x int) int32 { return int32(x) }), def, rep)
		case *pqfile.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(convert.Each(values, func(x int) float64 { return float64(x) / 8 }), def, rep)
		case *pqfile.ByteArrayColumnChunkWriter:
			_, err = w.WriteBatch(convert.Each(values, func(x int) pq.ByteArray { return fmt.Appendf(nil, "key %d", x) }), def, rep)
		}
		return err
	})
}

// patterns are the deleted rows of a file of this many rows.
func patterns(rows int) map[string][]uint64 {
	rng := rand.New(rand.NewPCG(uint64(rows), 7))
	some := func(share float64) (deleted []uint64) {
		for i := range uint64(rows) {
			if rng.Float64() < share {
				deleted = append(deleted, i)
			}
		}
		return deleted
	}
	between := func(from, to int) (deleted []uint64) {
		for i := from; i < min(to, rows); i++ {
			deleted = append(deleted, uint64(i))
		}
		return deleted
	}
	every := func(step int) (deleted []uint64) {
		for i := 0; i < rows; i += step {
			deleted = append(deleted, uint64(i))
		}
		return deleted
	}
	return map[string][]uint64{
		"first": {0}, "last": {uint64(rows - 1)}, "5 %": some(0.05), "half": some(0.5), "95 %": some(0.95), "99.9 %": some(0.999),
		"all": between(0, rows), "a block": between(64, 128), "many blocks": between(100, 9000), "the end": between(rows/2, rows),
		"every second": every(2), "every 64th": every(64), "all but the last": between(0, rows-1), "all but the first": between(1, rows),
	}
}

// openBoth opens a file with all rows, and without the deleted ones.
func openBoth(t *testing.T, file []byte, deleted []uint64) (all *parquet.File, rest *File) {
	t.Helper()
	bitmap, err := roaring64.BitmapOf(deleted...).ToBytes()
	formattest.Must(t, err)
	for _, f := range []**parquet.File{&all, nil} {
		opened, err := parquet.Open(formattest.NewMemory(file), 1<<30)
		formattest.Must(t, err)
		if f != nil {
			*f = opened
			continue
		}
		rest, err = OpenRemaining(opened, bitmap, 1<<30)
		formattest.Must(t, err)
	}
	return all, rest
}

// rowsOf returns, for each row of a group, everything that its leaves decode to as text, decoded in spans of this many
// rows.
func rowsOf(t *testing.T, f format.File, group int, span int64) []string {
	t.Helper()
	ctx := t.Context()
	rows := f.GroupRows()[group]
	lines := make([]string, rows)
	if rows == 0 {
		return lines
	}
	g, err := f.Open(ctx, group, nil)
	formattest.Must(t, err)
	defer g.Close()
	for from := int64(0); from < rows; from += span {
		to := min(from+span, rows)
		var together []format.Decoding
		for l, leaf := range f.Leaves() {
			if leaf.Width > 0 && leaf.Why == "" {
				d := format.Decoding{Leaf: l, Dst: make([][]float64, leaf.Width)}
				for e := range d.Dst {
					if e != 1 { // one element of each list is not needed
						d.Dst[e] = make([]float64, to-from)
					}
				}
				together = append(together, d)
			}
			if leaf.NoClass == "" {
				texts, err := formattest.TextRows(g, l, from, to)
				formattest.Must(t, err)
				for i, text := range texts {
					lines[from+int64(i)] += fmt.Sprintf("|%q", text)
				}
			}
			if !leaf.List && leaf.Type != "map" {
				continue
			}
			var lists [3]format.Lists
			if leaf.Type != "map" || leaf.Entries != "" {
				formattest.Must(t, g.DecodeLists(ctx, l, from, to, &lists[0]))
			}
			switch {
			case leaf.Entries == "":
			case leaf.TextKeys:
				formattest.Must(t, g.(format.TextKeyed).DecodeTextKeys(ctx, l, from, to, func(key []byte) float64 {
					n := 0.0
					for _, c := range key {
						n = 31*n + float64(c)
					}
					return n
				}, &lists[1]))
			default:
				formattest.Must(t, g.DecodeKeys(ctx, l, from, to, &lists[2]))
			}
			for _, decoded := range lists {
				for i := range len(decoded.Ptr) - 1 {
					lines[from+int64(i)] += fmt.Sprintf("|%v%v", decoded.Null[i], decoded.Values[decoded.Ptr[i]:decoded.Ptr[i+1]])
				}
			}
		}
		format.DecodeAll(ctx, g, together, from, to)
		for _, d := range together {
			formattest.Must(t, d.Err)
			alone := make([][]float64, len(d.Dst))
			alone[0] = make([]float64, to-from)
			formattest.Must(t, g.Decode(ctx, d.Leaf, from, to, alone))
			for i := range to - from {
				lines[from+i] += fmt.Sprintf("|%x", math.Float64bits(alone[0][i]))
				for _, column := range d.Dst {
					if column != nil {
						lines[from+i] += fmt.Sprintf(" %x", math.Float64bits(column[i]))
					}
				}
			}
		}
	}
	return lines
}

// TestRemaining: whatever rows are deleted, and in whatever spans the others are decoded, they are the rows of the file
// except those.
func TestRemaining(t *testing.T) {
	for kind, file := range map[string][]byte{"every type": testFile(t, 4500, 1, 300), "nested": nestedFile(t, 900, 40, 300)} {
		all, err := parquet.Open(formattest.NewMemory(file), 1<<30)
		formattest.Must(t, err)
		if kind == "nested" && !slices.ContainsFunc(all.Leaves(), func(l format.Leaf) bool { return l.Entries != "" && l.TextKeys }) {
			t.Fatal("the nested file has no map from texts to numbers")
		}
		var want [][]string
		total := 0
		for g, rows := range all.GroupRows() {
			want = append(want, rowsOf(t, all, g, rows))
			total += int(rows)
		}
		for name, deleted := range patterns(total) {
			all, rest := openBoth(t, file, deleted)
			if rest.FooterDigest() == all.FooterDigest() {
				t.Errorf("%s, %s: the digest is the one of all rows", kind, name)
			}
			start := 0
			for g := range want {
				var kept []string
				for i, line := range want[g] {
					if !slices.Contains(deleted, uint64(start+i)) {
						kept = append(kept, line)
					}
				}
				start += len(want[g])
				if rest.GroupRows()[g] != int64(len(kept)) {
					t.Fatalf("%s, %s: group %d has %d rows, want %d", kind, name, g, rest.GroupRows()[g], len(kept))
				}
				if (rest.GroupBytes(g) == 0) != (len(kept) == 0) {
					t.Errorf("%s, %s: group %d of %d rows has %d bytes to read", kind, name, g, len(kept), rest.GroupBytes(g))
				}
				for _, span := range []int64{1 << 20, 777, 64} {
					if span == 64 && len(kept) > 400 {
						continue
					}
					if got := rowsOf(t, rest, g, span); !slices.Equal(got, kept) {
						t.Fatalf("%s, %s: group %d in spans of %d differs from the rows of the file that are not deleted", kind, name, g, span)
					}
				}
			}
		}
	}
}

// TestRemainingBounds: the bounds of a group contain the remaining values, and a number of nulls is exact or unknown.
func TestRemainingBounds(t *testing.T) {
	file := testFile(t, 400, 300)
	for name, deleted := range patterns(700) {
		all, rest := openBoth(t, file, deleted)
		for l := range rest.Leaves() {
			if n := rest.Leaves()[l].Nulls; n > 0 {
				t.Errorf("%s: leaf %d claims %d nulls", name, l, n)
			}
			for g, rows := range rest.GroupRows() {
				b, whole := rest.Bounds(g, l), all.Bounds(g, l)
				if b.Rows != rows || b.Nulls > 0 && b.Nulls != whole.Nulls && b.Nulls != rows || b.Min.Number != whole.Min.Number || b.Max.Number != whole.Max.Number {
					t.Errorf("%s: bounds of leaf %d in group %d of %d rows are %+v, of all rows %+v", name, l, g, rows, b, whole)
				}
			}
		}
	}
}

// TestPhysicalSkips: the rows to skip among the remaining ones are the same rows of the file, beside the deleted ones.
func TestPhysicalSkips(t *testing.T) {
	file := testFile(t, 1000, 130)
	for name, deleted := range patterns(1130) {
		_, rest := openBoth(t, file, deleted)
		start := 0
		for g, height := range []int{1000, 130} {
			rows := rest.GroupRows()[g]
			skip := make([]uint64, (rows+63)/64)
			for i := range rows {
				if i%3 == 1 {
					skip[i/64] |= 1 << (i % 64)
				}
			}
			for _, given := range [][]uint64{nil, skip} {
				got, kept := rest.PhysicalSkips(g, given), int64(0)
				for row := range height {
					gone := slices.Contains(deleted, uint64(start+row))
					want := gone
					if !gone {
						want = given != nil && kept%3 == 1
						kept++
					}
					if skipped := got != nil && got[row/64]>>(row%64)&1 != 0; skipped != want {
						t.Fatalf("%s: row %d of group %d is skipped: %v, want %v", name, row, g, skipped, want)
					}
				}
			}
			start += height
		}
	}
}

// TestKeepOnly: a file with only some rows is the file without the others, with another digest.
func TestKeepOnly(t *testing.T) {
	file, rows := testFile(t, 100, 1, 70), uint64(171)
	for _, kept := range [][]uint64{nil, {0}, {99, 100, 101}, {170}, {3, 8, 120}} {
		others := roaring64.New()
		others.AddRange(0, rows)
		others.AndNot(roaring64.BitmapOf(kept...))
		_, want := openBoth(t, file, others.ToArray())
		set := KeepOnly(parsed(t, roaring64.BitmapOf(append(kept, 5, 9)...)), parsed(t, withoutRows(roaring64.BitmapOf(5, 9, 11), kept...)))
		f, err := parquet.Open(formattest.NewMemory(file), 1<<30)
		formattest.Must(t, err)
		got, err := OpenRemaining(f, set, 1<<30)
		formattest.Must(t, err)
		if got.FooterDigest() == want.FooterDigest() || got.FooterDigest() == f.FooterDigest() {
			t.Errorf("rows %v: the digest is that of the rows without others", kept)
		}
		for g := range want.GroupRows() {
			if a, b := rowsOf(t, got, g, 64), rowsOf(t, want, g, 64); !slices.Equal(a, b) {
				t.Errorf("rows %v, group %d: got %v, want %v", kept, g, a, b)
			}
		}
	}
	f, err := parquet.Open(formattest.NewMemory(file), 1<<30)
	formattest.Must(t, err)
	for _, set := range [][]byte{
		KeepOnly(parsed(t, roaring64.BitmapOf(rows)), Bitmap{}), KeepOnly(Bitmap{}, parsed(t, roaring64.BitmapOf(rows))),
		append(KeepOnly(Bitmap{}, Bitmap{}), 1), append(KeepOnly(Bitmap{}, parsed(t, roaring64.BitmapOf(1))), 1),
	} {
		if _, err := OpenRemaining(f, set, 1<<30); !errors.As(err, new(*stream.DataError)) {
			t.Errorf("a row beyond the file, or data after the bitmaps: %v, want a DataError", err)
		}
	}
}

// TestDamagedBitmaps: a bitmap that is damaged, has rows that the file lacks, or takes too much memory is refused.
func TestDamagedBitmaps(t *testing.T) {
	file := testFile(t, 100)
	good, err := roaring64.BitmapOf(3, 50).ToBytes()
	formattest.Must(t, err)
	beyond, err := roaring64.BitmapOf(3, 100).ToBytes()
	formattest.Must(t, err)
	huge := slices.Clone(good)
	huge[7] = 0xFF // the number of buckets
	for name, bitmap := range map[string][]byte{"cut": good[:len(good)-1], "longer": append(slices.Clone(good), 0), "empty": {}, "rows beyond": beyond, "buckets": huge} {
		f, err := parquet.Open(formattest.NewMemory(file), 1<<30)
		formattest.Must(t, err)
		if _, err := OpenRemaining(f, bitmap, 1<<30); !errors.As(err, new(*stream.DataError)) {
			t.Errorf("%s: %v, want a DataError", name, err)
		}
	}
	f, err := parquet.Open(formattest.NewMemory(file), 1<<30)
	formattest.Must(t, err)
	if _, err := OpenRemaining(f, good, 10); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("with 10 bytes of memory: %v, want a MemoryError", err)
	}
}

// countedInput counts the bytes that are read of a file.
type countedInput struct {
	format.Input
	bytes int64
}

func (c *countedInput) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += int64(len(p))
	return c.Input.ReadAt(p, at)
}

// TestPagesAreReadOnce: a page that is longer than the pieces in which rows are moved is read once, and the rows of all
// pieces are right.
func TestPagesAreReadOnce(t *testing.T) {
	const rows = 5*maxPieceValues + 3
	number := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("x", pq.Repetitions.Required, schema.NoLogicalType{}, pq.Types.Double, -1, -1))
	file := formattest.WriteFile(t, schema.FieldList{number}, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		values := make([]float64, rows)
		for i := range values {
			values[i] = math.Sqrt(float64(i))
		}
		_, err := w.(*pqfile.Float64ColumnChunkWriter).WriteBatch(values, nil, nil)
		return err
	})
	in := &countedInput{Input: formattest.NewMemory(file)}
	all, err := parquet.Open(in, 1<<30)
	formattest.Must(t, err)
	deleted := roaring64.New()
	var want []float64
	for i := range rows {
		if i%20 == 3 || i > 2*maxPieceValues && i < 3*maxPieceValues+7 {
			deleted.Add(uint64(i)) //nolint:gosec // not negative
		} else {
			want = append(want, math.Sqrt(float64(i)))
		}
	}
	bitmap, err := deleted.ToBytes()
	formattest.Must(t, err)
	rest, err := OpenRemaining(all, bitmap, 1<<30)
	formattest.Must(t, err)
	defer rest.Close()
	g, err := rest.Open(t.Context(), 0, nil)
	formattest.Must(t, err)
	defer g.Close()
	got := make([]float64, len(want))
	in.bytes = 0
	formattest.Must(t, g.Decode(t.Context(), 0, 0, int64(len(want)), [][]float64{got}))
	if !slices.Equal(got, want) {
		t.Error("the remaining rows have other values")
	}
	if size := int64(len(file)); in.bytes > size {
		t.Errorf("%d bytes are read of a file of %d", in.bytes, size)
	}
}
