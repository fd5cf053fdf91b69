package chunkiotest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/pipeline"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FakeTable is planted data: scalar and list columns of the same rows.
type FakeTable struct {
	Leaves []format.Leaf
	Scalar map[string][]float64
	List   map[string][][]float64
	keys   map[string][][]float64 // of maps, whose values are lists
	Text   map[string][]string    // HiveNull for a null
	Rows   int
}

// NewTable returns a table without columns.
func NewTable(rows int) *FakeTable {
	return &FakeTable{Scalar: map[string][]float64{}, List: map[string][][]float64{}, keys: map[string][][]float64{}, Rows: rows}
}

// AddScalar adds a column of numbers.
func (t *FakeTable) AddScalar(name string, x []float64) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "double", Width: 1, Nulls: -1, MaybeNaN: true, Scratch: 1000})
	t.Scalar[name] = x
	return t
}

// AddList adds lists of constant width, or of any lengths for width 0.
func (t *FakeTable) AddList(name string, width int, x [][]float64) *FakeTable {
	l := format.Leaf{Name: name, Type: "list<double>", Width: width, List: true, Nulls: -1, MaybeNaN: true, Scratch: 1000}
	if width == 0 {
		l.Why = format.WhyVarying
	}
	t.Leaves = append(t.Leaves, l)
	t.List[name] = x
	return t
}

// AddMap adds a column of maps.
func (t *FakeTable) AddMap(name string, keys, values [][]float64) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "map", Why: "maps", Nulls: -1, MaybeNaN: true, Scratch: 1000, Entries: "double"})
	t.keys[name], t.List[name] = keys, values
	return t
}

// AddText adds a column of texts.
func (t *FakeTable) AddText(name string) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "string", Why: "text"})
	return t
}

// FakeFile is rows [from, from+Σgroups) of a table as an input file whose leaves
// stand in the given order.
type FakeFile struct {
	Table  *FakeTable
	From   int64
	Order  []format.Leaf
	Groups []int64
	Digest uint64
	Fault  func(group int, leaf string, from, to int64) error // of decoding
	Stats  func(group int, leaf string) format.Bounds         // nil knows nothing
	Held   int64                                              // in addition to 5,000 bytes
	disk   *FakeDisk
	file   int
}

// Bounds implements format.Bounded.
func (f *FakeFile) Bounds(g, l int) format.Bounds {
	if f.Stats == nil {
		return format.Bounds{Rows: f.Groups[g], Nulls: -1}
	}
	return f.Stats(g, f.Order[l].Name)
}

// Leaves implements format.File.
func (f *FakeFile) Leaves() []format.Leaf { return f.Order }

// GroupRows implements format.File.
func (f *FakeFile) GroupRows() []int64 { return f.Groups }

// HeldBytes implements format.File.
func (f *FakeFile) HeldBytes() int64 { return 5000 + f.Held }

// FooterDigest implements format.File.
func (f *FakeFile) FooterDigest() uint64 { return f.Digest }

// Close implements format.File.
func (f *FakeFile) Close() error {
	f.disk.files.Add(-1)
	return nil
}

// Open implements format.File.
func (f *FakeFile) Open(_ context.Context, g int, leaves []int) (format.Group, error) {
	f.disk.groups.Add(1)
	f.disk.mutex.Lock()
	f.disk.Touched[[2]int{f.file, g}] = true
	f.disk.mutex.Unlock()
	start := f.From
	for _, rows := range f.Groups[:g] {
		start += rows
	}
	return &fakeGroup{f: f, index: g, start: start, leaves: leaves}, nil
}

type fakeGroup struct {
	f      *FakeFile
	index  int
	start  int64
	leaves []int
	closed atomic.Bool
}

func (g *fakeGroup) Close() {
	if g.closed.Swap(true) {
		panic("row group closed twice")
	}
	g.f.disk.groups.Add(-1)
}

func (g *fakeGroup) begin(l int, from, to int64) (format.Leaf, error) {
	if g.closed.Load() {
		panic("decode of a closed row group")
	}
	if !slices.Contains(g.leaves, l) {
		panic("decode of a leaf that was not opened")
	}
	if from < 0 || to > g.f.Groups[g.index] || from >= to {
		panic("decode outside the row group")
	}
	d := g.f.disk
	defer d.decoding.Add(-1)
	if n := d.decoding.Add(1); n > d.Most.Load() {
		d.Most.Store(n)
	}
	name := g.f.Order[l].Name
	if g.f.Fault != nil {
		if err := g.f.Fault(g.index, name, from, to); err != nil {
			return format.Leaf{}, err
		}
	}
	return g.f.Order[l], nil
}

func (g *fakeGroup) Decode(_ context.Context, l int, from, to int64, dst [][]float64) error {
	leaf, err := g.begin(l, from, to)
	if err != nil {
		return err
	}
	for e, x := range dst {
		for i := range x {
			row := g.start + from + int64(i)
			if leaf.List {
				x[i] = g.f.Table.List[leaf.Name][row][e]
			} else {
				x[i] = g.f.Table.Scalar[leaf.Name][row]
			}
		}
		if x != nil && int64(len(x)) != to-from {
			panic("destination of another height")
		}
	}
	return nil
}

