package eufs

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

func treeOf(t *testing.T, text string) *Tree {
	t.Helper()
	out := new(Tree)
	must.Do(t, json.Unmarshal([]byte(text), out))
	return out
}

// same compares groups and their places.
func same(a, b *Tree) bool {
	return slices.Equal(a.Features, b.Features) && slices.EqualFunc(a.Children, b.Children, same)
}

func (t *Tree) string() string {
	s := fmt.Sprint(t.Features)
	for _, c := range t.Children {
		s += "(" + c.string() + ")"
	}
	return s
}

// The fixtures' trees follow from their names, and from a 3×4 image.
func TestTreeBuildersMakeTheFixturesTrees(t *testing.T) {
	cases := fixtures.ReadCases[fixture](t, "hufs")
	f := cases["hufs_small.json"]
	got := must.Get(PrefixTree(f.Names, "_"))(t)
	if want := treeOf(t, string(f.Tree)); !same(got, want) {
		t.Errorf("prefixes: got %s, want %s", got.string(), want.string())
	}
	var pixels []string
	for i := range 12 {
		pixels = append(pixels, fmt.Sprintf("px_%d_%d", i/4, i%4))
	}
	got = must.Get(ImageTree(pixels))(t)
	if want := treeOf(t, string(cases["hufs_small.json/0"].Tree)); !same(got, want) {
		t.Errorf("image: got %s, want %s", got.string(), want.string())
	}
}

// An image with gaps, in any order of columns, has the same groups but for the gaps, and
// no group twice.
func TestImageTreeWithGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		var names []string
		for i := range 9 * 7 {
			if rnd.IntN(3) > 0 {
				names = append(names, fmt.Sprintf("px_%d_%d", i/7, i%7))
			}
		}
		rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		tree := must.Get(ImageTree(names))(t)
		seen := make(map[string]bool)
		for _, g := range tree.nodeGroups() {
			if key := fmt.Sprint(g); seen[key] || len(g) == 0 {
				t.Errorf("group %v is there twice, or empty", g)
			} else {
				seen[key] = true
			}
		}
		for j := range names {
			if !seen[fmt.Sprint([]int{j})] {
				t.Errorf("pixel %d has no leaf", j)
			}
		}
		if len(tree.Features) != len(names) || tree.Depth() > 5 { // 9×7: halved four times
			t.Errorf("root of %d features of %d, depth %d", len(tree.Features), len(names), tree.Depth())
		}
	}
}

func TestTreeBuildersRefuse(t *testing.T) {
	for _, c := range []struct {
		build func() (*Tree, error)
		want  string
	}{
		{func() (*Tree, error) { return ImageTree([]string{"px_0_0", "f1"}) }, `"f1"`},
		{func() (*Tree, error) { return ImageTree([]string{"px_0_0", "px_00_0"}) }, "same pixel"},
		{func() (*Tree, error) { return ImageTree([]string{"px_0"}) }, "px_R_C"},
		{func() (*Tree, error) { return ImageTree([]string{"px_-1_0"}) }, "px_R_C"},
		{func() (*Tree, error) { return ImageTree(nil) }, "no features"},
		{func() (*Tree, error) { return PrefixTree([]string{"a", "b"}, "_") }, "no two"},
		{func() (*Tree, error) { return PrefixTree([]string{"a_1", "b_1"}, "_") }, "no two"},
		{func() (*Tree, error) { return PrefixTree([]string{"a_1", "a_2"}, "") }, "SEP"},
		{func() (*Tree, error) { return CorrelationTree(nil, 0) }, "no features"},
	} {
		_, err := c.build()
		rowstest.CheckRefusal(t, err, c.want)
	}
}

func TestTreeReadsBackAsWritten(t *testing.T) {
	names := []string{`a"b`, "<c>", "ü", "d", "e"}
	want := &Tree{Features: []int{0, 1, 2, 3, 4}, Children: []*Tree{
		{Features: []int{1, 0}, Children: []*Tree{{Features: []int{0}}}}, {Features: []int{4, 2}}}}
	var b strings.Builder
	must.Do(t, want.Encode(&b, names))
	if !strings.Contains(b.String(), `"<c>"`) || !json.Valid([]byte(b.String())) {
		t.Errorf("written as\n%s", b.String())
	}
	got, err := ReadTree(strings.NewReader(b.String()), names, nil)
	if err != nil || !same(got, want) {
		t.Errorf("got %v, %v, want %s", got, err, want.string())
	}
	// Names that are left out take nodes with them that have no others.
	got, err = ReadTree(strings.NewReader(b.String()), []string{"<c>", "d", "e"}, []string{`a"b`, "ü"})
	if left := (&Tree{Features: []int{0, 1, 2}, Children: []*Tree{{Features: []int{0}}, {Features: []int{2}}}}); err != nil || !same(got, left) {
		t.Errorf("got %v, %v, want %s", got, err, left.string())
	}
}

func TestReadTreeNamesTheNode(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, c := range []struct{ text, want string }{
		{`[]`, "not a tree"},
		{`{"features": ["a"]} {}`, "after the root"},
		{`{"features": ["a"], "chidren": []}`, "chidren"},
		{`{"features": []}`, "root: there are no features"},
		{`{"features": ["a", "x"]}`, `root: "x" is not a feature`},
		{`{"features": ["a", "a"]}`, `root: "a" is listed twice`},
		{`{"features": ["a", "b"], "children": [{"features": ["b"]}, {"features": ["a"], "children": [null]}]}`, "root.children[1].children[0]: null"},
		{`{"features": ["a", "b"], "children": [{"features": ["c"]}]}`, `root.children[0]: "c" is not in the parent`},
		{`{"features": ["a", "b", "c"], "children": [{"features": ["a", "b"]}, {"features": ["c"]}, {"features": ["b"]}]}`, `root: "b" is in children[0] and in children[2]`},
		{`{"features": ["z"]}`, "none of its features is used"},
	} {
		_, err := ReadTree(strings.NewReader(c.text), names, []string{"z"})
		rowstest.CheckRefusal(t, err, c.want)
	}
}

