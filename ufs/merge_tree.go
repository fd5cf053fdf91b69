package ufs

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fanIn is the number of sums of one level of the tree that are added to one sum of the next level. Every number
// passes through at most fanIn-1 additions at a level, 4·15 for 10,000 files, instead of 9,999 in a sequential sum:
// rounding grows with the depth. It is a constant, so that no bit depends on memory or threads, and up to fanIn
// files are added one after another. With a fanIn of 8, more sums would wait; with 64, every number would pass
// through more additions.
const fanIn = 16

// sumTree adds up files as they arrive. Sums of fanIn files wait until there are fanIn of them, and so do sums of
// sums: for N files log(N)/log(fanIn) sums wait, in memory, or in scratch files if memory does not suffice.
type sumTree struct {
	merger     *merger
	reader     *partsReader
	scratch    *scratch.Space
	room       int64         // bytes for all states
	share      int64         // part of room for one state: two always fit
	used       int64         // part of room taken by present states and those being read
	waiting    []*partialSum // waiting sums by level; nil if none waits
	graphSize  int64         // bytes of a graph and of the graphs of its hash shards, without moments
	shards     int           // as the files record them
	sampleSize int64         // bound on the bytes of row samples in the end, as far as known
}

// partialSum is the sum of some files, which follow one another.
type partialSum struct {
	bundle  *bundle         // nil while it is stored
	stored  *scratch.Stored // nil while it is in memory
	bytes   int64           // memory of the bundle
	files   int
	parts   int      // sums of the level below
	name    string   // of the first file
	present stateSet // states in the bundle
}

// stateSet lists the states in a sum.
type stateSet struct {
	moments, graph, sketch, weights, sample, rowSample, histograms, rawProfile, ranks, facts bool
	shards                                                                                   int // kept apart; 0 for none
}

func newTree(m *merger) (*sumTree, error) {
	t := &sumTree{merger: m, room: m.request.Memory - programBytes - m.bookkeeping}
	if m.kind != kindProfile {
		t.shards, _ = strconv.Atoi(m.header.Options[optionStability]) // reading checks it
	}
	if m.kind == kindGraph || m.kind == kindSketchedGraph {
		var err error
		if t.graphSize, err = newBundle(m.header).graphBytes(m.files[0].name, m.request.Threads, t.shards); err != nil {
			return nil, err
		}
	}
	t.share = max(t.room/statesAtOnce(m.kind), 1)
	t.sampleSize = m.sampleBytes(nil)
	t.scratch = scratch.New(scratch.Options{
		Dir: m.request.TempDir, Limit: m.request.MaxScratch, Ledger: m.request.ledger, Remedy: stream.Textf("free some space, choose another {temp-dir}, or raise {memory-limit}"),
	})
	t.reader = &partsReader{tree: t, files: make(map[int]*openedFile)}
	return t, nil
}

// statesAtOnce is the number of states of a kind that are in memory while two are merged.
func statesAtOnce(kind string) int64 {
	if kind == kindProfile { // merging samples copies rows
		return 3
	}
	return 2
}

func (t *sumTree) close() {
	t.reader.close()
	t.scratch.Close() // nothing in it is needed any more
}

func (t *sumTree) sumAll(ctx context.Context) (*bundle, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer t.reader.close()
	defer cancel()
	for _, f := range t.merger.files {
		next, err := t.reader.next(ctx)
		if err != nil {
			return nil, err
		}
		t.merger.request.Meter.Rows.Add(f.rows)
		for level := 0; next != nil; level++ {
			if next, err = t.addAtLevel(ctx, level, next); err != nil {
				return nil, err
			}
		}
	}
	var whole *partialSum
	for level, s := range t.waiting {
		t.waiting[level] = nil
		switch {
		case s == nil:
		case whole == nil:
			whole = s
		default:
			if err := t.addInto(ctx, s, whole); err != nil {
				return nil, err
			}
			whole = s
		}
	}
	if err := t.load(whole); err != nil {
		return nil, err
	}
	return whole.bundle, nil
}

// addAtLevel adds a sum of the level below to the one that waits at level, and returns the latter once it is
// full.
func (t *sumTree) addAtLevel(ctx context.Context, level int, next *partialSum) (full *partialSum, err error) {
	if level == len(t.waiting) {
		t.waiting = append(t.waiting, nil)
	}
	s := t.waiting[level]
	if s == nil {
		next.parts = 1
		t.waiting[level] = next
		return nil, nil
	}
	if err := t.addInto(ctx, s, next); err != nil {
		return nil, err
	}
	if s.parts++; s.parts < fanIn {
		return nil, nil
	}
	t.waiting[level] = nil
	return s, nil
}

