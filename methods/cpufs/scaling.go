package cpufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Scaling turns the source's values into (x − Min)/Range, column by column of the source. If the Range of a column is
// 0, all its values become 0. So a constant pixel keeps its cell. If Min and Range are nil, values stay unchanged.
type Scaling struct {
	Min, Range []float64
	// Fill replaces missing entries, before scaling. If it is nil, missing entries are an error.
	Fill []float64
}

// columnScale returns the minimum, range and fill of a column. A fill of NaN means that there is no fill.
func (s *Scaling) columnScale(j int) (lo, span, fill float64) {
	lo, span, fill = 0, 1, math.NaN()
	if s == nil {
		return
	}
	if s.Min != nil {
		lo, span = s.Min[j], s.Range[j]
	}
	if !(span > 0) { // divided by an infinite range a constant is 0
		span = math.Inf(1)
	}
	if s.Fill != nil {
		fill = s.Fill[j]
	}
	return
}

// MinMax returns the paper's scaling to [0, 1], from the profile of all rows. Missing entries are replaced by the mean
// of the column or by 0, as fill determines. In the second case the range includes 0.
func MinMax(p *gram.Profile, fill gram.Fill) *Scaling {
	d := len(p.Columns)
	s := &Scaling{Min: make([]float64, d), Range: make([]float64, d), Fill: make([]float64, d)}
	for j := range p.Columns {
		c := &p.Columns[j]
		if c.Observed == 0 {
			continue
		}
		lo, hi := c.Min, c.Max
		switch {
		case fill == gram.FillMean:
			s.Fill[j] = min(max(c.Pilot+c.Sum/c.Weight, lo), hi)
		case c.Observed < p.Rows:
			lo, hi = min(lo, 0), max(hi, 0)
		}
		s.Min[j], s.Range[j] = lo, hi-lo
	}
	return s
}

func (s *Scaling) checkScaling(columnCount int) error {
	if s.Min == nil && s.Range == nil && len(s.Fill) == columnCount {
		return nil
	}
	if len(s.Min) != columnCount || len(s.Range) != columnCount || (s.Fill != nil && len(s.Fill) != columnCount) {
		return stream.Usagef("a scaling of %d minima, %d ranges and %d fills for %d columns", len(s.Min), len(s.Range), len(s.Fill), columnCount)
	}
	for j := range columnCount {
		if !(math.Abs(s.Min[j]) <= math.MaxFloat64) || !(s.Range[j] >= 0 && s.Range[j] <= math.MaxFloat64) {
			return stream.Usagef("column %d has minimum %v and range %v", j, s.Min[j], s.Range[j])
		}
	}
	return nil
}
