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
	Files   []string
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
}

// Merge adds statistics files of parts of the data into one: the result is what one
// Scan over all of it gives. It refuses files of other columns or options, and files that cover
// the same rows.
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
	from, err := kindOf(m.Files)
	if err != nil {
		return nil, err
	}
	sum, err := q.mergeAll(ctx, m.Files, from)
	if err != nil {
		return nil, err
	}
	if err := sum.writeStats(m.Output, nil); err != nil {
		return nil, err
	}
	return sum.summary(nil), nil
}

// summary is what there is to say of e.
func (e *gathered) summary(say stream.Spelling) *Gathered {
	return &Gathered{len(e.columns), len(e.inputs), e.coveredRows(), e.profile.Rows, spelled(e.warnings, say)}
}

// mergeAll adds the files one by one: two states are in memory at a time.
func (q *Request) mergeAll(ctx context.Context, paths []string, from method.From) (*gathered, error) {
	states := int64(2)
	if from == method.FromProfile { // merging samples copies rows
		states = 3
	}
	opt := gram.Options{Threads: q.Threads, Limit: max((q.Memory-programBytes)/states, 1)}
	var sum *gathered
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := readStats(path, from, opt)
		if err == nil && from == method.FromProfile {
			err = next.readSample(path, opt.Limit)
		}
		if err == nil && sum != nil {
			if err = sum.add(next); err != nil {
				err = stream.Errorf("cannot merge %s with %s: %w", clashing(paths[:i], next), path, err)
			}
		}
		var m *stream.MemoryError
		if errors.As(err, &m) {
			return nil, &stream.MemoryError{What: "merging two of these files", Need: states*m.Need + programBytes, Limit: q.Memory}
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

// kindOf says what kind of statistics the files hold; a mixture is a usage error.
func kindOf(paths []string) (method.From, error) {
	var first string
	for _, path := range paths {
		s, err := readStats(path, method.FromProfile, gram.Options{})
		if err != nil {
			return 0, err
		}
		if first == "" {
			first = s.kind
		}
		if s.kind != first {
			return 0, stream.Usagef("%s holds %s statistics and %s %s statistics; merge those of one kind", paths[0], first, path, s.kind)
		}
	}
	switch first {
	case kindGraph:
		return method.FromGraph, nil
	case kindGram:
		return method.FromGram, nil
	}
	return method.FromProfile, nil
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
