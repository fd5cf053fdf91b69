package delta

import "github.com/ufs-stream/ufs-stream/stream"

// budget counts bytes against a limit.
type budget struct{ held, limit int64 }

func (b *budget) reserve(n int64, table string) error {
	if n > b.limit-b.held {
		return b.errOverLimit(n, table)
	}
	b.held += n
	return nil
}

func (b *budget) release(n int64) { b.held -= n }

// errOverLimit reports that n more bytes do not fit. The need of later parts of the log is unknown.
func (b *budget) errOverLimit(n int64, table string) error {
	return &stream.MemoryError{What: "the log of " + table + " (read up to here)", Need: b.held + n, Limit: b.limit}
}
