package where

import (
	"bytes"
	"cmp"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
)

// AddBounds restricts s, the state of some rows, to the outcomes that are possible if the column has these statistics
// in these rows.
func (b *Bound) AddBounds(s State, column string, stats format.Bounds) {
	for i := range b.checks {
		if c := &b.checks[i]; c.isBound && c.column == column && !c.kind.IsKey() {
			s.narrowLeaf(i, c.possibleOutcomes(stats))
		}
	}
}

func (c *boundLeaf) possibleOutcomes(stats format.Bounds) Outcome {
	someNull := stats.Nulls != 0
	someValue := stats.Nulls < 0 || stats.Nulls < stats.Rows
	var o Outcome
	if c.comparison == condition.IsNull {
		if someNull {
			o |= IsTrue
		}
		if someValue {
			o |= IsFalse
		}
		return o
	}
	if someNull {
		o |= IsUnknown
	}
	if someValue {
		yes, no := c.mayPassOrFail(stats)
		if yes {
			o |= IsTrue
		}
		if no || c.kind.Class == Float { // NaN, which bounds ignore, does not pass any test
			o |= IsFalse
		}
	}
	return o
}

// mayPassOrFail reports whether a value within these bounds, other than NaN, may pass the test (yes), and whether it
// may fail (no).
func (c *boundLeaf) mayPassOrFail(stats format.Bounds) (yes, no bool) {
	atLeast := func(b format.Bound, i, sign int, otherwise bool) bool { // sign·(b − constant) >= 0
		return !b.Known && otherwise || b.Known && sign*c.compareBoundWithConstant(b, i) >= 0
	}
	low, high := stats.Min, stats.Max
	if c.numbers != nil { // some writers use NaN as a bound
		low.Known, high.Known = low.Known && low.Number == low.Number, high.Known && high.Number == high.Number
	}
	switch c.comparison {
	case condition.Less:
		return !atLeast(low, 0, 1, false), atLeast(high, 0, 1, true)
	case condition.LessEqual:
		return atLeast(low, 0, -1, true), !atLeast(high, 0, -1, false)
	case condition.Greater:
		return !atLeast(high, 0, -1, false), atLeast(low, 0, -1, true)
	case condition.GreaterEqual:
		return atLeast(high, 0, 1, true), !atLeast(low, 0, 1, false)
	}
	no = true
	for i := range c.constantCount() {
		yes = yes || atLeast(low, i, -1, true) && atLeast(high, i, 1, true)
		if low.Known && high.Known && c.compareBoundWithConstant(low, i) == 0 && c.compareBoundWithConstant(high, i) == 0 {
			no = false // all values are this constant
		}
	}
	return yes, no
}

func (c *boundLeaf) constantCount() int { return max(len(c.numbers), len(c.texts), len(c.instants)) }

func (c *boundLeaf) compareBoundWithConstant(b format.Bound, constant int) int {
	switch {
	case c.numbers != nil:
		return cmp.Compare(b.Number, c.numbers[constant])
	case c.instants != nil:
		return b.Instant.Compare(c.instants[constant])
	case c.kind.Class == Decimal:
		return compareDecimals(b.Text, c.texts[constant])
	}
	return bytes.Compare(b.Text, []byte(c.texts[constant]))
}

// compareDecimals compares two decimals of the same scale, as text.AppendDecimal writes them. Of two positive decimals
// of different length, the longer one is larger.
func compareDecimals(a []byte, b string) int {
	negative := a[0] == '-'
	switch {
	case negative && b[0] != '-':
		return -1
	case !negative && b[0] == '-':
		return 1
	}
	c := cmp.Compare(len(a), len(b))
	if c == 0 {
		c = bytes.Compare(a, []byte(b))
	}
	if negative {
		return -c
	}
	return c
}
