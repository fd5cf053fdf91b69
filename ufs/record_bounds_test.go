package ufs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestRecordOfManyNames: the names and groups that a record holds are bounded, as those of files are.
func TestRecordOfManyNames(t *testing.T) {
	for _, option := range []string{"columns", "exclude", "keep", "forbid"} {
		for names, fits := range map[int]bool{maxNames: true, maxNames + 1: false} {
			list := strings.Repeat("a,", names-1) + "a"
			if _, err := requestFromRecord("greedy", method.Settings{option: list}, nil); (err == nil) != fits {
				t.Errorf("%s of %d names: %v, want that it fits is %t", option, names, err, fits)
			}
		}
	}
	var groups strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&groups, `,"g%d":["f%[1]d"]`, i)
	}
	q := Request{Groups: "{" + groups.String()[1:] + "}", Memory: programBytes + smallDocumentBytes}
	if _, err := q.readGroups(t.Context()); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("groups of 4 MB in a record, with %d bytes: %v, want an error of the memory", q.Memory, err)
	}
}

// TestRecordNamesNoGroupsFile: a record holds groups and costs, and no name of a file that begins like a kind of groups.
func TestRecordNamesNoGroupsFile(t *testing.T) {
	for text, fits := range map[string]bool{
		"lists": true, "prefix:_": true, "regex:^a": true, `{"g":["a"]}`: true, "": true,
		"lists/../../etc/passwd": false, "lists.csv": false, "/etc/passwd": false, "s3://b/g.csv": false, "prefix": false,
	} {
		if _, err := requestFromRecord("greedy", method.Settings{"groups": text}, nil); (err == nil) != fits {
			t.Errorf("groups %q: error %v, want that it fits is %t", text, err, fits)
		}
	}
}
