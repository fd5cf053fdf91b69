package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/stream"
)

// anyColumn is Options.Exact of all columns.
func anyColumn(string) bool { return true }

// named is the name and the kind of a column.
type named struct {
	name string
	kind Kind
}

func kindsOf(columns []Column) (list []named) {
	for _, c := range columns {
		list = append(list, named{c.Name, c.Kind})
	}
	return list
}

// scratch is an Output in memory.
type scratch struct{ bytes.Buffer }

func (s *scratch) Restart() error {
	s.Reset()
	return nil
}

// taken is the result of an input: a line of names, types and values for each column.
func taken(format Format, data []byte, opt Options) (lines []string, table *Table, err error) {
	if opt.Memory == 0 {
		opt.Memory = 1 << 30
	}
	out := &scratch{}
	in := Input{Name: "in", Format: format, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, At: bytes.NewReader(data)}
	table, err = Write(context.Background(), in, out, opt)
	if err != nil {
		return nil, nil, err
	}
	f, err := parquet.Open(formattest.NewMemory(out.Bytes()), 1<<30)
	if err != nil {
		return nil, nil, err
	}
	for i, l := range f.Leaves() {
		rows := []string{}
		if table.Rows > 0 {
			if rows, err = formattest.AllTexts(f, i, 1<<20); err != nil {
				return nil, nil, err
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", l.Name, l.Type, strings.ReplaceAll(strings.Join(rows, "|"), formattest.NoName, "null")))
	}
	return lines, table, nil
}

// wants compares the result of an input with the wanted columns.
func wants(t *testing.T, format Format, text string, opt Options, want ...string) {
	t.Helper()
	got, _, err := taken(format, []byte(text), opt)
	if err != nil {
		t.Errorf("%.60q: writing fails: %v", text, err)
	} else if !slices.Equal(got, want) {
		t.Errorf("%.60q: %q, want %q", text, got, want)
	}
}

// refuses wants an error about the data that contains a text.
func refuses(t *testing.T, format Format, text, says string) {
	t.Helper()
	_, _, err := taken(format, []byte(text), Options{})
	if d := (*stream.DataError)(nil); !errors.As(err, &d) || !strings.Contains(err.Error(), says) {
		t.Errorf("%.60q: %v, want a DataError with %q", text, err, says)
	}
}

func TestCSV(t *testing.T) {
	exact := Options{Exact: anyColumn}
	wants(t, CSV, "a,b\n1,2.5\n-3,NA\n", exact, "a int64: 1|-3", "b double: 2.5|null")
	wants(t, CSV, "a,b\n1,2.5\n-3,NA\n", Options{}, "a double: 1|-3", "b double: 2.5|null")
	wants(t, CSV, "\xEF\xBB\xBFa;b\r\n1;x\r\n2;\"y;\"\"\r\nz\"\r\n", exact, "a int64: 1|2", "b string: x|y;\"\nz")
	wants(t, TSV, "a\tb\n1, \ttrue\n\tFALSE\n", exact, "a string: 1, |null", "b bool: true|false")
	wants(t, CSV, "a|b\n 7 |2026-01-31\n8|\n", exact, "a int64: 7|8", "b date: 2026-01-31|null")
	wants(t, CSV, "a,b\n2026-01-31 10:11:12.5,2026-01-31T10:11Z\nnull,2026-01-31T10:11:00+02:00\n", exact,
		"a timestamp: 2026-01-31T10:11:12.5|null", "b timestamp: 2026-01-31T10:11:00Z|2026-01-31T08:11:00Z")
	wants(t, CSV, "1,2\n3,4.5\n", Options{}, "c0 double: 1|3", "c1 double: 2|4.5")
	wants(t, CSV, "0,1\n3,4.5\n", Options{}, "0 double: 3", "1 double: 4.5") // as pandas names columns
	wants(t, CSV, ",b\n0,5\n", Options{}, "c0 double: 0", "b double: 5")
	// A name that is given is none that another column has.
	wants(t, CSV, ",c0,c1, ,c0_2\n0,1,2,3,4\n", Options{}, "c0_3 double: 0", "c0 double: 1", "c1 double: 2", "c3 double: 3", "c0_2 double: 4")
	wants(t, CSV, "a,b\n", Options{}, "a double: ", "b double: ")
	wants(t, CSV, "a\n0x10\n1_0\n", exact, "a string: 0x10|1_0")
	wants(t, CSV, "a\n1\x00\n2\n", exact, "a string: 1\x00|2")
	wants(t, CSV, "a\n9223372036854775807\n-9223372036854775808\n", exact, "a int64: 9223372036854775807|-9223372036854775808")
	wants(t, CSV, "a\n18446744073709551615\n+9223372036854775808\n7\n", exact, "a string: 18446744073709551615|+9223372036854775808|7")
	wants(t, CSV, "a\n18446744073709551615\n7\n", exact, "a uint64: 18446744073709551615|7")
	wants(t, CSV, "a\n18446744073709551615\n", Options{}, "a string: 18446744073709551615")
	wants(t, CSV, "a\n18446744073709551615\n", Options{Asked: anyColumn}, "a double: 18446744073709552000")
	wants(t, CSV, "a\n-1\n9223372036854775808\n", exact, "a string: -1|9223372036854775808")
	wants(t, CSV, "a\n18446744073709551616\n", exact, "a string: 18446744073709551616")
	named := Options{Exact: func(column string) bool { return column == "a" }}
	wants(t, CSV, "a,b\n9007199254740993,9007199254740993\n", named, "a int64: 9007199254740993", "b double: 9007199254740992")
	wants(t, CSV, "a\n1e3\n-inf\n.5\n", exact, "a double: 1000|-Inf|0.5")
	wants(t, CSV, "a,b\n,\n,\n", exact, "a double: null|null", "b double: null|null")
	wants(t, CSV, "a,a\n1,x\n", exact, "a int64: 1", "a string: x")
	wants(t, CSV, "a,b\n1,2", exact, "a int64: 1", "b int64: 2") // without a last line feed
	wants(t, CSV, "a,b\n\n1,2\n\n", exact, "a int64: 1", "b int64: 2")
}

func TestCSVRefuses(t *testing.T) {
	refuses(t, CSV, "", "no row")
	refuses(t, CSV, "a,b\n1,2\n3\n", "line 3 has 1 field, not 2")
	refuses(t, CSV, "a,b\n1,2\n\"x\ny\",3,4\n", "line 3 has 3 fields")
	refuses(t, CSV, "a,b\n1,5\" pipe\n", "line 2")
	refuses(t, CSV, "a,b\n1,2\n3,\"open\n4,5\n6,7\n", `line 3: extraneous or missing " in quoted-field, in the row that goes on to line`)
	refuses(t, CSV, "a,b\n1,2\n3,\"open\n4,\"x\"\n6,7\n", `line 3: extraneous or missing " in quoted-field, in the row that goes on to line 4`)
	refuses(t, CSV, "\xFF\xFEa\x00,\x00", "UTF-16")
	refuses(t, CSV, "a,b\r1,2\r3,4\r", "carriage return")
	refuses(t, CSV, "a,b\n1,caf\xE9\n", "line 2: the text is not UTF-8")
	refuses(t, CSV, "caf\xE9,b\n1,2\n", "line 1: the text is not UTF-8")
}

// TestDecimalCommas: columns with decimal commas are named; others, including texts that are no number with a point
// in place of the comma, are not.
func TestDecimalCommas(t *testing.T) {
	for text, want := range map[string]string{
		"a;b\n1;3,14\n2;\n3;-1.003,5\n4;7\n": `"b" is text`,
		"a;b\n1;1.2.3\n2;4.5.6\n":            "",
		"a;b\n1;3,14\n2;x\n":                 "",
		"a;b\n1;3,14,15\n":                   "",
	} {
		_, table, err := taken(CSV, []byte(text), Options{})
		formattest.Must(t, err)
		notes := ""
		for _, n := range table.Notes {
			notes += n.Spell(nil)
		}
		if !strings.Contains(notes, want) || want == "" && notes != "" {
			t.Errorf("%q: %q, want %q", text, notes, want)
		}
	}
}

// A row longer than the memory allows is an error that names its line.
func TestLongRows(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	_, _, err := taken(CSV, []byte("a,b\n1,2\n3,"+long+"\n"), Options{Memory: 48 << 20})
	if err == nil || !strings.Contains(err.Error(), "line 3: a row of more than 1.0 MiB") {
		t.Errorf("a row of 3 MiB: error %v, want one that names line 3", err)
	}
	wants(t, CSV, "a,b\n1,y\n3,"+long+"\n", Options{}, "a double: 1|3", "b string: y|"+long)
	open := "a,b\n1,2\n3,\"" + strings.Repeat("4,5\n", 1<<20)
	if _, _, err := taken(CSV, []byte(open), Options{Memory: 48 << 20}); err == nil || !strings.Contains(err.Error(), "line 3: a row of more") {
		t.Errorf("an open quote: error %v, want one that names line 3", err)
	}
	if _, _, err := taken(CSV, []byte("a\n1\n"), Options{Memory: 1 << 20}); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("in 1 MiB: %v", err)
	}
}

// Whole numbers after the sample that are larger than any in it widen a column, too.
func TestWholeNumbersBehindTheSample(t *testing.T) {
	rows := "a,b\n" + strings.Repeat("1,2\n", 300_000) + "18446744073709551615,-2\n"
	_, table, err := taken(CSV, []byte(rows), Options{Exact: anyColumn})
	formattest.Must(t, err)
	if want := []named{{"a", Uint}, {"b", Int}}; !slices.Equal(kindsOf(table.Columns), want) {
		t.Errorf("%v, want %v", table.Columns, want)
	}
}

// rowsText is text of many rows: numbers, a text with line feeds, nulls.
func rowsText(rng *rand.Rand, rows int) string {
	var b strings.Builder
	b.WriteString("x,y,t\n")
	for i := range rows {
		y := fmt.Sprint(rng.IntN(1000))
		if rng.IntN(5) == 0 {
			y = ""
		}
		fmt.Fprintf(&b, "%v,%s,\"%d\n\"\"%s\"\n", rng.Float64(), y, i, strings.Repeat("z", rng.IntN(40)))
	}
	return b.String()
}

// What comes out does not depend on threads, memory (the size of pieces) or how the bytes arrive.
func TestPiecesAndThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := []byte(rowsText(rng, 60_000))
	write := func(opt Options, read func(io.Reader) io.Reader) []byte {
		out := &scratch{}
		in := Input{Name: "in", Format: CSV, Open: func() (io.ReadCloser, error) { return io.NopCloser(read(bytes.NewReader(text))), nil }}
		table, err := Write(t.Context(), in, out, opt)
		formattest.Must(t, err)
		if table.Rows != 60_000 {
			t.Fatalf("%d rows", table.Rows)
		}
		return out.Bytes()
	}
	plain := func(r io.Reader) io.Reader { return r }
	want := write(Options{Threads: 1, Memory: 1 << 30}, plain)
	for _, opt := range []Options{{Threads: 2, Memory: 1 << 30}, {Threads: 8, Memory: 64 << 20}, {Threads: 3, Memory: 48 << 20}} {
		if !bytes.Equal(write(opt, plain), want) {
			t.Errorf("%d threads in %d bytes write another file", opt.Threads, opt.Memory)
		}
	}
	if !bytes.Equal(write(Options{Threads: 2, Memory: 1 << 30}, func(r io.Reader) io.Reader { return &short{r, rng} }), want) {
		t.Error("short reads write another file")
	}
}

