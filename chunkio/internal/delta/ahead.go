package delta

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// commitsAhead are read while one is replayed: an object store takes some 30 ms a request,
// whatever it is for, and a log may have thousands of commits behind its last checkpoint.
// Only those of at most aheadFile bytes are; longer ones keep the connection busy alone.
const (
	commitsAhead = 8
	aheadFile    = 256 << 10
)

// queue opens commits in their order, and reads the next ones ahead.
type queue struct {
	*table
	commits []commit
	next    int // the first that is not under way
	files   map[int]chan fetched
	running sync.WaitGroup
}

type fetched struct {
	content []byte
	err     error
}

// wait waits for the reads under way. Cancel their context first.
func (q *queue) wait() { q.running.Wait() }

// open is table.open of commit i. Calls go up by one.
func (q *queue) open(ctx context.Context, i int) (r io.Reader, release func(), err error) {
	for ; q.next < len(q.commits) && q.next <= i+commitsAhead; q.next++ {
		q.start(ctx, q.next)
	}
	f := q.commits[i].file()
	file, ok := q.files[i]
	if !ok {
		return q.table.open(ctx, f)
	}
	delete(q.files, i)
	got := <-file
	release = func() { q.budget.free(f.size) }
	if got.err != nil {
		return nil, release, q.unreadable(f.name, got.err)
	}
	return bytes.NewReader(got.content), release, q.checkSize(f, int64(len(got.content)))
}

// start begins to read commit i, where there is memory that nothing else needs soon.
func (q *queue) start(ctx context.Context, i int) {
	f := q.commits[i].file()
	if f.size > aheadFile || f.size > q.budget.limit/2-q.budget.held || q.budget.use(f.size, q.name) != nil {
		return
	}
	file := make(chan fetched, 1)
	q.files[i] = file
	q.running.Go(func() {
		content, err := q.folder.ReadFile(ctx, f.name, aheadFile)
		file <- fetched{content, err}
	})
}
