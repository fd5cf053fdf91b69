package where

import (
	"bytes"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
)

// Rows evaluates a condition on consecutive rows, one leaf at a time for all rows:
//
//	r.Reset(state, n)
//	r.AddNumbers(…) or r.AddTexts(…) // for every column in NeededColumns(state)
//	r.MarkSkipped(bits)
//
// It holds two bits for each row and leaf. Only one goroutine at a time may use it.
type Rows struct {
	*Bound
	state State
	n     int           // number of rows
	leaf  []outcomeSets // by leaf of the condition
	memo  [][]uint8     // by leaf and by entry of the current dictionary: its outcome
}

// outcomeSets contains bit sets: of the rows for which a node of the condition is true, and for which it is false.
type outcomeSets struct{ yes, no []uint64 }

// Values of a memo; 0 means that the outcome is not known yet.
const (
	entryPasses uint8 = 1 + iota
	entryFails
)

// NewRows returns Rows that evaluate b.
func NewRows(b *Bound) *Rows {
	return &Rows{Bound: b, leaf: make([]outcomeSets, len(b.checks)), memo: make([][]uint8, len(b.checks))}
}

// RowBits returns the number of bits that Rows holds per row.
func (b *Bound) RowBits() int { return 2 * len(b.checks) }

// Reset begins the evaluation of n rows with the given state.
func (r *Rows) Reset(s State, n int) {
	r.state, r.n = s, n
	words := (n + 63) / 64
	for i := range r.leaf {
		l := &r.leaf[i]
		l.yes, l.no = format.Resize(l.yes, words), format.Resize(l.no, words)
		clear(l.yes)
		clear(l.no)
	}
}

// AddNumbers adds the values of a column whose kind is numeric, with format.Null for a null.
func (r *Rows) AddNumbers(column string, values []float64) {
	for i := range r.checks {
		if c := &r.checks[i]; c.isBound && c.column == column {
			l := &r.leaf[i]
			for w := range l.yes {
				l.yes[w], l.no[w] = c.testNumbers(values[64*w : min(64*w+64, len(values))])
			}
		}
	}
}

func (c *boundLeaf) testNumbers(values []float64) (passing, failing uint64) {
	var null uint64
	for i, x := range values {
		if format.IsNull(x) {
			null |= 1 << i
		}
	}
	all := ^uint64(0) >> (64 - len(values))
	switch c.comparison {
	case condition.IsNull:
		return null, all &^ null
	case condition.Equal:
		if len(c.numbers) >= manyConstants { // the constants are sorted
			for i, x := range values {
				if _, found := slices.BinarySearch(c.numbers, x); found {
					passing |= 1 << i
				}
			}
			break
		}
		for _, k := range c.numbers {
			for i, x := range values {
				if x == k {
					passing |= 1 << i
				}
			}
		}
	case condition.Less:
		k := c.numbers[0]
		for i, x := range values {
			if x < k {
				passing |= 1 << i
			}
		}
	case condition.LessEqual:
		k := c.numbers[0]
		for i, x := range values {
			if x <= k {
				passing |= 1 << i
			}
		}
	case condition.Greater:
		k := c.numbers[0]
		for i, x := range values {
			if x > k {
				passing |= 1 << i
			}
		}
	case condition.GreaterEqual:
		k := c.numbers[0]
		for i, x := range values {
			if x >= k {
				passing |= 1 << i
			}
		}
	}
	return passing, all &^ (passing | null) // a null is NaN, which passes no test
}

// AddTexts adds the values of some rows of a column whose kind is not numeric, beginning with the row number at. ids
// contains the index of each row's text in values, or -1 for a null. The rows of a column must be added in order.
// perSecond is the number of units in a second if times are stored as integers, and 0 if they are days. It returns
// false if a value is not a time.
func (r *Rows) AddTexts(column string, perSecond int64, at int, ids []int32, values *text.List) bool {
	for i := range r.checks {
		c := &r.checks[i]
		if !c.isBound || c.column != column {
			continue
		}
		if at == 0 {
			r.memo[i] = r.memo[i][:0]
		}
		for len(r.memo[i]) < values.Fixed {
			r.memo[i] = append(r.memo[i], 0)
		}
		if !c.testTexts(&r.leaf[i], r.memo[i], perSecond, at, ids, values) {
			return false
		}
	}
	return true
}

