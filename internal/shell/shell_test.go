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
