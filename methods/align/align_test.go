package align

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// data is a table with weights on anchors, in rows.
type data struct{ x, z [][]float64 }

// clustered has rows near the centres of parts that share no anchor; four rows of each
// part use an anchor of the next where the parts are to be joined. Half of the features follow the centres, the others are noise.
func clustered(seed uint64, n, m, d, parts int, joined bool) data {
	r := rand.New(rand.NewPCG(seed, 11))
	centres := rowstest.ZeroRows(parts, d)
	for p := range parts {
		for j := range d / 2 {
			centres[p][j] = 3 * r.NormFloat64()
		}
	}
	t := data{rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, m)}
	size := m / parts
	for i := range n {
		p := i % parts
		total := 0.0
		for range 3 {
			a := p*size + (i/parts+r.IntN(3))%size
			w := 0.1 + r.Float64()
			t.z[i][a] += w
			total += w
		}
		if at := i / parts; joined && at < 4 {
			a := (p+1)%parts*size + at%size
			t.z[i][a] += 0.3
			total += 0.3
		}
		for a := range m {
			t.z[i][a] /= total
		}
		for j := range d {
			t.x[i][j] = centres[p][j] + r.NormFloat64()*(0.5+float64(j%3))
		}
	}
	return t
}

func (t data) graph() *anchor.Graph { return rowstest.BuildGraph(t.x, t.z) }

// choice runs the method.
func choice(t *testing.T, g *anchor.Graph, diffusion float64, opt Options) (*spectral.Diffusion, *Result) {
	t.Helper()
	k := must.Get(spectral.Diffuse(kernel.NewTeam(opt.Threads), g, diffusion))(t)
	return k, must.Get(Choose(t.Context(), problem(k, g), opt))(t)
}

// pairs, leastRows and leastShare are those of package spectral.
const (
	pairs      = 50
	leastRows  = 3
	leastShare = 0.004
)

// diffused is K by its definition: the eigenvectors of the n×n affinity but the constant one,
// those on few rows left out, with weights (λ_c/λ_1)^(2t). The rows are counted at the anchors, as
// package spectral does, which checks that against the rows themselves.
func (t data) diffused(diffusion float64) [][]float64 {
	n, b := len(t.x), rowstest.Factor(t.z)
	values, u := rowstest.Jacobi(rowstest.Laplacian(t.z)) // 1 − λ, ascending
	k, largest := rowstest.ZeroRows(n, n), 0.0
	for c := range min(n, pairs+1) {
		lambda, fourth, sum := 1-values[c], 0.0, 0.0
		for i := range n {
			sum += u[i][c]
		}
		for a := range b[0] {
			v, delta := 0.0, 0.0
			for i := range n {
				v += b[i][a] * u[i][c] / math.Sqrt(lambda)
				delta += t.z[i][a]
			}
			if delta > 0 {
				fourth += v * v * v * v / delta
			}
		}
		if math.Abs(sum) > 0.5*math.Sqrt(float64(n)) || lambda < 1e-9 || 1/fourth < max(leastRows, leastShare*float64(n)) {
			continue
		}
		if largest == 0 {
			largest = lambda
		}
		w := math.Pow(lambda/largest, 2*diffusion)
		for i := range n {
			for j := range n {
				k[i][j] += w * u[i][c] * u[j][c]
			}
		}
	}
	return k
}

// frobenius is ⟨a, b⟩ of two n×n matrices.
func frobenius(a, b [][]float64) (sum float64) {
	for i := range a {
		sum += kernel.Dot(a[i], b[i])
	}
	return sum
}

// similarity is X_SX_Sᵀ.
func similarity(x [][]float64, chosen []int) [][]float64 {
	k := rowstest.ZeroRows(len(x), len(x))
	for i := range x {
		for l := range x {
			for _, j := range chosen {
				k[i][l] += x[i][j] * x[l][j]
			}
		}
	}
	return k
}

