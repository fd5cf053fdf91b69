package chunkio

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/pipeline"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// recorded is an input that records its reads.
type recorded struct {
	Input
	mu    sync.Mutex
	reads []format.Extent
}

func (r *recorded) ReadAt(b []byte, at int64) (int, error) {
	r.mu.Lock()
	r.reads = append(r.reads, format.Extent{At: at, Size: int64(len(b))})
	r.mu.Unlock()
	return r.Input.ReadAt(b, at)
}

// plantEveryType writes files of both formats with every type that there is.
func plantEveryType(t *testing.T, dir string) (paths []string) {
	t.Helper()
	name := filepath.Join(dir, "every.parquet")
	formattest.WriteEveryType(t, name, 1, 500, 300)
	paths = append(paths, name)
	var fields []arrow.Field
	cases := chunkiotest.ArrowCases()
	for _, c := range cases {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.Typ, Nullable: true},
			arrow.Field{Name: "s_" + c.Name, Type: arrow.StructOf(arrow.Field{Name: "x", Type: c.Typ, Nullable: true}), Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range 400 {
		for k, c := range cases {
			st := b.Field(2*k + 1).(*array.StructBuilder)
			st.Append(i%7 != 1)
			if i%5 == 3 {
				b.Field(2 * k).AppendNull()
				st.FieldBuilder(0).AppendNull()
				continue
			}
			c.Add(b.Field(2*k), i%100)
			c.Add(st.FieldBuilder(0), i%100)
		}
	}
	record := b.NewRecord()
	for i, opts := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
		name := fmt.Sprintf("every%d.arrow", i)
		PutFile(t, dir, name, formattest.WriteArrow(t, false, []arrow.Record{record, record}, opts...))
		paths = append(paths, filepath.Join(dir, name))
	}
	for _, ending := range []string{".parquet", ".arrow"} {
		keys, content := lakeFiles(t, ending)
		PutFile(t, dir, "lake"+ending, content[keys[0]])
		paths = append(paths, filepath.Join(dir, "lake"+ending))
	}
	return paths
}

// Decoding a leaf, as numbers, texts or lists, reads exactly its Extents, so that no part of an object needs a
// request of its own.
func TestExtentsAreWhatDecodingReads(t *testing.T) {
	ctx := t.Context()
	maps := mapFiles(t, mapRecords(t, 4, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float32, 400, 700))
	for _, path := range append(maps, plantEveryType(t, t.TempDir())...) {
		local, err := storage.OpenFile(t.Context(), path)
		formattest.Must(t, err)
		in := &recorded{Input: local}
		file, err := new(opening.Access).OpenByFormat(t.Context(), in, 1<<30)
		formattest.Must(t, err)
		decoded := 0
		for g, rows := range file.GroupRows() {
			for l, leaf := range file.Leaves() {
				group, err := file.Open(ctx, g, []int{l})
				formattest.Must(t, err)
				extents := storage.MergeExtents(group.(format.Ranged).Extents([]int{l}), in.Size(), 0)
				if total := format.TotalBytes(extents); total > leaf.Packed && len(extents) > 0 {
					t.Errorf("%s: %s of group %d takes %d bytes, Packed is %d", path, leaf.Name, g, total, leaf.Packed)
				}
				// A dictionary of texts is read once, by whoever needs it first.
				_ = group.DecodeTexts(ctx, l, 0, 1, func([]int32, *text.List) error { return nil })
				in.reads = nil
				dst := make([][]float64, max(leaf.Width, 1))
				for e := range dst {
					dst[e] = make([]float64, rows-7)
				}
				err = errors.New("of any lengths")
				if !leaf.List || leaf.Width > 0 {
					err = group.Decode(ctx, l, 7, rows, dst)
				}
				for _, err := range []error{
					err,
					group.DecodeTexts(ctx, l, 7, rows, func([]int32, *text.List) error { return nil }),
					group.DecodeLists(ctx, l, 7, rows, new(format.Lists)),
					group.DecodeKeys(ctx, l, 7, rows, new(format.Lists)),
				} { // not every leaf is all of these
					if err == nil {
						decoded++
					}
				}
				for _, r := range in.reads {
					within := r.Size == 0
					for _, e := range extents {
						within = within || r.At >= e.At && r.At+r.Size <= e.At+e.Size
					}
					if !within {
						t.Errorf("%s: %s of group %d reads %+v, which is not within %v", filepath.Base(path), leaf.Name, g, r, extents)
						break
					}
				}
				group.Close()
			}
		}
		if decoded < len(file.Leaves()) {
			t.Errorf("%s: %d of %d leaves were decoded", path, decoded, len(file.Leaves()))
		}
		formattest.Must(t, file.Close())
	}
}

// Fetching holds no more than the plan counts for a row group: bytes between the columns come over the wire and are
// dropped.
func TestFetchingHoldsNoGaps(t *testing.T) {
	planted := NormalTable(20000, 40)
	disk, paths := PlantTable(planted, 1, 20000, 1)
	s := newWebServer(t, true)
	s.put("gaps.parquet", chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{RowGroupRows: 20000}))
	ds, err := Open(t.Context(), []string{s.URL + "/gaps.parquet"}, Options{Columns: []string{"c?0", "c?2", "c?4", "c?6", "c?8"}})
	formattest.Must(t, err)
	file, in, err := dataset.TableOf(ds).Catalog.ReopenFile(t.Context(), 0, 1<<30, nil)
	formattest.Must(t, err)
	s.requests = 0
	f := storage.NewFetcher(0, nil)
	group, release, err := f.OpenGroup(t.Context(), file, in, 0, pipeline.ListLeavesToRead(dataset.TableOf(ds)))
	formattest.Must(t, err)
	dst := [][]float64{make([]float64, planted.Rows)}
	for _, l := range pipeline.ListLeavesToRead(dataset.TableOf(ds)) {
		formattest.Must(t, group.Decode(t.Context(), l, 0, int64(planted.Rows), dst))
	}
	if s.requests != 1 {
		t.Errorf("%d requests, want 1", s.requests)
	}
	release()
	held := int64(0)
	for _, b := range f.Spare {
		held += int64(cap(b))
	}
	if counted := pipeline.MemoryNeeds(dataset.TableOf(ds), 1<<30).FetchSize; held > counted || held == 0 {
		t.Errorf("%d bytes held, the plan counts %d", held, counted)
	}
	formattest.Must(t, file.Close())
}
