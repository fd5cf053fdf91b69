package budget

import (
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestWholeLimitKeepsOtherErrors: an error of removing a file is kept next to the memory error, which is
// restated.
func TestWholeLimitKeepsOtherErrors(t *testing.T) {
	left := errors.New("two files are left")
	short := &stream.MemoryError{What: "copying", Need: 2 << 20, Limit: 1 << 20}
	q := request.Request{Limits: request.Limits{Memory: ProgramBytes + 1<<20}}
	err := ErrForLimit(&q, errors.Join(short, left))
	m, ok := errors.AsType[*stream.MemoryError](err)
	if !ok || m.Limit != q.Limits.Memory || m.Need != ProgramBytes+2<<20 || !errors.Is(err, left) {
		t.Errorf("joined with a memory error: %v, want it restated for the limit %d, and the other error kept", err, q.Limits.Memory)
	}
	if err := ErrForLimit(&q, errors.Join(left, left)); !errors.Is(err, left) || errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("without a memory error: %v, want the errors as they are", err)
	}
}
