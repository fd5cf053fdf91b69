package hygiene

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// coded is t with codes in place of the numbers of its label.
func (t *table) coded() *table {
	for i, y := range t.label {
		t.label[i] = float64(splitmix.Hash(5, uint64(y)) >> 11)
	}
	t.codes = true
	return t
}

// TestCodesTellWhatNumbersDo: as long as classes have sums, how a column goes with the label is the same
// whatever the values of the classes are.
func TestCodesTellWhatNumbersDo(t *testing.T) {
	const n = 3000
	for _, classes := range []int{2, 3, 40} {
		numbers, codes := lake(n, classes, 3), lake(n, classes, 3).coded()
		a, b := numbers.gather(t, 0, n, 500).facts.label, codes.gather(t, 0, n, 500).facts.label
		told := 0
		for j, name := range numbers.names {
			if a.describeLeak(j) != "" {
				told++
			}
			if a.describeLeak(j) != b.describeLeak(j) {
				t.Errorf("%d classes, %s: %q of numbers, %q of codes", classes, name, a.describeLeak(j), b.describeLeak(j))
			}
		}
		if told < 2 {
			t.Errorf("%d classes: %d columns tell them", classes, told)
		}
	}
}

// TestCodesOfWideTables: where there are too many columns for sums by class, columns that tell two classes are
// those whose η² says so, and of more classes there is no other one among them.
func TestCodesOfWideTables(t *testing.T) {
	const n, d = 120, maxCells/2 + 1
	for _, classes := range []int{2, 3} {
		r := rand.New(rand.NewPCG(4, uint64(classes)))
		tab := &table{label: make([]float64, n)}
		for i := range tab.label {
			tab.label[i] = float64(i % classes)
		}
		for j := range d {
			noise := float64(j%64) / 64
			tab.add(fmt.Sprint(j), func(i int) float64 { return tab.label[i] + noise*r.NormFloat64() })
		}
		l := tab.coded().gather(t, 0, n, 50).facts.label
		if !l.tooManyClasses {
			t.Fatal("classes have sums")
		}
		told := 0
		for j, col := range tab.cols {
			all, within, _ := tab.spreads(col)
			eta := 1 - within/all.spread(all.xx, all.x, all.x)
			says := l.describeLeak(j)
			if says != "" {
				told++
			}
			// Sums of 120 products are off by less than a part in 10¹².
			if says != "" && (eta < leakShare-1e-12 || !strings.HasPrefix(says, "at least ")) || classes == 2 && says == "" && eta > leakShare+1e-12 {
				t.Fatalf("%d classes, column %d: %q, η² %v", classes, j, says, eta)
			}
		}
		if classes == 2 && told < d/10 {
			t.Errorf("%d columns tell two classes", told)
		}
	}
}

// TestNumbersAndCodesAreNoOneLabel: parts of which one has numbers and another codes know nothing of it, in any
// order, and empty parts are neutral.
func TestNumbersAndCodesAreNoOneLabel(t *testing.T) {
	numbers, codes := lake(400, 2, 9), lake(400, 2, 9).coded()
	a, b, more := numbers.gather(t, 0, 100, 50).facts, codes.gather(t, 100, 200, 50).facts, codes.gather(t, 200, 400, 50).facts
	merged := func(parts ...*Facts) *Facts {
		all := numbers.empty().facts
		for _, p := range parts {
			must.Do(t, all.Merge(p))
		}
		return all
	}
	for _, parts := range [][]*Facts{{a, b, more}, {b, more, a}, {more, a, b}} {
		if all := merged(parts...); all.label != nil {
			t.Error("numbers and codes add up")
		}
	}
	if all := merged(codes.empty().facts, b, codes.empty().facts, more); all.label == nil || !all.label.codes {
		t.Errorf("with empty parts: %+v", all.label)
	}
}
