package where

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Constants that do not fit are refused, with the column, its type and an example that fits.
func TestConstantsThatDoNotFit(t *testing.T) {
	for text, want := range map[string]string{
		`i = "abc"`:                      `column "i", at character 1, is of type int64: "abc" is no number`,
		`i > 9007199254740992`:           "cannot be compared exactly",
		`i > -9007199254740992`:          "cannot be compared exactly",
		`i = true`:                       "true is no number",
		`i`:                              "only a boolean column is a condition on its own",
		`i = "inf"`:                      "is no number",
		`f = "nan"`:                      "is no number",
		`t = 1`:                          `1 is no text; write it in quotes: "1"`,
		`t`:                              "only a boolean column",
		`b < true`:                       "true and false have no order",
		`b = 2`:                          "neither true nor false",
		`b = "yes"`:                      "neither true nor false",
		`day = 20260101`:                 `write "2026-01-31"`,
		`day = "2026-1-1"`:               `write "2026-01-31"`,
		`day = "2026-01-01T00:00"`:       `write "2026-01-31"`,
		`local = "2026-01-01T00:00Z"`:    "has a time zone, which its values lack",
		`utc = "yesterday"`:              "of type timestamp (UTC)",
		`clock = "25:00"`:                `write "15:04:05"`,
		`site = 1`:                       "a partition key of texts: 1 is no text",
		`year = "x"`:                     "a partition key of numbers",
		`hot = "x"`:                      "a partition key of true and false",
		`o = 1`:                          "such columns cannot stand in a condition",
		`x in (1, 2) and o is null`:      "such columns",
		`f = 1 and (t = "a" or t = 3.5)`: `column "t", at character 23`,
	} {
		_, err := Bind(must.Get(condition.Parse(text))(t), func(name string) (Kind, bool) {
			if name == "o" {
				return Kind{Type: "duration"}, true
			}
			return kindOf(name)
		})
		var usage *stream.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	b := must.Get(Bind(must.Get(condition.Parse("x = 1 and i = 2 and y is null"))(t), kindOf))(t)
	if got := b.UnknownColumns(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("the unbound columns are %v, want x and y", got)
	}
}

// Whatever the condition, it binds or is refused with a usage error.
func FuzzBind(f *testing.F) {
	for _, seed := range []string{
		`day >= "2026-01-01" and site in ("a", "b")`, `not x = 1 or y is not null`, `!a.b && emb[3] <> -2.5e3`,
		`col("x y") NOT IN (1, 'it''s', true)`, `1<x`, `((`, `not in`, `x in (y in (1))`, `x.in.not[3] = nil`, `f = 1 and i in [1,2] or !(b)`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := condition.Parse(text)
		if err != nil {
			return
		}
		b, err := Bind(c, kindOf)
		if err != nil {
			if usage := (*stream.UsageError)(nil); !errors.As(err, &usage) {
				t.Fatalf("%q: binding gives %v, want a usage error", text, err)
			}
			return
		}
		if o := b.Outcome(b.NewState()); len(b.UnknownColumns()) == 0 && o != anyOutcome {
			t.Fatalf("%q is decided by nothing: %v", text, o)
		}
	})
}