// TestAlignIsTheDenseForm: at every turn all candidates are tried with n×n matrices.
func TestAlignIsTheDenseForm(t *testing.T) {
	for seed := range uint64(4) {
		tab := clustered(seed, 48, 24, 9, 4, true)
		g := tab.graph()
		for _, diffusion := range []float64{1, 3, 10} {
			k := tab.diffused(diffusion)
			kernelOf, got := choice(t, g, diffusion, Options{K: 9})
			if len(kernelOf.Warnings) > 0 || kernelOf.Components != 1 {
				t.Fatalf("seed %d: %d parts, %v", seed, kernelOf.Components, kernelOf.Warnings)
			}
			if norm := math.Sqrt(frobenius(k, k)); math.Abs(kernelOf.Norm-norm) > 1e-10*norm {
				t.Errorf("seed %d, t = %v: ‖K‖ = %v, want %v", seed, diffusion, kernelOf.Norm, norm)
			}
			x := rowstest.CentreColumns(tab.x)
			var chosen []int
			for turn, p := range got.Order {
				best, alike := -1.0, 0.0
				for j := range g.D {
					if slices.Contains(chosen, j) {
						continue
					}
					s := similarity(x, append(slices.Clone(chosen), j))
					// Sums of 48² terms; eigenvectors are off by rounding over gaps of 10⁻³.
					value := frobenius(s, k) / math.Pow(frobenius(s, s), defaultPower/2)
					if j == p {
						alike = value
					}
					best = max(best, value)
				}
				if !(alike >= best*(1-1e-10)) {
					t.Errorf("seed %d, t = %v, turn %d: feature %d has %v, the best %v", seed, diffusion, turn, p, alike, best)
				}
				chosen = append(chosen, p)
				s := similarity(x, chosen)
				want := frobenius(s, k) / math.Sqrt(frobenius(s, s)*frobenius(k, k))
				if !(math.Abs(got.Alignment[turn]-want) <= 1e-10) {
					t.Errorf("seed %d, t = %v, turn %d: alignment %v, want %v", seed, diffusion, turn, got.Alignment[turn], want)
				}
			}
		}
	}
}

// TestAlignFollowsClusters: the features of the centres come before noise of any variance.
func TestAlignFollowsClusters(t *testing.T) {
	for seed := range uint64(5) {
		tab := clustered(seed, 90, 40, 20, 5, true)
		for i := range tab.x {
			for j := 10; j < 20; j++ {
				tab.x[i][j] *= 5
			}
		}
		_, r := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 4})
		for _, j := range r.Order {
			if j >= 10 {
				t.Errorf("seed %d: chose %v; features from 10 on are noise", seed, r.Order)
			}
		}
	}
}

// scaled is the graph of all columns times a factor.
func scaled(g *anchor.Graph, factor float64) *anchor.Graph {
	out := *g
	out.G, out.C = gram.Full(slices.Clone(g.G.Sym), g.D), slices.Clone(g.C)
	for i := range out.G.Sym {
		out.G.Sym[i] = out.G.Sym[i] * factor * factor
	}
	for i := range out.C {
		out.C[i] *= factor
	}
	return &out
}

// TestAlignLaws: threads change no bit, permuted columns permute the answer, one factor for all
// columns changes no choice even at the ends of float64's range, and fewer features are the first.
func TestAlignLaws(t *testing.T) {
	const d = 2100 // more than a block of features
	tab := clustered(7, 40, 20, d, 4, true)
	g := tab.graph()
	_, want := choice(t, g, spectral.DefaultDiffusion, Options{K: 30, Threads: 1})
	for _, threads := range []int{2, 8} {
		_, got := choice(t, g, spectral.DefaultDiffusion, Options{K: 30, Threads: threads})
		if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Alignment, want.Alignment) {
			t.Errorf("%d threads: another answer", threads)
		}
	}
	for _, factor := range []float64{1e150, 1e-140, 3} {
		_, got := choice(t, scaled(g, factor), spectral.DefaultDiffusion, Options{K: 30})
		if !slices.Equal(got.Order, want.Order) || rowstest.RelativeDistance(got.Alignment, want.Alignment) > 1e-12 {
			t.Errorf("times %v: %v, want %v", factor, got.Order, want.Order)
		}
	}
	order := rand.New(rand.NewPCG(7, 7)).Perm(d)
	_, got := choice(t, rowstest.PermuteFeatures(g, order), spectral.DefaultDiffusion, Options{K: 30})
	for i, j := range got.Order {
		if order[j] != want.Order[i] {
			t.Errorf("rank %d: feature %d, permuted %d", i+1, want.Order[i], order[j])
		}
	}
	_, got = choice(t, g, spectral.DefaultDiffusion, Options{K: 11})
	if !slices.Equal(got.Order, want.Order[:11]) || !slices.Equal(got.Alignment, want.Alignment[:11]) {
		t.Errorf("11 features are not the first of 30: %v, %v", got.Order, want.Order)
	}
	_, got = choice(t, g, spectral.DefaultDiffusion, Options{K: 12, Keep: want.Order[:11]})
	if !slices.Equal(got.Order, want.Order[:12]) {
		t.Errorf("with the first 11 kept: %v, want %v", got.Order, want.Order[:12])
	}
}

