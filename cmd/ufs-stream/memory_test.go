package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResultsWithinTheLimit: every verb that reads a selection keeps to --memory-limit, which is exit code 4 with the
// limit that is enough, and not before one that is needed.
func TestResultsWithinTheLimit(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatalf("got error %v, want none", err)
		}
	}
	csv := filepath.Join(dir, "x.csv")
	write(csv, "a,b\n"+strings.Repeat("1,2\n3,5\n2,7\n", 50))
	small, long := filepath.Join(dir, "small.json"), filepath.Join(dir, "long.json")
	stats := filepath.Join(dir, "x.ufs")
	for _, args := range [][]string{{"select", csv, "-k", "1", "-o", small}, {"scan", csv, "-o", stats}} {
		must(t, args...)
	}
	whole, err := os.ReadFile(small)
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	text := string(whole)
	text = strings.Replace(text, "{", `{ "trace": [`+strings.Repeat(`{},`, 1<<19)+`{}],`, 1)
	write(long, text)
	for _, args := range [][]string{
		{"diff", small, long}, {"diff", long, small}, {"report", long, "-o", filepath.Join(dir, "r.html")}, {"report", small, long, "-o", filepath.Join(dir, "r.html")},
		{"apply", csv, "--selection", long, "-o", filepath.Join(dir, "out.parquet")}, {"eval", csv, "--selection", long}, {"check", "--selection", long, "--stats", stats}, {"explain", "a", csv, "--selection", long},
	} {
		r := invoke(append(args, "--memory-limit", "60MiB")...)
		code, said := r.code, r.err
		at := strings.LastIndex(said, "raise it: --memory-limit ")
		if code != 4 || at < 0 || !strings.Contains(said, "reading "+long) {
			t.Errorf("%v: exit code %d, want 4: %s", args, code, said)
			continue
		}
		var enough int
		if _, err := fmt.Sscanf(said[at:], "raise it: --memory-limit %dMiB", &enough); err != nil {
			t.Fatalf("%s: got error %v, want none", said, err)
		}
		if r := invoke(append(args, "--memory-limit", fmt.Sprintf("%dMiB", enough))...); r.code != 0 && r.code != 6 {
			t.Errorf("%v in %d MiB: exit code %d: %s", args, enough, r.code, r.err)
		}
	}
}
