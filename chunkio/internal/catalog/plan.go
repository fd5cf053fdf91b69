package catalog

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// PlanInfo contains the data that a catalog has from a plan, apart from the catalog's files. The catalog has the files
// of a shard, or all files of the plan.
type PlanInfo struct {
	Id             string // digest of the plan
	Shard          settings.Shard
	FirstFile      string       // the plan's first file; errors that concern all files name it
	Files          int          // number of files of the whole plan
	Rows           stream.Range // the shard's rows; zero for all
	FirstFileStart int64        // global position of the first row of the catalog's first file
}

// Part identifies the plan file and the shard from which the catalog comes. It is nil if there is no plan.
func (c *Catalog) Part() *stream.Part {
	f := c.Plan
	if f == nil || f.Shard.Of == 0 {
		return nil
	}
	return &stream.Part{
		Plan: f.Id, Of: f.Shard.Of, Shards: []stream.ShardRange{{From: f.Shard.Number, To: f.Shard.Number}},
		Whole: &stream.WholeOfParts{Files: f.Files, Rows: c.Rows},
	}
}

// ShardRows returns the rows of the shard and the position of the first row of its files.
func (c *Catalog) ShardRows() (rows stream.Range, first int64) {
	if c.Plan == nil {
		return stream.Range{}, 0
	}
	return c.Plan.Rows, c.Plan.FirstFileStart
}

// matchesPlan reports whether an open file, whose size and footer the caller has compared, still matches its plan. Its
// columns and row groups must equal the planned ones, because decoding relies on them. The fingerprint of a local file
// must be the same; an object is read in the planned version anyway. An error means that in could not be read.
func (c *Catalog) matchesPlan(opened format.File, in storage.Input, planned *File) (bool, error) {
	if c.Plan == nil {
		return true, nil
	}
	leaves := opened.Leaves()
	if !slices.Equal(opened.GroupRows(), planned.Groups) {
		return false, nil
	}
	for i := range c.Leaves {
		here := planned.LeafIndex(i)
		if here < 0 {
			continue
		}
		if here >= len(leaves) {
			return false, nil
		}
		l, want := &leaves[here], &c.Leaves[i]
		typ, ok := format.CommonType(l.Type, want.Type)
		if l.Name != want.Name || want.Type != mixedType && (!ok || typ != want.Type) {
			return false, nil
		}
	}
	if _, far := in.(*storage.Object); far {
		return true, nil
	}
	now, err := storage.ComputeFingerprint(in, planned.Digest)
	return now == planned.Fingerprint, err
}
