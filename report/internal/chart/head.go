package chart

import (
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

func (c Chart) drawHead(to drawing.Canvas, in drawing.Frame) drawing.Frame {
	in = DrawTitle(to, in, c.Title)
	if len(c.Series) < 2 {
		return in
	}
	style := drawing.Lettering{Hue: drawing.InkHue, Size: 10}
	const swatch, gap, line = 18, 14, 15
	at := drawing.Point{X: in.Left, Y: in.Top + line}
	for i, s := range c.Series {
		name := drawing.PrintableText(s.Name, 48)
		width := swatch + to.TextWidth(style, name) + gap
		if at.X > in.Left && at.X+width > in.Right {
			at = drawing.Point{X: in.Left, Y: at.Y + line}
		}
		to.DrawLine(SeriesStroke(i), drawing.Point{X: at.X, Y: at.Y - 4}, drawing.Point{X: at.X + swatch - 5, Y: at.Y - 4})
		to.DrawText(style, drawing.Point{X: at.X + swatch, Y: at.Y}, name)
		at.X += width
	}
	in.Top = at.Y + 8
	return in
}

// DrawTitle draws a title, if any, at the top of the frame and returns the space below it.
func DrawTitle(to drawing.Canvas, in drawing.Frame, s string) drawing.Frame {
	if s == "" {
		return in
	}
	style := drawing.Lettering{Hue: drawing.InkHue, Size: 13, Bold: true}
	line := drawing.PrintableText(s, 120)
	for n := utf8.RuneCountInString(line); n > 1 && to.TextWidth(style, line) > in.Width(); n-- {
		line = drawing.TruncateText(line, n-1)
	}
	to.DrawText(style, drawing.Point{X: in.Left, Y: in.Top + 13}, line)
	in.Top += 24
	return in
}
