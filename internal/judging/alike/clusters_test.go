package alike

import (
	"cmp"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// twin clusters the columns by their rows, with all eigenpairs and an angle found by trying.
type twin struct {
	x     *mat.Dense // columns of mean 0 and length 1
	parts [][]int
}

// component is the first principal component of columns, its variance, and the second eigenvalue.
func (w *twin) component(columns []int) (score []float64, eigen mat.EigenSym, values []float64) {
	n, _ := w.x.Dims()
	r := mat.NewSymDense(len(columns), nil)
	for a, i := range columns {
		for b, j := range columns {
			r.SetSym(a, b, mat.Dot(w.x.ColView(i), w.x.ColView(j)))
		}
	}
	if !eigen.Factorize(r, true) {
		panic("no eigenvalues")
	}
	values = eigen.Values(nil)
	slices.Reverse(values)
	score = make([]float64, n)
	var v mat.Dense
	eigen.VectorsTo(&v)
	for a, i := range columns {
		for k := range score {
			score[k] += v.At(a, len(columns)-1) * w.x.At(k, i)
		}
	}
	return score, eigen, values
}

// share is the squared correlation of a column with a score.
func (w *twin) share(j int, score []float64) float64 {
	s := mat.NewVecDense(len(score), score)
	r := mat.Dot(w.x.ColView(j), s)
	return r * r / mat.Dot(s, s)
}

func (w *twin) fits(columns []int) bool {
	if len(columns) == 1 {
		return true
	}
	score, _, values := w.component(columns)
	return values[1] <= 1 && !slices.ContainsFunc(columns, func(j int) bool { return w.share(j, score) < DefaultProportion })
}

func (w *twin) divide(columns []int) [][]int {
	if w.fits(columns) {
		return [][]int{columns}
	}
	_, eigen, _ := w.component(columns)
	var v mat.Dense
	eigen.VectorsTo(&v)
	last := len(columns) - 1
	best, angle := -1.0, 0.0
	for step := range 20000 { // quartimax repeats after a quarter turn
		a := math.Pi / 2 * float64(step) / 20000
		sum := 0.0
		for i := range columns {
			x, y := v.At(i, last)*math.Cos(a)+v.At(i, last-1)*math.Sin(a), v.At(i, last-1)*math.Cos(a)-v.At(i, last)*math.Sin(a)
			sum += math.Pow(x, 4) + math.Pow(y, 4)
		}
		if sum > best {
			best, angle = sum, a
		}
	}
	n, _ := w.x.Dims()
	scores := [2][]float64{make([]float64, n), make([]float64, n)}
	for i, j := range columns {
		for k := range n {
			scores[0][k] += (v.At(i, last)*math.Cos(angle) + v.At(i, last-1)*math.Sin(angle)) * w.x.At(k, j)
			scores[1][k] += (v.At(i, last-1)*math.Cos(angle) - v.At(i, last)*math.Sin(angle)) * w.x.At(k, j)
		}
	}
	var sides [2][]int
	for range 1 + clusterRounds {
		var next [2][]int
		for _, j := range columns {
			s := 0
			if w.share(j, scores[1]) > w.share(j, scores[0]) {
				s = 1
			}
			next[s] = append(next[s], j)
		}
		if len(next[0]) == 0 || len(next[1]) == 0 || reflect.DeepEqual(next, sides) {
			break
		}
		sides = next
		for s := range sides {
			scores[s], _, _ = w.component(sides[s])
		}
	}
	return append(w.divide(sides[0]), w.divide(sides[1])...)
}

// nearest is the component that column j is nearest to but for one cluster.
func (w *twin) nearest(j, but int) (at int, share float64) {
	at = -1
	for k, p := range w.parts {
		score, _, _ := w.component(p)
		if s := w.share(j, score); k != but && s > share {
			at, share = k, s
		}
	}
	return at, share
}

// moved says whether a column is nearer to another component, or two clusters could be one: then the twin
// is no twin, as it does neither.
func (w *twin) moved() bool {
	for k, p := range w.parts {
		for _, j := range p {
			own, _, _ := w.component(p)
			if _, share := w.nearest(j, k); len(p) > 1 && share > w.share(j, own) {
				return true
			}
		}
		for _, o := range w.parts[:k] {
			if w.fits(slices.Concat(p, o)) {
				return true
			}
		}
	}
	return false
}

// TestClustersOfTheTwin: clusters, shares, ratios and representatives are those of the twin on the rows.
func TestClustersOfTheTwin(t *testing.T) {
	twins := 0
	for seed := range uint64(20) {
		tab := factors(30+seed, 120, []int{5, 4, 3, 2}[:1+seed%4], 0.25+0.05*float64(seed%3), int(seed%5))
		w := &twin{x: tab.centred()}
		_, d := w.x.Dims()
		for j := range d {
			column := w.x.ColView(j).(*mat.VecDense)
			column.ScaleVec(1/mat.Norm(column, 2), column)
		}
		if w.parts = w.divide(integersBelow(d)); w.moved() {
			continue
		}
		twins++
		got := must.Get(tab.matrix(1).FindClusters(context.Background(), ClusterOptions{}))(t)
		if len(got) != len(w.parts) {
			t.Fatalf("seed %d: %d clusters, want %d", seed, len(got), len(w.parts))
		}
		for _, c := range got {
			var own []int
			for _, m := range c.Members {
				own = append(own, m.Column)
			}
			slices.Sort(own)
			at := slices.IndexFunc(w.parts, func(p []int) bool { return slices.Equal(slices.Sorted(slices.Values(p)), own) })
			if at < 0 {
				t.Fatalf("seed %d: cluster %v, want one of %v", seed, own, w.parts)
			}
			score, _, values := w.component(w.parts[at])
			if math.Abs(c.Explained-values[0]/float64(len(own))) > 1e-10 || len(own) > 1 && math.Abs(c.Second-values[1]) > 1e-10 {
				t.Errorf("seed %d: explained %v, second %v, want %v", seed, c.Explained, c.Second, values)
			}
			least := math.Inf(1)
			for _, m := range c.Members {
				_, next := w.nearest(m.Column, at)
				want := w.share(m.Column, score)
				if math.Abs(m.R2Own-want) > 1e-10 || math.Abs(m.R2Next-next) > 1e-10 || math.Abs(m.Ratio-(1-want)/(1-next)) > 1e-9 {
					t.Errorf("seed %d: %+v, want %v and %v", seed, m, want, next)
				}
				least = min(least, m.Ratio)
			}
			if first := c.Members[0]; first.Column != c.Representative || first.Ratio > least+1e-12 {
				t.Errorf("seed %d: %d stands for %+v", seed, c.Representative, c.Members)
			}
		}
	}
	if twins < 8 {
		t.Errorf("only %d tables to compare", twins)
	}
}

// TestClustersAreTheFactors: each group of columns of a factor is a cluster, also where the search for components is no
// longer that of all eigenpairs; columns of noise are alone.
func TestClustersAreTheFactors(t *testing.T) {
	for _, sizes := range [][]int{{9, 8, 7, 5, 4, 3}, {maxDenseOrder, maxDenseOrder + 1, 30, 20}, {150, 2}} {
		for seed := range uint64(3) {
			m := factors(seed, 400, sizes, 0.3, 12).matrix(1)
			got := must.Get(m.FindClusters(context.Background(), ClusterOptions{}))(t)
			if len(got) != len(sizes)+12 {
				t.Errorf("%v: %d clusters", sizes, len(got))
			}
			for k, c := range got {
				size := 1
				if k < len(sizes) {
					size = slices.Sorted(slices.Values(sizes))[len(sizes)-1-k]
				}
				if len(c.Members) != size {
					t.Errorf("%v: cluster %d has %d columns", sizes, k, len(c.Members))
				}
				for _, member := range c.Members {
					if m.Names[member.Column][0] != m.Names[c.Representative][0] {
						t.Errorf("%v: %s is with %s", sizes, m.Names[member.Column], m.Names[c.Representative])
					}
				}
			}
		}
	}
}

// named is clusters with names in place of columns.
func (m *Matrix) clusterNames(c []Cluster) (out [][]string) {
	for _, cl := range c {
		var names []string
		for _, member := range cl.Members {
			names = append(names, m.Names[member.Column])
		}
		out = append(out, names)
	}
	return out
}

// TestOrderAndThreadsDoNotMatter: permuting the columns and other numbers of workers change no bit of any answer.
func TestOrderAndThreadsDoNotMatter(t *testing.T) {
	tab := factors(40, 100, []int{40, 30, 6}, 0.6, 30).with("a_copy", func(row map[string]float64) float64 { return 2 * row["a01"] }).
		with("a_sum", func(row map[string]float64) float64 { return row["a02"] + row["z03"] })
	first := tab.matrix(1)
	clusters := must.Get(first.FindClusters(context.Background(), ClusterOptions{}))(t)
	dependence := must.Get(first.FindDependence())(t)
	for seed := range uint64(3) {
		other := tab.permuted(seed).matrix(8)
		if !slices.Equal(first.Names, other.Names) || !slices.Equal(first.R, other.R) {
			t.Fatal("another matrix")
		}
		if got := must.Get(other.FindClusters(context.Background(), ClusterOptions{}))(t); !reflect.DeepEqual(got, clusters) {
			t.Errorf("clusters %v, want %v", other.clusterNames(got), first.clusterNames(clusters))
		}
		if got := must.Get(other.FindDependence())(t); !reflect.DeepEqual(got, dependence) {
			t.Errorf("dependence %+v, want %+v", got, dependence)
		}
		if got := other.ChooseUncorrelated(0.5); !reflect.DeepEqual(got, first.ChooseUncorrelated(0.5)) {
			t.Errorf("apart %+v", got)
		}
	}
}

// TestClustersFit: whatever the data, every column is in one cluster, and none has to be divided.
func TestClustersFit(t *testing.T) {
	for seed := range uint64(8) {
		m := factors(seed, 40+20*int(seed), []int{12, 9, 4}, 0.5+0.2*float64(seed), 15).matrix(1)
		for _, opt := range []ClusterOptions{{}, {MaxEigen: 0.7, Proportion: 0.5}, {MaxEigen: 3, Proportion: 0.9}} {
			seen := make([]int, m.D)
			with := opt.WithDefaults()
			for _, c := range must.Get(m.FindClusters(context.Background(), opt))(t) {
				if last := c.Members[len(c.Members)-1]; len(c.Members) > 1 && (c.Second > with.MaxEigen+1e-6 || min(last.R2Own, c.Members[0].R2Own) < with.Proportion-1e-6) {
					t.Errorf("seed %d, %+v: second %v, members %+v", seed, opt, c.Second, c.Members)
				}
				for _, member := range c.Members {
					seen[member.Column]++
				}
			}
			if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
				t.Errorf("seed %d, %+v: columns in clusters %v", seed, opt, seen)
			}
		}
	}
}

