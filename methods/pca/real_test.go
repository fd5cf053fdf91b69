package pca

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/realtest"
	"github.com/ufs-stream/ufs-stream/method"
)

// realRows returns the standardized rows of a real dataset without its label, standardized by gonum.
func realRows(t *testing.T, name string) *mat.Dense {
	t.Helper()
	columns := realtest.ReadColumns(t, name)
	x := mat.NewDense(len(columns[0]), len(columns), nil)
	for j, column := range columns {
		x.SetCol(j, column)
	}
	return standardize(x)
}

// TestRealSetsAreTheNaiveTwin: on real tables, narrow and wide, both methods agree with their definitions on the rows.
func TestRealSetsAreTheNaiveTwin(t *testing.T) {
	for name, k := range map[string]int{"wine": 5, "sonar": 12, "libras": 10, "khan": 15} {
		if name == "khan" && !long.IsOn() { // which takes most of the time
			continue
		}
		x := realRows(t, name)
		checkLargest(t, name, x, k)
		for _, c := range []method.ComponentCount{{Share: 0.9}, {Count: 5}} {
			checkPrincipal(t, name+", components "+c.ToText(), x, k, c)
		}
	}
}
