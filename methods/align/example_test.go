package align_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/methods/align"
)

// Choose two of three features: the first two follow the kernel equally and repeat each other,
// the third follows it less and brings something new.
func ExampleChoose() {
	g := [][]float64{{4, 3.9, 0}, {3.9, 4, 0}, {0, 0, 4}}
	r, err := align.Choose(context.Background(), align.Problem{
		A: []float64{3, 2.9, 2}, Norm: 2,
		Squares: []float64{4, 4, 4}, Column: func(j int) []float64 { return g[j] },
	}, align.Options{K: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %.3f\n", r.Order, r.Alignment)
	// Output: [0 2] [0.375 0.442]
}
