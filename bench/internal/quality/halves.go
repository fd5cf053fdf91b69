package quality

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// writeHalves writes random halves of a dataset's rows and returns their paths. The agreement of selections from these
// halves is measured. The two halves of a pair have no rows in common, because common rows alone could make choices
// agree.
func (o *options) writeHalves(ctx context.Context, s dataset, scratch string) ([]string, error) {
	opt := chunkio.Options{Label: s.label, Missing: stream.MissingKeep, Seed: o.seed, Threads: o.threads}
	rows := s.rows
	if rows > o.rows {
		opt.Sample, rows = o.rows, o.rows
	}
	ds, err := chunkio.Open(ctx, []string{s.path}, opt)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	var paths []string
	for pair := range o.halves / 2 {
		first := make([]bool, rows)
		for i, r := range rand.New(rand.NewPCG(o.seed, uint64(pair))).Perm(int(rows)) {
			first[r] = i < int(rows+1)/2
		}
		for half := range 2 {
			path := filepath.Join(scratch, fmt.Sprintf("%s-%d-%d.parquet", s.name, pair, half))
			src := filteredRows{Source: ds, wantsRow: func(row int) bool { return first[row] == (half == 0) }}
			if err := chunkio.WriteParquet(ctx, path, src, chunkio.WriteOptions{Threads: o.threads}); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// filteredRows is a source with some rows of another source, in the same order: the rows whose numbers wantsRow
// accepts.
type filteredRows struct {
	stream.Source
	wantsRow func(row int) bool
}

// Rows implements stream.Source. It returns -1, because the number of rows is unknown before reading.
func (s filteredRows) Rows() int64 { return -1 }

// Cuts implements stream.Source.
func (s filteredRows) Cuts() []int64 { return nil }

// Chunks implements stream.Source. It ignores the range and returns all rows.
func (s filteredRows) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		read, start := 0, int64(0)
		for c, err := range s.Source.Chunks(ctx, stream.Range{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			var rows []int
			for i := range c.Rows {
				if s.wantsRow(read + i) {
					rows = append(rows, i)
				}
			}
			read += c.Rows
			if len(rows) == 0 {
				continue
			}
			out := &stream.Chunk{Start: start, Block: len(rows), Rows: len(rows), Cols: c.Cols, Stride: len(rows),
				Data: make([]float64, len(rows)*c.Cols), Missing: c.Missing}
			for j := range c.Cols {
				from, to := c.Col(j), out.Col(j)
				for at, i := range rows {
					to[at] = from[i]
				}
			}
			start += int64(len(rows))
			if !yield(out, nil) {
				return
			}
		}
	}
}
