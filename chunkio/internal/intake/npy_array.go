package intake

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Array is a NumPy array of numbers in an uncompressed file. Its rows need no parsing, so they are read in place and
// not converted to Parquet. They are divided into the same row groups as converted rows.
type Array struct {
	Table  *Table
	reader *npyReader // read its header only
	firsts []int      // by field: its first column
	rows   []int64    // by row group
	pool   sync.Pool  // of *[]byte: pieces of the file
}

// IsInPlace reports whether arrays can be read in place with these options. They cannot if some numbers stand for missing
// values.
func (o Options) IsInPlace() bool { return len(NumbersAmong(o.Nulls)) == 0 }

// ReadArray reads the header of an array. It returns nil if a column is text, because such an array must be converted.
func ReadArray(in format.Input, opt Options) (*Array, error) {
	opt.Types, opt.Text = nil, nil // as in Write
	r, err := readArrayHeader(in, opt)
	if err != nil {
		return nil, err
	}
	about := r.describeTable()
	t := &about
	t.Rows, t.Bytes, t.Columns = r.head.rows, in.Size(), make([]Column, len(r.columns))
	for j, c := range r.columns {
		if t.Columns[j] = opt.settleColumn(c); t.Columns[j].Kind == Text {
			return nil, nil
		}
	}
	if len(t.Columns) == 0 {
		return nil, errNoColumn(in.Name(), t.LeftOut)
	}
	a := &Array{Table: t, reader: r}
	if err := a.checkSize(in.Size()); err != nil {
		return nil, err
	}
	t.Least, r.columns = opt.leastMemory(len(t.Columns), 1), nil
	for n, j := 0, 0; n < len(r.head.fields); n++ {
		a.firsts = append(a.firsts, j)
		j += r.head.fields[n].count
	}
	height := int64(groupRows(len(t.Columns)))
	for left := t.Rows; left > 0; left -= height {
		a.rows = append(a.rows, min(left, height))
	}
	return a, nil
}

func readArrayHeader(in format.Input, opt Options) (*npyReader, error) {
	c := cutter{from: io.NewSectionReader(in, 0, in.Size()), name: in.Name(), maxRow: int(opt.maxRowBytes())}
	return newNPYReader(c, in, opt)
}

// checkSize returns an error if the file is too short for its rows.
func (a *Array) checkSize(size int64) error {
	h := &a.reader.head
	present := size - a.reader.dataStart
	if h.rows <= present/h.size {
		return nil
	}
	row := present / h.size
	if h.fortran { // the last column is incomplete
		each := h.fields[0].size
		row = max(present/each-(h.size/each-1)*h.rows, 0)
	}
	return a.reader.errReadFailed(io.ErrUnexpectedEOF, row)
}

// findColumn returns the field of a column, and the offset in the file of the column's first value.
func (a *Array) findColumn(j int) (*npyField, int64) {
	h := &a.reader.head
	after, _ := slices.BinarySearch(a.firsts, j+1)
	f := &h.fields[after-1]
	if h.fortran {
		return f, a.reader.dataStart + int64(j)*h.rows*f.size
	}
	return f, a.reader.dataStart + f.offset + int64(j-a.firsts[after-1])*f.size
}

// rowStep returns the distance in the file between a column's values in two rows.
func (a *Array) rowStep() int64 {
	if h := &a.reader.head; !h.fortran {
		return h.size
	}
	return a.reader.head.fields[0].size
}

// arrayFile is an Array as a format.File.
type arrayFile struct {
	*Array
	in     format.Input
	leaves []format.Leaf
	digest uint64
	held   int64
}

// OpenFrom opens the array from its input. Closing the file closes the input.
func (a *Array) OpenFrom(in format.Input) (format.File, error) {
	header := make([]byte, a.reader.dataStart)
	if err := format.ReadAt(in, header, 0); err != nil {
		return nil, stream.Dataf(in.Name(), "%w", err)
	}
	f := &arrayFile{Array: a, in: in, leaves: make([]format.Leaf, len(a.Table.Columns)), digest: xxhash.Sum64(header), held: 8 * int64(len(a.rows))}
	for j, c := range a.Table.Columns {
		f.held += int64(unsafe.Sizeof(format.Leaf{})+unsafe.Sizeof(c)) + int64(len(c.Name))
		f.leaves[j] = format.Leaf{Name: c.Name, Type: "double", Width: 1, MaybeNaN: c.Kind == Float, Scratch: arrayPieceBytes, TextScratch: arrayPieceBytes + textPieceBytes}
		switch c.Kind {
		case Bool:
			f.leaves[j].Type = "bool"
		case Int:
			f.leaves[j].Type = "int64"
		case Uint:
			f.leaves[j].Type = "uint64"
		}
	}
	format.MarkIndex(func(yield func(*format.Leaf) bool) {
		for j := range f.leaves {
			if !yield(&f.leaves[j]) {
				return
			}
		}
	}, "")
	return f, nil
}

func (f *arrayFile) Leaves() []format.Leaf { return f.leaves }

func (f *arrayFile) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed.
func (f *arrayFile) GroupBytes(g int) int64 { return f.rows[g] * f.reader.head.size }

func (f *arrayFile) HeldBytes() int64 { return f.held }

// FooterDigest implements format.File: it returns the digest of the header.
func (f *arrayFile) FooterDigest() uint64 { return f.digest }

func (f *arrayFile) Close() error { return f.in.Close() }

func (f *arrayFile) Open(_ context.Context, g int, _ []int) (format.Group, error) {
	return &arrayGroup{file: f, number: g, start: int64(g) * int64(groupRows(len(f.leaves)))}, nil
}

// arrayGroup is a row group of an array.
type arrayGroup struct {
	file   *arrayFile
	number int
	start  int64 // its first row in the file
}

