package shell

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell takes every quoted word for what it was, and plain words stay as they are.
func TestQuote(t *testing.T) {
	if got := Quote("ufs-stream", "-o", "a/b.ufs"); got != "ufs-stream -o a/b.ufs" {
		t.Errorf("quoted %s", got)
	}
	if got, want := Quote("go", "run", "", "it's", "a*b"), `go run '' 'it'\''s' 'a*b'`; got != want {
		t.Errorf("quoted %s, want %s", got, want)
	}
	words := []string{"", "it's", "a b", "s3://lake/?endpoint=x&region=y", "$HOME", "`id`", "*?[]{}", "~", "#!", `\`, `"`, "a\tb", "(x)|y;z<1>2",
		"line\nbreak\n", "\x1b[31m7\x07", "a\u202egpj.exe's \\", "\xff7", "größe 温度", "\u200b"}
	if q := Quote(words...); strings.ContainsFunc(q, isHidden) {
		t.Errorf("%q has what cannot be seen", q)
	}
	out, err := exec.Command("bash", "-c", "printf '%s|\n' "+Quote(words...)).Output() //nolint:gosec // that is what is tested
	if want := strings.Join(words, "|\n") + "|\n"; err != nil || string(out) != want {
		t.Errorf("a shell takes them for %q, %v; want %q", out, err, want)
	}
}

// Plain words stay as they are in the shell, and in no shell do the others all: what begins a command, a pattern or a
// quote is not plain.
func TestIsPlain(t *testing.T) {
	plain := []string{"a", "_", "9", "geo.lat", "a-b", "a:b/c@d%e+f,g=h", "größe", "温度", "тест", "ไทย", "हिन्दी", "x\u0301", "a_1"}
	for _, word := range plain {
		if !IsPlain(word) || Quote(word) != word {
			t.Errorf("%q is plain, and quoted as %s", word, Quote(word))
		}
	}
	out, err := exec.Command("bash", "-c", "printf '%s|' "+strings.Join(plain, " ")).Output() //nolint:gosec // that is what is tested
	if want := strings.Join(plain, "|") + "|"; err != nil || string(out) != want {
		t.Errorf("a shell takes them for %q, %v; want %q", out, err, want)
	}
	for c := rune(0); c < 0x3000; c++ {
		special := c <= ' ' || c == 0x7f || strings.ContainsRune("!\"#$&'()*;<>?[\\]^`{|}~", c) || 0x80 <= c && c < 0xa0 || 0x2000 <= c && c < 0x2070
		if word := "a" + string(c); special && IsPlain(word) {
			t.Errorf("%q is plain", word)
		}
	}
	for _, word := range []string{"", "-x", "~", "=ls", "%1", "@x", "+x", ".x", "/x", ":x", ",x", "a\xff", "a b", "emb[3]", "`touch${IFS}X`a", "a\u202eb", "a\u200bb", "a\ufe0f",
		"a\u3164", "\u0301", "a\u037e", "a\u1fef", "a“b", "a–b", "a\ufffd", "a\tb", "a\U000e0041"} {
		if IsPlain(word) {
			t.Errorf("%q is plain", word)
		}
	}
}
