package intake

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestIdentifiersAndMeasurements: identifiers are text, to the letter, and measurements are numbers however an
// instrument prints them.
func TestIdentifiersAndMeasurements(t *testing.T) {
	for values, want := range map[string]struct{ features, copies string }{
		"00037|10115|00038":     {"string", "string"},
		"10115|00038":           {"string", "string"},
		"-007|8":                {"string", "string"},
		"001e1|5":               {"string", "string"},
		"+490000001|+490000002": {"string", "string"},
		"+490000001|490000001":  {"string", "string"},
		"12345678901234567890123|12345678901234567890124": {"string", "string"},
		"123456789012345678|5":                            {"string", "int64"}, // 18 digits: a copy keeps 64 bits whole
		"12345678901234567890|5":                          {"string", "uint64"},
		"9007199254740993|0.5":                            {"double", "string"}, // 16 digits, whose float64 has others
		"1|2.0|3":                                         {"string", "string"},
		"1|2.0|3.5":                                       {"double", "double"},
		"0|2.0|3.0":                                       {"double", "double"},
		"1|2|3":                                           {"double", "int64"},
		"0|1|NA":                                          {"double", "int64"},
		"0.50|1.0|3.00E+05|+1.5|.5|1.|-0|00.5|1e5": {"double", "double"},
		"0.1000000000000000055|0.2":                {"double", "double"},
		"0.50|1.25|10.00":                          {"double", "double"},
		"5|5.00":                                   {"double", "double"},
		"+5|-3|0":                                  {"double", "int64"},
		"+1234567|-1234567":                        {"double", "int64"},
		"+1234567|0.25":                            {"double", "double"},
		"100000|1e+05|2e+05":                       {"double", "double"}, // as R prints whole numbers
		"123456789012345680000|5":                  {"double", "double"}, // as JavaScript prints 1.2345678901234568e20
		"00.5|07.25":                               {"double", "double"},
		"inf|-inf|1":                               {"double", "double"},
		"1.0|2.0":                                  {"double", "double"},
	} {
		for _, c := range []struct {
			opt  Options
			want string
		}{{Options{}, want.features}, {Options{Exact: anyColumn}, want.copies}} {
			text := "a,b\n" + strings.ReplaceAll(values, "|", ",7\n") + ",7\n"
			lines, table, err := taken(CSV, []byte(text), c.opt)
			formattest.Must(t, err)
			if got := strings.Fields(strings.TrimSuffix(lines[0], ":"))[1]; got != c.want+":" {
				t.Errorf("%q (copied: %v): %q, want %s", values, c.opt.Exact != nil, lines[0], c.want)
			}
			if c.want == "string" && (lines[0] != "a string: "+values || len(table.Doubts) != 1 || table.Columns[0].Why == "") {
				t.Errorf("%q: %q, doubts %v, why %q", values, lines[0], table.Doubts, table.Columns[0].Why)
			} else if c.want != "string" && len(table.Doubts) != 0 {
				t.Errorf("%q: doubts %v of what is no text", values, table.Doubts)
			}
		}
	}
}

// TestIdentifiersSayWhy: the reason shows the first such value and its line.
func TestIdentifiersSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		"a\n10115\n00037\n":                    `the leading zero of "00037" (line 3)`,
		"a\n+490000001\n":                      `the plus of "+490000001" (line 2)`,
		"a\n7\n12345678901234567890123\n":      `digits of "12345678901234567890123" (line 3)`,
		"a\n1\n\n2.0\n":                        `the .0 of "2.0" (line 4)`,
		"a\n" + strings.Repeat("1", 90) + "\n": `digits of "` + strings.Repeat("1", 40) + `…" (line 2)`,
	} {
		_, table, err := taken(CSV, []byte(text), Options{})
		formattest.Must(t, err)
		if why := table.Columns[0].Why; !strings.Contains(why, want) {
			t.Errorf("%.40q: %q, want %q", text, why, want)
		}
	}
}

