package delta

import "github.com/ufs-stream/ufs-stream/stream"

// budget counts the bytes in use against a limit.
type budget struct{ used, limit int64 }

func (b *budget) reserveBytes(bytes int64, tableName string) error {
	if bytes > b.limit-b.used {
		return b.errOverLimit(bytes, tableName)
	}
	b.used += bytes
	return nil
}

func (b *budget) releaseBytes(bytes int64) { b.used -= bytes }

// errOverLimit reports that n more bytes exceed the limit. Later parts of the log may need still more memory.
func (b *budget) errOverLimit(n int64, table string) error {
	return &stream.MemoryError{What: "the log of " + table + " (read up to here)", Need: b.used + n, Limit: b.limit}
}
