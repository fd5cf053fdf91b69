package copying

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// FuzzMark resumes an output after a mark of any content: the mark of another run is not used, and an impossible mark
// that is used is an error, before the footer is there or when it is written.
func FuzzMark(f *testing.F) {
	fields := schema.FieldList{schema.NewFloat64Node("x", parquet.Repetitions.Required, -1), schema.NewInt64Node("y", parquet.Repetitions.Optional, -1)}
	var out bytes.Buffer
	w := must.Get(writer.New(&out, fields, nil))(f)
	group := w.Group(2)
	chunks := must.Get(group.Columns(2))(f)
	must.Do(f, writer.Put(chunks[0], []float64{1, 2}, nil, nil))
	must.Do(f, writer.Put(chunks[1], []int64{3}, []int16{1, 0}, nil))
	for _, c := range chunks {
		must.Do(f, c.Finish())
	}
	must.Do(f, group.Place(chunks))
	must.Do(f, group.End())
	footer := must.Get(w.Mark())(f)
	for _, m := range []fileMark{{0, 0, footer, 0}, {1, 3, footer[:len(footer)/2], 4096}, {-1, 0, nil, 0}, {0, -1, nil, 0}, {2, 0, nil, 0}, {1, 0, footer, 4097}} {
		f.Add(must.Get(json.Marshal(m))(f), "second", int64(out.Len()))
	}
	f.Add([]byte(`{"File":0,"Group":0}{"File":`), "first", int64(-1))
	f.Fuzz(func(t *testing.T, detail []byte, recipe string, offset int64) {
		g := &growingFile{recipes: []string{"first", "second"}, page: 4096}
		if !g.isUsableMark(atomicfile.FinishedFile{Recipe: recipe, Detail: detail}) {
			return
		}
		must.Do(t, json.Unmarshal(detail, &g.resumedTo))
		if recipe != g.recipes[g.resumedTo.File] || g.resumedTo.Page > g.page || !g.hasGroup(g.resumedTo.File, g.resumedTo.Group) || !g.hasInput(g.resumedTo.File-1) {
			t.Errorf("a mark of %q: %+v", recipe, g.resumedTo)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := must.Get(writer.New(io.Discard, fields, nil))(t)
		if err := w.Resume(io.Discard, offset, [][]byte{g.resumedTo.Footer}); err == nil {
			_ = w.Finish()
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%d MiB allocated for a mark of %d bytes", used>>20, len(g.resumedTo.Footer))
		}
	})
}
