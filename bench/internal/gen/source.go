package gen

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Filler makes the values of any column in any rows. Several goroutines may call it at the same time.
type Filler interface {
	Columns() []stream.Column
	FillColumn(j int, from int64, out []float64)
}

// filledTable is a source of rows from a Filler. It has one block of rows in memory at a time, and makes the columns
// of the block in parallel.
type filledTable struct {
	Filler
	rows    int64
	nulls   float64 // share of missing values (NaN)
	seed    uint64
	threads int
}

// NewTable returns a source of the given number of rows of a Filler, without missing values.
func NewTable(f Filler, rows int64) stream.Source { return filledTable{Filler: f, rows: rows} }

// nullSeries is the number of the random series that determines which values of column 0 are missing. Each next column
// uses the next series. Package planted uses series with other numbers.
const nullSeries = 1 << 40

func (s filledTable) Rows() int64 { return s.rows }

func (s filledTable) Cuts() []int64 { return []int64{0, s.rows} }

// Chunks implements stream.Source. The range r may begin and end at any row.
func (s filledTable) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	if r.All() {
		r.To = s.rows
	}
	d := len(s.Columns())
	height := min(int64(stream.BlockRows(d)), r.To-r.From)
	limit := uint64(s.nulls * (1 << 53))
	return func(yield func(*stream.Chunk, error) bool) {
		data := make([]float64, int64(d)*height)
		for from := r.From; from < r.To; from += height {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			n := int(min(height, r.To-from))
			c := &stream.Chunk{Start: from, Block: n, Rows: n, Cols: d, Stride: n, Data: data[:d*n]}
			if limit > 0 {
				c.Missing = make([]stream.MissingCount, d)
			}
			kernel.Each(s.threads, d, func(j int) {
				out := c.Col(j)
				s.FillColumn(j, from, out)
				if limit > 0 {
					c.Missing[j].Nulls = s.replaceByNulls(j, from, out, limit)
				}
			})
			if !yield(c, nil) {
				return
			}
		}
	}
}

// replaceByNulls replaces some values of column j by NaN and returns their number. out has the values of consecutive
// rows, beginning with row number `from`. The null series of the column has a random number of 53 bits for each row.
// The value is replaced if this number is below limit.
func (s filledTable) replaceByNulls(j int, from int64, out []float64, limit uint64) (count int64) {
	chance := planted.NewSeries(s.seed, nullSeries+uint64(j))
	for i := range out {
		if chance.Bits(from+int64(i))>>11 < limit {
			out[i] = math.NaN()
			count++
		}
	}
	return count
}

// rowsPerGroup returns the number of rows in a row group, for a file of the given rows and d columns. A row group
// consists of whole blocks, with at most 64 MiB as float64 and at most 65,536 rows. If the footer would have more than
// half of maxColumnChunks, a row group may have up to 256 MiB. The writer keeps one row group and the footer in memory.
func rowsPerGroup(d int, rows int64) int {
	block := stream.BlockRows(d)
	height := max(64<<20/(8*d*block), 1) * block
	for height*d*8 <= 128<<20 && ((rows-1)/int64(height)+1)*int64(d) > maxColumnChunks/2 {
		height *= 2
	}
	return min(height, 1<<16)
}

type countingSource struct {
	stream.Source
	rows *atomic.Int64
}

func (s countingSource) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for c, err := range s.Source.Chunks(ctx, r) {
			if !yield(c, err) {
				return
			}
			if err == nil {
				s.rows.Add(int64(c.Rows))
			}
		}
	}
}

// withProgress calls work. The function work must wrap its sources by its argument count. Every ten seconds
// withProgress prints how many of the `total` rows have been read from these sources. Its goroutine ends before it
// returns.
func withProgress(c *cli.Shared, total int64, work func(count func(stream.Source) stream.Source) error) error {
	var rows atomic.Int64
	count := func(s stream.Source) stream.Source { return countingSource{s, &rows} }
	if c.Quiet {
		return work(count)
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		begin := time.Now()
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			n, s := rows.Load(), time.Since(begin).Seconds()
			rate := float64(n) / s
			eta := "unknown"
			if n > 0 {
				eta = time.Duration(float64(total-n) / rate * float64(time.Second)).Round(time.Second).String()
			}
			fmt.Fprintf(c.Err, "%s of %s rows  %s rows/s  ETA %s\n",
				humanize.Comma(n), humanize.Comma(total), humanize.Comma(int64(rate)), eta)
		}
	})
	err := work(count)
	close(done)
	wait.Wait()
	return err
}
