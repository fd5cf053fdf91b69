package cpufs

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// nearest finds the k rows nearest to each row, itself left out; of equal distances the
// earlier row. As many rows as room bytes take are gathered at a time and all rows pass
// by: two passes for each part, of which rows in memory make none. Distances are those of
// kernel.Nearest, so that the answer does not depend on the parts. Cost 2·n²·d.
func (r *rows) nearest(ctx context.Context, team *kernel.Team, k int, room int64) ([]neighbour, error) {
	best := make([]neighbour, 0, r.n*(k+1)) // k+1 a row once full: one may be the row itself
	held := make([]int, r.n)
	best = best[:cap(best)]
	for _, p := range r.parts(k+2, room) {
		points, err := r.gather(ctx, p)
		if err != nil {
			return nil, err
		}
		count := min(k+1, points.Rows)
		near := kernel.NewNearest(team, points, count)
		points.Data = nil
		var index []int32
		var distance []float64
		err = r.pass(ctx, "finding neighbours", func(b *block) error {
			h := b.x.Rows
			index, distance = grow(index, h*count), grow(distance, h*count)
			near.To(index, distance, b.x)
			eachRun(r.workers, h, func(_, from, to int) {
				for i := from; i < to; i++ {
					row := b.first + i
					for e := i * count; e < (i+1)*count; e++ {
						held[row] = insert(best[row*(k+1):][:k+1], held[row], neighbour{index[e] + int32(p.first), distance[e]})
					}
				}
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]neighbour, 0, r.n*k)
	for i := range r.n {
		row := best[i*(k+1):][:held[i]]
		if at := slices.IndexFunc(row, func(o neighbour) bool { return int(o.index) == i }); at >= 0 {
			row = slices.Delete(row, at, at+1)
		}
		out = append(out, row[:k]...)
	}
	for _, o := range out {
		if o.distance-o.distance != 0 {
			return nil, stream.Dataf("", "squared distances between rows overflow; choose {scale} minmax")
		}
	}
	return out, nil
}

// insert keeps the nearest, ascending; later parts have higher indices, so that of equal
// distances the earlier stay. It returns how many there are.
func insert(list []neighbour, held int, o neighbour) int {
	at := held
	for at > 0 && list[at-1].distance > o.distance {
		at--
	}
	if at == len(list) {
		return held
	}
	held = min(held+1, len(list))
	copy(list[at+1:held], list[at:])
	list[at] = o
	return held
}

// part is some consecutive blocks.
type part struct{ from, to, first, rows int }

// parts cuts the blocks into as few parts as room allows, of at least some rows each
// but the last.
func (r *rows) parts(least int, room int64) []part {
	most := max(int(room/pointBytes(len(r.columns))), least)
	var parts []part
	p := part{}
	for k, h := range r.height {
		if p.rows > 0 && p.rows+h > most {
			parts = append(parts, p)
			p = part{from: k, to: k, first: r.first[k]}
		}
		p.to, p.rows = k+1, p.rows+h
	}
	return append(parts, p)
}

// pointBytes is what a gathered row takes: once as gathered, and once in kernel.Nearest,
// in float64 and in float32.
func pointBytes(d int) int64 { return 20*int64(d) + 128 }

// gather copies the rows of a part.
func (r *rows) gather(ctx context.Context, p part) (kernel.Matrix[float64], error) {
	d := len(r.columns)
	m := kernel.ColMajor(make([]float64, p.rows*d), p.rows, d, p.rows)
	err := r.pass(ctx, "gathering rows", func(b *block) error {
		if b.number < p.from || b.number >= p.to {
			return nil
		}
		for j := range d {
			copy(m.Data[j*p.rows+b.first-p.first:][:b.x.Rows], b.x.Data[j*b.x.ColStride:])
		}
		return nil
	})
	return m, err
}

// grow returns room for n values, those of s if there are enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
