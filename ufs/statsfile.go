package ufs

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The names of the sections of a statistics file, and the kinds of such files. Every file has the profile. Files of
// kind "gram" also have the moments, and files of kind "graph" the moments and the anchor graph. Files of kind "sketch"
// have a sketch of the rows. Files of kind "graph-sketch" have the graph, and sketches of the rows and of their weights
// on the anchors. Files of kind "gram" have a sample of rows too if a method surveys one. A profile may have such a
// sample for anchors, and another of rows for methods that iterate over rows; the latter is drawn before rows are
// dropped, and records row groups and kinds of missing values. Files of scan and merge have histograms in addition to
// moments. Files of earlier versions have none, and programs of earlier versions skip that section. Statistics of hash
// shards, whose sum is the statistics of the whole, are for half-samples.
const (
	profileSection    = "profile"
	sampleSection     = "sample"
	rowsSection       = "rows"
	momentsSection    = "moments"
	graphSection      = "graph"
	histogramsSection = "histograms"
	valuesSection     = "values" // in a checkpoint under scale rank: the profile of the values themselves
	ranksSection      = "ranks"  // with a profile: histograms for ranks
	sketchSection     = "sketch"
	weightsSection    = "sketch-weights"
	shardsSection     = "hash-shards"
	waitingSection    = "waiting" // of a checkpoint: rows that are not yet in the statistics of their hash shards
	keptSection       = "kept"    // of a checkpoint: the rows of a factor
	factsSection      = "facts"   // in files of all kinds: see hygiene.Facts
	// in files of all kinds, except files of earlier versions: the positions of the columns in the input
	positionsSection = "positions"

	kindGraph   = "graph"
	kindGram    = "gram"
	kindProfile = "profile"
	kindSketch  = "sketch"

	kindSketchedGraph = "graph-sketch"
	kindCheckpoint    = "checkpoint"
)

func (e *bundle) sections() []chunkio.Section {
	var s []chunkio.Section
	if e.moments != nil {
		s = append(s, chunkio.Section{Name: momentsSection, Body: e.moments})
	}
	if e.graph != nil {
		s = append(s, chunkio.Section{Name: graphSection, Body: e.graph})
	}
	if e.sketch != nil {
		s = append(s, chunkio.Section{Name: sketchSection, Body: e.sketch})
	}
	if e.weights != nil {
		s = append(s, chunkio.Section{Name: weightsSection, Body: e.weights})
	}
	if e.sample != nil {
		s = append(s, chunkio.Section{Name: sampleSection, Body: e.sample})
	}
	if e.rowSample != nil {
		s = append(s, chunkio.Section{Name: rowsSection, Body: e.rowSample})
	}
	if e.histograms != nil {
		s = append(s, chunkio.Section{Name: histogramsSection, Body: e.histograms})
	}
	if e.shardStats != nil {
		s = append(s, chunkio.Section{Name: shardsSection, Body: e.shardStats})
		if e.shardStats.splitter != nil {
			s = append(s, chunkio.Section{Name: waitingSection, Body: e.shardStats.splitter}, chunkio.Section{Name: profileSection, Body: e.profile})
		}
	}
	if e.ranks != nil {
		s = append(s, chunkio.Section{Name: ranksSection, Body: e.ranks})
	}
	if e.facts != nil {
		s = append(s, chunkio.Section{Name: factsSection, Body: e.facts})
	}
	return s
}

// checkpointSections lists the sections of a checkpoint. The profile is one of them if no other section contains it.
func (e *bundle) checkpointSections() []chunkio.Section {
	if e.factor != nil { // the factor contains the profile, and rows that are added to the graph later
		withoutGraph := *e
		withoutGraph.graph = nil
		return append(withoutGraph.sections(), chunkio.Section{Name: keptSection, Body: e.factor})
	}
	s := e.sections()
	if e.moments == nil && e.shardStats == nil {
		s = append(s, chunkio.Section{Name: profileSection, Body: e.profile})
	}
	return s
}

// writeStats writes e as a statistics file. Its warnings keep the spelling of option names that the gatherer uses,
// because a reader of the file gets plain text.
func (e *bundle) writeStats(ctx context.Context, path string, say stream.Spelling) error {
	profile := e.profile
	if e.rawProfile != nil { // the moments have the profile of the scores
		profile = e.rawProfile
	}
	sections := append([]chunkio.Section{{Name: profileSection, Body: profile}}, e.sections()...)
	if e.positionCount > 0 {
		sections = append(sections, chunkio.Section{Name: positionsSection, Body: e.positionRecord()})
	}
	return chunkio.WriteStats(ctx, path, e.statsHeader(say), sections...)
}

func (e *bundle) statsHeader(say stream.Spelling) chunkio.StatsHeader {
	h := chunkio.StatsHeader{
		Kind: kindProfile, Version: Release, Columns: e.columns, LeftOut: withoutPositions(e.leftOut), Decided: withoutPositions(e.useless),
		Options: e.options, Table: e.table, Part: e.part, Inputs: e.inputs, Ranges: e.covered, Warnings: spellAll(e.warnings, say),
	}
	switch {
	case e.graph != nil && e.sketch != nil:
		h.Kind = kindSketchedGraph
	case e.graph != nil:
		h.Kind = kindGraph
	case e.moments != nil:
		h.Kind = kindGram
	case e.sketch != nil:
		h.Kind = kindSketch
	}
	return h
}

