package hygiene

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
)

// Kind is why a column had better be no feature.
type Kind int

// The kinds, in the order in which they are told. A column has the first that fits.
const (
	Sparse Kind = iota // most values are missing
	Time               // whole numbers that count time
	ID                 // whole numbers that hardly repeat
	Leak               // it nearly determines the label
	Copy               // the same values as an earlier column
)

// Suspect is a column that had better be no feature.
type Suspect struct {
	Column int
	Kind   Kind
	How    string  // of Time its unit, of Leak how it tells
	Of     int     // of Copy: the column that it repeats
	Share  float64 // of Sparse: of the rows without a value
}

const (
	// leastRows are enough to suspect an identifier in any order, leastRising one that rises: by chance
	// 10 rows rise once in 10! times.
	leastRows   = 100
	leastRising = 10
	// nearlyUnique is the least share of distinct values.
	nearlyUnique = 0.95
	// longNumber is the least magnitude of numbers that are too long to differ by chance alone.
	longNumber = 1e6
)

// Suspects lists the suspicious columns by index, among those wanted; nil stands for all. p is the profile
// of the same rows; mostMissing the share of missing values above which a column is Sparse. f may be nil:
// then only what p tells.
func (f *Facts) Suspects(p *gram.Profile, wanted []bool, mostMissing float64) []Suspect {
	var list []Suspect
	var original []int
	if f != nil {
		original = f.originals(wanted)
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		if wanted != nil && !wanted[j] {
			continue
		}
		if c.Observed == 0 || c.Min == c.Max { // no feature at all
			continue
		}
		s := Suspect{Column: j}
		missing := float64(c.Missing.Total())
		if rows := c.Missing.Total() + c.Observed; rows == p.Rows {
			missing /= float64(rows)
		} else { // rows were dropped
			missing /= float64(max(p.Seen, 1))
		}
		switch {
		case missing > mostMissing:
			s.Kind, s.Share = Sparse, missing
		case f != nil && f.columns[j].clock.unit() != "" && c.Observed >= leastRising && !f.counts(j, c):
			s.Kind, s.How = Time, f.columns[j].clock.unit()
		case f.identifies(j, c):
			s.Kind = ID
		case f != nil && f.label != nil && f.label.tells(j) != "":
			s.Kind, s.How = Leak, f.label.tells(j)
		case f != nil && original[j] != j:
			s.Kind, s.Of = Copy, original[j]
		default:
			continue
		}
		list = append(list, s)
	}
	return list
}

// identifies says that column j is an identifier.
func (f *Facts) identifies(j int, c *gram.ColumnProfile) bool {
	return c.Rising && c.Observed >= leastRising || f != nil && f.columns[j].kept.identifies(c)
}

// counts says that column j numbers the rows rather than the time: an identifier whose rows would be less
// than 100 milliseconds, or smaller units, apart.
func (f *Facts) counts(j int, c *gram.ColumnProfile) bool {
	return c.Min > units[0].to && c.Max-c.Min < 100*float64(c.Observed) && f.identifies(j, c)
}

// identifies tells an identifier from a measurement in whole numbers, of which n rows on a spread of σ
// repeat about n²/(2·√12σ) values by chance: identifiers repeat fewer, or are long.
func (s *sketch) identifies(c *gram.ColumnProfile) bool {
	if s == nil || s.seen < leastRows {
		return false
	}
	n, share := float64(s.seen), s.share()
	spread := math.Sqrt(max(c.Squares/c.Weight-c.Sum*c.Sum/c.Weight/c.Weight, 0))
	chance := n * n / (2 * math.Sqrt(12) * spread)
	long := max(math.Abs(c.Min), math.Abs(c.Max)) >= longNumber
	switch {
	case share == 1:
		return long || chance >= 3
	case share < nearlyUnique:
		return false
	}
	return long && chance < 1 || chance >= 20 && (1-share)*n < chance/2
}
