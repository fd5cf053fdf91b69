package pipeline

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// Spans of wide dense rows grow to four blocks if there is memory, spans of sparse rows do not; if a span covers the
// only row group, there is no second span.
func TestSpansOfWideRows(t *testing.T) {
	wide := PassNeeds{rowBytes: 8e5, blockBytes: 24e5, height: 128, tallest: 1000, files: 3, isDense: true}
	sparse, single := wide, wide
	sparse.isDense = false
	single.tallest, single.isOneGroup = 500, true
	for _, c := range []struct {
		name    string
		needs   PassNeeds
		memory  int64
		rows    int64
		buffers int
	}{
		{"plenty", wide, 1 << 40, 512, 2},
		{"for two blocks and a half", wide, 2*25e5 + 2*8e5*320, 256, 2},
		{"for one block", wide, 2 * (128*8e5 + 24e5), 128, 2},
		{"sparse", sparse, 1 << 40, 128, 2},
		{"one row group", single, 1 << 40, 500, 1},
	} {
		p, err := c.needs.choosePlan(c.memory, 2)
		formattest.Must(t, err)
		if p.rows != c.rows || p.buffers != c.buffers || p.bytes > c.memory {
			t.Errorf("%s: plan %+v, want %d rows in %d buffers and at most %d bytes", c.name, p, c.rows, c.buffers, c.memory)
		}
	}
}
