package stream

import (
	"errors"
	"fmt"
	"testing"
)

// What is worth another try is found below any wrapping; of joined errors all must be.
func TestTemporary(t *testing.T) {
	busy := &DataError{Path: "s3://lake/x", RowGroup: -1, Row: -1, Err: fmt.Errorf("HTTP 503: %w", ErrTemporary)}
	full := &OutputError{Path: "x", Err: errors.New("no space left on device")}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{full, false},
		{ErrTemporary, true},
		{busy, true},
		{Errorf("{o} is not there: %w", busy), true},
		{fmt.Errorf("reading: %w", &OutputError{Path: "y", Err: busy}), true},
		{errors.Join(busy), true},
		{errors.Join(nil, busy, nil), true},
		{errors.Join(busy, ErrTemporary), true},
		{errors.Join(busy, full), false},
		{errors.Join(full, busy), false},
		{fmt.Errorf("%w, and then %w", busy, full), false},
		{fmt.Errorf("as text only: %v", busy), false}, //nolint:errorlint // formatting without wrapping is tested
	} {
		if Temporary(c.err) != c.want {
			t.Errorf("Temporary(%v) = %v, want %v", c.err, !c.want, c.want)
		}
	}
}
