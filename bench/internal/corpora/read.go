package corpora

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reading is the content of a file as ufs-stream reads it.
type reading struct {
	rows    int64
	leaves  []leaf // the features, in order
	leftOut []stream.LeftOut
}

// leaf is a feature with all its values. A missing value is a NaN that encodes its kind, see [stream.MissingValue].
type leaf struct {
	stream.Column
	values []float64
}

// readOptions returns options with which every leaf that can be a feature is read as one feature. A date or time is one
// number. Its positions in the day, the week and the year are not needed, because they derive from this number.
func readOptions() chunkio.Options { return chunkio.Options{Missing: stream.MissingKeep, Times: true} }

func readFile(ctx context.Context, path string) (*reading, error) {
	src, err := chunkio.Open(ctx, []string{path}, readOptions())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &reading{rows: src.Rows(), leftOut: src.LeftOut()}
	opt := readOptions()
	opt.LeaveOut = r.leftOut
	if src, err = src.With(opt); err != nil {
		return nil, err
	}
	for _, c := range src.Columns() {
		r.leaves = append(r.leaves, leaf{Column: c})
	}
	if len(r.leaves) > 0 && r.rows != 0 {
		rows := int64(0)
		for c, err := range src.Chunks(ctx, stream.Range{}) {
			if err != nil {
				return nil, err
			}
			for j := range r.leaves {
				r.leaves[j].values = append(r.leaves[j].values, c.Col(j)...)
			}
			rows += int64(len(c.Col(0)))
		}
		r.rows = rows // the number of rows of a stream is unknown until it ends
	}
	r.leaves = slices.DeleteFunc(r.leaves, func(l leaf) bool { return l.Block != "" && l.Name != l.Block })
	return r, nil
}

func (r *reading) locateLeaves(ctx context.Context, path string) ([]recipe.Column, error) {
	opt := chunkio.ApplyOptions{Times: true}
	for _, l := range r.leaves {
		opt.Columns = append(opt.Columns, l.Name)
	}
	located, err := chunkio.Locate(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	places := make([]recipe.Column, len(r.leaves))
	for i, p := range located.Columns {
		places[i] = recipe.Column{Name: p.Name, Path: p.Path, Element: p.Element}
	}
	return places, nil
}
