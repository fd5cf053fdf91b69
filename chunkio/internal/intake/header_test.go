package intake

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// columnNames returns the names that a text's columns get, and the doubts about them.
func columnNames(t *testing.T, text string, opt Options) (names string, doubts string) {
	t.Helper()
	_, table, err := taken(CSV, []byte(text), opt)
	formattest.Must(t, err)
	for j, c := range table.Columns {
		if j > 0 {
			names += ","
		}
		names += c.Name
	}
	for _, d := range table.Doubts {
		doubts += d.Spell(nil) + "\n"
	}
	return names, doubts
}

// TestJudgeHeader: the first row as people read it, and whether they would hesitate.
func TestJudgeHeader(t *testing.T) {
	const iris = "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n4.7,3.2,1.3,0.2,Iris-setosa\n7.0,3.2,4.7,1.4,Iris-versicolor\n6.3,3.3,6.0,2.5,Iris-virginica\n"
	for _, x := range []struct {
		text, names string
		sure        bool
	}{
		// Words over numbers, dates and truths are names; years, wavelengths and counts are, but may be data.
		{"a,b\n1,2.5\n-3,NA\n", "a,b", true},
		{"a\n1\n", "a", true},
		{"when,ok\n2026-01-31,true\n2026-02-01,false\n", "when,ok", true},
		{"2001,2002,2003\n1,5,2\n2,4,7\n3,9,1\n4,2,8\n", "2001,2002,2003", false},
		{"0.1,0.5,1.0,2.5\n1,3,2,1\n0,3,2,5\n7,4,2,1\n", "0.1,0.5,1.0,2.5", false},
		{"4000,3998,3996,3994\n0.1,0.3,0.2,0.25\n0.2,0.25,0.2,0.3\n", "4000,3998,3996,3994", false},
		{"1,2,3\n1,5,2\n2,4,7\n3,9,1\n4,2,8\n", "1,2,3", false},
		{"0,1,2\n0.5,0.3,0.2\n0.1,0.7,0.1\n0.3,0.1,0.9\n", "0,1,2", false},
		{"\"2001\",\"2002\",\"2003\"\n1,5,2\n2,4,7\n3,9,1\n", "2001,2002,2003", false}, // quotes say nothing of a type
		{"id,2001,2002,2003\n1,5,2,7\n2,4,7,2\n3,9,1,1\n4,2,8,0\n", "id,2001,2002,2003", true},
		{",2020-01-01,2020-02-01\n0,1,2\n1,3,4\n2,5,5\n", "c0,2020-01-01,2020-02-01", false},
		{"a,b\nm,s\n1,2\n2,3\n3,1\n", "a,b", true},                                               // units
		{"a,b\n1,2\n3,4\na,b\n5,6\n7,8\n", "a,b", true},                                          // files put together
		{"label,1x1,1x2\n5,0,0\n3,0,255\n1,2,3\n", "label,1x1,1x2", true},                        // names that begin with digits
		{"\n\na,b\n1,2\n3,4\n", "a,b", true},                                                     // behind blank lines
		{"color,size\nred,S\nblue,M\nred,S\nblue,S\nred,M\nblue,M\nred,S\n", "color,size", true}, // categories below
		// What has the type and the range of the rows below is data, whatever is missing or odd in it.
		{iris, "c0,c1,c2,c3,c4", true},
		{"1.5,NA,3.25\n2.5,1.0,4.25\n3.5,2.0,1.25\n0.5,9.0,2.25\n", "c0,c1,c2", true},
		{"1.5,?,3.25\n2.5,1.0,4.25\n3.5,2.0,1.25\n0.5,9.0,2.25\n", "c0,c1,c2", true},
		{"1.5,,3.25\n2.5,1.0,4.25\n3.5,2.0,1.25\n0.5,9.0,2.25\n", "c0,c1,c2", true},
		{"1.5,bad,3.25\n2.5,1.0,4.25\n3.5,2.0,1.25\n0.5,9.0,2.25\n", "c0,c1,c2", false},
		{"p,x,s\ne,x,y\np,b,s\ne,x,s\np,b,y\n", "c0,c1,c2", true}, // of mushrooms
		{"1,0.5\n2,0.7\n3,0.2\n4,0.9\n", "c0,c1", true},
		{"1,alice,3\n2,bob,4\n3,carol,1\n", "c0,c1,c2", true},
		{"0,0,0\n1,5,2\n2,4,7\n3,9,1\n4,2,8\n", "c0,c1,c2", false}, // the same value again
		// Undecidable.
		{"1,2,3\n4,5,6\n7,8,9\n", "c0,c1,c2", false},
		{"1,2\n3,4.5\n", "c0,c1", false},
		{"0,1\n3,4.5\n", "0,1", false}, // as pandas counts columns
		{"5\n", "c0", false},
		{"alice,Paris\nbob,Rome\n", "alice,Paris", false},
		{"a,a\n1,x\n", "a,a", false},
		// There is nothing below.
		{"a,b\n", "a,b", true},
		{"a,b", "a,b", true},
	} {
		names, doubts := columnNames(t, x.text, Options{})
		doubted := strings.Contains(doubts, "the first row is taken as")
		if names != x.names || doubted == x.sure {
			t.Errorf("%.70q: columns %s, doubts %q; want %s, sure %v", x.text, names, doubts, x.names, x.sure)
		}
	}
}

