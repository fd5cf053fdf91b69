package drawing

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lengthOf is the length of a line.
func lengthOf(line []Point) (sum float64) {
	for i := 1; i < len(line); i++ {
		sum += math.Hypot(line[i].X-line[i-1].X, line[i].Y-line[i-1].Y)
	}
	return sum
}

// TestDashed: the pieces have the lengths of the dashes, wherever the line bends, and their
// total is what the dashes draw of the line.
func TestDashed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dashes := range [][]float64{nil, {6, 3}, {2, 2}, {5, 1, 2, 4}} {
		for n := range 8 {
			var line []Point
			for range n {
				line = append(line, Point{40 * r.Float64(), 40 * r.Float64()})
			}
			whole, period := lengthOf(line), 0.0
			for _, d := range dashes {
				period += d
			}
			pieces, sum := cutIntoDashes(dashes, line), 0.0
			for i, p := range pieces {
				got := lengthOf(p)
				sum += got
				if dashes != nil && i < len(pieces)-1 && math.Abs(got-dashes[2*i%len(dashes)]) > 1e-9 {
					t.Errorf("%v: piece %d is %v long", dashes, i, got)
				}
			}
			want := whole
			if dashes != nil {
				rest := math.Mod(whole, period)
				want = 0
				for i, d := range dashes {
					if i%2 == 0 {
						want += d*math.Floor(whole/period) + min(max(rest, 0), d)
					}
					rest -= d
				}
			}
			if math.Abs(sum-want) > 1e-9 {
				t.Errorf("%v, %d points: %v of %v drawn, want %v", dashes, n, sum, whole, want)
			}
		}
	}
}

// TestRaster: an area covers its dots and no other, a ring has a hole, a line is whole
// where it bends, and nothing outside of the canvas does harm.
func TestRaster(t *testing.T) {
	r := newRaster(30, 30) // 80 × 80 dots
	alpha := func(x, y int) uint8 { return r.img.RGBAAt(x, y).A }
	r.FillArea(InkHue, 1, Frame{3, 6, 9, 12}.Corners()...)
	for x := range 80 {
		for y := range 80 {
			inside := x >= 8 && x < 24 && y >= 16 && y < 32
			if want := map[bool]uint8{true: 255}[inside]; alpha(x, y) != want {
				t.Fatalf("dot %d, %d is %d, want %d", x, y, alpha(x, y), want)
			}
		}
	}
	r.DrawRing(Stroke{Hue: InkHue, Width: 3}, Point{22.5, 22.5}, 4.5)
	if alpha(60, 60) != 0 || alpha(72, 60) != 255 || alpha(60, 48) != 255 {
		t.Errorf("the ring: %d inside, %d and %d on it", alpha(60, 60), alpha(72, 60), alpha(60, 48))
	}
	r.DrawLine(Stroke{Hue: InkHue, Width: 3}, Point{3, 21}, Point{12, 21}, Point{12, 28}, Point{12, 21}, Point{3, 28})
	if alpha(32, 56) != 255 || alpha(20, 56) != 255 {
		t.Errorf("the line: %d in its corner, %d on its way", alpha(32, 56), alpha(20, 56))
	}
	r.DrawLine(Stroke{Hue: InkHue, Width: 3}, Point{-1e9, 5}, Point{1e9, 5})
	r.DrawText(LabelLettering(AnchorEnd), Point{-5, -5}, "out")
	r.FillArea(InkHue, 1)
}

// TestLetters: a text is as wide as its letters, and the fonts have all that charts write.
func TestLetters(t *testing.T) {
	var l textMeasurer
	k := LabelLettering(AnchorStart)
	if a, b, ab := l.TextWidth(k, "a"), l.TextWidth(k, "b"), l.TextWidth(k, "ab"); a <= 0 || math.Abs(a+b-ab) > 0.01 {
		t.Errorf("a %v and b %v, together %v", a, b, ab)
	}
	if l.TextWidth(k, "") != 0 {
		t.Error("nothing has a width")
	}
	for _, r := range SuperscriptDigits(-1234567890) + "αβγ−…–×" {
		if i, err := l.parsedFont(false).GlyphIndex(nil, r); err != nil || i == 0 {
			t.Errorf("no glyph for %q: %v", r, err)
		}
	}
}
