package ufs

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MergeRequest says which statistics files to add up.
type MergeRequest struct {
	Files []string
	// Window keeps the newest so many of the files: the last ones by base name, and by path
	// where those are equal, in the order of their bytes. 0 means all.
	Window int
	// Decay is the γ in (0, 1] by which rows weigh less with every newer file: the newest weighs 1,
	// the one before γ, and so on; 0 means that all weigh 1. One file may be a total that was
	// merged with the same Decay: it is that of the days before the other files, whatever its name,
	// so that yesterday's total and today's file make today's total.
	Decay   float64
	Output  string // the merged statistics file
	Threads int    // default: one a core
	Memory  int64  // peak resident memory in bytes, default 2 GiB
}

// Gathered says what a statistics file came to hold.
type Gathered struct {
	Features int
	Inputs   int
	Rows     int64 // covered
	RowsUsed int64
	Warnings []string
	Outside  []string // the files that Window left out, oldest first
}

// Merge adds statistics files of parts of the data into one: the result is what one
// Scan over all of it gives. It refuses files of other columns or options, and files that cover
// the same rows. With Window or Decay it is what one Scan of the newest files gives, with older
// rows weighing less: the file records both, and selections from it show them.
func Merge(ctx context.Context, m MergeRequest) (*Gathered, error) {
	q := Request{Threads: m.Threads, Memory: m.Memory, Output: m.Output}
	switch {
	case len(m.Files) == 0:
		return nil, stream.Usagef("no statistics file given")
	case m.Output == "":
		return nil, stream.Usagef("no output given; add {o} ALL.ufs")
	}
	if err := q.limits(); err != nil {
		return nil, err
	}
	end, err := q.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if err := atomicfile.CanWrite(m.Output); err != nil {
		return nil, err
	}
	heads, from, err := headsOf(m.Files)
	if err != nil {
		return nil, err
	}
	files, outside, err := m.arrange(heads, from)
	if err != nil {
		return nil, err
	}
	sum, err := q.mergeAll(ctx, files, from, m.Decay)
	if err != nil {
		return nil, err
	}
	m.recordIn(sum.options)
	if err := sum.writeStats(m.Output, nil); err != nil {
		return nil, err
	}
	done := sum.summary(nil)
	done.Outside = outside
	return done, nil
}

// summary is what there is to say of e.
func (e *gathered) summary(say stream.Spelling) *Gathered {
	return &Gathered{
		Features: len(e.columns), Inputs: len(e.inputs), Rows: e.coveredRows(), RowsUsed: e.profile.Rows, Warnings: spelled(e.warnings, say),
	}
}

// mergeAll adds the files one by one, the oldest first: two states are in memory at a time.
// With a decay what there is weighs less before the next file is added.
func (q *Request) mergeAll(ctx context.Context, paths []string, from method.From, decay float64) (*gathered, error) {
	states := int64(2)
	if from == method.FromProfile { // merging samples copies rows
		states = 3
	}
	m := &merger{q: q, from: from, decay: decay, opt: gram.Options{Threads: q.Threads, Limit: max((q.Memory-programBytes)/states, 1)}}
	var sum *gathered
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := m.read(path)
		if err == nil && sum != nil {
			if err = m.add(sum, next); err != nil {
				err = stream.Errorf("cannot merge %s with %s: %w", clashing(paths[:i], next), path, err)
			}
		}
		var short *stream.MemoryError
		if errors.As(err, &short) {
			return nil, &stream.MemoryError{What: "merging two of these files", Need: states*short.Need + programBytes, Limit: q.Memory}
		}
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = next
		}
	}
	return sum, nil
}

// merger is how files are added.
type merger struct {
	q     *Request
	from  method.From
	decay float64
	opt   gram.Options // opt.Limit bounds all of one file
}

// read reads all that is merged of a file.
func (m *merger) read(path string) (*gathered, error) {
	opt := m.opt
	beside, err := spreadBytes(path)
	if err != nil {
		return nil, err
	}
	opt.Limit = max(opt.Limit-beside, 1)
	e, err := readStats(path, m.from, opt)
	if short := (*stream.MemoryError)(nil); errors.As(err, &short) {
		return nil, &stream.MemoryError{What: short.What, Need: short.Need + beside, Limit: m.opt.Limit}
	}
	if err != nil {
		return nil, err
	}
	if m.decay > 0 { // recorded of the sum in the end; a total differs in it from a day's file
		delete(e.options, optionDecay)
	}
	if m.from == method.FromProfile {
		return e, e.readSample(path, opt.Limit)
	}
	return e, e.readSpread(path, m.q.Threads)
}

