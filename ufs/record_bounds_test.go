package ufs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestRecordOfManyNames: the names and groups that a record holds are bounded, as those of files are.
func TestRecordOfManyNames(t *testing.T) {
	for _, option := range []string{"columns", "exclude", "keep", "forbid"} {
		for names, fits := range map[int]bool{request.MaxNames: true, request.MaxNames + 1: false} {
			list := strings.Repeat("a,", names-1) + "a"
			if _, err := settled.RequestFromRecord("greedy", method.Settings{option: list}, nil); (err == nil) != fits {
				t.Errorf("%s of %d names: %v, want that it fits is %t", option, names, err, fits)
			}
		}
	}
	var whole strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&whole, `,"g%d":["f%[1]d"]`, i)
	}
	q := Request{Choice: Choice{Groups: "{" + whole.String()[1:] + "}"}, Limits: Limits{Memory: budget.ProgramBytes + budget.SmallDocumentBytes}}
	if _, err := groups.ReadGroups(t.Context(), &q); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("groups of 4 MB in a record, with %d bytes: %v, want an error of the memory", q.Limits.Memory, err)
	}
}

// TestRecordNamesNoGroupsFile: a record holds groups and costs, and no name of a file that begins like a kind of groups.
func TestRecordNamesNoGroupsFile(t *testing.T) {
	for text, fits := range map[string]bool{
		"lists": true, "prefix:_": true, "regex:^a": true, `{"g":["a"]}`: true, "": true,
		"lists/../../etc/passwd": false, "lists.csv": false, "/etc/passwd": false, "s3://b/g.csv": false, "prefix": false,
	} {
		if _, err := settled.RequestFromRecord("greedy", method.Settings{"groups": text}, nil); (err == nil) != fits {
			t.Errorf("groups %q: error %v, want that it fits is %t", text, err, fits)
		}
	}
}
