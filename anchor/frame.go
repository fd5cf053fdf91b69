package anchor

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// frame is the coordinate system of points: a gram.Standardizer's scale about a centre near the mean of each column.
// Distances and the Laplacian do not depend on the centre, and sums about it keep their digits for any mean. The centre
// is computed from the whole table's profile. So all shards share it, and their sums can be added unchanged.
type frame struct {
	columns []int     // indices of the source's columns, ascending
	center  []float64 // a point is (x - center)·factor
	factor  []float64
	fill    []float64 // value of missing entries, before centring
}

func newFrame(std *gram.Standardizer) frame {
	f := frame{
		columns: std.Columns, factor: std.Factor, fill: std.Fill,
		center: make([]float64, len(std.Columns)),
	}
	for k := range f.center {
		f.center[k] = roundedMean(std.Mean[k], std.Std[k])
	}
	return f
}

// roundedMean rounds the mean to a multiple of the largest power of 2 that is not above the deviation. The error is at
// most half a deviation. The result has so few digits that subtracting it from pixel values or counts is exact. So
// distances that are equal before the subtraction are equal after it.
func roundedMean(mean, std float64) float64 {
	_, e := math.Frexp(std)
	unit := math.Ldexp(1, e-1)
	return math.RoundToEven(mean/unit) * unit
}

// describeDifference describes the first difference between f and o. It returns "" if they are equal.
func (f *frame) describeDifference(o *frame) string {
	if !slices.Equal(f.columns, o.columns) {
		return "other columns"
	}
	for k := range f.columns {
		if f.center[k] != o.center[k] || f.factor[k] != o.factor[k] || f.fill[k] != o.fill[k] {
			return fmt.Sprintf("column %d scaled or filled by another profile", f.columns[k])
		}
	}
	return ""
}

// runColumns is the number of consecutive columns that a worker maps into a frame at a time.
const runColumns = 16

// frameMapper maps rows into a frame.
type frameMapper struct {
	columns int // number of columns of the source
	all     gram.Standardizer
	runs    []gram.Standardizer // the standardizer all, cut into runs of consecutive columns
}

func newFrameMapper(std *gram.Standardizer, f *frame) frameMapper {
	p := frameMapper{columns: len(std.Columns) + len(std.LeftOut), all: *std}
	p.all.Shift = f.center
	for k := 0; k < len(f.columns); k += runColumns {
		run, end := p.all, min(k+runColumns, len(f.columns))
		run.Columns, run.Shift, run.Factor, run.Fill = f.columns[k:end], f.center[k:end], f.factor[k:end], std.Fill[k:end]
		p.runs = append(p.runs, run)
	}
	return p
}

// mapRows writes rows [from, from+rows) of c to dst. Column k of the frame begins at dst[k*ld]. It returns the workers'
// busy time.
func (p *frameMapper) mapRows(workers int, dst []float64, ld int, c *stream.Chunk, from, rows int) time.Duration {
	part := stream.Chunk{Rows: rows, Cols: c.Cols}
	if c.Sparse != nil {
		csr := *c.Sparse
		csr.RowPtr = csr.RowPtr[from : from+rows+1]
		part.Sparse = &csr
		start := time.Now()
		p.all.To(dst, ld, &part) // not in runs of columns, because every run would scan every entry
		return time.Since(start)
	}
	part.Data, part.Stride = c.Data[from:], c.Stride
	return kernel.Each(workers, len(p.runs), func(t int) {
		p.runs[t].To(dst[t*runColumns*ld:], ld, &part)
	})
}
