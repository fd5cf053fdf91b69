package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

// texts parses an SVG and returns its text.
func texts(t *testing.T, svg string) []string {
	t.Helper()
	var list []string
	inside := false
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "text"
			switch x.Name.Local {
			case "svg", "path", "circle", "text", "image":
			default:
				t.Errorf("element %s", x.Name.Local)
			}
			for _, a := range x.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			if inside {
				list = append(list, string(x))
			}
		case xml.EndElement:
			inside = false
		}
	}
}

// Drawn writes the chart in all its forms and returns the SVG file and the inline SVG.
func Drawn(t *testing.T, c Chart) (file, inline string) {
	t.Helper()
	var svg, img bytes.Buffer
	must.Do(t, c.WriteSVG(&svg))
	if !c.LogX { // a large image takes its time
		must.Do(t, c.WritePNG(&img))
		must.Get(png.DecodeConfig(&img))(t)
	}
	return svg.String(), must.Get(c.InlineSVG(680, 300, "chart", "label"))(t)
}

// TestChartSurvives: any numbers give a chart without a NaN or infinite coordinate.
func TestChartSurvives(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	coordinates := regexp.MustCompile(`NaN|Inf|e\+[0-9]{2,}`)
	for name, y := range map[string][]float64{
		"nothing":   {},
		"one":       {3},
		"zero":      {0},
		"none":      {nan, inf, -inf},
		"gaps":      {1, nan, 2, 3, inf, 0.5},
		"equal":     {7, 7, 7},
		"close":     {1, 1 + 1e-16, math.Nextafter(1, 2)},
		"huge":      {-1e300, 1e300},
		"beyond":    {-math.MaxFloat64, 1, math.MaxFloat64},
		"tiny":      {5e-324, 1e-310, 1e-300},
		"tiny step": {1e15, 1e15 + 0.125},
		"signs":     {-2, 0, 5},
	} {
		x := make([]float64, len(y))
		low, high := make([]float64, len(y)), make([]float64, len(y))
		for i := range x {
			x[i] = float64(i)
			low[i], high[i] = y[i]-1, nan
		}
		for log := range 4 {
			c := Chart{Title: name, XLabel: "x", YLabel: "y", LogX: log&1 > 0, LogY: log&2 > 0, WholeX: log == 0,
				Series: []Series{{Name: "a", X: x, Y: y, Low: low, High: high}, {Name: "b", X: y, Y: x}},
				Marks:  []Mark{{X: 1, Y: 2, Label: "m"}, {X: nan, Y: 0}}}
			file, inline := Drawn(t, c)
			texts(t, file)
			texts(t, inline)
			if s := coordinates.FindString(file + inline); s != "" {
				t.Errorf("%s, log %d: %s in\n%s", name, log, s, file)
			}
		}
	}
	if err := (Chart{Series: []Series{{X: []float64{1}, Y: nil}}}).WriteSVG(io.Discard); err == nil {
		t.Error("x without y was drawn")
	}
	if err := (Chart{Series: []Series{{X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}}).WritePNG(io.Discard); err == nil {
		t.Error("a spread with one end was drawn")
	}
}

// TestChartText: user text is one line of text, whatever it holds.
func TestChartText(t *testing.T) {
	hostile := "</text><script>alert(1)</script>\n\"'&\x01\u202e" + strings.Repeat("x", 10000)
	c := Chart{Title: hostile, XLabel: hostile, YLabel: hostile, Marks: []Mark{{X: 1, Y: 1, Label: hostile}},
		Series: []Series{{Name: hostile, X: []float64{1, 2}, Y: []float64{1, 2}}, {Name: "ünï 😀", X: []float64{1, 2}, Y: []float64{2, 1}}}}
	file, _ := Drawn(t, c)
	list := texts(t, file)
	if strings.Contains(file, "<script") {
		t.Error("markup got through")
	}
	all := strings.Join(list, "\n")
	if n := strings.Count(all, "</text><script>alert(1)</script> \"'&\ufffd\ufffd"); n < 3 {
		t.Errorf("the text stands %d times in\n%q", n, list)
	}
	if len(all) > 1000 || !slices.Contains(list, "ünï 😀") {
		t.Errorf("texts %q", list)
	}
}

// TestTicks: ticks lie within the axis, rise, have labels that differ, and are about as
// many as fit.
func TestTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		lo := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(20)-10))
		hi := lo + math.Pow(10, float64(r.IntN(16)-8))*(r.Float64()+1e-3)
		tk := TickOptions{MaxLabels: 2 + r.IntN(8)}
		if r.IntN(3) == 0 {
			tk.log = true
			lo = math.Pow(10, 40*(r.Float64()-0.5))
			hi = lo * (1.01 + math.Pow(10, 20*r.Float64()))
		}
		if hi-lo < 1e-9*max(math.Abs(lo), math.Abs(hi)) {
			continue // span widens such a range
		}
		labels, n, last := map[string]bool{}, 0, math.Inf(-1)
		for _, k := range tk.TickMarks(lo, hi) {
			tolerance := 1e-6 * (hi - lo)
			if tk.log {
				tolerance = 1e-6 * k.Value
			}
			if k.Value < lo-tolerance || k.Value > hi+tolerance {
				t.Fatalf("tick %v outside of [%v, %v]", k.Value, lo, hi)
			}
			if k.Label == "" {
				continue
			}
			if k.Value <= last || labels[k.Label] {
				t.Fatalf("[%v, %v], %+v: tick %v %q after %v", lo, hi, tk, k.Value, k.Label, last)
			}
			last, labels[k.Label] = k.Value, true
			n++
		}
		if n > 2*tk.MaxLabels+2 || n == 0 && !tk.log {
			t.Fatalf("%d ticks of about %d on [%v, %v], log %v", n, tk.MaxLabels, lo, hi, tk.log)
		}
	}
	for _, c := range []struct {
		v, step float64
		want    string
	}{{0, 0.2, "0"}, {0.6000000001, 0.2, "0.6"}, {12000, 2000, "12,000"}, {-3, 1, "−3"}, {2.5e7, 5e6, "2.5×10⁷"}, {2e-7, 1e-7, "2×10⁻⁷"}, {974.05, 0.05, "974.05"}} {
		if got := tickLabel(c.v, c.step); got != c.want {
			t.Errorf("%v in steps of %v: %q, want %q", c.v, c.step, got, c.want)
		}
	}
}

