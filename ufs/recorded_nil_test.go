package ufs

import (
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestRecordedOfNothing: no selection records no request.
func TestRecordedOfNothing(t *testing.T) {
	if _, err := Recorded(nil, nil); !errors.As(err, new(*stream.UsageError)) {
		t.Errorf("error %v, want a usage error", err)
	}
}
