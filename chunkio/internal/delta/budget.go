package delta

import "github.com/ufs-stream/ufs-stream/stream"

// budget counts bytes against a limit.
type budget struct{ held, limit int64 }

// use takes n bytes.
func (b *budget) use(n int64, table string) error {
	if n > b.limit-b.held {
		return b.short(n, table)
	}
	b.held += n
	return nil
}

func (b *budget) free(n int64) { b.held -= n }

// short says that n bytes more are needed than the limit leaves. How many more will be
// needed behind these is not known.
func (b *budget) short(n int64, table string) error {
	return &stream.MemoryError{What: "the log of " + table + " (read up to here)", Need: b.held + n, Limit: b.limit}
}
