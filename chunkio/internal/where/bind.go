package where

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Bound is a condition whose comparisons, or some of them, are made for the types of
// their columns. It does not change.
type Bound struct {
	*Condition
	checks []check // by leaf
}

// check is a leaf made for its column's type. Constants between two values that the
// type can tell apart are replaced by the next lower one, which changes < to <=.
type check struct {
	column string
	kind   Kind
	bound  bool
	test   test

	numbers  []float64      // for columns of numbers
	texts    []string       // for texts; decimals as they are written
	instants []text.Instant // for dates and times
	rats     []*big.Rat     // for keys that are numbers
	set      map[string]struct{}
}

// manyConstants is the length of a list from which on a set is quicker.
const manyConstants = 8

// Bind makes the comparisons of those columns whose kind is known. A constant that
// does not fit its column is a *stream.UsageError.
func (c *Condition) Bind(kind func(column string) (Kind, bool)) (*Bound, error) {
	b := &Bound{Condition: c, checks: make([]check, len(c.leaves))}
	for i := range c.leaves {
		l := &c.leaves[i]
		k, known := kind(l.column)
		b.checks[i] = check{column: l.column, kind: k, bound: known, test: l.test}
		if known {
			if err := b.checks[i].bind(l); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// Unbound lists the columns whose kind was not known.
func (b *Bound) Unbound() []string {
	var names []string
	for _, c := range b.checks {
		if !c.bound {
			names = append(names, c.column)
		}
	}
	return names
}

// unfit is the error about a column that cannot be compared so.
func unfit(l *leaf, k Kind, format string, args ...any) error {
	return stream.Usagef("{where}: column %q, at character %d, is %v: %v", l.column, l.at+1, k, stream.Textf(format, args...))
}

func (c *check) bind(l *leaf) error {
	switch {
	case c.kind.Class == Other:
		return unfit(l, c.kind, "such columns cannot stand in a condition")
	case l.test == isNull:
		return nil
	case l.bare && c.kind.Class != Truth && c.kind.Class != KeyTruth:
		return unfit(l, c.kind, "only a boolean column is a condition on its own; compare it with a constant")
	}
	for i := range l.constants {
		if err := c.add(l, &l.constants[i]); err != nil {
			return err
		}
	}
	if c.test == equal {
		slices.Sort(c.numbers)
	}
	if len(c.texts) >= manyConstants && c.test == equal {
		c.set = make(map[string]struct{}, len(c.texts))
		for _, t := range c.texts {
			c.set[t] = struct{}{}
		}
	}
	return nil
}

// add converts one constant.
func (c *check) add(l *leaf, k *constant) error {
	switch c.kind.Class {
	case Float, Integer, Decimal, KeyNumber:
		return c.addNumber(l, k)
	case Truth, KeyTruth:
		return c.addTruth(l, k)
	case Text, KeyText:
		if k.kind != aText {
			return unfit(l, c.kind, "%s is no text; write it in quotes: %q", k.text, k.text)
		}
		c.texts = append(c.texts, k.text)
		return nil
	}
	return c.addInstant(l, k)
}

func (c *check) addTruth(l *leaf, k *constant) error {
	if l.test != equal {
		return unfit(l, c.kind, "true and false have no order; compare with == or !=")
	}
	value := k.truth
	switch {
	case k.kind == aTruth:
	case k.kind == aNumber && k.number.Cmp(big.NewRat(1, 1)) == 0, k.kind == aText && strings.EqualFold(k.text, "true"):
		value = true
	case k.kind == aNumber && k.number.Sign() == 0, k.kind == aText && strings.EqualFold(k.text, "false"):
		value = false
	default:
		return unfit(l, c.kind, "%q is neither true nor false", k.text)
	}
	if c.kind.Class == KeyTruth {
		c.texts = append(c.texts, map[bool]string{true: "true", false: "false"}[value])
		return nil
	}
	c.numbers = append(c.numbers, map[bool]float64{true: 1, false: 0}[value])
	return nil
}

func (c *check) addNumber(l *leaf, k *constant) error {
	x := k.number
	switch k.kind {
	case aTruth:
		return unfit(l, c.kind, "%s is no number", k.text)
	case aText:
		var err error
		if x, err = parseNumber(strings.TrimSpace(k.text)); err != nil {
			if end, ok := infinity(k.text); ok && c.kind.Class == Float {
				c.numbers = append(c.numbers, end)
				return nil
			}
			return unfit(l, c.kind, "%q is no number", k.text)
		}
	}
	switch c.kind.Class {
	case KeyNumber:
		c.rats = append(c.rats, x)
	case Float:
		c.numbers = append(c.numbers, nearest(x, c.kind.Bits))
	case Integer:
		if new(big.Rat).Abs(x).Cmp(new(big.Rat).SetInt64(1<<53)) >= 0 {
			return unfit(l, c.kind, "%s cannot be compared exactly; integers are compared below 2^53 = 9007199254740992", k.text)
		}
		c.addOnGrid(x, 0)
	case Decimal:
		c.addOnGrid(x, max(c.kind.Scale, 0))
	}
	return nil
}

// infinity reads what number has no digits.
func infinity(s string) (float64, bool) {
	sign, word := 1, strings.ToLower(strings.TrimSpace(s))
	if word != "" && (word[0] == '-' || word[0] == '+') {
		if word[0] == '-' {
			sign = -1
		}
		word = word[1:]
	}
	return math.Inf(sign), word == "inf" || word == "infinity"
}

// nearest is x as a float of so many bits: what people see of a float is its shortest
// decimal, and that decimal is meant.
func nearest(x *big.Rat, bits int) float64 {
	if bits == 32 {
		f, _ := x.Float32()
		return float64(f)
	}
	f, _ := x.Float64()
	return f
}

// addOnGrid adds x for values that are multiples of 10^-scale.
func (c *check) addOnGrid(x *big.Rat, scale int) {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(power))
	floor := new(big.Int).Div(scaled.Num(), scaled.Denom()) // Euclid's, so the floor
	if !scaled.IsInt() {
		switch c.test {
		case equal:
			return // no value equals it
		case less:
			c.test = lessEqual
		case greaterEqual:
			c.test = greater
		}
	}
	if c.kind.Numeric() {
		f, _ := new(big.Rat).SetFrac(floor, power).Float64()
		c.numbers = append(c.numbers, f)
		return
	}
	c.texts = append(c.texts, string(text.AppendDecimal(nil, floor, scale)))
}

// The ways to write a constant for each class of times; the first is the example.
var (
	dateLayouts  = []string{"2006-01-02"}
	clockLayouts = []string{"15:04:05.999999999", "15:04"}
	localLayouts = []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}
	zonedLayouts = []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00"}
)

func (c *check) addInstant(l *leaf, k *constant) error {
	example := map[Class]string{Date: `"2026-01-31"`, Clock: `"15:04:05"`, Timestamp: `"2026-01-31T15:04:05"`}[c.kind.Class]
	if k.kind != aText {
		return unfit(l, c.kind, "%s cannot be compared with it; write %s", k.text, example)
	}
	layouts := localLayouts
	switch c.kind.Class {
	case Date:
		layouts = dateLayouts
	case Clock:
		layouts = clockLayouts
	case Timestamp:
		if _, zoned := parseTime(k.text, zonedLayouts); zoned && !c.kind.UTC {
			return unfit(l, c.kind, "%q has a time zone, which its values lack; write %s", k.text, example)
		}
		if c.kind.UTC {
			layouts = slices.Concat(zonedLayouts, localLayouts)
		}
	}
	at, ok := parseTime(k.text, layouts)
	if !ok {
		return unfit(l, c.kind, "%q is not written as it is; write %s", k.text, example)
	}
	if c.kind.Class == Clock {
		at = at.AddDate(1970, 0, 0) // a time of day has year 0
	}
	c.instants = append(c.instants, text.Instant{Second: at.Unix(), Nano: int32(at.Nanosecond())})
	return nil
}

func parseTime(s string, layouts []string) (time.Time, bool) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
