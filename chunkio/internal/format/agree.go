package format

import (
	"fmt"
	"strings"
)

// CommonType returns the common type of a column that has type a in one file and b in another. If the types do not
// agree, it cannot be treated as one column, and ok is false. Equal types agree, and so do numbers and booleans of any
// width, and lists of numbers or booleans. The common type can hold every value of both types if a type of at most 64
// bits can. Otherwise it is double, because values are delivered as float64 in any case. The order of a and b does not
// matter. Text, times and nested types agree only with themselves.
func CommonType(a, b string) (typ string, ok bool) {
	if a == b {
		return a, true
	}
	x, listX := strings.CutPrefix(a, "list<")
	y, listY := strings.CutPrefix(b, "list<")
	if listX != listY {
		return "", false
	}
	if listX {
		typ, ok = CommonType(strings.TrimSuffix(x, ">"), strings.TrimSuffix(y, ">"))
		return "list<" + typ + ">", ok
	}
	p, okX := parseNumberType(x)
	q, okY := parseNumberType(y)
	if !okX || !okY {
		return "", false
	}
	return p.commonType(q).String(), true
}

// IsNumber reports whether float64 values can be converted to the type, or the type is a list of such numbers. Decimals
// do not count.
func IsNumber(typ string) bool {
	_, ok := parseNumberType(strings.TrimSuffix(strings.TrimPrefix(typ, "list<"), ">"))
	return ok && !strings.Contains(typ, "decimal(")
}

// SameText reports whether equal values of two types that agree are written as equal texts by DecodeTexts, as classes
// require. If the types differ, it is false for booleans, and for decimals, whose texts have trailing zeros.
func SameText(a, b string) bool {
	hasOwnText := func(typ string) bool { return typ == "bool" || strings.HasPrefix(typ, "decimal(") }
	return a == b || !hasOwnText(a) && !hasOwnText(b)
}

// numericType describes a numeric type: whether it has a sign and an exponent, and how many bits its digits have.
type numericType struct {
	signed, float bool
	digits        int
}

// floats are the floating-point types, with the number of bits of their digits.
var floats = []struct {
	name   string
	digits int
}{{"float16", 11}, {"float", 24}, {"double", 53}}

func parseNumberType(typ string) (n numericType, ok bool) {
	for _, f := range floats {
		if typ == f.name {
			return numericType{signed: true, float: true, digits: f.digits}, true
		}
	}
	if strings.HasPrefix(typ, "decimal(") { // no other type represents decimals exactly
		return numericType{signed: true, float: true, digits: 53}, true
	}
	for bits := 8; bits <= 64; bits *= 2 {
		switch typ {
		case fmt.Sprintf("int%d", bits):
			return numericType{signed: true, digits: bits - 1}, true
		case fmt.Sprintf("uint%d", bits):
			return numericType{digits: bits}, true
		}
	}
	return numericType{digits: 1}, typ == "bool"
}

// commonType returns a type that has the sign, the digits and the exponent of both types. For a type of whole numbers
// and a float type it returns double.
func (n numericType) commonType(o numericType) numericType {
	if n.float != o.float {
		return numericType{signed: true, float: true, digits: 53}
	}
	return numericType{signed: n.signed || o.signed, float: n.float, digits: max(n.digits, o.digits)}
}

func (n numericType) String() string {
	if n.float {
		for _, f := range floats {
			if n.digits <= f.digits {
				return f.name
			}
		}
	}
	if n.digits == 1 {
		return "bool"
	}
	for bits := 8; bits <= 64; bits *= 2 {
		switch {
		case n.signed && n.digits < bits:
			return fmt.Sprintf("int%d", bits)
		case !n.signed && n.digits <= bits:
			return fmt.Sprintf("uint%d", bits)
		}
	}
	return "double"
}
