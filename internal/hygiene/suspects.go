package hygiene

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
)

// Kind is the reason why a column should not be a feature.
type Kind int

// The kinds, by priority: a column has the first that fits.
const (
	Sparse Kind = iota // most values are missing
	Time               // whole numbers that count time
	ID                 // whole numbers that hardly repeat
	Leak               // it nearly determines the label
	Copy               // the same values as an earlier column
)

// Suspect is a column that should not be a feature.
type Suspect struct {
	Column   int
	Kind     Kind
	Evidence string  // for Time its unit, for Leak the evidence
	Original int     // for Copy: the original column
	Share    float64 // for Sparse: of rows without a value
}

const (
	// leastRows suffice to suspect an identifier in any order, leastRising a rising one: by chance 10 rows rise once in
	// 10! times.
	leastRows   = 100
	leastRising = 10
	// nearlyUnique is the least share of distinct values.
	nearlyUnique = 0.95
	// longNumber is the least magnitude of numbers that are too long for measurements to differ by chance alone.
	longNumber = 1e6
)

// FindSuspects lists the suspicious ones of the wanted columns by index; nil means all. p is the profile of the same rows;
// a column is Sparse if its share of missing values exceeds mostMissing. If f is nil, only the profile is used.
func (f *Facts) FindSuspects(p *gram.Profile, wanted []bool, mostMissing float64) []Suspect {
	var list []Suspect
	var original []int
	if f != nil {
		original = f.originalColumns(wanted)
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		if wanted != nil && !wanted[j] {
			continue
		}
		if c.Observed == 0 || c.Min == c.Max { // constant: no feature at all
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
		case f != nil && f.columns[j].units.unitName() != "" && c.Observed >= leastRising && !f.isRowCounter(j, c):
			s.Kind, s.Evidence = Time, f.columns[j].units.unitName()
		case f.isIdentifier(j, c):
			s.Kind = ID
		case f != nil && f.label != nil && f.label.describeLeak(j) != "":
			s.Kind, s.Evidence = Leak, f.label.describeLeak(j)
		case f != nil && original[j] != j:
			s.Kind, s.Original = Copy, original[j]
		default:
			continue
		}
		list = append(list, s)
	}
	return list
}

func (f *Facts) isIdentifier(j int, c *gram.ColumnProfile) bool {
	return c.Rising && c.Observed >= leastRising || f != nil && f.columns[j].distinct.looksUnique(c)
}

// isRowCounter reports whether column j numbers the rows rather than the time: an identifier whose rows would be less
// than 100 milliseconds, or smaller units, apart.
func (f *Facts) isRowCounter(j int, c *gram.ColumnProfile) bool {
	return c.Min > timeUnits[0].to && c.Max-c.Min < 100*float64(c.Observed) && f.isIdentifier(j, c)
}

// looksUnique distinguishes an identifier from a measurement in whole numbers. n measurements with standard deviation σ
// repeat about n²/(2·√12σ) values by chance: identifiers repeat fewer, or are long numbers.
func (s *distinctSketch) looksUnique(c *gram.ColumnProfile) bool {
	if s == nil || s.seen < leastRows {
		return false
	}
	n, share := float64(s.seen), s.distinctShare()
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
