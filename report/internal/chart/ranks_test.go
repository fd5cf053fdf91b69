package chart

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestRankPlotSurvives: any ranks give a plot with every name and no coordinate that is none.
func TestRankPlotSurvives(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5, 40} {
		for _, critical := range []float64{math.NaN(), 0, 0.5, 1e9, math.Inf(1)} {
			r := RankPlot{Title: "ranks", Critical: critical}
			for i := range n {
				r.Names = append(r.Names, fmt.Sprintf("m%02d", i))
				r.Ranks = append(r.Ranks, 1+math.Mod(float64(7*i), float64(n)))
			}
			if n > 2 {
				r.Alike = [][2]int{{0, 1}, {1, n - 1}}
			}
			var svg bytes.Buffer
			must.Do(t, r.WriteSVG(&svg))
			if s := regexp.MustCompile(`NaN|Inf|e\+[0-9]{2,}`).FindString(svg.String()); s != "" {
				t.Errorf("%d methods, critical difference %v: %s", n, critical, s)
			}
			list := texts(t, svg.String())
			for _, name := range r.Names {
				if !slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, name) }) {
					t.Errorf("%d methods: %s is missing in %q", n, name, list)
				}
			}
		}
	}
	for _, bad := range []RankPlot{{Names: []string{"a"}}, {Names: []string{"a"}, Ranks: []float64{1}, Alike: [][2]int{{0, 1}}}} {
		if bad.WriteSVG(io.Discard) == nil {
			t.Errorf("%+v was drawn", bad)
		}
	}
}
