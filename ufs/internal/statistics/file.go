package statistics

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// IsSelfExplanatory reports whether err is of a kind that users understand without the place at which it arose.
func IsSelfExplanatory(err error) bool {
	var (
		usage       *stream.UsageError
		data        *stream.DataError
		memory      *stream.MemoryError
		output      *stream.OutputError
		unconverged *stream.UnconvergedError
		stale       *stream.StaleError
		undecided   *stream.UndecidedError
	)
	return errors.As(err, &usage) || errors.As(err, &data) || errors.As(err, &memory) || errors.As(err, &output) ||
		errors.As(err, &unconverged) || errors.As(err, &stale) || errors.As(err, &undecided) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || stream.Temporary(err)
}

func CheckSameColumns(a, b []stream.Column) error {
	if len(a) != len(b) {
		return stream.Errorf("%d features against %d", len(a), len(b))
	}
	for j := range a {
		if a[j].Name != b[j].Name {
			return stream.Errorf("feature %d is %q against %q", j, a[j].Name, b[j].Name)
		}
	}
	return nil
}

// RequestedOptions returns the options of e, with the missing policy that was requested for its sample of rows, and
// without the frequencies, which were counted.
func (e *Bundle) RequestedOptions() map[string]string {
	options := maps.Clone(e.Options)
	if policy, keepsRows := options[request.OptionSampleMissing]; keepsRows {
		options["missing"] = policy
		delete(options, request.OptionSampleMissing)
	}
	delete(options, request.OptionFrequencies)
	return options
}

// WithPlace adds the statistics file or the inputs of e to a data error that does not name a file.
func WithPlace(err error, e *Bundle) error {
	var bad *stream.DataError
	if !errors.As(err, &bad) || bad.Path != "" || len(e.Inputs) == 0 && e.Path == "" {
		return err
	}
	at := *bad
	if e.Path != "" {
		at.Path = e.Path
		return &at
	}
	if at.Path = e.Inputs[0].Path; len(e.Inputs) > 1 {
		at.Path += " and " + wording.CountNoun(len(e.Inputs)-1, "file")
	}
	return &at
}

func (e *Bundle) SketchRowCount() int {
	rows, err := strconv.Atoi(e.Options[request.OptionSketch])
	if err != nil || gram.SketchRows(rows) != rows {
		return 0
	}
	return rows
}

func (e *Bundle) AnchorCount() int {
	m, err := strconv.Atoi(e.Options["anchors"])
	if err != nil {
		return 0
	}
	return max(m, 0)
}

func ReadSketchedGraph(e *Bundle, file *chunkio.StatsReader, threads int) error {
	graphLimit, err := e.GraphBytes(file.Path(), threads, 0)
	if err != nil {
		return err
	}
	if err := readGraphSection(e, file, StateOptions{Threads: threads, GraphLimit: graphLimit}); err != nil {
		return err
	}
	return ReadState(e, file, weightsSection, StateOptions{Threads: threads})
}

// The names of the sections of a statistics file, and the kinds of such files. Every file has the profile. Files of
// kind "gram" also have the moments, and files of kind "graph" the moments and the anchor graph. Files of kind "sketch"
// have a sketch of the rows. Files of kind "graph-sketch" have the graph, and sketches of the rows and of their weights
// on the anchors. Files of kind "gram" have a sample of rows too if a method surveys one. A profile may have such a
// sample for anchors, and another of rows for methods that iterate over rows; the latter is drawn before rows are
// dropped, and records row groups and kinds of missing values. Files of scan and merge have histograms in addition to
// moments. Files of earlier versions have none, and programs of earlier versions skip that section. Statistics of hash
// shards, whose sum is the statistics of the whole, are for half-samples.
const (
	ProfileSection    = "profile"
	SampleSection     = "sample"
	RowsSection       = "rows"
	momentsSection    = "moments"
	graphSection      = "graph"
	HistogramsSection = "histograms"
	ValuesSection     = "values" // in a checkpoint under scale rank: the profile of the values themselves
	RanksSection      = "ranks"  // with a profile: histograms for ranks
	SketchSection     = "sketch"
	weightsSection    = "sketch-weights"
	ShardsSection     = "hash-shards"
	waitingSection    = "waiting" // of a checkpoint: rows that are not yet in the statistics of their hash shards
	KeptSection       = "kept"    // of a checkpoint: the rows of a factor
	FactsSection      = "facts"   // in files of all kinds: see hygiene.Facts
	// in files of all kinds, except files of earlier versions: the positions of the columns in the input
	positionsSection  = "positions"
	KindGraph         = "graph"
	KindGram          = "gram"
	KindProfile       = "profile"
	KindSketch        = "sketch"
	KindSketchedGraph = "graph-sketch"
)

