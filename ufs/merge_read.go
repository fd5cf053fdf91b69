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

// maxDownloads is the number of files in object stores that are downloaded to temporary files at a time: one
// connection transfers about 50 to 100 MB/s.
const maxDownloads = 8

// readerBytes is the memory for reading one more file at a time: blocks of its sections, packed and not, and
// their decoder. One file for each thread is read ahead while another is added, because unpacking takes most:
// of the processor time of merging 400 parts of 1,000 columns zstd had 28 % in a profile, adding 17 %, fresh
// memory 12 %, and decoding words 5 % before it went in runs. Files are not verified as a whole before they are
// read, which would read each twice: the checksum of a section holds before its state is added
// (chunkio.OpenStatsAs).
const readerBytes = 4 << 20

// partsReader reads the files of a merge in order, ahead of the additions as far as memory allows. It is used
// by one goroutine.
type partsReader struct {
	tree         *sumTree
	started      int                 // files whose reading was started
	queue        []*partRead         // reads that were started and not used yet, in order
	files        map[int]*openedFile // open, or being opened
	largestState int64               // state so far: the next one will hardly exceed it
}

// partRead is a file being read.
type partRead struct {
	index  int
	limit  int64 // bound on the memory of the state
	cancel context.CancelFunc
	done   chan struct{} // closed once sum and err are set
	sum    *partialSum
	err    error
}

// openedFile is a file that is open or being opened.
type openedFile struct {
	done chan struct{}
	file *chunkio.StatsReader
	err  error
}

// next returns the state of the next file. Its memory is part of used from here on.
func (r *partsReader) next(ctx context.Context) (*partialSum, error) {
	t := r.tree
	if len(r.queue) == 0 {
		limit := r.expectedBytes()
		if err := t.makeRoom(limit); err != nil {
			return nil, err
		}
		r.startNext(ctx, limit)
	}
	read := r.queue[0]
	<-read.done
	if short := (*stream.MemoryError)(nil); errors.As(read.err, &short) && read.limit < t.share {
		// This state is larger than all before it, so it is read again on its own.
		for r.abandonLast() {
		}
		if err := t.makeRoom(t.share); err != nil {
			return nil, err
		}
		r.startNext(ctx, t.share)
		read = r.queue[0]
		<-read.done
	}
	r.queue = r.queue[1:]
	read.cancel()
	t.used -= read.limit
	r.closeFile(read.index)
	if read.err != nil {
		return nil, t.errMergeMemory(read.err, 0)
	}
	s := read.sum
	t.used += s.bytes
	r.largestState = max(r.largestState, s.bytes)
	t.sampleSize = max(t.sampleSize, t.merger.sampleBytes(s.bundle))
	if s.bundle.moments != nil {
		s.bundle.moments.SetLimit(t.stateLimit())
		if s.bundle.shardStats != nil {
			s.bundle.shardStats.setLimit(t.stateLimit())
		}
	}
	if s.bundle.sketch != nil {
		s.bundle.sketch.SetLimit(t.stateLimit())
	}
	if s.bundle.sample != nil {
		s.bundle.sample.SetLimit(t.stateLimit())
	}
	if s.bundle.rowSample != nil {
		s.bundle.rowSample.SetLimit(t.stateLimit())
	}
	r.readAhead(ctx)
	return s, nil
}

// expectedBytes returns an estimate that the next state will hardly exceed: a quarter more than the largest state
// so far.
func (r *partsReader) expectedBytes() int64 {
	if r.largestState == 0 {
		return r.tree.share
	}
	return min(r.largestState+r.largestState/4, r.tree.share)
}

func (r *partsReader) readAhead(ctx context.Context) {
	limit, spare := r.expectedBytes(), int64(0)
	if statesAtOnce(r.tree.merger.kind) > 2 {
		spare = r.largestState // for the copy of a sum while the next state is added
	}
	for len(r.queue) < r.tree.merger.request.Threads && r.started < len(r.tree.merger.files) && r.tree.used+spare+limit+readerBytes*int64(len(r.queue)+1) <= r.tree.room {
		r.startNext(ctx, limit)
	}
}

