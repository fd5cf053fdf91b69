package report

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// correlationsView shows the correlations between the chosen features: a map, and the most correlated pairs.
type correlationsView struct {
	SVG   markup
	Pairs []correlatedPairView
	Note  string
}

type correlatedPairView struct{ A, B, R string } // two features and their correlation

// maxPairs bounds the most correlated pairs that the page names.
const maxPairs = 5

func newCorrelationsView(s *stream.Selection) (*correlationsView, error) {
	k := len(s.Selected)
	if k < 2 || len(s.Correlations) != k {
		return nil, nil
	}
	type pair struct {
		i, j int
		r    float64
	}
	var pairs []pair
	img := image.NewNRGBA(image.Rect(0, 0, k, k))
	cell := func(i, j int, r float64) {
		h := drawing.SeriesHues()[0]
		if r < 0 {
			h = drawing.ChosenHue
		}
		if !math.IsNaN(r) { // opacity shows the size of r, so that the map fits a light and a dark page
			img.SetNRGBA(j, i, h.ToNRGBA(uint8(255*min(math.Abs(r), 1)+0.5)))
		}
	}
	var text strings.Builder
	sum := 0.0
	for i, row := range s.Correlations {
		if len(row) != i {
			return nil, nil
		}
		cell(i, i, 1)
		for j, number := range row {
			r := float64(number)
			cell(i, j, r)
			cell(j, i, r)
			fmt.Fprintf(&text, "%s ", fixedText(r, 2))
			if !math.IsNaN(r) {
				pairs = append(pairs, pair{i, j, r})
				sum += math.Abs(r)
			}
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(math.Abs(b.r), math.Abs(a.r)) })
	v := &correlationsView{Note: fmt.Sprintf("Mean |r| %s, largest %s.", fixedText(sum/float64(len(pairs)), 2), fixedText(math.Abs(pairs[0].r), 2))}
	for _, p := range pairs[:min(maxPairs, len(pairs))] {
		v.Pairs = append(v.Pairs, correlatedPairView{s.Selected[p.j].Name, s.Selected[p.i].Name, fixedText(p.r, 2)})
	}
	data, err := drawing.DataURL(img)
	if err != nil {
		return nil, err
	}
	v.SVG = correlationMapSVG(k, data, text.String())
	return v, nil
}

// correlationMapSVG draws the map of k features: the image at URL imageURL, with the ranks above and to the left.
// Attribute data-r contains triangle, the correlations of the lower triangle row by row. The page's script reads the
// attribute to show the correlation under the pointer.
func correlationMapSVG(k int, imageURL, triangle string) markup {
	size := float64(k) / 34 // so that the text has the same size on the screen for every k
	margin := 1.8 * size
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="map" viewBox="%s %s %s %s" role="img" aria-label="Map of the correlations of the %d chosen features, by rank." data-k="%d" data-r="%s">`,
		drawing.SvgNumber(-margin), drawing.SvgNumber(-margin), drawing.SvgNumber(float64(k)+margin), drawing.SvgNumber(float64(k)+margin), k, k, strings.TrimSpace(triangle))
	fmt.Fprintf(&b, `<image width="%d" height="%[1]d" preserveAspectRatio="none" href="%s"/>`, k, imageURL)
	for i := 0; i < k; i += max(1, (k+19)/20) {
		at := float64(i) + 0.5
		fmt.Fprintf(&b, `<text class="f-soft" font-size="%s" text-anchor="middle" x="%s" y="%s">%d</text>`, drawing.SvgNumber(size), drawing.SvgNumber(at), drawing.SvgNumber(-0.4*size), i+1)
		fmt.Fprintf(&b, `<text class="f-soft" font-size="%s" text-anchor="end" x="%s" y="%s">%d</text>`, drawing.SvgNumber(size), drawing.SvgNumber(-0.4*size), drawing.SvgNumber(at+0.35*size), i+1)
	}
	b.WriteString("</svg>")
	return markup(b.String()) // has only numbers and base64
}
