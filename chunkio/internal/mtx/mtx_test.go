package mtx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/stream"
)

// spool is a svm.Spool in memory. It fails to write beyond most bytes, if most is positive.
type spool struct {
	data []byte
	most int
}

var errFull = errors.New("no space is left")

func (s *spool) Write(p []byte) (int, error) {
	if s.data = append(s.data, p...); s.most > 0 && len(s.data) > s.most {
		return 0, errFull
	}
	return len(p), nil
}

func (s *spool) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(s.data).ReadAt(p, at) }

type input struct{ *strings.Reader }

func (input) Name() string { return "t.mtx" }
func (input) Close() error { return nil }

func parse(text io.Reader, limit int64) (*svm.File, error) {
	table, err := ParseMatrix(context.Background(), "t.mtx", text, new(spool), limit)
	if err != nil {
		return nil, err
	}
	return table.OpenFrom(input{strings.NewReader("")}), nil
}

// matrix has the entries of a matrix by row and column, both from 1, and its number of rows.
type matrix struct {
	rows    int
	entries map[[2]int]float64
}

func readMatrix(t *testing.T, f *svm.File) matrix {
	t.Helper()
	m := matrix{entries: map[[2]int]float64{}}
	for g, n := range f.GroupRows() {
		group, err := f.Open(t.Context(), g, nil)
		if err != nil {
			t.Fatalf("opening group %d: %v", g, err)
		}
		var keys, values format.Lists
		if err := errors.Join(group.DecodeKeys(t.Context(), 0, 0, n, &keys), group.DecodeLists(t.Context(), 0, 0, n, &values)); err != nil {
			t.Fatalf("reading the %d rows of group %d: %v", n, g, err)
		}
		for i := range n {
			m.rows++
			for k := keys.Ptr[i]; k < keys.Ptr[i+1]; k++ {
				m.entries[[2]int{m.rows, int(keys.Values[k])}] = values.Values[k]
				if k > keys.Ptr[i] && keys.Values[k] <= keys.Values[k-1] {
					t.Errorf("row %d has index %v after %v, want indices that ascend", m.rows, keys.Values[k], keys.Values[k-1])
				}
			}
		}
	}
	return m
}

// parseNaive reads a matrix as its definition says, without any check.
func parseNaive(t *testing.T, text string) matrix {
	t.Helper()
	var lines []string
	for _, line := range strings.Split(text, "\n")[1:] {
		if line = strings.TrimSpace(line); line != "" && line[0] != '%' {
			lines = append(lines, line)
		}
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("the number %q of the test: %v", s, err)
		}
		return x
	}
	header := strings.Fields(strings.ToLower(strings.Split(text, "\n")[0]))
	size := strings.Fields(lines[0])
	m := matrix{int(number(size[0])), map[[2]int]float64{}}
	columns := int(number(size[1]))
	put := func(i, j int, x float64) {
		m.entries[[2]int{i, j}] = x
		switch header[4] {
		case "symmetric":
			m.entries[[2]int{j, i}] = x
		case "skew-symmetric":
			m.entries[[2]int{j, i}] = -x
		}
	}
	if header[2] == "coordinate" {
		for _, line := range lines[1:] {
			w := append(strings.Fields(line), "1")
			put(int(number(w[0])), int(number(w[1])), number(w[2]))
		}
		return m
	}
	at := 1
	for j := 1; j <= columns; j++ {
		for i := 1; i <= m.rows; i++ {
			if header[4] == "symmetric" && i < j || header[4] == "skew-symmetric" && i <= j {
				continue
			}
			if x := number(lines[at]); x != 0 {
				put(i, j, x)
			}
			at++
		}
	}
	return m
}