func (e *Bundle) listSections() []chunkio.Section {
	var sections []chunkio.Section
	for _, k := range stateKindsIn(e) {
		s := k.state(e)
		if _, isProfile := s.(*gram.Profile); !isProfile { // the first section of a file is a profile in any case
			sections = append(sections, chunkio.Section{Name: k.section, Body: s})
		}
	}
	return sections
}

// CheckpointSections lists the sections of a checkpoint. The profile is one of them if no other section contains it.
func (e *Bundle) CheckpointSections() []chunkio.Section {
	s := e.listSections()
	if e.Factor != nil { // the factor contains the profile, and rows that are added to the graph later
		s = slices.DeleteFunc(s, func(s chunkio.Section) bool { return s.Name == graphSection })
		return append(s, chunkio.Section{Name: KeptSection, Body: e.Factor})
	}
	if e.ShardStats != nil {
		s = append(s, chunkio.Section{Name: waitingSection, Body: e.ShardStats.splitter})
	}
	if e.Moments == nil {
		s = append(s, chunkio.Section{Name: ProfileSection, Body: e.Profile})
	}
	return s
}

// WriteStats writes e as a statistics file. Its warnings keep the spelling of option names that the gatherer uses,
// because a reader of the file gets plain text.
func (e *Bundle) WriteStats(ctx context.Context, path string, say stream.Spelling) error {
	profile := e.Profile
	if e.RawProfile != nil { // the moments have the profile of the scores
		profile = e.RawProfile
	}
	sections := append([]chunkio.Section{{Name: ProfileSection, Body: profile}}, e.listSections()...)
	if e.PositionCount > 0 {
		sections = append(sections, chunkio.Section{Name: positionsSection, Body: e.positionRecord()})
	}
	if e.Losses != nil {
		for _, s := range e.Losses.listSections() {
			sections = append(sections, chunkio.Section{Name: chunkio.LossesPrefix + s.Name, Body: s.Body})
		}
	}
	return chunkio.WriteStats(ctx, path, e.StatsHeader(say), sections...)
}

func (e *Bundle) StatsHeader(say stream.Spelling) chunkio.StatsHeader {
	h := chunkio.StatsHeader{
		Kind: KindProfile, Version: request.Release, Columns: e.Columns, LeftOut: withoutPositions(e.LeftOut), Decided: withoutPositions(e.Useless),
		Options: e.Options, Table: e.Table, Part: e.Part, Inputs: e.Inputs, Ranges: e.Covered, Warnings: wording.SpellAll(e.Warnings, say),
		Since: e.Since, Subtracted: e.Subtracted,
	}
	if e.Losses != nil {
		h.Losses = &chunkio.Losses{Inputs: e.Losses.Inputs, Ranges: e.Losses.Covered}
	}
	switch {
	case e.Graph != nil && e.Sketch != nil:
		h.Kind = KindSketchedGraph
	case e.Graph != nil:
		h.Kind = KindGraph
	case e.Moments != nil:
		h.Kind = KindGram
	case e.Sketch != nil:
		h.Kind = KindSketch
	}
	return h
}

// OpenStats opens a statistics file that is read several times: a file in an object store is downloaded only once.
func OpenStats(ctx context.Context, q *request.Request, path string) (*chunkio.StatsReader, error) {
	file, err := chunkio.OpenStats(ctx, path, budget.DocumentOptions(q))
	if err != nil {
		return nil, budget.ErrForLimit(q, err)
	}
	if h := &file.Header; h.Losses != nil {
		file.Close()
		return nil, stream.Usagef("%s has rows that %s has gained and rows that it has lost since version %d: merge it with the statistics of that version first", file.Path(), h.Table.Path, *h.Since)
	}
	return file, nil
}

