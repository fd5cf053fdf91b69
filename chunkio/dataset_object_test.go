package chunkio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/pipeline"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/stream"
)

const lakeColumns, lakeGroups, lakeRows = 30, 6, 700 // of each of three files

// plantLake writes three days of Parquet files below dir, and files that readers must pass over.
func plantLake(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	for day := range 3 {
		planted := chunkiotest.NewTable(lakeGroups * lakeRows)
		for c := range lakeColumns {
			x := make([]float64, planted.Rows)
			for i := range x {
				x[i] = math.Round(100*rng.NormFloat64()) / 8
			}
			x[(c*97+day)%len(x)] = math.NaN()
			planted.AddScalar(fmt.Sprintf("c%02d", c), x)
		}
		disk, paths := PlantTable(planted, 1, lakeRows, 1)
		src := disk.OpenDataset(t, paths, Options{Missing: stream.MissingKeep})
		PutFile(t, dir, fmt.Sprintf("events/day=%d/part.parquet", day+1), chunkiotest.WriteToBytes(t, src, WriteOptions{RowGroupRows: lakeRows, Label: func(at int64) int32 { return int32(at % 3) }}))
	}
	PutFile(t, dir, "events/_SUCCESS", nil)
	PutFile(t, dir, "events/day=1/.part.crc", []byte("x"))
	PutFile(t, dir, "events/day=1/_tmp/part.parquet", []byte("x"))
	PutFile(t, dir, "other/readme.md", []byte("x"))
}

// A pass asks for the footers and, in few requests, for the chunks of the columns it needs.
func TestObjectsAreFetchedInFewRequests(t *testing.T) {
	s := storetest.S3(t)
	plantLake(t, s.Dir)
	proxy := storetest.NewProxy(t, s.Endpoint)
	meter := new(stream.Meter)
	ds, err := Open(t.Context(), []string{s.URLAt(proxy.URL, "events/")}, Options{Missing: stream.MissingKeep, Label: "label", Meter: meter})
	formattest.Must(t, err)
	var needed, footers int64
	for _, path := range ds.Paths() {
		loc, err := store.Parse(path)
		formattest.Must(t, err)
		file, in, err := opening.NewAccess(settings.WithDefaults(Options{})).OpenEntry(t.Context(), storage.Entry{Path: filepath.Join(s.Dir, loc.Key), Size: -1}, 1<<30, new(stream.Meter))
		formattest.Must(t, err)
		for g := range file.GroupRows() {
			group, err := file.Open(t.Context(), g, nil)
			formattest.Must(t, err)
			needed += format.TotalBytes(group.(format.Ranged).Extents(pipeline.ListLeavesToRead(dataset.TableOf(ds))))
		}
		start, err := storage.ReadFooterStart(in)
		formattest.Must(t, err)
		footers += in.Size() - start
		formattest.Must(t, file.Close())
	}
	_, err = chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	requests, bytes := proxy.RequestCounts()
	for begin := time.Now(); bytes != meter.Fetched.Load() && time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
		requests, bytes = proxy.RequestCounts() // the proxy counts when it has sent, which is after it was read
	}
	total := int64(0)
	for _, n := range requests {
		total += n
	}
	if most := int64(2*3*lakeGroups + 3); total > most || meter.Requests.Load() != total || meter.Retries.Load() != 0 {
		t.Errorf("%v requests, %d on the meter, %d of them again; want at most %d", requests, meter.Requests.Load(), meter.Retries.Load(), most)
	}
	// The end of the first object is a guess of 64 KiB, and a listing has some 400 bytes a key.
	if most := needed + needed/50 + footers + 64<<10 + 4096; bytes > most || bytes < needed {
		t.Errorf("%d bytes fetched; want at most %d for %d of columns and %d of footers", bytes, most, needed, footers)
	}
	if n := meter.Fetched.Load(); n != bytes {
		t.Errorf("%d bytes on the meter, %d sent", n, bytes)
	}
}

