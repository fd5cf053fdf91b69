package gathering

import (
	"context"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// readAnchorsFile reads the anchors from the anchors file. It reads the columns that have the names of the input's
// columns, and treats missing entries as in the input.
func readAnchorsFile(ctx context.Context, p *pass, d *anchorData, std *gram.Standardizer) (*anchor.Anchors, error) {
	f := &p.gatherer.Run.Bound.Anchors
	opt := p.opt
	opt.Columns, opt.Exclude, opt.Label, opt.Sample, opt.LeaveOut, opt.Keep = nil, nil, "", 0, nil, nil
	opt.Plan, opt.Shard, opt.TableVersion, opt.TableAsOf, opt.TableSince = "", chunkio.Shard{}, nil, time.Time{}, nil // these options belong to the input
	opt.Memory = max(p.plan.Limit-p.plan.Program-p.plan.Anchors, 1)                                                   // the input is not being read now
	src, err := settled.OpenDataset(ctx, []string{f.File}, opt)
	if err != nil {
		return nil, stream.Errorf("{anchors-file}: %w", p.plan.ErrForLimit(err))
	}
	defer src.Close()
	if opt.Sparse == "" {
		opt.Columns = wording.ColumnNames(d.columns)
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
	if err := statistics.CheckSameColumns(d.columns, src.Columns()); err != nil {
		return nil, stream.Usagef("{anchors-file} %s: its columns are not in the order of the input: %v", place.DisplayName(f.File), err)
	}
	a, err := anchor.FromSource(ctx, p.scoredIfRanked(src), p.gatherer.Run.AnchorRows, std)
	if err != nil { // the error concerns the anchors even if it mentions distances, because no row was read yet
		return nil, stream.Errorf("{anchors-file}: %w", p.plan.ErrForLimit(statistics.WithPlace(err, &statistics.Bundle{Path: place.DisplayName(f.File)})))
	}
	return a, nil
}
