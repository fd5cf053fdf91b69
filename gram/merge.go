package gram

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Merge adds the moments of the argument, whose rows follow the rows of the receiver, in O(d²). The receiver keeps its
// pilots, and exact identities convert the sums of the argument to them. See [Moments] for x̃, G̃ and A. Let t be the
// argument's pilots minus the receiver's, so that x̃' = x̃ + t for observed entries. For each row of weight w, let μᵢ be 1
// if its entry of column i is missing, and otherwise 0, and νᵢ = 1 − μᵢ. Then
//
//	G̃'ᵢⱼ = G̃ᵢⱼ + tⱼ·Sᵢⱼ + tᵢ·Sⱼᵢ + tᵢtⱼ·Oᵢⱼ   S = Σ w x̃ᵢ νⱼ, O = Σ w νᵢ νⱼ
//	A'ₖᵢ = Aₖᵢ + tᵢ·Σ w μₖ νᵢ
//
// Moments of dense and sparse rows are merged in the same way. Up to rounding, the result equals one pass over both
// inputs, and does not depend on the order of merging. Merging empty moments changes nothing. The argument is unchanged.
// If it has other columns, or memory does not suffice (*stream.MemoryError), Merge fails, and the receiver is unchanged.
func (m *Moments) Merge(o *Moments) error {
	if len(m.Columns) != len(o.Columns) {
		return fmt.Errorf("gram: cannot merge %d columns with %d", len(m.Columns), len(o.Columns))
	}
	if o.g != nil {
		if err := m.allocateMissing(o.missing, false); err != nil {
			return err
		}
		m.mergeMatrices(o)
	}
	return m.Profile.Merge(&o.Profile)
}

// MergedBytes bounds the memory, as computed by [Bytes], that m will need after merging o, or needs now if o is nil.
func (m *Moments) MergedBytes(o *Moments) int64 {
	missing := len(m.missing)
	if o != nil {
		for _, j := range o.missing {
			if j >= len(m.slot) || m.slot[j] < 0 {
				missing++
			}
		}
	}
	return Bytes(len(m.Columns), missing)
}

// SetLimit changes Options.Limit for all later calls.
func (m *Moments) SetLimit(limit int64) { m.opt.Limit = Options{Limit: limit}.withDefaults().Limit }

func (m *Moments) mergeMatrices(o *Moments) {
	d := len(m.Columns)
	t := make([]float64, d)    // pilot of o - pilot of m
	lost := make([]float64, d) // for each column, Σ w m over the rows of o
	for j := range t {
		a, b := &m.Columns[j], &o.Columns[j]
		if a.Observed > 0 && b.Observed > 0 { // otherwise m adopts o's pilot, or every x̃ of o is 0
			t[j] = b.Pilot - a.Pilot
		}
		lost[j] = o.Weight - b.Weight
	}
	// observedSum returns S[i, j]: Σ w x̃ᵢ over the rows of o in which column j is observed.
	observedSum := func(i, j int) float64 { return o.Columns[i].Sum - o.crossAt(j, i) }
	kernel.Each(m.opt.Threads, d, func(i int) {
		for j := i; j < d; j++ {
			g := o.g[i*d+j]
			if t[i] != 0 || t[j] != 0 {
				g += float64(t[j]*observedSum(i, j)) + float64(t[i]*observedSum(j, i)) + float64(t[i]*t[j])*(o.Weight-lost[i]-lost[j]+o.bothMissingAt(i, j))
			}
			m.g[i*d+j] += g
		}
		for k, col := range o.missing {
			s := m.slot[col]
			m.cross[s*d+i] += o.cross[k*d+i] + t[i]*(lost[col]-o.bothMissingAt(col, i))
		}
	})
	for k, col := range o.missing {
		for l := k; l < len(o.missing); l++ {
			m.bothMissing[m.slot[col]*len(m.missing)+m.slot[o.missing[l]]] += o.bothMissing[k*len(o.missing)+l]
		}
	}
}