// Faults of networks and busy servers are waited out, and change nothing.
func TestObjectsAreReadThroughFaults(t *testing.T) {
	s := storetest.S3(t)
	plantLake(t, s.Dir)
	proxy := storetest.NewProxy(t, s.Endpoint)
	opt := Options{Missing: stream.MissingKeep, Label: "label", Memory: 8 << 20}
	_, want := CollectFrom(t, opt, filepath.Join(s.Dir, "events"))
	for name, fault := range map[string]*atomic.Int64{"503": &proxy.BusyEach, "reset": &proxy.ResetEach, "cut": &proxy.CutEach} {
		fault.Store(7)
		opt.Meter = new(stream.Meter)
		_, got := CollectFrom(t, opt, s.URLAt(proxy.URL, "events/"))
		fault.Store(0)
		// A connection that was reset before the answer began is made again by net/http itself.
		if d := chunkiotest.DescribeDiff(got, want); d != "" || opt.Meter.Retries.Load() == 0 && name != "reset" {
			t.Errorf("%s: %s after %d retries", name, d, opt.Meter.Retries.Load())
		}
	}
}

// An object that is replaced while it is read is an error that names it, between two passes
// and within one.
func TestObjectThatIsReplacedIsRefused(t *testing.T) {
	s := storetest.S3(t)
	plantLake(t, s.Dir)
	const key = "events/day=2/part.parquet"
	content, err := os.ReadFile(filepath.Join(s.Dir, key))
	formattest.Must(t, err)
	other := slices.Clone(content)
	other[100]++
	upload := func(content []byte) { // a file put into the server's folder has no entity tag
		loc, err := store.Parse(s.URL(key))
		formattest.Must(t, err)
		_, err = store.New(store.Options{}).Upload(context.Background(), loc, bytes.NewReader(content), int64(len(content)))
		formattest.Must(t, err)
	}
	for _, within := range []bool{false, true} {
		upload(content)
		proxy := storetest.NewProxy(t, s.Endpoint)
		ds, err := Open(t.Context(), []string{s.URLAt(proxy.URL, "events/")}, Options{Missing: stream.MissingKeep})
		formattest.Must(t, err)
		var replaced atomic.Bool
		replace := func() {
			if !replaced.Swap(true) {
				upload(other)
			}
		}
		if !within {
			replace()
		}
		proxy.OnRequest(func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, key) {
				replace()
			}
			return nil
		})
		_, err = chunkiotest.CollectRows(ds, stream.Range{})
		if !errors.Is(err, store.ErrChanged) || !chunkiotest.IsData(err) || !strings.Contains(err.Error(), key) {
			t.Errorf("within a pass %v: %v", within, err)
		}
	}
}

func TestObjectsThatAreNotThere(t *testing.T) {
	s := storetest.S3(t)
	plantLake(t, s.Dir)
	for key, words := range map[string]string{
		"nothing/":                    "no data files",
		"nothing":                     "neither an object nor a folder",
		"events/*.csv":                "no object matches",
		"events/[.parquet":            "malformed",
		"other/readme.md":             "neither a Parquet file",
		"events/day=1/.part.crc":      "neither a Parquet file",
		"events/_SUCCESS":             "empty",
		"events/day=1/_tmp/*.parquet": "neither a Parquet file",
	} {
		_, err := Open(t.Context(), []string{s.URL(key)}, Options{})
		if err == nil || !strings.Contains(err.Error(), words) || chunkiotest.IsData(err) == chunkiotest.IsUsage(err) {
			t.Errorf("%s: %v, want something about %q", key, err, words)
		}
	}
	for _, inputs := range [][]string{{s.URL("events/"), s.URL("events/day=1/part.parquet")}, {s.URL("events/"), s.URL("events/")}} {
		if _, err := Open(t.Context(), inputs, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "twice") {
			t.Errorf("opening %v: %v, want a DataError that a file is named twice", inputs, err)
		}
	}
}