func CheckKind(path, kind string) error {
	switch kind {
	case KindGraph, KindGram, KindProfile, KindSketch, KindSketchedGraph:
		return nil
	}
	return chunkio.DamagedStats(path, "it holds %q, which is no kind of statistics", kind)
}

// NewBundle returns the bundle that the header of a statistics file describes, without statistics.
func NewBundle(h chunkio.StatsHeader) *Bundle {
	return &Bundle{
		Kind: h.Kind, Columns: h.Columns, LeftOut: h.LeftOut, Useless: h.Decided, Table: h.Table, Part: h.Part, Inputs: h.Inputs,
		Covered: h.Ranges, Options: h.Options, Warnings: stream.PlainTexts(h.Warnings), Since: h.Since, Subtracted: h.Subtracted,
	}
}

// ReadStats reads from a file the statistics for methods of kind n; it is an error if the file lacks them. It does not
// read the sample of rows: see ReadSample. opt.Limit bounds the bytes of all statistics together. If shards is not 0,
// the statistics of this many hash shards are read as well.
func ReadStats(r *chunkio.StatsReader, n method.From, opt gram.Options, shards int) (*Bundle, error) {
	if err := CheckKind(r.Path(), r.Header.Kind); err != nil {
		return nil, err
	}
	h, path := r.Header, r.Path()
	if len(h.Columns) == 0 {
		return nil, chunkio.DamagedStats(path, "it names no column")
	}
	e := NewBundle(h)
	e.Path = path
	if err := ReadState(e, r, FactsSection, StateOptions{}); err != nil {
		return nil, err
	}
	switch {
	case n == method.FromGram && (h.Kind == KindSketch || h.Kind == KindSketchedGraph):
		return nil, stream.Usagef("%s holds a sketch of the rows, which other methods select from; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", path)
	case n == method.FromGram && h.Kind == KindProfile:
		return nil, stream.Usagef("%s holds a profile only, which does not show how columns belong together; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", path)
	case n == method.FromGraph && h.Kind != KindGraph:
		return nil, stream.Usagef("%s holds no anchor graph; make one: ufs-stream scan INPUT… {method} METHOD {o} FILE.ufs, with the method that selects", path)
	case n != method.FromProfile && e.IsRanked():
		e.RawProfile = gram.NewProfile(len(e.Columns))
		if err := readSection(r, ProfileSection, e.RawProfile); err != nil {
			return nil, err
		}
	case n == method.FromProfile:
		return e, ReadState(e, r, ProfileSection, StateOptions{})
	}
	if n == method.FromGraph {
		return e, readGraph(e, r, opt, shards)
	}
	if err := readMoments(e, r, opt, shards); err != nil {
		return nil, err
	}
	return e, readShardStats(e, r, opt, 0, shards)
}

func readMoments(e *Bundle, r *chunkio.StatsReader, opt gram.Options, hashShards int) error {
	d, own := len(e.Columns), StateOptions{Threads: opt.Threads, Limit: opt.Limit}
	if hashShards > 0 {
		own.Limit = gram.ShareOf(opt.Limit, d, hashShards+1)
	}
	err := ReadState(e, r, momentsSection, own)
	if m := (*stream.MemoryError)(nil); hashShards > 0 && errors.As(err, &m) {
		return &stream.MemoryError{What: "the statistics in " + r.Path(), Need: gram.WholeOf(m.Need, d, hashShards+1), Limit: opt.Limit, Option: m.Option}
	}
	return err
}

// readShardStats reads the statistics of the hash shards. opt.Limit bounds the memory of the moments of all shards and
// of the whole together; graphLimit bounds the memory of their graphs.
func readShardStats(e *Bundle, r *chunkio.StatsReader, opt gram.Options, graphLimit int64, shards int) error {
	if shards == 0 {
		return nil
	}
	share := gram.ShareOf(opt.Limit, len(e.Columns), shards+1)
	return ReadState(e, r, ShardsSection, StateOptions{Threads: opt.Threads, Limit: share, GraphLimit: graphLimit, Shards: shards})
}

