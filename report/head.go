package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// printableText makes a user's text fit for a chart. It makes one line of it, replaces characters that are invalid in
// XML or that reorder the text after them, and shortens it to maxRunes runes.
func printableText(s string, maxRunes int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r): // control characters, direction marks, U+FFFE
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return truncateText(s, maxRunes)
}

// truncateText shortens a text to at most maxRunes runes. A shortened text ends with ….
func truncateText(s string, maxRunes int) string {
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

// drawHead draws title and legend at the top of the frame and returns the space below them.
func (c Chart) drawHead(to canvas, in frame) frame {
	in = drawTitle(to, in, c.Title)
	if len(c.Series) < 2 {
		return in
	}
	style := lettering{hue: inkHue, size: 10}
	const swatch, gap, line = 18, 14, 15
	at := point{in.left, in.top + line}
	for i, s := range c.Series {
		name := printableText(s.Name, 48)
		width := swatch + to.textWidth(style, name) + gap
		if at.x > in.left && at.x+width > in.right {
			at = point{in.left, at.y + line}
		}
		to.drawLine(seriesStroke(i), point{at.x, at.y - 4}, point{at.x + swatch - 5, at.y - 4})
		to.drawText(style, point{at.x + swatch, at.y}, name)
		at.x += width
	}
	in.top = at.y + 8
	return in
}

// drawTitle draws a title, if any, at the top of the frame and returns the space below it.
func drawTitle(to canvas, in frame, s string) frame {
	if s == "" {
		return in
	}
	style := lettering{hue: inkHue, size: 13, bold: true}
	line := printableText(s, 120)
	for n := utf8.RuneCountInString(line); n > 1 && to.textWidth(style, line) > in.width(); n-- {
		line = truncateText(line, n-1)
	}
	to.drawText(style, point{in.left, in.top + 13}, line)
	in.top += 24
	return in
}