// openStats opens a statistics file that is read several times: a file in an object store is downloaded only once.
func (q *Request) openStats(ctx context.Context, path string) (*chunkio.StatsReader, error) {
	file, err := chunkio.OpenStats(ctx, path, q.documentOptions())
	return file, q.errForLimit(err)
}

// FetchOptions returns the options for fetching documents of the request, such as a selection.
func (q *Request) FetchOptions() chunkio.FetchOptions {
	return chunkio.FetchOptions{Anonymous: q.Anonymous, Meter: q.Meter, Memory: q.Memory, Temp: q.scratchOptions()}
}

func (q *Request) documentOptions() chunkio.FetchOptions {
	from := q.FetchOptions()
	if q.Memory > 0 {
		from.Memory = max(q.Memory-programBytes, smallDocumentBytes)
	}
	return from
}

func checkKind(path, kind string) error {
	switch kind {
	case kindGraph, kindGram, kindProfile, kindSketch, kindSketchedGraph:
		return nil
	case kindCheckpoint:
		return stream.Usagef("%s holds a checkpoint, not statistics to select from", path)
	}
	return chunkio.DamagedStats(path, "it holds %q, which is no kind of statistics", kind)
}

// newBundle returns the bundle that the header of a statistics file describes, without statistics.
func newBundle(h chunkio.StatsHeader) *bundle {
	return &bundle{
		kind: h.Kind, columns: h.Columns, leftOut: h.LeftOut, useless: h.Decided, table: h.Table, part: h.Part, inputs: h.Inputs,
		covered: h.Ranges, options: h.Options, warnings: stream.PlainTexts(h.Warnings),
	}
}

// readStats reads from a file the statistics for methods of kind n; it is an error if the file lacks them. It does not
// read the sample of rows: see readSample. opt.Limit bounds the bytes of all statistics together. If shards is not 0,
// the statistics of this many hash shards are read as well.
func readStats(r *chunkio.StatsReader, n method.From, opt gram.Options, shards int) (*bundle, error) {
	if err := checkKind(r.Path(), r.Header.Kind); err != nil {
		return nil, err
	}
	h, path := r.Header, r.Path()
	if len(h.Columns) == 0 {
		return nil, chunkio.DamagedStats(path, "it names no column")
	}
	e := newBundle(h)
	e.path = path
	if err := e.readFacts(r); err != nil {
		return nil, err
	}
	switch {
	case n == method.FromGram && (h.Kind == kindSketch || h.Kind == kindSketchedGraph):
		return nil, stream.Usagef("%s holds a sketch of the rows, which other methods select from; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", path)
	case n == method.FromGram && h.Kind == kindProfile:
		return nil, stream.Usagef("%s holds a profile only, which does not show how columns belong together; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", path)
	case n == method.FromGraph && h.Kind != kindGraph:
		return nil, stream.Usagef("%s holds no anchor graph; make one: ufs-stream scan INPUT… {method} METHOD {o} FILE.ufs, with the method that selects", path)
	case n != method.FromProfile && e.isRanked():
		e.rawProfile = gram.NewProfile(len(e.columns))
		if err := readSection(r, profileSection, e.rawProfile); err != nil {
			return nil, err
		}
	case n == method.FromProfile:
		e.profile = gram.NewProfile(len(e.columns))
		return e, readSection(r, profileSection, e.profile)
	}
	if n == method.FromGraph {
		return e, e.readGraph(r, opt, shards)
	}
	if err := e.readMoments(r, opt, shards); err != nil {
		return nil, err
	}
	return e, e.readShardStats(r, opt, 0, shards)
}

func (e *bundle) readMoments(r *chunkio.StatsReader, opt gram.Options, shards int) error {
	d, own := len(e.columns), opt
	if shards > 0 {
		own.Limit = gram.ShareOf(opt.Limit, d, shards+1)
	}
	e.moments = gram.NewMoments(d, own)
	e.profile = &e.moments.Profile
	err := readSection(r, momentsSection, e.moments)
	if m := (*stream.MemoryError)(nil); shards > 0 && errors.As(err, &m) {
		return &stream.MemoryError{What: "the statistics in " + r.Path(), Need: gram.WholeOf(m.Need, d, shards+1), Limit: opt.Limit, Option: m.Option}
	}
	return err
}

// readShardStats reads the statistics of the hash shards. opt.Limit bounds the memory of the moments of all shards and
// of the whole together; graph bounds the memory of their graphs.
func (e *bundle) readShardStats(r *chunkio.StatsReader, opt gram.Options, graph int64, shards int) (err error) {
	if shards == 0 {
		return nil
	}
	var empty *anchor.Statistics
	if graph > 0 {
		if empty, err = anchor.NewStatistics(nil, anchor.Options{Threads: opt.Threads, Limit: graph}); err != nil {
			return err
		}
	}
	if e.shardStats, err = newShardStats(shards, len(e.columns), opt, empty); err != nil {
		return err
	}
	return readSection(r, shardsSection, e.shardStats)
}

