package rowsample

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// kinds are the NaNs that stand for missing entries.
var kinds = []float64{math.Float64frombits(stream.NullBits), math.NaN(), math.Float64frombits(stream.InfBits)}

// table is n rows of d columns with missing entries, row groups at the given cuts.
type table struct {
	rows [][]float64
	cuts []int64
}

func newTable(n, d int, seed uint64, cuts ...int64) table {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := table{cuts: cuts}
	for range n {
		row := make([]float64, d)
		for j := range row {
			if row[j] = rng.NormFloat64(); rng.IntN(10) == 0 {
				row[j] = kinds[rng.IntN(3)]
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// keep adds the rows from one position to another, in chunks of the given height.
func (t table) keep(tb testing.TB, s Sample, from, to, height int) {
	tb.Helper()
	for at := from; at < to; at += height {
		h := min(height, to-at)
		c := &stream.Chunk{Start: int64(at), Block: h, Rows: h, Cols: len(t.rows[0]), Stride: h}
		for j := range c.Cols {
			for _, row := range t.rows[at : at+h] {
				c.Data = append(c.Data, row[j])
			}
		}
		must.Do(tb, s.Add(c))
	}
}

func (t table) sample(tb testing.TB, rows int) Sample {
	s := New(len(t.rows[0]), anchor.SamplerOptions{Rows: rows, Seed: 1, Starts: t.cuts})
	t.keep(tb, s, 0, len(t.rows), 100)
	return s
}

// of is a Source of a written sample.
func of(tb testing.TB, b []byte) *Source {
	tb.Helper()
	d := int(binary.LittleEndian.Uint64(b[8:])) // as stored in its head
	return must.Get(OpenSource(d, func() (io.Reader, error) { return bytes.NewReader(b), nil }))(tb)
}

// Parts merged in any order are the sample of the whole, byte for byte, also once they were
// written and read; a part that shares no number with another is told by its values.
func TestPartsAreTheWhole(t *testing.T) {
	cuts := []int64{0, 130, 131, 400, 777}
	tab := newTable(1000, 5, 1, cuts...)
	want := wordstest.EncodeState(t, tab.sample(t, 90))
	for round := range uint64(5) {
		all := New(5, anchor.SamplerOptions{Rows: 90, Seed: 1})
		for _, p := range rand.New(rand.NewPCG(round, 2)).Perm(7) {
			part := New(5, anchor.SamplerOptions{Rows: 90, Seed: 1, Starts: cuts, Bound: anchor.HashBound(90, 1000)})
			tab.keep(t, part, p*1000/7, (p+1)*1000/7, 64)
			read := New(0, anchor.SamplerOptions{})
			wordstest.CheckReread(t, wordstest.EncodeState(t, part), &read)
			must.Do(t, all.Merge(&read))
		}
		if !bytes.Equal(want, wordstest.EncodeState(t, all)) {
			t.Fatal("parts give another sample")
		}
	}
	other := newTable(1000, 5, 2, 0, 50)
	ab, ba := tab.sample(t, 90), other.sample(t, 90)
	must.Do(t, ab.Merge(new(other.sample(t, 90))))
	must.Do(t, ba.Merge(new(tab.sample(t, 90))))
	if !bytes.Equal(wordstest.EncodeState(t, ab), wordstest.EncodeState(t, ba)) {
		t.Error("tables numbered apart: the order of merging matters")
	}
}

// The chunks have the rows of lowest hash, in order, in the blocks of the table, under each
// policy and for some of the columns; a naive twin chooses them.
func TestChunksAreTheDrawnRows(t *testing.T) {
	const d = 4
	h := int64(stream.BlockRows(2)) // 8192
	tab := newTable(30_000, d, 3, 0, 100, 12_000, 29_000)
	b := wordstest.EncodeState(t, tab.sample(t, 2000))
	for _, draw := range []int64{0, 1, 700, 1999, 2000, 5000} {
		for _, policy := range []stream.MissingPolicy{stream.MissingKeep, stream.MissingDropRow} {
			s := of(t, b).WithOptions(Options{
				Columns: []stream.Column{{Name: "x"}, {Name: "y"}}, Index: []int{3, 1}, Draw: draw, Rows: 30_000, Missing: policy,
			})
			var positions []int64
			var missing [2]stream.MissingCount
			next := int64(0)
			for c, err := range s.Chunks(t.Context(), stream.Range{}) {
				must.Do(t, err)
				if c.Start != next {
					t.Fatalf("a block at %d, want %d", c.Start, next)
				}
				next = c.Start + int64(c.Block)
				for j, m := range c.Missing {
					missing[j] = missing[j].Plus(m)
				}
				block := int64(-1)
				for i := range c.Rows {
					p := c.Position(i)
					at, found := slices.BinarySearch(tab.cuts, p)
					if !found {
						at--
					}
					own := tab.cuts[at] + (p-tab.cuts[at])/h*h
					if block < 0 {
						block = own
					}
					if own != block {
						t.Errorf("rows of the blocks at %d and %d are in one", block, own)
					}
					positions = append(positions, p)
					for k, j := range []int{3, 1} {
						if x, want := c.Col(k)[i], tab.rows[p][j]; math.Float64bits(x) != math.Float64bits(want) {
							t.Fatalf("value (%d, %d) is %v, want %v", p, j, x, want)
						}
					}
				}
			}
			if next != 30_000 {
				t.Errorf("blocks end at %d", next)
			}
			want, wantMissing := tab.drawn(draw, 2000, policy, 3, 1)
			if !slices.Equal(positions, want) || missing != wantMissing {
				t.Errorf("draw %d, policy %d: %d rows, missing %v; want %d, %v", draw, policy, len(positions), missing, len(want), wantMissing)
			}
		}
	}
}

// drawn are the positions that a twin draws, in order, and what is missing of two columns.
func (t table) drawn(draw int64, kept int, policy stream.MissingPolicy, columns ...int) (positions []int64, missing [2]stream.MissingCount) {
	order := make([]int64, len(t.rows))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortFunc(order, func(a, b int64) int {
		if splitmix.Hash(1, uint64(a)) < splitmix.Hash(1, uint64(b)) {
			return -1
		}
		return 1
	})
	order = order[:kept]
	if draw > 0 {
		order = order[:min(int(draw), kept)]
	}
	slices.Sort(order)
	for _, p := range order {
		holes := false
		for k, j := range columns {
			if x := t.rows[p][j]; x != x {
				holes = true
				missing[k].Add(x)
			}
		}
		if !holes || policy == stream.MissingKeep {
			positions = append(positions, p)
		}
	}
	return positions, missing
}

// Sparse rows have the entries that are not 0; a pass over part of the rows has those; the
// first missing entry is an error with its place; a pass can be broken off and cancelled.
func TestPasses(t *testing.T) {
	tab := table{rows: [][]float64{{0, 1, 2}, {3, 0, 0}, {0, 0, 0}, {4, 5, 6}}, cuts: []int64{0, 2}}
	options := Options{Columns: []stream.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Index: []int{0, 1, 2}, Rows: 4, Path: "kept.ufs"}
	sparse := options
	sparse.Sparse = true
	b := wordstest.EncodeState(t, tab.sample(t, 4))
	var ptr, index []int
	for c, err := range of(t, b).WithOptions(sparse).Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		ptr = append(ptr, c.Sparse.RowPtr...)
		for _, j := range c.Sparse.Index {
			index = append(index, int(j))
		}
	}
	if !slices.Equal(ptr, []int{0, 2, 3, 0, 0, 3}) || !slices.Equal(index, []int{1, 2, 0, 0, 1, 2}) {
		t.Errorf("sparse rows %v of columns %v", ptr, index)
	}
	s := of(t, b).WithOptions(options)
	if cuts := s.Cuts(); !slices.Equal(cuts, []int64{0, 2, 4}) || s.Rows() != 4 || s.RowCount() != 4 || s.RequestedRows() != 4 || s.Seed() != 1 {
		t.Errorf("cuts %v, %d rows", cuts, s.Rows())
	}
	for c, err := range s.Chunks(t.Context(), stream.Range{From: 2, To: 4}) {
		must.Do(t, err)
		if c.Start != 2 || c.Rows != 2 || c.Position(1) != 3 {
			t.Errorf("rows of the second row group: %+v", c)
		}
	}
	for range s.Chunks(t.Context(), stream.Range{}) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Chunks(ctx, stream.Range{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	tab.rows[3][1] = kinds[2]
	var bad *stream.DataError
	for _, err := range of(t, wordstest.EncodeState(t, tab.sample(t, 4))).WithOptions(options).Chunks(t.Context(), stream.Range{}) {
		if err != nil && (!errors.As(err, &bad) || !errors.Is(err, stream.ErrMissing)) {
			t.Errorf("reading a sample with a missing value: got error %v, want a DataError that wraps ErrMissing", err)
		}
	}
	if bad == nil || bad.Row != 3 || bad.Column != "b" || bad.Path != "kept.ufs" {
		t.Errorf("a missing entry: %+v", bad)
	}
}

// Tables that were numbered apart share positions. No block is higher for that than any other, as
// memory is planned by it, and all rows are delivered once, in order, over all positions.
func TestTablesNumberedApart(t *testing.T) {
	const n, d, tables = 300, 9000, 5
	h := stream.BlockRows(d) // 256
	all := New(d, anchor.SamplerOptions{Rows: n * tables, Seed: 1})
	for seed := range uint64(tables) {
		must.Do(t, all.Merge(new(newTable(n, d, seed, 0).sample(t, n*tables))))
	}
	columns := make([]stream.Column, d)
	index := make([]int, d)
	for j := range index {
		index[j] = j
	}
	s := of(t, wordstest.EncodeState(t, all)).WithOptions(Options{Columns: columns, Index: index, Rows: n * tables, Missing: stream.MissingKeep})
	rows, end, last := 0, int64(0), int64(-1)
	for c, err := range s.Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		if c.Rows > h || c.Start != end || c.Block < 0 || !slices.IsSorted(c.Positions) || c.Positions[0] < last {
			t.Fatalf("a block of %d rows at %d, %d high, after %d", c.Rows, c.Start, c.Block, end)
		}
		rows, end, last = rows+c.Rows, c.Start+int64(c.Block), c.Positions[c.Rows-1]
	}
	if rows != n*tables || end != n*tables {
		t.Errorf("%d rows up to position %d, want %d", rows, end, n*tables)
	}
	if most := 10*int64(h*d) + 100*int64(n*tables+d) + 2*sectionBytes; s.MinMemory() > most {
		t.Errorf("a pass is to hold %d bytes, more than %d", s.MinMemory(), most)
	}
}

// A sample that is cut off, or longer than its rows, ends in an error that names the file.
func TestDamagedSamples(t *testing.T) {
	b := wordstest.EncodeState(t, newTable(50, 3, 4, 0).sample(t, 20))
	options := Options{Columns: []stream.Column{{Name: "a"}}, Index: []int{0}, Rows: 50, Missing: stream.MissingKeep, Path: "kept.ufs"}
	for _, damaged := range [][]byte{b[:len(b)-8], append(bytes.Clone(b), 0)} {
		var bad *stream.DataError
		for _, err := range of(t, damaged).WithOptions(options).Chunks(t.Context(), stream.Range{}) {
			errors.As(err, &bad)
		}
		if bad == nil || bad.Path != "kept.ufs" {
			t.Errorf("%d bytes of %d: %v", len(damaged), len(b), bad)
		}
	}
	for what, open := range map[string]struct {
		d    int
		head []byte
	}{"a head that is cut off": {3, b[:60]}, "a sample of other columns": {4, b}} {
		if _, err := OpenSource(open.d, func() (io.Reader, error) { return bytes.NewReader(open.head), nil }); err == nil {
			t.Errorf("%s is opened", what)
		}
	}
	var tight *stream.MemoryError
	small := New(3, anchor.SamplerOptions{Limit: SampleBytes(19, 3)})
	if _, err := small.ReadFrom(bytes.NewReader(b)); !errors.As(err, &tight) || small.sampler.Len() != 0 {
		t.Errorf("beyond the limit: %v", err)
	}
}

func FuzzSample(f *testing.F) {
	f.Add(wordstest.EncodeState(f, newTable(50, 3, 4, 0, 30).sample(f, 20)))
	f.Add(wordstest.EncodeState(f, newTable(5, 1, 4, 0).sample(f, 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := New(0, anchor.SamplerOptions{Limit: 4 << 20})
		n, err := s.ReadFrom(bytes.NewReader(b))
		if err != nil {
			return
		}
		again := wordstest.EncodeState(t, s)
		if int64(len(again)) != n {
			t.Fatalf("read %d bytes, wrote %d", n, len(again))
		}
		read := New(0, anchor.SamplerOptions{})
		wordstest.CheckReread(t, again, &read)
		must.Do(t, s.Merge(&read))
		src := of(t, again)
		if s.sampler.Columns() == 0 {
			return
		}
		src = src.WithOptions(Options{Columns: []stream.Column{{Name: "a"}}, Index: []int{0}, Draw: 3, Rows: 10, Missing: stream.MissingKeep})
		for _, err := range src.Chunks(t.Context(), stream.Range{}) {
			must.Do(t, err)
		}
	})
}
