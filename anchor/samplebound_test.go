package anchor

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Parts that share a bound keep few rows more than the whole's sample, and are that sample once they are merged, in
// any order.
func TestBoundedPartsAreTheSampleOfTheWhole(t *testing.T) {
	const n, rows, parts = 20_000, 1000, 8
	tab := clusters(n, 3, 2).holes()
	want := written(t, tab.sampler(t, rows))
	bound := HashBound(rows, n)
	part := make([]*Sampler, parts)
	kept := 0
	for i := range part {
		part[i] = NewSampler(3, SamplerOptions{Rows: rows, Seed: 1, Bound: bound})
		tab.AddRows(t, part[i], i*n/parts, (i+1)*n/parts, 300+i)
		kept += part[i].Len()
	}
	// Of λ = 1000 + 10·√1000 + 50 rows expected, with a deviation of 37: six of them on either side.
	if least, most := 1366-6*37, 1366+6*37; kept < least || kept > most {
		t.Errorf("%d rows in all parts, want about 1366", kept)
	}
	for round := range uint64(4) {
		all := NewSampler(3, SamplerOptions{Rows: rows, Seed: 1})
		for _, i := range rand.New(rand.NewPCG(round, 1)).Perm(parts) {
			must.Do(t, all.Merge(part[i]))
		}
		if !bytes.Equal(want, written(t, all)) {
			t.Fatal("bounded parts give another sample")
		}
		must.Do(t, all.Short(n))
	}
}

// A bound leaves too few rows in none of many tables, and is none where it saves nothing.
func TestBoundLeavesEnough(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		rows := 1 + rng.IntN(50)
		n := int64(rows + rng.IntN(5000))
		bound := HashBound(rows, n)
		s := NewSampler(0, SamplerOptions{Rows: rows, Seed: rng.Uint64(), Bound: bound})
		must.Do(t, s.Add(&stream.Chunk{Block: int(n), Rows: int(n)}))
		if err := s.Short(n); err != nil {
			t.Fatalf("%d of %d rows: %v", rows, n, err)
		}
	}
	for _, c := range [][2]int64{{10, 0}, {10, 10}, {0, 10}, {100, 250}, {10, -1}} {
		if b := HashBound(int(c[0]), c[1]); b != 0 {
			t.Errorf("%d of %d rows: bound %d", c[0], c[1], b)
		}
	}
	var usage *stream.UsageError
	few := NewSampler(0, SamplerOptions{Rows: 10, Seed: 1, Bound: 1})
	must.Do(t, few.Add(&stream.Chunk{Block: 100, Rows: 100}))
	if err := few.Short(100); !errors.As(err, &usage) {
		t.Errorf("%d rows of 10: %v", few.Len(), err)
	}
}

// Rows in order are the table's rows at their positions, with the starts of their row groups, and put into another
// sample they are the same sample.
func TestRowsInOrder(t *testing.T) {
	tab := clusters(500, 3, 7)
	starts := []int64{0, 100, 101, 330}
	s := NewSampler(3, SamplerOptions{Rows: 40, Seed: 3, Starts: starts})
	tab.AddRows(t, s, 0, 500, 64)
	again, last := NewSampler(3, SamplerOptions{Rows: 40, Seed: 3}), int64(-1)
	for _, r := range s.InOrder() {
		if r.Position <= last {
			t.Fatalf("position %d after %d", r.Position, last)
		}
		last = r.Position
		var start int64
		for _, x := range starts {
			if x <= r.Position {
				start = x
			}
		}
		if r.Start != start {
			t.Errorf("row %d is in the group at %d, want %d", r.Position, r.Start, start)
		}
		for j, col := range tab.Cols {
			if r.Values[j] != col[r.Position] {
				t.Errorf("value (%d, %d) is %v", r.Position, j, r.Values[j])
			}
		}
		must.Do(t, again.Put(r))
	}
	if !bytes.Equal(written(t, s), written(t, again)) {
		t.Error("rows put into a sample give another one")
	}
	a, b := s.InOrder(), again.InOrder()
	if !slices.EqualFunc(a, b, func(a, b SampledRow) bool { return a.Position == b.Position && a.Start == b.Start }) {
		t.Error("starts are lost")
	}
	var tight *stream.MemoryError
	small := NewSampler(3, SamplerOptions{Rows: 40, Seed: 3, Limit: SamplerBytes(1, 3)})
	must.Do(t, small.Put(a[0]))
	if err := small.Put(a[1]); !errors.As(err, &tight) || small.Len() != 1 {
		t.Errorf("beyond the limit: %v, %d rows", err, small.Len())
	}
}
