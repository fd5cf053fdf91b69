package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// read fills the table: one pass over the input.
func (e *evaluator) read(ctx context.Context) error {
	missing, fill := e.policy()
	opt := chunkio.Options{
		Label: e.o.label, Classes: e.o.label != "", Sparse: e.sparse, Missing: missing,
		Sample: e.o.sample, Seed: e.o.limits.seed, Threads: e.o.limits.threads,
		Memory: max(int64(e.o.limits.memory)-programBytes, 1), Meter: e.meter, Stdin: e.c.in,
	}
	ds, err := e.open(ctx, opt)
	if err != nil {
		return err
	}
	defer ds.Close()
	opt.Memory = 0 // below
	if opt.Memory, err = e.plan(ds); err != nil {
		return e.larger(ctx, ds.Rows(), err)
	}
	opt.LeaveOut = e.others(ds)
	if ds, err = ds.With(opt); err != nil {
		return err
	}
	if err := e.foresee(ctx, ds.Rows()); err != nil {
		return err
	}
	rows := 0
	if n := ds.Rows(); n >= 0 {
		rows = int(n)
		if e.o.sample > 0 {
			rows = int(min(n, e.o.sample))
		}
	}
	e.table = judge.NewTable(len(e.columns), rows, e.o.limits.threads, int64(e.o.limits.memory)-programBytes-opt.Memory)
	err = e.c.track(passInfo{What: "reading", Pass: 1, Passes: 1, Rows: ds.Rows()}, e.meter, func(func(passInfo)) error {
		return stream.Fold(ctx, ds, stream.FoldOptions{Meter: e.meter}, e.table)
	})
	if err != nil {
		return e.wholeOf(ds, err)
	}
	e.inputs, e.used, e.rows = ds.Inputs(), e.table.Rows, ds.Rows()
	if e.rows < 0 {
		e.rows = e.meter.Rows.Load()
	}
	e.unlabelled = e.table.Unlabelled
	if err := e.count(ds.Classes()); err != nil {
		return err
	}
	if _, err := e.room(ds, e.used); err != nil { // now rows and clusters are known
		return err
	}
	e.table.Fill(fill)
	return nil
}

// open opens the input with the columns that are to be judged.
func (e *evaluator) open(ctx context.Context, opt chunkio.Options) (*chunkio.Dataset, error) {
	ds, err := chunkio.Open(ctx, e.o.inputs, opt)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) && !slices.Contains(e.o.inputs, "-") {
		// The refusal of the whole plan says more than that of opening the files.
		opt.Memory = 0
		if again, openErr := chunkio.Open(ctx, e.o.inputs, opt); openErr == nil {
			defer again.Close()
			if openErr = e.choose(again); openErr == nil {
				if _, openErr = e.plan(again); openErr != nil {
					openErr = e.larger(ctx, again.Rows(), openErr)
				}
			}
			if openErr != nil {
				return nil, openErr
			}
		}
	}
	if err != nil {
		return nil, e.o.limits.whole(err)
	}
	if err = e.choose(ds); err == nil {
		opt.LeaveOut = e.others(ds)
		var chosen *chunkio.Dataset
		if chosen, err = ds.With(opt); err == nil {
			if err = chosen.Check(); err == nil {
				err = notInput(e.o.output.path, paths(ds.Inputs())...)
			}
		}
	}
	if err != nil {
		ds.Close()
		return nil, err
	}
	return ds, nil
}

// fewRows is the number of rows a class has at least, on average, to be taken for one.
const fewRows = 2

// count finds the classes among the rows read.
func (e *evaluator) count(names []string) error {
	path := paths(e.inputs)[0]
	if e.used == 0 {
		if n := e.table.Unlabelled; n > 0 {
			err := stream.Dataf(path, "--label %s is null in every row judged", e.o.label)
			err.Remedy = stream.PlainText("choose another --label" + e.wider())
			return err
		}
		err := stream.Dataf(path, "no rows to judge by (%s seen, all dropped)", humanize.Comma(e.rows))
		err.Remedy = stream.PlainText("choose --missing mean or zero" + e.wider())
		return err
	}
	if e.o.label == "" {
		return nil
	}
	sizes := make([]int64, len(names))
	for _, c := range e.table.Classes {
		sizes[c]++
	}
	for i, n := range sizes {
		if n > 0 {
			e.classes, e.sizes = append(e.classes, names[i]), append(e.sizes, n)
		}
	}
	if n := e.table.Unlabelled; n > 0 {
		e.warnings = append(e.warnings, fmt.Sprintf("%s of %s rows take no part: --label %s is null there", humanize.Comma(n), humanize.Comma(n+int64(e.used)), e.o.label))
	}
	if len(e.classes) == 1 {
		return stream.Usagef("--label %s: all rows judged are of one class, %q; with one class every clustering is right; choose another --label%s", e.o.label, e.classes[0], e.wider())
	}
	if e.o.clusters == 0 {
		e.o.clusters = len(e.classes)
		// So many clusters would take hours and tell nothing. ORL has 10 rows a class.
		if e.used > 2*fewRows && len(e.classes)*fewRows > e.used {
			return stream.Usagef("--label %s has %s classes in %s rows, so it seems to be no class; if it is one, say how many --clusters to make",
				e.o.label, humanize.Comma(int64(len(e.classes))), humanize.Comma(int64(e.used)))
		}
	}
	if e.o.clusters > e.used {
		return stream.Usagef("%d clusters are more than the %d rows judged; give fewer --clusters, or a larger --sample", e.o.clusters, e.used)
	}
	return nil
}

// wider is advice where the sample may be to blame for what is not in it.
func (e *evaluator) wider() string {
	if e.o.sample > 0 && e.rows > e.o.sample {
		return ", or a larger --sample"
	}
	return ""
}
