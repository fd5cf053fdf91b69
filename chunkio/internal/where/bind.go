package where

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Bound is a condition on rows in which some or all comparisons are bound to the types of their columns. It is
// immutable.
type Bound struct {
	*condition.Condition
	checks []boundLeaf // by leaf
}

// boundLeaf is a leaf of the condition (one comparison), bound to its column's type. If a constant lies between two
// adjacent values of the type, it is replaced by the lower of these values. To keep the result the same for all values
// of the type, < is then replaced by <=, and >= by >.
type boundLeaf struct {
	column     string
	kind       Kind
	isBound    bool
	comparison condition.Test

	numbers  []float64           // constants for columns of numbers
	texts    []string            // constants for texts, and for decimals written as text
	instants []text.Instant      // constants for dates and times, also of keys
	rats     []*big.Rat          // constants for keys that are numbers
	textSet  map[string]struct{} // the texts, if there are many
}

// manyConstants is the smallest number of constants for which a set is faster than a list.
const manyConstants = 8

// Bind binds the comparisons of all columns whose kind is known. It returns a *stream.UsageError for a constant that
// does not fit its column.
func Bind(c *condition.Condition, kind func(column string) (Kind, bool)) (*Bound, error) {
	b := &Bound{Condition: c, checks: make([]boundLeaf, len(c.Leaves))}
	for i := range c.Leaves {
		l := &c.Leaves[i]
		k, known := kind(l.Column)
		b.checks[i] = boundLeaf{column: l.Column, kind: k, isBound: known, comparison: l.Test}
		if known {
			if err := b.checks[i].bindLeafConstants(l); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// UnknownColumns lists the columns whose kind was not known.
func (b *Bound) UnknownColumns() []string {
	var names []string
	for _, c := range b.checks {
		if !c.isBound {
			names = append(names, c.column)
		}
	}
	return names
}

func errUnfitComparison(l *condition.Leaf, columnKind Kind, format string, args ...any) error {
	return stream.Usagef("{where}: column %q, at character %d, is %v: %v", l.Column, l.At+1, columnKind, stream.Textf(format, args...))
}

func (c *boundLeaf) bindLeafConstants(leaf *condition.Leaf) error {
	switch {
	case c.kind.Class == Other:
		return errUnfitComparison(leaf, c.kind, "such columns cannot stand in a condition")
	case leaf.Test == condition.IsNull:
		return nil
	case c.kind.Class == Lists:
		return stream.Usagef("{where}: column %s holds lists; name one element, as %[1]s[0], or ask whether it is null", leaf.Column)
	case leaf.Bare && c.kind.Class != Truth && c.kind.Class != KeyTruth:
		return errUnfitComparison(leaf, c.kind, "only a boolean column is a condition on its own; compare it with a constant")
	}
	for i := range leaf.Constants {
		if err := c.addTypedConstant(leaf, &leaf.Constants[i]); err != nil {
			return err
		}
	}
	if c.comparison == condition.Equal {
		slices.Sort(c.numbers)
	}
	if len(c.texts) >= manyConstants && c.comparison == condition.Equal {
		c.textSet = make(map[string]struct{}, len(c.texts))
		for _, t := range c.texts {
			c.textSet[t] = struct{}{}
		}
	}
	return nil
}

func (c *boundLeaf) addTypedConstant(leaf *condition.Leaf, constant *condition.Constant) error {
	switch c.kind.Class {
	case Float, Integer, Decimal, KeyNumber:
		return c.addNumberConstant(leaf, constant)
	case Truth, KeyTruth:
		return c.addBoolConstant(leaf, constant)
	case Text, KeyText:
		if constant.Kind != condition.Text {
			return errUnfitComparison(leaf, c.kind, "%s is no text; write it in quotes: %q", constant.Text, constant.Text)
		}
		c.texts = append(c.texts, constant.Text)
		return nil
	}
	return c.addTimeConstant(leaf, constant)
}

func (c *boundLeaf) addBoolConstant(leaf *condition.Leaf, constant *condition.Constant) error {
	if leaf.Test != condition.Equal {
		return errUnfitComparison(leaf, c.kind, "true and false have no order; compare with == or !=")
	}
	value := constant.Truth
	switch {
	case constant.Kind == condition.Truth:
	case constant.Kind == condition.Number && constant.Number.Cmp(big.NewRat(1, 1)) == 0, constant.Kind == condition.Text && strings.EqualFold(constant.Text, "true"):
		value = true
	case constant.Kind == condition.Number && constant.Number.Sign() == 0, constant.Kind == condition.Text && strings.EqualFold(constant.Text, "false"):
		value = false
	default:
		return errUnfitComparison(leaf, c.kind, "%q is neither true nor false", constant.Text)
	}
	if c.kind.Class == KeyTruth {
		c.texts = append(c.texts, map[bool]string{true: "true", false: "false"}[value])
		return nil
	}
	c.numbers = append(c.numbers, map[bool]float64{true: 1, false: 0}[value])
	return nil
}

func (c *boundLeaf) addNumberConstant(leaf *condition.Leaf, constant *condition.Constant) error {
	x := constant.Number
	switch constant.Kind {
	case condition.Truth:
		return errUnfitComparison(leaf, c.kind, "%s is no number", constant.Text)
	case condition.Text:
		var err error
		if x, err = condition.ParseNumber(strings.TrimSpace(constant.Text)); err != nil {
			if end, ok := parseInfinity(constant.Text); ok && c.kind.Class == Float {
				c.numbers = append(c.numbers, end)
				return nil
			}
			return errUnfitComparison(leaf, c.kind, "%q is no number", constant.Text)
		}
	}
	switch c.kind.Class {
	case KeyNumber:
		c.rats = append(c.rats, x)
	case Float:
		c.numbers = append(c.numbers, nearestFloat(x, c.kind.Bits))
	case Integer:
		if new(big.Rat).Abs(x).Cmp(new(big.Rat).SetInt64(1<<53)) >= 0 {
			return errUnfitComparison(leaf, c.kind, "%s cannot be compared exactly; integers are compared below 2^53 = 9007199254740992", constant.Text)
		}
		c.addDecimalConstant(x, 0)
	case Decimal:
		c.addDecimalConstant(x, max(c.kind.Scale, 0))
	}
	return nil
}

func parseInfinity(s string) (float64, bool) {
	sign, word := 1, strings.ToLower(strings.TrimSpace(s))
	if word != "" && (word[0] == '-' || word[0] == '+') {
		if word[0] == '-' {
			sign = -1
		}
		word = word[1:]
	}
	return math.Inf(sign), word == "inf" || word == "infinity"
}

// nearestFloat rounds x to a float with the given number of bits. Users see the shortest decimal of a float, and mean
// the float when they write this decimal.
func nearestFloat(x *big.Rat, bits int) float64 {
	if bits == 32 {
		f, _ := x.Float32()
		return float64(f)
	}
	f, _ := x.Float64()
	return f
}

func (c *boundLeaf) addDecimalConstant(constant *big.Rat, scale int) {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	scaled := new(big.Rat).Mul(constant, new(big.Rat).SetInt(power))
	floor := new(big.Int).Div(scaled.Num(), scaled.Denom()) // Euclidean division, which rounds down here
	if !scaled.IsInt() {
		switch c.comparison {
		case condition.Equal:
			return // no value equals the constant
		case condition.Less:
			c.comparison = condition.LessEqual
		case condition.GreaterEqual:
			c.comparison = condition.Greater
		}
	}
	if c.kind.IsNumeric() {
		f, _ := new(big.Rat).SetFrac(floor, power).Float64()
		c.numbers = append(c.numbers, f)
		return
	}
	c.texts = append(c.texts, string(text.AppendDecimal(nil, floor, scale)))
}

func (c *boundLeaf) addTimeConstant(leaf *condition.Leaf, constant *condition.Constant) error {
	example := map[Class]string{Date: `"2026-01-31"`, Clock: `"15:04:05"`, KeyDate: `"2026-01-31"`, KeyTime: `"2026-01-31T15:04:05"`, Timestamp: `"2026-01-31T15:04:05"`}[c.kind.Class]
	if constant.Kind != condition.Text {
		return errUnfitComparison(leaf, c.kind, "%s cannot be compared with it; write %s", constant.Text, example)
	}
	parse := condition.ParseLocal
	switch {
	case c.kind.Class == Date, c.kind.Class == KeyDate:
		parse = condition.ParseDate
	case c.kind.Class == Clock:
		parse = condition.ParseClock
	case c.kind.UTC:
		parse = condition.ParseUTC
	case condition.HasZone(constant.Text):
		return errUnfitComparison(leaf, c.kind, "%q has a time zone, which its values lack; write %s", constant.Text, example)
	}
	at, ok := parse(constant.Text)
	if !ok {
		return errUnfitComparison(leaf, c.kind, "%q is not written as it is; write %s", constant.Text, example)
	}
	c.instants = append(c.instants, text.Instant{Second: at.Unix(), Nano: int32(at.Nanosecond())})
	return nil
}
