package chunkiotest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// EndingContext is a context that ends as soon as its error is requested while the function over returns true.
type EndingContext struct {
	context.Context
	over   func() bool
	cancel context.CancelFunc
}

// NewEndingContext returns a context that ends once the function over returns true.
func NewEndingContext(t *testing.T, over func() bool) *EndingContext {
	ctx, cancel := context.WithCancel(t.Context())
	return &EndingContext{ctx, over, cancel}
}

// Err implements context.Context.
func (c *EndingContext) Err() error {
	if c.over() {
		c.cancel()
	}
	return c.Context.Err()
}

// AddLabel adds a column of texts with the values x, which can be classes.
func (t *FakeTable) AddLabel(name string, x []string) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "string", Why: "text", Width: 0, Nulls: -1, Scratch: 1000})
	if t.Text == nil {
		t.Text = map[string][]string{}
	}
	t.Text[name] = x
	return t
}

// WriteTree makes empty files, and links written as name → target, in a new folder, and changes to this folder.
func WriteTree(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, f := range files {
		name, target, link := strings.Cut(f, " -> ")
		formattest.Must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		var err error
		if link {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte("x"), 0o600)
		}
		formattest.Must(t, err)
	}
}

// PassError returns the error of a pass over all rows.
func PassError(ds *dataset.Dataset) error {
	_, err := CollectRows(ds, stream.Range{})
	return err
}

// DecimalRows returns rows of numbers with few binary digits, whose decimal texts are therefore exact.
func DecimalRows(rows, cols int) [][]float64 {
	rng := rand.New(rand.NewPCG(7, 8))
	x := make([][]float64, rows)
	for i := range x {
		x[i] = make([]float64, cols)
		for j := range x[i] {
			x[i][j] = float64(rng.IntN(2000)-1000) / float64(int(1)<<(j%4))
		}
	}
	return x
}

// ColumnOf returns x[j], the name of column j in test files of any format: arrays have no other names.
func ColumnOf(j int) string { return fmt.Sprintf("x[%d]", j) }

// DelimitRows returns rows as CSV with a header, with the given separator of fields and end of lines.
func DelimitRows(x [][]float64, comma, end string) []byte {
	var b bytes.Buffer
	for j := range x[0] {
		if j > 0 {
			b.WriteString(comma)
		}
		b.WriteString(ColumnOf(j))
	}
	b.WriteString(end)
	for _, row := range x {
		for j, v := range row {
			if j > 0 {
				b.WriteString(comma)
			}
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteString(end)
	}
	return b.Bytes()
}

// BlocksOf returns the results of a pass over all rows as a string to be compared: the names of the columns, and the
// position and the bits of every block.
func BlocksOf(t *testing.T, inputs []string, opt settings.Options) string {
	t.Helper()
	ds, err := dataset.OpenInputs(t.Context(), inputs, opt)
	formattest.Must(t, err)
	defer ds.Close()
	var b strings.Builder
	for _, c := range ds.Columns() {
		fmt.Fprintln(&b, c.Name)
	}
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		formattest.Must(t, err)
		fmt.Fprintf(&b, "%d %d\n", c.Start, c.Rows)
		for j := range c.Cols {
			for _, v := range c.Col(j) {
				b.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			}
		}
	}
	return b.String()
}

// TextRows returns random rows as libsvm text, and the same rows as labels and lists of indices and values.
func TextRows(rng *rand.Rand, rows int) (text []byte, label []float64, indices, values [][]float64) {
	var b bytes.Buffer
	for range rows {
		x := float64(rng.IntN(3))
		fmt.Fprint(&b, x)
		index, value := []float64{}, []float64{}
		for j := range 6 {
			if rng.IntN(3) == 0 {
				v := float64(rng.IntN(5)) / 4
				index, value = append(index, float64(j+1)), append(value, v)
				fmt.Fprintf(&b, " %d:%v", j+1, v)
			}
		}
		b.WriteByte('\n')
		label, indices, values = append(label, x), append(indices, index), append(values, value)
	}
	return b.Bytes(), label, indices, values
}

