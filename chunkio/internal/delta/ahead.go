package delta

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/ufs-stream/ufs-stream/stream"
)

// commitsAhead is the number of commits that are read ahead while one is replayed. An object store needs about 30 ms
// for each request, and a log may have thousands of commits after its last checkpoint. Only commits of at most
// maxAheadFile bytes are read ahead. Reading a longer commit uses the whole bandwidth by itself.
const (
	commitsAhead = 8
	maxAheadFile = 256 << 10
)

// commitQueue opens commits in order, and starts to read the next commits in the background.
type commitQueue struct {
	*table
	waiting     []commit
	nextToStart int // index in waiting of the first commit whose reading has not started
	files       map[int]chan fetchedFile
	running     sync.WaitGroup
}

// fetchedFile is the content of a commit's file that was read ahead, or the error of reading it.
type fetchedFile struct {
	content []byte
	err     error
}

func (q *commitQueue) openCommit(ctx context.Context, i int) (r io.Reader, release func(), err error) {
	for ; q.nextToStart < len(q.waiting) && q.nextToStart <= i+commitsAhead; q.nextToStart++ {
		q.startReading(ctx, q.nextToStart)
	}
	f := q.waiting[i].logFile()
	file, ok := q.files[i]
	if !ok {
		return q.openFile(ctx, f)
	}
	delete(q.files, i)
	got := <-file
	release = func() { q.budget.releaseBytes(f.size) }
	if got.err != nil {
		return nil, release, q.errUnreadableFile(f.name, got.err)
	}
	return bytes.NewReader(got.content), release, q.checkSize(f, int64(len(got.content)))
}

// startReading starts to read commit i in the background, if enough memory remains for other purposes.
func (q *commitQueue) startReading(ctx context.Context, i int) {
	f := q.waiting[i].logFile()
	if f.size > maxAheadFile || f.size > q.budget.limit/2-q.budget.used || q.budget.reserveBytes(f.size, q.name) != nil {
		return
	}
	file := make(chan fetchedFile, 1)
	q.files[i] = file
	q.running.Go(func() {
		content, err := q.folder.ReadFile(ctx, f.name, maxAheadFile)
		file <- fetchedFile{content, err}
	})
}

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