// TestIdentifiersOfJSON: numbers of JSON have no leading zeros, but may have more digits than a float64.
func TestIdentifiersOfJSON(t *testing.T) {
	wants(t, NDJSON, "{\"a\":12345678901234567890123,\"b\":{\"c\":1}}\n{\"a\":12345678901234567890124,\"b\":{\"c\":2.0}}\n", Options{Exact: anyColumn},
		"a string: 12345678901234567890123|12345678901234567890124", "b.c string: 1|2.0")
	wants(t, NDJSON, "{\"a\":123456789012345678}\n{\"a\":0.1000000000000000055}\n", Options{}, "a string: 123456789012345678|0.1000000000000000055")
	wants(t, NDJSON, "{\"a\":-0}\n{\"a\":1E5}\n{\"a\":1.50}\n", Options{Exact: anyColumn}, "a double: 0|100000|1.5")
}

// TestSpellingsBehindTheSample: a value after the sample counts like one in it, for text and against it.
func TestSpellingsBehindTheSample(t *testing.T) {
	filler := strings.Repeat("x", 2000)
	many := func(row string) string {
		row = strings.ReplaceAll(row, "1.5", filler) + "\n"
		return strings.Repeat(row, sampleBytes/len(row)+1)
	}
	for name, c := range map[string]struct {
		text string
		want Kind
	}{
		"a leading zero":            {many("10115,1.5") + "00037,1\n", Text},
		"a plus":                    {many("490000001,1.5") + "+490000001,1\n", Text},
		"a long key":                {many("10115,1.5") + "12345678901234567890123,1\n", Text},
		"whole, then .0":            {many("10115,1.5") + "7.0,1\n", Text},
		".0, then whole":            {many("10115.0,1.5") + "7,1\n", Text},
		"zeros, then whole, .0":     {many("0,1.5") + "7,1\n8.0,1\n", Text},
		"no number, then whole, .0": {many("NA,1.5") + "7,1\n8.0,1\n", Text},
		"whole and .0, then 2.5":    {many("1,1.5\n2.0,1.5") + "2.5,1\n", Float},
		"with plus, then below 0":   {many("+1234567,1.5") + "-1234567,1\n", Float},
		"fractions":                 {many("0.5,1.5") + "7.0,1\n7,1\n-1e5,1\n+5,1\n", Float},
		"whole, then fractions":     {many("5,1.5") + "0.5,1\n7.00,1\n", Float},
	} {
		text := "a,b\n" + c.text
		for _, opt := range []Options{{}, {Exact: anyColumn}} {
			lines, table, err := taken(CSV, []byte(text), opt)
			formattest.Must(t, err)
			kind := table.Columns[0].Kind
			if (kind == Text) != (c.want == Text) {
				t.Errorf("%s (copied: %v): %v, want %v", name, opt.Exact != nil, kind, c.want)
			}
			if _, values, _ := strings.Cut(lines[0], ": "); kind == Text {
				rows := strings.Split(text, "\n")[1:]
				for i, got := range strings.Split(values, "|") {
					if want, _, _ := strings.Cut(rows[i], ","); got != want && want != "NA" {
						t.Fatalf("%s: row %d is %q, want %q", name, i, got, want)
					}
				}
			}
		}
		in := Input{Name: "in", Format: CSV, Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
		if _, err := Write(t.Context(), in, &scratch{}, Options{Memory: 1 << 30}); name != "fractions" && name != "whole, then fractions" && !errors.As(err, new(*stream.DataError)) {
			t.Errorf("%s, read once: %v, want an error with the place", name, err)
		}
	}
}

var (
	leadingZero = regexp.MustCompile(`^[+-]?0[0-9]+([eE][+-]?[0-9]+)?$`)
	phone       = regexp.MustCompile(`^\+[0-9]{7,}$`)
	digitsOnly  = regexp.MustCompile(`^[0-9]+$`)
)

// TestCopiesAreFaithful: a copy of columns of many spellings writes the text, or a number of which the text is one
// spelling: the nearest float64 of a measurement, or the whole number. Two texts of digits never become one value,
// and leading zeros and the plus of phone numbers are never lost. Regular expressions define the law here.
func TestCopiesAreFaithful(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	digits := func(n int) string {
		s := strconv.Itoa(1 + rng.IntN(9))
		for len(s) < n {
			s += strconv.Itoa(rng.IntN(10))
		}
		return s
	}
	spellings := []func() string{
		func() string { return digits(1 + rng.IntN(5)) },
		func() string { return fmt.Sprintf("%05d", rng.IntN(100_000)) },
		func() string { return "+" + digits(7+rng.IntN(5)) },
		func() string { return digits(16 + rng.IntN(3)) },
		func() string { return digits(18 + rng.IntN(8)) },
		func() string { return digits(1+rng.IntN(3)) + ".0" },
		func() string { return fmt.Sprintf("%.2f", 100*rng.Float64()) },
		func() string { return fmt.Sprintf("%e", rng.NormFloat64()) },
		func() string { return fmt.Sprintf("%+.3g", rng.NormFloat64()) },
		func() string { return "00" + digits(1) + "e" + digits(1) },
		func() string { return "-" + digits(1+rng.IntN(9)) },
		func() string { return strconv.FormatFloat(rng.Float64(), 'f', 20, 64) },
		func() string { return "" },
	}
	for round := range 400 {
		some := make([]func() string, 1+rng.IntN(3))
		for i := range some {
			some[i] = spellings[rng.IntN(len(spellings))]
		}
		values := make([]string, 2+rng.IntN(40))
		for i := range values {
			values[i] = some[rng.IntN(len(some))]()
		}
		text := "a,b\n" + strings.Join(values, ",1\n") + ",1\n"
		lines, table, err := taken(CSV, []byte(text), Options{Exact: anyColumn})
		formattest.Must(t, err)
		_, all, _ := strings.Cut(lines[0], ": ")
		got := strings.Split(all, "|")
		whole := map[string]string{} // the text of digits that a value is of
		signed := slices.ContainsFunc(values, func(s string) bool { return strings.ContainsAny(s, "-.e") })
		for i, want := range values {
			isText := table.Columns[0].Kind == Text
			switch {
			case want == "" || got[i] == want:
			case isText, leadingZero.MatchString(want), phone.MatchString(want) && !signed:
				t.Fatalf("round %d, %v: %q became %q", round, table.Columns[0], want, got[i])
			default:
				x, err := strconv.ParseFloat(want, 64)
				y, err2 := strconv.ParseFloat(got[i], 64)
				if err != nil || err2 != nil || !formattest.SameBits(x, y) {
					t.Fatalf("round %d, %v: %q became %q", round, table.Columns[0], want, got[i])
				}
			}
			if digitsOnly.MatchString(want) {
				if other, ok := whole[got[i]]; ok && other != want {
					t.Fatalf("round %d, %v: %q and %q both became %q", round, table.Columns[0], other, want, got[i])
				}
				whole[got[i]] = want
			}
		}
	}
}

// TestTypesAskedFor: they overrule the guesses, of nested names too, and a value that does not fit is an error.
func TestTypesAskedFor(t *testing.T) {
	as := func(types []string, texts ...string) Options {
		return Options{TextOptions: TextOptions{Types: types, Text: texts}}
	}
	wants(t, CSV, "zip,x\n00037,1.5\n10115,2\n", as([]string{"zip=int"}), "zip int64: 37|10115", "x double: 1.5|2")
	wants(t, CSV, "zip,x\n00037,1.5\n10115,NA\n", as([]string{"zip=float", "x=text"}), "zip double: 37|10115", "x string: 1.5|NA")
	wants(t, CSV, "a=b,x\n5,1.5\n", as([]string{"a=b=text"}), "a=b string: 5", "x double: 1.5")
	wants(t, CSV, "zip,zap,x\n5,6,7\n", as(nil, "z*"), "zip string: 5", "zap string: 6", "x double: 7")
	wants(t, CSV, "a/zip,x\n5,6\n", as(nil, "*zip"), "a/zip string: 5", "x double: 6")
	wants(t, CSV, "zip,zap\n5,6\n", as([]string{"zip=int"}, "z*"), "zip int64: 5", "zap string: 6")
	wants(t, CSV, "d,u\n2026-01-31,2026-01-31 10:00\n", as([]string{"d=text", "u=time"}), "d string: 2026-01-31", "u timestamp: 2026-01-31T10:00:00")
	wants(t, CSV, "u\n\"\"\n2026-01-31T10:00:00Z\n", as([]string{"u=time"}), "u timestamp: null|2026-01-31T10:00:00Z")
	wants(t, NDJSON, `{"g":{"zip":"00037","l":[1,2]}}`+"\n"+`{"g":{"zip":10115,"l":[3,4]}}`, as([]string{"g.zip=int", "g.l=text"}),
		"g.zip int64: 37|10115", "g.l[0] string: 1|3", "g.l[1] string: 2|4")
	_, table, err := taken(CSV, []byte("zip\n00037\n"), as(nil, "zip"))
	formattest.Must(t, err)
	if len(table.Doubts) > 0 || table.Columns[0].Why != "" {
		t.Errorf("asked for as text, it is doubted: %v, %q", table.Doubts, table.Columns[0].Why)
	}
	late := "zip\n" + strings.Repeat("10115\n", 200_000) + "K1A\n"
	for text, c := range map[string]struct{ types, says string }{
		"zip\n00037\n1.5\n":           {"zip=int", `line 3: "1.5" is not a whole number, the requested type`},
		"zip\n00037\nK1A\n":           {"zip=float", `line 3: "K1A" is not a number, the requested type`},
		"zip\n2026-01-31\n2026-1-1\n": {"zip=date", `line 3: "2026-1-1" is not a date, the requested type`},
		"zip\n10:00\n":                {"zip=time", `line 2: "10:00" is not a time, the requested type`},
		"zip\nyes\n":                  {"zip=bool", `line 2: "yes" is not true or false, the requested type`},
		late:                          {"zip=int", "line 200002"},
	} {
		_, _, err := taken(CSV, []byte(text), as([]string{c.types}))
		if d := (*stream.DataError)(nil); !errors.As(err, &d) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q as %s: %v, want %q", text, c.types, err, c.says)
		}
	}
	if _, _, err := taken(NDJSON, []byte("{\"g\":{\"zip\":1.5}}"), as([]string{"g.zip=int"})); err == nil || !strings.Contains(err.Error(), `line 1: "1.5" is not a whole number`) {
		t.Errorf("g.zip=int: %v", err)
	}
}

