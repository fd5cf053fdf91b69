package where

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// table is random data by row, by column; keys are the same in all rows.
func table(rng *rand.Rand, rows int) [][]any {
	data := make([][]any, rows)
	narrow := rng.IntN(2) == 0
	few := make([][]any, len(columns))
	for j, c := range columns {
		for range 1 + rng.IntN(3) {
			few[j] = append(few[j], c.random(rng))
		}
	}
	nulls := make([]int, len(columns)) // of 10 rows, so many are null
	for j := range nulls {
		nulls[j] = pick(rng, 0, 3, 10)
	}
	for i := range data {
		data[i] = make([]any, len(columns))
		for j, c := range columns {
			switch {
			case c.kind.IsKey() && i > 0:
				data[i][j] = data[0][j]
			case rng.IntN(10) < nulls[j]:
			case narrow:
				data[i][j] = pick(rng, few[j]...)
			default:
				data[i][j] = c.random(rng)
			}
		}
	}
	return data
}

// evaluate runs Rows over the table, given the state known beforehand.
func evaluate(t *testing.T, rng *rand.Rand, b *Bound, r *Rows, s State, data [][]any) []bool {
	r.Reset(s, len(data))
	for _, name := range b.NeededColumns(s) {
		j := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		c := columns[j]
		switch {
		case c.kind.IsKey():
			t.Fatalf("the key %s is needed though it was given", name)
		case c.kind.IsNumeric():
			values := make([]float64, len(data))
			for i := range data {
				values[i] = asNumber(data[i][j])
			}
			r.AddNumbers(name, values)
		default:
			feedTexts(t, rng, r, name, j, data)
		}
	}
	bits := make([]uint64, (len(data)+63)/64)
	r.MarkSkipped(bits)
	stays := make([]bool, len(data))
	for i := range data {
		stays[i] = bits[i/64]>>(i%64)&1 == 0
	}
	if n := len(data) % 64; n > 0 && bits[len(bits)-1]>>n != 0 {
		t.Fatal("bits beyond the last row are set")
	}
	return stays
}

// feedTexts hands a column over in batches, with a dictionary for some of its values.
func feedTexts(t *testing.T, rng *rand.Rand, r *Rows, name string, j int, data [][]any) {
	list := &text.List{}
	known := map[string]int32{}
	add := func(v []byte) int32 {
		list.Text = append(list.Text, v...)
		return int32(list.EndValue())
	}
	dictionary := rng.IntN(2) == 0
	for i := range data {
		if v := data[i][j]; dictionary && v != nil && len(known) < 3 {
			w := written(v, columns[j].kind)
			if _, ok := known[string(w)]; !ok {
				known[string(w)] = add(w)
			}
		}
	}
	list.Fixed = len(list.Ends)
	for at := 0; at < len(data); {
		n := min(1+rng.IntN(100), len(data)-at)
		list.Truncate(list.Fixed)
		ids := make([]int32, n)
		for i := range ids {
			v := data[at+i][j]
			if ids[i] = -1; v == nil {
				continue
			}
			w := written(v, columns[j].kind)
			id, ok := known[string(w)]
			if !ok {
				id = add(w)
			}
			ids[i] = id
		}
		if !r.AddTexts(name, 1e9, at, ids, list) {
			t.Fatalf("%s: a value is not understood", name)
		}
		at += n
	}
}

// statistics are true bounds of a column, exact or wider, or none.
func statistics(rng *rand.Rand, j int, data [][]any) format.Bounds {
	b := format.Bounds{Rows: int64(len(data))}
	var low, high any
	for i := range data {
		v := data[i][j]
		if v == nil {
			b.Nulls++
			continue
		}
		if f, ok := v.(float64); ok && f != f {
			continue
		}
		if low == nil || below(v, low) {
			low = v
		}
		if high == nil || below(high, v) {
			high = v
		}
	}
	if rng.IntN(4) == 0 {
		b.Nulls = -1
	}
	if low != nil && rng.IntN(4) > 0 {
		b.Min = bound(low, columns[j].kind)
	}
	if high != nil && rng.IntN(4) > 0 {
		b.Max = bound(high, columns[j].kind)
	}
	if s, ok := low.(string); ok && rng.IntN(2) == 0 { // cut, as long texts are
		b.Min.Text = []byte(s)[:len(s)/2]
	}
	if _, ok := high.(string); ok && rng.IntN(2) == 0 {
		b.Max.Text = append(b.Max.Text, 0xFF)
	}
	return b
}