// addInto adds next, whose files follow the files of s, to s, and frees next's memory.
func (t *sumTree) addInto(ctx context.Context, s, next *partialSum) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, each := range []*partialSum{s, next} {
		if each.bundle == nil {
			if err := t.makeRoom(each.bytes, s, next); err != nil {
				return err
			}
		}
		if err := t.load(each); err != nil {
			return err
		}
	}
	after, err := s.bundle.mergedBytes(next.bundle, t.merger.request.Threads)
	if err != nil {
		return err
	}
	extra := after - s.bytes
	if s.present.sample || s.present.rowSample {
		extra += samplesBytes(s.bundle, new(bundle)) // rows are copied
	}
	if err := t.makeRoom(extra, s, next); err != nil {
		return err
	}
	if err := t.merger.discountByAge(s.bundle, next.files); err != nil {
		return err
	}
	if err := s.bundle.addStates(next.bundle); err != nil {
		return t.errMergeMemory(stream.Errorf("cannot merge %s with %s: %w", s.name, next.name, err), t.graphSize)
	}
	s.present.facts = s.present.facts && next.present.facts
	lacking := s.present.sample != next.present.sample && t.merger.Decay == 0
	if s.present.sample = s.bundle.sample != nil; lacking {
		t.merger.warnings.add(stream.Textf("a part keeps no sample of its rows, as scans by an earlier version or for another method, so the whole has none either, and without {method} method %s selects from it: scan it again", methods.Fallback))
	}
	if s.present.histograms != next.present.histograms {
		s.present.histograms = false
		t.merger.warnings.add(stream.Textf("a part was scanned by an earlier version, without histograms, so the whole has none either: scan it again where check is to say how far columns moved"))
	}
	if s.present.shards != next.present.shards {
		s.present.shards = 0
		t.merger.warnings.add(stream.Textf("a part was merged by an earlier version, which drops the hash shards, so the whole has none either: merge the parts again where {stability} is wanted"))
	}
	if after, err = s.bundle.mergedBytes(nil, t.merger.request.Threads); err != nil {
		return err
	}
	t.used += after - s.bytes - next.bytes
	s.bytes, s.files, next.bundle = after, s.files+next.files, nil
	return nil
}

// makeRoom frees this many bytes: it stores waiting sums, the highest first, because they wait longest, and
// then abandons files that were read ahead. It leaves the sums in use.
func (t *sumTree) makeRoom(bytes int64, inUse ...*partialSum) error {
	for level := len(t.waiting) - 1; t.used+bytes > t.room && level >= 0; level-- {
		s := t.waiting[level]
		if s == nil || s.bundle == nil || slices.Contains(inUse, s) {
			continue
		}
		if err := t.store(s); err != nil {
			return err
		}
	}
	for t.used+bytes > t.room && t.reader.abandonLast() {
	}
	return nil
}

func (t *sumTree) store(s *partialSum) (err error) {
	var states []io.WriterTo
	for _, state := range s.bundle.storedStates(s.present) {
		states = append(states, state)
	}
	if s.stored, err = t.scratch.Store("a sum of statistics", states...); err != nil {
		return err
	}
	s.bundle = nil
	t.used -= s.bytes
	return nil
}

