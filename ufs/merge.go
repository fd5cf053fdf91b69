package ufs

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MergeRequest says which statistics files to add up.
type MergeRequest struct {
	Files []string // or globs of them; also in object stores
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

	Anonymous bool          // look for no credentials of object stores and sign no request for Files
	Meter     *stream.Meter // counts what is fetched from object stores
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
// the same rows. With Window or Decay it is what one Scan of the newest files gives, with older
// rows weighing less: the file records both, and selections from it show them.
func Merge(ctx context.Context, m MergeRequest) (*Gathered, error) {
	q := Request{Threads: m.Threads, Memory: m.Memory, Output: m.Output, Anonymous: m.Anonymous, Meter: m.Meter}
	switch {
	case len(m.Files) == 0:
		return nil, stream.Usagef("no statistics file given")
	case m.Output == "":
		return nil, stream.Usagef("no output given; add {o} ALL.ufs")
	case m.Window < 0:
		return nil, stream.Usagef("{window} %d: want a number of files", m.Window)
	case !(m.Decay >= 0 && m.Decay <= 1):
		return nil, stream.Usagef("{decay} %v: want a number above 0 and up to 1, by which every day before weighs less", m.Decay)
	}
	if err := q.limits(); err != nil {
		return nil, err
	}
	end, err := q.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if err := atomicfile.CanWrite(ctx, m.Output); err != nil {
		return nil, err
	}
	fetched := q.Meter.Transfer()
	files, err := chunkio.ExpandStats(ctx, m.Files, q.fetching())
	if err != nil {
		return nil, err
	}
	g := &merger{MergeRequest: m, q: &q}
	files, outside, err := g.arrange(ctx, files)
	if err != nil {
		return nil, err
	}
	if err := g.mergeAll(ctx, files); err != nil {
		return nil, err
	}
	g.record()
	if err := g.sum.writeStats(ctx, m.Output, nil); err != nil {
		return nil, err
	}
	done := g.sum.summary(nil, q.Meter.Transfer().Since(fetched))
	done.Merged, done.Outside = len(files), outside
	return done, nil
}

// summary is what there is to say of e.
func (e *gathered) summary(say stream.Spelling, t *stream.Transfer) *Gathered {
	return &Gathered{
		Features: len(e.columns), Inputs: len(e.inputs), Rows: e.coveredRows(), RowsUsed: e.profile.Rows, Warnings: spelled(e.warnings, say), Transfer: t,
	}
}

// merger is a merge under way.
type merger struct {
	MergeRequest
	q   *Request
	sum *gathered // of the files so far; nil before the first, which says what kind they all are
}

// mergeAll adds the files one by one, the oldest first: two states are in memory at a time,
// and one file is open. With a decay what there is weighs less before the next file is added.
func (m *merger) mergeAll(ctx context.Context, paths []string) error {
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := m.read(ctx, path)
		if err != nil {
			return err
		}
		if m.sum == nil {
			m.sum = next
			continue
		}
		if err = m.discount(); err == nil {
			err = m.sum.add(next)
		}
		if err != nil {
			return m.tooLittle(next.kind, 0, stream.Errorf("cannot merge %s with %s: %w",
				place.Name(m.q.clashing(ctx, paths[:i], next)), next.path, err))
		}
	}
	return nil
}

// states is how many of a kind are in memory while two files are merged.
func states(kind string) int64 {
	if kind == kindProfile { // merging samples copies rows
		return 3
	}
	return 2
}

// read reads all that is merged of the file at path.
func (m *merger) read(ctx context.Context, path string) (*gathered, error) {
	file, err := m.q.openStats(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	kind, err := kindOf(file)
	if err != nil {
		return nil, err
	}
	if err := m.accepts(file, kind); err != nil {
		return nil, err
	}
	from := map[string]method.From{kindGraph: method.FromGraph, kindGram: method.FromGram, kindProfile: method.FromProfile}[kind]
	beside := spreadBytes(file)
	opt := gram.Options{Threads: m.q.Threads, Limit: max((m.q.Memory-programBytes)/states(kind)-beside, 1)}
	next, err := readStats(file, from, opt)
	if err == nil && from == method.FromProfile {
		err = next.readSample(file, opt.Limit)
	} else if err == nil {
		err = next.readSpread(file, opt.Threads)
	}
	if err != nil {
		return nil, m.tooLittle(kind, beside, err)
	}
	next.path = file.Path()
	if m.Decay > 0 { // recorded of the sum in the end; a total differs in it from a day's file
		delete(next.options, optionDecay)
	}
	return next, nil
}

// tooLittle turns a complaint about one state's share of the memory, with so many bytes beside
// it, into one about the limit.
func (m *merger) tooLittle(kind string, beside int64, err error) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) {
		return err
	}
	return &stream.MemoryError{What: "merging two of these files", Need: states(kind)*(short.Need+beside) + programBytes, Limit: m.q.Memory}
}
