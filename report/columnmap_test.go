package report

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// mappedSelection has 3 chosen features among 80, and correlations. In the
// map, whose list has the chosen ones last, feature i is at angle i.
func mappedSelection() Document {
	s := falling(0.5, 0.25, 0.125)
	s.Rows, s.RowsUsed, s.Features, s.Map = 100, 100, 80, &stream.ColumnMap{Shown: 0.5}
	s.Correlations = [][]stream.Number{{}, {0.25}, {-0.5, 0.75}}
	s.LeftOut = []stream.LeftOut{{Name: "constant column", Why: "constant (4 in every row)"}}
	for i := range 80 {
		name, nearest, r := fmt.Sprintf("f%d", i), string(rune('a'+i%3)), stream.Number(1-float64(i)/80)
		if i < 3 {
			name = string(rune('a' + i))
		}
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Std: 1, Explained: 1 - r, Nearest: nearest, Correlation: &r})
		s.Map.Columns = append(s.Map.Columns, stream.MapColumn{Name: name, X: stream.Number(0.9 * math.Cos(float64(i))), Y: stream.Number(0.9 * math.Sin(float64(i)))})
	}
	s.Map.Columns = slices.Concat(s.Map.Columns[3:], s.Map.Columns[:3])
	return Document{Name: "mapped.json", Selection: s}
}

// TestMap: each column has a dot at its place, the chosen ones last and with their ranks, and a line with its name in the
// same order. Columns without a place are left out, and the page says how many.
func TestMap(t *testing.T) {
	s := mappedSelection().Selection
	nan := stream.Number(math.NaN())
	for _, x := range []stream.Number{nan, 1.5, stream.Number(math.Inf(-1))} {
		s.Map.Columns = append(s.Map.Columns, stream.MapColumn{Name: "nowhere", X: x}, stream.MapColumn{Name: "nowhere", Y: x})
	}
	s.Features++ // a column that is not in the map
	v := must.Get(newMapView(s))(t)
	names := strings.Split(v.Names, "\n")
	if want := []string{"a, chosen, rank 1", "b, chosen, rank 2", "c, chosen, rank 3", "f3, near a, r 0.96"}; len(names) != 80 || !slices.Equal(names[:4], want) {
		t.Errorf("names: got %d, %q, want 80, the first %q", len(names), names, want)
	}
	if !strings.Contains(v.Note, "show 50.00 % of the variance") || !strings.HasSuffix(v.Note, " Not shown: 1 other column.") {
		t.Errorf("note: got %s, want 50.00 %% of the variance, and 1 column not shown", v.Note)
	}
	dots := regexp.MustCompile(`<circle cx="([0-9.]+)" cy="([0-9.]+)" r="([0-9.]+)" class="f-s([17])"/>`).FindAllStringSubmatch(string(v.SVG), -1)
	if len(dots) != 80 {
		t.Fatalf("got %d dots, want 80", len(dots))
	}
	number := func(text string) float64 { return must.Get(strconv.ParseFloat(text, 64))(t) }
	for i, dot := range dots {
		angle, size := float64(i), 200*0.9/(1.08*reachOf(s))
		if x, y := 200+size*math.Cos(angle), 200-size*math.Sin(angle); (dot[4] == "1") != (i < 3) || math.Abs(number(dot[1])-x) > 0.01 || math.Abs(number(dot[2])-y) > 0.01 {
			t.Errorf("dot %d of %s: got %v, want (%.2f, %.2f), chosen %v", i, names[i], dot[1:], x, y, i < 3)
		}
	}
	for rank := 1; rank <= 3; rank++ {
		if !strings.Contains(string(v.SVG), fmt.Sprintf(`class="f-ink">%d</text>`, rank)) {
			t.Errorf("the map lacks rank %d", rank)
		}
	}
	figures := Page{Documents: []Document{{Name: "mapped.json", Selection: s}}}.Figures()
	i := slices.IndexFunc(figures, func(f Figure) bool { return f.Name == "mapped-map" })
	if i < 0 {
		t.Fatalf("no map among the figures %v", figures)
	}
	var picture bytes.Buffer
	must.Do(t, figures[i].WritePNG(&picture))
	if img := must.Get(png.Decode(&picture))(t); img.Bounds().Dx() < 480 {
		t.Errorf("the picture is %v", img.Bounds())
	}
}

// reachOf returns the largest coordinate of the map.
func reachOf(s *stream.Selection) (reach float64) {
	for i := range 80 {
		reach = max(reach, math.Abs(float64(s.Map.Columns[i].X)), math.Abs(float64(s.Map.Columns[i].Y)))
	}
	return reach
}

// TestNoMap: a page without a map says why.
func TestNoMap(t *testing.T) {
	many := falling(slices.Repeat([]float64{0.5}, 101)...)
	none := falling(0.5, 0.25)
	for _, c := range []struct {
		s    *stream.Selection
		want string
	}{{many, "drawn for up to 100 chosen features"}, {none, "the selection does not record one"}} {
		if page := pageOf(t, Document{Name: "x.json", Selection: c.s}); !strings.Contains(page, c.want) || strings.Contains(page, `class="places"`) {
			t.Errorf("the page of %d chosen does not say %q", len(c.s.Selected), c.want)
		}
	}
	if page := pageOf(t, mappedSelection()); strings.Contains(page, "There is no map") || !strings.Contains(page, `class="places"`) {
		t.Error("the page has no map")
	}
}