func (t *sumTree) load(s *partialSum) (err error) {
	if s.bundle != nil {
		return nil
	}
	e := &bundle{columns: t.merger.header.Columns, options: t.merger.header.Options, path: s.name}
	d := len(e.columns)
	e.profile = gram.NewProfile(d)
	if s.present.moments {
		e.moments = gram.NewMoments(d, gram.Options{Threads: t.merger.request.Threads, Limit: t.stateLimit()})
		e.profile = &e.moments.Profile
	}
	if s.present.graph {
		if e.graph, err = anchor.NewStatistics(nil, anchor.Options{Threads: t.merger.request.Threads, Limit: s.bytes}); err != nil {
			return err
		}
	}
	if s.present.shards > 0 {
		empty := e.graph
		if empty != nil {
			if empty, err = anchor.NewStatistics(nil, anchor.Options{Threads: t.merger.request.Threads, Limit: s.bytes}); err != nil {
				return err
			}
		}
		if e.shardStats, err = newShardStats(s.present.shards, d, gram.Options{Threads: t.merger.request.Threads, Limit: gram.WholeOf(t.stateLimit(), d, s.present.shards+1)}, empty); err != nil {
			return err
		}
	}
	if s.present.sketch {
		e.sketch = gram.NewSketch(d, gram.SketchOptions{Threads: t.merger.request.Threads, Limit: t.stateLimit()})
	}
	if s.present.weights {
		e.weights = gram.NewSketch(e.anchorCount(), gram.SketchOptions{Threads: t.merger.request.Threads, Limit: t.stateLimit()})
	}
	if s.present.sample {
		e.sample = anchor.NewSampler(d, anchor.SamplerOptions{Limit: t.stateLimit(), Entries: s.present.moments && e.options["sparse"] != ""})
	}
	if s.present.rowSample {
		e.rowSample = new(rowsample.New(d, anchor.SamplerOptions{Limit: t.stateLimit()}))
	}
	if s.present.histograms {
		e.histograms = gram.NewHistograms(d, t.merger.request.Threads)
	}
	if s.present.rawProfile {
		e.rawProfile = gram.NewProfile(d)
	}
	if s.present.ranks {
		e.ranks = gram.NewRankHistograms(d, t.merger.request.Threads)
	}
	if s.present.facts {
		e.facts = hygiene.New(d, t.merger.request.Threads, false)
	}
	var states []io.ReaderFrom
	for _, state := range e.storedStates(s.present) {
		states = append(states, state)
	}
	if err := s.stored.Load(states...); err != nil {
		return err
	}
	s.stored.Close() // read for the last time
	s.bundle, s.stored = e, nil
	t.used += s.bytes
	return nil
}

// state is a part of a bundle that can be stored.
type state interface {
	io.WriterTo
	io.ReaderFrom
}

func (e *bundle) storedStates(has stateSet) (list []state) {
	if has.moments {
		list = append(list, e.moments) // the profile among them
	} else {
		list = append(list, e.profile)
	}
	if has.graph {
		list = append(list, e.graph)
	}
	if has.sketch {
		list = append(list, e.sketch)
	}
	if has.weights {
		list = append(list, e.weights)
	}
	if has.sample {
		list = append(list, e.sample)
	}
	if has.rowSample {
		list = append(list, e.rowSample)
	}
	if has.histograms {
		list = append(list, e.histograms)
	}
	if has.shards > 0 {
		list = append(list, e.shardStats)
	}
	if has.rawProfile {
		list = append(list, e.rawProfile)
	}
	if has.ranks {
		list = append(list, e.ranks)
	}
	if has.facts {
		list = append(list, e.facts)
	}
	return list
}

// sideBytes is the memory of a state without its moments and graph, or its sample, which get the rest of its
// share. Only some files may have histograms, so room is always kept for them.
func (t *sumTree) sideBytes() int64 {
	return t.sideBytesWithoutFacts() + hygiene.FactsBytes(len(t.merger.header.Columns), t.merger.header.Options["label"] != "")
}

func (t *sumTree) sideBytesWithoutFacts() int64 {
	d := len(t.merger.header.Columns)
	isRanked := t.merger.header.Options["scale"] == scaleRank
	switch {
	case t.merger.kind == kindProfile && isRanked:
		return profileColumnBytes*int64(d) + gram.RankHistogramsBytes(d, -1, t.merger.request.Threads)
	case t.merger.kind == kindSketchedGraph:
		e := newBundle(t.merger.header)
		return profileColumnBytes*int64(d) + gram.SketchBytes(e.anchorCount(), 0, e.sketchRowCount())
	case t.merger.kind == kindProfile || t.merger.kind == kindSketch:
		return profileColumnBytes * int64(d)
	case isRanked:
		return gram.HistogramsBytes(d) + profileColumnBytes*int64(d)
	}
	return gram.HistogramsBytes(d)
}

// stateLimit returns the memory for the moments of a sum, or for the moments of each of its hash shards, or for its
// sample.
func (t *sumTree) stateLimit() int64 {
	room := t.share - t.sideBytes() - t.graphSize
	if t.shards > 0 {
		room = gram.ShareOf(room, len(t.merger.header.Columns), t.shards+1)
	}
	return max(room, 1)
}

func (t *sumTree) errMergeMemory(err error, extra int64) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) || !short.OfMemory() {
		return err
	}
	n := statesAtOnce(t.merger.kind)
	need := max(short.Need, t.sampleSize)                                                 // parts keep less than their sum does
	if d := len(t.merger.header.Columns); t.shards > 0 && short.Limit <= t.stateLimit() { // the limit of one shard's moments
		need = gram.WholeOf(need, d, t.shards+1)
	}
	return &stream.MemoryError{
		What: "merging two of these files", Need: n*(need+extra+t.sideBytes()) + programBytes + t.merger.bookkeeping, Limit: t.merger.request.Memory,
	}
}
