package screen

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain": "plain", `C:\data`: `C:\data`, "größe 温度\u3000x": "größe 温度\u3000x", "50\u00a0%": "50\u00a0%",
		"a\nb\r\t": `a\nb\r\t`, "\x1b[31mred\x9b": `\x1b[31mred\x9b`, "\u009b2J": `\u009b2J`, "\x7f\x00": `\x7f\x00`,
		"a\u202egpj.exe": `a\u202egpj.exe`, "zero\u200bwidth\ufeff": `zero\u200bwidth\ufeff`, "\u2028": `\u2028`,
		"\xff\xc3": `\xff\xc3`, "\U000e0041": `\U000e0041`,
	} {
		if got := EscapeText(s); got != want {
			t.Errorf("%q is shown as %q, want %q", s, got, want)
		}
	}
}

// The text shown for any character is valid, has nothing invisible, and does not change when it is shown again.
func TestTextIsClean(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune+1; r += 1 + r/0x3000 {
		got := EscapeText(string(r))
		if !utf8.ValidString(got) || got == "" || EscapeText(got) != got || strings.ContainsFunc(got, func(r rune) bool {
			return unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
		}) {
			t.Fatalf("%U is shown as %q", r, got)
		}
	}
	for b := range 256 {
		if got := EscapeText(string([]byte{'a', byte(b)})); !utf8.ValidString(got) || b >= 0x80 && got != fmt.Sprintf(`a\x%x`, b) {
			t.Fatalf("byte %x is shown as %q", b, got)
		}
	}
}

type named string

func (n named) String() string { return "name " + string(n) }

// Arguments of every kind and verb are shown; the format stays what it is.
func TestPage(t *testing.T) {
	const bad = "a\n\x1b\u202e"
	var b strings.Builder
	p := NewPage(&b)
	p.Printf("\t%s %v %d %5.1f|%*d|%q %t\n", bad, errors.New(bad), 7, 1.25, 4, 12, bad, true)
	p.Printf("%v %v %[1]s %-10[3]s|%%\n", named(bad), []string{bad}, "x\n")
	p.Table([]string{"name", ">n"}, [][]string{{bad, "1"}, {strings.Repeat("ü", 1000), "22"}})
	fmt.Fprintf(p, "%s|", bad)
	long := strings.Repeat("ü", 120) + "…" + strings.Repeat("ü", 119)
	pad := strings.Repeat(" ", 240)
	want := "\ta\\n\\x1b\\u202e a\\n\\x1b\\u202e 7   1.2|  12|\"a\\n\\x1b\\u202e\" true\n" +
		"name a\\n\\x1b\\u202e [a\\n\\x1b\\u202e] name a\\n\\x1b\\u202e x\\n        |%\n" +
		"name" + pad[4:] + "   n\n" + `a\n\x1b\u202e` + pad[13:] + "   1\n" + long + "  22\n" +
		"a\n\\x1b\\u202e|"
	if b.String() != want || p.Err() != nil {
		t.Errorf("%v, page\n%s\nwant\n%s", p.Err(), b.String(), want)
	}
	p = NewPage(&failing{})
	p.Printf("x")
	p.Table([]string{"x"}, nil)
	if !errors.Is(p.Err(), errFull) {
		t.Errorf("got %v", p.Err())
	}
}

var errFull = errors.New("full")

// failing takes one write and fails for another reason after the first failure.
type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) {
	if f.calls++; f.calls > 1 {
		return 0, errors.New("called again")
	}
	return 0, errFull
}

// A Writer shows the same however its text is cut.
func TestWriter(t *testing.T) {
	const text = "größe,\x1b[1m\n\"温\u202e度\"\xc3,\xf0\x9f🙂\xe6\n"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		w := NewWriter(&b)
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
				t.Fatalf("writing %d bytes: wrote %d, %v", min(size, len(rest)), n, err)
			}
		}
		if b.String() != EscapeLines(text) {
			t.Fatalf("in pieces of %d: %q", size, b.String())
		}
	}
	if _, err := NewWriter(&failing{}).Write([]byte("x")); err == nil {
		t.Error("no error")
	}
}

// A name that would not be seen, or of which no one sees where it ends, stands in quotes.
func TestName(t *testing.T) {
	for s, want := range map[string]string{"": `""`, " ": `" "`, "\u00a0a": "\"\u00a0a\"", "a\n": "\"a\n\"", "a b": "a b", ".": ".", `"`: `"`} {
		if got := QuoteName(s); got != want {
			t.Errorf("%q is shown as %s, want %s", s, got, want)
		}
	}
}
