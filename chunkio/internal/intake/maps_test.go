package intake

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// countedRows returns rows with an object whose keys keep coming, between the given texts, and the object's entries.
func countedRows(rng *rand.Rand, rows, ids int, before, behind string) (text string, want []map[string]float64) {
	var b strings.Builder
	for range rows {
		b.WriteString(before)
		m := map[string]float64{}
		for range rng.IntN(8) {
			key := fmt.Sprintf(`u."%d`, rng.IntN(ids))
			if _, ok := m[key]; ok {
				continue
			}
			m[key] = float64(rng.IntN(9)) / 2
			if rng.IntN(20) == 0 {
				m[key] = format.Null
			}
			if len(m) > 1 {
				b.WriteByte(',')
			}
			if fmt.Fprintf(&b, `"u.\"%s":`, strings.TrimPrefix(key, `u."`)); format.IsNull(m[key]) {
				b.WriteString("null")
			} else {
				fmt.Fprint(&b, m[key])
			}
		}
		b.WriteString(behind + "\n")
		want = append(want, m)
	}
	return b.String(), want
}

// entriesOf are the maps of a column of a file.
func entriesOf(t *testing.T, data []byte, name string) (rows []map[string]float64) {
	t.Helper()
	f, err := parquet.Open(formattest.NewMemory(data), 1<<30)
	formattest.Must(t, err)
	for l, leaf := range f.Leaves() {
		if leaf.Name != name {
			continue
		}
		if leaf.Entries != "double" || !leaf.TextKeys {
			t.Fatalf("%+v is no map of texts to numbers", leaf)
		}
		for g, n := range f.GroupRows() {
			group, err := f.Open(t.Context(), g, []int{l})
			formattest.Must(t, err)
			var keys, values format.Lists
			var names []string
			for from := int64(0); from < n; from += 1000 {
				to := min(n, from+1000)
				names = names[:0]
				formattest.Must(t, group.(format.TextKeyed).DecodeTextKeys(t.Context(), l, from, to, func(key []byte) float64 {
					names = append(names, string(key))
					return float64(len(names) - 1)
				}, &keys))
				formattest.Must(t, group.DecodeLists(t.Context(), l, from, to, &values))
				for i := range to - from {
					m := map[string]float64{}
					for e := keys.Ptr[i]; e < keys.Ptr[i+1]; e++ {
						m[names[int(keys.Values[e])]] = values.Values[e]
					}
					rows = append(rows, m)
				}
			}
		}
	}
	return rows
}

// TestObjectsWithKeysThatAreData: they become maps, inside rows and as whole rows, for any pieces, and whether the
// sample shows it or only later rows.
func TestObjectsWithKeysThatAreData(t *testing.T) {
	for name, c := range map[string]struct {
		rows, ids                 int
		before, behind, first, as string
	}{
		"in the sample":     {3000, 50_000, `{"x":1,"g":{"counts":{`, `},"y":2}}`, "", "g.counts"},
		"the rows":          {3000, 50_000, `{`, `}`, "", RowsMap},
		"behind the sample": {30_000, 50_000, `{"x":1,"counts":{`, `}}`, strings.Repeat(`{"x":1,"counts":{"a":1}}`+"\n", 60_000), "counts"},
		"no object at all":  {3000, 50_000, `{"x":1,"counts":{`, `}}`, strings.Repeat(`{"x":1,"counts":null}`+"\n"+`{"x":1}`+"\n", 10), "counts"},
	} {
		text, want := countedRows(rand.New(rand.NewPCG(9, 9)), c.rows, c.ids, c.before, c.behind)
		text = c.first + text
		for _, memory := range []int64{64 << 20, 1 << 30} {
			out := &scratch{}
			in := Input{Name: "in", Format: NDJSON, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
			table, err := Write(t.Context(), in, out, Options{Threads: 2, Memory: memory})
			formattest.Must(t, err)
			if len(table.Doubts) != 1 || !strings.Contains(table.Doubts[0].Spell(nil), c.as) {
				t.Errorf("%s: doubts %v", name, table.Doubts)
			}
			got := entriesOf(t, out.Bytes(), c.as)
			if len(got) != int(table.Rows) {
				t.Fatalf("%s: %d rows, want %d", name, len(got), table.Rows)
			}
			for i, m := range got[len(got)-len(want):] {
				if fmt.Sprint(m) != fmt.Sprint(want[i]) {
					t.Fatalf("%s: row %d has %v, want %v", name, i, m, want[i])
				}
			}
		}
	}
}

// TestObjectsOfFewKeys stay columns: records with optional members, in any number of rows, are no maps.
func TestObjectsOfFewKeys(t *testing.T) {
	text, _ := countedRows(rand.New(rand.NewPCG(9, 9)), 5000, 300, `{"x":1,"g":{`, `}}`)
	_, table, err := taken(NDJSON, []byte(text), Options{})
	formattest.Must(t, err)
	if len(table.Columns) != 301 || len(table.Doubts) != 0 {
		t.Errorf("%d columns, %v", len(table.Columns), table.Doubts)
	}
}

// TestMapsThatAreNone are errors with their line.
func TestMapsThatAreNone(t *testing.T) {
	text, _ := countedRows(rand.New(rand.NewPCG(9, 9)), 20_000, 50_000, `{"counts":{`, `}}`)
	refuses(t, NDJSON, text+`{"counts":{"u":"x"}}`+"\n", `line 20001: "x" is not a map of numbers`)
	refuses(t, NDJSON, text+`{"counts":5}`+"\n", `line 20001`)
}

// TestGrowingKeysTakeNoSquare: ten times the rows take about ten times the time, and objects within such an object
// are refused at once, as columns of them would be next to empty.
func TestGrowingKeysTakeNoSquare(t *testing.T) {
	text, _ := countedRows(rand.New(rand.NewPCG(9, 9)), 60_000, 1_000_000, `{"counts":{`, `}}`)
	start := time.Now()
	_, table, err := taken(NDJSON, []byte(text), Options{Threads: 2})
	if err == nil && len(table.Columns) != 1 || err != nil && !strings.Contains(err.Error(), "map") {
		t.Errorf("want one column or an error about maps, error %v", err)
	}
	if took := time.Since(start); took > time.Minute { // 0.3 s alone; as columns not in an hour
		t.Errorf("took %v", took)
	}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `{"users":{"u%d":{"age":1},"u%d":{"age":2},"u%d":{"age":3}}}`+"\n", 3*i, 3*i+1, 3*i+2)
	}
	in := Input{Name: "in", Format: NDJSON, Bytes: int64(b.Len()), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }}
	if _, err := Write(t.Context(), in, &scratch{}, Options{Memory: 1 << 30}); err == nil || !strings.Contains(err.Error(), "keys of objects are data") {
		t.Errorf("objects in the object: %v", err)
	}
}

// FuzzMaps: whatever the text, it is taken in or refused.
func FuzzMaps(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[1,2]}}` + "\n" + `{"a":null,"b":null}`))
	f.Add([]byte(`{"a":12345678901234567890123}` + "\n" + `{"a":1.0}` + "\n" + `{"a":{}}`))
	f.Add([]byte(`{"":1,".":{"":2}}`))
	text, _ := countedRows(rand.New(rand.NewPCG(9, 9)), 400, 50_000, `{"c":{`, `}}`)
	f.Add([]byte(text))
	f.Fuzz(func(t *testing.T, data []byte) { survives(NDJSON, data) })
}
