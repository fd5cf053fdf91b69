package merging

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// fanIn is the number of sums of one level of the tree that are added up to one sum of the next level. At each level, a
// number passes through at most fanIn-1 additions: for 10,000 files at most 4·15 in all, instead of 9,999 in a
// sequential sum. Rounding errors grow with this number of additions. fanIn is a constant, so that no bit of the result
// depends on memory or threads. Up to fanIn files are added one after another. With a fanIn of 8, more sums would wait;
// with 64, a number would pass through more additions.
const fanIn = 16

// sumTree adds up files as they are read. At each level, a sum waits until fanIn sums of the level below were added to
// it: for N files about log(N)/log(fanIn) sums wait. They are in memory or, if that does not suffice, in scratch files.
type sumTree struct {
	merger      *merger
	files       []mergedFile // the files to add up
	held        int64        // bytes that are in use outside of the tree
	reader      *partsReader
	scratch     *scratch.Space
	stateRoom   int64         // bytes for all states together
	stateShare  int64         // bytes for one state: stateRoom suffices for at least two
	usedBytes   int64         // bytes of stateRoom that states in memory and states being read occupy
	waiting     []*partialSum // the waiting sum of each level; nil if none waits
	graphSize   int64         // bytes of a graph and of the graphs of its hash shards, without moments
	shards      int           // number of hash shards that the files record
	readsLosses bool          // whether the rows are added up that are to be subtracted
	sampleSize  int64         // upper bound, as far as known, on the bytes of the row samples in the final sum
}

// partialSum is the sum of consecutive files.
type partialSum struct {
	bundle    *statistics.Bundle // nil while it is stored
	stored    *scratch.Stored    // nil while it is in memory
	bytes     int64              // memory of the bundle
	files     int
	partCount int      // number of sums of the level below that were added up
	name      string   // display name of the first file
	sections  []string // of the states in a stored bundle
}

func newSumTree(m *merger, files []mergedFile, heldBytes int64) (*sumTree, error) {
	t := &sumTree{merger: m, files: files, held: heldBytes, stateRoom: m.request.Limits.Memory - budget.ProgramBytes - m.bookkeeping - heldBytes}
	if m.kind != statistics.KindProfile {
		t.shards, _ = strconv.Atoi(m.header.Options[request.OptionStability]) // reading the files checks this option
	}
	if m.kind == statistics.KindGraph || m.kind == statistics.KindSketchedGraph {
		var err error
		if t.graphSize, err = statistics.NewBundle(m.header).GraphBytes(m.files[0].name, m.request.Limits.Threads, t.shards); err != nil {
			return nil, err
		}
	}
	t.stateShare = max(t.stateRoom/statesAtOnce(m.kind), 1)
	t.sampleSize = m.sampleBytes(nil)
	opt := request.ScratchOptions(m.request)
	opt.Remedy = stream.Textf("free some space, choose another {temp-dir}, or raise {memory-limit}")
	t.scratch = scratch.New(opt)
	t.reader = &partsReader{tree: t, files: make(map[int]*openedFile)}
	return t, nil
}

// statesAtOnce returns the number of states that are in memory at once while two files of this kind are merged.
func statesAtOnce(kind string) int64 {
	if kind == statistics.KindProfile { // merging two samples copies rows
		return 3
	}
	return 2
}

func (t *sumTree) close() {
	t.reader.close()
	t.scratch.Close() // nothing in it is needed any more
}

func (t *sumTree) sumAll(ctx context.Context) (*statistics.Bundle, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer t.reader.close()
	defer cancel()
	for _, f := range t.files {
		next, err := t.reader.nextSum(ctx)
		if err != nil {
			return nil, err
		}
		t.merger.request.Hooks.Meter.Rows.Add(f.rows)
		for level := 0; next != nil; level++ {
			if next, err = t.addSumAtLevel(ctx, level, next); err != nil {
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
			if err := t.addSum(ctx, s, whole); err != nil {
				return nil, err
			}
			whole = s
		}
	}
	if err := t.loadSum(whole); err != nil {
		return nil, err
	}
	return whole.bundle, nil
}

// addSumAtLevel adds next, a sum of the level below, to the sum that waits at level. If no sum waits there, next itself
// waits. A sum of fanIn parts no longer waits and is returned; otherwise the result is nil.
func (t *sumTree) addSumAtLevel(ctx context.Context, level int, next *partialSum) (full *partialSum, err error) {
	if level == len(t.waiting) {
		t.waiting = append(t.waiting, nil)
	}
	s := t.waiting[level]
	if s == nil {
		next.partCount = 1
		t.waiting[level] = next
		return nil, nil
	}
	if err := t.addSum(ctx, s, next); err != nil {
		return nil, err
	}
	if s.partCount++; s.partCount < fanIn {
		return nil, nil
	}
	t.waiting[level] = nil
	return s, nil
}

// addSum adds next to s, and frees the memory of next. The files of next follow the files of s.
func (t *sumTree) addSum(ctx context.Context, s, next *partialSum) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, each := range []*partialSum{s, next} {
		if each.bundle == nil {
			if err := t.makeRoom(each.bytes, s, next); err != nil {
				return err
			}
		}
		if err := t.loadSum(each); err != nil {
			return err
		}
	}
	threads := t.merger.request.Limits.Threads
	extra := statistics.MergedBytes(s.bundle, next.bundle, threads) - s.bytes
	extra += statistics.SampleBytes(s.bundle) // rows are copied
	if err := t.makeRoom(extra, s, next); err != nil {
		return err
	}
	if err := t.merger.discountByAge(s.bundle, next.files); err != nil {
		return err
	}
	lost, err := statistics.AddStates(s.bundle, next.bundle)
	if err != nil {
		return t.errMergeMemory(stream.Errorf("cannot merge %s with %s: %w", s.name, next.name, err), true)
	}
	for _, section := range lost {
		t.warnOfLostState(section)
	}
	after := statistics.MergedBytes(s.bundle, nil, threads)
	t.usedBytes += after - s.bytes - next.bytes
	s.bytes, s.files, next.bundle = after, s.files+next.files, nil
	return nil
}

