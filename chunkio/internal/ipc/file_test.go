package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// Every type, nullable and not, in batches of edge sizes and as slices, compressed and
// not, as file and as stream, whole and by any range of rows, equals the library's own reading.
func TestEveryType(t *testing.T) {
	types, _ := numericTypes()
	for name, opts := range compressions {
		for _, nulls := range []float64{0, 0.3} {
			rng := rand.New(rand.NewPCG(1, 2))
			var records []arrow.Record
			for _, rows := range []int{5, 0, 1, 8, tileValues + 9, 100} {
				records = append(records, randomRecord(rng, nulls, rows+7, types...).NewSlice(3, int64(rows+3)))
			}
			// A dictionary may be replaced in streams only, and v15 writes one for each batch.
			t.Run(fmt.Sprintf("%s/nulls=%v/stream", name, nulls), func(t *testing.T) {
				check(t, formattest.WriteArrow(t, true, records, opts...), true, records, rng)
			})
			t.Run(fmt.Sprintf("%s/nulls=%v/file", name, nulls), func(t *testing.T) {
				for i := range records {
					check(t, formattest.WriteArrow(t, false, records[i:i+1], opts...), false, records[i:i+1], rng)
				}
			})
		}
	}
}

func check(t *testing.T, b []byte, stream bool, records []arrow.Record, rng *rand.Rand) {
	t.Helper()
	types, names := numericTypes()
	empty := !slices.ContainsFunc(records, func(r arrow.Record) bool { return r.NumRows() > 0 })
	batches := 0
	readGroups(t, b, stream, func(leaves []format.Leaf, i int, g format.Group, rows int64) {
		batches++
		rec := records[i]
		if rows != rec.NumRows() || len(leaves) != len(types) {
			t.Fatalf("batch %d: %d rows, %d leaves", i, rows, len(leaves))
		}
		for l, leaf := range leaves {
			col := rec.Column(l)
			list := leaf.Type[:4] == "list"
			if leaf.Name != rec.ColumnName(l) || leaf.Type != names[l] || leaf.List != list {
				t.Errorf("leaf %d is %+v, want type %s", l, leaf, names[l])
			}
			if list && (empty || rows > 0 && leaf.Width == 0 && allNull(col)) {
				continue
			}
			if !stream && leaf.Nulls >= 0 && !list {
				n := int64(0)
				for r := range int(rows) {
					if format.IsNull(libraryValue(col, r)) {
						n++
					}
				}
				if n != leaf.Nulls {
					t.Errorf("%s: %d nulls promised, %d there", leaf.Type, leaf.Nulls, n)
				}
			}
			dst := mustDecode(t, g, leaf, l, 0, rows)
			for r := range int(rows) {
				for e, want := range libraryRow(col, r, leaf.Width) {
					if !formattest.SameBits(dst[e][r], want) {
						t.Fatalf("leaf %d (%v), batch %d, row %d[%d]: %v (%x), want %v", l, types[l], i, r, e, dst[e][r], math.Float64bits(dst[e][r]), want)
					}
				}
			}
			for range 4 {
				from := rng.Int64N(rows + 1)
				to := from + rng.Int64N(rows-from+1)
				for e, part := range mustDecode(t, g, leaf, l, from, to) {
					if !slices.EqualFunc(part, dst[e][from:to], formattest.SameBits) {
						t.Fatalf("leaf %d, element %d, rows [%d,%d) differ from the whole", l, e, from, to)
					}
				}
			}
			if !list {
				continue
			}
			var got format.Lists
			formattest.Must(t, g.DecodeLists(context.Background(), l, 0, rows, &got))
			for r := range int(rows) {
				want := libraryRow(col, r, leaf.Width)
				if col.IsNull(r) {
					want = nil
				}
				if row := got.Values[got.Ptr[r]:got.Ptr[r+1]]; col.IsNull(r) != got.Null[r] || !slices.EqualFunc(row, want, formattest.SameBits) {
					t.Fatalf("list %d row %d: %v, null %v, want %v", l, r, row, got.Null[r], want)
				}
			}
		}
	})
	if batches != len(records) {
		t.Errorf("%d batches, want %d", batches, len(records))
	}
}

func allNull(a arrow.Array) bool { return a.NullN() == a.Len() }

// Arrow JS writes -1 as the number of nulls of slices, if it has not counted them, with a validity bitmap or without:
// the values stay the same.
func TestUnknownNulls(t *testing.T) {
	const rows = 1013 // as no buffer's length is, so that bytes of it mark the arrays
	types, _ := numericTypes()
	for _, isStream := range []bool{false, true} {
		for _, nulls := range []float64{0, 0.3} {
			rec := randomRecord(rand.New(rand.NewPCG(3, 4)), nulls, rows, types...)
			whole := formattest.WriteArrow(t, isStream, []arrow.Record{rec})
			var want [][][]float64
			readGroups(t, whole, isStream, func(leaves []format.Leaf, _ int, g format.Group, _ int64) {
				for i, l := range leaves {
					want = append(want, mustDecode(t, g, l, i, 0, rows))
				}
			})
			unknown, n := uncount(whole, rec.Columns())
			if n < len(types) {
				t.Fatalf("%d arrays of %d columns found", n, len(types))
			}
			readGroups(t, unknown, isStream, func(leaves []format.Leaf, _ int, g format.Group, _ int64) {
				for i, l := range leaves {
					if !sameRows(mustDecode(t, g, l, i, 0, rows), want[i]) {
						t.Errorf("stream=%v nulls=%v: %s differs", isStream, nulls, l.Type)
					}
					if l.Nulls > 0 || l.Nulls == 0 && !isStream {
						t.Errorf("%s promises %d nulls", l.Type, l.Nulls)
					}
				}
			})
		}
	}
}

// uncount sets the number of nulls to -1 in the metadata of the columns' arrays.
func uncount(b []byte, cols []arrow.Array) (_ []byte, n int) {
	b = bytes.Clone(b)
	node := make([]byte, 16)
	for _, a := range cols {
		binary.LittleEndian.PutUint64(node, uint64(a.Len()))
		binary.LittleEndian.PutUint64(node[8:], uint64(a.NullN()))
		for at := bytes.Index(b, node); at >= 0; at = bytes.Index(b, node) {
			copy(b[at+8:], []byte{255, 255, 255, 255, 255, 255, 255, 255})
			n++
		}
	}
	return b, n
}
