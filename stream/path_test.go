package stream

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestPathRoundTrip: documents read back byte for byte, and one form is not taken for the
// other.
func TestPathRoundTrip(t *testing.T) {
	curve := Curve{Method: "greedy", Points: []CurvePoint{{K: 1, Name: "<a>\n", Score: 2, Error: 0.1, Explained: 0.9}, {K: 2, Name: "b", Score: Number(math.NaN()), Explained: 1}}}
	grid := Grid{Method: "fufs", Version: "v1", Inputs: []Input{{Path: "a", Rows: 1}}, Recommended: -1, Settings: []GridSetting{{Alpha: Number(math.NaN()), Gamma: 1e-3, Selected: []string{"a"}}}}
	var c, g, again bytes.Buffer
	must.Do(t, curve.Encode(&c))
	must.Do(t, grid.Encode(&g))
	back, err := DecodeCurve(strings.NewReader(c.String()))
	if err != nil || back.Inputs == nil || back.Encode(&again) != nil || again.String() != c.String() {
		t.Errorf("%v: %s\nwas %s", err, again.String(), c.String())
	}
	again.Reset()
	settings, err := DecodeGrid(strings.NewReader(g.String()))
	if err != nil || settings.Encode(&again) != nil || again.String() != g.String() {
		t.Errorf("%v: %s\nwas %s", err, again.String(), g.String())
	}
	if _, err := DecodeCurve(&g); err == nil || !strings.Contains(err.Error(), GridSchema) {
		t.Errorf("a grid as a curve: %v", err)
	}
	if _, err := DecodeGrid(&c); err == nil || !strings.Contains(err.Error(), CurveSchema) {
		t.Errorf("a curve as a grid: %v", err)
	}
}