// short reads a few bytes at a time.
type short struct {
	from io.Reader
	rng  *rand.Rand
}

func (s *short) Read(p []byte) (int, error) { return s.from.Read(p[:1+s.rng.IntN(len(p))]) }

// A value after the sample widens its column, or is an error with its place.
func TestBehindTheSample(t *testing.T) {
	rows := strings.Repeat("1,2,,true\n", 200_000) // 2 MB
	text := "a,b,n,t\n" + rows + "0.5,x,2026-01-31,maybe\n"
	opt := Options{Exact: anyColumn, MayBeText: func(column string) bool { return column == "b" || column == "t" }}
	_, table, err := taken(CSV, []byte(text), opt)
	formattest.Must(t, err)
	want := []named{{"a", Float}, {"b", Text}, {"n", Date}, {"t", Text}}
	if !slices.Equal(kindsOf(table.Columns), want) || table.Rows != 200_001 {
		t.Errorf("%v, %d rows", table.Columns, table.Rows)
	}
	refuses(t, CSV, text, "line 200002")
	refuses(t, CSV, "a,b,n,t\n"+rows+"1,x,,true\n", `column "b"`)
	// Of columns that share a name nobody asks for numbers.
	_, table, err = taken(CSV, []byte("a,b,b,t\n"+rows+"1,x,,true\n"), Options{})
	formattest.Must(t, err)
	if want := []named{{"a", Float}, {"b", Text}, {"b", Float}, {"t", Bool}}; !slices.Equal(kindsOf(table.Columns), want) {
		t.Errorf("%v, want %v", table.Columns, want)
	}
	in := Input{Name: "in", Format: CSV, Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	if _, err := Write(t.Context(), in, &scratch{}, Options{Exact: anyColumn, Memory: 1 << 30}); err == nil || !strings.Contains(err.Error(), "line 200002") {
		t.Errorf("read once: %v", err)
	}
}

func TestNDJSON(t *testing.T) {
	exact := Options{Exact: anyColumn}
	wants(t, NDJSON, `{"a":1,"b":{"c":2.5,"d":"x"},"e":[1,2],"f":null,"g":true}
{"e":[3,4],"a":-7,"h":"2026-01-31"}

{"b":{"d":"\u00e9\n"}}
`, exact, "a int64: 1|-7|null", "b.c double: 2.5|null|null", "b.d string: x|null|é\n", "e[0] int64: 1|3|null", "e[1] int64: 2|4|null",
		"f double: null|null|null", "g bool: true|null|null", "h date: null|2026-01-31|null")
	wants(t, NDJSON, "{\"a\":9007199254740993,\"b\":9223372036854775808}\n", exact, "a int64: 9007199254740993", "b uint64: 9223372036854775808")
	wants(t, NDJSON, "{\"a\":\"1\"}\r\n{\"a\":\"\"}\r\n", exact, "a string: 1|")
	wants(t, NDJSON, "{\"a.b\\\"\":1}", exact, "a.b\" int64: 1")
	wants(t, NDJSON, "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":[]}\n", exact, "a string: 1|x|null")
	refuses(t, NDJSON, "", "no column")
	refuses(t, NDJSON, "{}\n{}\n", "no column")
	refuses(t, NDJSON, `[{"a":1}]`, "line 1: no object")
	refuses(t, NDJSON, "{\"a\":1}\n7\n", "line 2: no object")
	refuses(t, NDJSON, "{\"a\":1}\n{\"a\":\n", "line")
	refuses(t, NDJSON, "{\"a\":1}\n{\"a\" 2}\n", "line 2")
	refuses(t, NDJSON, "{\"a\":1}\n{\"a\":2,\"a\":3}\n", "twice")
	refuses(t, NDJSON, "{\"a\":1}{\"a\":2}\n{\"a\":3}{\"a\":3}{\"a\":3}\n", "two objects")
	// A member that the sample has not.
	text := strings.Repeat("{\"a\":1}\n", 200_000) + "{\"b\":2}\n"
	_, table, err := taken(NDJSON, []byte(text), exact)
	formattest.Must(t, err)
	if want := []named{{"a", Int}, {"b", Int}}; !slices.Equal(kindsOf(table.Columns), want) || table.Rows != 200_001 {
		t.Errorf("%v, %d rows", table.Columns, table.Rows)
	}
}

// Many columns that lines have few of do not take memory for all cells of all lines.
func TestNDJSONOfManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for j := range 4_000 {
		fmt.Fprintf(&b, `"k%d":1,`, j)
	}
	b.WriteString("\"z\":1}\n" + strings.Repeat("{}\n", 2_000))
	in := Input{Name: "in", Format: NDJSON, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }}
	table, err := Write(t.Context(), in, &scratch{}, Options{Threads: 2, Memory: 160 << 20})
	formattest.Must(t, err)
	if table.Rows != 2_001 || len(table.Columns) != 4_001 {
		t.Errorf("%d rows of %d columns", table.Rows, len(table.Columns))
	}
}

