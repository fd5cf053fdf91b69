package where

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// The naive twin of the evaluators: random conditions, whose meaning is evaluated row
// by row on values that keep everything (nil is null).

// column is a column of the tests.
type column struct {
	name, write string // write is how conditions name it
	kind        Kind
	random      func(*rand.Rand) any    // a value: float64, *big.Rat, bool, string or text.Instant
	constant    func(*rand.Rand) string // as it is written in a condition
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func number(rng *rand.Rand) string {
	return pick(rng, "0", "-0", "1", "2.5", "-1.75", "3", "1e2", "0.1", "2.999999999999999999999", "-7", "12.34", "12.345", "100")
}

func instant(perSecond int64) func(*rand.Rand) any {
	return func(rng *rand.Rand) any {
		return text.InstantOf(rng.Int64N(8)*perSecond*43200/2+rng.Int64N(3), perSecond)
	}
}

var columns = []column{
	{"f", "f", Kind{Class: Float, Type: "double"}, func(rng *rand.Rand) any {
		return pick(rng, 0, math.Copysign(0, -1), 1, 2.5, -1.75, 0.1, 3, math.NaN(), math.Inf(1), math.Inf(-1), 100)
	}, func(rng *rand.Rand) string { return pick(rng, number(rng), `"inf"`, `"-inf"`) }},
	{"s.g", "s.g", Kind{Class: Float, Type: "float", Bits: 32}, func(rng *rand.Rand) any {
		return pick(rng, 0, 1, 2.5, float64(float32(0.1)), 3, math.NaN(), math.Inf(1))
	}, number},
	{"i", "i", Kind{Class: Integer, Type: "int64"}, func(rng *rand.Rand) any {
		return big.NewRat(pick(rng, int64(0), 1, 2, 3, -7, 100, 1<<53+1, -1<<60), 1)
	}, func(rng *rand.Rand) string { return pick(rng, number(rng), "9007199254740991", `"3"`) }},
	{"d", "d", Kind{Class: Decimal, Type: "decimal(6,2)", Precision: 6, Scale: 2}, func(rng *rand.Rand) any {
		return big.NewRat(pick(rng, int64(0), 10, 250, 300, -175, 1234, 1235, 10000), 100)
	}, number},
	{"large price", `col("large price")`, Kind{Class: Decimal, Type: "decimal(30,2)", Precision: 30, Scale: 2}, func(rng *rand.Rand) any {
		x := big.NewRat(pick(rng, int64(0), 10, 250, 300, -175, 1234, 1235, 10000), 100)
		if rng.IntN(4) == 0 {
			x.Add(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)))
		}
		return x
	}, func(rng *rand.Rand) string {
		return pick(rng, number(rng), "100000000000000000012.34", "100000000000000000012.341")
	}},
	{"b", "b", Kind{Class: Truth, Type: "bool"}, func(rng *rand.Rand) any { return rng.IntN(2) == 0 },
		func(rng *rand.Rand) string { return pick(rng, "true", "FALSE", "1", "0") }},
	{"t", "t", Kind{Class: Text, Type: "string"}, func(rng *rand.Rand) any { return pick(rng, "", "a", "ab", "b", "ä", "zz") },
		func(rng *rand.Rand) string { return pick(rng, `"a"`, `'ab'`, `""`, `"ä"`, `"z"`, `'a''b'`) }},
	{"day", "day", Kind{Class: Date, Type: "date"}, func(rng *rand.Rand) any { return text.InstantOfDays(rng.Int64N(4)) },
		func(rng *rand.Rand) string { return pick(rng, `"1970-01-01"`, `"1970-01-03"`, `"1969-12-31"`) }},
	{"emb[3]", "emb[3]", Kind{Class: Float, Type: "list<double>"}, func(rng *rand.Rand) any { return pick(rng, 1.0, 2.5, 3) }, number},
	{"utc", "utc", Kind{Class: Timestamp, Type: "timestamp", UTC: true}, instant(1e6), func(rng *rand.Rand) string {
		return pick(rng, `"1970-01-01T12:00Z"`, `"1970-01-01T13:00:00+01:00"`, `"1970-01-02"`, `"1970-01-02 12:00:00.000001"`)
	}},
	{"local", "local", Kind{Class: Timestamp, Type: "timestamp"}, instant(1e3), func(rng *rand.Rand) string {
		return pick(rng, `"1970-01-01T12:00"`, `"1970-01-02"`, `"1970-01-02 12:00:00.001"`)
	}},
	{"clock", "clock", Kind{Class: Clock, Type: "time"}, func(rng *rand.Rand) any { return text.InstantOf(rng.Int64N(4)*3600, 1) },
		func(rng *rand.Rand) string { return pick(rng, `"01:00"`, `"02:00:00.5"`) }},
	{"site", "site", Kind{Class: KeyText}, func(rng *rand.Rand) any { return pick(rng, "a", "b", "ä") },
		func(rng *rand.Rand) string { return pick(rng, `"a"`, `"b"`, `"c"`) }},
	{"year", "year", Kind{Class: KeyNumber}, func(rng *rand.Rand) any { return big.NewRat(2024+rng.Int64N(3), 1) },
		func(rng *rand.Rand) string { return pick(rng, "2025", "2024.5", `"2026"`) }},
	{"born", "born", Kind{Class: KeyDate}, func(rng *rand.Rand) any { return text.InstantOfDays(rng.Int64N(4)) },
		func(rng *rand.Rand) string { return pick(rng, `"1970-01-01"`, `"1970-01-03"`, `"1969-12-31"`) }},
	{"hour", "hour", Kind{Class: KeyTime, UTC: true}, instant(1e6), func(rng *rand.Rand) string {
		return pick(rng, `"1970-01-01T12:00Z"`, `"1970-01-01T13:00:00+01:00"`, `"1970-01-02"`, `"1970-01-02 12:00:00.000001"`)
	}},
	{"hot", "hot", Kind{Class: KeyTruth}, func(rng *rand.Rand) any { return rng.IntN(2) == 0 },
		func(rng *rand.Rand) string { return pick(rng, "true", "false") }},
}

