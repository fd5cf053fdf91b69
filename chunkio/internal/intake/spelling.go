package intake

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// spelling is the notation of the numbers of a column: a set of marks. Some show that the column has identifiers,
// whose text a number would not preserve, and others that it has measurements, for which the nearest float64 serves.
type spelling uint8

// The marks. The marks of identifiers come first, the plainest before the others.
const (
	paddedZero     spelling = 1 << iota // a whole number with a zero before its digits: 00037, 001e1
	phoneNumber                         // a whole number after a plus, as long as a phone number: +490000001
	longDigits                          // a whole number of more than 17 significant digits that no float64 reproduces
	inexactWhole                        // a whole number of any length that no float64 reproduces
	pointZero                           // a whole number other than 0 that ends in .0
	bareWhole                           // a whole number other than 0 without a point
	negativeNumber                      // a number below 0
	measurement                         // a fraction, an exponent, an infinity
)

// minPhoneDigits is the least number of digits of a phone number: fewer after a plus are a signed number.
const minPhoneDigits = 7

// floatDigits is the number of significant digits that distinguish every float64 from its neighbours.
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
	const exact = 15 // every whole number of at most this many digits is a float64
	if significant := strings.TrimRight(whole, "0"); len(significant) > exact && !isExactFloat(whole) {
		marks |= inexactWhole
		if len(significant) > floatDigits {
			marks |= longDigits
		}
	}
	return marks
}

// isExactFloat reports whether the float64 nearest to a whole number reproduces its digits.
func isExactFloat(digits string) bool {
	x, err := strconv.ParseFloat(digits, 64)
	return err == nil && strconv.FormatFloat(x, 'f', -1, 64) == digits
}

// specimen is a value of a column that shows a mark.
type specimen struct {
	mark  spelling
	value string
	line  int64
}

func (c *Column) noteSpelling(s string, line int64) {
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

// identifierMark returns the mark that makes the numbers of a column identifiers, which are text; 0 if they are
// numbers. Columns of whole numbers of 64 bits are not text if they stay whole (exact), whatever their length.
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

// decisiveMarks returns the marks that, in a value after the sample, would change the decision whether the column has
// identifiers.
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
	if !now && c.marks&(pointZero|bareWhole|measurement) == 0 { // the sample has neither of these two
		marks |= pointZero
	}
	return marks
}

// whyText explains why a column of numbers is text, by its first value with the mark.
func (c *Column) whyText(mark spelling) string {
	lost := [...]string{"the leading zero", "the plus", "digits", "digits", "the .0"}[bits.TrailingZeros8(uint8(mark))]
	why := "text, as a number would lose " + lost
	if c.specimen != nil && (c.specimen.mark == mark || c.specimen.mark|mark == longDigits|inexactWhole) {
		why += fmt.Sprintf(" of %q (line %d)", c.specimen.value, c.specimen.line)
	}
	return why + ": name the column to use its numbers"
}

// changesKind reports whether a value after the sample turns the column into text, or back.
func (c *Column) changesKind(s string) bool {
	if c.watchedMarks == 0 || s == "" {
		return false
	}
	s = trimBlanks(s)
	if spellingMarks(s)&c.watchedMarks == 0 {
		return false
	}
	k := kindOf(s)
	return k.isWhole() || k == Float
}
