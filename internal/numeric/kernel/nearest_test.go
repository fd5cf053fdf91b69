package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// allDistances is the definition: every distance in float64, as isa.squaredDistances sums. The race detector need not
// see a twin, which has no goroutine.
//
//go:norace
func allDistances(x, points Matrix[float64], i int) []float64 {
	distances := make([]float64, points.Rows)
	for j := range distances {
		var s [8]float64
		for l := range x.Cols {
			d := x.Data[i*x.RowStride+l*x.ColStride] - points.Data[j*points.RowStride+l*points.ColStride]
			s[l%8] += float64(d * d)
		}
		distances[j] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
		if math.IsNaN(distances[j]) {
			distances[j] = math.Inf(1)
		}
	}
	return distances
}

// allNeighbours are the count nearest of the points to each row, by all distances.
//
//go:norace
func allNeighbours(x, points Matrix[float64], count int) [][]neighbour {
	want := make([][]neighbour, x.Rows)
	for i := range x.Rows {
		all := allDistances(x, points, i)
		for range count { // the nearest that is left, the first of equals
			nearest := int32(-1)
			for j, distance := range all {
				if distance >= 0 && (nearest < 0 || distance < all[nearest]) {
					nearest = int32(j)
				}
			}
			want[i] = append(want[i], neighbour{all[nearest], nearest})
			all[nearest] = -1 // taken
		}
	}
	return want
}

func checkNearest(t *testing.T, team *Team, x, points Matrix[float64], count int) {
	t.Helper()
	checkNeighbours(t, team, x, points, count, allNeighbours(x, points, count))
}

func checkNeighbours(t *testing.T, team *Team, x, points Matrix[float64], count int, want [][]neighbour) {
	t.Helper()
	n := NewNearest(team, points, count)
	search := func(what string) {
		t.Helper()
		finds(t, what, n, x, want)
	}
	within := func() {
		t.Helper()
		if size, most := nearestSize(n), NearestBytes(team.workers, points.Rows, points.Cols); size > most {
			t.Fatalf("%d points in %d dimensions: holds %d bytes, NearestBytes says %d", points.Rows, points.Cols, size, most)
		}
	}
	search("first")
	within()
	if n.coarse != nil {
		if n.coarse.lead = n.newLeadScreen(coordinateStep, 0); n.coarse.lead != nil {
			n.coarse.packed, n.coarse.leadRejected = nil, true
			search("with a lead")
		}
	}
	if n.coarse != nil {
		n.coarse = nil
		n.prepareScreen(n.squaredLengths())
		search("float32")
		within()
	}
}

// finds searches with n, for neighbours that are known.
func finds(t *testing.T, what string, n *Nearest, x Matrix[float64], want [][]neighbour) {
	t.Helper()
	count := n.count
	index, distance := make([]int32, x.Rows*count), make([]float64, x.Rows*count)
	n.SearchTo(index, distance, x)
	for i := range x.Rows {
		for k, w := range want[i] {
			if j, at := index[i*count+k], distance[i*count+k]; j != w.index || bits(at) != bits(w.distance) {
				t.Fatalf("%s: row %d of %d×%d, neighbour %d of %d among %d: %d at %g, want %d at %g", what, i, x.Rows, x.Cols, k, count,
					n.m, j, at, w.index, w.distance)
			}
		}
	}
}

// Parts of the points one after the other, the last of them shorter, are searched in the scratch of the first.
func TestNearestAgain(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r := rand.New(rand.NewPCG(8, 8))
		for _, team := range teams(p) {
			x := newGuarded[float64](r, 70, 40, true)
			var n *Nearest
			for part, m := range []int{minCoarseAnchors - 1, minCoarseAnchors - 1, 5} {
				points := newGuarded[float64](r, m, 40, false)
				if part == 0 {
					n = NewNearest(team, points.Matrix, 3)
				} else {
					n = n.Rebuild(points.Matrix, 3)
				}
				scratch := slices.Clone(n.scratch)
				finds(t, fmt.Sprintf("part %d", part), n, x.Matrix, allNeighbours(x.Matrix, points.Matrix, 3))
				if part > 0 && &scratch[0].raw[0] != &n.scratch[0].raw[0] {
					t.Errorf("part %d of %d points has other scratch", part, m)
				}
			}
		}
	})
}

