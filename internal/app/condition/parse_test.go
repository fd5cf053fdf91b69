package condition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// shape writes a condition's tree, so that two spellings can be compared.
func shape(c *Condition) string {
	var visit func(n *Node) string
	visit = func(n *Node) string {
		if n.Op == IsLeaf {
			l := c.Leaves[n.Leaf]
			s := fmt.Sprintf("%s %d", l.Column, l.Test)
			for _, k := range l.Constants {
				if k.Kind == Number {
					k.Text = k.Number.String()
				}
				s += fmt.Sprintf(" %d:%s", k.Kind, k.Text)
			}
			return s
		}
		var parts []string
		for _, a := range n.Args {
			parts = append(parts, visit(a))
		}
		return fmt.Sprintf("%d(%s)", n.Op, strings.Join(parts, ", "))
	}
	return visit(c.Root)
}

// Every group lists spellings of one condition.
func TestSpellings(t *testing.T) {
	for _, same := range [][]string{
		{`x == 1`, `x=1`, `1 = x`, `(x) == (1)`, `col("x") = +1`, `x in (1)`, `x IN [1]`, `x == 0x1`, `x = 1.0`, `x == 1e0`, "x\n==\t1", `x == 01`},
		{`x != 1`, `x <> 1`, `x<>1`, `not x = 1`, `NOT (x == 1)`, `!x == 1`, `1 != x`, `x not in (1)`, `x NOT IN (1)`, `not x in [1]`},
		{`x < -2.5`, `-2.5 > x`, `x<-2.5`, `x < -25e-1`},
		{`a.b is null`, `a.b == null`, `a.b = NIL`, `NULL == a.b`, `col("a.b") IS NULL`, `col("a").b is Null`},
		{`a.b is not null`, `a.b != nil`, `not a.b is null`, `not (a.b = null)`},
		{`f`, `f == true`, `true = f`, `(f)`},
		{`not f`, `!f`, `NOT f == TRUE`, `not (f)`},
		{`x = 1 or y = 2 and z = 3`, `x = 1 or (y = 2 and z = 3)`, `x = 1 || y = 2 && z = 3`, `(x=1) OR ((y=2) AND (z=3))`},
		{`not x = 1 and y = 2`, `(not x = 1) and y = 2`, `!(x == 1) && (y == 2)`},
		{`not not x = 1 or y`, `!(!(x = 1)) or y`, `(not not x = 1) or y`},
		{`s in ("a", 'b', 'it''s')`, `s IN ['a', "b", "it's"]`, `s in ("a","b","it's")`},
		{`emb[3] > 1`, `col("emb[3]") > 1`, `emb [ 3 ] > 1`, `1 < emb[3]`},
		{`let = 1`, `col("let") = 1`},
		{`is is null`, `col("is") is null`, `is = NULL`},
		{"s = '\\t\\u00e9\\101'", "s = \"\téA\"", "s = `\téA`"},
		{`a.not = 1 and a.in = 2`, `col("a.not") = 1 and col("a.in") = 2`},
		{`ß.ö = "ü"`, `col("ß.ö") = 'ü'`},
		{`x in (1) and not (y in (2) or not z in (3))`, `x in [1] and !(y in [2] || z not in [3])`},
		{`x = 1 and y = 2 and z = 3`, `x = 1 and (y = 2 and z = 3)`, `((x = 1) and y = 2) and z = 3`},
	} {
		first := shape(must.Get(Parse(same[0]))(t))
		for _, other := range same[1:] {
			c, err := Parse(other)
			if err != nil {
				t.Errorf("parsing %s: %v", other, err)
			} else if got := shape(c); got != first {
				t.Errorf("%s is %s; %s is %s", other, got, same[0], first)
			}
			if err == nil && c.String() != other {
				t.Errorf("%s calls itself %s", other, c)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	c := must.Get(Parse(`b.c > 1 and (a = 2 or not b.c < 0) and col("x y")[2] is null`))(t)
	if got := c.Columns(); !slices.Equal(got, []string{"b.c", "a", "x y[2]"}) {
		t.Errorf("the columns are %v, want b.c, a, x y[2]", got)
	}
}

// An error names the place of the fault.
func TestFaultsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		``:                              "empty",
		`   `:                           "empty",
		`x`:                             "",
		`x >`:                           "missing: at the end",
		`x > > 1`:                       "not expected here: at character 5",
		`x + 1 > 2`:                     "conditions cannot contain arithmetic",
		`day >= 2026-01-03`:             "write a date in quotes: at character 8",
		`2026-01-03 <= day`:             "write a date in quotes: at character 1",
		`t < 2026-01-03T08:00:00 and x`: "write a date in quotes: at character 5",
		`ä = 1 and d in (2026-1-3)`:     "write a date in quotes: at character 17",
		`x > 1 + 2`:                     "conditions cannot contain arithmetic: at character 7",
		`-x > 1`:                        "character 1",
		`len(x) > 1`:                    "conditions cannot contain functions: at character 1",
		`x > abs(1)`:                    "conditions cannot contain functions: at character 5",
		`x > y`:                         "two columns are compared, which is not understood: compare each with a constant: at character 3",
		`1 = 2`:                         "two constants",
		`"a b" = 2`:                     `col("its name"): at character 7`,
		`true`:                          "a constant alone is no condition: at character 1",
		`x = 1 and 5`:                   "a constant alone is no condition: at character 11",
		`1 < x < 5`:                     "cannot be chained",
		`x between 1 and 5`:             "not expected here: at character 3",
		`x like "a%"`:                   "not expected here: at character 3",
		`x in ()`:                       "the list is empty",
		`x in y`:                        "in needs a list of constants",
		`x in (1, y)`:                   "a constant is expected here; write a text in quotes: at character 10",
		`x in (1, null)`:                "null in a list is not understood; write x in (…) or x is null: at character 10",
		`x < null`:                      "null has no order",
		`x = "a`:                        "literal not terminated",
		`x = 'a\q'`:                     "invalid char escape",
		`(x = 1`:                        "missing: at the end",
		`x = 1)`:                        "not expected here: at character 6",
		`x = 1 y = 2`:                   "not expected here: at character 7",
		`x ? y : z`:                     "conditions cannot contain ?: at character 3",
		`x ?? 1`:                        "conditions cannot contain ??: at character 3",
		`x?.y = 1`:                      "conditions cannot contain ?.: at character 2",
		`x["a"] = 1`:                    `an element of a list is named by its number, as in emb[3] > 0: at character 3`,
		`x[-1] = 1`:                     "an element of a list is named by its number",
		`x[1:2] = 1`:                    "an element of a list is named by its number",
		`col(x) = 1`:                    "col needs one name in quotes",
		`col("a", "b") = 1`:             "col needs one name in quotes",
		`col("") = 1`:                   "col needs one name in quotes",
		`x.y() = 1`:                     "conditions cannot contain functions",
		`[1, 2] = x`:                    "",
		`x = [1]`:                       "a constant is expected here: at character 5",
		`x = b"a"`:                      "texts are written without b: at character 5",
		`x = {"a": 1}`:                  "conditions cannot contain {: at character 5",
		`let y = 1; x > y`:              "not expected here",
		`x = 1; y = 2`:                  "conditions cannot contain ;: at character 6",
		`x = 1e999`:                     "exponent",
		`x = 1e`:                        "1e is no number: at character 5",
		`x = -"a"`:                      "only numbers have a sign",
		`# = 1`:                         "",
		`x = 1 # y`:                     "",
		`x ♥ 1`:                         "unrecognized character",
		`(x = 1) = true`:                "a column is expected here, and parts of conditions are joined by and, or, not",
		`x | y`:                         "",
		`not`:                           "missing: at the end",
		`x is`:                          "not expected here: at character 3",
		`x !in (1)`:                     "not expected here: at character 3",
		`x is 1`:                        "not expected here: at character 3",
		"x = \xff":                      "UTF-8",
		`x = 1 and` + "\n y == y":       "two columns are compared",
	} {
		c, err := Parse(text)
		var usage *stream.UsageError
		switch {
		case text == `x`:
			must.Do(t, err)
		case err == nil:
			t.Errorf("%s: is %s", text, shape(c))
		case !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), "where: ") || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v; want %q", text, err, want)
		case want != "UTF-8" && !strings.Contains(err.Error(), `day >= "2026-01-01"`):
			t.Errorf("%s: no example: %v", text, err)
		}
	}
}

