package plans

import (
	"context"
	"errors"
	"io"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// PlanHeader contains the properties of a plan file that concern all input files in it.
type PlanHeader struct {
	ID      string            // digest of the whole plan, computed by WritePlan
	Version string            // version of the program
	Method  string            // the method whose statistics are planned
	Options map[string]string // the options that affect statistics, as a selection records them
	Roots   []string          // folders and URLs that contain the files, as the writer of the plan opened them

	// Set by WritePlan:
	Footers  bool // the plan contains the data of the footers; else footers are read when it is opened
	Table    *stream.Table
	Since    *int64 // the plan has only the changes of Table since this version; nil if it has all rows
	Files    int
	Groups   int   // row groups; only set for a plan that was just written
	Rows     int64 // 0 without footers
	Bytes    int64 // total size of the files
	Weight   int64 // bytes of the row groups that the condition does not exclude
	Warnings []string
}

func readPlan(ctx context.Context, path string, opt storage.FetchOptions, read func(*planfile.Reader) error) error {
	return storage.ReadWhole(ctx, path, opt, stream.Textf("check the path of the plan"), func(in io.Reader) error {
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

// ReadPlanHeader implements chunkio.ReadPlanHeader: it reads the header of the plan file at path.
func ReadPlanHeader(ctx context.Context, path string, opt storage.FetchOptions) (PlanHeader, error) {
	var h PlanHeader
	err := readPlan(ctx, path, opt, func(r *planfile.Reader) error {
		h = publicHeaderOf(r.Header)
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

func publicHeaderOf(h planfile.Header) PlanHeader {
	return PlanHeader{
		ID: h.ID, Version: h.Version, Method: h.Method, Options: h.Options, Roots: h.Roots, Footers: h.Footers, Table: h.Table, Since: h.Since,
		Files: h.Count, Rows: h.Rows, Bytes: h.Bytes, Weight: h.Weight, Warnings: h.Warnings,
	}
}
