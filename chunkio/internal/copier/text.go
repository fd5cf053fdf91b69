package copier

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// textSource copies the labels of text with sparse rows. They are the only flat column of such a file.
type textSource struct{ *svm.File }

var labelNumber = writer.NumberOf("double")

// Field implements Source: it returns a column of doubles for the labels, and refuses any other column.
func (s *textSource) Field(c Column) (Field, error) {
	if c.Kind != FromLeaf {
		return Field{}, stream.Usagef("{also} %s: sparse rows are not copied as a whole; name features of them, as %[1]s[1]", c.Name)
	}
	return Field{Node: labelNumber.Node(c.Name, false), Dict: []bool{true}}, nil
}

// Tasks implements Source: it returns a task for each target, which copies the labels of row group g to it.
func (s *textSource) Tasks(_ context.Context, g int, targets []Target) ([]Task, error) {
	tasks := convert.Each(targets, func(c Target) Task {
		return Task{c.Name, func(ctx context.Context) error { return s.copyLabels(ctx, g, c) }}
	})
	return tasks, nil
}

func (s *textSource) copyLabels(ctx context.Context, g int, c Target) error {
	group, err := s.Open(ctx, g, nil)
	if err != nil {
		return err
	}
	defer group.Close()
	labels := make([]float64, s.GroupRows()[g])
	if err := group.Decode(ctx, 0, 0, int64(len(labels)), [][]float64{labels}); err != nil {
		return err
	}
	return labelNumber.Encode(c.Chunks[0], c.KeepRows(labels, 0), format.IsNull)
}

// Need implements Source: it counts 24 bytes for each label.
func (s *textSource) Need(g int, _ Column) int64 { return OpenColumnBytes + 24*s.GroupRows()[g] }

// Scratch implements Source: it returns 0, because labels are copied without additional memory.
func (s *textSource) Scratch(int, []Column, int) (int64, error) { return 0, nil }

// Extents implements Source: it returns none, because a text is not read again to copy labels.
func (s *textSource) Extents(int, []Column) []format.Extent { return nil }
