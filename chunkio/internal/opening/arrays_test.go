package opening

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func zipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	must.Do(t, err)
	must.Do(t, w.Close())
	return b.Bytes()
}

// headed is an array as numpy.save writes it.
func headed(descr string, fortran bool, shape string, data []byte) []byte {
	order := map[bool]string{false: "False", true: "True"}[fortran]
	head := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	return append(append(b, head...), data...)
}

// transposed returns the bytes of an array in Fortran order from its bytes in C order.
func transposed(data []byte, rows, columns, size int) (b []byte) {
	for j := range columns {
		for i := range rows {
			b = append(b, data[(i*columns+j)*size:][:size]...)
		}
	}
	return b
}

// contents are all that a file has: its leaves but for the memory of decoding, and all values as numbers and as texts.
type contents struct {
	leaves []format.Leaf
	groups []int64
	bits   [][]uint64
	texts  [][]string
}

// readContents reads a file. It decodes `each` leaves together, and rows from an odd one on.
func readContents(t *testing.T, path string, each int, label string) (c contents, scratch int64) {
	ctx := context.Background()
	a := NewAccess(settings.Options{Meter: new(stream.Meter), Memory: 1 << 30, Threads: 2, Classes: label != "", Label: label})
	f, _, err := a.OpenEntry(ctx, storage.Entry{Path: path}, 1<<30, nil)
	must.Do(t, err)
	for _, l := range f.Leaves() {
		l.Scratch, l.TextScratch, l.Packed, l.PerRow = 0, 0, 0, 0
		c.leaves = append(c.leaves, l)
	}
	c.groups = f.GroupRows()
	c.bits, c.texts = make([][]uint64, len(c.leaves)), make([][]string, len(c.leaves))
	for g, rows := range c.groups {
		group, err := f.Open(ctx, g, nil)
		must.Do(t, err)
		for _, cut := range [][2]int64{{0, rows / 3}, {rows / 3, rows}} {
			for from := 0; from < len(c.leaves); from += each {
				var all []format.Decoding
				for l := from; l < min(from+each, len(c.leaves)); l++ {
					if c.leaves[l].Width == 0 {
						continue
					}
					all = append(all, format.Decoding{Leaf: l, Dst: [][]float64{make([]float64, cut[1]-cut[0])}})
				}
				format.DecodeAll(ctx, group, all, cut[0], cut[1])
				for _, d := range all {
					must.Do(t, d.Err)
					for _, x := range d.Dst[0] {
						if math.IsNaN(x) && !format.IsNull(x) {
							x = math.NaN() // a dictionary of Parquet has one NaN
						}
						c.bits[d.Leaf] = append(c.bits[d.Leaf], math.Float64bits(x))
					}
				}
			}
			for l := range c.leaves {
				err := group.DecodeTexts(ctx, l, cut[0], cut[1], func(ids []int32, values *text.List) error {
					for _, id := range ids {
						c.texts[l] = append(c.texts[l], string(values.Value(int(id))))
					}
					return nil
				})
				must.Do(t, err)
			}
		}
		group.Close()
	}
	scratch = a.Texts.ScratchBytes()
	must.Do(t, f.Close())
	must.Do(t, a.Close())
	return c, scratch
}

// findDifference describes the first difference from other contents, or returns "".
func (c *contents) findDifference(want contents) string {
	if !slices.Equal(c.groups, want.groups) || len(c.leaves) != len(want.leaves) {
		return fmt.Sprintf("row groups of %d rows and %d columns, want %d and %d", c.groups, len(c.leaves), want.groups, len(want.leaves))
	}
	for l := range c.leaves {
		switch {
		case !reflect.DeepEqual(c.leaves[l], want.leaves[l]):
			return fmt.Sprintf("column %+v, want %+v", c.leaves[l], want.leaves[l])
		case len(c.bits[l]) != len(want.bits[l]) || len(c.texts[l]) != len(want.texts[l]):
			return fmt.Sprintf("column %d has %d numbers and %d texts, want %d and %d", l, len(c.bits[l]), len(c.texts[l]), len(want.bits[l]), len(want.texts[l]))
		}
		for i, x := range c.bits[l] {
			if x != want.bits[l][i] || c.texts[l][i] != want.texts[l][i] {
				return fmt.Sprintf("column %d has %x and %q in row %d, want %x and %q", l, x, c.texts[l][i], i, want.bits[l][i], want.texts[l][i])
			}
		}
	}
	return ""
}

