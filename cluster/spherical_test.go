package cluster

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

func TestSpherical(t *testing.T) {
	x, _ := blobs(10, 400, 5, 4, 3)
	opt := Options{Clusters: 4, Restarts: 3, Spherical: true}
	want := mustKMeans(t, x, opt)
	r := rand.New(rand.NewPCG(10, 2))
	y := rowMajor(x)
	for i := range 400 {
		scale := math.Ldexp(1, r.IntN(600)-300)
		for j := range 5 {
			y.Data[i*y.RowStride+j] *= scale
		}
	}
	if !same(mustKMeans(t, y, opt), want, 0) {
		t.Error("the lengths of rows matter")
	}
	// The inertia is 2·Σ(1 − cosine), and every centre a direction; 5 products a row.
	inertia := 0.0
	for i, l := range want.Labels {
		c := row(matrix(want.Centers), int(l))
		if math.Abs(vectorLength(c)-1) > 8*0x1p-52 {
			t.Fatalf("centre of length %v", vectorLength(c))
		}
		inertia += 2 * (1 - kernel.Dot(row(x, i), c)/vectorLength(row(x, i)))
	}
	if math.Abs(inertia-want.Inertia) > 400*16*0x1p-52 {
		t.Errorf("inertia %v, want %v", want.Inertia, inertia)
	}
	zeros := kernel.ColMajor([]float64{0, 1, 2, 0, 0, 0, 0, 0, 3, 0}, 5, 2, 5)
	got := mustKMeans(t, zeros, Options{Clusters: 2, Spherical: true})
	if got.Inertia != 2 || got.Labels[0] != 0 || got.Labels[4] != 0 || got.Labels[1] != got.Labels[2] || got.Labels[1] == got.Labels[3] {
		t.Errorf("two rows of zeros: inertia %v, labels %v", got.Inertia, got.Labels)
	}
	if _, err := KMeans(t.Context(), Matrix(kernel.ColMajor(make([]float64, 6), 3, 2, 3)), opt.with(2)); !errors.Is(err, ErrNoDirection) {
		t.Errorf("zeros only: %v", err)
	}
}

func (o Options) with(clusters int) Options {
	o.Clusters = clusters
	return o
}
