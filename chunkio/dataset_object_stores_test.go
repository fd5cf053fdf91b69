package chunkio

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// storeUnderTest is a place for objects.
type storeUnderTest struct {
	url   func(key string) string
	put   func(key string, content []byte)
	lists bool // keys can be listed
}

// storesUnderTest starts a server of each kind.
func storesUnderTest() map[string]func(t *testing.T) storeUnderTest {
	of := func(start func(testing.TB) *storetest.Server) func(t *testing.T) storeUnderTest {
		return func(t *testing.T) storeUnderTest {
			s := start(t)
			return storeUnderTest{s.URL, s.PutObject, true}
		}
	}
	return map[string]func(t *testing.T) storeUnderTest{
		"s3": of(storetest.S3), "gs": of(storetest.GCS), "azblob": of(storetest.Azure),
		"https": func(t *testing.T) storeUnderTest {
			storetest.IsolateEnvironment(t)
			s := newWebServer(t, true)
			return storeUnderTest{func(key string) string { return s.URL + (&url.URL{Path: "/" + key}).EscapedPath() }, s.put, false}
		},
	}
}

// lakeRecords are the rows of a day, a record for each row group: numbers with NaN and nulls,
// a list of three, sparse lists, a class, a weight, a text and a number that rises.
func lakeRecords(day int) []arrow.Record {
	rng := rand.New(rand.NewPCG(5, uint64(day)))
	fields := []arrow.Field{
		{Name: "emb", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)},
		{Name: "index", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "value", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)},
		{Name: "label", Type: arrow.PrimitiveTypes.Int32},
		{Name: "weight", Type: arrow.PrimitiveTypes.Float64},
		{Name: "site", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "rank", Type: arrow.PrimitiveTypes.Int64},
	}
	own := len(fields)
	for c := range lakeColumns {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%02d", c), Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	var records []arrow.Record
	for g := range lakeGroups {
		for i := range lakeRows {
			b.Field(0).(*array.FixedSizeListBuilder).Append(true)
			for range 3 {
				b.Field(0).(*array.FixedSizeListBuilder).ValueBuilder().(*array.Float32Builder).Append(rng.Float32())
			}
			b.Field(1).(*array.ListBuilder).Append(true)
			b.Field(2).(*array.ListBuilder).Append(true)
			for k := rng.IntN(3); k < 40; k += 1 + rng.IntN(30) {
				b.Field(1).(*array.ListBuilder).ValueBuilder().(*array.Int32Builder).Append(int32(k))
				b.Field(2).(*array.ListBuilder).ValueBuilder().(*array.Float64Builder).Append(float64(1 + rng.IntN(9)))
			}
			b.Field(3).(*array.Int32Builder).Append(int32(rng.IntN(4)))
			b.Field(4).(*array.Float64Builder).Append(float64(rng.IntN(3)))
			if site := rng.IntN(4); site == 3 {
				b.Field(5).AppendNull()
			} else {
				b.Field(5).(*array.StringBuilder).Append(string(rune('a' + site)))
			}
			b.Field(6).(*array.Int64Builder).Append(int64(g*lakeRows + i))
			for c := range lakeColumns {
				switch rng.IntN(200) {
				case 0:
					b.Field(own + c).AppendNull()
				case 1:
					b.Field(own + c).(*array.Float64Builder).Append(math.NaN())
				default:
					b.Field(own + c).(*array.Float64Builder).Append(rng.NormFloat64())
				}
			}
		}
		records = append(records, b.NewRecord())
	}
	return records
}

// lakeFiles are three days of files of a format, by key, in folders whose names are all that
// keys may have.
func lakeFiles(t *testing.T, ending string) (keys []string, content map[string][]byte) {
	t.Helper()
	content = map[string][]byte{}
	for day := range 3 {
		records := lakeRecords(day)
		key := fmt.Sprintf("lake %s/day=%d%%2F1/größe+&'(1)/part%s", ending[1:], day+1, ending)
		keys = append(keys, key)
		if ending == ".arrow" {
			content[key] = formattest.WriteArrow(t, false, records)
			continue
		}
		dir := t.TempDir()
		PutFile(t, dir, "in.arrow", formattest.WriteArrow(t, false, records))
		var also []string
		for _, f := range records[0].Schema().Fields() {
			if f.Name != "rank" {
				also = append(also, f.Name)
			}
		}
		_, err := Apply(t.Context(), []string{filepath.Join(dir, "in.arrow")}, filepath.Join(dir, "out.parquet"),
			ApplyOptions{Columns: []string{"rank"}, Also: also})
		formattest.Must(t, err)
		content[key], err = os.ReadFile(filepath.Join(dir, "out.parquet"))
		formattest.Must(t, err)
	}
	return keys, content
}

