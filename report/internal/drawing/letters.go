package drawing

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// textMeasurer measures text in the Go fonts of module golang.org/x/image. The zero value is ready to use.
type textMeasurer struct {
	fonts [2]*opentype.Font // regular and bold
	faces map[typeface]font.Face
}

type typeface struct {
	size float64
	bold bool
}

func (l *textMeasurer) parsedFont(bold bool) *opentype.Font {
	which, data := 0, goregular.TTF
	if bold {
		which, data = 1, gobold.TTF
	}
	if l.fonts[which] == nil {
		f, err := opentype.Parse(data)
		if err != nil {
			panic("report: the Go fonts do not parse: " + err.Error())
		}
		l.fonts[which] = f
	}
	return l.fonts[which]
}

func (l *textMeasurer) fontFace(size float64, bold bool) font.Face {
	want := typeface{size, bold}
	if f, ok := l.faces[want]; ok {
		return f
	}
	f, err := opentype.NewFace(l.parsedFont(bold), &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic("report: a face of the Go fonts: " + err.Error())
	}
	if l.faces == nil {
		l.faces = map[typeface]font.Face{}
	}
	l.faces[want] = f
	return f
}

func (l *textMeasurer) TextWidth(k Lettering, s string) float64 {
	// Measure at ten times the size, because the widths of characters are rounded to 1/64.
	return float64(font.MeasureString(l.fontFace(10*k.Size, k.Bold), s)) / 640
}

// SuperscriptDigits writes e in raised digits.
func SuperscriptDigits(e int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(e))
}

// WithMinusSign replaces the hyphen of a negative number by a minus sign.
func WithMinusSign(s string) string { return strings.Replace(s, "-", "−", 1) }

// WithThousandsCommas separates the digits of a number into groups of three.
func WithThousandsCommas(s string) string {
	whole, _, _ := strings.Cut(s, ".")
	first := max(0, strings.IndexFunc(s, unicode.IsDigit))
	for i := len(whole) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// PrintableText makes a user's text fit for a chart. It makes one line of it, replaces characters that are invalid in
// XML or that reorder the text after them, and shortens it to maxRunes runes.
func PrintableText(s string, maxRunes int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r): // control characters, direction marks, U+FFFE
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return TruncateText(s, maxRunes)
}

// TruncateText shortens a text to at most maxRunes runes. A shortened text ends with ….
func TruncateText(s string, maxRunes int) string {
	if utf8.RuneCountInString(s) <= maxRunes {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == maxRunes {
			return s[:i] + "…"
		}
	}
	return s
}
