package catalog

import (
	"math"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// numberRange is the range of the numbers of a leaf, except NaN, according to the statistics of its row groups.
type numberRange struct {
	Low, High             float64
	HasBounds, HasUnknown bool // at least one row group has known bounds; at least one has unknown bounds
}

func (b *catalogBuilder) addNumberRanges(opened format.File, f *File) {
	if f.CountRows() == 0 {
		return
	}
	if b.Rows == 0 { // the columns of files without rows do not count
		b.Spreads = nil
	}
	bounded, ok := opened.(format.Bounded)
	for at := range b.Leaves {
		if at == len(b.Spreads) {
			b.Spreads = append(b.Spreads, numberRange{})
		}
		s, here := &b.Spreads[at], f.LeafIndex(at)
		for g, rows := range f.Groups {
			if here < 0 || rows == 0 || s.HasUnknown {
				continue
			}
			if !ok || !comparisonKindOfLeaf(b.Leaves[at]).IsNumeric() && b.Leaves[at].Type != "bool" {
				s.HasUnknown = true
				continue
			}
			s.addBounds(bounded.Bounds(g, here))
		}
	}
}

func (s *numberRange) addBounds(b format.Bounds) {
	switch {
	case b.Nulls == b.Rows:
	case !b.Min.Known || !b.Max.Known || math.IsInf(b.Min.Number, 0) || math.IsInf(b.Max.Number, 0):
		s.HasUnknown = true
	case !s.HasBounds:
		s.Low, s.High, s.HasBounds = b.Min.Number, b.Max.Number, true
	default:
		s.Low, s.High = min(s.Low, b.Min.Number), max(s.High, b.Max.Number)
	}
}
