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

// MergeRequest names statistics files to add up.
type MergeRequest struct {
	// Files may be files, globs or folders, also in object stores. A folder means all *.ufs files in it. Parts of a
	// plan are added in the order of their shards, other files in the given order.
	Files []string
	// Window is the number of newest files to merge. Older files are not opened. 0 means all files. Files are ordered
	// by base name, and by path if base names are equal, in byte order. The last file is the newest.
	Window int
	// Decay is a factor γ in (0, 1]. Rows of the newest file have weight 1, rows of the file before it weight γ, rows
	// of the next older file weight γ², and so on. 0 means that all rows have weight 1. One of the files may be a total
	// that was merged with the same Decay. It counts as the oldest file, whatever its name, so that yesterday's total
	// and today's file give today's total.
	Decay   float64
	Partial bool   // accept that shards of a plan are missing; the result records which shards it contains
	Output  string // the merged statistics file
	Threads int    // default: one per core
	Memory  int64  // peak resident memory in bytes, default 2 GiB

	TempDir    string // folder for sums that do not fit into Memory; default: the folder of the system
	MaxScratch int64  // limit on the bytes of such files; 0 means no limit

	Anonymous bool           // use no credentials for object stores, and sign no request for Files
	Meter     *stream.Meter  // counts added rows and bytes fetched from object stores
	Progress  func(Progress) // receives the progress first of the headers and then of the files; may be nil

	maxHeader int // bytes; 0 means [chunkio.MaxStatsHeader]; replaced in tests
}

// Gathered describes the contents of a new statistics file.
type Gathered struct {
	Features int
	Inputs   int
	Rows     int64 // number of rows that the statistics cover
	RowsUsed int64
	Warnings []string
	Merged   int              // number of merged statistics files; 0 for a scan
	Outside  []string         // files that Window left out, oldest first
	Transfer *stream.Transfer // bytes fetched for the inputs; nil if they are local
	Path     string           // of the statistics file, for messages
	There    bool             // the file existed already, so data were not scanned
}

// Merge adds up statistics files of parts of the data. The result equals the result of one Scan over all the data.
// Merge refuses files with different columns or options, and files that cover the same rows. Of a plan, every shard
// must be present exactly once. With Window the result is as from a Scan of the newest files, and with Decay as from a
// Scan in which older rows have smaller weights. The result records both options, and selections from it show them.
//
// The headers are checked first, before any statistics are read. The files are then added up in a tree, a few
// at a time, in memory that does not grow with their number.
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
	if err := q.fillLimits(); err != nil {
		return nil, err
	}
	end, err := q.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := atomicfile.CheckWritable(ctx, m.Output); err != nil {
		return nil, err
	}
	fetched := q.Meter.Transfer()
	g := &merger{MergeRequest: m, request: &q}
	paths, err := g.expandFiles(ctx)
	if err != nil {
		return nil, err
	}
	paths, outside := g.orderByDay(paths)
	var e *bundle
	err = q.trackProgress(Progress{What: "headers of " + plural(len(paths), "file"), Pass: 1, Passes: 2, Rows: -1}, func(next func(Progress)) error {
		if err := g.readHeaders(ctx, paths); err != nil {
			return err
		}
		var rows int64
		for _, f := range g.files {
			rows += f.rows
		}
		next(Progress{What: "adding " + plural(len(paths), "file"), Pass: 2, Passes: 2, Rows: rows})
		e, err = g.sumFiles(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.writeStats(ctx, m.Output, nil); err != nil {
		return nil, err
	}
	done := e.summary(nil, q.Meter.Transfer().Since(fetched))
	done.Merged, done.Outside, done.Path = len(paths), outside, place.DisplayName(m.Output)
	return done, nil
}

func (e *bundle) summary(say stream.Spelling, t *stream.Transfer) *Gathered {
	return &Gathered{
		Features: len(e.columns), Inputs: len(e.inputs), Rows: e.coveredRows(), RowsUsed: e.profile.Rows, Warnings: spellAll(e.warnings, say), Transfer: t,
	}
}

// expandFiles lists the files to merge. In folders and globs it skips the file at Output. If a file is named and is
// also the Output, it returns an error, except with Decay, because then the total of yesterday may be replaced.
func (m *merger) expandFiles(ctx context.Context) ([]string, error) {
	var paths []string
	for _, arg := range m.Files {
		found, err := chunkio.ExpandStats(ctx, []string{arg}, m.request.documentOptions())
		if err != nil {
			return nil, err
		}
		if len(found) != 1 || found[0] != arg {
			found = slices.DeleteFunc(found, func(path string) bool {
				return errors.As(atomicfile.CheckNotInput(ctx, m.Output, path), new(*stream.UsageError))
			})
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return nil, stream.Usagef("no statistics file is left but {o} %s itself", place.DisplayName(m.Output))
	}
	if m.Decay > 0 { // today's total may overwrite yesterday's total
		return paths, nil
	}
	return paths, atomicfile.CheckNotInput(ctx, m.Output, paths...)
}

// merger holds the state of one Merge.
type merger struct {
	MergeRequest
	request *Request

	files          []mergedFile // in the order in which they are added
	kind           string       // kind of all files
	header         chunkio.StatsHeader
	coverage       coverage
	warnings       warningCollector
	hasDroppedRows bool  // some of the files report dropped rows
	bookkeeping    int64 // bytes of the data whose size grows with the number of files

	firstBundle *bundle // header of the file that determines the order of columns
	firstPath   string
}

func (m *merger) headerBundle() *bundle {
	e := newBundle(m.header)
	e.kind, e.inputs, e.covered, e.warnings = m.kind, m.coverage.files, m.coverage.coveredRanges(), m.warnings.allTexts()
	return e
}

func (m *merger) sumFiles(ctx context.Context) (*bundle, error) {
	t, err := newSumTree(m)
	if err != nil {
		return nil, err
	}
	defer t.close()
	e, err := t.sumAll(ctx)
	if err != nil {
		return nil, err
	}
	whole := m.headerBundle()
	e.kind, e.columns, e.leftOut, e.useless, e.table, e.part = whole.kind, whole.columns, whole.leftOut, whole.useless, whole.table, whole.part
	e.inputs, e.covered, e.options, e.warnings = whole.inputs, whole.covered, whole.options, whole.warnings
	e.copyPositions(m.firstBundle)
	if m.hasDroppedRows && e.profile.Seen > e.profile.Rows {
		e.warnings = append(e.warnings, e.droppedWarning())
	}
	m.recordMergeOptions(e)
	return e, nil
}
