package jelsr

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFormsRankAlike: G in full and as a factor give the same norms, objectives and warnings.
func TestFormsRankAlike(t *testing.T) {
	for _, shape := range [][3]int{{20, 60, 9}, {40, 300, 12}, {30, 40, 31}} {
		x, z := sample(8, shape[0], shape[1], shape[2])
		full, factor := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
		for _, opt := range []Options{
			{Clusters: 3}, {Clusters: 4, Alpha: 0.1, Beta: 5}, {Clusters: 30, Iterations: 4}, {Clusters: 300, Iterations: 2},
			{Method: NDFS, Clusters: 3}, {Method: NDFS, Clusters: 4, Alpha: 5, Beta: 0.1, Gamma: 100, Iterations: 10},
		} {
			opt.Threads = 2
			name := fmt.Sprintf("%v %v α %v c %d", shape, opt.Method, opt.Alpha, opt.Clusters)
			want := must.Get(Select(t.Context(), full, opt))(t)
			got := must.Get(Select(t.Context(), factor, opt))(t)
			if len(got.Objective) != len(want.Objective) || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) || got.Rose != nil || want.Rose != nil {
				t.Errorf("%s: %d updates, %q, %v; want %d, %q, %v", name,
					len(got.Objective), got.Warnings, got.Rose, len(want.Objective), want.Warnings, want.Rose)
				continue
			}
			// As in the twins: rounding, some 1e-14, that gaps and a condition up to 1e4 magnify.
			if a, b := rowstest.RelativeDistance(got.Objective, want.Objective), rowstest.RelativeDistance(got.Scores, want.Scores); !(a <= 1e-8 && b <= 1e-7) {
				t.Errorf("%s: objective off by %.2g, norms by %.2g", name, a, b)
			}
			for _, v := range got.Scores {
				if math.IsNaN(v) {
					t.Fatalf("%s: a norm is not a number", name)
				}
			}
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), factor, opt))(t); !slices.Equal(again.Scores, got.Scores) {
				t.Errorf("%s: workers change bits", name)
			}
		}
	}
}
