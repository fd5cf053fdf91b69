package planted

import (
	"cmp"
	"math/bits"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the shape of a Table. Zero fields mean their defaults.
type Options struct {
	Rows    int64 // default 20,000
	Factors int   // number of hidden factors; default 6, or the number whose columns fill half of Columns
	// Columns is the total number of columns. All columns other than groups, mixtures and constants are noise. If
	// Columns is 0 (default), Noise sets the number of noise columns.
	Columns  int
	Noise    int   // number of columns of noise; default twice the factors; not together with Columns
	Constant int   // number of constant columns; default 2, or fewer if Columns is small
	GroupRow int64 // number of rows of a row group, see Table.Cuts; default 4,096
	// Classes is the number of classes of rows (Table.Class) on which the factors depend, a power of two; default 0: none.
	Classes int
	Seed    uint64 // default 1
}

func (o Options) withDefaults() Options {
	o.Rows = cmp.Or(o.Rows, 20000)
	if o.Factors == 0 {
		o.Factors = 6
		if o.Columns > 0 {
			for o.Factors = 1; 2*informativeColumns(o.Factors+1) <= o.Columns; {
				o.Factors++
			}
		}
	}
	if o.Columns > 0 {
		rest := o.Columns - informativeColumns(o.Factors)
		o.Constant = cmp.Or(o.Constant, min(2, rest/4))
		o.Noise = rest - o.Constant
	} else {
		o.Noise = cmp.Or(o.Noise, 2*o.Factors)
		o.Constant = cmp.Or(o.Constant, 2)
	}
	o.GroupRow = cmp.Or(o.GroupRow, 4096)
	o.Seed = cmp.Or(o.Seed, 1)
	return o
}

// informativeColumns returns the number of columns that depend on one of f factors: groups and mixtures.
func informativeColumns(f int) int { return f*(f+5)/2 + f/2 }

// Validate reports every fault of the options in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	if o.Rows < 0 || o.Factors < 0 || o.Columns < 0 || o.Noise < 0 || o.Constant < 0 || o.GroupRow < 0 || o.Classes < 0 {
		faults.Addf("a number is negative")
	}
	if o.Columns > 0 && o.Noise > 0 {
		faults.Addf("the columns of noise follow from the number of all columns; give only one of the two")
	}
	if need := informativeColumns(max(o.Factors, 1)) + o.Constant; o.Columns > 0 && o.Columns < need {
		faults.Addf("%d columns are too few: %d factors and %d constants need %d, since a factor shows in at least 3 redundant columns",
			o.Columns, max(o.Factors, 1), o.Constant, need)
	}
	if o.Classes == 1 || bits.OnesCount(uint(o.Classes)) > 1 {
		faults.Addf("%d classes: want a power of two from 2 on, so that the factors stay uncorrelated", o.Classes)
	} else if f := o.withDefaults().Factors; faults == nil && o.Classes > 2*f {
		// Factors must determine the class: its bits are the Walsh functions 1, 2, 4, …, classes/2.
		faults.Addf("%d classes need %d factors to tell them apart, and there are %d", o.Classes, o.Classes/2, f)
	}
	return faults.Err("planted table: ")
}
