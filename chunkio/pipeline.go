package chunkio

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// pass is one run over a range of rows. Spans travel
//
//	free ─▶ scheduler ─▶ workers (decode, settle) ─▶ consumer ─▶ free
//	            └──────────────── out, in order ───────▲
//
// with one scheduler, which opens files and row groups ahead, some workers, each
// decoding one column of one span at a time, and the consumer, which is the caller.
type pass struct {
	d      *Dataset
	plan   plan
	sample sampler
	codes  []int32    // by number of a label's value in the spans: its class, plus one; 0 not known yet
	tasks  chan task  // a few ahead, so that decoders seldom wait for the scheduler
	out    chan *span // has room for every span: sending never blocks
	free   chan *span
	files  chan struct{} // a token for every open file
	fetch  *fetcher      // of objects in a store
	places keptPlaces    // where columns are in Options.Keep
	adds   bool          // what is decoded goes there

	running *sync.WaitGroup // the goroutines of the pass
	matched int64           // rows that Options.Where leaves so far; of the scheduler until it ends

	// height is the rows of the next span: constant for dense rows, learned as the
	// pass goes on for sparse ones, whose size only decoding tells.
	height atomic.Int64
}

// task is the decoding of some reads of a span, one behind the other.
type task struct {
	span     *span
	from, to int
}

// A task has as many reads as make taskValues, so that what they decode to is still in the
// second-level cache when it is settled, but no more than taskReads, nor so many that a worker
// could wait for the others' last ones. What many gain is told at format.Batched.
const (
	taskValues = 32 << 10
	taskReads  = 64
)

// pass delivers the blocks of a range to deliver, until that returns false. When it
// returns, its goroutines have ended and its files are closed.
func (d *Dataset) pass(ctx context.Context, r stream.Range, deliver func(*stream.Chunk) bool) error {
	if err := d.Check(); err != nil {
		return err
	}
	if f := d.catalog.plan; f != nil && r.All() {
		r = f.rows // of the shard
	}
	if err := d.checkRange(r); err != nil {
		return err
	}
	l, err := d.needs(d.opt.Memory).plan(d.opt.Memory, d.opt.Threads)
	if err != nil {
		return err
	}
	if d.pipe != nil {
		if err := d.pipe.take(d.opt.Memory); err != nil {
			return err
		}
	}
	sample, err := d.sampler(ctx)
	if err != nil {
		return err
	}
	p := &pass{
		d:      d,
		plan:   l,
		sample: sample,
		tasks:  make(chan task, 2*l.workers),
		out:    make(chan *span, l.buffers),
		free:   make(chan *span, l.buffers),
		files:  make(chan struct{}, l.openFiles()),
		fetch:  newFetcher(l.piece, d.spool()),
	}
	if p.places, p.adds = d.opt.Keep.join(d); p.adds {
		defer d.opt.Keep.leave()
	}
	p.height.Store(l.rows)
	if d.sparse != nil {
		p.height.Store(int64(d.blockRows()))
	}
	for _, s := range d.buffers.take(l.buffers) {
		s.pass = p
		p.free <- s
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	p.running = &running
	running.Go(func() { p.schedule(ctx, r) })
	for range l.workers {
		running.Go(func() { p.work(ctx) })
	}
	last, err := p.consume(ctx, deliver)
	cancel()
	running.Wait()
	d.buffers.put(last)
	for s := range p.out {
		d.buffers.put(s)
	}
	close(p.free)
	for s := range p.free {
		d.buffers.put(s)
	}
	if f := d.catalog.filter; err == nil && last == nil && f != nil && r.All() && p.matched == 0 {
		return f.errNoMatch()
	}
	return err
}

// checkRange refuses a range that does not start and end between row groups: its
// blocks would differ from the whole input's.
func (d *Dataset) checkRange(r stream.Range) error {
	if r.All() {
		return nil
	}
	if d.pipe != nil {
		return stream.Usagef("a stream can only be read as a whole; save it to a file first")
	}
	from, to := false, false
	for _, cut := range d.catalog.groupCuts() {
		from = from || cut == r.From
		to = to || cut == r.To
	}
	if !from || !to || r.From > r.To {
		return stream.Usagef("rows %v do not start and end between row groups", r)
	}
	return nil
}

// consume delivers the blocks of the spans in order, and returns their buffers. A
// span that it stopped at comes back: workers may still be busy with it.
func (p *pass) consume(ctx context.Context, deliver func(*stream.Chunk) bool) (last *span, err error) {
	for s := range p.out {
		select {
		case <-s.done:
		case <-ctx.Done():
		}
		if more, err := p.deliverSpan(ctx, s, deliver); !more || err != nil {
			return s, err
		}
		s.release()
		s.poison()
		p.free <- s
	}
	return nil, ctx.Err()
}

func (p *pass) deliverSpan(ctx context.Context, s *span, deliver func(*stream.Chunk) bool) (wantsMore bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := s.failed(); err != nil {
		return false, err
	}
	if err := p.code(s); err != nil {
		return false, err
	}
	for b := range s.blocks() {
		if !deliver(s.chunk(b)) {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// work decodes until there are no more tasks. After a cancellation it only takes
// the tasks off the scheduler's hands.
func (p *pass) work(ctx context.Context) {
	v := new(views)
	for t := range p.tasks {
		if ctx.Err() == nil {
			start := time.Now()
			t.span.decode(ctx, t, v)
			settling := time.Now()
			t.span.taskDone()
			p.d.opt.Meter.Busy.Add(stream.PartConvert, time.Since(settling))
			p.d.opt.Meter.Decode.Add(int64(time.Since(start)))
		}
	}
}
