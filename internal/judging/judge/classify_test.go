package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// accuraciesByDefinition is CrossValidate for one classifier, with a prediction for one row at a time from dense rows.
func accuraciesByDefinition(f *Folds, x *mat.Dense, predict func(train *mat.Dense, classes []int32, row []float64) int32) (accuracies []float64) {
	_, k := x.Dims()
	for fold := range f.count {
		var rows []float64
		var classes []int32
		for _, i := range f.order {
			if int(f.fold[i]) != fold {
				rows, classes = append(rows, x.RawRowView(int(i))...), append(classes, f.classes[i])
			}
		}
		right, all := 0.0, 0.0
		for i, other := range f.fold {
			if int(other) == fold {
				all++
				if predict(mat.NewDense(len(classes), k, rows), classes, x.RawRowView(i)) == f.classes[i] {
					right++
				}
			}
		}
		accuracies = append(accuracies, right/all)
	}
	return accuracies
}

func nearestByDefinition(train *mat.Dense, classes []int32, row []float64) int32 {
	n, _ := train.Dims()
	distance, order := make([]float64, n), make([]int, n)
	for i := range n {
		order[i] = i
		for j, v := range train.RawRowView(i) {
			distance[i] += (v - row[j]) * (v - row[j])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	order = order[:min(5, n)]
	votes := map[int32]int{}
	for _, i := range order {
		votes[classes[i]]++
	}
	best := classes[order[0]]
	for _, i := range order {
		if votes[classes[i]] > votes[best] {
			best = classes[i]
		}
	}
	return best
}

// ridgeByDefinition solves for weights and an intercept, which has no penalty, as one system for standardized columns.
func ridgeByDefinition(labels int) func(train *mat.Dense, classes []int32, row []float64) int32 {
	return func(train *mat.Dense, classes []int32, row []float64) int32 {
		n, k := train.Dims()
		z, y, u := mat.NewDense(n, k+1, nil), mat.NewDense(n, labels, nil), mat.NewDense(1, k+1, nil)
		for j := range k {
			mean, variance := stat.PopMeanVariance(mat.Col(nil, j, train), nil)
			if variance > 1e-20*mean*mean {
				for i := range n {
					z.Set(i, j, (train.At(i, j)-mean)/math.Sqrt(variance))
				}
				u.Set(0, j, (row[j]-mean)/math.Sqrt(variance))
			}
		}
		u.Set(0, k, 1)
		for i, c := range classes {
			z.Set(i, k, 1)
			y.Set(i, int(c), 1)
		}
		var a, right, w, score mat.Dense
		a.Mul(z.T(), z)
		for j := range k {
			a.Set(j, j, a.At(j, j)+0.1*float64(n))
		}
		right.Mul(z.T(), y)
		if err := w.Solve(&a, &right); err != nil {
			panic(err)
		}
		score.Mul(u, &w)
		best := 0
		for c := range labels {
			if score.At(0, c) > score.At(0, best)+1e-12 { // equal scores may differ by their rounding
				best = c
			}
		}
		return int32(best)
	}
}

// TestCrossValidateTwin: as by definition, for fewer columns than training rows, as many, and more; of normal numbers and
// of digits, which tie; with constant columns and copies; with classes of one row and numbers that have gaps.
func TestCrossValidateTwin(t *testing.T) {
	for _, n := range []int{3, 4, 15, 60} {
		for _, k := range []int{1, 3, 12, 48, 70} {
			for _, digits := range []bool{false, true} {
				seed := uint64(n*100 + k)
				x, classes := factors(n, k, 6, seed), make([]int32, n)
				random := rand.New(rand.NewPCG(seed, 5))
				for i := range classes {
					classes[i] = int32(3 * random.IntN(4))
				}
				classes[n-1] = 20
				for i, v := range x.Data {
					x.Data[i] += float64(classes[i%n] % 2)
					if digits {
						x.Data[i] = math.Round(v / max(math.Abs(v), 1) * 3)
					}
				}
				folds := min(n, 4)
				f := NewFolds(classes, folds, seed)
				want := [][]float64{accuraciesByDefinition(f, dense(x), nearestByDefinition), accuraciesByDefinition(f, dense(x), ridgeByDefinition(f.labels))}
				for _, threads := range []int{1, 3} {
					var got [][]float64
					for _, name := range ClassifierNames() {
						got = append(got, must.Get(f.CrossValidate(t.Context(), kernel.NewTeam(threads), x, name))(t))
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%d×%d, digits %t, %d threads: accuracies of kNN and ridge in each fold %v, by definition %v", n, k, digits, threads, got, want)
					}
				}
			}
		}
	}
}

// TestCrossValidateByHand: fold 0 is predicted from rows at 0, 0, 0 and 4 of classes 0, 0, 0 and 1.
func TestCrossValidateByHand(t *testing.T) {
	team := kernel.NewTeam(1)
	for _, c := range []struct {
		name       string
		test       []float64
		classes    []int32
		train      []float64
		trained    []int32
		classifier string
		want       float64
	}{
		// The columns of mean 0 and length 1 are (x−1)/√12, and the indicators of class 1 less their mean ¼ are −¼, −¼, −¼, ¾.
		// Their product is 3/√12, so that the score of class 1 is ¼ + (x−1)/4/1.1. It exceeds ½ from x = 2.1 on.
		{"ridge, on both sides of 2.1", []float64{2.099, 2.101}, []int32{0, 1}, []float64{0, 0, 0, 4}, []int32{0, 0, 0, 1}, Ridge, 1},
		{"ridge, a constant column: the largest class", []float64{7, 8}, []int32{1, 1}, []float64{3, 3, 3, 3}, []int32{0, 1, 1, 1}, Ridge, 1},
		{"all of four vote", []float64{4, 4}, []int32{0, 1}, []float64{0, 0, 0, 4}, []int32{0, 0, 0, 1}, KNN, 0.5},
		{"two votes each: the nearest wins", []float64{4, 9}, []int32{1, 1}, []float64{0, 0, 5, 5}, []int32{0, 0, 1, 1}, KNN, 1},
		{"the sixth has no vote", []float64{5, 5}, []int32{0, 0}, []float64{5, 5, 5, 6, 6, 7}, []int32{0, 0, 0, 1, 1, 1}, KNN, 1},
	} {
		f := &Folds{classes: append(slices.Clone(c.classes), c.trained...), count: 1 + len(c.train)/len(c.test), labels: 2}
		for i := range f.classes {
			f.order, f.fold = append(f.order, int32(i)), append(f.fold, int32(i/len(c.test)))
		}
		data := append(slices.Clone(c.test), c.train...)
		got := must.Get(f.CrossValidate(t.Context(), team, kernel.ColMajor(data, len(data), 1, len(data)), c.classifier))(t)
		if got[0] != c.want {
			t.Errorf("%s: accuracy %v of %v from %v, want %v", c.name, got[0], c.test, c.train, c.want)
		}
	}
}

// TestFolds: the folds' sizes differ by at most 1, of all rows and of each class; the seed alone distinguishes them; and
// the numbers of the classes are without gaps.
func TestFolds(t *testing.T) {
	for _, n := range []int{2, 7, 50, 101} {
		for _, folds := range []int{2, 3, 5, 10} {
			if folds > n {
				continue
			}
			random, classes := rand.New(rand.NewPCG(uint64(n), 1)), make([]int32, n)
			for i := range classes {
				classes[i] = int32(2 * random.IntN(4))
			}
			f := NewFolds(classes, folds, 7)
			all, each := make([]int, folds), map[int32][]int{}
			for i, c := range classes {
				if each[c] == nil {
					each[c] = make([]int, folds)
				}
				each[c][f.fold[i]]++
				all[f.fold[i]]++
				if first := slices.Index(classes, c); f.classes[i] != f.classes[first] || int(f.classes[i]) >= f.labels {
					t.Errorf("%d rows in %d folds: class %d has the number %d of %d, and %d before", n, folds, c, f.classes[i], f.labels, f.classes[first])
				}
			}
			each[-1] = all
			for c, sizes := range each {
				if slices.Max(sizes)-slices.Min(sizes) > 1 {
					t.Errorf("%d rows in %d folds: class %d (-1 is all) has %v rows, want sizes that differ by at most 1", n, folds, c, sizes)
				}
			}
			if f.labels != len(each)-1 {
				t.Errorf("%d rows: %d classes counted, want %d", n, f.labels, len(each)-1)
			}
			if again := NewFolds(classes, folds, 7); fmt.Sprint(again) != fmt.Sprint(f) {
				t.Errorf("%d rows in %d folds: other folds with the same seed", n, folds)
			}
			if other := NewFolds(classes, folds, 8); n > 10 && slices.Equal(other.fold, f.fold) {
				t.Errorf("%d rows in %d folds: the same folds with another seed", n, folds)
			}
		}
	}
}

func TestCrossValidateCancelled(t *testing.T) {
	x, classes := groups(30)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewFolds(classes, 5, 1).CrossValidate(ctx, kernel.NewTeam(1), x, KNN); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestCrossValidateBytes: two folds take the memory of the rows once, and what a classifier needs at most twice.
func TestCrossValidateBytes(t *testing.T) {
	for _, shape := range [][2]int{{30000, 20}, {1500, 700}, {600, 2500}} {
		n, k := shape[0], shape[1]
		x, classes := noise(n, k, 1), make([]int32, n)
		for i := range classes {
			classes[i] = int32(i % 10)
		}
		f := NewFolds(classes, 2, 1)
		for _, name := range ClassifierNames() {
			var before, after runtime.MemStats
			team := kernel.NewTeam(2)
			runtime.ReadMemStats(&before)
			must.Get(f.CrossValidate(t.Context(), team, x, name))(t)
			runtime.ReadMemStats(&after)
			got, bound := int64(after.TotalAlloc-before.TotalAlloc), CrossValidateBytes(n, k, 2, 10, 2, name)
			if got > 2*bound || got < bound/2 {
				t.Errorf("%s of %d×%d: %d bytes allocated by two folds, want %d to %d", name, n, k, got, bound/2, 2*bound)
			}
		}
	}
}
