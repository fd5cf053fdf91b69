package ufs

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (r *run) countAnchorsInFile(ctx context.Context) error {
	f := &r.Anchors
	if f.File == "" {
		return nil
	}
	// Open reads only footers, so no memory limit is set here. If the limit is too small, the plan reports it.
	ds, err := chunkio.Open(ctx, []string{f.File}, chunkio.Options{Threads: r.Threads, Anonymous: r.Anonymous, Allow: r.Allow, Meter: r.Meter})
	if err != nil {
		return stream.Errorf("{anchors-file}: %w", err)
	}
	defer ds.Close()
	switch rows := ds.Rows(); {
	case rows < 0:
		return stream.Usagef("{anchors-file} %s: a stream; save it to a Parquet file first", f.File)
	case rows <= int64(f.Neighbors):
		return stream.Usagef("{anchors-file} %s: %d anchors are too few for {neighbors} %d: weights need the distance of one more, so at least %d",
			place.DisplayName(f.File), rows, f.Neighbors, f.Neighbors+1)
	default:
		r.anchorRows, r.anchorInputs = int(min(rows, math.MaxInt32)), ds.Inputs()
	}
	return nil
}

// readAnchorsFile reads the anchors from the anchors file. It reads the columns that have the names of the input's
// columns, and treats missing entries as in the input.
func (p *pass) readAnchorsFile(ctx context.Context, d *anchorData, std *gram.Standardizer) (*anchor.Anchors, error) {
	f := &p.gatherer.Anchors
	opt := p.opt
	opt.Columns, opt.Exclude, opt.Label, opt.Sample, opt.LeaveOut, opt.Keep = nil, nil, "", 0, nil, nil
	opt.Plan, opt.Shard, opt.TableVersion, opt.TableAsOf = "", chunkio.Shard{}, nil, time.Time{} // these options belong to the input
	opt.Memory = max(p.plan.Limit-p.plan.Program-p.plan.Anchors, 1)                              // the input is not being read now
	src, err := openDataset(ctx, []string{f.File}, opt)
	if err != nil {
		return nil, stream.Errorf("{anchors-file}: %w", p.plan.errForLimit(err))
	}
	defer src.Close()
	if opt.Sparse == "" {
		opt.Columns = columnNames(d.columns)
		opt.Order = opt.Columns
		known := make(map[string]bool)
		for _, c := range src.Columns() {
			known[c.Name] = true
		}
		for _, name := range opt.Columns {
			if !known[name] {
				return nil, stream.Usagef("{anchors-file} %s: it has no numeric column %q, which is a feature of the input", place.DisplayName(f.File), name)
			}
		}
		for _, c := range src.Columns() { // reading a needed column may bring further columns
			if !slices.Contains(opt.Columns, c.Name) {
				opt.LeaveOut = append(opt.LeaveOut, c.LeftOut("no feature of the input"))
			}
		}
		if src, err = src.With(opt); err != nil {
			return nil, stream.Errorf("{anchors-file}: %w", err)
		}
	}
	if err := checkSameColumns(d.columns, src.Columns()); err != nil {
		return nil, stream.Usagef("{anchors-file} %s: its columns are not in the order of the input: %v", place.DisplayName(f.File), err)
	}
	a, err := anchor.FromSource(ctx, p.readableRows(src), p.gatherer.anchorRows, std)
	if err != nil { // the error concerns the anchors even if it mentions distances, because no row was read yet
		return nil, stream.Errorf("{anchors-file}: %w", p.plan.errForLimit(withPlace(err, &bundle{path: place.DisplayName(f.File)})))
	}
	return a, nil
}
