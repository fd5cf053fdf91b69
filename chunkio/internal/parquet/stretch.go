package parquet

import (
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stretchMost bounds what is read together of column chunks that stand side by side, each of at
// most readAhead. Of 100,000 columns in row groups of 256 rows of float32, 1 KB a chunk, reading
// them one by one took a fourth of the time of decoding; what it took shrinks with the number read
// together, and this many bytes stay in the second-level cache. scratchBytes has room for them.
const stretchMost = 256 << 10

// stretch is bytes of a file that belong to column chunks side by side.
type stretch struct {
	at int64
	b  []byte
}

// of is the bytes of a chunk, nil where the stretch does not have them all.
func (s stretch) of(c ChunkInfo) []byte {
	from := c.at - s.at
	if from < 0 || from > int64(len(s.b)) || c.Size > int64(len(s.b))-from {
		return nil
	}
	return s.b[from:][:c.Size:c.Size]
}

// readStretch reads the chunk of the first of the leaves and those of the next ones that stand
// right behind it, as far as they are small. Where it cannot, or there is but one, the chunks are
// read on their own, which tells the faults.
func (g *rowGroup) readStretch(leaves []format.Decoding, buf *scratch) {
	buf.stretch = stretch{}
	chunks, at, size := 0, int64(0), int64(0)
	for _, d := range leaves {
		c := g.file.Chunk(g.number, g.file.columns[d.Leaf].index)
		if chunks > 0 && c.at != at+size || c.Size > readAhead || size+c.Size > stretchMost {
			break
		}
		if chunks == 0 {
			at = c.at
		}
		size += c.Size
		chunks++
	}
	if chunks < 2 {
		return
	}
	start := time.Now()
	if b := grow(&buf.near, int(size)); format.ReadAt(g.file.in, b, at) == nil {
		buf.stretch = stretch{at, b}
	}
	format.BusyOf(g.file.in).Add(stream.PartRead, time.Since(start))
}
