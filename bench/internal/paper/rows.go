package paper

import (
	"context"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// labelColumn is the column of the classes in all datasets.
const labelColumn = "label"

// scaledFile returns the path of a copy of the file at path in which each row is scaled to [0, 1]. The runner's folder
// keeps the copy, which is made anew if the file is newer.
func scaledFile(ctx context.Context, r *tuning.Runner, path string) (string, error) {
	original, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	to := r.KeptPath("rows-" + filepath.Base(path))
	if made, err := os.Stat(to); err == nil && !made.ModTime().Before(original.ModTime()) {
		return to, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return "", &stream.OutputError{Path: to, Err: err}
	}
	ds, err := chunkio.Open(ctx, []string{path}, chunkio.Options{Missing: stream.MissingError})
	if err != nil {
		return "", err
	}
	defer ds.Close()
	return to, chunkio.WriteParquet(ctx, to, scaledRows{ds}, chunkio.WriteOptions{})
}

// scaledRows is a source with the rows of another source, in which the values of every row are scaled to [0, 1], except
// for the label. If all values of a row are equal, they become 0.
type scaledRows struct{ *chunkio.Dataset }

// Columns implements stream.Source. It returns the same columns with values in float64, and the label as it is.
func (s scaledRows) Columns() []stream.Column {
	columns := slices.Clone(s.Dataset.Columns())
	for j := range columns {
		if columns[j].Name != labelColumn {
			columns[j].Type = "double"
		}
	}
	return columns
}

// Chunks implements stream.Source. The chunks are overwritten in place.
func (s scaledRows) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		columns := s.Columns()
		for c, err := range s.Dataset.Chunks(ctx, r) {
			if err == nil {
				scaleChunk(c, columns)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func scaleChunk(c *stream.Chunk, columns []stream.Column) {
	least, most := slices.Repeat([]float64{math.Inf(1)}, c.Rows), slices.Repeat([]float64{math.Inf(-1)}, c.Rows)
	for j := range columns {
		if columns[j].Name == labelColumn {
			continue
		}
		for i, x := range c.Col(j) {
			least[i], most[i] = min(least[i], x), max(most[i], x)
		}
	}
	for j := range columns {
		if columns[j].Name == labelColumn {
			continue
		}
		for i, x := range c.Col(j) {
			if c.Col(j)[i] = 0; most[i] > least[i] {
				c.Col(j)[i] = (x - least[i]) / (most[i] - least[i])
			}
		}
	}
}
