package hygiene

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestSentinels: a number again and again, far from all others, and nothing else that data have at their ends.
func TestSentinels(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const n = 500
	every := func(k int, value float64, else_ func(i int) float64) func(i int) float64 {
		return func(i int) float64 {
			if i%k == 3 {
				return value
			}
			return else_(i)
		}
	}
	uniform := func(int) float64 { return 100 * r.Float64() }
	normal := func(int) float64 { return r.NormFloat64() }
	small := func(int) float64 { return float64(r.IntN(5)) }
	both := func(i int) float64 {
		if i%50 == 7 {
			return 9999
		}
		return every(20, -999, uniform)(i)
	}
	for _, x := range []struct {
		name string
		at   func(i int) float64
		want string
	}{
		{"-999", every(20, -999, uniform), "[-999 0.05]"},
		{"9999", every(10, 9999, uniform), "[9999 0.1]"},
		{"1e20", every(20, 1e20, normal), "[1e+20 0.05]"},
		{"both", both, "[-999 0.05][9999 0.02]"},
		{"nines nearby", every(20, 999, func(int) float64 { return 400 * r.Float64() }), "[999 0.05]"},
		{"-32768", every(20, -32768, func(int) float64 { return float64(r.IntN(20_000)) }), "[-32768 0.05]"},
		{"-1 of counts", every(20, -1, func(int) float64 { return float64(r.IntN(50)) }), ""},
		{"99 in range", every(20, 99, func(int) float64 { return float64(r.IntN(120)) }), ""},
		{"one outlier", every(n, 1e6, uniform), ""},
		{"several outliers", func(i int) float64 {
			if i%50 == 0 {
				return 1e6 + float64(i)
			}
			return uniform(i)
		}, ""},
		{"normal", normal, ""},
		{"heavy", func(int) float64 { return math.Exp(3 * r.NormFloat64()) }, ""},
		{"counts", small, ""},
		{"binary", func(int) float64 { return float64(r.IntN(2)) }, ""},
		{"codes", func(int) float64 { return []float64{0, 1, 10}[r.IntN(3)] }, ""},
		{"two codes and 99", every(9, 99, func(int) float64 { return float64(1 + r.IntN(2)) }), ""},
		{"zeros", every(2, 0, func(int) float64 { return 36 + r.Float64() }), ""}, // as counts and doses have
		{"capped", func(int) float64 { return min(100*r.ExpFloat64(), 200) }, ""},
		{"constant", func(int) float64 { return 7 }, ""},
		{"missing", func(int) float64 { return math.NaN() }, ""},
		{"infinite", every(20, math.Inf(1), uniform), ""},
	} {
		tab := &table{label: make([]float64, n)}
		tab.add(x.name, x.at)
		got := ""
		for _, s := range tab.gather(t, 0, n, 64).facts.FindSentinels(nil) {
			got += fmt.Sprintf("[%v %v]", s.Value, s.Share)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// TestEndsOfParts: ends are a function of the rows, whatever the chunks, the parts and their order, and as they are read
// from a file; against all values sorted. Rows behind the first ones count as their keys say.
func TestEndsOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for trial := range 40 {
		n := 1 + r.IntN(400)
		tab := &table{label: make([]float64, n)}
		kinds := 1 + r.IntN(12)
		tab.add("x", func(int) float64 {
			return []float64{float64(r.IntN(kinds)), math.NaN(), math.Inf(-1)}[max(0, r.IntN(12)-9)]
		})
		whole := tab.gather(t, 0, n, 1+r.IntN(n))
		cut := r.IntN(n + 1)
		parts, back := tab.gather(t, 0, cut, 50), tab.gather(t, cut, n, 33)
		must.Do(t, back.facts.Merge(parts.facts))
		parts.merge(t, tab.gather(t, cut, n, 33))
		var stored bytes.Buffer
		must.Get(parts.facts.WriteTo(&stored))(t)
		read := New(1, 1, true)
		must.Get(read.ReadFrom(&stored))(t)
		sorted := slices.DeleteFunc(slices.Clone(tab.cols[0]), func(x float64) bool { return x-x != 0 })
		slices.Sort(sorted)
		want := columnEnds{seen: int64(len(sorted))}
		for _, x := range sorted {
			want.low.addValue(x, 1)
		}
		for _, x := range slices.Backward(sorted) {
			want.high.addValue(-x, 1)
		}
		for what, f := range map[string]*Facts{"whole": whole.facts, "parts": parts.facts, "parts from the end": back.facts, "a file": read} {
			got := columnEnds{}
			if f.ends != nil {
				got = f.ends[0]
			}
			if got != want {
				t.Fatalf("trial %d, %s: %+v, want %+v", trial, what, got, want)
			}
		}
	}
	far := &table{label: make([]float64, firstEndRows+400_000)}
	far.add("x", func(i int) float64 { return float64(i) })
	f := far.gather(t, 0, len(far.label), 5000).facts
	if seen := f.ends[0].seen; seen < firstEndRows+500 || seen > firstEndRows+3_300 { // of 3,125 runs one in 256 is 12.2, within 4 standard deviations of 3.5
		t.Errorf("%d rows are looked at, want about %d", seen, firstEndRows+1_560)
	}
}