// TestClustersStop: a context that has ended ends them.
func TestClustersStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := factors(1, 50, []int{5}, 0.3, 3).matrix(1).FindClusters(ctx, ClusterOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("clusters with a cancelled context: got error %v, want %v", err, context.Canceled)
	}
}

// naiveApart takes the open column with the most open neighbours, counted anew each time.
func naiveApart(m *Matrix, threshold float64) (kept []string) {
	open := slices.Clone(m.Names)
	place := func(name string) int { return slices.Index(m.Names, name) }
	for len(open) > 0 {
		neighbours := func(a string) (list []string) {
			for _, b := range open {
				if a != b && math.Abs(m.correlation(place(a), place(b))) > threshold {
					list = append(list, b)
				}
			}
			return list
		}
		best := slices.MinFunc(open, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(neighbours(b)), len(neighbours(a))), cmp.Compare(a, b))
		})
		gone := append(neighbours(best), best)
		kept = append(kept, best)
		open = slices.DeleteFunc(open, func(a string) bool { return slices.Contains(gone, a) })
	}
	slices.Sort(kept)
	return kept
}

// TestApart: as the naive way says, no pair above the threshold is left, and every column dropped is above it with
// the kept one that it is nearest to.
func TestApart(t *testing.T) {
	for seed := range uint64(10) {
		m := factors(seed, 60, []int{8, 6, 4}, 0.2+0.1*float64(seed), 9).matrix(1)
		for _, threshold := range []float64{0.2, 0.5, 0.8, 0.95} {
			a := m.ChooseUncorrelated(threshold)
			if got, want := m.named(a.Kept), naiveApart(m, threshold); !slices.Equal(got, want) {
				t.Errorf("seed %d, %v: %v, want %v", seed, threshold, got, want)
			}
			if len(a.Kept)+len(a.Dropped) != m.D {
				t.Errorf("seed %d, %v: %d kept, %d dropped", seed, threshold, len(a.Kept), len(a.Dropped))
			}
			for _, i := range a.Kept {
				for _, j := range a.Kept {
					if i != j && math.Abs(m.correlation(i, j)) > threshold {
						t.Errorf("seed %d, %v: %d and %d are left", seed, threshold, i, j)
					}
				}
			}
			for _, d := range a.Dropped {
				if !slices.Contains(a.Kept, d.For) || math.Abs(d.Correlation) <= threshold || d.Correlation != m.correlation(d.Column, d.For) {
					t.Errorf("seed %d, %v: dropped %+v", seed, threshold, d)
				}
				for _, j := range a.Kept {
					if math.Abs(m.correlation(d.Column, j)) > math.Abs(d.Correlation) {
						t.Errorf("seed %d, %v: %d is nearer to %d than %+v", seed, threshold, d.Column, j, d)
					}
				}
			}
		}
	}
}

