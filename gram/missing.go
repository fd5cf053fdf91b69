package gram

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (m *Moments) newMissingColumns(c *stream.Chunk) []int {
	if c.Sparse != nil {
		return sparseMissingColumns(c)
	}
	if c.Missing == nil {
		return nil
	}
	hasHole := make([]bool, c.Cols)
	eachColumn(m.opt.Threads, c.Cols, func(j int) {
		hasHole[j] = mayHaveMissing(c, j) && slices.ContainsFunc(c.Col(j), math.IsNaN)
	})
	var holes []int
	for j, has := range hasHole {
		if has {
			holes = append(holes, j)
		}
	}
	return holes
}

// allocateMissing allocates memory for missing entries in the columns `holes`, and for packing if pack is set, i.e. if
// the rows are dense. If the limit is too low, it fails, and m is unchanged.
func (m *Moments) allocateMissing(holes []int, pack bool) error {
	d := len(m.Columns)
	missing := slices.Clone(m.missing)
	for _, j := range holes {
		if m.slot[j] < 0 {
			missing = append(missing, j)
		}
	}
	slices.Sort(missing)
	if err := m.checkLimit(d, len(missing)); err != nil {
		return err
	}
	if m.g == nil {
		m.g = room.MakeSlice[float64](d * d)
	}
	if pack && m.packed == nil {
		m.team = kernel.NewTeam(m.opt.Threads)
		m.packed = make([]float64, d*stripRows)
		m.root = make([]float64, 0, stripRows)
		m.wholeNumbers = newWholeNumbers(d)
	}
	if len(missing) > len(m.missing) {
		m.insertMissingColumns(missing)
	}
	if pack && len(m.holes) < len(m.missing)*stripRows {
		m.holes = make([]float64, len(m.missing)*stripRows)
	}
	return nil
}

func (m *Moments) checkLimit(d, missing int) error {
	need := Bytes(d, missing)
	if need <= m.opt.Limit {
		return nil
	}
	description := fmt.Sprintf("the Gram matrix of %d features", d)
	if missing > 0 {
		description += fmt.Sprintf(", %d of them with missing values,", missing)
	}
	return &stream.MemoryError{What: description, Need: need, Limit: m.opt.Limit}
}

func (m *Moments) insertMissingColumns(missing []int) {
	d, dm, old := len(m.Columns), len(missing), len(m.missing)
	cross, both := make([]float64, dm*d), make([]float64, dm*dm)
	to := make([]int, old) // new position of each old column
	for k, j := range m.missing {
		to[k], _ = slices.BinarySearch(missing, j)
	}
	for k := range to {
		copy(cross[to[k]*d:][:d], m.cross[k*d:])
		for l := k; l < old; l++ { // relative order is kept, so the upper triangle stays the upper triangle
			both[to[k]*dm+to[l]] = m.bothMissing[k*old+l]
		}
	}
	for k, j := range missing {
		m.slot[j] = k
	}
	m.missing, m.cross, m.bothMissing = missing, cross, both
}

// crossAt returns Σ w m_k x̃_j, the entry of A (see [Moments]) for missing entries of column k and values of column j.
func (m *Moments) crossAt(k, j int) float64 {
	if s := m.slot[k]; s >= 0 {
		return m.cross[s*len(m.Columns)+j]
	}
	return 0
}

// bothMissingAt returns Σ w m_i m_j, the entry of [Moments]' matrix N for columns i and j.
func (m *Moments) bothMissingAt(i, j int) float64 {
	s, t := m.slot[i], m.slot[j]
	if s < 0 || t < 0 {
		return 0
	}
	return m.bothMissing[min(s, t)*len(m.missing)+max(s, t)]
}
