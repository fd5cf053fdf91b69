package ufs

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MergeRequest says which statistics files to add up.
type MergeRequest struct {
	// Files may be globs, and folders for all *.ufs in them; also in object stores. Parts of a
	// plan are added in the order of their shards, others in the order given.
	Files []string
	// Window keeps the newest so many of the files: the last ones by base name (of a URL that of
	// its key), and by path where those are equal, in the order of their bytes. The others are not
	// opened. 0 means all.
	Window int
	// Decay is the γ in (0, 1] by which rows weigh less with every newer file: the newest weighs 1,
	// the one before γ, and so on; 0 means that all weigh 1. One file may be a total that was
	// merged with the same Decay: it is that of the days before the other files, whatever its name,
	// so that yesterday's total and today's file make today's total.
	Decay   float64
	Partial bool   // some shards of a plan may be missing; the result records which are there
	Output  string // the merged statistics file
	Threads int    // default: one a core
	Memory  int64  // peak resident memory in bytes, default 2 GiB

	TempDir    string // for sums that do not fit into Memory; default: the system's
	MaxScratch int64  // bytes of those at most; 0 means no bound

	Anonymous bool           // look for no credentials of object stores and sign no request for Files
	Meter     *stream.Meter  // counts rows that were added, and what is fetched from object stores
	Progress  func(Progress) // hears of the headers, and then of the files; nil shows nothing

	mostHeader int // bytes; 0 means [chunkio.MaxStatsHeader]; replaced in tests
}

// Gathered says what a statistics file came to hold.
type Gathered struct {
	Features int
	Inputs   int
	Rows     int64 // covered
	RowsUsed int64
	Warnings []string
	Merged   int              // statistics files that were merged; 0 of a scan
	Outside  []string         // the files that Window left out, oldest first
	Transfer *stream.Transfer // of the inputs; nil where nothing was fetched
	Path     string           // of the statistics file, as people may see it
	There    bool             // it was there already, so nothing was scanned
}

// Merge adds statistics files of parts of the data into one: the result is what one
// Scan over all of it gives. It refuses files of other columns or options, and files that cover
// the same rows. Of parts of a plan all shards must be there, once each. With Window or Decay it
// is what one Scan of the newest files gives, with older rows weighing less: the file records
// both, and selections from it show them.
//
// What the headers say is checked first, before any statistics are read. The files are then
// added up in a tree, a few at a time, in memory that does not grow with their number.
func Merge(ctx context.Context, m MergeRequest) (*Gathered, error) {
	q := Request{
		Threads: m.Threads, Memory: m.Memory, Output: m.Output, Anonymous: m.Anonymous, Meter: m.Meter,
		TempDir: m.TempDir, MaxScratch: m.MaxScratch, Progress: m.Progress,
	}
	switch {
	case len(m.Files) == 0:
		return nil, stream.Usagef("no statistics file given")
	case m.Output == "":
		return nil, stream.Usagef("no output given; add {o} ALL.ufs")
	case m.Output == "-":
		return nil, stream.Usagef("{o} -: statistics go to a file, which is verified when it is read; name it ALL.ufs")
	case m.Window < 0:
		return nil, stream.Usagef("{window} %d: want a number of files", m.Window)
	case !(m.Decay >= 0 && m.Decay <= 1):
		return nil, stream.Usagef("{decay} %v: want a number above 0 and up to 1, by which every day before weighs less", m.Decay)
	}
	if err := q.limits(); err != nil {
		return nil, err
	}
	end, err := q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := atomicfile.CanWrite(ctx, m.Output); err != nil {
		return nil, err
	}
	fetched := q.Meter.Transfer()
	g := &merger{MergeRequest: m, q: &q}
	paths, err := g.expand(ctx)
	if err != nil {
		return nil, err
	}
	paths, outside := g.arrange(paths)
	var e *bundle
	err = q.track(Progress{What: "headers of " + plural(len(paths), "file"), Pass: 1, Passes: 2, Rows: -1}, func(next func(Progress)) error {
		if err := g.survey(ctx, paths); err != nil {
			return err
		}
		var rows int64
		for _, f := range g.files {
			rows += f.rows
		}
		next(Progress{What: "adding " + plural(len(paths), "file"), Pass: 2, Passes: 2, Rows: rows})
		e, err = g.sum(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.writeStats(ctx, m.Output, nil); err != nil {
		return nil, err
	}
	done := e.summary(nil, q.Meter.Transfer().Since(fetched))
	done.Merged, done.Outside, done.Path = len(paths), outside, place.Name(m.Output)
	return done, nil
}

// summary is what there is to say of e.
func (e *bundle) summary(say stream.Spelling, t *stream.Transfer) *Gathered {
	return &Gathered{
		Features: len(e.columns), Inputs: len(e.inputs), Rows: e.coveredRows(), RowsUsed: e.profile.Rows, Warnings: spelled(e.warnings, say), Transfer: t,
	}
}

// expand lists the files. The output of an earlier merge that lies among them is not one of
// them; named as one it is refused, but for a total that every day adds to.
func (m *merger) expand(ctx context.Context) ([]string, error) {
	var paths []string
	for _, arg := range m.Files {
		found, err := chunkio.ExpandStats(ctx, []string{arg}, m.q.fetching())
		if err != nil {
			return nil, err
		}
		if len(found) != 1 || found[0] != arg {
			found = slices.DeleteFunc(found, func(path string) bool {
				return errors.As(atomicfile.NotInput(ctx, m.Output, path), new(*stream.UsageError))
			})
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return nil, stream.Usagef("no statistics file is left but {o} %s itself", place.Name(m.Output))
	}
	if m.Decay > 0 { // today's total may take the place of yesterday's
		return paths, nil
	}
	return paths, atomicfile.NotInput(ctx, m.Output, paths...)
}

// merger is a merge under way.
type merger struct {
	MergeRequest
	q *Request

	files    []mergedFile // in the order in which they are added
	kind     string       // of all of them
	head     chunkio.StatsHeader
	coverage coverage
	warnings warnings
	dropped  bool  // some of the files tell of rows that were dropped
	bookkept int64 // bytes of all that grows with the number of files

	first     *bundle // what the file records that gives the columns their order; their positions once it was read
	firstPath string
}

// described is the sum as headers tell it, without any statistics.
func (m *merger) described() *bundle {
	e := recordedIn(m.head)
	e.kind, e.inputs, e.covered, e.warnings = m.kind, m.coverage.files, m.coverage.coveredRanges(), m.warnings.list()
	return e
}

// sum adds up the statistics of all files.
func (m *merger) sum(ctx context.Context) (*bundle, error) {
	t, err := newTree(m)
	if err != nil {
		return nil, err
	}
	defer t.close()
	e, err := t.all(ctx)
	if err != nil {
		return nil, err
	}
	whole := m.described()
	e.kind, e.columns, e.leftOut, e.decided, e.table, e.part = whole.kind, whole.columns, whole.leftOut, whole.decided, whole.table, whole.part
	e.inputs, e.covered, e.options, e.warnings = whole.inputs, whole.covered, whole.options, whole.warnings
	e.takePositions(m.first)
	if m.dropped && e.profile.Seen > e.profile.Rows {
		e.warnings = append(e.warnings, e.dropped())
	}
	m.record(e)
	return e, nil
}