func kindOf(name string) (Kind, bool) {
	for _, c := range columns {
		if c.name == name {
			return c.kind, true
		}
	}
	return Kind{}, false
}

// wish is a random condition.
type wish struct {
	op        string // and, or, not, null, bare, in, or a comparison
	args      []wish
	column    int
	constants []string
	swap      bool
}

func randomWish(rng *rand.Rand, depth int) wish {
	if depth > 0 && rng.IntN(3) > 0 {
		w := wish{op: pick(rng, "and", "or", "not")}
		n := 1
		if w.op != "not" {
			n = 2 + rng.IntN(2)
		}
		for range n {
			w.args = append(w.args, randomWish(rng, depth-1))
		}
		return w
	}
	w := wish{column: rng.IntN(len(columns)), swap: rng.IntN(3) == 0}
	c := columns[w.column]
	truth := c.kind.Class == Truth || c.kind.Class == KeyTruth
	switch w.op = pick(rng, "null", "in", "==", "!=", "<", "<=", ">", ">="); {
	case truth && rng.IntN(3) == 0:
		w.op = "bare"
	case truth && strings.ContainsAny(w.op, "<>"):
		w.op = "=="
	}
	n := 1
	if w.op == "in" {
		n += rng.IntN(12)
	}
	for range n {
		w.constants = append(w.constants, c.constant(rng))
	}
	return w
}

// text writes the condition in one of many ways.
func (w wish) text(rng *rand.Rand) string {
	name := columns[w.column].write
	switch w.op {
	case "and", "or":
		var parts []string
		for _, a := range w.args {
			part := a.text(rng)
			if a.op == "and" || a.op == "or" || rng.IntN(4) == 0 {
				part = "(" + part + ")"
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, pick(rng, map[string][]string{"and": {" and ", " AND ", "&&"}, "or": {" or ", " Or ", " || "}}[w.op]...))
	case "not":
		inner := w.args[0].text(rng)
		if w.args[0].op == "and" || w.args[0].op == "or" || rng.IntN(2) == 0 {
			inner = "(" + inner + ")"
		}
		return pick(rng, "not ", "NOT ", "!") + inner
	case "null":
		return name + pick(rng, " is null", " IS NULL", " == nil", " = NULL")
	case "bare":
		return name
	case "in":
		list := strings.Join(w.constants, ", ")
		return name + pick(rng, " in ("+list+")", " IN ["+list+"]")
	}
	op, mirror := w.op, map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}[w.op]
	if w.swap {
		op = mirror
	}
	op = pick(rng, map[string][]string{"==": {"==", "="}, "!=": {"!=", "<>"}, "<": {"<"}, "<=": {"<="}, ">": {">"}, ">=": {">="}}[op]...)
	space := pick(rng, " ", "")
	if w.swap {
		return w.constants[0] + space + op + space + name
	}
	return name + space + op + space + w.constants[0]
}

