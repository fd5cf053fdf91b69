package sogfs_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/methods/sogfs"
)

// Six rows in two groups: the first feature hardly varies within them, unlike the second.
func Example() {
	x := []float64{3, 1, 3.1, -1, 2.9, 0.2, -3, -1.1, -3.1, 0.1, -2.9, 1}
	r, err := sogfs.RankFeatures(context.Background(), x, 6, 2, sogfs.Options{Clusters: 2, Neighbors: 2, Dimensions: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Order, r.Components)
	// Output: [0 1] 2
}
