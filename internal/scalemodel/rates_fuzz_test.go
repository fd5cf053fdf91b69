package scalemodel

import (
	"math"
	"testing"
)

// FuzzRates: what a user gives as rates is refused, or leaves all of them to be reckoned with: times from 0 on,
// and speeds above it. Those that are not named stay.
func FuzzRates(f *testing.F) {
	for _, text := range []string{"start=60s", "start=0s,latency=50ms", "machine-bandwidth=1GB", "store-bandwidth=5GB/s, gram=5e9", "scan=NaN", "scan=1e-320", "start=-1s", "part=9223372036854775807ns", "merge=16EB", "x=1", "start", "start=1s,start=2s,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rates, err := DefaultRates().WithOverrides(text)
		if err != nil {
			return
		}
		for i, was := range DefaultRates() {
			r := rates[i]
			if !(r.Value >= 0) || math.IsInf(r.Value, 0) || r.Value == 0 && r.Unit != Seconds && r.Unit != Dollars || r.Source != Given && r != was {
				t.Errorf("%q: %+v of %+v", text, r, was)
			}
			if r.String() == "" {
				t.Errorf("%q: %+v has no words", text, r)
			}
		}
	})
}
