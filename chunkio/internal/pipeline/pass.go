package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pass is one iteration over a range of rows. Spans (buffers for consecutive rows of a row group) circulate:
//
//	free ─▶ scheduler ─▶ workers (decode, settle) ─▶ consumer ─▶ free
//	            └──────────────── out, in order ───────▲
//
// There is one scheduler, which opens files and row groups ahead. Each of the workers decodes some columns of one span
// at a time, and settles them, i.e. applies the policy for missing values. The consumer is the caller.
type pass struct {
	table      *Table
	plan       memoryPlan
	sample     catalog.Sampler
	classCodes []int32       // by index of a label value in span.names: its class plus one; 0 if not known yet
	tasks      chan spanTask // has room for some tasks, so that workers seldom wait for the scheduler
	out        chan *span    // has room for every span: sending never blocks
	free       chan *span
	files      chan struct{}    // a token for every open file
	fetch      *storage.Fetcher // fetches ranges of objects in a store
	places     columnPlaces     // indices of the columns in Options.Keep
	addsToKeep bool             // decoded columns are added to Options.Keep

	running     *sync.WaitGroup // the goroutines of the pass
	matchedRows int64           // number of rows so far that match Options.Where; owned by the scheduler until it ends

	// height is the number of rows of the next span. It is constant for dense rows. For sparse rows, whose size is
	// known only after decoding, it is adapted during the pass.
	height atomic.Int64
}

// spanTask is a task of one worker: it decodes the columns Features.Reads[from:to] of a span.
type spanTask struct {
	span     *span
	from, to int
}

// The reads of a task (columns to decode) have together at most taskValues rows, unless a single read has more. Thus
// decoded values are still in the second-level cache when they are settled. A task has at most taskReads reads, so that
// no worker waits long for the last tasks of other workers. format.Batched explains why many reads at once are faster.
const (
	taskValues = 32 << 10

	taskReads = 64
)

// runPass passes the blocks of a range of rows to the function deliver, until deliver returns false. When it returns,
// its goroutines have ended and its files are closed.
func runPass(ctx context.Context, t *Table, r stream.Range, deliver func(*stream.Chunk) bool) error {
	if err := t.Check(); err != nil {
		return err
	}
	if f := t.Catalog.Plan; f != nil && r.All() {
		r = f.Rows // rows of the shard
	}
	if err := checkRange(t, r); err != nil {
		return err
	}
	l, err := MemoryNeeds(t, t.Options.Memory).choosePlan(t.Options.Memory, t.Options.Threads)
	if err != nil {
		return err
	}
	if t.Pipe != nil {
		if err := t.Pipe.claimPass(t.Options.Memory); err != nil {
			return err
		}
	}
	sample, err := findPassSampler(ctx, t)
	if err != nil {
		return err
	}
	p := &pass{
		table:  t,
		plan:   l,
		sample: sample,
		tasks:  make(chan spanTask, 2*l.workers),
		out:    make(chan *span, l.buffers),
		free:   make(chan *span, l.buffers),
		files:  make(chan struct{}, l.countOpenFiles()),
		fetch:  storage.NewFetcher(l.pieceBytes, t.spool()),
	}
	if p.places, p.addsToKeep = joinKeep(t); p.addsToKeep {
		defer cache.EndAdding(t.Options.Keep)
	}
	p.height.Store(l.rows)
	if t.Sparse != nil {
		p.height.Store(int64(rowsPerBlock(t)))
	}
	for _, s := range t.buffers.takeSpans(l.buffers) {
		s.pass = p
		p.free <- s
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	p.running = &running
	running.Go(func() { p.scheduleSpans(ctx, r) })
	for range l.workers {
		running.Go(func() { p.decodeTasks(ctx) })
	}
	last, err := p.consumeSpans(ctx, deliver)
	cancel()
	running.Wait()
	t.buffers.keepSpan(last)
	for s := range p.out {
		t.buffers.keepSpan(s)
	}
	close(p.free)
	for s := range p.free {
		t.buffers.keepSpan(s)
	}
	if f := t.Catalog.Filter; err == nil && last == nil && f != nil && r.All() && p.matchedRows == 0 && t.Options.TableSince == nil {
		return f.ErrNoMatch()
	}
	return err
}

// checkRange refuses a range that starts or ends inside a row group, because its blocks would differ from the blocks of
// the whole input.
func checkRange(t *Table, r stream.Range) error {
	if r.All() {
		return nil
	}
	if t.Pipe != nil {
		return stream.Usagef("a stream can only be read as a whole; save it to a file first")
	}
	from, to := false, false
	for _, cut := range t.Catalog.GroupCuts() {
		from = from || cut == r.From
		to = to || cut == r.To
	}
	if !from || !to || r.From > r.To {
		return stream.Usagef("rows %v do not start and end between row groups", r)
	}
	return nil
}

// consumeSpans delivers the blocks of the spans in order, and frees the spans. If it stops early, it returns the
// current span, because workers may still use it.
func (p *pass) consumeSpans(ctx context.Context, deliver func(*stream.Chunk) bool) (last *span, err error) {
	for s := range p.out {
		select {
		case <-s.done:
		case <-ctx.Done():
		}
		if more, err := p.deliverBlocksOfSpan(ctx, s, deliver); !more || err != nil {
			return s, err
		}
		s.releaseGroupOfSpan()
		poisonSpan(s)
		p.free <- s
	}
	return nil, ctx.Err()
}

func (p *pass) deliverBlocksOfSpan(ctx context.Context, s *span, deliver func(*stream.Chunk) bool) (wantsMore bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.failure.err != nil {
		return false, s.failure.err
	}
	if err := p.numberClasses(s); err != nil {
		return false, err
	}
	for b := range s.blockCount() {
		if !deliver(s.chunkOfBlock(b)) {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// decodeTasks is the loop of a worker, which ends when there are no more tasks. After a cancellation it only drains the
// tasks, so that the scheduler can end.
func (p *pass) decodeTasks(ctx context.Context) {
	v := new(taskBuffers)
	for t := range p.tasks {
		if ctx.Err() == nil {
			start := time.Now()
			t.span.decodeTask(ctx, t, v)
			settling := time.Now()
			t.span.countDoneTask()
			p.table.Options.Meter.Busy.Add(stream.PartConvert, time.Since(settling))
			p.table.Options.Meter.Decode.Add(int64(time.Since(start)))
		}
	}
}
