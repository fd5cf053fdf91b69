package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestFootersAreCounted: a file of 40 row groups asks for the room of all their metadata if the length of the input
// is known, else for twice as many each time. It asks for more than it had, and for enough; and every larger limit is
// enough too, as workers make room.
func TestFootersAreCounted(t *testing.T) {
	const groups, length = 40, 1 << 20
	for _, d := range []int{1000, 20_000} {
		whole := Options{Threads: 8}.leastMemory(d, groups)
		if footer := whole - (Options{}).leastMemory(d, 1); footer < writer.FooterBytes(int64(d), int64(d), 0, groups)-writer.FooterBytes(int64(d), int64(d), 0, 1) {
			t.Errorf("%d more row groups of %d columns take %d bytes", groups-1, d, footer)
		}
		// written returns the row group at which memory is short, 0 for none, and the memory asked for.
		written := func(bytes, memory int64) (group int, need int64) {
			opt := Options{Threads: 8, Memory: memory}
			g := &gatherer{columns: make([]Column, d), opt: opt, workers: opt.affordableWorkers(d), slots: make(chan struct{}, 8), inputBytes: bytes, file: new(writer.File)}
			for group := 1; group <= groups; group++ {
				g.bytesRead = length * int64(group) / groups
				if err := g.reserveGroup(); err != nil {
					short, ok := errors.AsType[*stream.MemoryError](err)
					if !ok || short.Limit != memory || short.Need <= memory {
						t.Fatalf("%d columns of %d bytes: %v", d, memory, err)
					}
					return group, short.Need
				}
				if held := opt.neededMemory(d, g.workers, group); held > memory {
					t.Fatalf("%d columns of %d bytes: %d workers at row group %d hold %d", d, memory, g.workers, group, held)
				}
			}
			return 0, 0
		}
		for memory := whole - 20<<20; memory < whole+200<<20; memory += 1 << 20 {
			if group, _ := written(length, memory); (group == 0) != (memory >= whole) {
				t.Errorf("%d columns: %d bytes are short at row group %d, the least limit is %d", d, memory, group, whole)
			}
		}
		for _, c := range []struct {
			name        string
			bytes       int64
			asked, most int // times, and the row groups asked for in the end
		}{{"known", length, 1, groups + 1}, {"unknown", 0, 6, 2 * groups}} {
			memory, asked := Options{}.leastMemory(d, 1), 0
			for group, need := written(c.bytes, memory); group > 0; group, need = written(c.bytes, memory) {
				memory = need
				asked++
			}
			if asked > c.asked || memory < whole || memory > (Options{}).leastMemory(d, c.most) {
				t.Errorf("%d columns, %s: asked %d times, %d bytes in the end; want %d, and %d", d, c.name, asked, memory, c.asked, whole)
			}
		}
	}
}

// TestDictionaries: numbers have a dictionary if they repeat often, in a table that is not wide, and texts always.
func TestDictionaries(t *testing.T) {
	for _, wide := range []bool{false, true} {
		var text strings.Builder
		text.WriteString("distinct,in twos,in thirties,text")
		tail := ""
		for j := range 5000 {
			if wide {
				fmt.Fprintf(&text, ",c%d", j)
				tail += ",1.5"
			}
		}
		text.WriteString("\n")
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 300 {
			fmt.Fprintf(&text, "%v,%v,%v,a%d%s\n", r.Float64(), float64(i/2)+0.5, float64(r.IntN(10))+0.5, i, tail)
		}
		var out scratch
		in := Input{Name: "x.csv", Format: CSV, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil }}
		if _, err := Write(t.Context(), in, &out, Options{Memory: 1 << 30, Threads: 2}); err != nil {
			t.Fatalf("writing: %v", err)
		}
		group := formattest.ReadFrom(t, bytes.NewReader(out.Bytes()), "text").Meta.RowGroup(0)
		for j, want := range []bool{false, false, !wide, true} {
			if c, err := group.ColumnChunk(j); err != nil || c.HasDictionaryPage() != want {
				t.Errorf("wide %v, column %d: a dictionary page is %v, want %v (%v)", wide, j, c.HasDictionaryPage(), want, err)
			}
		}
	}
}
