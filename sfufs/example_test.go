package sfufs_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/sfufs"
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
	r, err := sfufs.Select(context.Background(), g, sfufs.Options{Clusters: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d %.3f %v\n", r.Order, r.Scores, r.Converged)
	// Output: [0 1] [1.000 0.000] true
}
