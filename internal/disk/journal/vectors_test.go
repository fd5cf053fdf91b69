package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestJournalVector reads a log as it was written when version 1 was current, so that a run that an earlier version
// began goes on. The same entries give the same bytes.
func TestJournalVector(t *testing.T) {
	vector := must.Get(os.ReadFile("testdata/vectors/v1.journal"))(t)
	path := filepath.Join(t.TempDir(), "log")
	must.Do(t, os.WriteFile(path, vector, 0o600))
	want := []entry{{"one", "-"}, {"two ž", ""}, {"three", "a body\nof two lines\x00"}}
	if _, isCut, list := reopen(t, path); isCut || !slices.Equal(list, want) {
		t.Errorf("got %q, cut %t, want %q", list, isCut, want)
	}
	again := filepath.Join(t.TempDir(), "again")
	l, _, _ := reopen(t, again)
	for _, e := range want {
		add(t, l, e)
	}
	if got := must.Get(os.ReadFile(again))(t); !bytes.Equal(got, vector) {
		t.Errorf("written again it is %q, want %q", got, vector)
	}
}
