package cluster

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

func (d *descent) applyMovesOfRows() bool {
	k, changed := d.store.k, false
	for _, w := range d.workers {
		for _, m := range w.moves {
			if m.from >= 0 {
				d.sizes[m.from]--
			}
			d.sizes[m.to]++
			changed = true
		}
	}
	switch {
	case !changed:
	case d.store.hasExactSums:
		const columns = 64
		kernel.Each(len(d.workers), (k+columns-1)/columns, func(task int) {
			from, to := task*columns, min((task+1)*columns, k)
			for _, w := range d.workers {
				for _, m := range w.moves {
					d.moveColumns(m, from, to)
				}
			}
		})
	default:
		clear(d.sums)
		d.addAllRowsToSums()
	}
	return changed
}

// moveColumns moves columns [from, to) of a row from the sum of one cluster to the sum of another, without rounding.
func (d *descent) moveColumns(m clusterMove, from, to int) {
	t, k := d.store, d.store.k
	in := d.sums[int(m.to)*k:][from:to]
	var out []float64
	if m.from >= 0 {
		out = d.sums[int(m.from)*k:][from:to]
	}
	if t.isLossless {
		back, row := 1/t.scale, t.narrow[int(m.row)*t.stride:][from:to]
		in = in[:len(row)]
		if out == nil {
			for l, v := range row {
				in[l] += float64(v) * back
			}
			return
		}
		out = out[:len(row)]
		for l, v := range row {
			x := float64(v) * back
			in[l] += x
			out[l] -= x
		}
		return
	}
	at, step := int(m.row)*t.x.RowStride+from*t.x.ColStride, t.x.ColStride
	for l := range in {
		v := t.x.Data[at+l*step]
		in[l] += v
		if out != nil {
			out[l] -= v
		}
	}
}

func (d *descent) addAllRowsToSums() {
	c, k := d.centers.Rows, d.store.k
	if d.ones == nil {
		d.ones = slices.Repeat([]float64{1}, min(rowsPerBlock(d.team.Threads(), k), d.store.n))
	}
	for at := 0; at < d.store.n; at += len(d.ones) {
		rows := min(len(d.ones), d.store.n-at)
		kernel.SparseGemm(d.team, kernel.Sparse{Rows: rows, Cols: c, Count: 1, Index: d.labels[at : at+rows], Value: d.ones},
			d.store.x.Sub(at, 0, rows, k), kernel.RowMajor(d.sums, c, k, k))
	}
}

// exactInertia returns the sum of the squared distances of all rows from the centres of their clusters. It adds them in
// the same order as a Pass.
func (d *descent) exactInertia(centers matrix, labels []int32) (sum float64) {
	d.screen.distancesTo(d.workers, centers, func(i int) int { return int(labels[i]) }, d.squares)
	for _, v := range d.squares {
		sum += v
	}
	return sum
}

// estimateInertia returns an estimate of the inertia from the sums S_j and sizes n_j of the clusters alone, about the
// mean m of the rows,
//
//	Σ ‖x − m‖² − Σ_j (2·(c_j − m)·(S_j − n_j·m) − n_j·‖c_j − m‖²),
//
// and a bound on its error, which holds for the inertia of a pass too. c_j is the centre of cluster j.
func (d *descent) estimateInertia() (inertia, off float64) {
	t, k := d.store, d.store.k
	sum, size := 0.0, 0.0
	for j, n := range d.sizes {
		for l, v := range d.sums[j*k:][:k] {
			about, m := d.centers.Data[j*k+l]-t.mean[l], t.mean[l]
			sum += about * (2*(v-float64(n)*m) - float64(n)*about)
			size += math.Abs(about) * (2*math.Abs(v) + float64(n)*(2*math.Abs(m)+math.Abs(about)))
		}
	}
	terms := float64(t.n + 4*k + d.centers.Rows + 64)
	return max(t.total-sum, 0), terms * 0x1p-52 * (size + farOut*t.total)
}
