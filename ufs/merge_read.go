package ufs

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fetchedAhead is how many files in object stores are downloaded to temporary files at a time:
// one connection brings some 50 to 100 MB/s.
const fetchedAhead = 8

// readBytes is what reading one more file at a time takes: blocks of its sections, packed and not,
// and their decoder. As many are read at a time as there are threads, beside the one that is added,
// because unpacking takes most: of the processor time of merging 400 parts of 1,000 columns zstd had
// 28 % in a profile, adding 17 %, fresh memory 12 %, and decoding words 5 % before it went in runs.
// Files are not verified as a whole before they are read, which would read each twice: the
// checksum of a section holds before its state is added (chunkio.OpenStatsAs).
const readBytes = 4 << 20

// partsReader reads the files of a merge in order, ahead of those who add them as far as the
// memory allows. It is used by one goroutine.
type partsReader struct {
	t       *tree
	started int                // files that were begun
	queue   []*partRead        // begun and not taken, in order
	opened  map[int]*openedOne // opened, or on the way
	largest int64              // state so far: what the next one will hardly exceed
}

// partRead is a file that is read.
type partRead struct {
	index  int
	limit  int64 // that the state may hold
	cancel context.CancelFunc
	done   chan struct{} // closed once s and err are set
	s      *sum
	err    error
}

// openedOne is a file that is opened.
type openedOne struct {
	done chan struct{}
	file *chunkio.StatsReader
	err  error
}

// next is the state of the next file. The memory that it takes is part of used from here on.
func (r *partsReader) next(ctx context.Context) (*sum, error) {
	t := r.t
	if len(r.queue) == 0 {
		limit := r.expected()
		if err := t.makeRoom(limit); err != nil {
			return nil, err
		}
		r.start(ctx, limit)
	}
	read := r.queue[0]
	<-read.done
	if short := (*stream.MemoryError)(nil); errors.As(read.err, &short) && read.limit < t.share {
		// It is larger than those before it, so it is read again on its own.
		for r.giveUp() {
		}
		if err := t.makeRoom(t.share); err != nil {
			return nil, err
		}
		r.start(ctx, t.share)
		read = r.queue[0]
		<-read.done
	}
	r.queue = r.queue[1:]
	read.cancel()
	t.used -= read.limit
	r.shut(read.index)
	if read.err != nil {
		return nil, t.tooLittle(read.err, 0)
	}
	s := read.s
	t.used += s.bytes
	r.largest = max(r.largest, s.bytes)
	t.samples = max(t.samples, t.m.sampleBytes(s.e))
	if s.e.moments != nil {
		s.e.moments.SetLimit(t.limit())
		if s.e.hashed != nil {
			s.e.hashed.setLimit(t.limit())
		}
	}
	if s.e.sketch != nil {
		s.e.sketch.SetLimit(t.limit())
	}
	if s.e.sample != nil {
		s.e.sample.SetLimit(t.limit())
	}
	if s.e.rows != nil {
		s.e.rows.SetLimit(t.limit())
	}
	r.ahead(ctx)
	return s, nil
}

// expected is what the next state will hardly exceed: a quarter more than any before.
func (r *partsReader) expected() int64 {
	if r.largest == 0 {
		return r.t.share
	}
	return min(r.largest+r.largest/4, r.t.share)
}

// ahead begins to read files, as many as there are threads and there is memory left for.
func (r *partsReader) ahead(ctx context.Context) {
	limit, spare := r.expected(), int64(0)
	if statesAtOnce(r.t.m.kind) > 2 {
		spare = r.largest // of the sum that is copied while the next is added
	}
	for len(r.queue) < r.t.m.q.Threads && r.started < len(r.t.m.files) && r.t.used+spare+limit+readBytes*int64(len(r.queue)+1) <= r.t.room {
		r.start(ctx, limit)
	}
}