func (t *sumTree) warnOfLostState(section string) {
	switch {
	case section == statistics.SampleSection && t.merger.Decay == 0: // with a decay, no sum has a sample
		t.merger.warnings.add(stream.Textf("a part keeps no sample of its rows, as scans by an earlier version or for another method, so the whole has none either, and without {method} method %s selects from it: scan it again", methods.Fallback))
	case section == statistics.HistogramsSection:
		t.merger.warnings.add(stream.Textf("a part was scanned by an earlier version, without histograms, so the whole has none either: scan it again if check is to show how far columns moved"))
	case section == statistics.ShardsSection:
		t.merger.warnings.add(stream.Textf("a part was merged by an earlier version, which drops the hash shards, so the whole has none either: merge the parts again if {stability} is wanted"))
	}
}

// makeRoom frees memory until the given number of bytes fits into stateRoom. It stores waiting sums in scratch files,
// the highest level first, because sums wait longest there. If that does not suffice, it abandons files that are read
// in advance. It does not store the sums inUse.
func (t *sumTree) makeRoom(bytes int64, inUse ...*partialSum) error {
	for level := len(t.waiting) - 1; t.usedBytes+bytes > t.stateRoom && level >= 0; level-- {
		s := t.waiting[level]
		if s == nil || s.bundle == nil || slices.Contains(inUse, s) {
			continue
		}
		if err := t.storeSum(s); err != nil {
			return err
		}
	}
	for t.usedBytes+bytes > t.stateRoom && t.reader.abandonLastRead() {
	}
	return nil
}

func (t *sumTree) storeSum(s *partialSum) (err error) {
	states, sections := statistics.StatesIn(s.bundle)
	writers := convert.Each(states, func(state statistics.State) io.WriterTo { return state })
	if s.stored, err = t.scratch.Store("a sum of statistics", writers...); err != nil {
		return err
	}
	s.bundle, s.sections = nil, sections
	t.usedBytes -= s.bytes
	return nil
}

func (t *sumTree) loadSum(s *partialSum) error {
	if s.bundle != nil {
		return nil
	}
	e := &statistics.Bundle{Columns: t.merger.header.Columns, Options: t.merger.header.Options, Path: s.name}
	opt := statistics.StateOptions{Threads: t.merger.request.Limits.Threads, Limit: t.stateLimit(), GraphLimit: s.bytes, Shards: t.shards}
	if err := statistics.MakeStates(e, s.sections, opt); err != nil {
		return err
	}
	states, _ := statistics.StatesIn(e)
	readers := convert.Each(states, func(state statistics.State) io.ReaderFrom { return state })
	if err := s.stored.Load(readers...); err != nil {
		return err
	}
	s.stored.Close() // the stored copy is not read again
	s.bundle, s.stored = e, nil
	t.usedBytes += s.bytes
	return nil
}

// sideBytes returns the memory of the small parts of a state, such as its profile and histograms. The rest of the
// state's share is for its moments and graph, or for its sample. Histograms are included even if some files lack them.
func (t *sumTree) sideBytes() int64 {
	return t.sideBytesWithoutFacts() + hygiene.FactsBytes(len(t.merger.header.Columns), t.merger.header.Options["label"] != "")
}

func (t *sumTree) sideBytesWithoutFacts() int64 {
	d := len(t.merger.header.Columns)
	isRanked := t.merger.header.Options["scale"] == request.ScaleRank
	switch {
	case t.merger.kind == statistics.KindProfile && isRanked:
		return budget.ProfileColumnBytes*int64(d) + gram.RankHistogramsBytes(d, -1, t.merger.request.Limits.Threads)
	case t.merger.kind == statistics.KindSketchedGraph:
		e := statistics.NewBundle(t.merger.header)
		return budget.ProfileColumnBytes*int64(d) + gram.SketchBytes(e.AnchorCount(), 0, e.SketchRowCount())
	case t.merger.kind == statistics.KindProfile || t.merger.kind == statistics.KindSketch:
		return budget.ProfileColumnBytes * int64(d)
	case isRanked:
		return gram.HistogramsBytes(d) + budget.ProfileColumnBytes*int64(d)
	}
	return gram.HistogramsBytes(d)
}

// stateLimit returns the memory limit, in bytes, for the moments of a sum, for the moments of each of its hash shards,
// or for its sample.
func (t *sumTree) stateLimit() int64 {
	room := t.stateShare - t.sideBytes() - t.graphSize
	if t.shards > 0 {
		room = gram.ShareOf(room, len(t.merger.header.Columns), t.shards+1)
	}
	return max(room, 1)
}

// errMergeMemory restates a memory error in terms of the whole merge. isSum means that adding two states has failed, and
// not reading one: the error is then about one hash shard, and does not include the graphs.
func (t *sumTree) errMergeMemory(err error, isSum bool) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) || !short.OfMemory() {
		return err
	}
	n := statesAtOnce(t.merger.kind)
	need := max(short.Need, t.sampleSize) // the sum may have a larger sample
	if isSum {
		need = t.graphSize + max(need, gram.WholeOf(need, len(t.merger.header.Columns), t.shards+1)) // a sample may need less than the shared scratch
	}
	return &stream.MemoryError{
		What: "merging two of these files", Need: n*(need+t.sideBytes()) + budget.ProgramBytes + t.merger.bookkeeping + t.held, Limit: t.merger.request.Limits.Memory,
	}
}
