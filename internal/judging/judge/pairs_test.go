package judge

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naiveWilcoxon tries every assignment of signs to the ranks, which it counts pair by pair.
func naiveWilcoxon(a, b []float64) (pairs int, p, above float64) {
	var d []float64
	for i := range a {
		if a[i] != b[i] {
			d = append(d, a[i]-b[i])
		}
	}
	ranks, plus, minus := make([]float64, len(d)), 0.0, 0.0
	for i, x := range d {
		less, equal := 0.0, 0.0
		for _, y := range d {
			switch {
			case math.Abs(y) < math.Abs(x):
				less++
			case math.Abs(y) == math.Abs(x):
				equal++
			}
		}
		ranks[i] = less + (equal+1)/2
		if x > 0 {
			plus += ranks[i]
		} else {
			minus += ranks[i]
		}
	}
	atLeastPlus, atLeastMinus, all := 0.0, 0.0, float64(int(1)<<len(d))
	for signs := range 1 << len(d) {
		sum := 0.0
		for i, rank := range ranks {
			if signs>>i&1 == 1 {
				sum += rank
			}
		}
		if sum >= plus {
			atLeastPlus++
		}
		if sum >= minus {
			atLeastMinus++
		}
	}
	return len(d), min(1, 2*min(atLeastPlus, atLeastMinus)/all), atLeastPlus / all
}

// TestWilcoxonExact: the probabilities agree with a count of all signs, with equal differences and zeros; and swapping
// the sides swaps the sums.
func TestWilcoxonExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for n := 1; n <= 14; n++ {
		for trial := range 20 {
			a, b := make([]float64, n), make([]float64, n)
			for i := range a {
				a[i], b[i] = float64(random.IntN(7)), float64(random.IntN(5)) // small whole numbers, so that many are equal
			}
			got := WilcoxonTest(a, b)
			pairs, p, above := naiveWilcoxon(a, b)
			if got.Pairs != pairs || math.Abs(got.P-p) > 1e-12 || math.Abs(got.Above-above) > 1e-12 {
				t.Errorf("n %d, trial %d: %+v, want %d pairs, P %v, above %v", n, trial, got, pairs, p, above)
			}
			back := WilcoxonTest(b, a)
			if back.Plus != got.Minus || back.Minus != got.Plus || back.P != got.P {
				t.Errorf("n %d, trial %d: swapped %+v, want %+v mirrored", n, trial, back, got)
			}
		}
	}
}

// TestWilcoxonPrinted: the table of Wilcoxon and Wilcox (1964) has for 5 % two-sided the largest smaller sum: 0 of 6
// pairs, 8 of 10, 52 of 20 and 137 of 30.
func TestWilcoxonPrinted(t *testing.T) {
	for n, critical := range map[int]int{6: 0, 10: 8, 20: 52, 30: 137} {
		for _, c := range []struct {
			sum  int
			want bool
		}{{critical, true}, {critical + 1, false}} {
			a, left := make([]float64, n), c.sum
			for i := n; i >= 1; i-- { // the sum as different ranks, the largest first
				if a[i-1] = float64(i); i <= left {
					a[i-1], left = -float64(i), left-i
				}
			}
			if got := WilcoxonTest(a, make([]float64, n)); got.Minus != float64(c.sum) || got.P <= 0.05 != c.want {
				t.Errorf("%d pairs, sum %d: %+v, want significant at 5 %%: %v", n, c.sum, got, c.want)
			}
		}
	}
}

// TestWilcoxonNormal: the approximation and the exact distribution agree to 0.003, as is stated, where the one takes over.
func TestWilcoxonNormal(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	for trial := range 50 {
		n := maxExactPairs + trial%5
		ranks, sum := make([]float64, n), 0.0
		sizes := make([]float64, n)
		for i := range sizes {
			sizes[i] = float64(random.IntN(20))
		}
		copy(ranks, rankWithTies(sizes))
		for _, rank := range ranks {
			if random.Float64() < 0.6 {
				sum += rank
			}
		}
		if exact, normal := chanceOfRankSum(ranks, sum), approximateChanceOfRankSum(ranks, sum); math.Abs(exact-normal) > 3e-3 {
			t.Errorf("trial %d, %d pairs, sum %v: %v by the normal distribution, exactly %v", trial, n, sum, normal, exact)
		}
	}
}

func TestWilcoxonDegenerate(t *testing.T) {
	nan := math.NaN()
	if got := WilcoxonTest(nil, nil); !math.IsNaN(got.P) || !math.IsNaN(got.Above) {
		t.Errorf("without pairs: %+v, want NaN", got)
	}
	if got := WilcoxonTest([]float64{1, 2, nan}, []float64{1, 2, nan}); got != (PairedTest{P: 1, Above: 1}) {
		t.Errorf("without a difference: %+v, want P 1", got)
	}
	if got, want := WilcoxonTest([]float64{3, 2, 5, 1}, []float64{1, nan, 4, nan}), WilcoxonTest([]float64{3, 9, 5, 9}, []float64{1, 0, 4, 0}); got != want {
		t.Errorf("failures of one side: %+v, want the largest differences, %+v", got, want)
	}
}

// TestHolm: an adjusted probability is at most a level if the step-down procedure rejects at this level.
func TestHolm(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for trial := range 200 {
		p := make([]float64, 1+trial%9)
		for i := range p {
			p[i] = math.Round(100*random.Float64()*random.Float64()) / 100 // some are equal
		}
		adjusted := AdjustHolm(append(p, math.NaN()))
		if !math.IsNaN(adjusted[len(p)]) {
			t.Errorf("trial %d: NaN became %v", trial, adjusted[len(p)])
		}
		for _, level := range []float64{0.013, 0.057, 0.101, 0.333, 0.777} {
			rejected := make([]bool, len(p))
			for left := len(p); left > 0; left-- { // the least that is not rejected yet, while it is below level/left
				least := -1
				for i := range p {
					if !rejected[i] && (least < 0 || p[i] < p[least]) {
						least = i
					}
				}
				if p[least] > level/float64(left) {
					break
				}
				rejected[least] = true
			}
			for i := range p {
				if (adjusted[i] <= level) != rejected[i] {
					t.Errorf("trial %d, level %v, p %v: adjusted %v, rejected %v", trial, level, p, adjusted, rejected)
				}
			}
		}
	}
	if got := AdjustHolm(nil); len(got) != 0 {
		t.Errorf("no tests became %v", got)
	}
}

func TestOneSided(t *testing.T) {
	low, high := []float64{1, 2, 3, 4}, []float64{3, 4, 5, 7}
	up, down := WelchTest(high, low), WelchTest(low, high)
	if up.OneSided() != up.P/2 || down.OneSided() != 1-up.P/2 || !(up.OneSided() < 0.05) {
		t.Errorf("one-sided %v and %v of a two-sided %v", up.OneSided(), down.OneSided(), up.P)
	}
}
