package cluster_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/cluster"
)

// Six rows of two columns in two groups; one row has another class than its group.
func Example() {
	x := cluster.Matrix{Data: []float64{0, 0, 1, 0, 0, 1, 9, 9, 8, 9, 9, 8}, Rows: 6, Cols: 2, RowStride: 2, ColStride: 1}
	r, err := cluster.KMeans(context.Background(), x, cluster.Options{Clusters: 2, Restarts: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := cluster.Compare(r.Labels, []string{"a", "a", "a", "b", "b", "a"})
	fmt.Printf("inertia %.3f, sizes %v, accuracy %.3f, %v\n", r.Inertia, r.Sizes, s.ACC, err)
	// Output: inertia 2.667, sizes [3 3], accuracy 0.833, <nil>
}
