package intake

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// spelling is how the numbers of a column are written: a set of marks. Some show that the column has identifiers,
// whose text a number would not give back, and others that it has measurements, for which the nearest float64 serves.
type spelling uint8

// The marks. The marks of identifiers come first, the plainest before the others.
const (
	padded    spelling = 1 << iota // a whole number with a zero before its digits: 00037, 001e1
	dialled                        // a whole number after a plus, as long as a phone number: +490000001
	long                           // a whole number of more than 17 significant digits that no float64 gives back
	inexact                        // a whole number that no float64 gives back, a long one or not
	pointZero                      // a whole number other than 0 that ends in .0
	bare                           // a whole number other than 0 without a point
	negative                       // a number below 0
	measured                       // a fraction, an exponent, an infinity
)

// shortestDialled is how many digits a phone number has at least: fewer after a plus are a signed number.
const shortestDialled = 7

// mostDigits is how many significant digits distinguish every float64 from its neighbours.
const mostDigits = 17

// spellingOf is the marks of one number.
func spellingOf(s string) (marks spelling) {
	digits := s
	plus := s != "" && s[0] == '+'
	if plus || s != "" && s[0] == '-' {
		digits = s[1:]
	}
	n := 0
	for n < len(digits) && '0' <= digits[n] && digits[n] <= '9' {
		n++
	}
	behind := digits[n:]
	if len(digits) < len(s) && !plus {
		marks = negative
	}
	digits = digits[:n]
	isPadded := n > 1 && digits[0] == '0'
	whole := strings.TrimLeft(digits, "0")
	switch {
	case behind == "" && isPadded, isPadded && (behind[0] == 'e' || behind[0] == 'E'):
		return marks | padded
	case behind == ".0" && !isPadded:
		if whole != "" {
			marks |= pointZero
		}
		return marks
	case behind != "" || n == 0:
		return marks | measured
	case whole != "":
		marks |= bare
	}
	if plus && n >= shortestDialled {
		marks |= dialled
	}
	const exact = 15 // digits of which every whole number is a float64
	if significant := strings.TrimRight(whole, "0"); len(significant) > exact && !isFloat(whole) {
		marks |= inexact
		if len(significant) > mostDigits {
			marks |= long
		}
	}
	return marks
}

// isFloat reports whether the float64 nearest to a whole number gives its digits back.
func isFloat(digits string) bool {
	x, err := strconv.ParseFloat(digits, 64)
	return err == nil && strconv.FormatFloat(x, 'f', -1, 64) == digits
}

// specimen is a value of a column that shows a mark.
type specimen struct {
	mark  spelling
	value string
	line  int64
}

// note adds the spelling of a number to the marks of the column.
func (c *Column) note(s string, line int64) {
	marks := spellingOf(s)
	fresh := marks &^ c.spelled
	if fresh == 0 {
		return
	}
	c.spelled |= marks
	const longest = 40
	if mark := fresh & -fresh; mark <= pointZero && (c.shows == nil || mark < c.shows.mark) {
		if len(s) > longest {
			s = s[:longest] + "…"
		}
		c.shows = &specimen{mark, strings.Clone(s), line}
	}
}

// identifies is the mark by which the numbers of a column are identifiers, which are text; 0 where they are numbers.
// Whole numbers of 64 bits are no text where they stay whole, however long they are.
func (c *Column) identifies(exact bool) spelling {
	s := c.spelled
	switch {
	case !c.Kind.whole() && c.Kind != Float:
		return 0
	case s&padded != 0:
		return padded
	case s&dialled != 0 && s&(negative|measured) == 0:
		return dialled
	case s&long != 0 && (!exact || c.Kind == Float):
		return long
	case s&inexact != 0 && exact && c.Kind == Float:
		return inexact
	case s&pointZero != 0 && s&bare != 0 && s&measured == 0:
		return pointZero
	}
	return 0
}

// watchFor is the marks that, in a value after the sample, decide otherwise whether the column has identifiers.
func (c Column) watchFor(exact bool) (marks spelling) {
	if !c.Kind.whole() && c.Kind != Float && c.Kind != Unknown {
		return 0
	}
	now := c.identifies(exact) != 0
	for mark := padded; mark != 0; mark <<= 1 {
		with := c
		with.spelled |= mark
		if with.Kind == Unknown {
			with.Kind = Float
		}
		if c.spelled&mark == 0 && (with.identifies(exact) != 0) != now {
			marks |= mark
		}
	}
	if !now && c.spelled&(pointZero|bare|measured) == 0 { // of these two the sample has seen neither
		marks |= pointZero
	}
	return marks
}

// whyText is why a column of numbers is text, as its first value of such a mark shows.
func (c *Column) whyText(mark spelling) string {
	what := [...]string{"the leading zero", "the plus", "digits", "digits", "the .0"}[bits.TrailingZeros8(uint8(mark))]
	why := "text, as a number would lose " + what
	if c.shows != nil && (c.shows.mark == mark || c.shows.mark|mark == long|inexact) {
		why += fmt.Sprintf(" of %q (line %d)", c.shows.value, c.shows.line)
	}
	return why + ": name the column to use its numbers"
}

// changes reports whether a value after the sample makes the column text, or no text any more.
func (c *Column) changes(s string) bool {
	if c.watch == 0 || s == "" {
		return false
	}
	s = trim(s)
	if spellingOf(s)&c.watch == 0 {
		return false
	}
	k := kindOf(s)
	return k.whole() || k == Float
}
