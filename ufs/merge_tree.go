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

// fanIn is how many sums of one level of the tree make one of the next. Every number passes
// through at most fanIn-1 additions at a level, 4·15 of 10,000 files, where one after another it would be
// through 9,999: rounding grows with the depth. It is a constant, so that no bit depends on
// memory or threads, and up to as many files are added one after another. With 8 there are more
// sums that wait, with 64 more additions.
const fanIn = 16

// tree adds up files as they come. Sums of fanIn files wait until there are fanIn of them, these
// sums of sums likewise: of N files log(N)/log(fanIn) sums wait, in memory, or in
// scratch files where that does not suffice.
type tree struct {
	m       *merger
	reader  *partsReader
	scratch *scratch.Space
	room    int64  // bytes for all states
	share   int64  // of room, for one state: two always fit
	used    int64  // of room, by states that are there and those that are read
	sums    []*sum // that wait, by level; nil where none does
	graph   int64  // bytes of a graph beside the moments, and of those of the hash shards
	shards  int    // as the files record them
	samples int64  // bytes that samples of rows will hold in the end, at most, as far as known
}

// sum is the sum of some files, which follow one another.
type sum struct {
	e      *bundle         // nil while it is stored
	stored *scratch.Stored // nil while it is in memory
	bytes  int64           // that e holds
	files  int
	parts  int    // sums of the level below
	name   string // of the first file
	has    states // that e has
}

// states is which states a sum has.
type states struct {
	moments, graph, sketch, weights, sample, rows, spread, raw, ranks, facts bool
	shards                                                                   int // that are apart; 0 for none
}

func newTree(m *merger) (*tree, error) {
	t := &tree{m: m, room: m.q.Memory - programBytes - m.bookkept}
	if m.kind != kindProfile {
		t.shards, _ = strconv.Atoi(m.head.Options[optionStability]) // which reading checks
	}
	if m.kind == kindGraph || m.kind == kindSketchedGraph {
		var err error
		if t.graph, err = recordedIn(m.head).graphBytes(m.files[0].name, m.q.Threads, t.shards); err != nil {
			return nil, err
		}
	}
	t.share = max(t.room/statesAtOnce(m.kind), 1)
	t.samples = m.sampleBytes(nil)
	t.scratch = scratch.New(scratch.Options{
		Dir: m.q.TempDir, Limit: m.q.MaxScratch, Ledger: m.q.ledger, Remedy: stream.Textf("free some space, choose another {temp-dir}, or raise {memory-limit}"),
	})
	t.reader = &partsReader{t: t, opened: make(map[int]*openedOne)}
	return t, nil
}

// statesAtOnce is how many states of a kind are in memory while two are merged.
func statesAtOnce(kind string) int64 {
	if kind == kindProfile { // merging samples copies rows
		return 3
	}
	return 2
}

func (t *tree) close() {
	t.reader.close()
	t.scratch.Close() // nothing in it is wanted any more
}

// all is the sum of all files.
func (t *tree) all(ctx context.Context) (*bundle, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer t.reader.close()
	defer cancel()
	for _, f := range t.m.files {
		next, err := t.reader.next(ctx)
		if err != nil {
			return nil, err
		}
		t.m.q.Meter.Rows.Add(f.rows)
		for level := 0; next != nil; level++ {
			if next, err = t.addAt(ctx, level, next); err != nil {
				return nil, err
			}
		}
	}
	var whole *sum
	for level, s := range t.sums {
		t.sums[level] = nil
		switch {
		case s == nil:
		case whole == nil:
			whole = s
		default:
			if err := t.into(ctx, s, whole); err != nil {
				return nil, err
			}
			whole = s
		}
	}
	if err := t.load(whole); err != nil {
		return nil, err
	}
	return whole.e, nil
}

// addAt adds a sum of the level below to the one that waits at a level, and returns that once it is full.
func (t *tree) addAt(ctx context.Context, level int, next *sum) (full *sum, err error) {
	if level == len(t.sums) {
		t.sums = append(t.sums, nil)
	}
	s := t.sums[level]
	if s == nil {
		next.parts = 1
		t.sums[level] = next
		return nil, nil
	}
	if err := t.into(ctx, s, next); err != nil {
		return nil, err
	}
	if s.parts++; s.parts < fanIn {
		return nil, nil
	}
	t.sums[level] = nil
	return s, nil
}

