package intake

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// spelling is a set of marks that describe the notation of numbers. Some marks show that a column contains identifiers.
// As numbers, these would lose their spelling. Other marks show that it contains measurements, for which the nearest
// float64 is adequate.
type spelling uint8

// The marks. The first five are marks of identifiers, in the order in which they are reported.
const (
	paddedZero     spelling = 1 << iota // a whole number whose digits begin with a zero: 00037, 001e1
	phoneNumber                         // a whole number after a plus sign, with at least minPhoneDigits digits: +490000001
	longDigits                          // a whole number of more than 17 significant digits that is not exact as a float64
	inexactWhole                        // a whole number of any length that is not exact as a float64
	pointZero                           // a whole number other than 0 that ends in .0
	bareWhole                           // a whole number other than 0 without a point
	negativeNumber                      // a number below 0
	measurement                         // a fraction, an exponent, an infinity
)

// minPhoneDigits is the least number of digits of a phone number: fewer digits after a plus sign are a signed number.
const minPhoneDigits = 7

// floatDigits is the number of significant digits that is enough to distinguish every float64 from its neighbours.
const floatDigits = 17

func spellingMarks(s string) (marks spelling) {
	digits := s
	plus := s != "" && s[0] == '+'
	if plus || s != "" && s[0] == '-' {
		digits = s[1:]
	}
	n := 0
	for n < len(digits) && '0' <= digits[n] && digits[n] <= '9' {
		n++
	}
	suffix := digits[n:]
	if len(digits) < len(s) && !plus {
		marks = negativeNumber
	}
	digits = digits[:n]
	isPadded := n > 1 && digits[0] == '0'
	whole := strings.TrimLeft(digits, "0")
	switch {
	case suffix == "" && isPadded, isPadded && (suffix[0] == 'e' || suffix[0] == 'E'):
		return marks | paddedZero
	case suffix == ".0" && !isPadded:
		if whole != "" {
			marks |= pointZero
		}
		return marks
	case suffix != "" || n == 0:
		return marks | measurement
	case whole != "":
		marks |= bareWhole
	}
	if plus && n >= minPhoneDigits {
		marks |= phoneNumber
	}
	const exact = 15 // every whole number with at most this many digits is exact as a float64
	if significant := strings.TrimRight(whole, "0"); len(significant) > exact && !isExactFloat(whole) {
		marks |= inexactWhole
		if len(significant) > floatDigits {
			marks |= longDigits
		}
	}
	return marks
}

func isExactFloat(digits string) bool {
	x, err := strconv.ParseFloat(digits, 64)
	return err == nil && strconv.FormatFloat(x, 'f', -1, 64) == digits
}

// specimen is a value of a column that has a mark.
type specimen struct {
	mark  spelling
	value string
	line  int64
}

func (c *Column) recordSpelling(s string, line int64) {
	marks := spellingMarks(s)
	fresh := marks &^ c.marks
	if fresh == 0 {
		return
	}
	c.marks |= marks
	const longest = 40
	if mark := fresh & -fresh; mark <= pointZero && (c.specimen == nil || mark < c.specimen.mark) {
		if len(s) > longest {
			s = s[:longest] + "…"
		}
		c.specimen = &specimen{mark, strings.Clone(s), line}
	}
}

// identifierMark returns the mark because of which the numbers of a column are identifiers and become text. It returns
// 0 if they stay numbers. If exact is set, whole numbers of 64 bits that keep their exact value stay numbers, whatever
// their length.
func (c *Column) identifierMark(exact bool) spelling {
	s := c.marks
	switch {
	case !c.Kind.isWhole() && c.Kind != Float:
		return 0
	case s&paddedZero != 0:
		return paddedZero
	case s&phoneNumber != 0 && s&(negativeNumber|measurement) == 0:
		return phoneNumber
	case s&longDigits != 0 && (!exact || c.Kind == Float):
		return longDigits
	case s&inexactWhole != 0 && exact && c.Kind == Float:
		return inexactWhole
	case s&pointZero != 0 && s&bareWhole != 0 && s&measurement == 0:
		return pointZero
	}
	return 0
}

// decisiveMarks returns the marks that would change the decision about identifiers if a value after the sample had one
// of them.
func (c Column) decisiveMarks(exact bool) (marks spelling) {
	if !c.Kind.isWhole() && c.Kind != Float && c.Kind != Unknown {
		return 0
	}
	now := c.identifierMark(exact) != 0
	for mark := paddedZero; mark != 0; mark <<= 1 {
		changed := c
		changed.marks |= mark
		if changed.Kind == Unknown {
			changed.Kind = Float
		}
		if c.marks&mark == 0 && (changed.identifierMark(exact) != 0) != now {
			marks |= mark
		}
	}
	if !now && c.marks&(pointZero|bareWhole|measurement) == 0 { // the sample has no value with one of these three marks
		marks |= pointZero
	}
	return marks
}

func (c *Column) whyIdentifiersAreText(mark spelling) string {
	lost := [...]string{"the leading zero", "the plus", "digits", "digits", "the .0"}[bits.TrailingZeros8(uint8(mark))]
	why := "text, as a number would lose " + lost
	if c.specimen != nil && (c.specimen.mark == mark || c.specimen.mark|mark == longDigits|inexactWhole) {
		why += fmt.Sprintf(" of %q (line %d)", c.specimen.value, c.specimen.line)
	}
	return why + ": name the column to use its numbers"
}

// changesKind reports whether a value after the sample changes the kind of the column: from numbers to text, or back.
func (c *Column) changesKind(s string) bool {
	if c.watchedMarks == 0 || s == "" {
		return false
	}
	s = trimBlanks(s)
	if spellingMarks(s)&c.watchedMarks == 0 {
		return false
	}
	k := kindOfField(s)
	return k.isWhole() || k == Float
}