// ZipText compresses a text with gzip.
func ZipText(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	formattest.Must(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

// WhereTable returns a table for tests of conditions: a RandomTable with texts, a column that rises by 1, and weights.
func WhereTable(rng *rand.Rand, rows int, share float64) *FakeTable {
	tab := RandomTable(rng, rows, 2, share)
	words, rank, weights := make([]string, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		words[i] = strings.Repeat("ж", rng.IntN(4))
		if rng.IntN(10) == 0 {
			words[i] = listing.HiveNull
		}
		rank[i], weights[i] = float64(i), float64(rng.IntN(3))
	}
	return tab.AddLabel("word", words).AddScalar("rank", rank).AddScalar("w", weights)
}

// TableSource is a stream.Source over columns in memory, with blocks of Block rows, sparse ones if Sparse is set.
type TableSource struct {
	Names  []stream.Column
	Cols   [][]float64
	Height int
	Block  int
	Sparse bool
}

// Columns implements stream.Source: it returns the features.
func (s *TableSource) Columns() []stream.Column { return s.Names }

// Rows implements stream.Source: it returns the number of rows.
func (s *TableSource) Rows() int64 { return int64(s.Height) }

// Cuts implements stream.Source: it returns the global positions at which a range of rows may begin or end.
func (s *TableSource) Cuts() []int64 { return []int64{0, int64(s.Height)} }

// Chunks implements stream.Source: it yields the rows block by block.
func (s *TableSource) Chunks(_ context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for at := 0; at < s.Height; at += s.Block {
			n := min(s.Block, s.Height-at)
			c := &stream.Chunk{Start: int64(at), Block: n, Rows: n, Cols: len(s.Cols), Stride: n}
			if s.Sparse {
				c.Sparse = &stream.CSR{RowPtr: []int{0}}
				for i := range n {
					for j, col := range s.Cols {
						if col[at+i] != 0 {
							c.Sparse.Index = append(c.Sparse.Index, int32(j))
							c.Sparse.Value = append(c.Sparse.Value, col[at+i])
						}
					}
					c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Index))
				}
			} else {
				for _, col := range s.Cols {
					c.Data = append(c.Data, col[at:at+n]...)
				}
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// EveryNumber returns a table with a column of each numeric type, including its extreme values. If missing is set, all
// rows divisible by 5 are null (NaN).
func EveryNumber(rows, block int, missing bool) *TableSource {
	s := &TableSource{Height: rows, Block: block}
	types := []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float", "double"}
	for t, typ := range types {
		r := rand.New(rand.NewPCG(7, uint64(t)))
		n := writer.NumberOf(typ)
		col := make([]float64, rows)
		for i := range col {
			switch {
			case missing && i%5 == 0:
				col[i] = math.NaN()
			case typ == "bool":
				col[i] = float64(r.IntN(2))
			case n.Bits == 0:
				col[i] = float64(float32(r.NormFloat64()))
			case n.Signed:
				col[i] = math.Floor((r.Float64() - 0.5) * math.Ldexp(1, n.Bits))
			default:
				col[i] = math.Floor(r.Float64() * math.Ldexp(1, n.Bits))
			}
		}
		if rows > 4 && n.Bits > 1 {
			limit := math.Ldexp(1, n.Bits)
			if n.Signed {
				col[1], col[2] = -limit/2, limit/2-math.Max(1, limit/(1<<53))
			} else {
				col[1], col[2] = 0, limit-1
			}
		}
		s.Names = append(s.Names, stream.Column{Name: typ, Type: typ})
		s.Cols = append(s.Cols, col)
	}
	return s
}

// WriteToBytes returns the bytes of the file that WriteParquet writes for src.
func WriteToBytes(t *testing.T, src stream.Source, opt writing.WriteOptions) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	formattest.Must(t, writing.WriteParquet(t.Context(), path, src, opt))
	return must.Get(os.ReadFile(path))(t)
}

// FakeTable is a table that a test makes up and keeps in memory. FakeFile and FakeDisk present it as input files.
type FakeTable struct {
	Leaves []format.Leaf
	Scalar map[string][]float64
	List   map[string][][]float64
	Keys   map[string][][]float64 // of maps, whose values are lists
	Text   map[string][]string    // HiveNull for a null
	Rows   int
}

// NewTable returns a table without columns.
func NewTable(rows int) *FakeTable {
	return &FakeTable{Scalar: map[string][]float64{}, List: map[string][][]float64{}, Keys: map[string][][]float64{}, Rows: rows}
}

// AddScalar adds a column of numbers.
func (t *FakeTable) AddScalar(name string, x []float64) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "double", Width: 1, Nulls: -1, MaybeNaN: true, Scratch: 1000})
	t.Scalar[name] = x
	return t
}

// AddList adds a column of lists. All lists have width elements; if width is 0, their lengths may differ.
func (t *FakeTable) AddList(name string, width int, x [][]float64) *FakeTable {
	l := format.Leaf{Name: name, Type: "list<double>", Width: width, List: true, Nulls: -1, MaybeNaN: true, Scratch: 1000}
	if width == 0 {
		l.Why = format.WhyVarying
	}
	t.Leaves = append(t.Leaves, l)
	t.List[name] = x
	return t
}

// AddMap adds a column of maps from numbers to numbers.
func (t *FakeTable) AddMap(name string, keys, values [][]float64) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "map", Why: "maps", Nulls: -1, MaybeNaN: true, Scratch: 1000, Entries: "double"})
	t.Keys[name], t.List[name] = keys, values
	return t
}

// AddText adds a column of type string, without values: it is not a feature.
func (t *FakeTable) AddText(name string) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "string", Why: "text"})
	return t
}
