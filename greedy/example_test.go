package greedy_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
)

// Three independent measurements, and a fourth column that is the sum of the first
// two: the sum stands for both best, and three columns explain everything. The fourth is
// chosen as if they were not there.
func ExampleSelect() {
	g := []float64{
		4, 0, 0, 4,
		0, 5, 0, 5,
		0, 0, 3, 0,
		4, 5, 0, 9,
	}
	r, err := greedy.Select(context.Background(), gram.Full(g, 4), greedy.Options{K: 4})
	if err != nil {
		panic(err)
	}
	for j, p := range r.Order {
		fmt.Printf("column %d: score %.2f, error %.2f\n", p, r.Scores[j], r.Error[j])
	}
	fmt.Println(r.Warnings[0])
	// Output:
	// column 3: score 13.56, error 0.35
	// column 0: score 4.44, error 0.14
	// column 2: score 3.00, error 0.00
	// column 1: score 5.00, error 0.00
	// rank 3 reached: feature 4 is a second layer, chosen as if the features before were absent
}
