package statistics

import (
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// State is one of the statistics of a bundle. It can be written to a file and read back.
type State interface {
	io.WriterTo
	io.ReaderFrom
}

// StateOptions are the options of an empty state that is filled by reading.
type StateOptions struct {
	Threads    int
	Limit      int64 // bytes of the state, or of the moments of one hash shard; 0 means no limit
	GraphLimit int64 // bytes of an anchor graph with the graphs of the hash shards
	Shards     int   // number of hash shards
}

// stateKind is a kind of statistics that a bundle may hold. The functions that handle all states of a bundle read the
// table of kinds: a new kind needs a field of Bundle and an entry. The functions mergedBytes to discount are called
// only if e has the state.
type stateKind struct {
	section string // name of the section in a statistics file
	slot
	mergedBytes func(e, o *Bundle, threads int) int64 // memory of the state after o's state, if there is one, is added
	addsRows    func(e *Bundle) bool                  // whether a pass adds rows to the state; nil if Adders decides
	setLimit    func(e *Bundle, limit int64)          // nil if the state has no limit of its own
	discount    func(e *Bundle, gamma float64) error  // nil if the state is not discounted
	subtract    func(e, o *Bundle) error              // nil if the state cannot be subtracted
	lackInSum   func(e *Bundle) error                 // called if only one part of a sum has the state; see dropFromSum
	isOptional  bool                                  // some files of a kind lack the section
	isSample    bool                                  // a sample of rows, which is copied when it is merged
	isShared    bool                                  // the same in all parts of a sum, so it is not merged
}

// slot is the place of a state in a bundle.
type slot struct {
	state     func(e *Bundle) State // nil if e lacks the state
	drop      func(e *Bundle)
	makeEmpty func(e *Bundle, opt StateOptions) error
	merge     func(e, o *Bundle) error
}

func newSlot[T interface {
	comparable
	State
	Merge(o T) error
}](field func(e *Bundle) *T, newState func(e *Bundle, opt StateOptions) (T, error)) slot {
	var none T
	return slot{
		state: func(e *Bundle) State {
			if f := field(e); f != nil && *f != none {
				return *f
			}
			return nil
		},
		drop: func(e *Bundle) { *field(e) = none },
		makeEmpty: func(e *Bundle, opt StateOptions) (err error) {
			*field(e), err = newState(e, opt)
			return err
		},
		merge: func(e, o *Bundle) error { return (*field(e)).Merge(*field(o)) },
	}
}

func alwaysAddsRows(*Bundle) bool { return true }

// dropFromSum is called if only one part of a sum has a state: without an error, the sum gets no such state.
func dropFromSum(*Bundle) error { return nil }

func refuseSumWithoutRanks(*Bundle) error {
	return stream.Usagef("only one of them was scanned with {scale} rank")
}

func profileBytes(e, _ *Bundle, _ int) int64 {
	return budget.ProfileColumnBytes * int64(len(e.Columns))
}

func newProfile(e *Bundle, _ StateOptions) (*gram.Profile, error) {
	return gram.NewProfile(len(e.Columns)), nil
}

// stateKinds lists the kinds in the order of their sections in a file. Profiles are an exception: the first section of
// every file is a profile.
var stateKinds = slices.Concat(mainKinds, sideKinds)

// mainKinds are merged after sideKinds and in reverse: if several fail, the error of the first is the one to report.
var mainKinds = []stateKind{{
	section: ProfileSection,
	slot: newSlot(func(e *Bundle) **gram.Profile {
		if e.Moments != nil { // they contain the profile
			return nil
		}
		return &e.Profile
	}, newProfile),
	mergedBytes: profileBytes,
}, {
	section: momentsSection,
	slot: newSlot(func(e *Bundle) **gram.Moments { return &e.Moments }, func(e *Bundle, opt StateOptions) (*gram.Moments, error) {
		m := gram.NewMoments(len(e.Columns), gram.Options{Threads: opt.Threads, Limit: opt.Limit})
		e.Profile = &m.Profile
		return m, nil
	}),
	mergedBytes: func(e, o *Bundle, _ int) int64 { return e.Moments.MergedBytes(o.Moments) },
	setLimit:    func(e *Bundle, limit int64) { e.Moments.SetLimit(limit) },
	discount:    func(e *Bundle, gamma float64) error { return e.Moments.Discount(gamma) },
	subtract:    func(e, o *Bundle) error { return e.Moments.Subtract(o.Moments) },
}, {
	section: graphSection,
	slot:    newSlot(func(e *Bundle) **anchor.Statistics { return &e.Graph }, newGraph),
	mergedBytes: func(e, _ *Bundle, threads int) int64 {
		n, _ := e.GraphBytes(e.Path, threads, e.ShardStats.shardCount()) // reading the graph has checked its options
		return n
	},
	addsRows: func(e *Bundle) bool { return e.Factor == nil }, // with a factor, the graph gets the rows later
	discount: func(e *Bundle, gamma float64) error { return e.Graph.Discount(gamma) },
}}

var sideKinds = []stateKind{{
	section: SketchSection,
	slot: newSlot(func(e *Bundle) **gram.Sketch { return &e.Sketch }, func(e *Bundle, opt StateOptions) (*gram.Sketch, error) {
		return gram.NewSketch(len(e.Columns), gram.SketchOptions{Threads: opt.Threads, Limit: opt.Limit}), nil
	}),
	mergedBytes: func(e, o *Bundle, _ int) int64 { return e.Sketch.MergedBytes(o.Sketch) },
	addsRows:    alwaysAddsRows,
	setLimit:    func(e *Bundle, limit int64) { e.Sketch.SetLimit(limit) },
}, {
	section: weightsSection,
	slot: newSlot(func(e *Bundle) **gram.Sketch { return &e.Weights }, func(e *Bundle, opt StateOptions) (*gram.Sketch, error) {
		return gram.NewSketch(e.AnchorCount(), gram.SketchOptions{Threads: opt.Threads, Limit: opt.Limit}), nil
	}),
	mergedBytes: func(e, o *Bundle, _ int) int64 { return e.Weights.MergedBytes(o.Weights) },
}, {
	section: SampleSection,
	slot: newSlot(func(e *Bundle) **anchor.Sampler { return &e.Sample }, func(e *Bundle, opt StateOptions) (*anchor.Sampler, error) {
		return anchor.NewSampler(len(e.Columns), anchor.SamplerOptions{Limit: opt.Limit, Entries: e.Moments != nil && e.Options["sparse"] != ""}), nil
	}),
	mergedBytes: func(e, o *Bundle, _ int) int64 { return e.Sample.MergedBytes(o.Sample) },
	addsRows:    alwaysAddsRows,
	setLimit:    func(e *Bundle, limit int64) { e.Sample.SetLimit(limit) },
	discount: func(e *Bundle, _ float64) error {
		e.Sample = nil // its rows cannot be discounted
		return nil
	},
	lackInSum: func(e *Bundle) error {
		if e.Moments != nil {
			return nil
		}
		return stream.Usagef("only one of them has a sample of rows; make both with {profile-only} and the same options")
	},
	isOptional: true,
	isSample:   true,
}, {
	section: RowsSection,
	slot: newSlot(func(e *Bundle) **rowsample.Sample { return &e.RowSample }, func(e *Bundle, opt StateOptions) (*rowsample.Sample, error) {
		return new(rowsample.New(len(e.Columns), anchor.SamplerOptions{Limit: opt.Limit})), nil
	}),
	mergedBytes: func(e, o *Bundle, _ int) int64 { return e.RowSample.MergedBytes(o.RowSample) },
	addsRows:    alwaysAddsRows,
	setLimit:    func(e *Bundle, limit int64) { e.RowSample.SetLimit(limit) },
	lackInSum: func(*Bundle) error {
		return stream.Usagef("only one of them keeps rows; make both with the same {sample-rows}")
	},
	isOptional: true,
	isSample:   true,
}, {
	section: HistogramsSection,
	slot: newSlot(func(e *Bundle) **gram.Histograms { return &e.Histograms }, func(e *Bundle, opt StateOptions) (*gram.Histograms, error) {
		return gram.NewHistograms(len(e.Columns), opt.Threads), nil
	}),
	mergedBytes: func(e, _ *Bundle, _ int) int64 { return gram.HistogramsBytes(len(e.Columns)) },
	addsRows:    alwaysAddsRows,
	discount:    func(e *Bundle, gamma float64) error { return e.Histograms.Discount(gamma) },
	subtract:    func(e, o *Bundle) error { return e.Histograms.Subtract(o.Histograms) },
	lackInSum:   dropFromSum,
	isOptional:  true,
}, {
	section:     ShardsSection,
	slot:        newSlot(func(e *Bundle) **ShardStats { return &e.ShardStats }, newEmptyShards),
	mergedBytes: func(e, o *Bundle, _ int) int64 { return e.ShardStats.momentsBytes(o.ShardStats) },
	setLimit:    func(e *Bundle, limit int64) { e.ShardStats.setLimit(limit) },
	discount:    func(e *Bundle, gamma float64) error { return e.ShardStats.discountRows(gamma) },
	lackInSum:   dropFromSum,
}, {
	section:     ValuesSection,
	slot:        newSlot(func(e *Bundle) **gram.Profile { return &e.RawProfile }, newProfile),
	mergedBytes: profileBytes,
	lackInSum:   refuseSumWithoutRanks,
	isShared:    true, // equal options (OptionRanks) mean that the scores of all parts come from the same ranks
}, {
	section: RanksSection,
	slot: newSlot(func(e *Bundle) **gram.Histograms { return &e.Ranks }, func(e *Bundle, opt StateOptions) (*gram.Histograms, error) {
		return gram.NewRankHistograms(len(e.Columns), opt.Threads), nil
	}),
	mergedBytes: func(e, _ *Bundle, threads int) int64 { return gram.RankHistogramsBytes(len(e.Columns), -1, threads) },
	addsRows:    alwaysAddsRows,
	lackInSum:   refuseSumWithoutRanks,
	isOptional:  true,
}, {
	section: FactsSection,
	slot: newSlot(func(e *Bundle) **hygiene.Facts { return &e.Facts }, func(e *Bundle, opt StateOptions) (*hygiene.Facts, error) {
		return hygiene.New(len(e.Columns), opt.Threads, false), nil
	}),
	mergedBytes: func(e, _ *Bundle, _ int) int64 { return e.Facts.Bytes() },
	addsRows:    func(e *Bundle) bool { return !e.HasAllFacts },
	subtract:    func(e, o *Bundle) error { return e.Facts.Subtract(o.Facts) },
	lackInSum:   dropFromSum,
	isOptional:  true,
}}

func newGraph(_ *Bundle, opt StateOptions) (*anchor.Statistics, error) {
	return anchor.NewStatistics(nil, anchor.Options{Threads: opt.Threads, Limit: opt.GraphLimit})
}

func newEmptyShards(e *Bundle, opt StateOptions) (_ *ShardStats, err error) {
	var graph *anchor.Statistics
	if e.Graph != nil {
		if graph, err = newGraph(e, opt); err != nil {
			return nil, err
		}
	}
	d := len(e.Columns)
	whole := gram.Options{Threads: opt.Threads, Limit: gram.WholeOf(opt.Limit, d, opt.Shards+1)}
	return NewShardStats(opt.Shards, d, whole, graph)
}

func stateKindsIn(e *Bundle) []stateKind {
	return slices.DeleteFunc(slices.Clone(stateKinds), func(k stateKind) bool { return k.state(e) == nil })
}

// StatesIn returns the states of e and the sections by which MakeStates makes empty ones like them.
func StatesIn(e *Bundle) (states []State, sections []string) {
	for _, k := range stateKindsIn(e) {
		states, sections = append(states, k.state(e)), append(sections, k.section)
	}
	return states, sections
}

// MakeStates puts empty states with these sections into e.
func MakeStates(e *Bundle, sections []string, opt StateOptions) error {
	for _, k := range stateKinds {
		if slices.Contains(sections, k.section) {
			if err := k.makeEmpty(e, opt); err != nil {
				return err
			}
		}
	}
	return nil
}
