package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

func openTest(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(formattest.OpenFile(t, path), 1<<30)
	formattest.Must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// decodeLeaf decodes all elements of a leaf over all groups, in row ranges of at most step rows.
func decodeLeaf(t testing.TB, f *File, l int, step int64) [][]float64 {
	t.Helper()
	out, err := tryDecodeLeaf(f, l, step)
	formattest.Must(t, err)
	return out
}

func tryDecodeLeaf(f format.File, l int, step int64) ([][]float64, error) {
	ctx := context.Background()
	out := make([][]float64, f.Leaves()[l].Width)
	for g, rows := range f.GroupRows() {
		group, err := f.Open(ctx, g, []int{l})
		if err != nil {
			return nil, err
		}
		defer group.Close()
		for from := int64(0); from < rows; from += step {
			to := min(rows, from+step)
			dst := make([][]float64, len(out))
			for e := range dst {
				dst[e] = make([]float64, to-from)
			}
			if err := group.Decode(ctx, l, from, to, dst); err != nil {
				return nil, err
			}
			for e := range dst {
				out[e] = append(out[e], dst[e]...)
			}
		}
	}
	return out, nil
}

func leafNamed(t testing.TB, f *File, name string) int {
	t.Helper()
	for i, l := range f.leaves {
		if l.Name == name {
			return i
		}
	}
	t.Fatalf("no leaf %q", name)
	return -1
}

// TestMessy compares the decoded messy.parquet with its README.
func TestMessy(t *testing.T) {
	f := openTest(t, fixtures.DatasetPath(t, "messy.parquet"))
	for _, want := range []struct {
		name            string
		typ             string
		nulls, nan, inf int
		lo, hi          float64 // smallest and largest finite value; both 0: not said
	}{
		{name: "id", typ: "int64", lo: 1000000000000, hi: 1000000000000 + 3*4999},
		{name: "flag", typ: "bool", nulls: 251, lo: 0, hi: 1},
		{name: "price", typ: "decimal(10,2)", nulls: 184, lo: -5991.76, hi: 14968.96},
		{name: "temp_f", typ: "float", nulls: 142, nan: 94, inf: 64},
		{name: "d_clean", typ: "double"},
		{name: "d_messy", typ: "double", nulls: 478, nan: 50, inf: 23},
		{name: "i16", typ: "int16", nulls: 97, lo: -32768, hi: 32767},
		{name: "u32", typ: "uint32", hi: 4294967295},
		{name: "u64_big", typ: "uint64", nulls: 39},
		{name: "huge", typ: "double", nulls: 49},
		{name: "const_col", typ: "int32", lo: 7, hi: 7},
		{name: "null_col", typ: "double", nulls: 5000},
		{name: "late_f", typ: "float", nulls: 4096},
		{name: "weird name.col", typ: "int8", lo: 0, hi: 1},
		{name: "geo.lat", typ: "double"},
		{name: "geo.lon", typ: "double"},
		{name: "label", typ: "int32", lo: 0, hi: 2},
	} {
		i := leafNamed(t, f, want.name)
		l := f.leaves[i]
		if l.Type != want.typ || l.Why != "" || l.Width != 1 || l.Nulls != int64(want.nulls) {
			t.Errorf("%s: leaf %+v", want.name, l)
		}
		nulls, nan, inf, lo, hi := 0, 0, 0, math.Inf(1), math.Inf(-1)
		x := decodeLeaf(t, f, i, 5000)[0]
		for _, v := range x {
			switch {
			case format.IsNull(v):
				nulls++
			case math.IsNaN(v):
				nan++
			case math.IsInf(v, 0):
				inf++
			default:
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		if len(x) != 5000 || nulls != want.nulls || nan != want.nan || inf != want.inf {
			t.Errorf("%s: %d rows, %d nulls, %d NaN, %d Inf", want.name, len(x), nulls, nan, inf)
		}
		if want.hi != 0 && hi != want.hi || want.lo != 0 && lo != want.lo {
			t.Errorf("%s: range %v..%v, want %v..%v", want.name, lo, hi, want.lo, want.hi)
		}
		if want.name == "u64_big" && lo < 1<<63 {
			t.Errorf("u64_big: smallest value %v was read as signed", lo)
		}
		if (nan > 0 || inf > 0) && !l.MaybeNaN {
			t.Errorf("%s: maybeNaN is not set", want.name)
		}
	}
	for name, why := range map[string]string{"ts": "timestamp", "category": "text", "day": "date", "vals": "lists of varying length"} {
		if l := f.leaves[leafNamed(t, f, name)]; !strings.HasPrefix(l.Why, why) || l.Width != 0 || l.Refused {
			t.Errorf("%s: leaf %+v", name, l)
		}
	}
	a, b := decodeLeaf(t, f, leafNamed(t, f, "d_clean"), 5000)[0], decodeLeaf(t, f, leafNamed(t, f, "d_clean_affine"), 5000)[0]
	for i := range a {
		if b[i] != 1-2*a[i] {
			t.Fatalf("row %d: d_clean %v, d_clean_affine %v", i, a[i], b[i])
		}
	}
}

func TestMessyLists(t *testing.T) {
	f := openTest(t, fixtures.DatasetPath(t, "messy.parquet"))
	emb := leafNamed(t, f, "emb")
	if l := f.leaves[emb]; l.Width != 16 || !l.List || l.Why != "" || l.Type != "list<float>" || l.Nulls != 0 {
		t.Fatalf("emb: leaf %+v", l)
	}
	fixed := decodeLeaf(t, f, emb, 5000)
	free, err := allLists(f, emb, 5000)
	formattest.Must(t, err)
	for i := range 5000 {
		for j := range 16 {
			if fixed[j][i] != free.Values[free.Ptr[i]+j] {
				t.Fatalf("emb row %d element %d differs", i, j)
			}
		}
	}
	// Both ways in parts on one group, which keeps the starts of the pages.
	group, err := f.Open(context.Background(), 0, nil)
	formattest.Must(t, err)
	for _, from := range []int64{100, 2000} {
		dst, part := make([][]float64, 16), new(format.Lists)
		dst[3] = make([]float64, 1)
		formattest.Must(t, errors.Join(group.Decode(context.Background(), emb, from, from+1, dst), group.DecodeLists(context.Background(), emb, from, from+1, part)))
		if want := fixed[3][from]; dst[3][0] != want || part.Values[3] != want {
			t.Fatalf("row %d: %v and %v, want %v", from, dst[3][0], part.Values[3], want)
		}
	}
	vals, err := allLists(f, leafNamed(t, f, "vals"), 5000)
	formattest.Must(t, err)
	var null, empty, missing int
	for i := range 5000 {
		list := vals.Values[vals.Ptr[i]:vals.Ptr[i+1]]
		switch {
		case vals.Null[i]:
			null++
		case len(list) == 0:
			empty++
		}
		for _, x := range list {
			if format.IsNull(x) {
				missing++
				break
			}
		}
	}
	if null != 255 || empty != 482 || missing != 677 {
		t.Errorf("vals: %d null, %d empty, %d with a null element; want 255, 482, 677", null, empty, missing)
	}
}

// allLists reads a list leaf in row ranges of at most step rows.
func allLists(f *File, l int, step int64) (*format.Lists, error) {
	all, part := &format.Lists{Ptr: []int{0}}, new(format.Lists)
	for g, rows := range f.rows {
		group, err := f.Open(context.Background(), g, nil)
		if err != nil {
			return nil, err
		}
		for from := int64(0); from < rows; from += step {
			if err := group.DecodeLists(context.Background(), l, from, min(rows, from+step), part); err != nil {
				return nil, err
			}
			for _, p := range part.Ptr[1:] {
				all.Ptr = append(all.Ptr, len(all.Values)+p)
			}
			all.Values = append(all.Values, part.Values...)
			all.Null = append(all.Null, part.Null...)
		}
	}
	return all, nil
}

// TestSplits decodes every leaf whole and in ranges: the bits must be the same.
func TestSplits(t *testing.T) {
	f := openTest(t, fixtures.DatasetPath(t, "messy.parquet"))
	for i, l := range f.leaves {
		if l.List && l.Why != "" {
			whole, err := allLists(f, i, 5000)
			formattest.Must(t, err)
			for _, step := range []int64{1, 7, 1000, 2047} {
				if step == 1 && !long.IsOn() {
					continue
				}
				split, err := allLists(f, i, step)
				formattest.Must(t, err)
				if !equalBits(whole.Values, split.Values) || !slices.Equal(whole.Ptr, split.Ptr) {
					t.Errorf("%s differs in ranges of %d", l.Name, step)
				}
			}
			continue
		}
		if l.Why != "" {
			continue
		}
		whole := decodeLeaf(t, f, i, 5000)
		for _, step := range []int64{97, 1000, 2047} {
			split := decodeLeaf(t, f, i, step)
			for e := range whole {
				if !equalBits(whole[e], split[e]) {
					t.Errorf("%s element %d differs in ranges of %d", l.Name, e, step)
				}
			}
		}
	}
}

func equalBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestDatasets decodes a few leaves of every dataset and compares their nulls with the footer's counts.
func TestDatasets(t *testing.T) {
	for _, name := range []string{
		"coil20", "orl", "usps", "isolet", "warppie10p", "mnist10k", "prostate_ge", "basehock", "basehock_sparse",
	} {
		f := openTest(t, fixtures.DatasetPath(t, name+".parquet"))
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			i := random.IntN(len(f.leaves))
			l := f.leaves[i]
			if l.Why != "" {
				if name != "basehock_sparse" {
					t.Errorf("%s: %s is left out: %s", name, l.Name, l.Why)
				}
				continue
			}
			nulls := int64(0)
			for _, x := range decodeLeaf(t, f, i, math.MaxInt32)[0] {
				if format.IsNull(x) {
					nulls++
				}
			}
			if nulls != l.Nulls {
				t.Errorf("%s: %s has %d nulls, the footer says %d", name, l.Name, nulls, l.Nulls)
			}
		}
	}
}

// TestConcurrentDecode decodes one group from many goroutines, in parts: the marks of
// the pages and the scratch memory are shared.
func TestConcurrentDecode(t *testing.T) {
	f := openTest(t, fixtures.DatasetPath(t, "mnist10k.parquet"))
	group, err := f.Open(context.Background(), 1, nil)
	formattest.Must(t, err)
	defer group.Close()
	rows := f.rows[1]
	var work errgroup.Group
	for w := range 8 {
		work.Go(func() error {
			for i := range 40 {
				l := 300 + (i+w/2)%40
				whole, part := make([]float64, rows), make([]float64, rows/2)
				err := errors.Join(
					group.Decode(context.Background(), l, 0, rows, [][]float64{whole}),
					group.Decode(context.Background(), l, rows-rows/2, rows, [][]float64{part}),
				)
				if err != nil {
					return err
				}
				if !equalBits(whole[rows-rows/2:], part) {
					return fmt.Errorf("leaf %d differs in parts", l)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Errorf("decoding in parallel: %v", err)
	}
}

func TestDecodeCancelled(t *testing.T) {
	f := openTest(t, fixtures.DatasetPath(t, "messy.parquet"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g, err := f.Open(ctx, 0, nil)
	formattest.Must(t, err)
	err = g.Decode(ctx, 0, 0, 10, [][]float64{make([]float64, 10)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("decoding went on after cancellation: %v", err)
	}
}
