package groups

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestGroupsOfARecordAreBounded: the groups that a record holds are bounded, as groups in a file are.
func TestGroupsOfARecordAreBounded(t *testing.T) {
	var whole strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&whole, `,"g%d":["f%[1]d"]`, i)
	}
	q := request.Request{Choice: request.Choice{Groups: "{" + whole.String()[1:] + "}"}, Limits: request.Limits{Memory: budget.ProgramBytes + 4<<20}}
	if _, err := ReadGroups(t.Context(), &q); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("groups of 4 MB in a record, with %d bytes: %v, want an error of the memory", q.Limits.Memory, err)
	}
}
