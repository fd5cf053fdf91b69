package trust

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/align"
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/survey"
	"github.com/ufs-stream/ufs-stream/stream"
)

// thinPoints are points by their coordinates that are not 0. All that is done with them costs those.
type thinPoints struct {
	kernel.Compressed
	neighbors int
	team      *kernel.Team
}

// someThin are what some are of thin anchors.
func someThin(a *anchor.Anchors) *thinPoints {
	p := &thinPoints{Compressed: kernel.Compressed{Cols: a.D}}
	m := min(a.M, mostPoints)
	for i := range m {
		from, to := a.Thin.RowPtr[i*a.M/m], a.Thin.RowPtr[i*a.M/m+1]
		p.Index, p.Value = append(p.Index, a.Thin.Index[from:to]...), append(p.Value, a.Thin.Value[from:to]...)
		p.End()
	}
	return p
}

func (p *thinPoints) alignment(ctx context.Context, k int) ([]float64, error) {
	points := &stream.CSR{RowPtr: make([]int, len(p.Starts)), Index: p.Index, Value: p.Value}
	for i, start := range p.Starts {
		points.RowPtr[i] = int(start)
	}
	g, err := anchor.AmongThin(points, p.Cols, anchor.Options{Neighbors: p.neighbors, Threads: p.team.Threads()})
	if err != nil {
		return nil, err
	}
	c := survey.NewThinColumns(p.Compressed)
	return alignment(ctx, p.team, g, align.Problem{Squares: c.Squares, Column: c.Column}, k)
}

// permuted is a copy of the points whose columns are permuted each by itself, as [points.permuted] permutes them.
func (p *thinPoints) permuted() *thinPoints {
	m, d, own := p.Rows, p.Cols, p.Transposed()
	seeds := make([]uint64, d)
	p.columns(func(j int, column []float64) {
		at, value := own.Row(j)
		for e, i := range at {
			column[i] = value[e]
		}
		for i, v := range column {
			seeds[j] = splitmix.Mix(seeds[j] ^ math.Float64bits(v))
			column[i] = 0
		}
	}, &own)
	times := make(map[uint64]uint64, d)
	for j, s := range seeds {
		if own.Starts[j] < own.Starts[j+1] {
			seeds[j] = splitmix.Hash(s, times[s])
			times[s]++
		}
	}
	p.columns(func(j int, column []float64) {
		rows := make([]int, m)
		shuffle(rows, seeds[j])
		at, value := own.Row(j)
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
		for ; e < len(at); e++ { // coordinates that are 0 after all
			at[e], value[e] = int32(m-1), 0
		}
		clear(column)
	}, &own)
	return &thinPoints{Compressed: own.Transposed(), neighbors: p.neighbors, team: p.team}
}

// columns calls do for every column of entries, with room for m numbers that are 0 and are to be so again.
func (p *thinPoints) columns(do func(j int, column []float64), own *kernel.Compressed) {
	kernel.Each(p.team.Threads(), (p.Cols+block-1)/block, func(b int) {
		column := make([]float64, p.Rows)
		for j := b * block; j < min((b+1)*block, p.Cols); j++ {
			if own.Starts[j] < own.Starts[j+1] {
				do(j, column)
			}
		}
	})
}

// ThinGraphBytes is what Graph holds for m thin anchors of d features and so many coordinates in all, beside these.
func ThinGraphBytes(m, d, neighbors, threads int, coordinates int64) int64 {
	m = min(m, mostPoints)
	return 6*12*coordinates + anchor.AmongThinBytes(m, d, neighbors, threads, coordinates) +
		max(spectral.ThinDiffusionBytes(m, d), align.ChooseBytes(d, chosen(m, d), false)) + 80*int64(d) + 16*int64(m)*int64(threads)
}
