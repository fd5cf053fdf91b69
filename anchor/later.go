package anchor

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Where rows are few and wide, the tables of a [kernel.Nearest] would take more than rows and anchors
// themselves, to save arithmetic of which there is little. All distances come from products here.

const (
	// laterRows are in work at a time.
	laterRows = 32
	// wideColumns is the number of features from which on the anchors' own graph is made so too.
	wideColumns = 1 << 14
)

// take makes Z, ΔᵀZ and ZᵀX̃ of the rows of a factor, which are centred and in the frame's scale. at has
// the place in the frame of each feature.
func (s *Statistics) take(g *gram.Gram, at []int) error {
	m, d, all := s.m, g.D, len(s.frame.columns)
	points := kernel.RowMajor(s.anchors.Points, m, all, all)
	if d < all { // features that the anchors know and g has not
		narrow := kernel.RowMajor(make([]float64, m*d), m, d, d)
		for i := range m {
			for k, j := range at {
				narrow.Data[i*d+k] = points.Data[i*all+j]
			}
		}
		points = narrow
	}
	// The frame's centre is not the mean.
	shift := make([]float64, d)
	for k, j := range at {
		shift[k] = (g.Mean[k] - s.frame.center[j]) * s.frame.factor[j]
	}
	rows := kernel.RowMajor(g.R, d, g.Rank, g.Rank).Trans()
	if err := s.search(rows, points, shift); err != nil {
		return err
	}
	s.anchors, s.work, points.Data = nil, nil, nil
	s.zx = make([]float64, m*d)
	kernel.SparseGemm(kernel.NewTeam(s.opt.Threads), s.rows.sparse(m), rows, kernel.RowMajor(s.zx, m, d, d))
	for k := range at {
		at[k] = k
	}
	return nil
}

func (z RowWeights) sparse(m int) kernel.Sparse {
	return kernel.Sparse{Rows: z.Rows, Cols: m, Count: z.Count, Index: z.Index, Value: z.Value}
}

// search finds the weights of the n rows of X + 1·shiftᵀ, n×d, on the points, m×d row-major, and adds
// Δ and ZᵀZ: 2nmd flops. Candidates are found by ‖x‖² − 2xᵀp + ‖p‖², and those that rounding lets be
// among the nearest are measured by their differences.
func (s *Statistics) search(x, points kernel.Matrix[float64], shift []float64) error {
	n, m, d, k := x.Rows, s.m, x.Cols, s.k
	team := kernel.NewTeam(s.opt.Threads)
	s.rows = RowWeights{Rows: n, Count: k, Index: make([]int32, n*k), Value: make([]float64, n*k)}
	length := make([]float64, m)
	kernel.Each(team.Threads(), m, func(j int) {
		row := points.Data[j*points.RowStride:][:d]
		for c, v := range row {
			v -= shift[c]
			length[j] += float64(v * v)
		}
	})
	block := kernel.RowMajor(make([]float64, laterRows*d), laterRows, d, d)
	products := make([]float64, laterRows*m)
	overflow := make([]bool, n)
	for from := 0; from < n; from += laterRows {
		h := min(laterRows, n-from)
		rows := block.Sub(0, 0, h, d)
		const run = 256
		kernel.Each(team.Threads(), (d+run-1)/run, func(t int) {
			wide := min(run, d-t*run)
			kernel.Copy(rows.Sub(0, t*run, h, wide), x.Sub(from, t*run, h, wide))
		})
		near := kernel.RowMajor(products, h, m, m)
		clear(products)
		kernel.Gemm(team, -2, rows, points.Trans(), near)
		kernel.Each(team.Threads(), h, func(i int) {
			row, out := rows.Data[i*d:][:d], near.Data[i*m:][:m]
			own := kernel.Dot(row, row)
			turn := 2 * kernel.Dot(row, shift)
			for j := range out { // −2xᵀ(p − s)
				out[j] += own + turn + length[j]
			}
			index, distance := nearestOf(row, out, points, shift, own, slices.Max(length), k+1)
			at := (from + i) * k
			overflow[from+i] = !Weights(s.rows.Value[at:at+k], distance)
			copy(s.rows.Index[at:at+k], index)
		})
	}
	if i := slices.Index(overflow, true); i >= 0 {
		return stream.Dataf("", "the squared distance of row %d from the anchors overflows; scale the columns", i)
	}
	s.Rows = int64(n)
	s.addPairs(s.rows.sparse(m))
	return nil
}

// nearestOf returns the count nearest points to a row, nearest first, the lowest of equal ones, with
// their squared distances, given those to rounding.
func nearestOf(row, near []float64, points kernel.Matrix[float64], shift []float64, own, longest float64, count int) (index []int32, distance []float64) {
	d := len(row)
	sorted := slices.Clone(near)
	slices.Sort(sorted)
	bar := sorted[count-1] + 32*math.Sqrt(float64(d))*0x1p-53*(own+longest)
	type candidate struct {
		j        int32
		distance float64
	}
	var list []candidate
	for j, v := range near {
		if v > bar {
			continue
		}
		p, sum := points.Data[j*points.RowStride:][:d], 0.0
		for c, v := range row {
			v -= p[c] - shift[c]
			sum += float64(v * v)
		}
		list = append(list, candidate{int32(j), sum})
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return 0
	})
	for len(list) < count { // NaN: said by the caller
		list = append(list, candidate{0, math.NaN()})
	}
	for _, c := range list[:count] {
		index, distance = append(index, c.j), append(distance, c.distance)
	}
	return index, distance
}

// LaterBytes bounds what Statistics of m anchors of d features hold that take n rows later, with the
// anchors themselves, and what they become.
func LaterBytes(m, d, n, neighbors int) int64 {
	return 8*int64(m)*int64(m+d+1) + 12*int64(n)*int64(neighbors) + 8*laterRows*int64(2*d+2*m) + frameBytes*int64(d) + buffers
}
