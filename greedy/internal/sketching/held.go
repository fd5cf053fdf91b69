package sketching

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// heldOutErrors returns, for each n, the error of reconstructing the held-out rows from the first n features in order,
// as a share of the sum of squares of these rows. The coefficients of the reconstruction are computed from the sketch
// g, which does not contain the held-out rows. So they are not fitted to these rows, and the errors are not too small.
// held is overwritten. The cost is 2k(r + h)d flops for k features in order, r rows of the sketch and h held-out rows.
func heldOutErrors(workers int, g, held *gram.Matrix, order []int) []stream.Number {
	d, r, h := g.D, g.Rank, held.Rank
	left, basis, q, step := layOutHeldOut(nil, d, len(order), r, h)
	errors := make([]stream.Number, 0, len(order))
	whole := floats.Sum(held.Diagonal(workers))
	for _, p := range order {
		copy(q, g.R[p*r:][:r])
		for range 2 { // twice is enough (Kahan)
			for at := 0; at < len(basis); at += r {
				kernel.Axpy(-kernel.Dot(basis[at:at+r], q), basis[at:at+r], q)
			}
		}
		norm := math.Sqrt(kernel.Dot(q, q))
		if norm*norm > engine.ExhaustedShare*g.At(p, p) {
			floats.Scale(1/norm, q)
			basis = append(basis, q...)
			copy(step, held.R[p*h:][:h])
			floats.Scale(1/norm, step)
			kernel.Each(workers, d, func(i int) {
				kernel.Axpy(-kernel.Dot(q, g.R[i*r:][:r]), step, held.R[i*h:][:h])
			})
		}
		clear(held.R[p*h:][:h])
		kernel.Each(workers, d, func(i int) { left[i] = held.At(i, i) })
		errors = append(errors, stream.Number(floats.Sum(left)/whole))
	}
	return errors
}

func layOutHeldOut(l *room.Layout, d, k, r, h int) (left, basis, q, step []float64) {
	return room.Slice[float64](l, d), room.Slice[float64](l, k*r)[:0], room.Slice[float64](l, r), room.Slice[float64](l, h)
}
