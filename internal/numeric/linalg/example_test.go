package linalg_test

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// The two smallest eigenpairs of a path of three nodes.
func Example() {
	a := kernel.RowMajor([]float64{1, -1, 0, -1, 2, -1, 0, -1, 1}, 3, 3, 3)
	s := linalg.NewSmallest(kernel.NewTeam(1), 3, 2, linalg.EigenOptions{})
	e, err := s.Solve(a, kernel.Matrix[float64]{}) // no start; next time: e.Basis
	fmt.Printf("%.3f %v\n", e.Values[1], err)
	// Output: 1.000 <nil>
}