func (r *partsReader) startNext(ctx context.Context, limit int64) {
	for i := r.started; i < min(r.started+maxDownloads, len(r.tree.merger.files)); i++ {
		if i == r.started || place.IsURL(r.tree.merger.files[i].path) {
			r.openFile(ctx, i)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	read := &partRead{index: r.started, limit: limit, cancel: cancel, done: make(chan struct{})}
	file := r.files[r.started]
	r.queue = append(r.queue, read)
	r.tree.used += limit
	r.started++
	go func() {
		defer close(read.done)
		<-file.done
		if read.err = file.err; read.err == nil {
			read.sum, read.err = r.tree.readSum(ctx, file.file, read.index, limit)
		}
	}()
}

func (r *partsReader) openFile(ctx context.Context, i int) {
	if r.files[i] != nil {
		return
	}
	o := &openedFile{done: make(chan struct{})}
	r.files[i] = o
	f := &r.tree.merger.files[i]
	head := chunkio.StatsHead{Header: r.tree.merger.header, Check: f.check}
	go func() {
		defer close(o.done)
		o.file, o.err = chunkio.OpenStatsAs(ctx, f.path, head, r.tree.merger.request.documentOptions())
	}()
}

func (r *partsReader) closeFile(i int) {
	o := r.files[i]
	delete(r.files, i)
	if <-o.done; o.err == nil {
		o.file.Close()
	}
}

// abandonLast abandons the last file that was started, for its memory: it will be read again. It reports
// whether there was one.
func (r *partsReader) abandonLast() bool {
	n := len(r.queue) - 1
	if n < 0 {
		return false
	}
	read := r.queue[n]
	read.cancel()
	<-read.done
	r.tree.used -= read.limit
	r.queue, r.started = r.queue[:n], r.started-1
	return true
}

func (r *partsReader) close() {
	for r.abandonLast() {
	}
	for i := range r.files {
		r.closeFile(i)
	}
}

func (t *sumTree) readSum(ctx context.Context, file *chunkio.StatsReader, i int, limit int64) (*partialSum, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := t.merger
	from := map[string]method.From{kindGraph: method.FromGraph, kindGram: method.FromGram, kindProfile: method.FromProfile, kindSketch: method.FromProfile, kindSketchedGraph: method.FromProfile}[m.kind]
	opt := gram.Options{Threads: m.request.Threads, Limit: max(limit-t.sideBytes(), 1)}
	shards, err := hashShardCount(file)
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
			err = e.readSketch(file, gram.Options{Threads: opt.Threads, Limit: max(opt.Limit-t.graphSize, 1)})
			if short := (*stream.MemoryError)(nil); errors.As(err, &short) {
				err = &stream.MemoryError{What: short.What, Need: short.Need + t.graphSize, Limit: opt.Limit}
			}
		}
		if err == nil && m.kind == kindSketchedGraph {
			err = e.readSketchedGraph(file, opt.Threads)
		}
	} else if err == nil {
		if err = e.readHistograms(file, opt.Threads); err == nil && from == method.FromGram {
			err = e.readSample(file, opt.Limit)
		}
	}
	if err == nil && m.files[i].path == m.firstPath {
		err = m.firstBundle.readPositions(file)
	}
	if err != nil {
		return nil, err
	}
	e.reorderColumns(m.files[i].order)
	s := &partialSum{bundle: e, files: 1, name: m.files[i].name}
	s.present = stateSet{moments: e.moments != nil, graph: e.graph != nil, sketch: e.sketch != nil, weights: e.weights != nil, sample: e.sample != nil, rowSample: e.rowSample != nil, histograms: e.histograms != nil, rawProfile: e.rawProfile != nil, ranks: e.ranks != nil, facts: e.facts != nil}
	if e.shardStats != nil {
		s.present.shards = shards
	}
	e.path = s.name
	s.bytes, err = e.mergedBytes(nil, m.request.Threads)
	return s, err
}