// start begins to read the next file.
func (r *partsReader) start(ctx context.Context, limit int64) {
	for i := r.started; i < min(r.started+fetchedAhead, len(r.t.m.files)); i++ {
		if i == r.started || place.IsURL(r.t.m.files[i].path) {
			r.open(ctx, i)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	read := &partRead{index: r.started, limit: limit, cancel: cancel, done: make(chan struct{})}
	file := r.opened[r.started]
	r.queue = append(r.queue, read)
	r.t.used += limit
	r.started++
	go func() {
		defer close(read.done)
		<-file.done
		if read.err = file.err; read.err == nil {
			read.s, read.err = r.t.read(ctx, file.file, read.index, limit)
		}
	}()
}

// open opens file number i, unless that was begun.
func (r *partsReader) open(ctx context.Context, i int) {
	if r.opened[i] != nil {
		return
	}
	o := &openedOne{done: make(chan struct{})}
	r.opened[i] = o
	f := &r.t.m.files[i]
	head := chunkio.StatsHead{Header: r.t.m.head, Check: f.check}
	go func() {
		defer close(o.done)
		o.file, o.err = chunkio.OpenStatsAs(ctx, f.path, head, r.t.m.q.fetching())
	}()
}

// shut closes file number i.
func (r *partsReader) shut(i int) {
	o := r.opened[i]
	delete(r.opened, i)
	if <-o.done; o.err == nil {
		o.file.Close()
	}
}

// giveUp gives up the last of the files that were begun, for its memory: it will be read again. It
// reports whether there was one.
func (r *partsReader) giveUp() bool {
	n := len(r.queue) - 1
	if n < 0 {
		return false
	}
	read := r.queue[n]
	read.cancel()
	<-read.done
	r.t.used -= read.limit
	r.queue, r.started = r.queue[:n], r.started-1
	return true
}

// close ends all that is under way; its context has ended, or nothing is.
func (r *partsReader) close() {
	for r.giveUp() {
	}
	for i := range r.opened {
		r.shut(i)
	}
}

// read reads all that is merged of a file, within limit bytes.
func (t *tree) read(ctx context.Context, file *chunkio.StatsReader, i int, limit int64) (*sum, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := t.m
	from := map[string]method.From{kindGraph: method.FromGraph, kindGram: method.FromGram, kindProfile: method.FromProfile, kindSketch: method.FromProfile, kindSketchedGraph: method.FromProfile}[m.kind]
	opt := gram.Options{Threads: m.q.Threads, Limit: max(limit-t.beside(), 1)}
	shards, err := shardsIn(file)
	if err != nil {
		return nil, err
	}
	e, err := readStats(file, from, opt, shards)
	if err == nil && from == method.FromProfile {
		if err = e.readSample(file, opt.Limit); err == nil {
			err = e.readRows(file, opt.Limit)
		}
		if err == nil {
			err = e.readRanks(file, opt.Threads)
		}
		if err == nil && (m.kind == kindSketch || m.kind == kindSketchedGraph) {
			err = e.readSketch(file, gram.Options{Threads: opt.Threads, Limit: max(opt.Limit-t.graph, 1)})
			if short := (*stream.MemoryError)(nil); errors.As(err, &short) {
				err = &stream.MemoryError{What: short.What, Need: short.Need + t.graph, Limit: opt.Limit}
			}
		}
		if err == nil && m.kind == kindSketchedGraph {
			err = e.readSketchedGraph(file, opt.Threads)
		}
	} else if err == nil {
		if err = e.readSpread(file, opt.Threads); err == nil && from == method.FromGram {
			err = e.readSample(file, opt.Limit)
		}
	}
	if err == nil && m.files[i].path == m.firstPath {
		err = m.first.readPositions(file)
	}
	if err != nil {
		return nil, err
	}
	e.orderedAs(m.files[i].order)
	s := &sum{e: e, files: 1, name: m.files[i].name}
	s.has = states{moments: e.moments != nil, graph: e.graph != nil, sketch: e.sketch != nil, weights: e.weights != nil, sample: e.sample != nil, rows: e.rows != nil, spread: e.spread != nil, raw: e.raw != nil, ranks: e.ranks != nil, facts: e.facts != nil}
	if e.hashed != nil {
		s.has.shards = shards
	}
	e.path = s.name
	s.bytes, err = e.bytes(nil, m.q.Threads)
	return s, err
}
