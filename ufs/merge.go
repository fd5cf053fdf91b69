package ufs

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MergeRequest says which statistics files to add up.
type MergeRequest struct {
	Files   []string // or globs of them; also in object stores
	Output  string   // the merged statistics file
	Threads int      // default: one a core
	Memory  int64    // peak resident memory in bytes, default 2 GiB

	Meter *stream.Meter // counts what is fetched from object stores
}

// Gathered says what a statistics file came to hold.
type Gathered struct {
	Features int
	Inputs   int
	Rows     int64 // covered
	RowsUsed int64
	Warnings []string
	Transfer *stream.Transfer // of the inputs; nil where nothing was fetched
}

// Merge adds statistics files of parts of the data into one: the result is what one
// Scan over all of it gives. It refuses files of other columns or options, and files that cover
// the same rows.
func Merge(ctx context.Context, m MergeRequest) (*Gathered, error) {
	q := Request{Threads: m.Threads, Memory: m.Memory, Output: m.Output, Meter: m.Meter}
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
	if err := atomicfile.CanWrite(ctx, m.Output); err != nil {
		return nil, err
	}
	fetched := q.Meter.Transfer()
	files, err := chunkio.ExpandStats(ctx, m.Files, q.fetching())
	if err != nil {
		return nil, err
	}
	sum, err := q.mergeAll(ctx, files)
	if err != nil {
		return nil, err
	}
	if err := sum.writeStats(ctx, m.Output, nil); err != nil {
		return nil, err
	}
	return sum.summary(nil, q.Meter.Transfer().Since(fetched)), nil
}

// summary is what there is to say of e.
func (e *gathered) summary(say stream.Spelling, t *stream.Transfer) *Gathered {
	return &Gathered{len(e.columns), len(e.inputs), e.coveredRows(), e.profile.Rows, spelled(e.warnings, say), t}
}

// mergeAll adds the files one by one: two states are in memory at a time, and one file is
// open. The first says what kind of statistics they are.
func (q *Request) mergeAll(ctx context.Context, paths []string) (*gathered, error) {
	var sum *gathered
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := q.nextPart(ctx, path, sum)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = next
			continue
		}
		if err := sum.add(next); err != nil {
			return nil, q.tooLittle(sum, stream.Errorf("cannot merge %s with %s: %w",
				place.Name(q.clashing(ctx, paths[:i], next)), place.Name(path), err))
		}
	}
	return sum, nil
}

// states is how many of a kind are in memory while two files are merged.
func states(kind string) int64 {
	if kind == kindProfile { // merging samples copies rows
		return 3
	}
	return 2
}

// nextPart reads the file at path, of the kind of sum where that is not nil.
func (q *Request) nextPart(ctx context.Context, path string, sum *gathered) (*gathered, error) {
	file, err := q.openStats(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	kind, err := kindOf(file)
	if err != nil {
		return nil, err
	}
	if sum != nil && sum.kind != kind {
		return nil, stream.Usagef("%s holds %s statistics and %s %s statistics; merge those of one kind", sum.path, sum.kind, file.Path(), kind)
	}
	from := map[string]method.From{kindGraph: method.FromGraph, kindGram: method.FromGram, kindProfile: method.FromProfile}[kind]
	opt := gram.Options{Threads: q.Threads, Limit: max((q.Memory-programBytes)/states(kind), 1)}
	next, err := readStats(file, from, opt)
	if err == nil && from == method.FromProfile {
		err = next.readSample(file, opt.Limit)
	}
	if err != nil {
		return nil, q.tooLittle(&gathered{kind: kind}, err)
	}
	next.path = file.Path()
	return next, nil
}

// tooLittle turns a complaint about one state's share of the memory into one about the limit.
func (q *Request) tooLittle(e *gathered, err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) {
		return err
	}
	return &stream.MemoryError{What: "merging two of these files", Need: states(e.kind)*m.Need + programBytes, Limit: q.Memory}
}

// clashing is the first of the files at paths that covers rows of next as well, and
// else the first.
func (q *Request) clashing(ctx context.Context, paths []string, next *gathered) string {
	covers := func(path string) bool {
		file, err := q.openStats(ctx, path)
		if err != nil {
			return false
		}
		defer file.Close()
		e, err := readStats(file, method.FromProfile, gram.Options{})
		return err == nil && e.join(next) != nil
	}
	if i := slices.IndexFunc(paths, covers); i >= 0 {
		return paths[i]
	}
	return paths[0]
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
