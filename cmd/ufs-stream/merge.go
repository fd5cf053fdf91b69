package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

type mergeOptions struct {
	limits limitFlags
	out    string
}

func newMerge(c *cli) *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge A.ufs B.ufs… -o ALL.ufs",
		Short: "Add statistics files",
		Long: `Add statistics files of parts of the data: the result is that of one scan over all of
it. Refuses files of other columns or options, and files that cover the same rows.`,
		Args: atLeastOne("statistics file"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.merge(cmd.Context(), args, o) },
	}
	o.limits.add(cmd.Flags())
	cmd.Flags().StringVarP(&o.out, "output", "o", "", "the merged statistics `FILE`")
	return cmd
}

func (c *cli) merge(ctx context.Context, args []string, o mergeOptions) error {
	if o.out == "" {
		return stream.Usagef("merge: no output given; add -o ALL.ufs")
	}
	restore, err := o.limits.apply()
	if err != nil {
		return err
	}
	defer restore()
	if err := checkOutput(o.out); err != nil {
		return err
	}
	need, err := kindOf(args)
	if err != nil {
		return err
	}
	sum, err := mergeAll(ctx, args, need, o.limits)
	if err != nil {
		return err
	}
	if err := sum.writeStats(o.out); err != nil {
		return err
	}
	c.note("merged %s: %s, %s rows", plural(len(args), "statistics file"), plural(len(sum.inputs), "input"), humanize.Comma(sum.coveredRows()))
	return nil
}

// mergeAll adds the files one by one: two states are in memory at a time.
func mergeAll(ctx context.Context, paths []string, n need, limits limitFlags) (*evidence, error) {
	states := int64(2)
	if n == needProfile { // merging samples copies rows
		states = 3
	}
	opt := gram.Options{Threads: limits.threads, Limit: max((int64(limits.memory)-programBytes)/states, 1)}
	var sum *evidence
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := readStats(path, n, opt)
		if err == nil && n == needProfile {
			err = next.readSample(path, opt.Limit)
		}
		if err == nil && sum != nil {
			if err = sum.add(next); err != nil {
				err = fmt.Errorf("cannot merge %s with %s: %w", clashing(paths[:i], next), path, err)
			}
		}
		var m *stream.MemoryError
		if errors.As(err, &m) {
			return nil, &stream.MemoryError{What: "merging two of these files", Need: states*m.Need + programBytes, Limit: int64(limits.memory), Option: m.Option}
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
func clashing(paths []string, next *evidence) string {
	for _, path := range paths {
		e, err := readStats(path, needProfile, gram.Options{})
		if err == nil && e.join(next) != nil {
			return path
		}
	}
	return paths[0]
}

// kindOf says what kind of statistics the files hold; a mixture is a usage error.
func kindOf(paths []string) (need, error) {
	var first string
	for _, path := range paths {
		s, err := inspectStats(path)
		if err != nil {
			return 0, err
		}
		if first == "" {
			first = s.Kind
		}
		if s.Kind != first {
			return 0, stream.Usagef("%s holds %s statistics and %s %s statistics; merge those of one kind", paths[0], first, path, s.Kind)
		}
	}
	switch first {
	case kindGraph:
		return needGraph, nil
	case kindGram:
		return needGram, nil
	}
	return needProfile, nil
}

// add merges o into e after making sure that they belong together.
func (e *evidence) add(o *evidence) error {
	if err := sameColumns(e.columns, o.columns); err != nil {
		hint := ""
		if len(e.decided)+len(o.decided) > 0 {
			hint = "; each part left out what is useless in it: make one profile of all parts (scan --profile-only, merge) and scan them with --profile"
		}
		return stream.Usagef("their columns differ: %v%s", err, hint)
	}
	if !maps.Equal(e.options, o.options) {
		return stream.Usagef("their options differ: %s", optionsDiffer(e.options, o.options))
	}
	if err := e.join(o); err != nil {
		return err
	}
	for _, w := range o.warnings {
		if !slices.Contains(e.warnings, w) {
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
		return stream.Usagef("only one of them has a sample of rows for anchors; make both with --profile-only and the same --method")
	case e.sample != nil:
		if err := e.sample.Merge(o.sample); err != nil {
			return err
		}
	}
	return e.profile.Merge(o.profile)
}

// optionsDiffer names the first flag in which two runs differ.
func optionsDiffer(a, b map[string]string) string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, flag := range sortedKeys(both) {
		if a[flag] != b[flag] {
			return fmt.Sprintf("--%s %q against %q", flag, a[flag], b[flag])
		}
	}
	return "unknown"
}