// TestAlignForbid: without the features that may not be chosen the choice is the one among the others, as the
// criterion knows no feature but those chosen.
func TestAlignForbid(t *testing.T) {
	const d = 60
	tab := clustered(9, 40, 20, d, 4, true)
	g := tab.graph()
	_, free := choice(t, g, spectral.DefaultDiffusion, Options{K: 8})
	forbid := []int{free.Order[0], free.Order[3], free.Order[4]}
	k := must.Get(spectral.Diffuse(kernel.NewTeam(1), g, spectral.DefaultDiffusion))(t)
	whole := problem(k, g)
	var left []int
	part := Problem{Norm: whole.Norm}
	for j := range d {
		if !slices.Contains(forbid, j) {
			left, part.A, part.Squares = append(left, j), append(part.A, whole.A[j]), append(part.Squares, whole.Squares[j])
		}
	}
	part.Column = func(j int) []float64 {
		column := make([]float64, len(left))
		for i, own := range left {
			column[i] = whole.Column(left[j])[own]
		}
		return column
	}
	want := must.Get(Choose(t.Context(), part, Options{K: 8}))(t)
	got := must.Get(Choose(t.Context(), whole, Options{K: 8, Forbid: forbid}))(t)
	for i, j := range want.Order {
		if got.Order[i] != left[j] {
			t.Errorf("rank %d: feature %d, want %d", i+1, got.Order[i], left[j])
		}
	}
	if !slices.Equal(got.Alignment, want.Alignment) {
		t.Errorf("alignment %v, want %v", got.Alignment, want.Alignment)
	}
	if all := must.Get(Choose(t.Context(), whole, Options{K: d, Forbid: forbid}))(t); len(all.Order) != d-len(forbid) {
		t.Errorf("of %d features %d were chosen", d-len(forbid), len(all.Order))
	}
}

// TestAlignAhead: what is told ahead is the next choice and features that are left, most of the next choices among
// them, and changes nothing.
func TestAlignAhead(t *testing.T) {
	tab := clustered(7, 40, 20, 300, 4, true)
	k, want := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 30})
	p := problem(k, tab.graph())
	var told []int
	var known []int
	hits := 0
	p.Ahead = func(j int, likely []int) {
		told = append(told, j)
		if len(likely) != mostLikely || slices.Contains(likely, j) {
			t.Errorf("turn %d: %d, then %v", len(told), j, likely)
		}
		for _, i := range likely {
			if slices.Contains(told, i) {
				t.Errorf("turn %d: %d is chosen already", len(told), i)
			}
		}
		if slices.Contains(known, j) {
			hits++
		} else {
			known = likely
		}
	}
	got := must.Get(Choose(t.Context(), p, Options{K: 30}))(t)
	if !slices.Equal(got.Order, want.Order) || !slices.Equal(told, want.Order) || !slices.Equal(got.Alignment, want.Alignment) {
		t.Errorf("chosen %v, told %v, want %v", got.Order, told, want.Order)
	}
	if hits < 10 {
		t.Errorf("only %d of 30 were known ahead", hits)
	}
}

