package kernel_test

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// The Gram matrix of a column-major chunk of three rows and two columns.
func ExampleSyrk() {
	chunk := []float64{1, 2, 3, 4, 5, 6}
	g := make([]float64, 2*2)
	kernel.Syrk(kernel.NewTeam(0), 1, kernel.ColMajor(chunk, 3, 2, 3).Trans(), kernel.RowMajor(g, 2, 2, 2))
	fmt.Println(g)
	// Output: [14 32 0 77]
}
