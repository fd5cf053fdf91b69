package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Exchanges leave no more than greedy does, from rows and from statistics alike; what they are
// not for is refused with the way out.
func TestRefine(t *testing.T) {
	in, _ := plant(t, 900, 3)
	stats := t.TempDir() + "/all.ufs"
	must(t, "scan", in, "-o", stats)
	decoded := func(args ...string) (s stream.Selection) {
		if err := json.Unmarshal([]byte(must(t, append(args, "-k", "5", "--format", "json")...)), &s); err != nil {
			t.Fatalf("decoding the output: %v", err)
		}
		return s
	}
	for _, method := range []string{"greedy", "graphgreedy"} {
		plain := decoded("select", in, "--method", method)
		refined := decoded("select", in, "--method", method, "--refine", "swap")
		last, before := refined.Selected[4], plain.Selected[4]
		if last.Error > before.Error || last.Least == nil || *last.Least > last.Error || refined.Options["refine"] != "swap" {
			t.Errorf("%s: %v is left, at least %v; greedy leaves %v; options %v", method, last.Error, last.Least, before.Error, refined.Options)
		}
	}
	if a, b := must(t, "select", in, "-k", "5", "--method", "greedy", "--refine", "swap", "--format", "names"), must(t, "select", "--stats", stats, "-k", "5", "--method", "greedy", "--refine", "swap", "--format", "names"); a != b {
		t.Errorf("from rows %q, from statistics %q", a, b)
	}
	ends(t, exit.Usage, "leave --refine out", "path", in, "-k", "5", "--method", "greedy", "--refine", "swap")
	ends(t, exit.Usage, "none, swap", "select", in, "--method", "greedy", "--refine", "swop")
	ends(t, exit.Usage, "refine", "select", in, "--method", "variance", "--refine", "swap")
}

// Past the rank the table says which layer a feature is of, and the warning which follow.
func TestSecondLayer(t *testing.T) {
	in, _ := plant(t, 12, 1)
	r := invoke("select", in, "-k", "20", "--method", "greedy")
	if r.code != exit.Done || !strings.Contains(r.err, "reached: features ") || !strings.Contains(r.out, "layer\n") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.err)
	}
	if n := strings.Count(must(t, "select", in, "-k", "20", "--method", "greedy", "--format", "names"), "\n"); n != 20 {
		t.Errorf("%d features, want 20", n)
	}
}