// A hundred thousand columns.
func TestWideCSV(t *testing.T) {
	var b strings.Builder
	for i := range 4 {
		for j := range 100_000 {
			if j > 0 {
				b.WriteByte(',')
			}
			if i == 0 {
				b.WriteString("column")
			}
			fmt.Fprint(&b, (i+1)*j)
		}
		b.WriteByte('\n')
	}
	out := &scratch{}
	table, err := Write(t.Context(), Input{Name: "in", Format: CSV, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }}, out, Options{Threads: 2, Memory: 512 << 20})
	formattest.Must(t, err)
	if table.Rows != 3 || len(table.Columns) != 100_000 || table.Columns[99_999].Name != "column99999" {
		t.Errorf("%d rows of %d columns, the last %v", table.Rows, len(table.Columns), table.Columns[len(table.Columns)-1])
	}
}

// parseFloat agrees with strconv.
func TestParseFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		digits := make([]byte, 1+rng.IntN(20))
		for i := range digits {
			digits[i] = "0123456789.-+e"[rng.IntN([]int{10, 12, 14}[rng.IntN(3)])]
		}
		got, ok := parseFloat(string(digits))
		want, err := parseNaive(string(digits))
		if ok != (err == nil) || ok && !formattest.SameBits(got, want) {
			t.Fatalf("%q: %v %v, want %v %v", digits, got, ok, want, err)
		}
	}
}
