package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fromStats reads the evidence of --stats and refuses flags that the file cannot serve.
func (o *selectOptions) fromStats() (*evidence, error) {
	seen, err := inspectStats(o.stats)
	if err != nil {
		return nil, err
	}
	d := seen.Features
	var solver int64
	switch {
	case o.chosen.need == needGram:
		solver = greedy.Bytes(d, o.expectedK(d), o.expectedGroups(d))
	case o.chosen.need == needGraph && seen.Kind == kindGraph:
		m, err := strconv.Atoi(seen.Options["anchors"])
		if err != nil {
			return nil, stream.Dataf(o.stats, "no number of anchors: %w", err)
		}
		solver = o.graphSolverBytes(d, m)
	}
	opt := gram.Options{Threads: o.limits.threads, Limit: max(int64(o.limits.memory)-programBytes-solver, 1)}
	e, err := readStats(o.stats, o.chosen.need, opt)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		b := budget{Limit: int64(o.limits.memory), Smallest: programBytes + solver + m.Need}
		return nil, b.refusal()
	}
	if err != nil {
		return nil, err
	}
	if err := o.recorded(e); err != nil {
		return nil, err
	}
	if o.chosen.need == needGraph {
		if err := o.recordedGraph(e); err != nil {
			return nil, err
		}
	}
	e.warnings = append(slices.Clone(e.warnings), e.gaps(o.stats)...)
	return e, o.restrict(e)
}

// gaps warns where the file at path is not of all the rows of its inputs.
func (e *evidence) gaps(path string) []string {
	var rows int64
	for _, in := range e.inputs {
		rows += in.Rows
	}
	covered := e.coveredRows()
	if covered >= rows {
		return nil
	}
	return []string{fmt.Sprintf("%s covers %s of %s rows of its inputs: some shards are missing", path, humanize.Comma(covered), humanize.Comma(rows))}
}

// recorded compares the flags with what the file records.
func (o *selectOptions) recorded(e *evidence) error {
	names := columnNames(e.columns)
	left := make([]string, len(e.leftOut))
	for i, l := range e.leftOut {
		left[i] = l.Name
	}
	if o.input.label != "" && !slices.Contains(left, o.input.label) {
		if slices.Contains(names, o.input.label) {
			return stream.Usagef("--label %s: %s has it as a feature; leave it out with --exclude, or scan again with --label", o.input.label, o.stats)
		}
		return stream.Usagef("--label %s: %s records no such column%s", o.input.label, o.stats, didYouMean(o.input.label, slices.Concat(left, names)))
	}
	asked := o.input.shape(o.limits.seed)
	for _, flag := range []string{"weight", "sparse", "rows"} {
		if o.given(flag) && asked[flag] != e.options[flag] {
			recorded := "without it"
			if e.options[flag] != "" {
				recorded = "with --" + flag + " " + e.options[flag]
			}
			return stream.Usagef("--%s %s: %s was scanned %s; scan again with the --%[1]s you want", flag, asked[flag], o.stats, recorded)
		}
	}
	if o.given("on-error") {
		return stream.Usagef("--on-error is for reading files; %s is read whole or not at all", o.stats)
	}
	return o.recordedMissing(e)
}

// recordedMissing settles --missing: mean and zero can be told apart afterwards; the
// other policies acted while the file was made. Where nothing is missing all agree.
func (o *selectOptions) recordedMissing(e *evidence) error {
	recorded := e.options["missing"]
	if !o.given("missing") {
		return o.input.missing.Set(recorded)
	}
	nothing := !e.hasMissing()
	asked := o.input.missing.value
	filled := func(policy string) bool { return policy == "mean" || policy == "zero" }
	if asked == recorded || nothing || filled(asked) && filled(recorded) {
		return nil
	}
	return stream.Usagef("--missing %s: %s was scanned under --missing %s, which acted on the rows; scan again with --missing %[1]s", asked, o.stats, recorded)
}

// hasMissing says whether a value is missing anywhere in what the file was made of.
func (e *evidence) hasMissing() bool {
	return len(e.decided) > 0 || slices.ContainsFunc(e.profile.Columns, func(c gram.ColumnProfile) bool { return c.Missing.Total() > 0 })
}

// restrict marks the columns that --columns and --exclude keep. Rows that were
// dropped for a missing value in another column are gone, so that is refused.
func (o *selectOptions) restrict(e *evidence) error {
	if len(o.input.columns)+len(o.input.exclude) == 0 {
		return nil
	}
	if e.options["missing"] == "drop-row" && e.profile.Seen != e.profile.Rows {
		return stream.Usagef("--columns and --exclude: %s has dropped rows for values missing in any of its columns; scan again with them", o.stats)
	}
	names := columnNames(e.columns)
	e.wanted = make([]bool, len(names))
	for j := range e.wanted {
		e.wanted[j] = len(o.input.columns) == 0
	}
	included, err := chunkio.Match("columns", o.input.columns, names)
	if err != nil {
		return err
	}
	excluded, err := chunkio.Match("exclude", o.input.exclude, names)
	if err != nil {
		return err
	}
	left := false
	for j, name := range names {
		switch {
		case excluded[j]:
			e.wanted[j] = false
			e.leftOut = append(e.leftOut, stream.LeftOut{Name: name, Why: "excluded"})
		case included[j] || e.wanted[j]:
			e.wanted[j], left = true, true
		default:
			e.leftOut = append(e.leftOut, stream.LeftOut{Name: name, Why: "not among --columns"})
		}
	}
	if !left {
		return stream.Usagef("--columns and --exclude leave no feature of %s", o.stats)
	}
	return nil
}
