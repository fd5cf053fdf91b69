package print

import (
	"fmt"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestUpTo: a share is below what is said of it, by no more than a step of its second digit.
func TestUpTo(t *testing.T) {
	for _, c := range []struct {
		share stream.Number
		want  string
	}{{0.00384, "0.39%"}, {0.0038, "0.39%"}, {0.0111, "1.2%"}, {0.123, "13%"}, {0, "0.001%"}, {1e-9, "0.001%"}, {0.0000123, "0.002%"}, {0.00399, "0.4%"}, {0.999, "100%"}} {
		if got := percentRoundedUp(c.share); got != c.want {
			t.Errorf("%v: %s, want %s", c.share, got, c.want)
		}
	}
	var above float64
	for x := 1e-5; x < 1; x *= 1.07 {
		if _, err := fmt.Sscanf(percentRoundedUp(stream.Number(x)), "%g%%", &above); err != nil || !(above > 100*x) || above > 111*x+0.001 && !math.Signbit(x) {
			t.Errorf("%v is said to be below %s", x, percentRoundedUp(stream.Number(x)))
		}
	}
}

// TestWorthLine: what is said of other selections than greedy's, and of those that add nothing.
func TestWorthLine(t *testing.T) {
	nan := stream.Number(math.NaN())
	chosen := func(k int, left stream.Number) []stream.Selected {
		list := make([]stream.Selected, k)
		list[k-1].Error = left
		return list
	}
	size := &stream.Size{Recommended: 2, Explained: 0.7, Next: 0.01, Noise: 0.02}
	auto := map[string]any{"k": "auto"}
	groups := []stream.Selected{{Name: "a"}, {Name: "g", Members: []string{"x", "y", "z"}, Error: 0.2}}
	for want, s := range map[string]*stream.Selection{
		"": {Selected: chosen(2, nan)},
		"1 feature explains 60.00% of the sum of squares":                                                                                                                                                               {Selected: chosen(1, 0.4)},
		"3 features explain 50.00% of the variance, each more than noise would":                                                                                                                                         {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5}},
		"3 features explain 50.00% of the variance; of these, the last adds no more than noise (less than 1.1%, and noise up to 2.1%)":                                                                                  {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5, Faint: 1, Last: 1, Most: 0.01, Noise: 0.02}},
		"3 features explain 50.00% of the variance; 2 of these add no more than noise (each less than 1.1%, and noise up to 2.1%)":                                                                                      {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5, Faint: 2, Last: 1, Most: 0.01, Noise: 0.02}},
		"3 features explain 50.00% of the variance; all of these add no more than noise (each less than 1.1%, and noise up to 2.1%)":                                                                                    {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5, Faint: 3, Last: 3, Most: 0.01, Noise: 0.02}},
		"2 features explain 50.00% of the variance; greedy's first 2 explain 70.00%, and from its 3rd on each adds less than 1.1%, no more than noise does (up to 2.1%)":                                                {Method: "align", Options: auto, Selected: chosen(2, 0.5), Size: size, Worth: &stream.Worth{Explained: 0.5}},
		"2 features explain 70.00% of the variance; from the 3rd on each adds less than 3.1%, where noise adds up to 2.1%":                                                                                              {Method: "greedy", Options: auto, Selected: chosen(2, 0.3), Size: &stream.Size{Recommended: 2, Explained: 0.7, Next: 0.03, Noise: 0.02}, Worth: &stream.Worth{Explained: 0.7}},
		"2 features explain 70.00% of the variance; more were not looked at":                                                                                                                                            {Method: "greedy", Options: auto, Selected: chosen(2, 0.3), Size: &stream.Size{Recommended: 2, Explained: 0.7, Next: nan, Noise: nan}, Worth: &stream.Worth{Explained: 0.7}},
		"the 2 chosen, 4 features together, explain 80.00% of the sum of squares; single features: greedy's first 2 explain 70.00%, and from its 3rd on each adds less than 1.1%, no more than noise does (up to 2.1%)": {Options: auto, Selected: groups, Size: size},
		"the 2 chosen, 4 features together, explain 80.00% of the sum of squares":                                                                                                                                       {Selected: groups, Size: size},
	} {
		if got := WorthSentence(s); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}