// into adds next, whose files follow those of s, to s, and gives next's memory back.
func (t *tree) into(ctx context.Context, s, next *sum) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, of := range []*sum{s, next} {
		if of.e == nil {
			if err := t.makeRoom(of.bytes, s, next); err != nil {
				return err
			}
		}
		if err := t.load(of); err != nil {
			return err
		}
	}
	after, err := s.e.bytes(next.e, t.m.q.Threads)
	if err != nil {
		return err
	}
	beside := after - s.bytes
	if s.has.sample || s.has.rows {
		beside += sampledBytes(s.e, new(bundle)) // rows are copied
	}
	if err := t.makeRoom(beside, s, next); err != nil {
		return err
	}
	if err := t.m.discount(s.e, next.files); err != nil {
		return err
	}
	if err := s.e.add(next.e); err != nil {
		return t.tooLittle(stream.Errorf("cannot merge %s with %s: %w", s.name, next.name, err), t.graph)
	}
	s.has.facts = s.has.facts && next.has.facts
	lacking := s.has.sample != next.has.sample && t.m.Decay == 0
	if s.has.sample = s.e.sample != nil; lacking {
		t.m.warnings.add(stream.Textf("a part keeps no sample of its rows, as scans by an earlier version or for another method, so the whole has none either, and without {method} method %s selects from it: scan it again", methods.Fallback))
	}
	if s.has.spread != next.has.spread {
		s.has.spread = false
		t.m.warnings.add(stream.Textf("a part was scanned by an earlier version, without histograms, so the whole has none either: scan it again where check is to say how far columns moved"))
	}
	if s.has.shards != next.has.shards {
		s.has.shards = 0
		t.m.warnings.add(stream.Textf("a part was merged by an earlier version, which drops the hash shards, so the whole has none either: merge the parts again where {stability} is wanted"))
	}
	if after, err = s.e.bytes(nil, t.m.q.Threads); err != nil {
		return err
	}
	t.used += after - s.bytes - next.bytes
	s.bytes, s.files, next.e = after, s.files+next.files, nil
	return nil
}

// makeRoom frees memory for so many bytes: waiting sums are stored, the highest first, which will
// wait longest, and then files that were read ahead are given up. Some sums are in use.
func (t *tree) makeRoom(bytes int64, inUse ...*sum) error {
	for level := len(t.sums) - 1; t.used+bytes > t.room && level >= 0; level-- {
		s := t.sums[level]
		if s == nil || s.e == nil || slices.Contains(inUse, s) {
			continue
		}
		if err := t.store(s); err != nil {
			return err
		}
	}
	for t.used+bytes > t.room && t.reader.giveUp() {
	}
	return nil
}

// store moves a sum from memory to a scratch file.
func (t *tree) store(s *sum) (err error) {
	var states []io.WriterTo
	for _, state := range s.e.states(s.has) {
		states = append(states, state)
	}
	if s.stored, err = t.scratch.Store("a sum of statistics", states...); err != nil {
		return err
	}
	s.e = nil
	t.used -= s.bytes
	return nil
}