func FuzzReadTree(f *testing.F) {
	f.Add(`{"features": ["a", "b"], "children": [{"features": ["b"]}]}`)
	f.Add(`{"features": ["a"], "children": [null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		names := []string{"a", "b", "c"}
		tree, err := ReadTree(strings.NewReader(text), names, []string{"d"})
		if err != nil {
			return
		}
		must.Do(t, tree.checkFeatures(len(names)))
		var b strings.Builder
		must.Do(t, tree.Encode(&b, names))
		again, err := ReadTree(strings.NewReader(b.String()), names, nil)
		if err != nil || !same(tree, again) {
			t.Fatalf("%q is read back as another tree, error %v", b.String(), err)
		}
	})
}

// naiveLinkage merges the nearest pair of clusters, by the mean over all pairs of members.
func naiveLinkage(dist []float64, d int) (heights []float64) {
	clusters := make([][]int, d)
	for j := range clusters {
		clusters[j] = []int{j}
	}
	for len(clusters) > 1 {
		best, bi, bj := math.Inf(1), 0, 0
		for i := range clusters {
			for j := range i {
				total := 0.0
				for _, a := range clusters[i] {
					for _, b := range clusters[j] {
						total += dist[a*d+b]
					}
				}
				if mean := total / float64(len(clusters[i])*len(clusters[j])); mean < best {
					best, bi, bj = mean, i, j
				}
			}
		}
		heights = append(heights, best)
		clusters[bj] = append(clusters[bj], clusters[bi]...)
		clusters = slices.Delete(clusters, bi, bi+1)
	}
	return heights
}

func TestLinkageMergesAsTheNaiveOne(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, d := range []int{1, 2, 3, 17, 40} {
		dist := make([]float64, d*d)
		for i := range d {
			for j := range i {
				dist[i*d+j] = rnd.Float64()
				dist[j*d+i] = dist[i*d+j]
			}
		}
		want := naiveLinkage(dist, d)
		var got []float64
		for _, m := range averageLinkage(slices.Clone(dist), d) {
			got = append(got, m.height)
		}
		slices.Sort(got)
		within(t, fmt.Sprintf("heights of %d", d), got, want, 1e-14) // means of up to 400 numbers below 1
	}
}

// Columns that come in families, and families of families, are found again, whatever
// their order and signs.
func TestCorrelationTreeFindsFamilies(t *testing.T) {
	const n, d = 400, 64
	rnd := rand.New(rand.NewPCG(5, 5))
	order := rnd.Perm(d)
	draw := func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return x
	}
	cols := make([][]float64, d)
	var clan, family []float64
	for j := range d {
		if j%16 == 0 {
			clan = draw()
		}
		if j%4 == 0 {
			family = draw()
		}
		own := draw()
		for i := range own {
			own[i] = (3*clan[i] + 2*family[i] + 0.5*own[i]) * float64(1-j%2*2)
		}
		cols[order[j]] = own
	}
	sym := make([]float64, d*d)
	for i := range d {
		for j := range d {
			for r := range n {
				sym[i*d+j] += cols[i][r] * cols[j][r]
			}
		}
	}
	tree := must.Get(CorrelationTree(sym, d))(t)
	have := make(map[string]bool)
	for _, g := range tree.nodeGroups() {
		have[fmt.Sprint(g)] = true
	}
	for _, size := range []int{4, 16, 64} {
		for from := 0; from < d; from += size {
			g := slices.Clone(order[from : from+size])
			slices.Sort(g)
			if !have[fmt.Sprint(g)] {
				t.Errorf("group %v is missing", g)
			}
		}
	}
	if tree.Nodes() != 21 || tree.Depth() != 3 || tree.Entries() != 3*d {
		t.Errorf("%d nodes, depth %d, %d entries", tree.Nodes(), tree.Depth(), tree.Entries())
	}
	if !reflect.DeepEqual(tree.Features, allFeatures(d)) {
		t.Errorf("root %v", tree.Features)
	}
}

// The tree of correlations takes the place of the matrix, d² numbers, that it is of; that of a
// selection leaves the matrix for what tells what is selected.
func TestCorrelationTreeMemory(t *testing.T) {
	const d = 512
	rnd := rand.New(rand.NewPCG(6, 6))
	sym := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			sym[i*d+j] = rnd.Float64()
			sym[j*d+i] = sym[i*d+j]
		}
		sym[i*d+i] = 2
	}
	columns := make([]stream.Column, d)
	for j := range columns {
		columns[j].Name = fmt.Sprint(j)
	}
	e := &method.Evidence{Columns: columns, Gram: &gram.Gram{Matrix: gram.Matrix{Sym: slices.Clone(sym), D: d}}}
	m := &configuredMethod{tree: correlationTree}
	kept := must.Get(m.growTree(e))(t)
	if !slices.Equal(e.Gram.Sym, sym) {
		t.Error("the tree of a selection changes the matrix")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tree := must.Get(m.Tree(e))(t)
	runtime.ReadMemStats(&after)
	// Lists of features, levels and merges: some hundred bytes a feature.
	if took := after.TotalAlloc - before.TotalAlloc; took > 1024*d {
		t.Errorf("the tree of %d features took %d bytes beside the matrix", d, took)
	}
	if !same(tree.(*Tree), kept) {
		t.Error("the trees differ")
	}
}