// makeText writes a random matrix of up to most rows and columns, its entries in random order.
func makeText(rng *rand.Rand, most int) string {
	form := []string{"coordinate", "array"}[rng.IntN(2)]
	field := []string{"real", "integer", "double", "pattern"}[rng.IntN(4)]
	if form == "array" && field == "pattern" {
		field = "Real"
	}
	symmetry := []string{"general", "symmetric", "skew-symmetric"}[rng.IntN(3)]
	rows, columns := rng.IntN(most+1), rng.IntN(most+1)
	if symmetry != "general" {
		columns = rows
	}
	var entries []string
	for j := 1; j <= columns; j++ {
		for i := 1; i <= rows; i++ {
			if symmetry == "symmetric" && i < j || symmetry == "skew-symmetric" && i <= j {
				continue
			}
			value := strconv.FormatFloat(float64(rng.IntN(7)-3)/[]float64{1, 4}[rng.IntN(2)], 'g', -1, 64)
			switch {
			case form == "array":
				entries = append(entries, value)
			case rng.IntN(3) > 0:
			case field == "pattern":
				entries = append(entries, fmt.Sprint(i, j))
			default:
				entries = append(entries, fmt.Sprint(i, " ", j, "\t", value))
			}
		}
	}
	size := fmt.Sprint(rows, columns)
	if form == "coordinate" {
		rng.Shuffle(len(entries), func(a, b int) { entries[a], entries[b] = entries[b], entries[a] })
		size += fmt.Sprint(" ", len(entries))
	}
	end := []string{"\n", "\r\n", "\n% a comment\n", "\n\n"}[rng.IntN(4)]
	return Magic + " Matrix " + form + " " + field + " " + symmetry + "\n%\n" + strings.Join(append([]string{size}, entries...), end) + []string{"", "\n"}[rng.IntN(2)]
}

// TestMatrixEqualsNaiveTwin: matrices of every kind, in any order and any memory, have the entries that the definition of
// the format gives them.
func TestMatrixEqualsNaiveTwin(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		most, limit := 8, int64(1<<30)
		if seed%40 == 0 { // many runs to merge
			most, limit = 400, 10<<20
		}
		text := makeText(rng, most)
		f, err := parse(iotest.OneByteReader(strings.NewReader(text)), limit)
		if err != nil {
			t.Errorf("seed %d: %.200q: %v", seed, text, err)
			continue
		}
		got, want := readMatrix(t, f), parseNaive(t, text)
		if got.rows != want.rows || !maps.Equal(got.entries, want.entries) {
			t.Errorf("seed %d: %.200q has %d rows and the entries %v, want %d and %v", seed, text, got.rows, got.entries, want.rows, want.entries)
		}
	}
}

// TestRunsAreMerged: the small memory of the test above does make several runs, and they need no more memory.
func TestRunsAreMerged(t *testing.T) {
	const limit = 10 << 20
	s := newSorter("t.mtx", new(spool), limit)
	for i := range 100_000 {
		if err := s.addEntry(t.Context(), entry{uint32(100_000 - i), 1, float64(i)}); err != nil {
			t.Fatalf("adding entry %d: %v", i, err)
		}
	}
	if n := len(s.runs); n < 2 {
		t.Errorf("100,000 entries make %d runs within %d bytes, want 2 or more", n, limit)
	}
	if held := cap(s.buffer) * entryBytes; held > limit {
		t.Errorf("the buffer holds %d bytes, more than the limit %d", held, limit)
	}
}

func TestFortranExponents(t *testing.T) {
	f, err := parse(strings.NewReader(Magic+" matrix coordinate real general\n1 2 2\n1 1 -1.5D+03\n1 2 2d-1\n"), 1<<30)
	if err != nil {
		t.Fatalf("exponents of Fortran: %v", err)
	}
	if got := readMatrix(t, f).entries; got[[2]int{1, 1}] != -1500 || got[[2]int{1, 2}] != 0.2 {
		t.Errorf("the entries are %v, want -1500 and 0.2", got)
	}
}

