package survey

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// minOverlap is the least median overlap of the ranges of two columns that counts as one unit (see
	// computeMedianOverlap). Over 52 sets the median overlap of columns with one unit is above 0.3, with two exceptions:
	// raw intensities (tox171: 0.1, because few are large) and descriptors of several kinds (mfeat: 0.07, though scale
	// pareto suits it better). For columns in different units (wine, wdbc, planted tables, lakes) it is below 0.01.
	minOverlap = 0.05
	// maxVarianceShare is the largest share of the total variance that one column has if all columns have the same
	// unit. A single column in another unit has more: an age among grades from 0 to 3 (set dermatology: 0.9), and the
	// number of the speaker among frequencies (set vowel: 0.8). In sets with one unit the largest share is 0.06.
	maxVarianceShare = 0.5
	// minZeroShare is the least share of zeros in a table of counts. Words and fingerprints are 0 in at least 94 % of
	// the entries, pixels of digits in at most 82 %.
	minZeroShare = 0.9
	// overlapPairs is the largest number of pairs of columns that computeMedianOverlap examines.
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
	case !negative && computeZeroShare(t) >= minZeroShare:
		return Counts
	case computeMedianOverlap(usable) < minOverlap, len(usable) > 2 && largest > maxVarianceShare*total:
		return Differing
	}
	return Shared
}

func computeZeroShare(t *Table) float64 {
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

// computeMedianOverlap returns the median overlap of pairs of columns. The overlap is the length of the intersection of
// the ranges, divided by the length of their union. If there are many columns, pairs are drawn by hash from the columns
// sorted by range, so that the order of the columns has no effect.
func computeMedianOverlap(columns []*Column) float64 {
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

func (s *Survey) decideScale(t *Table, requested string) error {
	s.Unit = decideUnit(t)
	if requested != "" {
		scale, err := gram.ParseScale(requested)
		s.Scale, s.Why = scale, stream.Textf("scale %s as requested", requested)
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

// MemoryBytes returns an upper bound of the memory of [ExamineTable], including its result, in addition to the table of
// dense rows. m is the number of anchors (0 means DefaultAnchors), and neighbors the number of neighbors (0 means the
// default).
func MemoryBytes(rows, d, m, neighbors, threads int) int64 {
	m, neighbors = resolveAnchorsAndNeighbors(rows, m, neighbors)
	graph := func(m int) int64 {
		return anchor.AmongUpToBytes(m, d, neighbors, threads) + spectral.DiffusionBytes(m, d)
	}
	judged := min(m, maxTestAnchors)
	return room.Measure(func(l *room.Layout) {
		l.Add(kernel.TeamBytes(m, max(m, d)) + 160*int64(d) + 1<<16)
		// The points are computed again without the noise columns, and the memory of the first points may not yet be freed.
		kernel.NewMatrix[float64](l, 2*judged, d)
		l.Phase(func() { layOutColumnPowers(l, judged, d) })
		l.Phase(func() {
			layOutSurrogate(l, judged, d)
			l.Add(graph(judged))
		})
		if m > judged { // then all points exist, and the memory of the judged points may not yet be freed
			kernel.NewMatrix[float64](l, judged+m, d)
			l.Add(graph(m))
		}
	})
}

// ThinBytes returns an upper bound of the memory of [ExamineTable] for sparse rows with the given number of entries.
func ThinBytes(rows, d, m, neighbors, threads int, entries int64) int64 {
	m, neighbors = resolveAnchorsAndNeighbors(rows, m, neighbors)
	entries *= 2 // each entry becomes two: its normalized value for the cosine, and its original value
	// The slices of points grow by doubling, so that the old and the new slice may exist at once.
	return 3*16*entries + anchor.AmongThinBytes(m, 2*d, neighbors, threads, entries) + spectral.ThinDiffusionBytes(m, 2*d) + 200*int64(d) + 1<<16
}

// maxDenseValues is the largest number of values (rows times columns) for which sparse rows are converted to dense
// rows before they are surveyed.
const maxDenseValues = 1 << 24

// StaysThin reports whether a table of rows×d values is too large to be converted to dense rows.
func StaysThin(rows, d int) bool { return int64(rows)*int64(d) > maxDenseValues }

func resolveAnchorsAndNeighbors(rows, anchors, neighbors int) (int, int) {
	anchors = cmp.Or(anchors, DefaultAnchors)
	neighbors = cmp.Or(neighbors, anchor.DefaultNeighbors)
	return min(anchors, rows), neighbors
}
