package cluster

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// maxSpares is the largest number of empty clusters that are filled with a row each after one pass. After k-means++ no
// cluster is empty at first, and rarely one later.
const maxSpares = 16

// farRow is a copy of a row that is far from the centre of its cluster.
type farRow struct {
	row      []float64
	distance float64
	cluster  int32
}

// farthestRows keeps copies of the rows that are farthest from their centres, farthest first. Of rows at equal
// distances, the earlier row comes first. It does not keep equal rows twice: two equal centres would leave a cluster
// empty again.
type farthestRows struct {
	limit int
	rows  []farRow
}

func (f *farthestRows) offerFarRow(x matrix, i int, cluster int32, distance float64) {
	if distance == 0 || (len(f.rows) == f.limit && distance <= f.rows[f.limit-1].distance) {
		return
	}
	at := len(f.rows)
	for at > 0 && f.rows[at-1].distance < distance {
		at--
	}
	row := make([]float64, x.Cols)
	kernel.Copy(kernel.RowMajor(row, 1, x.Cols, x.Cols), x.Sub(i, 0, 1, x.Cols))
	// Equal rows are equally far, and so they are next to each other.
	for j := at - 1; j >= 0 && f.rows[j].distance == distance; j-- {
		if slices.Equal(f.rows[j].row, row) {
			return
		}
	}
	if len(f.rows) == f.limit {
		f.rows = f.rows[:f.limit-1]
	}
	f.rows = slices.Insert(f.rows, at, farRow{row, distance, cluster})
}

func (f *farthestRows) takeFarthestRow(clusterSizes []float64) (farRow, bool) {
	for i, r := range f.rows {
		if clusterSizes[r.cluster] > 1 {
			f.rows = slices.Delete(f.rows, i, i+1)
			return r, true
		}
	}
	return farRow{}, false
}