func (g *arrayGroup) Close() {}

const (
	arrayPieceBytes  = 256 << 10 // bytes of the file that are read at a time
	neighbouringSize = 4 << 10   // fewer bytes are not left out between two rows, as another read costs more
	textPieceRows    = 4 << 10
	textPieceBytes   = textPieceRows * 80 // an index, an end, and the longest text of a number, in slices that have grown
)

// LeavesAtOnce implements format.RowMajor.
func (g *arrayGroup) LeavesAtOnce() int {
	h := &g.file.reader.head
	if h.fortran {
		return 1
	}
	return int(int64(len(g.file.leaves)) * neighbouringSize / h.size)
}

// Decode implements format.Group.
func (g *arrayGroup) Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error {
	one := []format.Decoding{{Leaf: l, Dst: dst}}
	g.DecodeAll(ctx, one, from, to)
	return one[0].Err
}

// DecodeAll implements format.Batched. Leaves that are near to each other in the rows are read together. Take is not
// called: it is set for deleted rows only, which arrays do not have.
func (g *arrayGroup) DecodeAll(ctx context.Context, leaves []format.Decoding, from, to int64) {
	begin := time.Now()
	defer func() { format.BusyOf(g.file.in).Add(stream.PartDecode, time.Since(begin)) }()
	for len(leaves) > 0 {
		n, low, high := 0, int64(math.MaxInt64), int64(0)
		for ; n < len(leaves); n++ {
			f, at := g.file.findColumn(leaves[n].Leaf)
			if l, h := min(low, at), max(high, at+f.size); n == 0 || !g.file.reader.head.fortran && h-l <= arrayPieceBytes {
				low, high = l, h
				continue
			}
			break
		}
		near := leaves[:n]
		leaves = leaves[n:]
		err := g.readRows(ctx, from, to, low, high, func(at int64, count int, raw []byte, step int64) {
			for i := range near {
				if d := &near[i]; d.Dst[0] != nil {
					f, first := g.file.findColumn(d.Leaf)
					f.parseNumbers(d.Dst[0][at-from:][:count], raw[first-low:], int(step))
				}
			}
		})
		for i := range near {
			near[i].Err = format.PlaceError(g.file.in.Name(), g.number, g.file.leaves[near[i].Leaf].Name, err)
		}
	}
}

// readRows reads the bytes [low, high) of the first row, and the corresponding bytes of the rows [from, to) of the
// group. It passes them to use in pieces: count rows from row at on, which begin step bytes apart in raw.
func (g *arrayGroup) readRows(ctx context.Context, from, to, low, high int64, use func(at int64, count int, raw []byte, step int64)) error {
	distance, width := g.file.rowStep(), high-low
	step := distance
	whole := distance-width <= neighbouringSize
	if !whole {
		step = width
	}
	most := max((arrayPieceBytes-width)/step+1, 1)
	pooled, _ := g.file.pool.Get().(*[]byte)
	if pooled == nil {
		pooled = new([]byte)
	}
	defer g.file.pool.Put(pooled)
	for from < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		count := min(to-from, most)
		*pooled = format.Resize(*pooled, int((count-1)*step+width))
		raw, reads := *pooled, int64(1)
		if !whole {
			reads, raw = count, raw[:width]
		}
		for i := range reads {
			at := low + (g.start+from+i)*distance
			if err := format.ReadAt(g.file.in, (*pooled)[i*step:][:len(raw)], at); err != nil {
				return err
			}
		}
		use(from, int(count), *pooled, step)
		from += count
	}
	return nil
}

// DecodeTexts implements format.Group.
func (g *arrayGroup) DecodeTexts(ctx context.Context, l int, from, to int64, emit func(ids []int32, values *text.List) error) error {
	f, first := g.file.findColumn(l)
	kind := g.file.Table.Columns[l].Kind
	var ids []int32
	values := &text.List{}
	for ; from < to; from += textPieceRows {
		ids = ids[:0]
		values.Truncate(0)
		err := g.readRows(ctx, from, min(from+textPieceRows, to), first, first+f.size, func(_ int64, count int, raw []byte, step int64) {
			for i := range count {
				x, whole := f.parseNumber(raw[i*int(step):][:f.size])
				switch kind {
				case Bool:
					values.Text = strconv.AppendBool(values.Text, whole != 0)
				case Int:
					values.Text = strconv.AppendInt(values.Text, whole, 10)
				case Uint:
					values.Text = strconv.AppendUint(values.Text, uint64(whole), 10)
				default:
					values.Text = text.AppendFloat(values.Text, x, 64)
				}
				ids = append(ids, int32(values.EndValue()))
			}
		})
		if err != nil {
			return format.PlaceError(g.file.in.Name(), g.number, g.file.leaves[l].Name, err)
		}
		if err := emit(ids, values); err != nil {
			return err
		}
	}
	return nil
}

var errNoList = errors.New("a column of numbers is no list")

// DecodeLists implements format.Group.
func (g *arrayGroup) DecodeLists(context.Context, int, int64, int64, *format.Lists) error {
	return errNoList
}

// DecodeKeys implements format.Group.
func (g *arrayGroup) DecodeKeys(context.Context, int, int64, int64, *format.Lists) error {
	return errNoList
}

// parseNumbers parses numbers that begin step bytes apart.
func (f *npyField) parseNumbers(dst []float64, raw []byte, step int) {
	switch {
	case f.typ == 'f' && f.size == 8 && !f.bigEndian:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[i*step:]))
		}
	case f.typ == 'f' && f.size == 4 && !f.bigEndian:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i*step:])))
		}
	default:
		for i := range dst {
			dst[i], _ = f.parseNumber(raw[i*step:][:f.size])
		}
	}
}
