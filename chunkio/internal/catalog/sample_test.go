package catalog

import (
	"testing"
)

func TestSamplerKeepsTheNumberAskedFor(t *testing.T) {
	for _, rows := range []int64{1, 2, 1000} {
		for _, n := range []int64{0, 1, 2, 500, 999, 1000, 1001} {
			s := NewSampler(7, n, rows)
			kept := int64(0)
			for i := range rows {
				if s.KeepsRow(i) {
					kept++
				}
			}
			want := min(n, rows)
			if n == 0 {
				want = rows
			}
			if kept != want {
				t.Errorf("%d of %d rows: %d kept", n, rows, kept)
			}
		}
	}
}

// A smaller sample of the same seed lies within a larger one; another seed draws
// other rows.
func TestSamplesAreNestedAndSeeded(t *testing.T) {
	small, large, other := NewSampler(1, 100, 10_000), NewSampler(1, 1000, 10_000), NewSampler(2, 100, 10_000)
	same := 0
	for i := range int64(10_000) {
		if small.KeepsRow(i) && !large.KeepsRow(i) {
			t.Fatalf("row %d is in the smaller sample only", i)
		}
		if small.KeepsRow(i) && other.KeepsRow(i) {
			same++
		}
	}
	// 100 of 10,000 twice: 1 in common is expected, more than 10 has odds below 1e-7.
	if same > 10 {
		t.Errorf("%d of 100 rows drawn by both seeds", same)
	}
}