// nearestSize returns the bytes that n holds.
func nearestSize(n *Nearest) int64 {
	coded := func(a codedAnchors) int { return cap(a.packed) + 4*cap(a.factor) }
	rows := func(r codedRows) int { return cap(r.numbers) + 4*lanes*(cap(r.steps)+cap(r.shifts)) }
	size := 8*(cap(n.points)+cap(n.center)+cap(n.boundGap)) + 4*(cap(n.packed)+cap(n.halfLengths)+cap(n.slack))
	if c := n.coarse; c != nil {
		size += coded(c.codedAnchors) + 4*cap(c.signs)
		if f := c.lead; f != nil {
			size += coded(f.codedAnchors) + coded(f.negatedP) + cap(f.anchorNumbers) + 4*(cap(f.slack)+cap(f.zeros))
		}
	}
	for _, s := range n.scratch {
		size += 4*(cap(s.panels)+cap(s.half)+cap(s.loose)+upperSets*cap(s.lowestUppers)+cap(s.lowestLowers)) + 8*(cap(s.norms)+cap(s.raw)+cap(s.uppers)) + 16*(cap(s.candidates)+cap(s.nearest)) +
			rows(s.codedRows) + rows(s.lead.codedRows) + cap(s.lead.rowNumbers) + 4*(cap(s.lead.loose)+cap(s.lead.projected)+cap(s.lead.first)+len(s.lead.sums))
	}
	return int64(size)
}

// Exactly the float64 neighbours, for every size about an edge and any layout.
func TestNearest(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r, layout, teams := rand.New(rand.NewPCG(7, 7)), 0, teams(p)
		if !long.IsOn() {
			teams = teams[1:2] // all three take 39 s where a processor is emulated
		}
		for turn, team := range teams {
			// Every two of anchors, rows and dimensions meet.
			dims := []int{0, 1, 7, 8, 9, 40}
			for i, m := range crossing(p.f32.nr)[1:] {
				for k, rows := range slices.Concat(crossing(p.f32.mr), crossing(16)) {
					layout++
					d := dims[(i+k+turn)%len(dims)]
					x, points := newGuarded[float64](r, rows, d, layout&1 != 0), newGuarded[float64](r, m, d, layout&2 != 0)
					checkNearest(t, team, x.Matrix, points.Matrix, min(1+layout%7, m))
				}
			}
			for _, d := range crossing(depth)[2:] {
				x, points := newGuarded[float64](r, maxNearestRows+9, d, true), newGuarded[float64](r, 61, d, false)
				checkNearest(t, team, x.Matrix, points.Matrix, 6)
			}
			// Sizes that are screened in bytes.
			for i, m := range crossing(3 * 48)[2:] {
				for k, d := range slices.Concat(crossing(64)[3:], crossing(128), []int{70, 200}) {
					if layout++; m >= minCoarseAnchors && d >= minCoarseDims && (i+k+turn)%2 == 0 { // the other team has the others
						x, points := newGuarded[float64](r, 1+7*i, d, layout&1 != 0), newGuarded[float64](r, m, d, layout&2 != 0)
						checkNearest(t, team, x.Matrix, points.Matrix, 1+layout%7)
					}
				}
			}
		}
		// So many anchors that a task has the fewest rows, and more sought than isa.lowestBounds serves.
		x, points := newGuarded[float64](r, 20, 3, true), newGuarded[float64](r, nearestBytes/4/8+3, 3, false)
		few, among := newGuarded[float64](r, 30, 5, true), newGuarded[float64](r, 100, 5, false)
		// Rows so long that a task has fewer of them.
		long, anchors := newGuarded[float64](r, 45, unpackedBytes/13/20, false), newGuarded[float64](r, 7, unpackedBytes/13/20, false)
		for _, c := range []struct {
			x, points guarded[float64]
			count     int
		}{{x, points, 6}, {few, among, 20}, {long, anchors, 3}} {
			want := allNeighbours(c.x.Matrix, c.points.Matrix, c.count)
			for _, team := range teams {
				checkNeighbours(t, team, c.x.Matrix, c.points.Matrix, c.count, want)
			}
		}
	})
}

