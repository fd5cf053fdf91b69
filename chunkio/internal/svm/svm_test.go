package svm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// spool is a Spool in memory.
type spool struct{ data []byte }

func (s *spool) Write(p []byte) (int, error) {
	s.data = append(s.data, p...)
	return len(p), nil
}

func (s *spool) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(s.data).ReadAt(p, at) }

type input struct{ *strings.Reader }

func (input) Name() string { return "t.svm" }
func (input) Close() error { return nil }

func parse(text io.Reader) (*File, error) {
	t, err := ParseRows(context.Background(), "t.svm", text, new(spool), 1<<30)
	if err != nil {
		return nil, err
	}
	return t.OpenFrom(input{strings.NewReader("")}), nil
}

// row is a row of a text.
type row struct {
	label float64
	index []float64
	value []float64
}

// rowsOf reads a file some rows at a time.
func rowsOf(t *testing.T, f *File, step int64) (rows []row) {
	t.Helper()
	for g, n := range f.GroupRows() {
		group, err := f.Open(t.Context(), g, nil)
		must(t, err)
		var keys, values format.Lists
		for from := int64(0); from < n; from += step {
			to := min(n, from+step)
			labels := make([]float64, to-from)
			must(t, errors.Join(group.Decode(t.Context(), 0, from, to, [][]float64{labels}), group.DecodeKeys(t.Context(), 1, from, to, &keys), group.DecodeLists(t.Context(), 1, from, to, &values)))
			for i, x := range labels {
				a, b := keys.Ptr[i], keys.Ptr[i+1]
				if values.Ptr[i] != a || values.Ptr[i+1] != b {
					t.Fatalf("keys %v, values %v", keys.Ptr, values.Ptr)
				}
				rows = append(rows, row{x, append([]float64{}, keys.Values[a:b]...), append([]float64{}, values.Values[a:b]...)})
			}
		}
	}
	return rows
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("preparing or reading the rows: %v", err)
	}
}

// plant writes rows as text, with all that the format allows between them.
func plant(rng *rand.Rand, rows int) (string, []row) {
	var b strings.Builder
	var planted []row
	for i := range rows {
		r := row{label: float64(rng.IntN(5) - 2), index: []float64{}, value: []float64{}}
		fmt.Fprintf(&b, "%s%s%v", []string{"", "\n", "# only a comment\n", " \t\r\n"}[rng.IntN(4)], []string{"", " "}[rng.IntN(2)], r.label)
		if rng.IntN(3) == 0 {
			b.WriteString(" qid:7")
		}
		for index := rng.IntN(3); rng.IntN(4) > 0; index += 1 + rng.IntN(1000) {
			x := []float64{float64(rng.IntN(9)), rng.NormFloat64(), math.Round(1000*rng.NormFloat64()) / 1000, 1e300 * rng.Float64()}[rng.IntN(4)]
			r.index, r.value = append(r.index, float64(index)), append(r.value, x)
			fmt.Fprintf(&b, "%s%d:%s", []string{" ", "\t", "  "}[rng.IntN(3)], index, strconv.FormatFloat(x, "gef"[rng.IntN(3)], -1, 64))
		}
		b.WriteString([]string{"", " ", " # 3:4", "#5:6"}[rng.IntN(4)])
		if i < rows-1 || rng.IntN(2) == 0 {
			b.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
		}
		planted = append(planted, r)
	}
	return b.String(), planted
}

// A text reads back as its rows, however it arrives and however many are read at a time.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 300, 20_000, groupRows, groupRows + 1} {
		text, want := plant(rng, n)
		readers := map[string]io.Reader{"whole": strings.NewReader(text)}
		if n <= 300 {
			readers["bytes"], readers["with the end"] = iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))
		}
		for name, r := range readers {
			f, err := parse(r)
			must(t, err)
			steps := []int64{1000, 1 << 20}
			if n <= 300 {
				steps = append(steps, 1, 7)
			}
			for _, step := range steps {
				if got := rowsOf(t, f, step); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%d rows, %s, %d at a time: they differ", n, name, step)
				}
			}
			if groups := (n + groupRows - 1) / groupRows; len(f.GroupRows()) != groups {
				t.Errorf("%d rows in %d groups", n, len(f.GroupRows()))
			}
		}
	}
}

// Words that a buffer's end cuts are whole, and many entries end a group.
func TestLongRows(t *testing.T) {
	var b strings.Builder
	for i := range 3 {
		fmt.Fprint(&b, i)
		for j := range groupEntries / 2 {
			fmt.Fprintf(&b, " %d:%d", j+1, j%(i+2))
		}
		b.WriteByte('\n')
	}
	f, err := parse(strings.NewReader(b.String()))
	must(t, err)
	if fmt.Sprint(f.GroupRows()) != "[2 1]" {
		t.Fatalf("groups %v", f.GroupRows())
	}
	for i, r := range rowsOf(t, f, 1) {
		for j, x := range r.value {
			if len(r.value) != groupEntries/2 || r.index[j] != float64(j+1) || x != float64(j%(i+2)) {
				t.Fatalf("row %d: %d entries, entry %d is %v:%v", i, len(r.value), j, r.index[j], x)
			}
		}
	}
	_, err = ParseRows(t.Context(), "t.svm", strings.NewReader(b.String()), new(spool), 1<<20)
	if _, short := errors.AsType[*stream.MemoryError](err); !short {
		t.Errorf("in 1 MiB: error %v", err)
	}
}

