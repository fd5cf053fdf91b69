package cpufs_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/ufs-stream/ufs-stream/methods/cpufs"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pictures is 60 pictures of 3×3 pixels of two kinds: a bright middle row, or a bright
// middle column.
type pictures struct{}

func (pictures) Columns() []stream.Column {
	cols := make([]stream.Column, 9)
	for j := range cols {
		cols[j].Name = fmt.Sprintf("px_%d_%d", j/3, j%3)
	}
	return cols
}

func (pictures) Rows() int64   { return 60 }
func (pictures) Cuts() []int64 { return []int64{0, 60} }

func (pictures) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		c := &stream.Chunk{Block: 60, Rows: 60, Cols: 9, Stride: 60, Data: make([]float64, 9*60)}
		for j := range 9 {
			for i := range 60 {
				bright := i%2 == 0 && j/3 == 1 || i%2 == 1 && j%3 == 1
				c.Data[j*60+i] = float64((i*7+j*j*5)%11) / 100
				if bright {
					c.Data[j*60+i]++
				}
			}
		}
		yield(c, nil)
	}
}

func Example() {
	var src pictures
	var names []string
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	grid, err := cpufs.NewGrid(names, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := cpufs.Select(context.Background(), src, grid, cpufs.Options{Nonnegative: true, Clusters: 2, Beta: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range r.Order[:4] {
		fmt.Println(names[j])
	}
	// Unordered output:
	// px_0_1
	// px_1_0
	// px_1_2
	// px_2_1
}
