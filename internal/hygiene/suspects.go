package hygiene

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
)

// Kind is the reason why a column should not be a feature.
type Kind int

// Kinds of reasons, by priority: the kind of a column is the first that applies.
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
	Evidence string  // for Time the unit, for Leak a description of the evidence
	Original int     // for Copy: the original column
	Share    float64 // for Sparse: share of the rows without a value
}

const (
	// leastRows is the least number of rows for suspecting an identifier in any order, and leastRising for suspecting an
	// identifier whose values rise. Ten rows rise by chance once in 10! cases.
	leastRows   = 100
	leastRising = 10
	// nearlyUnique is the least share of distinct values.
	nearlyUnique = 0.95
	// longNumber is the least magnitude of numbers with too many digits for measurements to differ only by chance.
	longNumber = 1e6
)

// FindSuspects lists the suspicious columns among the wanted columns, by index. If wanted is nil, all columns are
// examined. p is the profile of the same rows. A column is Sparse if its share of missing values exceeds the limit
// mostMissing. If f is nil, only the profile is used.
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
		if c.Observed == 0 || c.Min == c.Max { // a constant column is not a feature at all
			continue
		}
		s := Suspect{Column: j}
		missing := float64(c.Missing.Total())
		if rows := c.Missing.Total() + c.Observed; rows == p.Rows {
			missing /= float64(rows)
		} else { // rows were dropped here
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

// isRowCounter reports whether column j numbers the rows and does not contain times: it is an identifier, and as times
// its rows would be less than 100 milliseconds, or smaller units, apart.
func (f *Facts) isRowCounter(j int, c *gram.ColumnProfile) bool {
	return c.Min > timeUnits[0].to && c.Max-c.Min < 100*float64(c.Observed) && f.isIdentifier(j, c)
}

// looksUnique distinguishes an identifier from a measurement in whole numbers. n measurements with standard deviation σ
// repeat about n²/(2·√12σ) values by chance. Identifiers repeat fewer values, or are long numbers.
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