// An array in a plain file is read in place, in both orders and of every type, without a byte of scratch. It has the same
// contents as its compressed copy, which is converted to Parquet.
func TestArraysInPlaceAreTheConvertedOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npy")
	for _, shape := range [][2]int{{70_001, 2}, {40, 700}, {3, 6000}} {
		for _, typ := range long.TakeCases(4, strings.Fields("<f8 >f8 <f4 >f4 <f2 >f2 |i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u2 <u4 >u4 <u8 >u8 |b1")) {
			size := int(typ[2] - '0')
			if shape[1] != 700 && typ != "<f8" && typ != ">i2" {
				continue
			}
			data := make([]byte, shape[0]*shape[1]*size)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			descr, dims := "'"+typ+"'", fmt.Sprintf("(%d, %d)", shape[0], shape[1])
			must.Do(t, os.WriteFile(path+".gz", zipped(t, headed(descr, false, dims, data)), 0o644))
			for _, label := range []string{"", "x[1]"} {
				if label != "" && !strings.ContainsAny(typ, "iu") {
					continue // only whole numbers are other columns as labels
				}
				want, scratch := readContents(t, path+".gz", 1, label)
				if scratch == 0 {
					t.Fatalf("the compressed array of %s was not converted: the test compares nothing", typ)
				}
				for _, fortran := range []bool{false, true} {
					stored := data
					if fortran {
						stored = transposed(data, shape[0], shape[1], size)
					}
					must.Do(t, os.WriteFile(path, headed(descr, fortran, dims, stored), 0o644))
					for _, each := range []int{5, 1000} {
						got, scratch := readContents(t, path, each, label)
						if scratch != 0 {
							t.Errorf("%s in Fortran order %v: %d bytes of scratch, want none", typ, fortran, scratch)
						}
						if fault := got.findDifference(want); fault != "" {
							t.Fatalf("%s of %v in Fortran order %v with label %q, %d columns together, in place and converted: %s", typ, shape, fortran, label, each, fault)
						}
					}
				}
			}
		}
	}
}

// A structured array is read in place unless it has a text.
func TestStructuredArraysInPlace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npy")
	for descr, isConverted := range map[string]bool{
		"[('index', '<i8'), ('__index_level_0__', '<u2'), ('a', '<M8[s]'), ('none', '<i4', (0,)), ('b', '>f4', (2, 2)), ('', '|V3'), ('c', '|b1'), ('d', '<c8')]": false,
		"[('index', '<i8'), ('s', '|S2'), ('b', '<f8'), ('', '|V20')]":                                                                                            true,
	} {
		size := 8 + 2 + 8 + 16 + 3 + 1 + 8
		if isConverted {
			size = 8 + 2 + 8 + 20
		}
		data := make([]byte, 100*size)
		for i := range data {
			data[i] = byte(i*i%97) % 128
		}
		array := headed(descr, false, "(100,)", data)
		must.Do(t, os.WriteFile(path, array, 0o644))
		must.Do(t, os.WriteFile(path+".gz", zipped(t, array), 0o644))
		for _, label := range []string{"", "index"} {
			want, _ := readContents(t, path+".gz", 1, label)
			got, scratch := readContents(t, path, 3, label)
			if (scratch > 0) != isConverted {
				t.Errorf("%s: %d bytes of scratch", descr, scratch)
			}
			if fault := got.findDifference(want); fault != "" {
				t.Errorf("%s with label %q: %s", descr, label, fault)
			}
		}
	}
}

// A file that is too short for its rows is refused when it is opened, with the row in which it ends.
func TestArraysInPlaceThatAreCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	var data []byte
	for i := range 12 {
		data = binary.LittleEndian.AppendUint64(data, uint64(i))
	}
	for _, c := range []struct {
		fortran    bool
		bytes, row int
	}{{false, 95, 3}, {false, 48, 2}, {false, 0, 0}, {true, 95, 3}, {true, 80, 2}, {true, 30, 0}} {
		must.Do(t, os.WriteFile(path, headed("'<f8'", c.fortran, "(4, 3)", data[:c.bytes]), 0o644))
		_, _, err := NewAccess(settings.Options{Memory: 1 << 30}).OpenEntry(context.Background(), storage.Entry{Path: path}, 1<<30, nil)
		if want := fmt.Sprintf("the data end in row %d of the 4", c.row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes in Fortran order %v: %v, want an error with %q", c.bytes, c.fortran, err, want)
		}
	}
}
