package jelsr_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/methods/jelsr"
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
	for _, m := range []jelsr.Method{jelsr.JELSR, jelsr.NDFS} {
		r, err := jelsr.Select(context.Background(), g, jelsr.Options{Method: m, Clusters: 2, Alpha: 0.1, Beta: 0.1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v %v\n", m, r.Order)
	}
	// Output:
	// jelsr [0 1]
	// ndfs [0 1]
}
