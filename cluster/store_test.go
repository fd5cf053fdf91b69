package cluster

import (
	"math"
	"slices"
	"testing"
)

// TestSlack: no screened value is off by more than its slack.
func TestSlack(t *testing.T) {
	for name, x := range kinds(22, 300, 600, 4) {
		st := newStore(1, x)
		if st == nil {
			continue
		}
		s, w := st.layOutScreen(nil, 9), newWorker(st)
		s.setCenters(compact(take(x, sequence(9))))
		for i := 0; i < 300; i += 2 {
			w.batch = append(w.batch, int32(i))
		}
		s.computeValues(w)
		for i, r := range w.batch {
			for j := range s.c {
				got := st.norm[r] + 2*float64(w.values[j*valueRows+i])
				want := naiveSquare(row(x, int(r)), s.paddedCenter(j)[:600]) * st.scale * st.scale
				if slack := float64(s.slack(st.norm[r])); !(math.Abs(got-want) <= slack) {
					t.Fatalf("%s: ‖x − y‖² = %v, screened %v ± %v", name, want, got, slack)
				}
			}
		}
	}
}

// TestStoreKnowsItsRows: isLossless and hasExactSums are set for the right rows.
func TestStoreKnowsItsRows(t *testing.T) {
	want := map[string][2]bool{"doubles": {false, false}, "floats": {true, true}, "integers": {true, true}, "ties": {true, true},
		"far": {false, false}, "very far": {false, true}, "uneven": {false, false}, "constants": {false, false}}
	for name, x := range kinds(23, 900, 6, 4) {
		st := newStore(2, x)
		if w, ok := want[name]; ok && (st.isLossless != w[0] || st.hasExactSums != w[1]) {
			t.Errorf("%s: lossless %v, exact %v", name, st.isLossless, st.hasExactSums)
		}
		if (st == nil) != (name == "too tiny") {
			t.Errorf("%s: store %v", name, st != nil)
		}
		if st == nil {
			continue
		}
		got := make([]float64, 2*st.paddedRowLength())
		for i := 0; i+2 <= 900; i += 2 {
			st.copyPaddedRows(i, 2, got)
			for q := range 2 {
				if !slices.Equal(got[q*st.paddedRowLength():][:6], row(x, i+q)) {
					t.Fatalf("%s: row %d is %v, want %v", name, i+q, got[q*st.paddedRowLength():][:6], row(x, i+q))
				}
			}
		}
	}
}
