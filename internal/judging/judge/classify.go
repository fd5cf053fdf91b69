package judge

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Names of the classifiers of [Folds.CrossValidate].
const (
	KNN   = "knn"   // the classes of the nearest rows vote
	Ridge = "ridge" // ridge regression on indicators of the classes
)

// ClassifierNames lists the names of the classifiers.
func ClassifierNames() []string { return []string{KNN, Ridge} }

// voters is the number of nearest rows that vote for a class.
const voters = 5

// foldsStream is the number of the random stream that makes the folds. It is independent of the streams of the runs.
const foldsStream = 0x666f6c6473

// Folds divides labelled rows into stratified folds for cross-validation: the numbers of rows of any two folds differ
// by at most 1, and so do their numbers of rows of any class. The accuracies of different columns are comparable fold by
// fold, if the folds are the same.
type Folds struct {
	classes []int32 // class of each row, numbered from 0 without gaps
	fold    []int32 // fold of each row
	order   []int32 // the rows in random order
	count   int     // number of folds
	labels  int     // number of classes
}

// NewFolds divides rows of the given classes, at least as many as folds, into two or more folds. The folds depend on the
// seed, on the numbers of the classes and on the order of the rows.
func NewFolds(classes []int32, folds int, seed uint64) *Folds {
	f := &Folds{classes: slices.Clone(classes), fold: make([]int32, len(classes)), count: folds}
	for _, i := range rand.New(rand.NewPCG(seed, foldsStream)).Perm(len(classes)) {
		f.order = append(f.order, int32(i))
	}
	sorted := slices.Clone(f.order)
	slices.SortStableFunc(sorted, func(a, b int32) int { return int(classes[a]) - int(classes[b]) })
	for at, i := range sorted { // deal the rows out, one class after the other
		if at > 0 && classes[i] != classes[sorted[at-1]] {
			f.labels++
		}
		f.classes[i], f.fold[i] = int32(f.labels), int32(at%folds)
	}
	f.labels++
	return f
}

// CrossValidate returns the accuracy of the named classifier on each fold of the rows of x, n×k column-major, whose
// values are finite. This is the share of the fold's rows whose class is predicted from the rows of all other folds.
//
//   - [KNN]: the 5 rows at the smallest Euclidean distance vote. Among classes with equally many votes the one with the
//     nearest row wins. Equally near rows are in random order, because a file is often sorted by class.
//   - [Ridge]: linear scores by ridge regression, with λ a tenth of the number of rows. Columns are standardized by the
//     rows of the other folds. Equal scores count for the class with the lowest number.
//
// The error is that of ctx, which is checked for every fold.
func (f *Folds) CrossValidate(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], name string) (accuracies []float64, err error) {
	s := layOutSplit(nil, x.Rows, x.Cols, f.count, name)
	for fold := range f.count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.copyRows(f, x, fold, team.Threads())
		if name == KNN {
			s.predictByNearest(team, f.labels)
		} else if err := s.predictByRidge(team, f.labels); err != nil {
			return nil, err
		}
		right := 0
		for r, c := range s.testClasses {
			if s.predicted[r] == c {
				right++
			}
		}
		accuracies = append(accuracies, float64(right)/float64(len(s.testClasses)))
	}
	return accuracies, nil
}

// CrossValidateBytes returns an upper bound of the memory of [Folds.CrossValidate] for n rows of k columns, with the
// given numbers of folds and classes. It excludes x and the folds.
func CrossValidateBytes(n, k, folds, classes, threads int, name string) int64 {
	return room.Measure(func(l *room.Layout) {
		layOutSplit(l, n, k, folds, name)
		train, test := largestRowCounts(n, folds)
		if name == KNN {
			l.Add(kernel.NearestBytes(threads, train, k) + 4*int64(classes))
		} else {
			layOutRidge(l, train, test, k, classes)
		}
		l.Add(kernel.TeamBytes(max(k, train), max(min(k, train), classes)))
	})
}

func largestRowCounts(n, folds int) (train, test int) { return n - n/folds, (n + folds - 1) / folds }

// FoldsBytes returns the memory of the [Folds] of n rows while they are made.
func FoldsBytes(n int) int64 { return 36 * int64(n) }

// split holds the rows of a fold, test, and of all other folds, train, both in the random order of the folds.
type split struct {
	train, test               kernel.Matrix[float64] // column-major
	trainClasses, testClasses []int32
	predicted                 []int32 // classes of the rows in test
	trainData, testData       []float64

	near     *kernel.Nearest // the last one, whose scratch memory the next fold reuses
	index    []int32         // the nearest rows of each row of test
	distance []float64
}

func layOutSplit(l *room.Layout, n, k, folds int, name string) *split {
	train, test := largestRowCounts(n, folds)
	s := &split{
		trainData: room.Slice[float64](l, train*k), testData: room.Slice[float64](l, test*k),
		trainClasses: room.Slice[int32](l, train)[:0], testClasses: room.Slice[int32](l, test)[:0], predicted: room.Slice[int32](l, test),
	}
	if name == KNN {
		s.index, s.distance = room.Slice[int32](l, test*voters), room.Slice[float64](l, test*voters)
	}
	return s
}

func (s *split) copyRows(f *Folds, x kernel.Matrix[float64], fold, threads int) {
	s.trainClasses, s.testClasses = s.trainClasses[:0], s.testClasses[:0]
	for _, i := range f.order {
		if int(f.fold[i]) == fold {
			s.testClasses = append(s.testClasses, f.classes[i])
		} else {
			s.trainClasses = append(s.trainClasses, f.classes[i])
		}
	}
	train, test := len(s.trainClasses), len(s.testClasses)
	s.train, s.test = kernel.ColMajor(s.trainData, train, x.Cols, train), kernel.ColMajor(s.testData, test, x.Cols, test)
	kernel.Each(threads, x.Cols, func(j int) {
		from, train, test := x.Data[j*x.ColStride:], s.trainData[j*train:][:0], s.testData[j*test:][:0]
		for _, i := range f.order {
			if int(f.fold[i]) == fold {
				test = append(test, from[i])
			} else {
				train = append(train, from[i])
			}
		}
	})
}

func (s *split) predictByNearest(team *kernel.Team, classes int) {
	count := min(voters, s.train.Rows)
	if s.near == nil {
		s.near = kernel.NewNearest(team, s.train, count)
	} else {
		s.near = s.near.Rebuild(s.train, count)
	}
	s.near.SearchTo(s.index, s.distance, s.test)
	votes := make([]int32, classes)
	for r := range s.test.Rows {
		near := s.index[r*count:][:count]
		for _, i := range near {
			votes[s.trainClasses[i]]++
		}
		most := int32(0)
		for _, i := range near { // nearest first, so that it wins a tie
			if c := s.trainClasses[i]; votes[c] > most {
				s.predicted[r], most = c, votes[c]
			}
		}
		for _, i := range near {
			votes[s.trainClasses[i]] = 0
		}
	}
}