// The three evaluators agree with the naive twin, row by row: Rows exactly, with or without the decisions of keys and
// statistics beforehand; and keys and statistics never claim falsely that no row or every row matches.
func TestEvaluatorsAgreeWithTheTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	never, always, some := 0, 0, 0
	for range 6000 {
		w := randomWish(rng, rng.IntN(4))
		written := w.text(rng)
		parsed, err := condition.Parse(written)
		if err != nil {
			t.Fatalf("%s: parsing the condition: %v", written, err)
		}
		b, err := Bind(parsed, kindOf)
		if err != nil {
			t.Fatalf("%s: binding the condition: %v", written, err)
		}
		r := NewRows(b)
		data := table(rng, pick(rng, 1, 2, 63, 64, 65, 300))
		want, matches := make([]bool, len(data)), 0
		for i, row := range data {
			if want[i] = w.verdict(row) == IsTrue; want[i] {
				matches++
			}
		}
		s := b.NewState()
		for j, c := range columns {
			if c.kind.IsKey() {
				value := data[0][j]
				if value == nil {
					b.AddKey(s, c.name, "", true)
				} else {
					b.AddKey(s, c.name, string(writtenKey(value, c.kind)), false)
				}
			}
		}
		check := func(what string) {
			t.Helper()
			switch o := b.Outcome(s); {
			case o.MatchesNone() && matches > 0:
				t.Fatalf("%s: %s exclude %d of %d rows that match", written, what, matches, len(data))
			case o.MatchesAll() && matches < len(data):
				t.Fatalf("%s: %s promise %d rows of which %d match", written, what, len(data), matches)
			case o.MatchesNone():
				never++
			case o.MatchesAll():
				always++
			default:
				some++
			}
			if got := evaluate(t, rng, b, r, s, data); !slices.Equal(got, want) {
				t.Fatalf("%s, with %s: rows %v, want %v; rows are %v", written, what, got, want, data)
			}
		}
		check("keys")
		for j, c := range columns {
			if !c.kind.IsKey() {
				b.AddBounds(s, c.name, statistics(rng, j, data))
			}
		}
		check("statistics")
	}
	if never < 500 || always < 500 || some < 500 {
		t.Errorf("the conditions are too much alike: %d never, %d always, %d sometimes true", never, always, some)
	}
}

func writtenKey(value any, k Kind) []byte {
	switch k.Class {
	case KeyNumber:
		return append(written(value, k), ".0"...)
	case KeyTime: // as in the log of a Delta table
		return bytes.Replace(bytes.TrimSuffix(written(value, k), []byte("Z")), []byte("T"), []byte(" "), 1)
	}
	return written(value, k)
}

// Integers beyond 2^53 reach Rows rounded; no comparison that Bind allows can notice that.
func TestLargeIntegersAreExact(t *testing.T) {
	for _, text := range []string{"i > 9007199254740991", "i >= 9007199254740990.5", "i == 9007199254740991"} {
		b := must.Get(Bind(must.Get(condition.Parse(text))(t), kindOf))(t)
		r := NewRows(b)
		values := []float64{1<<53 - 2, 1<<53 - 1, 1 << 53, float64(int64(1<<53 + 1))}
		r.Reset(b.NewState(), len(values))
		r.AddNumbers("i", values)
		bits := make([]uint64, 1)
		r.MarkSkipped(bits)
		want := map[string]uint64{"i > 9007199254740991": 0b0011, "i >= 9007199254740990.5": 0b0001, "i == 9007199254740991": 0b1101}[text]
		if bits[0] != want {
			t.Errorf("%s: %04b, want %04b", text, bits[0], want)
		}
	}
}
