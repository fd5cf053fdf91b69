package where

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/condition"
)

// Outcome is the set of what a condition may be for some rows.
type Outcome uint8

// The members of an Outcome.
const (
	IsTrue Outcome = 1 << iota
	IsFalse
	IsUnknown

	anything = IsTrue | IsFalse | IsUnknown
)

// Never tells that no row can match.
func (o Outcome) Never() bool { return o&IsTrue == 0 }

// Always tells that every row matches.
func (o Outcome) Always() bool { return o == IsTrue }

func (o Outcome) decided() bool { return o&(o-1) == 0 }

// State is what is known of the leaves for some rows, without having read them.
type State []Outcome

// Start knows nothing.
func (b *Bound) Start() State { return slices.Repeat(State{anything}, len(b.checks)) }

// narrow adds what is known of a leaf. What contradicts itself is as good as unknown.
func (s State) narrow(leaf int, o Outcome) {
	if both := s[leaf] & o; both != 0 {
		s[leaf] = both
	}
}

// Given adds the value of a key of the rows' path; null says that it has none.
func (b *Bound) Given(s State, key, value string, null bool) {
	for i := range b.checks {
		if c := &b.checks[i]; c.bound && c.column == key && c.kind.IsKey() {
			s.narrow(i, c.ofKey(value, null))
		}
	}
}

func (c *check) ofKey(value string, null bool) Outcome {
	switch {
	case c.test == condition.IsNull && null:
		return IsTrue
	case c.test == condition.IsNull:
		return IsFalse
	case null:
		return IsUnknown
	}
	holds := func(compare func(i int) int, n int) bool {
		for i := range n {
			if meets(c.test, compare(i)) {
				return true
			}
		}
		return false
	}
	var ok bool
	switch c.kind.Class {
	case KeyNumber:
		x := keyNumber(value)
		ok = holds(func(i int) int { return x.Cmp(c.rats[i]) }, len(c.rats))
	case KeyTruth:
		ok = slices.Contains(c.texts, strings.ToLower(value))
	default:
		ok = holds(func(i int) int { return strings.Compare(value, c.texts[i]) }, len(c.texts))
	}
	if ok {
		return IsTrue
	}
	return IsFalse
}

// keyNumber reads a key that is known to be a finite decimal.
func keyNumber(s string) *big.Rat {
	if x, err := condition.ParseNumber(s); err == nil {
		return x
	}
	f, _ := strconv.ParseFloat(s, 64)
	x := new(big.Rat)
	x.SetFloat64(f)
	return x
}

// meets tells whether a value that compares so with the constant meets the test.
func meets(t condition.Test, compared int) bool {
	switch t {
	case condition.Less:
		return compared < 0
	case condition.LessEqual:
		return compared <= 0
	case condition.Greater:
		return compared > 0
	case condition.GreaterEqual:
		return compared >= 0
	}
	return compared == 0
}

// Outcome is what the condition may be for rows of the state. Leaves are taken one by
// one, so it may hold what cannot be (x < 1 and x > 2), but never lacks what can.
func (b *Bound) Outcome(s State) Outcome { return s.of(b.Root) }

func (s State) of(n *condition.Node) Outcome {
	switch n.Op {
	case condition.IsLeaf:
		return s[n.Leaf]
	case condition.Not:
		return s.of(n.Args[0]).not()
	}
	o := s.of(n.Args[0])
	for _, arg := range n.Args[1:] {
		if n.Op == condition.And {
			o = o.and(s.of(arg))
		} else {
			o = o.not().and(s.of(arg).not()).not() // de Morgan, which holds with unknown too
		}
	}
	return o
}

func (o Outcome) not() Outcome {
	return o&IsUnknown | o&IsTrue<<1 | o&IsFalse>>1
}

func (o Outcome) and(p Outcome) (r Outcome) {
	r = o&p&IsTrue | (o|p)&IsFalse
	if o&IsUnknown != 0 && !p.onlyFalse() || p&IsUnknown != 0 && !o.onlyFalse() {
		r |= IsUnknown
	}
	return r
}

func (o Outcome) onlyFalse() bool { return o == IsFalse }

// Needed lists the columns that still matter to rows of the state.
func (b *Bound) Needed(s State) (columns []string) {
	var visit func(n *condition.Node)
	visit = func(n *condition.Node) {
		if s.of(n).decided() {
			return
		}
		if n.Op == condition.IsLeaf {
			if c := b.checks[n.Leaf].column; !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
		for _, arg := range n.Args {
			visit(arg)
		}
	}
	visit(b.Root)
	return columns
}
