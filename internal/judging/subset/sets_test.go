package subset

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
)

// set is a generated set whose right number of features is known: the number of its factors.
// Two thirds of the columns show them, the last third is noise.
type set struct {
	kind    string // noise: nothing but; leaders: the first columns are the factors, the others mixtures; groups: a factor a column; mixtures
	n, d    int
	factors int
	noise   float64 // of a column that shows factors of variance 1
	seed    uint64
}

// data returns the columns, centred and with n as sum of squares.
func (s set) data() *mat.Dense {
	random := rand.New(rand.NewPCG(s.seed, 15))
	normal := func(int, int, float64) float64 { return random.NormFloat64() }
	f := mat.NewDense(s.n, max(s.factors, 1), nil)
	f.Apply(normal, f)
	x := mat.NewDense(s.n, s.d, nil)
	for j := range s.d {
		weight, noise := make([]float64, s.factors), s.noise
		switch shows := j < 2*s.d/3; {
		case s.kind == "noise" || !shows:
			noise = 1
		case s.kind == "leaders" && j < s.factors:
			weight[j], noise = 1, 0
		case s.kind == "groups":
			weight[j%s.factors] = 1
		default:
			for t := range weight {
				weight[t] = random.NormFloat64() / math.Sqrt(float64(s.factors))
			}
		}
		for i := range s.n {
			v := noise * random.NormFloat64()
			for t, w := range weight {
				v += w * f.At(i, t)
			}
			x.Set(i, j, v)
		}
	}
	standardize(x)
	return x
}

func standardize(x *mat.Dense) {
	n, d := x.Dims()
	for j := range d {
		col := mat.Col(nil, j, x)
		mean, squares := sumValues(col)/float64(n), 0.0
		for i := range col {
			col[i] -= mean
			squares += col[i] * col[i]
		}
		for i := range col {
			col[i] *= math.Sqrt(float64(n) / squares)
		}
		x.SetCol(j, col)
	}
}

// gramOf is XᵀX.
func gramOf(x *mat.Dense) []float64 {
	var g mat.Dense
	g.Mul(x.T(), x)
	return g.RawMatrix().Data
}

func (s set) gram() *Gram {
	return &Gram{Matrix: gram.Full(gramOf(s.data()), s.d), Rows: int64(s.n), Threads: 2}
}
