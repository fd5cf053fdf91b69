package chunkio

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
	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
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

// FakeFile is a format.File with consecutive rows of a FakeTable, from row From on, in row groups of the heights
// Groups. Its leaves are in the given Order.
type FakeFile struct {
	Table  *chunkiotest.FakeTable
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

// Bounds implements format.Bounded: it returns the bounds that the function Stats gives for leaf l in group g.
func (f *FakeFile) Bounds(g, l int) format.Bounds {
	if f.Stats == nil {
		return format.Bounds{Rows: f.Groups[g], Nulls: -1}
	}
	return f.Stats(g, f.Order[l].Name)
}

// Leaves implements format.File: it returns the leaf columns of the schema.
func (f *FakeFile) Leaves() []format.Leaf { return f.Order }

// GroupRows implements format.File: it returns the number of rows of each group.
func (f *FakeFile) GroupRows() []int64 { return f.Groups }

// HeldBytes implements format.File: it returns the memory of the open file, mainly of its footer.
func (f *FakeFile) HeldBytes() int64 { return 5000 + f.Held }

// FooterDigest implements format.File: it returns a digest by which a later opening notices a changed file.
func (f *FakeFile) FooterDigest() uint64 { return f.Digest }

// Close implements format.File.
func (f *FakeFile) Close() error {
	f.disk.files.Add(-1)
	return nil
}

// Open implements format.File: it returns row group g, and counts it as open on the FakeDisk until it is closed.
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

func (g *fakeGroup) beginDecoding(l int, from, to int64) (format.Leaf, error) {
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
	leaf, err := g.beginDecoding(l, from, to)
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
	leaf, err := g.beginDecoding(l, from, to)
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
	leaf, err := g.beginDecoding(l, from, to)
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
	return g.decodeLists(g.f.Table.Keys, l, from, to, dst)
}

// FakeDisk is a set of FakeFiles by path. It counts the files and row groups that are open, and the decoding calls.
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

// OpenPaths opens the files at the paths as a Dataset, by an opener of the test, without expanding folders or globs.
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

// Open implements opening.Opener: it returns the FakeFile at the path of the entry e.
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

// PlantTable divides a table into FakeFiles with row groups of groupRows rows, and returns their disk and paths. All
// files but the first have their columns in a random order.
func PlantTable(t *chunkiotest.FakeTable, files int, groupRows int64, seed uint64) (*FakeDisk, []string) {
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

// OpenDataset opens FakeFiles of d as a Dataset, and fails the test on an error.
func (d *FakeDisk) OpenDataset(t testing.TB, paths []string, opt settings.Options) *dataset.Dataset {
	t.Helper()
	ds, err := OpenPaths(context.Background(), paths, d.Open, opt)
	formattest.Must(t, err)
	return ds
}

// CheckClosed fails the test if a file or row group of d is still open.
func (d *FakeDisk) CheckClosed(t testing.TB) {
	t.Helper()
	if f, g := d.files.Load(), d.groups.Load(); f != 0 || g != 0 {
		t.Errorf("%d files and %d row groups left open", f, g)
	}
	if n := d.mostFiles.Load(); n > 2 {
		t.Errorf("%d files open at once, want at most 2", n)
	}
}
