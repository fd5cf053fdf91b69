package main

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// countGiven finds out the number of rows of --anchors-file, if there is one: the plan
// wants to know.
func (r *request) countGiven(ctx context.Context) error {
	f := &r.method.graph
	if f.file == "" {
		return nil
	}
	ds, err := chunkio.Open(ctx, []string{f.file}, chunkio.Options{Threads: r.limits.threads}) // footers only: the plan is to complain
	if err != nil {
		return fmt.Errorf("--anchors-file: %w", err)
	}
	defer ds.Close()
	switch rows := ds.Rows(); {
	case rows < 0:
		return stream.Usagef("--anchors-file %s: a stream; save it to a Parquet file first", f.file)
	case rows <= int64(f.neighbors):
		return stream.Usagef("--anchors-file %s: %d anchors are too few for --neighbors %d: weights need the distance of one more, so at least %d",
			f.file, rows, f.neighbors, f.neighbors+1)
	default:
		f.fileRows = int(min(rows, math.MaxInt32))
	}
	return nil
}

// given reads --anchors-file: the input's columns, found by name. Its missing entries
// are treated as those of the input.
func (p *pass) given(ctx context.Context, d *drawn, std *gram.Standardizer) (*anchor.Anchors, error) {
	f := &p.g.req.method.graph
	opt := p.opt
	opt.Columns, opt.Exclude, opt.Label, opt.Sample, opt.LeaveOut = nil, nil, "", 0, nil
	opt.Memory = max(p.plan.Limit-p.plan.Program-p.plan.Anchors, 1) // the input is not being read now
	src, err := openDataset(ctx, []string{f.file}, opt)
	if err != nil {
		return nil, fmt.Errorf("--anchors-file: %w", p.plan.explain(err))
	}
	defer src.Close()
	if opt.Sparse == "" {
		opt.Columns = columnNames(d.columns)
		known := make(map[string]bool)
		for _, c := range src.Columns() {
			known[c.Name] = true
		}
		for _, name := range opt.Columns {
			if !known[name] {
				return nil, stream.Usagef("--anchors-file %s: it has no numeric column %q, which is a feature of the input", f.file, name)
			}
		}
		if src, err = src.With(opt); err != nil {
			return nil, fmt.Errorf("--anchors-file: %w", err)
		}
	}
	if err := sameColumns(d.columns, src.Columns()); err != nil {
		return nil, stream.Usagef("--anchors-file %s: its columns are not in the order of the input: %v", f.file, err)
	}
	a, err := anchor.Given(ctx, src, f.fileRows, std)
	if err != nil {
		return nil, fmt.Errorf("--anchors-file: %w", p.plan.explain(err))
	}
	return a, nil
}