// TestBadMatrices: each fault is an error with its line, and none is read as another matrix.
func TestBadMatrices(t *testing.T) {
	const header, coordinates = Magic + " matrix coordinate real general\n", "2 2 2\n1 1 1\n"
	for text, want := range map[string]string{
		"":                         `line 1: "" in the first line`,
		"%%MatrixMarkt matrix\n":   `line 1: "%%matrixmarkt" in the first line`,
		Magic + " vector array\n":  `"vector" in the first line`,
		Magic + " matrix sparse\n": `"sparse" in the first line is not one of: coordinate, array`,
		Magic + " matrix coordinate complex general\n1 1 1\n1 1 1 0\n": `"complex" in the first line`,
		Magic + " matrix array pattern general\n1 1\n":                 `"pattern" in the first line`,
		Magic + " matrix coordinate real hermitian\n1 1 0\n":           `"hermitian" in the first line`,
		Magic + " matrix coordinate real general twice\n1 1 0\n":       `line 1: "twice" is one word too many`,
		header:                                               "line 2: the number of rows is missing",
		header + "2 2\n":                                     "line 2: the number of entries is missing",
		header + "2 -2 0\n":                                  `line 2: the number of columns, "-2", is no whole number from 0 to 16777215`,
		header + "2147483648 2 0\n":                          "line 2: the number of rows",
		header + "2 2 5\n":                                   `line 2: the number of entries, "5", is no whole number from 0 to 4`,
		header + "2 2 0 0\n":                                 `line 2: "0" is one word too many`,
		header + coordinates:                                 "line 4: the text ends after 1 entries",
		header + coordinates + "0 1 1\n":                     `line 4: the row, "0", is no whole number from 1 to 2`,
		header + coordinates + "1 3 1\n":                     `line 4: the column, "3", is no whole number from 1 to 2`,
		header + coordinates + "1.5 1 1":                     "line 4: the row",
		header + coordinates + "1 2\n":                       "line 4: the value is missing",
		header + coordinates + "1 2 x\n":                     `line 4: the value "x" is no number`,
		header + coordinates + "1 2 3 4":                     `line 4: "4" is one word too many`,
		header + coordinates + "1 2 3\n2 2 1\n":              `line 5: "2" follows after all 2 entries`,
		header + coordinates + "1 1 3\n":                     "the entry in row 1 and column 1 occurs twice",
		Magic + " matrix coordinate real symmetric\n2 3 0\n": "a symmetric matrix has 2 rows and 3 columns",
		Magic + " matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n": "occurs twice",
		Magic + " matrix coordinate real skew-symmetric\n1 1 1\n1 1 1\n":   "line 3: a skew-symmetric matrix has 1 on its diagonal",
		Magic + " matrix array real general\n2 1\n1\n":                     "line 4: the text ends after 1 entries",
		Magic + " matrix array real general\n1 1\n1\n2\n":                  `"2" follows after all 1 entries`,
	} {
		_, err := parse(strings.NewReader(text), 1<<30)
		if data, ok := errors.AsType[*stream.DataError](err); !ok || !strings.Contains(err.Error(), want) || data.Path != "t.mtx" {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestFaultsAround: what is not the text's fault is no error about the text.
func TestFaultsAround(t *testing.T) {
	text := Magic + " matrix array real general\n200 400\n" + strings.Repeat("1\n", 80_000)
	if _, err := parse(io.MultiReader(strings.NewReader(text[:5000]), iotest.ErrReader(io.ErrUnexpectedEOF)), 1<<30); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a text that breaks off: error %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if _, err := parse(strings.NewReader(text), 100<<10); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("little memory: error %v, want a MemoryError", err)
	}
	for _, most := range []int{1000, 1_300_000} { // in a run, in the rows
		if _, err := ParseMatrix(t.Context(), "t.mtx", strings.NewReader(text), &spool{most: most}, 8<<20); !errors.Is(err, errFull) {
			t.Errorf("a scratch file of %d bytes: error %v, want %v", most, err, errFull)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []string{text, Magic + " matrix coordinate real general\n1 1 1\n1 1 1\n", Magic + " matrix coordinate real general\n100000 1 0\n"} {
		if _, err := ParseMatrix(cancelled, "t.mtx", strings.NewReader(s), new(spool), 1<<30); !errors.Is(err, context.Canceled) {
			t.Errorf("%.60q, cancelled: error %v, want %v", s, err, context.Canceled)
		}
	}
}

// FuzzParse: no text is too strange.
func FuzzParse(f *testing.F) {
	for seed := range uint64(8) {
		f.Add([]byte(makeText(rand.New(rand.NewPCG(seed, 2)), 4)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 1 << 20 // bytes of scratch: a line of text can declare any number of rows without entries
		table, err := ParseMatrix(t.Context(), "t.mtx", bytes.NewReader(text), &spool{most: most}, 1<<30)
		if err == nil {
			readMatrix(t, table.OpenFrom(input{strings.NewReader("")}))
		} else if !errors.As(err, new(*stream.DataError)) && !errors.Is(err, errFull) {
			t.Errorf("%q: error %v, want a DataError, or %v", text, err, errFull)
		}
	})
}