// TestHeaderDoubt: both readings are named, with the option.
func TestHeaderDoubt(t *testing.T) {
	years := "2001,2002,2003,2004\n1,5,2,3\n2,4,7,3\n3,9,1,5\n4,2,8,1\n"
	for text, want := range map[string]string{
		years:          "in: the first row is taken as the names of the columns, 2001, 2002, 2003, …; if it is data, of columns c0, c1, c2, …, give header no\n",
		"1,2\n3,4.5\n": "in: the first row is taken as data, of columns c0, c1; if it has their names, 1, 2, give header yes\n",
	} {
		if _, doubts := columnNames(t, text, Options{}); doubts != want {
			t.Errorf("%.30q: %q, want %q", text, doubts, want)
		}
	}
	told := func(header string, recorded bool) Options {
		return Options{TextOptions: TextOptions{Header: header, Recorded: recorded}}
	}
	for _, x := range []struct {
		header   string
		recorded bool
		names    string
		doubted  bool
	}{{"yes", false, "2001,2002,2003,2004", false}, {"no", false, "c0,c1,c2,c3", false}, {"auto", false, "2001,2002,2003,2004", true}, {"yes", true, "2001,2002,2003,2004", true}, {"no", true, "c0,c1,c2,c3", true}} {
		if names, doubts := columnNames(t, years, told(x.header, x.recorded)); names != x.names || (doubts != "") != x.doubted {
			t.Errorf("header %s, recorded %v: %s, doubts %q; want %s, doubted %v", x.header, x.recorded, names, doubts, x.names, x.doubted)
		}
	}
	if _, _, err := taken(CSV, []byte(years), told("maybe", false)); err == nil || !strings.Contains(err.Error(), "want auto, yes or no") {
		t.Errorf("header maybe: %v", err)
	}
	if names, doubts := columnNames(t, "a,b\n1,2\n3,4\n", told("yes", true)); names != "a,b" || doubts != "" {
		t.Errorf("a record that nobody would doubt: %s, %q", names, doubts)
	}
}

