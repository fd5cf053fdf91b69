package survey

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// leastOverlap is the least overlap of the ranges of columns with one unit. Over 52 sets the median overlap of pairs
	// of such columns is above 0.3, except for raw intensities (tox171: 0.1, because few are large) and descriptors of
	// several kinds (mfeat: 0.07, for which pareto is better all the same). For columns in units of their own (wine, wdbc,
	// planted tables, lakes) it is below 0.01.
	leastOverlap = 0.05
	// mostShare is the largest share of all variance of a column that has the same unit as the others. An age among grades
	// of 0 to 3 has more (dermatology: 0.9), and so has a number of the speaker among formants (vowel: 0.8). In other sets
	// the largest share is 0.06.
	mostShare = 0.5
	// mostlyZero is the least share of zeros of counts. Words and fingerprints are 0 in at least 94 % of the entries,
	// pixels of digits in at most 82 %.
	mostlyZero = 0.9
	// overlapPairs bounds the number of examined pairs.
	overlapPairs = 2000
)

func decideUnit(t *Table) Unit {
	var usable []*Column
	total, largest, negative := 0.0, 0.0, false
	for j := range t.Columns {
		c := &t.Columns[j]
		negative = negative || c.Min < 0
		if c.isUsable() {
			usable = append(usable, c)
			total, largest = total+c.Std*c.Std, max(largest, c.Std*c.Std)
		}
	}
	switch {
	case len(usable) < 2:
		return Shared
	case !negative && zeroShare(t) >= mostlyZero:
		return Counts
	case medianOverlap(usable) < leastOverlap, len(usable) > 2 && largest > mostShare*total:
		return Differing
	}
	return Shared
}

func zeroShare(t *Table) float64 {
	all := float64(t.Rows) * float64(t.Cols)
	if t.Thin != nil {
		return 1 - float64(len(t.Thin.Value))/all
	}
	zeros := 0
	for _, v := range t.Values {
		if v == 0 {
			zeros++
		}
	}
	return float64(zeros) / all
}

// medianOverlap returns the median overlap of pairs of columns. The overlap is the length of the intersection of the
// ranges, divided by the length of their union. If there are many columns, pairs are drawn by hash from the columns
// sorted by range, so that the order of the columns has no effect.
func medianOverlap(columns []*Column) float64 {
	columns = slices.Clone(columns)
	slices.SortFunc(columns, func(a, b *Column) int {
		return slices.Compare([]float64{a.Min, a.Max, a.Mean, a.Std}, []float64{b.Min, b.Max, b.Mean, b.Std})
	})
	var overlaps []float64
	compare := func(a, b *Column) {
		both := min(a.Max, b.Max) - max(a.Min, b.Min)
		either := max(a.Max, b.Max) - min(a.Min, b.Min)
		overlaps = append(overlaps, max(both/either, 0))
	}
	d := len(columns)
	if d*(d-1)/2 <= overlapPairs {
		for i := range d {
			for j := range i {
				compare(columns[i], columns[j])
			}
		}
	} else {
		for p := range uint64(overlapPairs) {
			i := int(splitmix.Hash(1, p) % uint64(d))
			j := int(splitmix.Hash(2, p) % uint64(d-1))
			if j >= i {
				j++
			}
			compare(columns[i], columns[j])
		}
	}
	slices.Sort(overlaps)
	return overlaps[len(overlaps)/2]
}

func (s *Survey) decideScale(t *Table, name string) error {
	s.Unit = decideUnit(t)
	if name != "" {
		scale, err := gram.ParseScale(name)
		s.Scale, s.Why = scale, stream.Textf("scale %s as requested", name)
		s.Cosine = s.Unit == Counts && scale == gram.ScaleNone
		return err
	}
	switch s.Unit {
	case Counts:
		s.Scale, s.Cosine, s.Why = gram.ScaleNone, true, stream.Textf("counts, mostly 0: rows by cosine, scale none")
	case Differing:
		s.Scale, s.Why = gram.ScaleStandard, stream.Textf("units differ: scale standard")
	default:
		s.Scale, s.Why = gram.ScalePareto, stream.Textf("columns share a unit: scale pareto")
	}
	return nil
}

// scaleFactors returns the factor of each centred column, or 0 for constant columns.
func (s *Survey) scaleFactors(t *Table) []float64 {
	factor := make([]float64, t.Cols)
	for j := range t.Columns {
		c := &t.Columns[j]
		if !c.isUsable() {
			continue
		}
		if c.Category && s.Scale != gram.ScaleNone && s.Scale != gram.ScaleMinMax && s.Scale != gram.ScaleUnit { // see gram.NewStandardizer
			factor[j] = 1 / math.Sqrt(c.Mean)
			continue
		}
		switch s.Scale {
		case gram.ScaleStandard:
			factor[j] = 1 / c.Std
		case gram.ScalePareto:
			factor[j] = 1 / math.Sqrt(c.Std)
		case gram.ScaleMinMax:
			factor[j] = 1 / (c.Max - c.Min)
		case gram.ScaleUnit:
			factor[j] = 1 / math.Hypot(c.Std, c.Mean)
		default:
			factor[j] = 1
		}
	}
	return factor
}