// TestThin: a thinned line keeps its ends and extremes, in order, and is short.
func TestThin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 3, 4, 5, 1000, 100000} {
		line := make([]drawing.Point, n)
		lowest, highest := float64(2), float64(-2)
		for i := range line {
			line[i] = drawing.Point{X: float64(i) / float64(n) * 600, Y: r.Float64()}
			lowest, highest = min(lowest, line[i].Y), max(highest, line[i].Y)
		}
		out := RemoveHiddenPoints(line)
		if len(out) > 4*1201 || len(out) > n {
			t.Errorf("%d of %d points", len(out), n)
		}
		if n == 0 {
			continue
		}
		if out[0] != line[0] || out[len(out)-1] != line[n-1] {
			t.Errorf("%d points: the ends moved", n)
		}
		at := 0
		for _, p := range out {
			for at < n && line[at] != p {
				at++
			}
		}
		if at == n {
			t.Errorf("%d points: out of order, or not of the line", n)
		}
		if !slices.ContainsFunc(out, func(p drawing.Point) bool { return p.Y == lowest }) || !slices.ContainsFunc(out, func(p drawing.Point) bool { return p.Y == highest }) {
			t.Errorf("%d points: an extreme is lost", n)
		}
	}
}

// TestCut: the result has at most so many runes, all whole.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöü😀", 3, "äö…"}, {"ab", 1, "…"}} {
		if got := drawing.TruncateText(c.s, c.most); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.most, got, c.want)
		}
	}
}