// add merges a newer file into sum.
func (m *merger) add(sum, next *gathered) error {
	if m.decay > 0 {
		if err := sum.discount(m.decay); err != nil {
			return stream.Usagef("{decay}: %v; {window} keeps the newest files only", err)
		}
	}
	return sum.add(next)
}

// discount multiplies the weight of all rows by γ.
func (e *gathered) discount(gamma float64) error {
	if err := e.moments.Discount(gamma); err != nil {
		return err
	}
	if e.graph != nil {
		if err := e.graph.Discount(gamma); err != nil {
			return err
		}
	}
	if e.spread != nil {
		return e.spread.Discount(gamma)
	}
	return nil
}

// clashing is the first of the files at paths that covers rows of next as well, and
// else the first.
func clashing(paths []string, next *gathered) string {
	for _, path := range paths {
		e, err := readStats(path, method.FromProfile, gram.Options{})
		if err == nil && e.join(next) != nil {
			return path
		}
	}
	return paths[0]
}

// headsOf reads what the files say of themselves, and what kind of statistics they hold; a
// mixture is a usage error.
func headsOf(paths []string) (heads []*gathered, from method.From, err error) {
	for _, path := range paths {
		s, err := readStats(path, method.FromProfile, gram.Options{})
		if err != nil {
			return nil, 0, err
		}
		if heads = append(heads, s); s.kind != heads[0].kind {
			return nil, 0, stream.Usagef("%s holds %s statistics and %s %s statistics; merge those of one kind", paths[0], heads[0].kind, path, s.kind)
		}
	}
	switch heads[0].kind {
	case kindGraph:
		return heads, method.FromGraph, nil
	case kindGram:
		return heads, method.FromGram, nil
	}
	return heads, method.FromProfile, nil
}

// add merges o into e after making sure that they belong together.
func (e *gathered) add(o *gathered) error {
	if err := sameColumns(e.columns, o.columns); err != nil {
		hint := stream.Text{}
		if len(e.decided)+len(o.decided) > 0 {
			hint = stream.Textf("; each part left out what is useless in it: make one profile of all parts (scan {profile-only}, merge) and scan them with {profile}")
		}
		return stream.Usagef("their columns differ: %v%s", err, hint)
	}
	if !maps.Equal(e.options, o.options) {
		return stream.Usagef("their options differ: %v", optionsDiffer(e.options, o.options))
	}
	if err := e.join(o); err != nil {
		return err
	}
	for _, w := range o.warnings {
		if !slices.ContainsFunc(e.warnings, func(own stream.Text) bool { return own.String() == w.String() }) {
			e.warnings = append(e.warnings, w)
		}
	}
	if err := e.addSpread(o); err != nil {
		return err
	}
	switch {
	case e.graph != nil:
		if err := e.graph.Merge(o.graph); err != nil {
			return err
		}
		return e.moments.Merge(o.moments)
	case e.moments != nil:
		return e.moments.Merge(o.moments)
	case (e.sample == nil) != (o.sample == nil):
		return stream.Usagef("only one of them has a sample of rows for anchors; make both with {profile-only} and the same {method}")
	case e.sample != nil:
		if err := e.sample.Merge(o.sample); err != nil {
			return err
		}
	}
	return e.profile.Merge(o.profile)
}

// addSpread merges the histograms, if both have any; without those of one part there are none
// of the whole.
func (e *gathered) addSpread(o *gathered) error {
	if e.spread != nil && o.spread != nil {
		return e.spread.Merge(o.spread)
	}
	if e.spread != nil || o.spread != nil {
		e.spread = nil
		e.warnings = append(e.warnings, stream.Textf("a part was scanned by an earlier version, without histograms, so the whole has none either: scan it again where check is to say how far columns moved"))
	}
	return nil
}

// optionsDiffer names the first option in which two runs differ.
func optionsDiffer(a, b map[string]string) stream.Text {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, option := range sortedKeys(both) {
		if a[option] != b[option] {
			return stream.Textf("%v %q against %q", stream.Option(option), a[option], b[option])
		}
	}
	return stream.PlainText("unknown")
}