// verdict is the value of w for a row.
func (w wish) verdict(row []any) Outcome {
	switch w.op {
	case "and", "or":
		decisive, seen := map[string]Outcome{"and": IsFalse, "or": IsTrue}[w.op], Outcome(0)
		for _, a := range w.args {
			seen |= a.verdict(row)
		}
		switch {
		case seen&decisive != 0:
			return decisive
		case seen&IsUnknown != 0:
			return IsUnknown
		}
		return seen
	case "not":
		return map[Outcome]Outcome{IsTrue: IsFalse, IsFalse: IsTrue, IsUnknown: IsUnknown}[w.args[0].verdict(row)]
	case "null":
		return truth(row[w.column] == nil)
	}
	value, c := row[w.column], columns[w.column]
	switch {
	case value == nil:
		return IsUnknown
	case w.op == "bare":
		return truth(value.(bool))
	case w.op == "in":
		return truth(slices.ContainsFunc(w.constants, func(k string) bool { return order(value, k, c.kind) == 0 }))
	}
	o := order(value, w.constants[0], c.kind)
	if o == unordered {
		return truth(w.op == "!=")
	}
	return truth(map[string]bool{"<": o < 0, "<=": o <= 0, ">": o > 0, ">=": o >= 0, "==": o == 0, "!=": o != 0}[w.op])
}

func truth(b bool) Outcome {
	if b {
		return IsTrue
	}
	return IsFalse
}

const unordered = 9

// order compares a value with a constant as it is written.
func order(value any, constant string, k Kind) int {
	plain := constant
	if q := constant[0]; q == '"' || q == '\'' {
		plain = strings.ReplaceAll(constant[1:len(constant)-1], "''", "'")
	}
	switch v := value.(type) {
	case float64:
		x, _ := strconv.ParseFloat(plain, max(k.Bits, 32))
		if k.Bits != 32 {
			x, _ = strconv.ParseFloat(plain, 64)
		}
		if v != v {
			return unordered
		}
		return cmp.Compare(v, x)
	case *big.Rat:
		x, _ := new(big.Rat).SetString(plain)
		return v.Cmp(x)
	case bool:
		is := strings.EqualFold(plain, "true") || plain == "1"
		return map[bool]int{true: 0, false: 1}[v == is]
	case string:
		return strings.Compare(v, plain)
	}
	v := value.(text.Instant)
	zoned := map[string]text.Instant{
		"1970-01-01T12:00Z": {Second: 43200}, "1970-01-01T13:00:00+01:00": {Second: 43200}, "1970-01-01T12:00": {Second: 43200},
		"1970-01-02": {Second: 86400}, "1970-01-02 12:00:00.000001": {Second: 129600, Nano: 1000}, "1970-01-02 12:00:00.001": {Second: 129600, Nano: 1e6},
		"1970-01-01": {}, "1970-01-03": {Second: 2 * 86400}, "1969-12-31": {Second: -86400},
		"01:00": {Second: 3600}, "02:00:00.5": {Second: 7200, Nano: 5e8},
	}
	x, ok := zoned[plain]
	if !ok {
		panic(plain)
	}
	return v.Compare(x)
}

// written is a value as DecodeTexts writes it, or as a path does.
func written(value any, k Kind) []byte {
	switch v := value.(type) {
	case string:
		return []byte(v)
	case bool:
		return []byte(map[bool]string{true: "True", false: "false"}[v])
	case *big.Rat:
		return []byte(v.FloatString(k.Scale))
	}
	v := value.(text.Instant)
	switch k.Class {
	case Date, KeyDate:
		return text.AppendDate(nil, v.Second/86400)
	case Clock:
		return text.AppendClock(nil, v.Second*1e9+int64(v.Nano), 1e9)
	}
	return text.AppendTime(nil, v.Second*1e9+int64(v.Nano), 1e9, k.UTC)
}

// asNumber is a value as Decode writes it.
func asNumber(value any) float64 {
	switch v := value.(type) {
	case nil:
		return format.Null
	case float64:
		return v
	case bool:
		return map[bool]float64{true: 1}[v]
	}
	f, _ := value.(*big.Rat).Float64()
	return f
}

// below orders values of one column; NaN and null have no place.
func below(a, b any) bool {
	switch a := a.(type) {
	case float64:
		return a < b.(float64)
	case bool:
		return !a && b.(bool)
	case *big.Rat:
		return a.Cmp(b.(*big.Rat)) < 0
	case string:
		return a < b.(string)
	}
	return a.(text.Instant).Compare(b.(text.Instant)) < 0
}

func bound(value any, k Kind) format.Bound {
	b := format.Bound{Known: true}
	switch v := value.(type) {
	case text.Instant:
		b.Instant = v
	case string:
		b.Text = []byte(v)
	case *big.Rat:
		b.Number, b.Text = asNumber(v), written(v, k)
	default:
		b.Number = asNumber(v)
	}
	return b
}

func (w wish) String() string { return fmt.Sprint(w.op, w.constants, w.args) }