func (c *boundLeaf) testTexts(l *outcomeSets, memo []uint8, perSecond int64, at int, ids []int32, values *text.List) bool {
	for k, id := range ids {
		row := at + k
		bit := uint64(1) << (row & 63)
		if id < 0 || c.comparison == condition.IsNull {
			switch {
			case c.comparison != condition.IsNull: // the outcome is unknown
			case id < 0:
				l.yes[row>>6] |= bit
			default:
				l.no[row>>6] |= bit
			}
			continue
		}
		entry := uint8(0)
		if int(id) < len(memo) {
			entry = memo[id]
		}
		if entry == 0 {
			passes, ok := c.testText(values.Value(int(id)), perSecond)
			if !ok {
				return false
			}
			if entry = entryFails; passes {
				entry = entryPasses
			}
			if int(id) < len(memo) {
				memo[id] = entry
			}
		}
		if entry == entryPasses {
			l.yes[row>>6] |= bit
		} else {
			l.no[row>>6] |= bit
		}
	}
	return true
}

// testText evaluates one value stored as text; ok is false if it should be a time but is not.
func (c *boundLeaf) testText(value []byte, perSecond int64) (passes, ok bool) {
	switch {
	case c.instants != nil:
		at, ok := text.ParseInstant(value, perSecond)
		for _, k := range c.instants {
			passes = passes || orderMeetsTest(c.comparison, at.Compare(k))
		}
		return passes, ok
	case c.textSet != nil:
		_, passes = c.textSet[string(value)] // this conversion does not allocate a string
	case c.kind.Class == Decimal:
		for _, k := range c.texts {
			passes = passes || orderMeetsTest(c.comparison, compareDecimals(value, k))
		}
	default:
		for _, k := range c.texts {
			passes = passes || orderMeetsTest(c.comparison, bytes.Compare(value, []byte(k)))
		}
	}
	return passes, true
}

// MarkSkipped sets the bits of the rows for which the condition is not true.
func (r *Rows) MarkSkipped(bits []uint64) {
	yes := r.evaluateNode(r.Root).yes
	for w := range yes {
		bits[w] |= ^yes[w]
	}
	if tail := r.n & 63; tail > 0 { // clear the bits beyond the last row
		bits[len(yes)-1] &= 1<<tail - 1
	}
}

// evaluateNode evaluates a node, using the sets of its first leaf for the result. Each leaf occurs only once.
func (r *Rows) evaluateNode(n *condition.Node) *outcomeSets {
	if o := r.state.outcomeOfNode(n); o.hasOneResult() {
		return r.fillOutcomeSets(n, o)
	}
	switch n.Op {
	case condition.IsLeaf:
		return &r.leaf[n.Leaf]
	case condition.Not:
		l := r.evaluateNode(n.Args[0])
		l.yes, l.no = l.no, l.yes
		return l
	}
	l := r.evaluateNode(n.Args[0])
	for _, arg := range n.Args[1:] {
		m := r.evaluateNode(arg)
		both, either := [2][]uint64{l.yes, m.yes}, [2][]uint64{l.no, m.no}
		if n.Op == condition.Or {
			both, either = either, both
		}
		for w := range both[0] {
			both[0][w] &= both[1][w]
			either[0][w] |= either[1][w]
		}
	}
	return l
}

func (r *Rows) fillOutcomeSets(n *condition.Node, o Outcome) *outcomeSets {
	for n.Op != condition.IsLeaf {
		n = n.Args[0]
	}
	l := &r.leaf[n.Leaf]
	for w := range l.yes {
		l.yes[w], l.no[w] = 0, 0
		switch o {
		case IsTrue:
			l.yes[w] = ^uint64(0)
		case IsFalse:
			l.no[w] = ^uint64(0)
		}
	}
	return l
}

// ReadsColumn reports whether the condition compares a column of files with this name.
func (b *Bound) ReadsColumn(column string) bool {
	return slices.ContainsFunc(b.checks, func(c boundLeaf) bool { return c.column == column && !c.kind.IsKey() })
}
