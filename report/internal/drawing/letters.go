package drawing

import (
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
