package report

import (
	"fmt"
	"image/color"
)

// hue is an opaque colour, 0xRRGGBB.
type hue uint32

// The colours of charts in files. In the page a CSS class (style.css) replaces each colour, so that charts are light or
// dark like the page. The colours must differ, because the class is looked up by the colour.
const (
	paperHue   hue = 0xffffff
	inkHue     hue = 0x1b1f24 // labels
	tickHue    hue = 0x5b6470 // ticks
	gridHue    hue = 0xdde1e6 // grid lines
	markHue    hue = 0x1c1f23 // rings and their labels
	chosenHue  hue = 0xe8590c // chosen pixels
	leftOutHue hue = 0xb9d3ec // pixels that were left out
)

// seriesHues returns the colours of eight lines, which colour-blind readers can distinguish. Further lines have the
// same colours, but are dashed.
func seriesHues() []hue {
	return []hue{0x2a6fbb, 0xc2540a, 0x2b8a5a, 0x7b4fb5, 0xc23a6b, 0x1a8a94, 0x7f7415, 0x6b7280}
}

// RGBA implements color.Color.
func (h hue) RGBA() (r, g, b, a uint32) { return h.toNRGBA(255).RGBA() }

func (h hue) toNRGBA(alpha uint8) color.NRGBA {
	return color.NRGBA{R: uint8(h >> 16), G: uint8(h >> 8), B: uint8(h), A: alpha}
}

func (h hue) String() string { return fmt.Sprintf("#%06X", uint32(h)) }

func cssClasses() map[hue]string {
	m := map[hue]string{inkHue: "ink", tickHue: "soft", gridHue: "rule", markHue: "mark"}
	for i, h := range seriesHues() {
		m[h] = fmt.Sprintf("s%d", i)
	}
	return m
}

// heatColour returns the colour for a share from 0 to 1: a blue that is darker for larger shares.
func heatColour(share float64) hue {
	mixed := hue(0)
	for shift := 16; shift >= 0; shift -= 8 {
		from, to := float64(hue(0xf1f5fa)>>shift&255), float64(hue(0x1d4f8a)>>shift&255)
		mixed = mixed<<8 | hue(from+share*(to-from)+0.5)
	}
	return mixed
}
