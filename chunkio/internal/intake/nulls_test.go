package intake

import (
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// TestUsualNulls: the usual spellings are exactly pandas 2's (pandas._libs.parsers.STR_NA_VALUES).
func TestUsualNulls(t *testing.T) {
	pandas := strings.Fields("#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null")
	pandas = append(pandas, "", "#N/A N/A")
	for _, s := range pandas {
		if !slices.Contains(usualSpellings, s) {
			t.Errorf("%q is no null", s)
		}
	}
	for _, s := range []string{"?", "-", `\N`, "NaT", "Null", "none", "na", "NIL", ".", "0"} {
		if slices.Contains(usualSpellings, s) {
			t.Errorf("%q is a null", s)
		}
	}
	wants(t, CSV, "a\n1\n"+strings.Join(pandas, "\n")+"\n2\n", Options{}, "a double: 1"+strings.Repeat("|null", len(pandas)-1)+"|2") // a blank line is no row
}

// TestNullSpellings: a list is in place of the usual ones, numbers are missing however they are written, and texts are
// missing too.
func TestNullSpellings(t *testing.T) {
	given := func(list ...string) Options {
		return Options{Exact: anyColumn, TextOptions: TextOptions{Nulls: list}}
	}
	wants(t, CSV, "a,b\n1,x\n?,?\n ? ,\n4,y\n", given("?"), "a int64: 1|null|null|4", "b string: x|null|null|y")
	wants(t, CSV, "a,b\n1,x\nNA,NA\n,z\n", given("?"), "a string: 1|NA|null", "b string: x|NA|z")
	wants(t, CSV, "a,b\n1,x\nNA,NA\n,z\n", Options{Exact: anyColumn}, "a int64: 1|null|null", "b string: x|NA|z")
	wants(t, CSV, "a,b,c\n1,-999.00,2026-01-31\n-999,2.5,-999\n-9.99e2,-999,2026-02-01\n", given("-999"),
		"a int64: 1|null|null", "b double: null|2.5|null", "c date: 2026-01-31|null|2026-02-01")
	wants(t, CSV, "a\n1\n18446744073709551615\n", given("18446744073709551615"), "a int64: 1|null")
	wants(t, CSV, "a\nNA\n1\n", given(""), "a string: NA|1")
	wants(t, TSV, "a\tb\n\\N\t1\n2\t\\N\n", given(`\N`), "a int64: null|2", "b int64: 1|null")
	wants(t, NDJSON, "{\"a\":-999,\"b\":\"NA\",\"c\":\"NA\"}\n{\"a\":2,\"b\":\"x\",\"c\":\"2026-01-31\"}\n", given("-999", "NA"),
		"a int64: null|2", "b string: null|x", "c date: null|2026-01-31")
	wants(t, NDJSON, "{\"a\":-999.5,\"b\":\"NA\"}\n{\"a\":2,\"b\":\"x\"}\n", Options{Exact: anyColumn}, "a double: -999.5|2", "b string: NA|x")
	wants(t, NPY, npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", []float64{1, -999, -999, 4}), given("-999"),
		"x[0] double: 1|null", "x[1] double: null|4")
}

// TestReasonsOfText: a column that is text though it has numbers has a reason, with line and value.
func TestReasonsOfText(t *testing.T) {
	for _, x := range []struct{ text, why, doubt string }{
		{"a\n1\n2\n?\n4\n", `text (line 4: "?")`, `column "a" is text only because of "?" (line 4); if that stands for a missing value, give null-values ?`},
		{"a,b\n1,NA\n2,7\n-,8\n", `text (line 4: "-")`, `give null-values NA,-`},
		{"a,b\n1,n/a\n2,7\n\\N,8\n", `text (line 4: "\\N")`, `give null-values 'n/a,\N'`},
		{"a\n1\nNaT\n3\n", `text (line 3: "NaT")`, "give null-values NaT"},
		{"a\nm\n1\n2\n", `text (line 2: "m")`, "give null-values m"}, // units
		{"a,b\n1,2\n3,4\nTotal,6\n", `text (line 4: "Total")`, "give null-values Total"},
		{"a,b\nm,s\n1,2\n3,4\n", `text (line 2: "m")`, `in: 2 columns (a, b) are text only because of line 2 (m, s); if that line has names, units or totals, remove it; if it has missing values, give null-values m,s`},
		{"a,b\n1,2\n3,4\na,b\n5,6\n7,8\n", `text (line 4: "a")`, `2 columns (a, b) are text only because of line 4 (a, b)`},
		{"a,b\n1,?\n?,4\n5,6\n7,8\n", `text (line 3: "?")`, `in: 2 columns (a, b) are text only because of "?" (line 3); if that stands for a missing value, give null-values ?`},
		{"a\n1\n2\n<3\n4\n>9\n", `text (line 4: "<3")`, `column "a" is text, as not all of its values are numbers (line 4: "<3")`},
		{"a\nx\n1\ny\nz\n", `text (line 2: "x")`, ""},
		{"a\nx\ny\n", "", ""},
		{"a\n2026-01-31\nx\n", "", ""},
		{"a\n12%\n7.5 %\n", `text: its numbers have percent signs (line 2: "12%")`, ""},
		{"a\n\"1,234.5\"\n\"17,000\"\n3\n", `text: its numbers have commas between thousands (line 2: "1,234.5")`, ""},
		{"a\n\"1,234\"\n\"17,5\"\n3\n", `text: its numbers have decimal commas (line 2: "1,234")`, ""},
		{"a;b\n1,250;1\n-0,095;2\n", `text: its numbers have decimal commas (line 2: "1,250")`, ""}, // no thousand begins with 0
		{"a;b\n0,125;1\n1,250;2\n", `text: its numbers have decimal commas (line 2: "0,125")`, ""},
		{"a;b\n3,14;1\n-1.003,5;2\n7;3\n", `text: its numbers have decimal commas (line 2: "3,14")`, ""},
		{"a;b\n3,14;1\n?;2\n4,5;3\n", `text: its numbers have decimal commas (line 2: "3,14")`, ""},
		{"a\tb\n1 234,5\t1\n17\u00a0000,25\t2\n", `text: its numbers have decimal commas (line 2: "1 234,5")`, ""},
		{"a\n$12.50\n\"-$1,300\"\n($7)\n", `text: its numbers have currency signs (line 2: "$12.50")`, ""},
		{"a;b\n12,50 €;1\n€ 3;2\nEUR 4;3\n5 CHF;4\n", `text: its numbers have currency signs (line 2: "12,50 €")`, ""},
		{"a\n1 234\n2 345 678\n", `text: its numbers have blanks between thousands (line 2: "1 234")`, ""},
		{"a\nA1\nB2\n12 Main St\n3rd\n", "", ""},
		{"a;b\n1.2.3;1\n4.5.6;2\n", "", ""}, // versions
		{"a;b\n3,14,15;1\n4,4,4;2\n", "", ""},
	} {
		_, table, err := taken(CSV, []byte(x.text), Options{TextOptions: TextOptions{Header: "yes"}})
		formattest.Must(t, err)
		why, doubt := table.Columns[0].Why, ""
		for _, d := range table.Doubts {
			doubt += d.Spell(nil)
		}
		if why != x.why || !strings.Contains(doubt, x.doubt) || x.doubt == "" && doubt != "" {
			t.Errorf("%q: %q, doubts %q; want %q, %q", x.text, why, doubt, x.why, x.doubt)
		}
	}
}

// TestOfferedSpellingsWork: the list that is offered makes the column one of numbers, and keeps the nulls of others.
func TestOfferedSpellingsWork(t *testing.T) {
	text := "a,b,c\n1,NA,x\n2,7,y\n#,8,n/a\n4,9,z\n"
	_, table, err := taken(CSV, []byte(text), Options{})
	formattest.Must(t, err)
	want := "in: column \"a\" is text only because of \"#\" (line 4); if that stands for a missing value, give null-values 'NA,n/a,#'"
	if len(table.Doubts) == 0 || table.Doubts[0].Spell(nil) != want {
		t.Errorf("no hash in a name is missing: %v, want %q", table.Doubts, want)
	}
	wants(t, CSV, text, Options{TextOptions: TextOptions{Nulls: []string{"NA", "n/a", "#"}}}, "a double: 1|2|null|4", "b double: null|7|8|9", "c string: x|y|null|z")
}

// TestTextBehindTheSample: a value that does not fit offers the option, and one that makes a column text is its reason.
func TestTextBehindTheSample(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2\n", 300_000) + "?,3\n"
	refuses(t, CSV, text, `line 300002: "?" is not a number`)
	refuses(t, CSV, text, "where \"?\" stands for a missing value, give null-values ?")
	_, table, err := taken(CSV, []byte(text), Options{MayBeText: anyColumn})
	formattest.Must(t, err)
	why := []string{table.Columns[0].Why, table.Columns[1].Why}
	if want := []string{`text (line 300002: "?")`, ""}; !slices.Equal(why, want) || len(table.Doubts) != 1 {
		t.Errorf("%q, doubts %v; want %q and a doubt", why, table.Doubts, want)
	}
	_, table, err = taken(CSV, []byte(text), Options{TextOptions: TextOptions{Nulls: []string{"?"}}})
	formattest.Must(t, err)
	if table.Columns[0].Kind != Float || len(table.Doubts) != 0 {
		t.Errorf("with the option: %v, doubts %v", table.Columns, table.Doubts)
	}
}
