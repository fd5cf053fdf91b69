package report

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestPixels: any order of the columns gives one image; pixels that were left out are blank
// in it; too few pixels make no image.
func TestPixels(t *testing.T) {
	const rows, cols = 5, 7
	s := new(stream.Selection)
	for i := range rows * cols {
		name := fmt.Sprintf("px_%d_%d", i/cols, i%cols)
		if i%11 == 0 {
			s.LeftOut = append(s.LeftOut, stream.LeftOut{Name: name, Why: "constant"})
			continue
		}
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Mean: stream.Number(i)})
		if i%4 == 1 {
			s.Selected = append(s.Selected, stream.Selected{Rank: len(s.Selected) + 1, Name: name})
		}
	}
	s.Columns = append(s.Columns, stream.ColumnReport{Name: "age"})
	var first []byte
	for seed := range uint64(5) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(s.Columns), func(i, j int) { s.Columns[i], s.Columns[j] = s.Columns[j], s.Columns[i] })
		p := findPixels(s)
		if p == nil || p.rows != rows || p.cols != cols || p.leftOut != 4 || p.others != 1 || len(p.chosen) != len(s.Selected) {
			t.Fatalf("grid %+v", p)
		}
		var picture bytes.Buffer
		must.Do(t, png.Encode(&picture, p.meanImage(color.NRGBA{})))
		b := picture.Bytes()
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Error("another order, another image")
		}
	}
	img := must.Get(png.Decode(bytes.NewReader(first)))(t)
	for i := range rows * cols {
		g, _, _, alpha := img.At(i%cols, i/cols).RGBA()
		// The means run from 1 to 34.
		want := uint32(255*float64(i-1)/33 + 0.5)
		if left := i%11 == 0; left != (alpha == 0) || !left && g>>8 != want {
			t.Errorf("pixel %d is %d, %d; want %d", i, g>>8, alpha, want)
		}
	}
	for name, other := range map[string]*stream.Selection{
		"other names": {Columns: []stream.ColumnReport{{Name: "a"}, {Name: "px_0"}, {Name: "px_1_2_3"}}, Selected: []stream.Selected{{Rank: 1, Name: "a"}}},
		"far apart":   {Columns: []stream.ColumnReport{{Name: "px_0_0"}, {Name: "px_4000_4000"}}, Selected: []stream.Selected{{Rank: 1, Name: "px_0_0"}}},
		"too far":     {Columns: []stream.ColumnReport{{Name: "px_0_99999999999999999999"}}, Selected: []stream.Selected{{Rank: 1, Name: "px_0_99999999999999999999"}}},
		"none chosen": {Columns: []stream.ColumnReport{{Name: "px_0_0"}, {Name: "a"}}, Selected: []stream.Selected{{Rank: 1, Name: "a"}}},
	} {
		if p := findPixels(other); p != nil {
			t.Errorf("%s: got pixels %+v, want none", name, p)
		}
	}
}

// TestPixelsWithBands: the bands of px_R_C_B stand side by side, in the picture, on the page and in its text. Beside
// names without a band such names are other features.
func TestPixelsWithBands(t *testing.T) {
	const rows, cols, bands = 3, 4, 2
	s := new(stream.Selection)
	for i := range rows * cols * bands {
		name := fmt.Sprintf("px_%d_%d_%d", i/bands/cols, i/bands%cols, i%bands)
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Mean: stream.Number(i)})
	}
	s.Selected = []stream.Selected{{Rank: 1, Name: "px_2_1_1"}}
	p := findPixels(s)
	if p == nil || p.rows != rows || p.cols != cols*bands || p.bands != bands || len(p.chosen) != 1 || p.chosen[0] != (pixel{"px_2_1_1", 2, cols + 1, 1}) {
		t.Fatalf("got image %+v, want %d×%d pixels in %d bands, and px_2_1_1 in row 2, column %d", p, rows, cols, bands, cols+1)
	}
	for i := range rows * cols * bands {
		if got := p.mean[i/bands/cols*p.cols+i%bands*cols+i/bands%cols]; got != float64(i) {
			t.Errorf("%s: got mean %v, want %d", s.Columns[i].Name, got, i)
		}
	}
	view := must.Get(newMaskView(s))(t)
	for _, want := range []string{`viewBox="0 0 8 3"`, "3 rows by 4 columns, 2 bands side by side", `<rect x="5" y="2" width="1" height="1"><title>px_2_1_1: rank 1</title>`} {
		if !strings.Contains(string(view.SVG), want) {
			t.Errorf("the mask has no %q: %s", want, view.SVG)
		}
	}
	s.Columns = append(s.Columns, stream.ColumnReport{Name: "px_0_0"})
	if p := findPixels(s); p != nil {
		t.Errorf("with px_0_0 beside: got pixels %+v, want none", p)
	}
}

