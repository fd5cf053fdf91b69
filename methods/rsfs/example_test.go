package rsfs_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/methods/rsfs"
)

// Six rows in two groups: the first feature separates the groups, the second is noise within them.
func Example() {
	x := []float64{3, 0.1, 3.1, -0.1, 2.9, 0, -3, -0.1, -3.1, 0, -2.9, 0.1}
	r, err := rsfs.RankFeatures(context.Background(), x, 6, 2, rsfs.Options{Clusters: 2, Neighbors: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Order)
	// Output: [0 1]
}
