package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// affinityTwin sends the messages of Frey and Dueck's equations (1) to (3) between rows, each sum and maximum over all
// rows anew, and returns the rows with r(k, k) + a(k, k) > 0 once they have not changed for the given iterations.
func affinityTwin(s *mat.Dense, preference, damping float64, stable int) (exemplars []int) {
	n, _ := s.Dims()
	r, a := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		s.Set(i, i, preference)
	}
	for iteration, same := 0, 0; iteration < 1000 && same < stable; iteration++ {
		next := mat.NewDense(n, n, nil)
		for i := range n {
			for k := range n {
				largest := math.Inf(-1)
				for other := range n {
					if other != k {
						largest = max(largest, a.At(i, other)+s.At(i, other))
					}
				}
				next.Set(i, k, damping*r.At(i, k)+(1-damping)*(s.At(i, k)-largest))
			}
		}
		r = next
		next = mat.NewDense(n, n, nil)
		for i := range n {
			for k := range n {
				sum := 0.0
				for other := range n {
					if other != i && other != k {
						sum += max(0, r.At(other, k))
					}
				}
				if i != k {
					sum = min(0, r.At(k, k)+sum)
				}
				next.Set(i, k, damping*a.At(i, k)+(1-damping)*sum)
			}
		}
		a = next
		var now []int
		for k := range n {
			if r.At(k, k)+a.At(k, k) > 0 {
				now = append(now, k)
			}
		}
		if same++; len(now) == 0 || !slices.Equal(now, exemplars) {
			same = 0
		}
		exemplars = now
	}
	return exemplars
}

func newAffinity(s *mat.Dense, threads int, damping float64) *propagation {
	n, _ := s.Dims()
	p := newPropagation(nil, n, 1)
	p.threads, p.damping = threads, damping
	copy(p.similarity, s.RawMatrix().Data)
	return p
}

func affinityRows(x matrix) (rows [][]float64) {
	for i := range x.Rows {
		var row []float64
		for j := range x.Cols {
			row = append(row, x.Data[i*x.RowStride+j*x.ColStride])
		}
		rows = append(rows, row)
	}
	return rows
}

// TestAffinityTwin: at one preference the exemplars are those of the equations; with any threads the messages have the
// same bits.
func TestAffinityTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 3))
	for round := range 6 {
		n, k := 10+12*round, 1+rng.IntN(4) // one block of rows, and two
		x, _ := blobs(uint64(round), n, k, 3, 4)
		rows, s := affinityRows(x), mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n { // two rows are not equally similar to each other, so that rounding decides nothing
				s.Set(i, j, -math.Pow(floats.Distance(rows[i], rows[j], 2), 2)*(1+0.3*rng.Float64()))
			}
		}
		damping, preference := 0.5+0.4*rng.Float64(), -math.Exp(rng.NormFloat64()*2+1)
		what := fmt.Sprintf("round %d: %d×%d, damping %v, preference %v", round, n, k, damping, preference)
		p := newAffinity(s, 1, damping)
		must.Do(t, p.propagateMessages(t.Context(), preference))
		var got []int
		for i, is := range p.isExemplar {
			if is {
				got = append(got, i)
			}
		}
		if want := affinityTwin(s, preference, damping, affinityStable); !slices.Equal(got, want) {
			t.Errorf("%s: got exemplars %v, want %v", what, got, want)
		}
		other := newAffinity(s, 3, damping)
		must.Do(t, other.propagateMessages(t.Context(), preference))
		if !slices.Equal(other.responsibility, p.responsibility) || !slices.Equal(other.availability, p.availability) {
			t.Errorf("%s: with 3 threads the messages are other than with one", what)
		}
	}
}

