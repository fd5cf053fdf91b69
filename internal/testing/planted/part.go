package planted

import (
	"context"
	"iter"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Part is a source of some consecutive rows of another source, like one file of a table. The rows keep their positions.
type Part struct {
	stream.Source
	Range stream.Range
}

// Rows implements stream.Source. It returns the number of rows of the part.
func (p Part) Rows() int64 { return p.Range.To - p.Range.From }

// Chunks implements stream.Source. It always returns all rows of the part.
func (p Part) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return p.Source.Chunks(ctx, p.Range)
}
