package chunkio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/planfile"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A plan file freezes a catalog, so that many machines read their parts of the same input: a machine need not list
// files or read footers of files outside its shard, and all machines agree on columns, positions and the rows that a
// condition selects. dataset_plan_write.go writes a plan, dataset_plan_read.go reads it, and dataset_plan_list.go reads
// its files.

// Shard is one of the parts into which the rows of a plan are divided. Of is the number of parts, and Number, counted
// from 1, is the number of this part. Parts consist of whole row groups and have about equal numbers of bytes. The zero
// value means all rows.
type Shard struct{ Number, Of int }

// PlanHeader contains the properties of a plan file that concern all its files.
type PlanHeader struct {
	ID      string            // digest of the whole plan, computed by WritePlan
	Version string            // version of the program
	Method  string            // the method whose statistics are planned
	Options map[string]string // the options that affect statistics, as a selection records them
	Roots   []string          // folders and URLs that contain the files, as the writer of the plan opened them

	// Set by WritePlan:
	Footers  bool // the plan contains the data of the footers; else footers are read when it is opened
	Table    *stream.Table
	Files    int
	Groups   int   // row groups; only set for a plan that was just written
	Rows     int64 // 0 without footers
	Bytes    int64 // total size of the files
	Weight   int64 // bytes of the row groups that the condition does not exclude
	Warnings []string
}

// planInfo contains the data that a catalog has from a plan, apart from the catalog's files. The catalog has the files
// of a shard, or all files of the plan.
type planInfo struct {
	id             string // digest of the plan
	shard          Shard
	firstFile      string       // the plan's first file; errors that concern all files name it
	files          int          // number of files of the whole plan
	rows           stream.Range // the shard's rows; zero for all
	firstFileStart int64        // global position of the first row of the catalog's first file
}

// Part identifies the plan and the shard that the Dataset reads. It is nil if there is no plan.
func (d *Dataset) Part() *stream.Part {
	f := d.catalog.plan
	if f == nil || f.shard.Of == 0 {
		return nil
	}
	return &stream.Part{
		Plan: f.id, Of: f.shard.Of, Shards: []stream.ShardRange{{From: f.shard.Number, To: f.shard.Number}},
		Whole: &stream.WholeOfParts{Files: f.files, Rows: d.catalog.rows},
	}
}

// SparseColumns returns Options.Sparse with the number of features.
func (d *Dataset) SparseColumns() string {
	if d.sparse == nil {
		return ""
	}
	if d.sparse.isMap() {
		return fmt.Sprintf("%s,%d", d.catalog.leaves[d.sparse.values].Name, d.sparse.features)
	}
	return fmt.Sprintf("%s,%s,%d", d.catalog.leaves[d.sparse.indices].Name, d.catalog.leaves[d.sparse.values].Name, d.sparse.features)
}

// ShardRows returns the rows of the shard that the Dataset reads, and the position of the first row of its Inputs,
// which are only the files of the shard. The zero Range means all rows.
func (d *Dataset) ShardRows() (rows stream.Range, first int64) {
	if f := d.catalog.plan; f != nil {
		return f.rows, f.firstFileStart
	}
	return stream.Range{}, 0
}

// matchesPlan reports whether an open file, whose size and footer the caller has compared, still matches its plan. Its
// columns and row groups must equal the planned ones, because decoding relies on them. The fingerprint of a local file
// must be the same; an object is read in the planned version anyway. An error means that in could not be read.
func (c *catalog) matchesPlan(opened format.File, in Input, planned *file) (bool, error) {
	if c.plan == nil {
		return true, nil
	}
	leaves := opened.Leaves()
	if !slices.Equal(opened.GroupRows(), planned.groups) {
		return false, nil
	}
	for i := range c.leaves {
		here := planned.leafIndex(i)
		if here < 0 {
			continue
		}
		if here >= len(leaves) {
			return false, nil
		}
		l, want := &leaves[here], &c.leaves[i]
		typ, ok := format.CommonType(l.Type, want.Type)
		if l.Name != want.Name || want.Type != mixedType && (!ok || typ != want.Type) {
			return false, nil
		}
	}
	if _, far := in.(*object); far {
		return true, nil
	}
	now, err := computeFingerprint(in, planned.digest)
	return now == planned.fingerprint, err
}

func (e fileEntry) checkAgainstPlan(in Input, err error) error {
	name := place.DisplayName(e.path)
	switch {
	case errors.Is(err, store.ErrNotExist) || errors.Is(err, fs.ErrNotExist):
		return errUnlikePlan(name, "the plan %s has this file, and it is not there", e.plan)
	case errors.Is(err, store.ErrChanged):
		return errChangedSincePlan(name, e.plan)
	case err == nil && e.size >= 0 && in.Size() != e.size:
		return errChangedSincePlan(name, e.plan)
	}
	return err
}

func errChangedSincePlan(path, plan string) error {
	return errUnlikePlan(path, "the file changed since the plan %s was made", plan)
}

func errUnlikePlan(path, format string, plan string) error {
	e := stream.Dataf(path, format, plan)
	e.Remedy = stream.Textf("make the plan again, and scan all shards by it")
	return e
}

func readPlan(ctx context.Context, path string, opt FetchOptions, read func(*planfile.Reader) error) error {
	return ReadWhole(ctx, path, opt, stream.Textf("check the path of the plan"), func(in io.Reader) error {
		r, err := planfile.OpenWithin(ctx, in, opt.Memory)
		if err == nil {
			err = read(r)
		}
		var known *stream.DataError
		var usage *stream.UsageError
		if err == nil || errors.As(err, &known) || errors.As(err, &usage) || errors.As(err, new(*stream.MemoryError)) || ctx.Err() != nil {
			return err
		}
		e := stream.Dataf(place.DisplayName(path), "%w", err)
		e.Remedy = stream.Textf("make the plan again: plan INPUT… {o} JOB%s", planfile.Ending)
		return e
	})
}

// ReadPlanHeader reads the header of the plan file at path. Errors are *stream.DataError.
func ReadPlanHeader(ctx context.Context, path string, opt FetchOptions) (PlanHeader, error) {
	var h PlanHeader
	err := readPlan(ctx, path, opt, func(r *planfile.Reader) error {
		h = toPublicHeader(r.Header)
		return nil
	})
	return h, err
}

// Resolve returns the path or URL of a file whose name is in an option of the plan. It fails if the plan at the path
// plan may not name this file: see [Options].Allow, of which allowed is the value.
func (h PlanHeader) Resolve(plan, name string, allowed []string) (string, error) {
	scope, err := planScope(plan, h.Roots, allowed)
	if err != nil {
		return "", err
	}
	return scope.Resolve(name)
}

func toPublicHeader(h planfile.Header) PlanHeader {
	return PlanHeader{
		ID: h.ID, Version: h.Version, Method: h.Method, Options: h.Options, Roots: h.Roots, Footers: h.Footers, Table: h.Table,
		Files: h.Count, Rows: h.Rows, Bytes: h.Bytes, Weight: h.Weight, Warnings: h.Warnings,
	}
}

// IsPlan reports whether a name is the name of a plan file.
func IsPlan(path string) bool {
	name := strings.TrimSuffix(place.Base(path), planfile.Ending)
	return name != "" && name != place.Base(path)
}