// Objects are delivered as the same files on disk are, from every kind of store and in both
// formats: however they are named, in any memory and by any number of threads.
func TestObjectsAreReadLikeFiles(t *testing.T) {
	keep := Options{Missing: stream.MissingKeep, Label: "label", Exclude: []string{"c03", "c1?"}}
	narrow := Options{Missing: stream.MissingDropRow, Label: "label", Classes: true, Weight: "weight", Columns: []string{"c0*", "emb"},
		Where: `(site == "a" or site is null) and rank >= 900 and day != "2/1"`}
	sampled := Options{Missing: stream.MissingDropRow, Sample: 50, Seed: 3, Where: `emb[1] > 0.5`}
	sparse := Options{Sparse: "index,value", Weight: "weight", Where: `rank < 2000`}
	stores := storesUnderTest()
	for turn, name := range slices.Sorted(maps.Keys(stores)) {
		t.Run(name, func(t *testing.T) {
			s := stores[name](t)
			for form, ending := range []string{".parquet", ".arrow"} {
				if !long.IsOn() && (form+turn)%2 == 1 {
					continue // two stores a format
				}
				dir := t.TempDir()
				keys, content := lakeFiles(t, ending)
				for _, key := range keys {
					s.put(key, content[key])
					PutFile(t, dir, key, content[key])
				}
				folder := "lake " + ending[1:] + "/"
				inputs := [][]string{{s.url(keys[0]), s.url(keys[1]), s.url(keys[2])}}
				list := []byte(s.url(keys[2]) + "\n\n# a comment\n" + s.url(keys[0]) + "\n" + s.url(keys[1]) + "\n")
				PutFile(t, dir, "list", list)
				s.put("lists/all.txt", list)
				inputs = append(inputs, []string{"@" + filepath.Join(dir, "list")}, []string{"@" + s.url("lists/all.txt")})
				if s.lists {
					s.put(folder+"_SUCCESS", nil)
					s.put(folder+"day=1/.part.crc", []byte("x"))
					s.put(folder+"day=1/_tmp/0/part.parquet", []byte("x"))
					s.put("other/readme.md", []byte("x"))
					inputs = append(inputs, []string{s.url(folder)}, []string{s.url(folder[:len(folder)-1])}, []string{s.url(folder + "*/*/*" + ending)},
						[]string{s.url("**/day=*/gr*/part" + ending)}, []string{s.url(folder + "day=*")},
						[]string{s.url(keys[2]), s.url(folder + "day=1%2F1/"), s.url(folder + "day=2%2F1/*/p*")})
				}
				for i, opt := range []Options{keep, narrow, sampled, sparse} {
					opt.Allow = []string{s.url("")}
					if i > 0 && (i+form+turn)%2 == 1 {
						continue // every two of store, form and options meet
					}
					local, want := CollectFrom(t, opt, filepath.Join(dir, folder))
					if len(want.Rows) == 0 {
						t.Fatal("no rows")
					}
					for _, in := range inputs {
						if i > 0 && len(in) == 1 {
							continue // how they are named does not hang on the options
						}
						ds, got := CollectFrom(t, opt, in...)
						if d := chunkiotest.DescribeDiff(got, want); d != "" || !slices.Equal(got.Blocks, want.Blocks) || !slices.Equal(ColumnNames(ds), ColumnNames(local)) {
							t.Errorf("%s from %v differs from the local files: %s", ending, in, d)
						}
					}
					ds, err := Open(t.Context(), inputs[0], opt)
					formattest.Must(t, err)
					sameInAnyMemory(t, ds, want)
					for i, in := range ds.Inputs() {
						if want := local.Inputs()[i]; in.Rows != want.Rows || in.Bytes != want.Bytes || in.Fingerprint == want.Fingerprint {
							t.Errorf("input %+v of the file %+v", in, want)
						}
					}
				}
			}
		})
	}
}

// sameInAnyMemory makes sure that a far dataset is delivered as it should be whether its row
// groups are fetched one by one or ahead.
func sameInAnyMemory(t *testing.T, ds *Dataset, want chunkiotest.Delivered) {
	t.Helper()
	least := ds.MinMemory()
	for i, memory := range []int64{least, least, least + 3<<20, 20 << 20, 1 << 30} {
		opt := dataset.TableOf(ds).Options
		opt.Memory, opt.Threads = memory, 1+2*(i%2)
		ds, err := ds.With(opt)
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		if d := chunkiotest.DescribeDiff(got, want); d != "" {
			t.Errorf("%d bytes, %d threads: %s", memory, opt.Threads, d)
		}
	}
}

// Row groups that do not fit into memory go to scratch files by pieces, which are given back.
func TestTallRowGroupsAreSpooled(t *testing.T) {
	planted := NormalTable(12000, 60)
	disk, paths := PlantTable(planted, 1, 6000, 1)
	content := chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{RowGroupRows: 6000})
	s, dir := newWebServer(t, true), t.TempDir()
	s.put("tall.parquet", content)
	PutFile(t, dir, "tall.parquet", content)
	for _, opt := range []Options{{}, {Exclude: []string{"c2?", "c4?"}}} { // the second of several ranges
		_, want := CollectFrom(t, opt, filepath.Join(dir, "tall.parquet"))
		ds, err := Open(t.Context(), []string{s.URL + "/tall.parquet"}, opt)
		formattest.Must(t, err)
		for _, threads := range []int{1, 3} {
			opt := dataset.TableOf(ds).Options
			opt.Memory, opt.Threads = ds.MinMemory(), threads
			const room = 64 << 20
			opt.Spool = scratch.Options{Limit: room, Ledger: new(scratch.Ledger)}
			ds, err := ds.With(opt)
			formattest.Must(t, err)
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			if d := chunkiotest.DescribeDiff(got, want); d != "" {
				t.Errorf("%d threads: %s", threads, d)
			}
			if err := scratch.New(opt.Spool).Reserve(room); ds.SpoolBytes() == 0 || err != nil { // all of it is free again
				t.Errorf("%d threads: %d bytes were spooled at most; what is left: %v", threads, ds.SpoolBytes(), err)
			}
		}
	}
}