func HashShardCount(r *chunkio.StatsReader) (int, error) {
	if !r.Has(ShardsSection) {
		return 0, nil
	}
	text := r.Header.Options[request.OptionStability]
	n, err := strconv.Atoi(text)
	if err != nil || halves.CheckShards(n) != nil {
		return 0, chunkio.DamagedStats(r.Path(), "%q is no number of hash shards", text)
	}
	return n, nil
}

func readGraph(e *Bundle, r *chunkio.StatsReader, opt gram.Options, hashShards int) error {
	graphLimit, err := e.GraphBytes(r.Path(), opt.Threads, hashShards)
	if err != nil {
		return err
	}
	own := opt
	own.Limit = max(opt.Limit-graphLimit, 1)
	if err := readMoments(e, r, own, hashShards); err != nil {
		if m, ok := errors.AsType[*stream.MemoryError](err); ok {
			return &stream.MemoryError{What: "the statistics in " + r.Path(), Need: m.Need + graphLimit, Limit: opt.Limit, Option: m.Option}
		}
		return err
	}
	if err := readGraphSection(e, r, StateOptions{Threads: opt.Threads, GraphLimit: graphLimit}); err != nil {
		return err
	}
	return readShardStats(e, r, own, graphLimit, hashShards)
}

func readGraphSection(e *Bundle, r *chunkio.StatsReader, opt StateOptions) error {
	err := ReadState(e, r, graphSection, opt)
	// The limit follows from the header, so a graph that needs more contradicts it: no other --memory-limit helps.
	if m, ok := errors.AsType[*stream.MemoryError](err); ok && m.Limit == opt.GraphLimit {
		return chunkio.DamagedStats(r.Path(), "section %q: it has %s, more than the header's numbers of anchors and neighbors allow", graphSection, m.What)
	}
	return err
}

// GraphBytes bounds the memory of the graph in a file with e's header, including the graphs of the hash shards.
func (e *Bundle) GraphBytes(path string, workers, shards int) (int64, error) {
	m, err1 := strconv.ParseInt(e.Options["anchors"], 10, 32)
	k, err2 := strconv.ParseInt(e.Options["neighbors"], 10, 32)
	if err1 != nil || err2 != nil || k < 1 || k >= m {
		return 0, chunkio.DamagedStats(path, "a graph of %q anchors and %q neighbors of each cannot be", e.Options["anchors"], e.Options["neighbors"])
	}
	return budget.GraphBytes(int(m), len(e.Columns), int(k), workers, shards), nil
}

// ReadState reads the section of this name into a new state of e. If r lacks an optional section, e gets no state.
func ReadState(e *Bundle, r *chunkio.StatsReader, section string, opt StateOptions) error {
	k := stateKinds[slices.IndexFunc(stateKinds, func(k stateKind) bool { return k.section == section })]
	if k.isOptional && !r.Has(section) {
		return nil
	}
	if err := k.makeEmpty(e, opt); err != nil {
		return err
	}
	return readSection(r, section, k.state(e))
}

// ReadOptional reads the optional sections that r has and e does not. opt.Limit bounds the bytes of each state, and of
// all samples together.
func ReadOptional(e *Bundle, r *chunkio.StatsReader, opt StateOptions) error {
	for _, k := range stateKinds {
		if !k.isOptional || k.state(e) != nil {
			continue
		}
		own := opt
		if k.isSample {
			own.Limit = max(opt.Limit-SampleBytes(e), 1)
		}
		if err := ReadState(e, r, k.section, own); err != nil {
			return err
		}
	}
	return nil
}

// readSection reads a section to its very end, because its checksum is verified only there.
func readSection(r *chunkio.StatsReader, name string, to io.ReaderFrom) error {
	body, err := r.SectionReader(name)
	if err != nil {
		return err
	}
	if _, err := to.ReadFrom(body); err != nil {
		return ErrBadSection(r.Path(), name, err)
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

func ErrBadSection(path, name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) { // the section ends early; the file is complete
		err = errors.New("it ends early")
	}
	if IsSelfExplanatory(err) {
		return stream.Dataf(path, "section %q: %w", name, err)
	}
	return chunkio.DamagedStats(path, "section %q: %w", name, err)
}
