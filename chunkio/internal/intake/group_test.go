package intake

import (
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestFootersAreCounted: a file of 40 row groups of many columns asks for the room of all their metadata where
// the length of the input is known, else for twice as many each time; what it asks for is enough for its workers.
func TestFootersAreCounted(t *testing.T) {
	const d, groups, length = 20_000, 40, 1 << 20
	whole := Options{Threads: 8}.least(d, groups)
	if footer := whole - (Options{Threads: 8}).least(d, 1); footer < (groups-1)*d*writer.ChunkBytes {
		t.Errorf("%d more row groups take %d bytes", groups-1, footer)
	}
	// written tells at which row group memory is short, 0 for none, and what is asked for.
	written := func(bytes, memory int64) (group int, need int64) {
		opt := Options{Threads: 8, Memory: memory}
		g := &gatherer{columns: make([]Column, d), opt: opt, threads: opt.affordable(d), bytes: bytes}
		for group := 1; group <= groups; group++ {
			g.taken = length * int64(group) / groups
			if err := g.grow(); err != nil {
				short, ok := errors.AsType[*stream.MemoryError](err)
				if !ok || short.Limit != memory || short.Need <= memory {
					t.Fatalf("of %d bytes: %v", memory, err)
				}
				return group, short.Need
			}
		}
		return 0, 0
	}
	if group, _ := written(length, whole); group > 0 {
		t.Errorf("the least limit is short at row group %d", group)
	}
	for _, c := range []struct {
		name        string
		bytes       int64
		asked, most int // times, and the row groups asked for in the end
	}{{"known", length, 1, groups + 1}, {"unknown", 0, 4, 2 * groups}} {
		memory, asked := Options{Threads: 8}.least(d, 1), 0
		for group, need := written(c.bytes, memory); group > 0; group, need = written(c.bytes, memory) {
			memory = need
			asked++
		}
		if asked > c.asked || memory < whole || memory > (Options{Threads: 8}).least(d, c.most) {
			t.Errorf("%s: asked %d times, %d bytes in the end; want %d, and %d", c.name, asked, memory, c.asked, whole)
		}
	}
}