// TestAlignCopies: multiples of a feature come after all that are none, and the choice among
// these is that without them. Equal features go by column order, and are told.
func TestAlignCopies(t *testing.T) {
	tab := clustered(3, 60, 24, 8, 4, true)
	_, want := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 8})
	for i, row := range tab.x {
		tab.x[i] = append(row, row[1], -2*row[1], row[want.Order[7]]/3)
	}
	k, got := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 11})
	if got.Copies != 3 {
		t.Errorf("%d copies, want 3", got.Copies)
	}
	// Column 9 is twice as long as 1 and so comes for it, 10 is a third of the last and does not.
	origin := map[int]int{8: 1, 9: 1, 10: want.Order[7]}
	for i := range 8 {
		j := got.Order[i]
		if to, ok := origin[j]; ok {
			j = to
		}
		if slices.Contains(got.Order[:i], j) {
			t.Errorf("a copy of %d is among the first 8: %v", j, got.Order)
		}
	}
	equal := false
	for _, tie := range got.Ties {
		equal = equal || got.Order[tie.Turn] == 1 && tie.First == 8 && tie.Others == 1
	}
	if !equal {
		t.Errorf("no tie of columns 1 and 8 in %+v of %v", got.Ties, got.Order)
	}
	columns := make([]stream.Column, 11)
	for i := range columns {
		columns[i].Name = string(rune('a' + i))
	}
	said := ""
	for _, w := range append(k.Warnings, got.warningTexts(columns)...) {
		said += w.String() + "\n"
	}
	if !strings.Contains(said, "b has the score of 1 more, the first being i") || !strings.Contains(said, "multiples of others selected before: 3;") {
		t.Errorf("warnings:\n%s", said)
	}
}

// TestAlignSmallBesideLarge: a feature 10⁻⁷⁶ times as long, whose fourth power float64 does not
// hold, comes last, and one that is 10⁻⁶ times as long is still told from its like.
func TestAlignSmallBesideLarge(t *testing.T) {
	tab := clustered(5, 60, 24, 8, 4, true)
	for i, row := range tab.x {
		row[0] *= 1e-80
		tab.x[i] = append(row, 1e-6*row[1], 1e-6*row[7]) // follows the clusters, does not
	}
	for i, row := range tab.x {
		row[8] += 1e-8 * float64(i%7) // no multiples
		row[9] += 1e-8 * float64(i%5)
	}
	_, r := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 10})
	if r.Order[9] != 0 || r.Faint != 1 {
		t.Errorf("order %v with %d faint features, want 0 last", r.Order, r.Faint)
	}
	if len(r.Ties) > 0 {
		t.Errorf("ties %+v of features that differ", r.Ties)
	}
}

// problem is the alignment of a graph's diffusion kernel with columns of its G.
func problem(k *spectral.Diffusion, g *anchor.Graph) Problem {
	room := make([]float64, g.D)
	return Problem{A: k.A, Norm: k.Norm, Squares: g.G.Diagonal(0), Column: func(j int) []float64 { return g.G.Row(0, room, j) }}
}

// TestCostCountsTable: the method counts the table of sampled rows, in addition to the survey's memory.
func TestCostCountsTable(t *testing.T) {
	const rows, d, threads = 700, 5000, 2
	bound := Specs()[0].Declare()
	cost := must.Get(bound.Solver.Cost(method.Shape{Columns: make([]stream.Column, d), Sample: rows, K: 5, Threads: threads}))(t)
	if least := survey.MemoryBytes(rows, d, rows, 5, threads) + 8*rows*d; cost.Bytes < least {
		t.Errorf("dense rows: %d bytes, want %d at least", cost.Bytes, least)
	}
	const entries = 40
	cost = must.Get(bound.Solver.Cost(method.Shape{Columns: make([]stream.Column, d), Sample: rows, K: 5, Threads: threads, Sparse: true, RowEntries: entries}))(t)
	if least := survey.ThinBytes(rows, d, rows, 5, threads, rows*entries) + 12*rows*entries; cost.Bytes < least {
		t.Errorf("sparse rows: %d bytes, want %d at least", cost.Bytes, least)
	}
}
