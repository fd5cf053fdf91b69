package hygiene

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
)

// Kind is the reason why a column should not be a feature.
type Kind int

// The reasons, by priority: if several apply to a column, its kind is the first.
const (
	Sparse Kind = iota // most values are missing
	Time               // whole numbers that count time
	ID                 // whole numbers that hardly repeat
	Leak               // the column nearly determines the label
	Copy               // the same values as an earlier column
)

// Suspect is a column that should probably not be a feature.
type Suspect struct {
	Column   int
	Kind     Kind
	Evidence string  // for Time the unit, for Leak a description of how it determines the label
	Original int     // for Copy: the original column
	Share    float64 // for Sparse: share of the rows without a value
}

const (
	// minRows is the least number of rows for suspecting an identifier if the values are in any order, and minRising if
	// the values rise. Ten values rise by chance once in 10! cases.
	minRows   = 100
	minRising = 10
	// nearlyUnique is the least share of distinct values among all values of an identifier.
	nearlyUnique = 0.95
	// longNumber is the least magnitude of numbers that are too long for measurements. Measurements have fewer
	// significant digits.
	longNumber = 1e6
)

// FindSuspects lists the suspicious columns among the wanted columns, by index. If wanted is nil, all columns are
// examined. p is the profile of the same rows. A column is Sparse if its share of missing values exceeds maxMissing. If
// f is nil, only the profile is used.
func (f *Facts) FindSuspects(p *gram.Profile, wanted []bool, maxMissing float64) []Suspect {
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
		if c.Observed == 0 || c.Min == c.Max { // a constant column cannot be a feature in any case
			continue
		}
		s := Suspect{Column: j}
		missing := float64(c.Missing.Total())
		if rows := c.Missing.Total() + c.Observed; rows == p.Rows {
			missing /= float64(rows)
		} else { // rows with a missing value were dropped, so the share refers to all rows read
			missing /= float64(max(p.Seen, 1))
		}
		switch {
		case missing > maxMissing:
			s.Kind, s.Share = Sparse, missing
		case f != nil && f.columns[j].units.unitName() != "" && c.Observed >= minRising && !f.isRowCounter(j, c):
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
	return c.Rising && c.Observed >= minRising || f != nil && f.columns[j].distinct.looksUnique(c)
}

// isRowCounter reports whether the values of column j number the rows, although they could be times. In this case the
// column is an identifier, and successive values differ by less than 100 on average: as times in ms they would be less
// than 100 ms apart.
func (f *Facts) isRowCounter(j int, c *gram.ColumnProfile) bool {
	return c.Min > timeUnits[0].to && c.Max-c.Min < 100*float64(c.Observed) && f.isIdentifier(j, c)
}

// looksUnique distinguishes an identifier from a measurement in whole numbers. Among n measurements in whole numbers
// with standard deviation σ, about n²/(2·√12σ) repeat a value by chance. Identifiers repeat fewer values, or are long
// numbers.
func (s *distinctSketch) looksUnique(c *gram.ColumnProfile) bool {
	if s == nil || s.seen < minRows {
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
