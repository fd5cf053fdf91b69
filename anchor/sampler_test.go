package anchor

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The sample has the rows with the lowest hashes and their values, wherever chunks end.
func TestSamplerIsTheRowsOfLowestHash(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 200} {
		tab := clusters(max(n, 1), 4, 1).holes()
		order := rand.New(rand.NewPCG(1, 1)).Perm(n)
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Compare(splitmix.Hash(1, uint64(a)), splitmix.Hash(1, uint64(b)))
		})
		for _, height := range []int{1, 7, 64, 200} {
			s := NewSampler(4, SamplerOptions{Rows: 10, Seed: 1})
			tab.AddRows(t, s, 0, n, height)
			if s.Len() != min(n, 10) {
				t.Fatalf("%d rows of %d", s.Len(), n)
			}
			c := s.Draw(s.Len())
			for i := range s.Len() {
				if c.Position(i) != int64(order[i]) {
					t.Fatalf("n=%d height=%d: row %d is at %d, want %d", n, height, i, c.Position(i), order[i])
				}
				for j, col := range tab.Cols {
					if x, want := c.Col(j)[i], col[order[i]]; x != want && (x == x || want == want) {
						t.Fatalf("n=%d height=%d: value (%d, %d) is %v, want %v", n, height, i, j, x, want)
					}
				}
			}
		}
	}
}

// Seven shards merged in any order, and any smaller sample cut from a larger one, are
// the sample of the whole.
func TestSamplerMergesExactly(t *testing.T) {
	tab := clusters(500, 3, 2).holes()
	want := written(t, tab.sampler(t, 40))
	for round := range 5 {
		parts := rand.New(rand.NewPCG(uint64(round), 1)).Perm(7)
		all := NewSampler(3, SamplerOptions{Rows: 40 + round, Seed: 1})
		for _, p := range parts {
			part := NewSampler(3, SamplerOptions{Rows: 40, Seed: 1})
			tab.AddRows(t, part, p*500/7, (p+1)*500/7, 64)
			before := written(t, part)
			must.Do(t, all.Merge(part))
			if !bytes.Equal(before, written(t, part)) {
				t.Fatal("merging changed the other sample")
			}
		}
		if !bytes.Equal(want, written(t, all)) {
			t.Fatalf("shards in order %v give another sample", parts)
		}
	}
	large, small := tab.sampler(t, 90).Draw(40), tab.sampler(t, 40).Draw(40)
	if !slices.Equal(large.Positions, small.Positions) {
		t.Error("a smaller sample is not the start of a larger one")
	}
}

// Positions count dropped rows; sparse rows give the same sample as dense ones.
func TestSamplerTakesDroppedAndSparseRows(t *testing.T) {
	tab, sparse := clusters(60, 5, 3).thinned(3)
	if !bytes.Equal(written(t, tab.sampler(t, 20)), written(t, sparse.sampler(t, 20))) {
		t.Error("sparse rows give another sample")
	}
	dropped := tab.Chunk(10, 20)
	dropped.Start, dropped.Block, dropped.Positions = 0, 50, []int64{3, 5, 8, 13, 21, 22, 23, 30, 40, 49}
	s := NewSampler(5, SamplerOptions{Rows: 4, Seed: 9})
	for _, c := range []*stream.Chunk{dropped, {Start: 50, Block: 3, Cols: 5}} {
		must.Do(t, s.Add(c))
	}
	for _, p := range s.Draw(4).Positions {
		if !slices.Contains(dropped.Positions, p) {
			t.Errorf("no row is at %d", p)
		}
	}
}

// Every row is equally likely: of 2,000 samples of 5 of 20 rows each row is in 500, with a
// deviation of √(2000·¼·¾) = 19; six deviations happen once in 10⁹.
func TestSamplerIsUniform(t *testing.T) {
	tab := clusters(20, 1, 4)
	var count [20]int
	for seed := range uint64(2000) {
		s := NewSampler(1, SamplerOptions{Rows: 5, Seed: seed})
		tab.AddRows(t, s, 0, 20, 20)
		for _, p := range s.Draw(5).Positions {
			count[p]++
		}
	}
	for p, n := range count {
		if n < 500-6*20 || n > 500+6*20 {
			t.Errorf("row %d was drawn %d times of 500", p, n)
		}
	}
}

// Tables numbered apart may share positions: the order of merging does not matter.
func TestSamplerTellsEqualPositionsByValue(t *testing.T) {
	a, b := clusters(30, 3, 5), clusters(30, 3, 6)
	ab, ba := a.sampler(t, 9), b.sampler(t, 9)
	must.Do(t, errors.Join(ab.Merge(b.sampler(t, 9)), ba.Merge(a.sampler(t, 9))))
	if !bytes.Equal(written(t, ab), written(t, ba)) {
		t.Error("the order of merging matters")
	}
}

func TestSamplerRefuses(t *testing.T) {
	tab := clusters(30, 3, 5)
	s := tab.sampler(t, 9)
	before := written(t, s)
	var usage *stream.UsageError
	var tight *stream.MemoryError
	if err := s.Merge(NewSampler(3, SamplerOptions{Seed: 2})); !errors.As(err, &usage) {
		t.Errorf("another seed: %v", err)
	}
	if err := s.Merge(NewSampler(2, SamplerOptions{Seed: 1})); err == nil {
		t.Error("other columns are merged")
	}
	if err := s.Add(clusters(3, 2, 1).Chunk(0, 3)); err == nil {
		t.Error("other columns are added")
	}
	if !bytes.Equal(before, written(t, s)) {
		t.Error("an error changed the sample")
	}
	s = NewSampler(3, SamplerOptions{Rows: 9, Limit: SamplerBytes(9, 3)})
	tab.AddRows(t, s, 0, 30, 30)
	s = NewSampler(3, SamplerOptions{Rows: 10, Limit: SamplerBytes(9, 3)})
	if err := s.Add(tab.Chunk(0, 30)); !errors.As(err, &tight) || s.Len() != 0 {
		t.Errorf("beyond the limit: %v, %d rows", err, s.Len())
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		asked     int
		rows      int64
		neighbors int
		want      int // 0: an error
	}{
		{0, 6, 5, 6}, {0, 5, 5, 0}, {0, 0, 5, 0}, {0, 1999, 5, 1999}, {0, 2000, 5, 2000}, {0, 2001, 5, 2000},
		{0, 1 << 40, 5, 2000}, {0, 1 << 40, 2000, 0},
		{6, 6, 5, 6}, {7, 6, 5, 0}, {5, 100, 5, 0}, {6, 100, 0, 0}, {-1, 100, 5, 0},
	} {
		m, err := Count(c.asked, c.rows, c.neighbors)
		var usage *stream.UsageError
		if m != c.want || (err != nil) != (c.want == 0) || err != nil && !errors.As(err, &usage) {
			t.Errorf("Count(%d, %d, %d) = %d, %v, want %d", c.asked, c.rows, c.neighbors, m, err, c.want)
		}
	}
	for _, c := range []struct {
		m, d  int
		bytes int64
		want  int
	}{{500, 10, 1 << 40, 10_000}, {2000, 10, 1 << 40, 20_000}, {500, 100, 2 * 928 * 3000, 3000}, {500, 100, 0, 500}} {
		if got := SampleRows(c.m, c.d, c.bytes); got != c.want {
			t.Errorf("%+v: %d rows", c, got)
		}
	}
}