func (g *fakeGroup) DecodeTexts(_ context.Context, l int, from, to int64, emit func([]int32, *text.List) error) error {
	leaf, err := g.begin(l, from, to)
	if err != nil {
		return err
	}
	column := g.f.Table.Text[leaf.Name]
	for row := g.start + from; row < g.start+to; row++ { // one at a time: a number means another value every time
		t, ids := &text.List{Text: []byte(column[row])}, []int32{0}
		t.EndValue()
		if column[row] == listing.HiveNull {
			ids[0] = -1
		}
		if err := emit(ids, t); err != nil {
			return err
		}
	}
	return nil
}

func (g *fakeGroup) DecodeLists(_ context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeLists(g.f.Table.List, l, from, to, dst)
}

func (g *fakeGroup) decodeLists(lists map[string][][]float64, l int, from, to int64, dst *format.Lists) error {
	leaf, err := g.begin(l, from, to)
	if err != nil {
		return err
	}
	dst.Ptr, dst.Values, dst.Null = append(dst.Ptr[:0], 0), dst.Values[:0], dst.Null[:0]
	for row := g.start + from; row < g.start+to; row++ {
		x := lists[leaf.Name][row]
		dst.Values = append(dst.Values, x...)
		dst.Ptr = append(dst.Ptr, len(dst.Values))
		dst.Null = append(dst.Null, x == nil)
	}
	return nil
}

func (g *fakeGroup) DecodeKeys(_ context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeLists(g.f.Table.keys, l, from, to, dst)
}

// FakeDisk holds planted files and counts the open ones.
type FakeDisk struct {
	ByPath         map[string]*FakeFile
	files, groups  atomic.Int32
	mostFiles      atomic.Int32
	decoding, Most atomic.Int32

	mutex   sync.Mutex
	Touched map[[2]int]bool // file, row group
}

type fakeInput struct {
	*bytes.Reader
	name string
}

func (in fakeInput) Name() string { return in.name }

func (in fakeInput) Close() error { return nil }

// OpenPaths is Open for files that are already listed.
func OpenPaths(ctx context.Context, paths []string, open opening.Opener, opt settings.Options) (*dataset.Dataset, error) {
	opt = settings.WithDefaults(opt)
	f, err := catalog.NewFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	list, err := f.PruneFiles(listing.NewLocalList(paths))
	if err != nil {
		return nil, err
	}
	c, err := catalog.OpenCatalog(ctx, list, f, open, catalog.Options{Memory: opt.Memory, SkipBad: opt.SkipBad, Union: opt.Union})
	if err == nil && opt.Union {
		err = c.DecideUnionGroups(ctx, opt.Memory)
	}
	if err != nil {
		return nil, err
	}
	t, err := pipeline.NewTable(ctx, c, nil, opt)
	if err != nil {
		return nil, err
	}
	return dataset.NewDataset(t), nil
}

// Open is an opening.Opener.
func (d *FakeDisk) Open(_ context.Context, e storage.Entry, _ int64, meter *stream.Meter) (format.File, storage.Input, error) {
	path := e.Path
	f, ok := d.ByPath[path]
	if !ok {
		return nil, nil, stream.Dataf(path, "no such file")
	}
	if n := d.files.Add(1); n > d.mostFiles.Load() {
		d.mostFiles.Store(n)
	}
	if meter != nil {
		meter.Bytes.Add(1)
	}
	return f, fakeInput{bytes.NewReader([]byte("fake " + path)), path}, nil
}

// PlantTable stores a table as some files of some row groups each; further files have
// their columns in another order.
func PlantTable(t *FakeTable, files int, groupRows int64, seed uint64) (*FakeDisk, []string) {
	disk := &FakeDisk{ByPath: map[string]*FakeFile{}, Touched: map[[2]int]bool{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	var paths []string
	for i := range files {
		from, to := int64(t.Rows*i/files), int64(t.Rows*(i+1)/files)
		f := &FakeFile{Table: t, From: from, Order: slices.Clone(t.Leaves), Digest: uint64(i), disk: disk, file: i}
		if i > 0 {
			rng.Shuffle(len(f.Order), func(a, b int) { f.Order[a], f.Order[b] = f.Order[b], f.Order[a] })
		}
		for ; from < to; from += groupRows {
			f.Groups = append(f.Groups, min(groupRows, to-from))
		}
		path := fmt.Sprintf("part-%03d", i)
		disk.ByPath[path] = f
		paths = append(paths, path)
	}
	return disk, paths
}

// OpenDataset opens planted files.
func (d *FakeDisk) OpenDataset(t testing.TB, paths []string, opt settings.Options) *dataset.Dataset {
	t.Helper()
	ds, err := OpenPaths(context.Background(), paths, d.Open, opt)
	formattest.Must(t, err)
	return ds
}

// CheckClosed fails if anything is still open.
func (d *FakeDisk) CheckClosed(t testing.TB) {
	t.Helper()
	if f, g := d.files.Load(), d.groups.Load(); f != 0 || g != 0 {
		t.Errorf("%d files and %d row groups left open", f, g)
	}
	if n := d.mostFiles.Load(); n > 2 {
		t.Errorf("%d files open at once, want at most 2", n)
	}
}
