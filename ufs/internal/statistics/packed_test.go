package statistics

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestPacked: rows drawn come in full blocks, as dense as they are, one after the other.
func TestPacked(t *testing.T) {
	ctx := context.Background()
	dense := filepath.Join(t.TempDir(), "planted.parquet")
	must.Do(t, chunkio.WriteParquet(ctx, dense, planted.New(planted.Options{Rows: 450, GroupRow: 100}), chunkio.WriteOptions{RowGroupRows: 100}))
	sparse := fixtures.DatasetPath(t, "basehock_sparse.parquet")
	for _, c := range []struct {
		path string
		opt  chunkio.Options
	}{{dense, chunkio.Options{Sample: 130}}, {sparse, chunkio.Options{Sample: 300, Sparse: "indices,values,4862", Label: "label"}}} {
		c.opt.Seed, c.opt.Threads, c.opt.Memory = 7, 1, 1<<30
		ds, err := chunkio.Open(ctx, []string{c.path}, c.opt)
		if err != nil {
			t.Fatalf("opening %s: %v", c.path, err)
		}
		defer ds.Close()
		var want []float64 // row-major
		for b, err := range ds.Chunks(ctx, stream.Range{}) {
			if err != nil {
				t.Fatalf("reading the source: %v", err)
			}
			for i := range b.Rows {
				row := make([]float64, b.Cols)
				if b.Sparse == nil {
					for j := range row {
						row[j] = b.Col(j)[i]
					}
				} else {
					for e := b.Sparse.RowPtr[i]; e < b.Sparse.RowPtr[i+1]; e++ {
						row[b.Sparse.Index[e]] = b.Sparse.Value[e]
					}
				}
				want = append(append(want, float64(b.Position(i))), row...)
			}
		}
		p := NewPackedSource(ds, c.opt.Sample)
		var got []float64
		var heights []int
		for b, err := range p.Chunks(ctx, stream.Range{}) {
			if err != nil {
				t.Fatalf("reading full blocks: %v", err)
			}
			heights = append(heights, b.Rows)
			for i := range b.Rows {
				got = append(got, float64(b.Position(i)))
				for j := range b.Cols {
					got = append(got, b.Col(j)[i])
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows differ", c.path)
		}
		for _, h := range heights[:len(heights)-1] {
			if h != p.blockRows() {
				t.Errorf("%s: blocks of %v rows, want %d", c.path, heights, p.blockRows())
			}
		}
		if n := len(got) / (len(ds.Columns()) + 1); int64(n) != c.opt.Sample {
			t.Errorf("%s: %d rows, want %d", c.path, n, c.opt.Sample)
		}
	}
}

// emptySource is a source of 2,000 columns without rows.
type emptySource struct{ stream.Source }

func (emptySource) Columns() []stream.Column { return make([]stream.Column, 2000) }

func (emptySource) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(func(*stream.Chunk, error) bool) {}
}

// TestLayout: a packed source takes the memory of its block, and no more.
func TestLayout(t *testing.T) {
	p := NewPackedSource(emptySource{}, 1<<20)
	roomtest.CheckLayout(t, "block", p.BlockBytes(), func() {
		for range p.Chunks(t.Context(), stream.Range{}) {
			t.Error("a block without rows")
		}
	})
}
