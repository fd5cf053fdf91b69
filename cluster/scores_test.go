package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func randomGroups(r *rand.Rand, n, groups int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = r.IntN(groups)
	}
	return out
}

// naiveACC tries every pairing of the r clusters with the s classes.
func naiveACC(clusters, labels []int, r, s int) float64 {
	hits := make([][]float64, r)
	for i := range hits {
		hits[i] = make([]float64, s)
	}
	for row, c := range clusters {
		hits[c][labels[row]]++
	}
	return bestPairing(hits, 0, make([]bool, s), max(0, r-s)) / float64(len(labels))
}

func distribution(groups []int) map[int]float64 {
	p := make(map[int]float64)
	for _, g := range groups {
		p[g] += 1 / float64(len(groups))
	}
	return p
}

// naiveNMI takes I = H(a) + H(b) − H(a, b).
func naiveNMI(a, b []int) (sqrt, largest float64) {
	entropy := func(p map[int]float64) (h float64) {
		for _, v := range p {
			h -= v * math.Log(v)
		}
		return h
	}
	joint := make([]int, len(a))
	for i := range a {
		joint[i] = a[i]*1000 + b[i]
	}
	ha, hb := entropy(distribution(a)), entropy(distribution(b))
	information := ha + hb - entropy(distribution(joint))
	return information / math.Sqrt(ha*hb), information / max(ha, hb)
}

func naivePurity(a, b []int) float64 {
	hits := 0
	for c := range distribution(a) {
		count := make(map[int]int)
		best := 0
		for i := range a {
			if a[i] == c {
				count[b[i]]++
				best = max(best, count[b[i]])
			}
		}
		hits += best
	}
	return float64(hits) / float64(len(a))
}

// naiveARI counts pairs of rows one by one.
func naiveARI(a, b []int) float64 {
	var both, first, second, all float64
	for i := range a {
		for j := range i {
			all++
			if a[i] == a[j] {
				first++
			}
			if b[i] == b[j] {
				second++
			}
			if a[i] == a[j] && b[i] == b[j] {
				both++
			}
		}
	}
	expected := first * second / all
	return (both - expected) / ((first+second)/2 - expected)
}

func TestScoresAreTheTextbooks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n, c, s := 20+r.IntN(60), 2+r.IntN(5), 2+r.IntN(5)
		a, b := randomGroups(r, n, c), randomGroups(r, n, s)
		for i := range a { // some agreement
			if r.IntN(3) > 0 {
				a[i] = b[i] % c
			}
		}
		if len(distribution(a)) < 2 || len(distribution(b)) < 2 {
			continue // conventions: TestScoresOfTrivialGroups
		}
		got := must.Get(Compare(a, b))(t)
		sqrt, largest := naiveNMI(a, b)
		want := Scores{naiveACC(a, b, c, s), sqrt, largest, naivePurity(a, b), naiveARI(a, b)}
		// The sums have at most n + 36 terms below 4 each; they are divided by entropies of
		// at least 0.067, for one row in 80.
		const tol = 200 * 4 * 0x1p-53 / 0.067
		for i, pair := range [][2]float64{{got.ACC, want.ACC}, {got.NMISqrt, want.NMISqrt}, {got.NMIMax, want.NMIMax},
			{got.Purity, want.Purity}, {got.ARI, want.ARI}} {
			if !(math.Abs(pair[0]-pair[1]) <= tol) {
				t.Fatalf("score %d of %v, %v: %v, want %v", i, a, b, pair[0], pair[1])
			}
		}
	}
}

// TestAssignIsOptimal: assign finds the best of all pairings.
func TestAssignIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		rows, cols := 1+r.IntN(6), 1+r.IntN(6)
		gain := make([][]float64, rows)
		for i := range gain {
			gain[i] = make([]float64, cols)
			for j := range gain[i] {
				gain[i][j] = float64(r.IntN(12) - 2)
			}
		}
		got, pairs := 0.0, 0
		taken := make(map[int]bool)
		for i, j := range pairRowsByGain(gain) {
			if j >= 0 {
				got += gain[i][j]
				pairs++
				if taken[j] {
					t.Fatalf("column %d twice", j)
				}
				taken[j] = true
			}
		}
		if pairs != min(rows, cols) {
			t.Fatalf("%d pairs of %d×%d", pairs, rows, cols)
		}
		if want := bestPairing(gain, 0, make([]bool, cols), max(0, rows-cols)); got != want {
			t.Fatalf("%v: %v, want %v", gain, got, want)
		}
	}
}

// bestPairing leaves out at most skips rows.
func bestPairing(gain [][]float64, i int, used []bool, skips int) float64 {
	if i == len(gain) {
		return 0
	}
	best := math.Inf(-1)
	if skips > 0 {
		best = bestPairing(gain, i+1, used, skips-1)
	}
	for j := range used {
		if !used[j] {
			used[j] = true
			best = max(best, gain[i][j]+bestPairing(gain, i+1, used, skips))
			used[j] = false
		}
	}
	return best
}

func TestScoresDoNotDependOnNames(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	a, b := randomGroups(r, 500, 12), randomGroups(r, 500, 9)
	want := must.Get(Compare(a, b))(t)
	namesA, namesB := r.Perm(12), r.Perm(9)
	strings := make([]string, len(a))
	renamed := make([]int32, len(b))
	for i := range a {
		strings[i] = fmt.Sprint("cluster ", namesA[a[i]])
		renamed[i] = int32(namesB[b[i]]) - 4
	}
	if got, err := Compare(strings, renamed); err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	got := must.Get(Compare(a, a))(t)
	// A dozen terms of information over an entropy of about ln 12.
	const tol = 24 * 0x1p-52
	if got.ACC != 1 || got.Purity != 1 || got.ARI != 1 || !(got.NMISqrt > 1-tol) || !(got.NMIMax > 1-tol) {
		t.Errorf("against itself: %v, want 1 everywhere", got)
	}
}

func TestScoresOfTrivialGroups(t *testing.T) {
	same, apart, halves := []int{7, 7, 7, 7}, []int{0, 1, 2, 3}, []int{0, 0, 1, 1}
	for _, c := range []struct {
		a, b []int
		want Scores
	}{
		{same, same, Scores{1, 1, 1, 1, 1}},
		{apart, apart, Scores{1, 1, 1, 1, 1}},
		{same, apart, Scores{0.25, 0, 0, 0.25, 0}},
		{apart, same, Scores{0.25, 0, 0, 1, 0}},
		{same, halves, Scores{0.5, 0, 0, 0.5, 0}},
		// I = ln 2, H = ln 4 and ln 2.
		{apart, halves, Scores{0.5, math.Sqrt(0.5), 0.5, 1, 0}},
		{[]int{3}, []int{5}, Scores{1, 1, 1, 1, 1}},
	} {
		got := must.Get(Compare(c.a, c.b))(t)
		const tol = 8 * 0x1p-53 // sums of four terms below 1, and two roots
		if math.Abs(got.NMISqrt-c.want.NMISqrt) > tol || math.Abs(got.NMIMax-c.want.NMIMax) > tol ||
			got.ACC != c.want.ACC || got.Purity != c.want.Purity || got.ARI != c.want.ARI {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	var usage *stream.UsageError
	if _, err := Compare([]int{}, []int{}); !errors.As(err, &usage) {
		t.Errorf("no rows: %v", err)
	}
	if _, err := Compare([]int{1}, []int{}); !errors.As(err, &usage) {
		t.Errorf("lengths: %v", err)
	}
}