// TestMaskKey: the legend of several masks has only ranges and left-out pixels that apply to all.
func TestMaskKey(t *testing.T) {
	a := &maskView{Chosen: "3 chosen pixels", Low: "0", High: "1"}
	b := &maskView{Chosen: "4 chosen pixels", Low: "0", High: "9", LeftOut: "2 pixels without a feature"}
	for _, c := range []struct {
		masks []*maskView
		want  maskView
	}{
		{[]*maskView{a, a}, maskView{Chosen: "chosen pixels", Low: "0", High: "1"}},
		{[]*maskView{a, b}, maskView{Chosen: "chosen pixels", LeftOut: "without a feature: constant or left out"}},
		{[]*maskView{b, a, a}, maskView{Chosen: "chosen pixels", LeftOut: "without a feature: constant or left out"}},
	} {
		var key *maskView
		for _, m := range c.masks {
			key = m.mergeLegend(key)
		}
		if *key != c.want {
			t.Errorf("%+v, want %+v", *key, c.want)
		}
	}
}

// TestGroups: every feature that is not chosen stands in the group of its nearest, once.
func TestGroups(t *testing.T) {
	s := hostileSelection().Selection
	chosen := map[string]bool{}
	for _, f := range s.Selected {
		chosen[f.Name] = true
	}
	want := map[string][]string{}
	for _, c := range s.Columns {
		if !chosen[c.Name] {
			want[c.Nearest] = append(want[c.Nearest], c.Name)
		}
	}
	got := featureGroups(s)
	if len(got) != len(s.Selected) {
		t.Fatalf("%d groups", len(got))
	}
	for _, g := range got {
		var names []string
		for i, m := range g.members {
			names = append(names, m.Name)
			if i > 0 && m.Explained > g.members[i-1].Explained {
				t.Errorf("group %q is not in order", g.Name)
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(want[g.Name]))) {
			t.Errorf("group %q has %q, want %q", g.Name, names, want[g.Name])
		}
	}
	if g := featureGroups(&stream.Selection{Selected: s.Selected, Columns: []stream.ColumnReport{{Name: "z"}}}); g != nil {
		t.Errorf("groups without nearest: %v", g)
	}
}

// selectionOf is a selection of these names.
func selectionOf(names ...string) *stream.Selection {
	s := new(stream.Selection)
	for i, n := range names {
		s.Selected = append(s.Selected, stream.Selected{Rank: i + 1, Name: n})
	}
	return s
}

// TestOverlap: symmetric, one on the diagonal, and as counted by hand.
func TestOverlap(t *testing.T) {
	docs := []Document{{Name: "a.json", Selection: selectionOf("x", "y", "z")}, gridDocument(), {Name: "b/a.json", Selection: selectionOf("z", "w")}, {Name: "c.json", Selection: selectionOf("v")}}
	names := Page{Documents: docs}.documentNames()
	if !slices.Equal(names, []string{"a.json", "grid", "b/a.json", "c"}) {
		t.Errorf("names %q", names)
	}
	var list []*stream.Selection
	for _, n := range (Page{Documents: docs}).selectionsShown() {
		list = append(list, n.Selection)
	}
	h, shared := newOverlapHeatMap(list, []string{"a.json", "b/a.json", "c"})
	want := [][]float64{{1, 0.25, 0}, {0.25, 1, 0}, {0, 0, 1}}
	for i := range want {
		if !slices.Equal(h.cell[i], want[i]) {
			t.Errorf("row %d: %v, want %v", i, h.cell[i], want[i])
		}
	}
	if shared[0][1] != 1 || shared[0][0] != 3 {
		t.Errorf("in common: %v", shared)
	}
}

