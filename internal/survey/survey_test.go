package survey

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// tableOf has the moments of the rows themselves.
func tableOf(x []float64, n, d int) *Table {
	t := &Table{Rows: n, Cols: d, Values: x, Columns: make([]Column, d)}
	for j := range t.Columns {
		c := &t.Columns[j]
		*c = Column{Min: math.Inf(1), Max: math.Inf(-1), Whole: true}
		for i := range n {
			v := x[i*d+j]
			c.Mean += v / float64(n)
			c.Min, c.Max, c.Whole = min(c.Min, v), max(c.Max, v), c.Whole && v == math.Trunc(v)
		}
		for i := range n {
			c.Std += (x[i*d+j] - c.Mean) * (x[i*d+j] - c.Mean) / float64(n)
		}
		c.Std = math.Sqrt(c.Std)
		if c.Min == c.Max {
			c.Std = 0
		}
	}
	return t
}

// lake is n rows of factors, each in 3 to 9 sensors, beside noise columns of noise; group is the factor of a
// column, -1 of noise. clusters > 0 gives the factors other means in each cluster.
func lake(seed uint64, n, factors, noise, clusters int, apart bool) (*Table, []int) {
	r := rand.New(rand.NewPCG(seed, 7))
	f := make([]float64, n*factors)
	centre := make([]float64, max(clusters, 1)*factors)
	for i := range centre {
		centre[i] = 2 * r.NormFloat64()
	}
	for i := range n {
		for k := range factors {
			f[i*factors+k] = r.NormFloat64()
			if clusters > 0 {
				f[i*factors+k] = f[i*factors+k]/2 + centre[i%clusters*factors+k]
			}
		}
	}
	var group []int
	for k := range factors {
		for range 3 + r.IntN(7) {
			group = append(group, k)
		}
	}
	for range noise {
		group = append(group, -1)
	}
	d := len(group)
	x := make([]float64, n*d)
	for j, k := range group {
		scale, shift, rho := 1.0, 0.0, 0.9+r.Float64()/20
		if apart {
			scale = math.Pow(10, 7*r.Float64()-3)
			shift = scale * (7*r.Float64() - 1)
		}
		for i := range n {
			v := r.NormFloat64()
			if k >= 0 {
				v = rho*f[i*factors+k] + math.Sqrt(1-rho*rho)*v
			}
			x[i*d+j] = shift + scale*v
		}
	}
	return tableOf(x, n, d), group
}

func lookAt(t *testing.T, table *Table, opt Options) *Survey {
	t.Helper()
	return must.Get(Look(context.Background(), table, opt))(t)
}

// A lake of factors has no clusters beyond them, its columns of noise stay out, and its units are seen.
func TestLakes(t *testing.T) {
	for _, c := range []struct {
		factors, clusters int
		apart             bool
	}{{3, 0, false}, {6, 0, true}, {12, 0, false}, {12, 0, true}, {12, 5, true}, {12, 5, false}} {
		table, group := lake(uint64(c.factors), 1000, c.factors, 20, c.clusters, c.apart)
		s := lookAt(t, table, Options{Anchors: 500})
		if want := map[bool]Unit{false: Shared, true: Differing}[c.apart]; s.Unit != want {
			t.Errorf("%+v: unit %v, want %v", c, s.Unit, want)
		}
		if s.Clusters.Trusted != (c.clusters > 0) || !s.Dependence.Trusted {
			t.Errorf("%+v: clusters %+v, dependence %+v", c, s.Clusters, s.Dependence)
		}
		out := 0
		for _, j := range s.Noise {
			if group[j] >= 0 {
				t.Errorf("%+v: column %d of factor %d is taken for noise", c, j, group[j])
			}
			out++
		}
		if out < 18 {
			t.Errorf("%+v: %d of 20 columns of noise stayed out", c, out)
		}
	}
}

// The answer does not depend on the number of threads.
func TestThreads(t *testing.T) {
	table, _ := lake(1, 300, 8, 20, 5, false)
	want := lookAt(t, table, Options{Threads: 1})
	if got := lookAt(t, table, Options{Threads: 3}); !slices.Equal(got.Shares, want.Shares) || got.Clusters != want.Clusters {
		t.Errorf("3 threads have %+v %v, 1 has %+v %v", got.Clusters, got.Shares, want.Clusters, want.Shares)
	}
}
