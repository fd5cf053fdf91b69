package method

import "testing"

// TestWeights: lists and runs of decades, of numbers and of shares, which are told apart.
func TestWeights(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "0.1, 1,10": "0.1,1,10", "1e-3..1e3": "0.001,0.01,0.1,1,10,100,1000", "2..300": "2,20,200", "0,5..5": "0,5",
		"1e-307..1e-306": "1e-307,1e-306",
		"0.1x":           "0.1x", "0, 0.1x,2": "0,0.1x,2", "1e-3x..1x": "0.001x,0.01x,0.1x,1x", "1..10,0.5x": "1,10,0.5x",
	} {
		var n Weights
		if err := n.Set(in); err != nil || n.String() != want {
			t.Errorf("%q: %s, %v; want %s", in, n.String(), err, want)
		}
	}
	var wide Weights
	if err := wide.Set("1e-300..1e300"); err != nil || len(wide) != 601 || wide[600].Value != 1e300 {
		t.Errorf("%d numbers, %v", len(wide), err)
	}
	for _, in := range []string{
		"", ",", "1,", "x", "-1", "Inf", "NaN", "1..", "..1", "1..10..100", "0..1", "10..1",
		"1xx", "-1x", "1x..10", "1..10x", "0.1X", "NaNx",
	} {
		var n Weights
		if err := n.Set(in); err == nil {
			t.Errorf("%q was taken as %s", in, n.String())
		}
	}
	if o := (Weights{{0.5, false}}).Record(); o != 0.5 {
		t.Errorf("%v is recorded as %v", 0.5, o)
	}
	if o := (Weights{{0.5, true}}).Record(); o != "0.5x" {
		t.Errorf("0.5x is recorded as %v", o)
	}
}