// TestSecondWeight: a grid over α and β is shown by β, whatever γ is.
func TestSecondWeight(t *testing.T) {
	g := &stream.Grid{K: 1, Recommended: 3}
	for i := range 6 {
		beta := stream.Number(i % 3)
		g.Settings = append(g.Settings, stream.GridSetting{
			Alpha: stream.Number(i / 3), Beta: &beta, Gamma: stream.Number(math.NaN()), Agreement: stream.Number(i), Selected: []string{"a"},
		})
	}
	h := agreementHeat(g)
	if h.columnHead != "β" || !slices.Equal(h.columns, []string{"0", "1", "2"}) || len(h.rows) != 2 || h.cell[1][2] != 5 || h.marked != [2]int{1, 0} {
		t.Errorf("heat map: got %+v, want 2 rows over β 0, 1, 2 and cell (1, 0) marked", h)
	}
	rows := strings.Split(string(renderSettings(g)), "<tr")
	if len(rows) != 8 || !strings.Contains(rows[1], `>α</th><th scope="col" class="n">β</th>`) || !strings.HasPrefix(rows[6], `><td class="n">1</td><td class="n">1</td>`) {
		t.Errorf("settings: got %q, want β as the second weight and 1 in row 4", rows)
	}
	if n := len(neighbouringPairs(g)); n != 7 {
		t.Errorf("%d pairs of neighbours in a grid of 2×3, want 7", n)
	}
}

// TestAgreement: the curve over k is the mean Jaccard index of all neighbours, by its
// definition; the heat map has every setting at its place, in any order of the settings.
func TestAgreement(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alpha, gamma := []float64{0.1, 1, 10}, []float64{1, 2}
	g := &stream.Grid{K: 5, Recommended: -1}
	for _, a := range alpha {
		for _, c := range gamma {
			var names []string
			for _, j := range r.Perm(8)[:5] {
				names = append(names, fmt.Sprint(j))
			}
			g.Settings = append(g.Settings, stream.GridSetting{Alpha: stream.Number(a), Gamma: stream.Number(c), Agreement: stream.Number(a + c), Selected: names})
		}
	}
	naive := func(k int) float64 {
		var sum float64
		n := 0
		for i, s := range g.Settings {
			for j := range i {
				u := g.Settings[j]
				steps := math.Abs(float64(slices.Index(alpha, float64(s.Alpha))-slices.Index(alpha, float64(u.Alpha)))) +
					math.Abs(float64(slices.Index(gamma, float64(s.Gamma))-slices.Index(gamma, float64(u.Gamma))))
				if steps != 1 {
					continue
				}
				index, _ := jaccardIndex(selectionOf(s.Selected[:k]...), selectionOf(u.Selected[:k]...))
				sum += index
				n++
			}
		}
		return sum / float64(n)
	}
	for range 3 {
		c := agreementCurve(g)
		for i, y := range c.Series[0].Y {
			// A sum of 7 shares, divided before or after: a few ulps.
			if want := naive(i + 1); math.Abs(y-want) > 1e-14 {
				t.Errorf("k = %d: %v, want %v", i+1, y, want)
			}
		}
		h := agreementHeat(g)
		for i, a := range alpha {
			for j, c := range gamma {
				if h.cell[i][j] != a+c {
					t.Errorf("cell %v, %v: %v", a, c, h.cell[i][j])
				}
			}
		}
		r.Shuffle(len(g.Settings), func(i, j int) { g.Settings[i], g.Settings[j] = g.Settings[j], g.Settings[i] })
	}
	if c := agreementCurve(&stream.Grid{Settings: g.Settings[:1]}); c != nil {
		t.Error("one setting agrees with none")
	}
}

// TestColumn: scores have one number of decimals.
func TestColumn(t *testing.T) {
	for _, c := range []struct {
		scores []stream.Number
		want   []string
	}{
		{[]stream.Number{190680.648, 14565.2, 950.44}, []string{"190,681", "14,565", "950"}},
		{[]stream.Number{0.51362, 0.4141}, []string{"0.51362", "0.41410"}},
		{[]stream.Number{12, 3}, []string{"12.000", "3.000"}},
		{[]stream.Number{1e-9, 5}, []string{"1e−09", "5"}},
		{[]stream.Number{stream.Number(math.NaN())}, []string{"–"}},
	} {
		var list []stream.Selected
		for _, s := range c.scores {
			list = append(list, stream.Selected{Score: s})
		}
		f := scoreFormatter(list)
		for i, s := range c.scores {
			if got := f(float64(s)); got != c.want[i] {
				t.Errorf("%v: %q, want %q", s, got, c.want[i])
			}
		}
	}
}
