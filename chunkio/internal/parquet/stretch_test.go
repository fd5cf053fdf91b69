package parquet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// decodings are destinations for rows [from, to) of leaves.
func decodings(f *File, leaves []int, from, to int64) (all []format.Decoding) {
	for _, l := range leaves {
		d := format.Decoding{Leaf: l, Dst: make([][]float64, f.leaves[l].Width)}
		for e := range d.Dst {
			d.Dst[e] = make([]float64, to-from)
		}
		all = append(all, d)
	}
	return all
}

// decodesAlike compares DecodeAll to one Decode after the other: values, and errors.
func decodesAlike(t *testing.T, f *File, g int, leaves []int, from, to int64) (faults int) {
	t.Helper()
	group, err := f.Open(t.Context(), g, leaves)
	formattest.Must(t, err)
	defer group.Close()
	got, want := decodings(f, leaves, from, to), decodings(f, leaves, from, to)
	group.(format.Batched).DecodeAll(t.Context(), got, from, to)
	for i, l := range leaves {
		err := group.Decode(t.Context(), l, from, to, want[i].Dst)
		if fmt.Sprint(got[i].Err) != fmt.Sprint(err) {
			t.Fatalf("%s: %v, alone %v", f.leaves[l].Name, got[i].Err, err)
		}
		if err != nil {
			faults++
			continue
		}
		for e := range want[i].Dst {
			if !equalBits(got[i].Dst[e], want[i].Dst[e]) {
				t.Fatalf("%s, element %d, rows %d to %d: together it is decoded otherwise", f.leaves[l].Name, e, from, to)
			}
		}
	}
	return faults
}

// Leaves in any order, any rows, of a file that is whole, damaged or cut off while it is open: decoding them together
// gives the same as decoding them alone.
func TestDecodeAll(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	faults := 0
	for _, file := range varietyFiles(t, 2) {
		f, err := Open(formattest.NewMemory(file), 1<<20)
		formattest.Must(t, err)
		var numeric []int
		for l := range f.Leaves() {
			if f.leaves[l].Why == "" {
				numeric = append(numeric, l)
			}
		}
		for trial := range 300 {
			leaves := append([]int(nil), numeric...)
			if trial%3 > 0 {
				r.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
				leaves = leaves[:1+r.IntN(len(leaves))]
			}
			from := r.Int64N(f.rows[0])
			to := from + 1 + r.Int64N(f.rows[0]-from)
			damaged := append([]byte(nil), file...)
			switch trial % 4 {
			case 1:
				damaged[r.IntN(int(f.footer.Start))] ^= byte(1 + r.IntN(255))
			case 2:
				damaged = damaged[:r.IntN(int(f.footer.Start))]
			}
			other := *f
			other.in, other.pool = formattest.NewMemory(damaged), scratchPool()
			faults += decodesAlike(t, &other, r.IntN(2), leaves, from, to)
		}
	}
	if faults < 50 {
		t.Errorf("only %d faults came up", faults)
	}
}

// countedInput counts the reads.
type countedInput struct {
	format.Input
	reads int
}

func (c *countedInput) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.Input.ReadAt(b, at)
}

// Small chunks come together, up to maxStretch; one that is longer than readAhead comes alone.
func TestStretchReads(t *testing.T) {
	const small, rows = 40, 5000 // 20 kB a chunk, and 160 kB of the wide one
	var fields schema.FieldList
	for c := range small {
		fields = append(fields, schema.NewFloat32Node(fmt.Sprint("c", c), parquet.Repetitions.Required, -1))
	}
	wide := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("wide", parquet.Repetitions.Required, schema.NewDecimalLogicalType(20, 0), parquet.Types.FixedLenByteArray, 32, -1))
	fields = append(fields[:20:20], append(schema.FieldList{wide}, fields[20:]...)...)
	r := rand.New(rand.NewPCG(8, 8))
	file := formattest.WriteFile(t, fields, 1, func(_, _ int, w pqfile.ColumnChunkWriter) (err error) {
		switch w := w.(type) {
		case *pqfile.Float32ColumnChunkWriter:
			x := make([]float32, rows)
			for i := range x {
				x[i] = r.Float32()
			}
			_, err = w.WriteBatch(x, nil, nil)
		case *pqfile.FixedLenByteArrayColumnChunkWriter:
			x := make([]parquet.FixedLenByteArray, rows)
			for i := range x {
				x[i] = make([]byte, 32)
				x[i][31] = byte(r.Uint32())
			}
			_, err = w.WriteBatch(x, nil, nil)
		}
		return err
	})
	in := &countedInput{Input: formattest.NewMemory(file)}
	f, err := Open(in, 1<<24)
	formattest.Must(t, err)
	var leaves []int
	size := int64(0)
	for l := range f.Leaves() {
		leaves = append(leaves, l)
		size += f.Chunk(0, l).Size
	}
	decodesAlike(t, f, 0, leaves, 0, rows)
	group, err := f.Open(context.Background(), 0, leaves)
	formattest.Must(t, err)
	in.reads = 0
	group.(format.Batched).DecodeAll(t.Context(), decodings(f, leaves, 10, 300), 10, 300)
	if least := int(size / maxStretch); in.reads < least || in.reads > least+8 {
		t.Errorf("%d reads for %d chunks of %d bytes", in.reads, len(leaves), size)
	}
}
