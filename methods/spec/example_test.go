package spec_test

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/methods/spec"
)

// Four rows in two pairs around two anchors: the first feature separates the pairs,
// the second is noise within them.
func Example() {
	g := &anchor.Graph{
		Rows: 4, M: 2, D: 2,
		Delta: []float64{2, 2},
		G:     gram.Full([]float64{4, 0, 0, 4}, 2),
		C:     []float64{1.414, 0, -1.414, 0},
		S:     []float64{1, 0, 0, 1},
	}
	r, err := spec.Select(g, spec.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d %.3f\n", r.Order, r.Scores)
	// Output: [0 1] [0.000 1.000]
}