// TestAffinityFindsClusters: the bisection finds as many exemplars as wanted, and blobs far apart as their clusters;
// each row has the label of the exemplar nearest to it.
func TestAffinityFindsClusters(t *testing.T) {
	x, classes := blobs(4, 150, 3, 5, 40)
	for _, clusters := range []int{1, 2, 5, 9, 150} {
		e := must.Get(Affinity(t.Context(), Matrix(x), AffinityOptions{Clusters: clusters, Seed: 1}))(t)
		if len(e.Rows) != clusters {
			t.Errorf("%d clusters: got %d exemplars at preference %v", clusters, len(e.Rows), e.Preference)
		}
		rows := affinityRows(x)
		for i, c := range e.Labels {
			for _, k := range e.Rows {
				if own, other := floats.Distance(rows[i], rows[e.Rows[c]], 2), floats.Distance(rows[i], rows[k], 2); own > other+1e-6 { // noise may exchange exemplars that are equally far
					t.Errorf("%d clusters: row %d is %v from its exemplar, and %v from that of another", clusters, i, own, other)
				}
			}
		}
		if clusters == 5 {
			labels := make([]int32, len(classes))
			for i, c := range classes {
				labels[i] = int32(c)
			}
			if s := must.Get(Compare(e.Labels, labels))(t); s.ACC != 1 {
				t.Errorf("5 blobs: got accuracy %v, want 1", s.ACC)
			}
		}
	}
}

// TestAffinityDegenerate: equal rows, a single row and wrong options give a right answer or an error.
func TestAffinityDegenerate(t *testing.T) {
	equal := matrix{Data: make([]float64, 12), Rows: 6, Cols: 2, RowStride: 2, ColStride: 1}
	if e := must.Get(Affinity(t.Context(), Matrix(equal), AffinityOptions{Clusters: 2}))(t); len(e.Rows) != 1 || slices.Max(e.Labels) != 0 {
		t.Errorf("6 equal rows: got %+v, want one cluster", e)
	}
	pairs := matrix{Data: []float64{0, 0, 0, 1, 1, 1, 9, 9, 9}, Rows: 9, Cols: 1, RowStride: 1, ColStride: 1}
	e := must.Get(Affinity(t.Context(), Matrix(pairs), AffinityOptions{Clusters: 3}))(t)
	if fmt.Sprint(e.Labels) != "[0 0 0 1 1 1 2 2 2]" {
		t.Errorf("three triples of equal rows: got labels %v", e.Labels)
	}
	one := matrix{Data: []float64{3}, Rows: 1, Cols: 1, RowStride: 1, ColStride: 1}
	if e := must.Get(Affinity(t.Context(), Matrix(one), AffinityOptions{Clusters: 1}))(t); len(e.Rows) != 1 || e.Labels[0] != 0 {
		t.Errorf("one row: got %+v", e)
	}
	for _, opt := range []AffinityOptions{{}, {Clusters: 7}, {Clusters: 2, Damping: 0.4}, {Clusters: 2, Damping: 1}} {
		if _, err := Affinity(t.Context(), Matrix(equal), opt); err == nil {
			t.Errorf("%+v of 6 rows: no error", opt)
		}
	}
	bad := matrix{Data: []float64{1, math.NaN()}, Rows: 2, Cols: 1, RowStride: 1, ColStride: 1}
	if _, err := Affinity(t.Context(), Matrix(bad), AffinityOptions{Clusters: 1}); err == nil {
		t.Error("NaN: no error")
	}
	bad.Data[1] = 1e200
	if _, err := Affinity(t.Context(), Matrix(bad), AffinityOptions{Clusters: 1}); !errors.Is(err, ErrOverflow) {
		t.Errorf("distances that overflow: got error %v, want one that wraps ErrOverflow", err)
	}
}

// TestAffinityBytes: affinity propagation allocates no more than AffinityBytes.
func TestAffinityBytes(t *testing.T) {
	x, _ := blobs(1, 300, 5, 3, 10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must.Get(Affinity(t.Context(), Matrix(x), AffinityOptions{Clusters: 3, Threads: 1}))(t)
	runtime.ReadMemStats(&after)
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), AffinityBytes(300, 5); took > most {
		t.Errorf("300×5: %d bytes, AffinityBytes gives %d", took, most)
	}
}
