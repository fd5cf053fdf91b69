package atomicfile

import (
	"bytes"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/store/claim"
)

// TestHeldBytes: what the files of a folder take in memory is within the bound, and that is not far above: in a store
// by a first run and by one that goes on with all of them, and on disk.
func TestHeldBytes(t *testing.T) {
	const n = 20_000
	finished := func(i int) Finished {
		return Finished{Place: fmt.Sprintf("day=2026-01-%02d/part-%05d-6a1f8f0c.parquet", i%30, i), Recipe: strings.Repeat("a", 64), Rows: 1 << 30, Bytes: 1 << 40, Sum: 1<<64 - 1,
			Version: fmt.Sprintf(`"%032x"`, uint64(i)*0x9E3779B97F4A7C15)}
	}
	places := func() iter.Seq[string] {
		return func(yield func(string) bool) {
			for i := range n {
				if !yield(finished(i).Place) {
					return
				}
			}
		}
	}
	folder := func() *objectDir {
		o := must.Get(newObjectDir("s3://lake/tables/out"))(t)
		o.list = newObjectList(claim.New(o.client, o.in(listName), listTitle))
		return o
	}
	put := func(o *objectDir, i int) {
		f := finished(i)
		o.objects[o.in(f.Place).Key] = made{size: f.Bytes, version: strings.Clone(f.Version)}
		must.Do(t, o.list.add(f))
	}
	local := filepath.Join(t.TempDir(), finishedName)
	for name, build := range map[string]func() (d *Dir, more int){
		"of a store": func() (*Dir, int) {
			o := folder()
			for i := range n {
				put(o, i)
			}
			return &Dir{objects: o}, cap(o.list.text)
		},
		"of a store, gone on with": func() (*Dir, int) {
			first, o := folder(), folder()
			for i := range n {
				put(first, i)
			}
			o.list.of, _, _ = readFinished(bytes.NewReader(first.list.text))
			for i := range n {
				put(o, i)
			}
			return &Dir{objects: o}, cap(o.list.text)
		},
		"on disk": func() (*Dir, int) {
			list := must.Get(openFinished(local))(t)
			for i := range n {
				must.Do(t, list.add(finished(i)))
			}
			list.file.Close()
			return &Dir{finished: list}, 0
		},
	} {
		before := heap()
		d, more := build()
		got := heap() - before + int64(more) // the text, while it grows, is there twice
		if most := d.HeldBytes(places()); got > most || got < most/3 {
			t.Errorf("%s: %d bytes a file are held, and %d are counted", name, got/n, most/n)
		}
		runtime.KeepAlive(d)
	}
}

// heap is what is on the heap after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // of what finalizers gave up
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