func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	words := []string{"", "-", "+", ".", "+-1", "-0", "1.", ".5", "1..2", "1_000", "0x1p-2", "nan", "-Inf", "1e400", "999999999999999", "9999999999999999", "0.30000000000000004", "-.25"}
	for range 20_000 {
		b := make([]byte, 1+rng.IntN(18))
		for i := range b {
			b[i] = "0123456789.-+e"[min(rng.IntN(24), 13)%(10+rng.IntN(5))]
		}
		words = append(words, string(b))
	}
	for _, w := range words {
		want, err := strconv.ParseFloat(w, 64)
		got, ok := ParseNumber([]byte(w))
		if ok != (err == nil) || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q is %v, %v; want %v, %v", w, got, ok, want, err)
		}
	}
}

func TestBadText(t *testing.T) {
	for text, want := range map[string]string{
		"1 1:2\n\n# x\nlabel 1:2\n":        `line 4: the label "label" is no number`,
		"1,x 1:2\n":                        "line 1: the label",
		"1,,2 1:2\n":                       "line 1: the label",
		"x:1 1:2\n":                        "line 1: the label",
		"1 1:2\n1 1:2 3\n":                 `line 2: "3" is not index:value`,
		"1 1:2 1:3\n":                      "the index 1 follows 1",
		"1 7:2 4:3\n":                      "the index 4 follows 7",
		"1 -1:2\n":                         `the index of "-1:2" is no number`,
		"1 1.5:2\n":                        "the index of",
		"1 1:\n":                           `the value of "1:" is no number`,
		"1 1:x\n":                          "the value of",
		"1 1:2 qid:3\n":                    "the index of",
		"1 16777216:2\n":                   "is above 16777215",
		"1 99999999999999999999:2\n":       "the index of",
		"1 " + strings.Repeat("9", 5000):   "is longer than 4096 bytes, no number",
		"1 1:2\n\x00\x01PAR\xff\n":         "line 2: the label",
		strings.Repeat("x", 2*pieceBytes):  "is longer than 4096 bytes, no number",
		"1 1:2\n2 1:2 # fine\n3 1:2 4:#\n": "line 3: the value",
	} {
		_, err := parse(strings.NewReader(text))
		if data, ok := errors.AsType[*stream.DataError](err); !ok || !strings.Contains(err.Error(), want) || data.Path != "t.svm" {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
	broken := io.MultiReader(strings.NewReader("1 1:2\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := parse(broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a text that breaks off: error %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ParseRows(cancelled, "t.svm", strings.NewReader(strings.Repeat("1 1:2\n", 1000)), new(spool), 1<<30); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestSeveralLabels: rows with several labels, as in multi-label collections, and rows with none have their entries,
// and the labels are no column, for a reason with its line.
func TestSeveralLabels(t *testing.T) {
	f, err := parse(strings.NewReader("1 1:2\n2,5,7 3:4\n 1:6 2:8\n-1,+1.5\nqid:3 1:9\n"))
	must(t, err)
	for l, want := range map[string]string{Label: `rows without exactly one label (line 2: "2,5,7")`, Entries: "maps"} {
		for _, leaf := range f.Leaves() {
			if leaf.Name == l && leaf.Why != want {
				t.Errorf("%s is no feature for %q, want %q", l, leaf.Why, want)
			}
		}
	}
	group, err := f.Open(t.Context(), 0, nil)
	must(t, err)
	var keys, values format.Lists
	must(t, group.DecodeKeys(t.Context(), entriesLeaf, 0, 5, &keys))
	must(t, group.DecodeLists(t.Context(), entriesLeaf, 0, 5, &values))
	if got, want := fmt.Sprint(keys.Ptr, keys.Values, values.Values), "[0 1 2 4 4 5] [1 3 1 2 1] [2 4 6 8 9]"; got != want {
		t.Errorf("the rows are %s, want %s", got, want)
	}
}

func TestLabelsAsText(t *testing.T) {
	f, err := parse(strings.NewReader("+1\n-1 1:1\n1.0\n-1\n0.5\n"))
	must(t, err)
	g, err := f.Open(t.Context(), 0, nil)
	must(t, err)
	var got []string
	must(t, g.DecodeTexts(t.Context(), 0, 1, 5, func(ids []int32, values *text.List) error {
		for _, id := range ids {
			got = append(got, string(values.Value(int(id))))
		}
		return nil
	}))
	if strings.Join(got, " ") != "-1 1 -1 0.5" {
		t.Errorf("labels %q", got)
	}
	var lists format.Lists
	for _, err := range []error{g.Decode(t.Context(), 1, 0, 1, make([][]float64, 1)), g.DecodeLists(t.Context(), 0, 0, 1, &lists), g.DecodeKeys(t.Context(), 1, 3, 6, &lists)} {
		if _, ok := errors.AsType[*stream.DataError](err); !ok {
			t.Errorf("error %v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"1 1:2 3:4\n-1 qid:2 5:0.5 # c\n", "", "#", "1", "\r\n1 \t2:3"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parse(bytes.NewReader(text))
		if err == nil {
			rowsOf(t, got, 3)
		} else if _, ok := errors.AsType[*stream.DataError](err); !ok {
			t.Errorf("error %v", err)
		}
	})
}
