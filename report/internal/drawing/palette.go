package drawing

import (
	"fmt"
	"image/color"
)

// Hue is an opaque colour, 0xRRGGBB.
type Hue uint32

// The colours of charts in files. In the page a CSS class (style.css) replaces each colour, so that charts are light or
// dark like the page. The colours must differ, because the class is looked up by the colour.
const (
	PaperHue   Hue = 0xffffff
	InkHue     Hue = 0x1b1f24 // labels
	TickHue    Hue = 0x5b6470 // ticks
	GridHue    Hue = 0xdde1e6 // grid lines
	MarkHue    Hue = 0x1c1f23 // rings and their labels
	ChosenHue  Hue = 0xe8590c // chosen pixels
	LeftOutHue Hue = 0xb9d3ec // pixels that were left out
)

// SeriesHues returns the colours of eight lines, which colour-blind readers can distinguish. Further lines have the
// same colours, but are dashed.
func SeriesHues() []Hue {
	return []Hue{0x2a6fbb, 0xc2540a, 0x2b8a5a, 0x7b4fb5, 0xc23a6b, 0x1a8a94, 0x7f7415, 0x6b7280}
}

// RGBA implements color.Color.
func (h Hue) RGBA() (r, g, b, a uint32) { return h.ToNRGBA(255).RGBA() }

// ToNRGBA returns the colour with the given opacity, from 0 to 255.
func (h Hue) ToNRGBA(alpha uint8) color.NRGBA {
	return color.NRGBA{R: uint8(h >> 16), G: uint8(h >> 8), B: uint8(h), A: alpha}
}

func (h Hue) String() string { return fmt.Sprintf("#%06X", uint32(h)) }

// CSSClasses returns the class of each colour in the page.
func CSSClasses() map[Hue]string {
	m := map[Hue]string{InkHue: "ink", TickHue: "soft", GridHue: "rule", MarkHue: "mark"}
	for i, h := range SeriesHues() {
		m[h] = fmt.Sprintf("s%d", i)
	}
	return m
}

// HeatColour returns the colour for a share from 0 to 1: a blue that is darker for larger shares.
func HeatColour(share float64) Hue {
	mixed := Hue(0)
	for shift := 16; shift >= 0; shift -= 8 {
		from, to := float64(Hue(0xf1f5fa)>>shift&255), float64(Hue(0x1d4f8a)>>shift&255)
		mixed = mixed<<8 | Hue(from+share*(to-from)+0.5)
	}
	return mixed
}