// Where float32 alone would be wrong or overflow: ties, duplicates, rows and anchors
// far away, values of any size, NaN and infinities.
func TestNearestHardCases(t *testing.T) {
	const rows, count = 50, 6
	each := func(x Matrix[float64], f func(i, l int, v float64) float64) {
		for i := range x.Rows {
			for l := range x.Cols {
				at := i*x.RowStride + l*x.ColStride
				x.Data[at] = f(i, l, x.Data[at])
			}
		}
	}
	both := func(f func(i, l int, v float64) float64) func(x, y Matrix[float64]) {
		return func(x, y Matrix[float64]) { each(x, f); each(y, f) }
	}
	special := func(i, l int, v float64) float64 {
		if l != 3 {
			return v
		}
		return []float64{v, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 0}[i%6]
	}
	cases := map[string]func(x, y Matrix[float64]){
		"ties": both(func(_, _ int, v float64) float64 { return math.Round(v) }),
		"duplicates": func(_, y Matrix[float64]) {
			each(y, func(i, l int, _ float64) float64 { return float64(i / 10 * (l + 1)) })
		},
		"all equal": func(_, y Matrix[float64]) { each(y, func(_, l int, _ float64) float64 { return float64(l) }) },
		"rows are anchors": func(x, y Matrix[float64]) {
			each(x, func(i, l int, _ float64) float64 { return y.Data[i*y.RowStride+l*y.ColStride] })
		},
		"offset":         both(func(_, _ int, v float64) float64 { return 1e9 + v }),
		"nearly equal":   func(_, y Matrix[float64]) { each(y, func(_, l int, v float64) float64 { return float64(l) + 1e-9*v }) },
		"below rounding": func(_, y Matrix[float64]) { each(y, func(_, l int, v float64) float64 { return 1 + 1e-16*v }) },
		"rows far":       func(x, _ Matrix[float64]) { each(x, func(i, _ int, v float64) float64 { return math.Ldexp(1+v/8, i) }) },
		"rows beyond": func(x, _ Matrix[float64]) {
			each(x, func(i, _ int, v float64) float64 { return math.Ldexp(1+v/8, 20*i) })
		},
		"an anchor beyond": func(_, y Matrix[float64]) {
			each(y, func(i, _ int, v float64) float64 { return math.Ldexp(v, i*i/20) })
		},
		"huge":        both(func(_, _ int, v float64) float64 { return 1e150 * v }),
		"overflowing": both(func(_, _ int, v float64) float64 { return 1e200 * v }),
		"overflowing rows": func(x, y Matrix[float64]) {
			each(y, func(_, _ int, v float64) float64 { return 1e150 * v })
			each(x, func(_, _ int, v float64) float64 { return 1e156 * v })
		},
		"tiny":         both(func(_, _ int, v float64) float64 { return 1e-150 * v }),
		"subnormal":    both(func(_, _ int, v float64) float64 { return 1e-310 * v }),
		"mixed sizes":  both(func(_, l int, v float64) float64 { return math.Ldexp(v, 3*l-60) }),
		"special rows": func(x, _ Matrix[float64]) { each(x, special) },
		"special anchors": func(_, y Matrix[float64]) {
			each(y, func(i, l int, v float64) float64 {
				if i%3 == 0 {
					return v
				}
				return special(i, l, v)
			})
		},
	}
	onPaths(t, func(t *testing.T, p *isa) {
		for name, change := range cases {
			t.Run(name, func(t *testing.T) {
				r, teams := rand.New(rand.NewPCG(8, 8)), teams(p)
				if !long.IsOn() {
					teams = teams[1:2]
				}
				for _, team := range teams {
					for _, size := range [][2]int{{120, 30}, {minCoarseAnchors + 3, minCoarseDims + 7}} {
						x, y := newGuarded[float64](r, rows, size[1], true), newGuarded[float64](r, size[0], size[1], false)
						change(x.Matrix, y.Matrix)
						checkNearest(t, team, x.Matrix, y.Matrix, count)
					}
				}
			})
		}
	})
}

// Screening must exclude nearly all anchors of ordinary data, or it costs more than
// it saves.
func TestNearestExcludes(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		const rows, m, d, count = 64, 500, 100, 6
		r := rand.New(rand.NewPCG(9, 9))
		x, y := newGuarded[float64](r, rows, d, true), newGuarded[float64](r, m, d, false)
		n := NewNearest(newTeam(1, p), y.Matrix, count)
		left := func() float64 {
			n.SearchTo(make([]int32, rows*count), make([]float64, rows*count), x.Matrix)
			s, candidates := &n.scratch[0], 0
			for i := range rows { // the last task's
				n.excludeAnchors(s, i)
				candidates += len(s.candidates)
			}
			return float64(candidates) / rows
		}
		if n.coarse != nil {
			if l := left(); l > 3*count || n.coarse == nil {
				t.Errorf("bytes leave %.2f of %d anchors a row for %d neighbours", l, m, count)
			}
			n.coarse = nil
			n.prepareScreen(n.squaredLengths())
		}
		if l := left(); l > count+1 {
			t.Errorf("%.2f of %d anchors are left a row for %d neighbours", l, m, count)
		}
	})
}

func TestNearestSteadyState(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	x, y := newGuarded[float64](r, 300, 20, true), newGuarded[float64](r, 50, 20, false)
	n := NewNearest(NewTeam(3), y.Matrix, 5)
	index, distance := make([]int32, 1500), make([]float64, 1500)
	if a := testing.AllocsPerRun(3, func() { n.SearchTo(index, distance, x.Matrix) }); a != 0 {
		t.Errorf("%g allocations a search", a)
	}
}

func BenchmarkNearest(b *testing.B) {
	const n, d, m, k = 8192, 896, 2048, 6
	r := rand.New(rand.NewPCG(14, 14))
	x, points := make([]float64, n*d), clustered(r, m, d, 0.5)
	Copy(ColMajor(x, n, d, n), clustered(r, n, d, 0.5))
	index, distance := make([]int32, n*k), make([]float64, n*k)
	onTeams(b, fmt.Sprintf("n=%d/d=%d/m=%d/k=%d", n, d, m, k), 2*n*d*m, func(t *Team) func() {
		s := NewNearest(t, points, k)
		return func() { s.SearchTo(index, distance, ColMajor(x, n, d, n)) }
	})
}
