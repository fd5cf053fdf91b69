package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestTooManyCategories: a column that was named as one of categories and has too many says what it is, and a
// number how it is a feature all the same.
func TestTooManyCategories(t *testing.T) {
	path := folder(t)("in.csv")
	var text strings.Builder
	text.WriteString("x,zip,word\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d.5,%d,w%d\n", i*i%17, i*7919%1000, i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	const number = "a number of no or more than 64 distinct values, or long ones; not named as categories, it is a feature"
	s := decoded[stream.Selection](t, "select", path, "-k", "1", "--method", "variance", "--categorical", "zip,word")
	why := map[string]string{}
	for _, l := range s.LeftOut {
		why[l.Name] = l.Why
	}
	if why["zip"] != number || why["word"] != "text of no or more than 64 distinct values, or long ones" {
		t.Errorf("left out: %q", why)
	}
	ends(t, exit.Data, "zip: "+number, "select", path, "--columns", "zip", "--categorical", "zip")
}