func hashShardCount(r *chunkio.StatsReader) (int, error) {
	if !r.Has(shardsSection) {
		return 0, nil
	}
	text := r.Header.Options[optionStability]
	n, err := strconv.Atoi(text)
	if err != nil || halves.CheckShards(n) != nil {
		return 0, chunkio.DamagedStats(r.Path(), "%q is no number of hash shards", text)
	}
	return n, nil
}

func (e *bundle) readGraph(r *chunkio.StatsReader, opt gram.Options, shards int) error {
	graphLimit, err := e.graphBytes(r.Path(), opt.Threads, shards)
	if err != nil {
		return err
	}
	own := opt
	own.Limit = max(opt.Limit-graphLimit, 1)
	if err := e.readMoments(r, own, shards); err != nil {
		var m *stream.MemoryError
		if errors.As(err, &m) {
			return &stream.MemoryError{What: "the statistics in " + r.Path(), Need: m.Need + graphLimit, Limit: opt.Limit, Option: m.Option}
		}
		return err
	}
	if e.graph, err = readGraphSection(r, opt.Threads, graphLimit); err != nil {
		return err
	}
	return e.readShardStats(r, own, graphLimit, shards)
}

func readGraphSection(r *chunkio.StatsReader, threads int, limit int64) (*anchor.Statistics, error) {
	graph, err := anchor.NewStatistics(nil, anchor.Options{Threads: threads, Limit: limit})
	if err != nil {
		return nil, err
	}
	err = readSection(r, graphSection, graph)
	// The limit follows from the header, so a graph that needs more contradicts it: no other --memory-limit helps.
	if m, ok := errors.AsType[*stream.MemoryError](err); ok && m.Limit == limit {
		return nil, chunkio.DamagedStats(r.Path(), "section %q: it has %s, more than the header's numbers of anchors and neighbors allow", graphSection, m.What)
	}
	return graph, err
}

// graphBytes bounds the memory of the graph in a file with e's header, including the graphs of the hash shards.
func (e *bundle) graphBytes(path string, workers, shards int) (int64, error) {
	m, err1 := strconv.ParseInt(e.options["anchors"], 10, 32)
	k, err2 := strconv.ParseInt(e.options["neighbors"], 10, 32)
	if err1 != nil || err2 != nil || k < 1 || k >= m {
		return 0, chunkio.DamagedStats(path, "a graph of %q anchors and %q neighbors of each cannot be", e.options["anchors"], e.options["neighbors"])
	}
	return graphBytes(int(m), len(e.columns), int(k), workers, shards), nil
}

func (e *bundle) readSample(r *chunkio.StatsReader, limit int64) error {
	if !r.Has(sampleSection) {
		return nil
	}
	e.sample = anchor.NewSampler(len(e.columns), anchor.SamplerOptions{Limit: limit, Entries: e.moments != nil && e.options["sparse"] != ""})
	return readSection(r, sampleSection, e.sample)
}

// readRows reads the rows that a profile keeps for methods that iterate over rows, if the file has them. limit bounds
// the bytes of these rows and of the other sample together.
func (e *bundle) readRows(r *chunkio.StatsReader, limit int64) error {
	if !r.Has(rowsSection) {
		return nil
	}
	if e.sample != nil {
		limit = max(limit-anchor.SamplerBytes(e.sample.Len(), len(e.columns)), 1)
	}
	e.rowSample = new(rowsample.New(len(e.columns), anchor.SamplerOptions{Limit: limit}))
	return readSection(r, rowsSection, e.rowSample)
}

func (e *bundle) readHistograms(r *chunkio.StatsReader, threads int) error {
	if !r.Has(histogramsSection) {
		return nil
	}
	e.histograms = gram.NewHistograms(len(e.columns), threads)
	return readSection(r, histogramsSection, e.histograms)
}

func (e *bundle) readRanks(r *chunkio.StatsReader, threads int) error {
	if !r.Has(ranksSection) {
		return nil
	}
	e.ranks = gram.NewRankHistograms(len(e.columns), threads)
	return readSection(r, ranksSection, e.ranks)
}

// readSection reads a section to its very end, because its checksum is verified only there.
func readSection(r *chunkio.StatsReader, name string, to io.ReaderFrom) error {
	body, err := r.SectionReader(name)
	if err != nil {
		return err
	}
	if _, err := to.ReadFrom(body); err != nil {
		return errBadSection(r.Path(), name, err)
	}
	var one [1]byte
	switch _, err := io.ReadFull(body, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return chunkio.DamagedStats(r.Path(), "section %q is longer than its contents", name)
	default:
		return err
	}
}

func errBadSection(path, name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) { // the section ends early; the file is complete
		err = errors.New("it ends early")
	}
	if isSelfExplanatory(err) {
		return stream.Dataf(path, "section %q: %w", name, err)
	}
	return chunkio.DamagedStats(path, "section %q: %w", name, err)
}
