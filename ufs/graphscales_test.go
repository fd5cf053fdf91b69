package ufs

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
)

// A graph that shows nothing in one scale is to be tried in the others.
func TestOtherScales(t *testing.T) {
	for scale, want := range map[gram.Scale]string{
		gram.ScalePareto: "none or standard", gram.ScaleNone: "pareto or standard", gram.ScaleStandard: "pareto or none",
		gram.ScaleUnit: "pareto, none or standard",
	} {
		if got := otherScales(scale); got != want {
			t.Errorf("%s: %s, want %s", scale, got, want)
		}
	}
}