// TestTypesThatCannotBe: impossible types are usage errors that name the possible ones.
func TestTypesThatCannotBe(t *testing.T) {
	columns := []string{"zip", "g.phone", "l[0]"}
	for _, c := range []struct {
		opt  TextOptions
		says string
	}{
		{TextOptions{Types: []string{"zip"}}, "want COLUMN=TYPE"},
		{TextOptions{Types: []string{"=int"}}, "want COLUMN=TYPE"},
		{TextOptions{Types: []string{"zip=integer"}}, "the types are bool, int, float, date, time, text"},
		{TextOptions{Types: []string{"zip=int", "zip=text"}}, "another type"},
		{TextOptions{Types: []string{"zip=int"}, Text: []string{"zip"}}, "another type"},
		{TextOptions{Text: []string{"[z"}}, "malformed glob"},
		{TextOptions{Types: []string{"zap=int"}}, "did you mean zip?"},
		{TextOptions{Text: []string{"q*"}}, "no column"},
		{TextOptions{Types: []string{"zip=int", "l=text"}, Text: []string{"g.*"}}, ""},
		{TextOptions{Types: []string{"zip=int64", "g.phone=double", "l=string"}}, ""},
	} {
		err := c.opt.CheckMatches(columns)
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.says)
		}
	}
}

// FuzzSpelling: the marks of a number agree with its value.
func FuzzSpelling(f *testing.F) {
	for _, s := range []string{"00037", "-007", "+490000001", "001e1", "1.0", "0.50", ".5", "1.", "-0", "123456789012345678901", "", "+", "-", "e1", "00e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		marks, kind := spellingMarks(s), kindOfField(s)
		if s != trimBlanks(s) || !kind.isWhole() && kind != Float {
			return // no number, whose marks nobody asks for
		}
		if leadingZero.MatchString(s) != (marks&paddedZero != 0) {
			t.Errorf("%q: marks %b", s, marks)
		}
		if marks&inexactWhole != 0 {
			x, err := strconv.ParseFloat(s, 64)
			if err == nil && strconv.FormatFloat(x, 'f', -1, 64) == strings.TrimPrefix(strings.TrimPrefix(s, "+"), "-") {
				t.Errorf("%q is a float64", s)
			}
		}
		if marks == 0 {
			if x, _ := parseFloat(s); x != 0 {
				t.Errorf("%q has no mark", s)
			}
		}
	})
}