// load moves a sum from its scratch file to memory, with the same bits.
func (t *tree) load(s *sum) (err error) {
	if s.e != nil {
		return nil
	}
	e := &bundle{columns: t.m.head.Columns, options: t.m.head.Options, path: s.name}
	d := len(e.columns)
	e.profile = gram.NewProfile(d)
	if s.has.moments {
		e.moments = gram.NewMoments(d, gram.Options{Threads: t.m.q.Threads, Limit: t.limit()})
		e.profile = &e.moments.Profile
	}
	if s.has.graph {
		if e.graph, err = anchor.NewStatistics(nil, anchor.Options{Threads: t.m.q.Threads, Limit: s.bytes}); err != nil {
			return err
		}
	}
	if s.has.shards > 0 {
		empty := e.graph
		if empty != nil {
			if empty, err = anchor.NewStatistics(nil, anchor.Options{Threads: t.m.q.Threads, Limit: s.bytes}); err != nil {
				return err
			}
		}
		if e.hashed, err = newHashed(s.has.shards, d, gram.Options{Threads: t.m.q.Threads, Limit: gram.WholeOf(t.limit(), d, s.has.shards+1)}, empty); err != nil {
			return err
		}
	}
	if s.has.sketch {
		e.sketch = gram.NewSketch(d, gram.SketchOptions{Threads: t.m.q.Threads, Limit: t.limit()})
	}
	if s.has.weights {
		e.weights = gram.NewSketch(e.anchorCount(), gram.SketchOptions{Threads: t.m.q.Threads, Limit: t.limit()})
	}
	if s.has.sample {
		e.sample = anchor.NewSampler(d, anchor.SamplerOptions{Limit: t.limit(), Entries: s.has.moments && e.options["sparse"] != ""})
	}
	if s.has.rows {
		e.rows = new(rowsample.New(d, anchor.SamplerOptions{Limit: t.limit()}))
	}
	if s.has.spread {
		e.spread = gram.NewHistograms(d, t.m.q.Threads)
	}
	if s.has.raw {
		e.raw = gram.NewProfile(d)
	}
	if s.has.ranks {
		e.ranks = gram.NewRankHistograms(d, t.m.q.Threads)
	}
	if s.has.facts {
		e.facts = hygiene.New(d, t.m.q.Threads, false)
	}
	var states []io.ReaderFrom
	for _, state := range e.states(s.has) {
		states = append(states, state)
	}
	if err := s.stored.Load(states...); err != nil {
		return err
	}
	s.stored.Close() // it was read, and is wanted no more
	s.e, s.stored = e, nil
	t.used += s.bytes
	return nil
}

// state is one that can be stored.
type state interface {
	io.WriterTo
	io.ReaderFrom
}

// states are those of e that are stored, in their order in a scratch file.
func (e *bundle) states(has states) (list []state) {
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
	if has.rows {
		list = append(list, e.rows)
	}
	if has.spread {
		list = append(list, e.spread)
	}
	if has.shards > 0 {
		list = append(list, e.hashed)
	}
	if has.raw {
		list = append(list, e.raw)
	}
	if has.ranks {
		list = append(list, e.ranks)
	}
	if has.facts {
		list = append(list, e.facts)
	}
	return list
}

// beside is what a state holds beside its moments and graph, or its sample: the rest of its share
// is theirs. Whether there are histograms may differ from file to file, so that there is always
// room for them.
func (t *tree) beside() int64 {
	return t.besideFacts() + hygiene.Bytes(len(t.m.head.Columns), t.m.head.Options["label"] != "")
}

func (t *tree) besideFacts() int64 {
	d := len(t.m.head.Columns)
	ranked := t.m.head.Options["scale"] == scaleRank
	switch {
	case t.m.kind == kindProfile && ranked:
		return profileColumn*int64(d) + gram.RankHistogramsBytes(d, -1, t.m.q.Threads)
	case t.m.kind == kindSketchedGraph:
		e := recordedIn(t.m.head)
		return profileColumn*int64(d) + gram.SketchBytes(e.anchorCount(), 0, e.sketchRows())
	case t.m.kind == kindProfile || t.m.kind == kindSketch:
		return profileColumn * int64(d)
	case ranked:
		return gram.HistogramsBytes(d) + profileColumn*int64(d)
	}
	return gram.HistogramsBytes(d)
}

// limit is what the moments, of each of the hash shards too, or the sample of a sum may hold.
func (t *tree) limit() int64 {
	room := t.share - t.beside() - t.graph
	if t.shards > 0 {
		room = gram.ShareOf(room, len(t.m.head.Columns), t.shards+1)
	}
	return max(room, 1)
}

// tooLittle turns a complaint about what one state holds, with so many bytes beside it, into one
// about the limit.
func (t *tree) tooLittle(err error, beside int64) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) || !short.OfMemory() {
		return err
	}
	n := statesAtOnce(t.m.kind)
	need := max(short.Need, t.samples)                                        // parts keep less than their sum does
	if d := len(t.m.head.Columns); t.shards > 0 && short.Limit <= t.limit() { // of one of the moments
		need = gram.WholeOf(need, d, t.shards+1)
	}
	return &stream.MemoryError{
		What: "merging two of these files", Need: n*(need+beside+t.beside()) + programBytes + t.m.bookkept, Limit: t.m.q.Memory,
	}
}
