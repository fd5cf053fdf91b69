package corpora

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/recipe"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reading is a file as ufs-stream reads it.
type reading struct {
	rows    int64
	leaves  []leaf // the features, in their order
	leftOut []stream.LeftOut
}

// leaf is a feature with all its values. What is missing is a NaN that tells its kind; see [stream.Missed].
type leaf struct {
	stream.Column
	values []float64
}

// options make a feature of every leaf that can be one. Of a date or a time only the number is a
// leaf: its positions in the day, the week and the year are made of that.
func options() chunkio.Options { return chunkio.Options{Missing: stream.MissingKeep, Times: true} }

// read reads the features of a file. A column that cannot be decoded is left out, as inspect does.
func read(ctx context.Context, path string) (*reading, error) {
	src, err := chunkio.Open(ctx, []string{path}, options())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &reading{rows: src.Rows(), leftOut: src.LeftOut()}
	opt := options()
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
		r.rows = rows // a stream tells it only now
	}
	r.leaves = slices.DeleteFunc(r.leaves, func(l leaf) bool { return l.Block != "" && l.Name != l.Block })
	return r, nil
}

// places are where the leaves lie in the file.
func (r *reading) places(ctx context.Context, path string) ([]recipe.Column, error) {
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
