package where

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
)

// Outcome is the set of results that a condition may have for some rows.
type Outcome uint8

// The possible results, which are the bits of an Outcome.
const (
	IsTrue Outcome = 1 << iota
	IsFalse
	IsUnknown

	anyOutcome = IsTrue | IsFalse | IsUnknown
)

// MatchesNone reports whether no row can match.
func (o Outcome) MatchesNone() bool { return o&IsTrue == 0 }

// MatchesAll reports whether every row matches.
func (o Outcome) MatchesAll() bool { return o == IsTrue }

func (o Outcome) hasOneResult() bool { return o&(o-1) == 0 }

// State contains, by leaf of the condition (one comparison), its possible outcomes for some rows that are not read yet.
type State []Outcome

// NewState returns the state in which every outcome is possible.
func (b *Bound) NewState() State { return slices.Repeat(State{anyOutcome}, len(b.checks)) }

// narrowLeaf restricts the possible outcomes of a leaf to o. If no outcome would remain, it does nothing.
func (s State) narrowLeaf(leaf int, o Outcome) {
	if common := s[leaf] & o; common != 0 {
		s[leaf] = common
	}
}

// AddKey restricts s to the outcomes that are possible if a key in the path of the rows' file has this value or, if
// null is set, is null.
func (b *Bound) AddKey(s State, key, value string, null bool) {
	for i := range b.checks {
		if c := &b.checks[i]; c.isBound && c.column == key && c.kind.IsKey() {
			s.narrowLeaf(i, c.outcomeForKeyValue(value, null))
		}
	}
}

func (c *boundLeaf) outcomeForKeyValue(value string, isNull bool) Outcome {
	switch {
	case c.comparison == condition.IsNull && isNull:
		return IsTrue
	case c.comparison == condition.IsNull:
		return IsFalse
	case isNull:
		return IsUnknown
	}
	holds := func(compare func(i int) int, n int) bool {
		for i := range n {
			if orderMeetsTest(c.comparison, compare(i)) {
				return true
			}
		}
		return false
	}
	var ok bool
	switch c.kind.Class {
	case KeyNumber:
		x, infinite := parseKeyNumber(value)
		if x == nil { // NaN passes no test
			return IsFalse
		}
		ok = holds(func(i int) int { return cmp.Or(infinite, x.Cmp(c.rats[i])) }, len(c.rats))
	case KeyDate, KeyTime:
		at, known := condition.ParseUTC(value)
		if !known { // only a damaged plan has such a value
			return IsUnknown
		}
		instant := text.Instant{Second: at.Unix(), Nano: int32(at.Nanosecond())}
		ok = holds(func(i int) int { return instant.Compare(c.instants[i]) }, len(c.instants))
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

// parseKeyNumber returns a number or, for an infinite one, its sign. It returns nil for NaN.
func parseKeyNumber(value string) (x *big.Rat, infinite int) {
	if x, err := condition.ParseNumber(value); err == nil {
		return x, 0
	}
	f, _ := strconv.ParseFloat(value, 64)
	switch {
	case math.IsNaN(f):
		return nil, 0
	case math.IsInf(f, 0):
		return new(big.Rat), int(math.Copysign(1, f))
	}
	return new(big.Rat).SetFloat64(f), 0
}

func orderMeetsTest(t condition.Test, order int) bool {
	switch t {
	case condition.Less:
		return order < 0
	case condition.LessEqual:
		return order <= 0
	case condition.Greater:
		return order > 0
	case condition.GreaterEqual:
		return order >= 0
	}
	return order == 0
}

// Outcome returns the possible results of the condition for rows of the state. It considers each leaf separately.
// Therefore it may contain impossible results, for example that x < 1 and x > 2 is true, but it contains every possible
// result.
func (b *Bound) Outcome(s State) Outcome { return s.outcomeOfNode(b.Root) }

func (s State) outcomeOfNode(n *condition.Node) Outcome {
	switch n.Op {
	case condition.IsLeaf:
		return s[n.Leaf]
	case condition.Not:
		return s.outcomeOfNode(n.Args[0]).negateOutcome()
	}
	o := s.outcomeOfNode(n.Args[0])
	for _, arg := range n.Args[1:] {
		if n.Op == condition.And {
			o = o.andOutcome(s.outcomeOfNode(arg))
		} else {
			o = o.negateOutcome().andOutcome(s.outcomeOfNode(arg).negateOutcome()).negateOutcome() // de Morgan's law, which also holds for unknown
		}
	}
	return o
}

func (o Outcome) negateOutcome() Outcome {
	return o&IsUnknown | o&IsTrue<<1 | o&IsFalse>>1
}

func (o Outcome) andOutcome(other Outcome) (r Outcome) {
	r = o&other&IsTrue | (o|other)&IsFalse
	if o&IsUnknown != 0 && !other.isAlwaysFalse() || other&IsUnknown != 0 && !o.isAlwaysFalse() {
		r |= IsUnknown
	}
	return r
}

func (o Outcome) isAlwaysFalse() bool { return o == IsFalse }

// NeededColumns lists the columns whose values can still change the result for rows of the state.
func (b *Bound) NeededColumns(s State) (columns []string) {
	var visit func(n *condition.Node)
	visit = func(n *condition.Node) {
		if s.outcomeOfNode(n).hasOneResult() {
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
