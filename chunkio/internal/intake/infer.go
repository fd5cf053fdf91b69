package intake

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// sampleBytes is the length of the beginning of a text from which types are inferred.
const sampleBytes = 1 << 20

func trimBlanks(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// kindOfField returns the narrowest kind that can hold a field. The field must not be a missing value and must have no
// blanks around it.
func kindOfField(s string) Kind {
	if k := kindOfWhole(s); k != Unknown {
		return k
	}
	if _, ok := parseFloat(s); ok {
		return Float
	}
	if _, ok := parseBool(s); ok {
		return Bool
	}
	return kindOfTime(s)
}

// kindOfWhole returns the kind of a whole number of 64 bits, or Unknown if the text is not such a number.
func kindOfWhole(s string) Kind {
	switch x, ok := parseInt(s); {
	case ok && x < 0:
		return Int
	case ok:
		return Count
	}
	if _, ok := parseUint(s); ok {
		return Uint
	}
	return Unknown
}

// kindOfTime returns the kind of a text that is not a number: a date, a time, or text.
func kindOfTime(s string) Kind {
	for _, k := range []Kind{Date, Local, UTC} {
		if _, ok := parseTime(k, s); ok {
			return k
		}
	}
	return Text
}

// parseField parses a field as a value of kind k, which is not Text. ok is false if the field is not such a value.
func parseField(k Kind, s string) (c cell, ok bool) {
	switch k {
	case Float:
		if x, ok := parseFloat(s); ok {
			return math.Float64bits(x), true
		}
	case Int:
		if x, ok := parseInt(s); ok {
			return cell(x), true
		}
	case Uint:
		if x, ok := parseUint(s); ok {
			return x, true
		}
	case Bool:
		if x, ok := parseBool(s); ok {
			return x, true
		}
	default:
		if x, ok := parseTime(k, trimBlanks(s)); ok {
			return cell(x), true
		}
	}
	if t := trimBlanks(s); t != s {
		return parseField(k, t)
	}
	return 0, false
}

func parseBool(s string) (cell, bool) {
	switch s {
	case "true", "True", "TRUE":
		return 1, true
	case "false", "False", "FALSE":
		return 0, true
	}
	return 0, false
}

func parseInt(s string) (int64, bool) {
	digits := s
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if len(digits) == 19 { // possibly beyond the limit
		x, err := strconv.ParseInt(s, 10, 64)
		return x, err == nil
	}
	x := int64(0)
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, false
		}
		x = 10*x + int64(d)
	}
	if s[0] == '-' {
		x = -x
	}
	return x, true
}

func parseUint(s string) (uint64, bool) {
	if x, ok := parseInt(s); ok {
		return uint64(x), x >= 0
	}
	digits := strings.TrimPrefix(s, "+")
	if len(digits) < 19 || len(digits) > 20 { // parseInt has already tried shorter numbers
		return 0, false
	}
	x, err := strconv.ParseUint(digits, 10, 64)
	return x, err == nil
}

// parseFloat reads a decimal number, or an infinity.
func parseFloat(s string) (float64, bool) {
	if x, ok := format.ShortDecimal(s); ok {
		return x, true
	}
	return parseFloatSlowly(s)
}

// parseFloatSlowly parses a number with strconv, but refuses the spellings that only Go accepts: 0x1p-2, 1_000, nan.
func parseFloatSlowly(s string) (float64, bool) {
	if len(s) == 0 {
		return 0, false
	}
	word, sign := s, 1
	if s[0] == '-' || s[0] == '+' {
		word, sign = s[1:], int(',')-int(s[0]) // ',' is between '+' and '-' in ASCII
	}
	switch word {
	case "inf", "Inf", "INF", "Infinity":
		return math.Inf(sign), true
	}
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil
}

// parseTime reads a date, or a date and a time separated by a T or a blank, with at most six digits in the fraction of
// a second. The kind is UTC if the time has a zone, and Local otherwise.
func parseTime(k Kind, s string) (int64, bool) {
	if len(s) < len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	if k == Date {
		t, err := time.Parse(time.DateOnly, s)
		return t.Unix() / 86_400, err == nil && t.Unix()%86_400 == 0
	}
	if len(s) < len("2006-01-02 15:04") || s[10] != 'T' && s[10] != ' ' {
		return 0, false
	}
	end := len(s)
	for i := 11; i < len(s); i++ {
		if c := s[i]; c == 'Z' || c == '+' || c == '-' {
			end = i
			break
		}
	}
	if hasZone := end < len(s); hasZone != (k == UTC) {
		return 0, false
	}
	clock := s[11:end]
	layout := "15:04:05"
	switch {
	case len(clock) == len("15:04"):
		layout = "15:04"
	case len(clock) > len("15:04:05.000000"):
		return 0, false
	}
	layout = time.DateOnly + s[10:11] + layout
	switch zone := s[end:]; {
	case zone == "":
	case zone == "Z":
		layout += "Z07:00"
	case len(zone) == len("+07:00"):
		layout += "-07:00"
	case len(zone) == len("+0700"):
		layout += "-0700"
	case len(zone) == len("+07"):
		layout += "-07"
	default:
		return 0, false
	}
	t, err := time.Parse(layout, s)
	return t.UnixMicro(), err == nil
}
