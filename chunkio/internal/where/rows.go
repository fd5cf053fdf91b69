package where

import (
	"bytes"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/condition"
)

// Rows evaluates a condition on consecutive rows, a leaf at a time over all of them:
//
//	r.Reset(state, n)
//	r.Numbers(…) or r.Texts(…) // for every column in Needed(state)
//	r.Skip(bits)
//
// It holds two bits a row and leaf. The zero Rows of a Bound is ready for use; it serves
// one goroutine.
type Rows struct {
	*Bound
	state State
	n     int
	leaf  []sets
	memo  [][]uint8 // by leaf, by entry of the dictionary at work: what it is
}

// sets are the rows for which a node is true, and for which it is false.
type sets struct{ yes, no []uint64 }

// What a memo holds of an entry: 0 is not known yet.
const (
	entryPasses uint8 = 1 + iota
	entryFails
)

// NewRows evaluates b.
func NewRows(b *Bound) *Rows {
	return &Rows{Bound: b, leaf: make([]sets, len(b.checks)), memo: make([][]uint8, len(b.checks))}
}

// RowBits is what Rows holds for a row.
func (b *Bound) RowBits() int { return 2 * len(b.checks) }

// Reset begins n rows of which state is known.
func (r *Rows) Reset(s State, n int) {
	r.state, r.n = s, n
	words := (n + 63) / 64
	for i := range r.leaf {
		l := &r.leaf[i]
		l.yes, l.no = format.Sized(l.yes, words), format.Sized(l.no, words)
		clear(l.yes)
		clear(l.no)
	}
}

// Numbers takes the values of a column whose kind is numeric, with format.Null for a null.
func (r *Rows) Numbers(column string, values []float64) {
	for i := range r.checks {
		if c := &r.checks[i]; c.bound && c.column == column {
			l := &r.leaf[i]
			for w := range l.yes {
				l.yes[w], l.no[w] = c.word(values[64*w : min(64*w+64, len(values))])
			}
		}
	}
}

// word evaluates at most 64 numbers.
func (c *check) word(values []float64) (yes, no uint64) {
	var null uint64
	for i, x := range values {
		if format.IsNull(x) {
			null |= 1 << i
		}
	}
	all := ^uint64(0) >> (64 - len(values))
	switch c.test {
	case condition.IsNull:
		return null, all &^ null
	case condition.Equal:
		if len(c.numbers) >= manyConstants { // in order
			for i, x := range values {
				if _, found := slices.BinarySearch(c.numbers, x); found {
					yes |= 1 << i
				}
			}
			break
		}
		for _, k := range c.numbers {
			for i, x := range values {
				if x == k {
					yes |= 1 << i
				}
			}
		}
	case condition.Less:
		k := c.numbers[0]
		for i, x := range values {
			if x < k {
				yes |= 1 << i
			}
		}
	case condition.LessEqual:
		k := c.numbers[0]
		for i, x := range values {
			if x <= k {
				yes |= 1 << i
			}
		}
	case condition.Greater:
		k := c.numbers[0]
		for i, x := range values {
			if x > k {
				yes |= 1 << i
			}
		}
	case condition.GreaterEqual:
		k := c.numbers[0]
		for i, x := range values {
			if x >= k {
				yes |= 1 << i
			}
		}
	}
	return yes, all &^ (yes | null) // a null is NaN, which passes no test
}

// Texts takes the values of some rows of a column whose kind is not numeric, from row
// at on: their numbers in values, -1 for a null. The rows of a column come in order.
// perSecond is the unit of times that stand as integers, 0 for days. It is false
// where a value is no time.
func (r *Rows) Texts(column string, perSecond int64, at int, ids []int32, values *text.List) bool {
	for i := range r.checks {
		c := &r.checks[i]
		if !c.bound || c.column != column {
			continue
		}
		if at == 0 {
			r.memo[i] = r.memo[i][:0]
		}
		for len(r.memo[i]) < values.Fixed {
			r.memo[i] = append(r.memo[i], 0)
		}
		if !c.texted(&r.leaf[i], r.memo[i], perSecond, at, ids, values) {
			return false
		}
	}
	return true
}

func (c *check) texted(l *sets, memo []uint8, perSecond int64, at int, ids []int32, values *text.List) bool {
	for k, id := range ids {
		row := at + k
		bit := uint64(1) << (row & 63)
		if id < 0 || c.test == condition.IsNull {
			switch {
			case c.test != condition.IsNull: // unknown
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
			passes, ok := c.passes(values.Value(int(id)), perSecond)
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

// passes evaluates one value that stands as text; ok is false where it is no time.
func (c *check) passes(value []byte, perSecond int64) (passes, ok bool) {
	switch {
	case c.instants != nil:
		at, ok := text.ParseInstant(value, perSecond)
		for _, k := range c.instants {
			passes = passes || meets(c.test, at.Compare(k))
		}
		return passes, ok
	case c.set != nil:
		_, passes = c.set[string(value)] // makes no string
	case c.kind.Class == Decimal:
		for _, k := range c.texts {
			passes = passes || meets(c.test, compareDecimals(value, k))
		}
	default:
		for _, k := range c.texts {
			passes = passes || meets(c.test, bytes.Compare(value, []byte(k)))
		}
	}
	return passes, true
}

// Skip sets the bits of the rows for which the condition is not true.
func (r *Rows) Skip(bits []uint64) {
	yes := r.of(r.Root).yes
	for w := range yes {
		bits[w] |= ^yes[w]
	}
	if tail := r.n & 63; tail > 0 { // no bits beyond the last row
		bits[len(yes)-1] &= 1<<tail - 1
	}
}

// of evaluates a node in the sets of its first leaf: each leaf is in the tree once.
func (r *Rows) of(n *condition.Node) *sets {
	if o := r.state.of(n); o.decided() {
		return r.constant(n, o)
	}
	switch n.Op {
	case condition.IsLeaf:
		return &r.leaf[n.Leaf]
	case condition.Not:
		l := r.of(n.Args[0])
		l.yes, l.no = l.no, l.yes
		return l
	}
	l := r.of(n.Args[0])
	for _, arg := range n.Args[1:] {
		m := r.of(arg)
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

// constant makes the sets of a node that is the same for all rows.
func (r *Rows) constant(n *condition.Node, o Outcome) *sets {
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

// Reads tells whether the condition compares a column of files of that name.
func (b *Bound) Reads(column string) bool {
	return slices.ContainsFunc(b.checks, func(c check) bool { return c.column == column && !c.kind.IsKey() })
}
