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

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// table is planted data: scalar and list columns of the same rows.
type table struct {
	leaves []format.Leaf
	scalar map[string][]float64
	list   map[string][][]float64
	keys   map[string][][]float64 // of maps, whose values are lists
	text   map[string][]string    // hiveNull for a null
	rows   int
}

func newTable(rows int) *table {
	return &table{scalar: map[string][]float64{}, list: map[string][][]float64{}, keys: map[string][][]float64{}, rows: rows}
}

func (t *table) addScalar(name string, x []float64) *table {
	t.leaves = append(t.leaves, format.Leaf{Name: name, Type: "double", Width: 1, Nulls: -1, MaybeNaN: true, Scratch: 1000})
	t.scalar[name] = x
	return t
}

// addList adds lists of constant width, or of any lengths for width 0.
func (t *table) addList(name string, width int, x [][]float64) *table {
	l := format.Leaf{Name: name, Type: "list<double>", Width: width, List: true, Nulls: -1, MaybeNaN: true, Scratch: 1000}
	if width == 0 {
		l.Why = format.WhyVarying
	}
	t.leaves = append(t.leaves, l)
	t.list[name] = x
	return t
}

func (t *table) addMap(name string, keys, values [][]float64) *table {
	t.leaves = append(t.leaves, format.Leaf{Name: name, Type: "map", Why: "maps", Nulls: -1, MaybeNaN: true, Scratch: 1000, Entries: "double"})
	t.keys[name], t.list[name] = keys, values
	return t
}

func (t *table) addText(name string) *table {
	t.leaves = append(t.leaves, format.Leaf{Name: name, Type: "string", Why: "text"})
	return t
}

// fakeFile is rows [from, from+Σgroups) of a table as an input file whose leaves
// stand in the given order.
type fakeFile struct {
	table  *table
	from   int64
	order  []format.Leaf
	groups []int64
	digest uint64
	fault  func(group int, leaf string, from, to int64) error // of decoding
	stats  func(group int, leaf string) format.Bounds         // nil knows nothing
	held   int64                                              // in addition to 5,000 bytes
	disk   *fakeDisk
	file   int
}

func (f *fakeFile) Bounds(g, l int) format.Bounds {
	if f.stats == nil {
		return format.Bounds{Rows: f.groups[g], Nulls: -1}
	}
	return f.stats(g, f.order[l].Name)
}

func (f *fakeFile) Leaves() []format.Leaf { return f.order }
func (f *fakeFile) GroupRows() []int64    { return f.groups }
func (f *fakeFile) HeldBytes() int64      { return 5000 + f.held }
func (f *fakeFile) FooterDigest() uint64  { return f.digest }

func (f *fakeFile) Close() error {
	f.disk.files.Add(-1)
	return nil
}

func (f *fakeFile) Open(_ context.Context, g int, leaves []int) (format.Group, error) {
	f.disk.groups.Add(1)
	f.disk.mutex.Lock()
	f.disk.touched[[2]int{f.file, g}] = true
	f.disk.mutex.Unlock()
	start := f.from
	for _, rows := range f.groups[:g] {
		start += rows
	}
	return &fakeGroup{f: f, index: g, start: start, leaves: leaves}, nil
}

type fakeGroup struct {
	f      *fakeFile
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
	if from < 0 || to > g.f.groups[g.index] || from >= to {
		panic("decode outside the row group")
	}
	d := g.f.disk
	defer d.decoding.Add(-1)
	if n := d.decoding.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	name := g.f.order[l].Name
	if g.f.fault != nil {
		if err := g.f.fault(g.index, name, from, to); err != nil {
			return format.Leaf{}, err
		}
	}
	return g.f.order[l], nil
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
				x[i] = g.f.table.list[leaf.Name][row][e]
			} else {
				x[i] = g.f.table.scalar[leaf.Name][row]
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
	column := g.f.table.text[leaf.Name]
	for row := g.start + from; row < g.start+to; row++ { // one at a time: a number means another value every time
		t, ids := &text.List{Text: []byte(column[row])}, []int32{0}
		t.EndValue()
		if column[row] == hiveNull {
			ids[0] = -1
		}
		if err := emit(ids, t); err != nil {
			return err
		}
	}
	return nil
}

func (g *fakeGroup) DecodeLists(_ context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeLists(g.f.table.list, l, from, to, dst)
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
	return g.decodeLists(g.f.table.keys, l, from, to, dst)
}

// fakeDisk holds planted files and counts the open ones.
type fakeDisk struct {
	byPath         map[string]*fakeFile
	files, groups  atomic.Int32
	mostFiles      atomic.Int32
	decoding, most atomic.Int32

	mutex   sync.Mutex
	touched map[[2]int]bool // file, row group
}

type fakeInput struct {
	*bytes.Reader
	name string
}

func (in fakeInput) Name() string { return in.name }
func (in fakeInput) Close() error { return nil }

// openPaths is Open for files that are already listed.
func openPaths(ctx context.Context, paths []string, open opener, opt Options) (*Dataset, error) {
	opt = opt.withDefaults()
	f, err := newFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	list, err := f.pruneFiles(newLocalList(paths))
	if err != nil {
		return nil, err
	}
	c, err := openCatalog(ctx, list, f, open, catalogOptions{memory: opt.Memory, skipBad: opt.SkipBad, union: opt.Union})
	if err == nil && opt.Union {
		err = c.decideUnionGroups(ctx, opt.Memory)
	}
	if err != nil {
		return nil, err
	}
	return newDataset(ctx, c, nil, opt)
}

func (d *fakeDisk) open(_ context.Context, e fileEntry, _ int64, meter *stream.Meter) (format.File, Input, error) {
	path := e.path
	f, ok := d.byPath[path]
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

// plant stores a table as some files of some row groups each; further files have
// their columns in another order.
func plant(t *table, files int, groupRows int64, seed uint64) (*fakeDisk, []string) {
	disk := &fakeDisk{byPath: map[string]*fakeFile{}, touched: map[[2]int]bool{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	var paths []string
	for i := range files {
		from, to := int64(t.rows*i/files), int64(t.rows*(i+1)/files)
		f := &fakeFile{table: t, from: from, order: slices.Clone(t.leaves), digest: uint64(i), disk: disk, file: i}
		if i > 0 {
			rng.Shuffle(len(f.order), func(a, b int) { f.order[a], f.order[b] = f.order[b], f.order[a] })
		}
		for ; from < to; from += groupRows {
			f.groups = append(f.groups, min(groupRows, to-from))
		}
		path := fmt.Sprintf("part-%03d", i)
		disk.byPath[path] = f
		paths = append(paths, path)
	}
	return disk, paths
}

func (d *fakeDisk) dataset(t testing.TB, paths []string, opt Options) *Dataset {
	t.Helper()
	ds, err := openPaths(context.Background(), paths, d.open, opt)
	formattest.Must(t, err)
	return ds
}

// checkClosed fails if anything is still open.
func (d *fakeDisk) checkClosed(t testing.TB) {
	t.Helper()
	if f, g := d.files.Load(), d.groups.Load(); f != 0 || g != 0 {
		t.Errorf("%d files and %d row groups left open", f, g)
	}
	if n := d.mostFiles.Load(); n > 2 {
		t.Errorf("%d files open at once, want at most 2", n)
	}
}