// TestFilesAreReadAlike: the first file settles how the first rows of the others are read, and a file that
// contradicts it is an error that names both.
func TestFilesAreReadAlike(t *testing.T) {
	parts := func(texts ...string) (names []string, err error) {
		settled := &Header{}
		for i, text := range texts {
			out := &scratch{}
			in := Input{Name: fmt.Sprint("part", i), Format: CSV, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
			table, err := Write(t.Context(), in, out, Options{Memory: 1 << 30, Settled: settled})
			if err != nil {
				return nil, err
			}
			names = append(names, fmt.Sprintf("%s %d", table.Columns[0].Name, table.Rows))
		}
		return names, nil
	}
	for _, x := range []struct {
		texts []string
		want  []string
		says  string
	}{
		// Parts that Hive writes have no names; a first row that alone would be taken for names is data there.
		{[]string{"1.5,4,x\n2.5,3,y\n0.5,7,x\n", "bad,3,y\n1.5,4,x\n2.5,3,y\n", "9.5,3,q\n"}, []string{"c0 3", "c0 3", "c0 1"}, ""},
		{[]string{"2001,2002,2003\n1,5,2\n2,4,7\n3,9,1\n", "2001,2002,2003\n4,1000,2500\n", "2003,2002,2001\n"}, []string{"2001 3", "2001 1", "2003 0"}, ""},
		{[]string{"a,b\n1,2\n3,4\n", "b,a\n5,6\n"}, []string{"a 2", "b 1"}, ""},
		{[]string{"a,b\n1,2\n3,4\n", "5,6\n7,8\n"}, nil, "part1: the first row, 5, 6, has none of the names in that of part0, a, b"},
		{[]string{"alice,Paris\nbob,Rome\n", "carol,Rome\ndave,Oslo\n"}, nil, "part1: the first row, carol, Rome, has none of the names in that of part0, alice, Paris"},
		{[]string{"1,2\n2,1\n1,1\n2,2\n", "a,b\n1,2\n3,4\n"}, nil, "part1: the first row, a, b, looks like names, and that of part0 is data"},
	} {
		names, err := parts(x.texts...)
		if !slices.Equal(names, x.want) || x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%q: %q, %v; want %q, %q", x.texts, names, err, x.want, x.says)
		}
	}
}

// TestHeadersOfRandomTables: names that are words are found over numbers of any kind and never doubted; years and
// wavelengths over them are names, and doubted; and no table without names loses its first row without a word.
func TestHeadersOfRandomTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	walk := make([]float64, 40)
	values := map[string]func(j int) string{
		"normal": func(int) string { return fmt.Sprintf("%.4f", rng.NormFloat64()) },
		"heavy":  func(int) string { return fmt.Sprintf("%.4f", math.Exp(rng.NormFloat64())) },
		"small":  func(int) string { return fmt.Sprint(rng.IntN(5)) },
		"binary": func(int) string { return fmt.Sprint(rng.IntN(2)) },
		"growing": func(j int) string {
			walk[j] += rng.NormFloat64() + 1
			return fmt.Sprintf("%.3f", walk[j])
		},
	}
	heads := map[string]func(j int) string{
		"none":  nil,
		"words": func(j int) string { return fmt.Sprint("x", j) },
		"years": func(j int) string { return fmt.Sprint(1900 + j) },
		"waves": func(j int) string { return fmt.Sprintf("%.1f", 400+2.5*float64(j)) },
	}
	for name, value := range values {
		for head, title := range heads {
			for trial := range long.CountCases(8, 60) {
				d, n := 3+rng.IntN(30), 8+rng.IntN(60)
				clear(walk)
				var b strings.Builder
				line := func(of func(int) string) {
					for j := range d {
						if j > 0 {
							b.WriteByte(',')
						}
						b.WriteString(of(j))
					}
					b.WriteByte('\n')
				}
				if title != nil {
					line(title)
				}
				for range n {
					line(value)
				}
				names, doubts := columnNames(t, b.String(), Options{})
				named, doubted := !strings.HasPrefix(names, "c0,"), doubts != ""
				if named != (title != nil) && !doubted || head == "words" && doubted || title != nil && !named {
					t.Errorf("%s under %s, trial %d: names %.30s, doubts %q", name, head, trial, names, doubts)
				}
			}
		}
	}
}