// TestLayout: a search takes the memory of its layout, and no more.
func TestLayout(t *testing.T) {
	const d = 1200
	team, a, all := kernel.NewTeam(1), kernel.NewMatrix[float64](nil, d, d), integersBelow(d)
	for i := range d {
		a.Data[i*d+i] = 1
	}
	a.Data[0] = 9
	declared := room.Measure(func(l *room.Layout) { new(krylovSearch).layOut(l, d) })
	roomtest.CheckLayout(t, "search", declared, func() {
		s := &krylovSearch{team: team}
		s.layOut(nil, d)
		if c := must.Get(s.findLeadingComponents(a, all, nil, finalGoal()))(t); math.Abs(c.values[0]-9) > 1e-9 {
			t.Errorf("the largest eigenvalue is %v, want 9", c.values[0])
		}
	})
}

// TestMemoryBytes: MemoryBytes counts the eigenpairs of a small submatrix too, beside the layout, lists and the team.
func TestMemoryBytes(t *testing.T) {
	const d = maxDenseOrder
	team, a, all := kernel.NewTeam(1), kernel.NewMatrix[float64](nil, d, d), integersBelow(d)
	for i := range d {
		a.Data[i*d+i] = float64(1 + i)
	}
	roomtest.CheckLayout(t, "a small search", MemoryBytes(d)-512*d-kernel.TeamBytes(d, d), func() {
		c := new(clusterer)
		c.layOut(nil, d)
		c.search.team = team
		if found := must.Get(c.search.findLeadingComponents(a, all, nil, finalGoal()))(t); math.Abs(found.values[0]-d) > 1e-9 {
			t.Errorf("the largest eigenvalue is %v, want %v", found.values[0], d)
		}
	})
}