// Nesting and length are bounded, and fail as such.
func TestDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("(", n) + "x = 1" + strings.Repeat(")", n) }
	must.Get(Parse(deep(maxDepth)))(t)
	for _, text := range []string{deep(maxDepth + 1), strings.Repeat("not ", 1000) + "x", strings.Repeat("not (", 101) + "x" + strings.Repeat(")", 101)} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "nested more than 200 deep") {
			t.Errorf("%.40s…: got %v, want an error that it is nested too deep", text, err)
		}
	}
	if _, err := Parse("x in (1" + strings.Repeat(",1", 20_000) + ")"); err == nil || !strings.Contains(err.Error(), "too many parts") {
		t.Errorf("a list of 20,000: %v", err)
	}
	if _, err := Parse(strings.Repeat(" ", maxText) + "x"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a long text: %v", err)
	}
}

// For any text, Parse returns a condition, which knows its columns, or a usage error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`day >= "2026-01-01" and site in ("a", "b")`, `not x = 1 or y is not null`, `!a.b && emb[3] <> -2.5e3`,
		`col("x y") NOT IN (1, 'it''s', true)`, `1<x`, `((`, `not in`, `x in (y in (1))`, `x.in.not[3] = nil`, `f = 1 and i in [1,2] or !(b)`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if usage := (*stream.UsageError)(nil); err != nil && !errors.As(err, &usage) {
			t.Fatalf("parsing %q: got %v, want a UsageError", text, err)
		}
		if err == nil && len(c.Columns()) == 0 {
			t.Fatalf("%q: no columns", text)
		}
	})
}
