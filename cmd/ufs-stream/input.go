package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// request is one run: what to read, what to select from it, within which bounds.
// The verbs fill it in from their flags; prepare settles the rest.
type request struct {
	inputs []string
	input  inputFlags
	method methodFlags
	limits limitFlags
	temp   scratchFlags

	chosen method // the row of the table for method.method
	scale  gram.Scale
	grid   *stream.Grid // path fills it in, in place of a selection
	by     *evidence    // --profile: what the whole input holds; or nil
	held   int64        // bytes of its sample of rows
}

// prepare checks the flags that need no input. given tells which were set by the user.
func (r *request) prepare(given func(string) bool) error {
	if err := r.input.check(); err != nil {
		return err
	}
	if err := r.temp.check(); err != nil {
		return err
	}
	var err error
	if r.chosen, err = r.method.resolve(given); err != nil {
		return err
	}
	if (r.chosen.need == needGraph || r.chosen.need == needRows) && slices.Contains(r.inputs, "-") {
		return stream.Usagef("method %s reads its input twice, and a stream is there once; save it to a file first, or choose --method greedy", r.chosen.name)
	}
	if r.chosen.need == needRows {
		r.input.sample = r.method.rows.sample
	}
	if r.input.weight != "" && !r.chosen.weight {
		return stream.Usagef("--weight is not for method %s", r.chosen.name)
	}
	if r.scale, err = gram.ParseScale(r.method.scale); err != nil {
		return err
	}
	return nil
}

// fill is what takes the place of missing entries, where they are kept.
func (r *request) fill() gram.Fill {
	fill, err := gram.ParseFill(r.input.missing.value)
	if err != nil { // error and drop-row leave nothing to fill
		return gram.FillMean
	}
	return fill
}

// datasetOptions are the options of reading that follow from the flags; reading may
// use the whole memory limit until the plan gives it a share.
func datasetOptions(c *cli, in inputFlags, lim limitFlags, meter *stream.Meter) chunkio.Options {
	return chunkio.Options{
		Columns: in.columns,
		Exclude: in.exclude,
		Label:   in.label,
		Weight:  in.weight,
		Sparse:  in.sparse,
		Missing: in.policy(),
		Sample:  in.drawn(),
		Seed:    lim.seed,
		Threads: lim.threads,
		Memory:  max(int64(lim.memory)-programBytes, 1),
		SkipBad: in.onError.value == "skip-file",
		Meter:   meter,
		Stdin:   c.in,
	}
}

// shape lists the settings that shape statistics, by flag: the header of a
// statistics file, and what a checkpoint must agree with.
func (f *inputFlags) shape(seed uint64) map[string]string {
	s := map[string]string{"missing": f.missing.value}
	for flag, value := range map[string]string{
		"columns": strings.Join(f.columns, ","),
		"exclude": strings.Join(f.exclude, ","),
		"label":   f.label,
		"weight":  f.weight,
		"sparse":  f.sparse,
	} {
		if value != "" {
			s[flag] = value
		}
	}
	if f.rows > 0 {
		s["rows"] = strconv.FormatInt(f.rows, 10)
		s["seed"] = strconv.FormatUint(seed, 10)
	}
	return s
}

// noStats refuses statistics files given as INPUT.
func noStats(verb string, inputs []string, remedy string) error {
	for _, path := range inputs {
		if chunkio.IsStats(path) {
			return stream.Usagef("%s: %s is a statistics file, not data%s", verb, path, remedy)
		}
	}
	return nil
}

// openDataset opens the inputs and makes sure that there is something to select from.
func openDataset(ctx context.Context, inputs []string, opt chunkio.Options) (*chunkio.Dataset, error) {
	ds, err := chunkio.Open(ctx, inputs, opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		ds.Close()
		return nil, err
	}
	return ds, nil
}

// promisesMissing reports whether the metadata already tells that a feature has nulls.
func promisesMissing(ds *chunkio.Dataset) bool {
	return columnsWithNulls(ds) > 0
}

// columnsWithNulls counts the features that have nulls by the metadata.
func columnsWithNulls(ds *chunkio.Dataset) (n int) {
	for _, f := range ds.Fields() {
		if f.Used && f.Nulls > 0 {
			n++
		}
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// columnNames lists the names of columns.
func columnNames(cols []stream.Column) []string {
	names := make([]string, len(cols))
	for j, c := range cols {
		names[j] = c.Name
	}
	return names
}

// matchFeatures returns the positions of the features that match the patterns, in
// the order of the patterns; one that matches none is a usage error.
func matchFeatures(flag string, patterns []string, cols []stream.Column, leftOut []stream.LeftOut) ([]int, error) {
	names := columnNames(cols)
	var found []int
	for _, p := range patterns {
		matched, err := chunkio.Match(flag, []string{p}, names)
		if err != nil {
			for _, l := range leftOut {
				if l.Name == p {
					return nil, stream.Usagef("{"+flag+"} %s: it is no feature: %s", p, l.Why)
				}
			}
			return nil, err
		}
		for j, ok := range matched {
			if ok && !slices.Contains(found, j) {
				found = append(found, j)
			}
		}
	}
	return found, nil
}

// plural is "1 file", "2 files".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
