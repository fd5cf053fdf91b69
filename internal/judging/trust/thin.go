package trust

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/methods/align"
	"github.com/ufs-stream/ufs-stream/stream"
)

// thinPoints are anchors as sparse points, one in each row. The cost of every operation is proportional to the number
// of nonzero coordinates of all points.
type thinPoints struct {
	kernel.Compressed
	neighbors int
	team      *kernel.Team
}

func pickSpreadThinAnchors(a *anchor.Anchors) *thinPoints {
	p := &thinPoints{Compressed: kernel.Compressed{Cols: a.D}}
	m := min(a.M, maxPoints)
	for i := range m {
		from, to := a.Thin.RowPtr[i*a.M/m], a.Thin.RowPtr[i*a.M/m+1]
		p.Index, p.Value = append(p.Index, a.Thin.Index[from:to]...), append(p.Value, a.Thin.Value[from:to]...)
		p.EndRow()
	}
	return p
}

func (p *thinPoints) alignFeatures(ctx context.Context, count int) ([]float64, error) {
	points := &stream.CSR{RowPtr: make([]int, len(p.Starts)), Index: p.Index, Value: p.Value}
	for i, start := range p.Starts {
		points.RowPtr[i] = int(start)
	}
	g, err := anchor.AmongThin(points, p.Cols, anchor.Options{Neighbors: p.neighbors, Threads: p.team.Threads()})
	if err != nil {
		return nil, err
	}
	c := survey.NewThinColumns(p.Compressed)
	return selectByAlignment(ctx, p.team, g, align.Problem{Squares: c.Squares, Column: c.Column}, count)
}

func (p *thinPoints) permutedCopy() *thinPoints {
	m, d, byColumn := p.Rows, p.Cols, p.TransposedCopy()
	seeds := make([]uint64, d)
	p.eachColumn(func(j int, column []float64) {
		at, value := byColumn.Row(j)
		for e, i := range at {
			column[i] = value[e]
		}
		for i, v := range column {
			seeds[j] = splitmix.Mix(seeds[j] ^ math.Float64bits(v))
			column[i] = 0
		}
	}, &byColumn)
	times := make(map[uint64]uint64, d)
	for j, s := range seeds {
		if byColumn.Starts[j] < byColumn.Starts[j+1] {
			seeds[j] = splitmix.Hash(s, times[s])
			times[s]++
		}
	}
	p.eachColumn(func(j int, column []float64) {
		rows := make([]int, m)
		writePermutation(rows, seeds[j])
		at, value := byColumn.Row(j)
		for e, i := range at {
			column[i] = value[e]
		}
		e := 0
		for i, r := range rows {
			if v := column[r]; v != 0 {
				at[e], value[e] = int32(i), v
				e++
			}
		}
		for ; e < len(at); e++ { // the remaining stored entries get the value 0
			at[e], value[e] = int32(m-1), 0
		}
		clear(column)
	}, &byColumn)
	return &thinPoints{Compressed: byColumn.TransposedCopy(), neighbors: p.neighbors, team: p.team}
}

// eachColumn calls visit for every column j of the points for which row j of own is not empty. It passes a slice of m
// zeros as scratch space, which visit must set to 0 again.
func (p *thinPoints) eachColumn(visit func(j int, column []float64), own *kernel.Compressed) {
	kernel.Each(p.team.Threads(), (p.Cols+blockColumns-1)/blockColumns, func(b int) {
		column := make([]float64, p.Rows)
		for j := b * blockColumns; j < min((b+1)*blockColumns, p.Cols); j++ {
			if own.Starts[j] < own.Starts[j+1] {
				visit(j, column)
			}
		}
	})
}

// ThinGraphBytes returns an upper bound of the memory of CompareGraph for m sparse anchors of d features, in addition
// to the anchors. coordinates is the total number of their nonzero coordinates.
func ThinGraphBytes(m, d, neighbors, threads int, coordinates int64) int64 {
	m = min(m, maxPoints)
	return 6*12*coordinates + anchor.AmongThinBytes(m, d, neighbors, threads, coordinates) +
		max(spectral.ThinDiffusionBytes(m, d), align.ChooseBytes(d, chooseFeatureCount(m, d), false)) + 80*int64(d) + 16*int64(m)*int64(threads)
}
