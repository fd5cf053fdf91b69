package deltatwin

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The values of a column that have no type of their own in Go.
type (
	// Day is a number of days since 1970-01-01.
	Day int64
	// Moment is a number of microseconds since 1970-01-01, in UTC or in the zone of whoever reads it.
	Moment int64
	// Decimal is a number as text, with as many digits after the point as its type has.
	Decimal string
	// List has the values of an array, or a Struct of a key and a value for each entry of a map.
	List []any
	// Struct has the values of a struct's fields, in the order of the schema.
	Struct []any
)

// Text returns a text that is the same only for equal values of a type.
func Text(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(x)
	case []byte:
		return fmt.Sprintf("0x%x", x)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case List:
		return "[" + joinTexts(x) + "]"
	case Struct:
		return "{" + joinTexts(x) + "}"
	}
	return fmt.Sprint(v)
}

func joinTexts(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = Text(v)
	}
	return strings.Join(texts, ", ")
}

func decimalType(typ string) (precision, scale int, ok bool) {
	if typ == "decimal" {
		return 10, 0, true
	}
	_, err := fmt.Sscanf(strings.ReplaceAll(typ, " ", ""), "decimal(%d,%d)", &precision, &scale)
	return precision, scale, err == nil
}

func formatDecimal(unscaled *big.Int, scale, wanted int) (Decimal, error) {
	tenPower := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	exact := new(big.Rat).SetFrac(unscaled, tenPower(scale))
	if scaled := new(big.Rat).Mul(exact, new(big.Rat).SetInt(tenPower(wanted))); !scaled.IsInt() {
		return "", fmt.Errorf("%s has more than %d digits after the point", exact.FloatString(scale), wanted)
	}
	return Decimal(exact.FloatString(wanted)), nil
}

func parsePartition(stated, typ any) (any, error) {
	text, ok := stated.(string)
	name, isText := typ.(string)
	if !ok || text == "" || name == "void" {
		return nil, nil
	}
	if !isText {
		return nil, fmt.Errorf("a partition column of type %v", typ)
	}
	if _, scale, ok := decimalType(name); ok {
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, fmt.Errorf("%q is no number", text)
		}
		return Decimal(exact.FloatString(scale)), nil
	}
	switch name {
	case "string":
		return text, nil
	case "byte", "short", "integer", "long":
		return strconv.ParseInt(text, 10, map[string]int{"byte": 8, "short": 16, "integer": 32, "long": 64}[name])
	case "float":
		f, err := strconv.ParseFloat(text, 32)
		return f, err
	case "double":
		return strconv.ParseFloat(text, 64)
	case "boolean":
		return strconv.ParseBool(text)
	case "date":
		t, err := time.Parse(time.DateOnly, text)
		return Day(t.Unix() / 86400), err
	case "timestamp", "timestamp_ntz":
		t, err := time.Parse("2006-01-02 15:04:05", text) // a fraction may follow
		if err != nil {
			t, err = time.Parse(time.RFC3339Nano, text)
		}
		return Moment(t.UnixMicro()), err
	case "binary":
		var bytes []byte
		for _, r := range text { // each character is a byte
			if r > math.MaxUint8 || !utf8.ValidRune(r) {
				return nil, fmt.Errorf("%q is no escaped binary", text)
			}
			bytes = append(bytes, byte(r))
		}
		return bytes, nil
	}
	return nil, fmt.Errorf("a partition column of type %s", name)
}
