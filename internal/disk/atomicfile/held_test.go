package atomicfile

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/claim"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestHeldBytes: the memory for the files of a folder is within the bound, and the bound is not far above: in a
// store for a first run and for one that resumes with all of them, whole or outdated, and on disk. The bound is
// the same for both runs.
func TestHeldBytes(t *testing.T) {
	const n = 1000 // whose maps have just grown: they are filled by half
	finished := func(i int) FinishedFile {
		return FinishedFile{Place: fmt.Sprintf("day=2026-01-%02d/part-%05d-6a1f8f0c.parquet", i%30, i), Recipe: strings.Repeat("a", 64), Rows: 1 << 30, Bytes: 1 << 40, Sum: 1<<64 - 1,
			Version: fmt.Sprintf(`"%032x"`, uint64(i)*0x9E3779B97F4A7C15)}
	}
	var places iter.Seq[string] = func(yield func(string) bool) {
		for i := range n {
			if !yield(finished(i).Place) {
				return
			}
		}
	}
	folder := func() *objectDir {
		o := must.Get(newObjectDir("s3://lake/tables/out"))(t)
		o.list = newObjectList(claim.New(o.client, o.locationOf(listName), listTitle))
		o.list.nextSave = time.Now().Add(time.Hour) // nothing is put: there is no store
		return o
	}
	makeAll := func(o *objectDir) {
		for i := range n {
			f := finished(i)
			o.objects[o.locationOf(f.Place).Key] = createdObject{size: f.Bytes, version: strings.Clone(f.Version)}
			must.Do(t, o.recordFinished(t.Context(), f))
		}
	}
	first := folder()
	makeAll(first)
	left := must.Get(first.list.encodeList())(t)
	taken := func() *objectDir {
		o, found := folder(), folder()
		makeAll(found) // the listing shows them
		o.objects = found.objects
		o.adoptFinished(must.Get(parseObjectList(left[len(first.list.claim.TitleLine()):]))(t))
		return o
	}
	local := must.Get(os.OpenRoot(t.TempDir()))(t)
	defer local.Close()
	for name, build := range map[string]func() *Dir{
		"of a store":               func() *Dir { o := folder(); makeAll(o); return &Dir{objects: o} },
		"of a store, gone on with": func() *Dir { return &Dir{objects: taken()} },
		"of a store, outdated":     func() *Dir { o := taken(); makeAll(o); return &Dir{objects: o} },
		"on disk": func() *Dir {
			list := must.Get(openFinishedList(local, isInFolder))(t)
			for i := range n {
				must.Do(t, list.appendRecord(finished(i)))
			}
			list.log.Close()
			return &Dir{finished: list}
		},
	} {
		before := heap()
		d := build()
		var text []byte
		var sorted []string
		if d.objects != nil { // the most is there while the list is put
			if got := len(d.objects.list.byPlace); got != n {
				t.Errorf("%s: %d files are listed, of %d", name, got, n)
			}
			text, sorted = must.Get(d.objects.list.encodeList())(t), slices.Sorted(maps.Keys(d.objects.list.byPlace))
		}
		got := heap() - before + int64(cap(text)) // which, while it grows, is there twice
		if most := d.HeldBytes(places); got > most || got < most/2 {
			t.Errorf("%s: %d bytes a file are held, and %d are counted", name, got/n, most/n)
		}
		runtime.KeepAlive(d)
		runtime.KeepAlive(text)
		runtime.KeepAlive(sorted)
	}
}

// heap returns the bytes on the heap after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // frees memory that finalizers released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
