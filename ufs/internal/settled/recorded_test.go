package settled

import (
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
)

// TestRecordOfManyNames: the names that a record holds are bounded.
func TestRecordOfManyNames(t *testing.T) {
	for _, option := range []string{"columns", "exclude", "keep", "forbid"} {
		for names, fits := range map[int]bool{1_000_000: true, 1_000_001: false} {
			list := strings.Repeat("a,", names-1) + "a"
			if _, err := RequestFromRecord("greedy", method.Settings{option: list}, nil); (err == nil) != fits {
				t.Errorf("%s of %d names: %v, want that it fits is %t", option, names, err, fits)
			}
		}
	}
}

// TestRecordNamesNoGroupsFile: a record holds groups and costs, and no name of a file that begins like a kind of groups.
func TestRecordNamesNoGroupsFile(t *testing.T) {
	for text, fits := range map[string]bool{
		"lists": true, "prefix:_": true, "regex:^a": true, `{"g":["a"]}`: true, "": true,
		"lists/../../etc/passwd": false, "lists.csv": false, "/etc/passwd": false, "s3://b/g.csv": false, "prefix": false,
	} {
		if _, err := RequestFromRecord("greedy", method.Settings{"groups": text}, nil); (err == nil) != fits {
			t.Errorf("groups %q: error %v, want that it fits is %t", text, err, fits)
		}
	}
}
