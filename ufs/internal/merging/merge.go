package merging

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// MergeRequest names statistics files to add up.
type MergeRequest struct {
	// Files may be files, globs or folders, also in object stores. A folder means all *.ufs files in it. Parts of a
	// plan are added in the order of their shards, other files in the given order.
	Files []string
	// Window is the number of newest files to merge. Older files are not opened. 0 means all files. Files are ordered
	// by base name, and by path if base names are equal, in byte order. The last file is the newest.
	Window int
	// Decay is a factor γ in (0, 1]. Rows of the newest file have weight 1, rows of the file before it weight γ, rows
	// of the next older file weight γ², and so on. 0 means that all rows have weight 1. One of the files may be a total
	// that was merged with the same Decay. It counts as the oldest file, whatever its name, so that yesterday's total
	// and today's file give today's total.
	Decay float64
	// Minus names statistics files, as Files does, whose rows are subtracted. All of these rows must be among the rows
	// of Files, and the options that shaped the statistics must be equal. Minima and maxima stay bounds of the rest.
	Minus   []string
	MinRows int64  // the least number of rows in the sums of each file, and of the result
	Partial bool   // accept that shards of a plan are missing; the result records which shards it contains
	Output  string // the merged statistics file
	Limits  request.Limits
	Hooks   request.Hooks // Progress receives first the progress of the headers and then of the files

	Anonymous bool // use no credentials for object stores, and sign no request for Files

	MaxHeader int // limit on the bytes of the sum's header; 0 means [chunkio.MaxStatsHeader]
}

// MergeFiles implements ufs.Merge: it adds up statistics files of parts of the data into one statistics file.
func MergeFiles(ctx context.Context, m MergeRequest) (*result.Gathered, error) {
	q := request.Request{Input: request.Input{Anonymous: m.Anonymous}, Limits: m.Limits, Hooks: m.Hooks, Output: m.Output}
	switch {
	case len(m.Files) == 0:
		return nil, stream.Usagef("no statistics file given")
	case m.Output == "":
		return nil, stream.Usagef("no output given; add {o} ALL.ufs")
	case m.Output == "-":
		return nil, stream.Usagef("{o} -: statistics go to a file, which is verified when it is read; name it ALL.ufs")
	case m.Window < 0:
		return nil, stream.Usagef("{window} %d: want a number of files", m.Window)
	case m.MinRows < 0:
		return nil, stream.Usagef("{min-rows} %d: want a number of rows", m.MinRows)
	case len(m.Minus) > 0 && (m.Window > 0 || m.Decay > 0 || m.Partial):
		return nil, stream.Usagef("{minus} does not go with {window}, {decay} or {partial}: subtract from the result of a merge of whole days or sites")
	case !(m.Decay >= 0 && m.Decay <= 1):
		return nil, stream.Usagef("{decay} %v: want a number above 0 and up to 1, by which every day before weighs less", m.Decay)
	}
	end, err := budget.ApplyLimits(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := atomicfile.CheckWritable(ctx, m.Output); err != nil {
		return nil, err
	}
	fetched := q.Hooks.Meter.Transfer()
	g := &merger{MergeRequest: m, request: &q}
	paths, err := g.expandFiles(ctx, m.Files)
	if err != nil {
		return nil, err
	}
	minus, err := g.expandFiles(ctx, m.Minus)
	if err != nil {
		return nil, err
	}
	paths, outside := g.orderByDay(paths)
	var e *statistics.Bundle
	err = request.TrackProgress(&q, request.Progress{What: "headers of " + wording.CountNoun(len(paths), "file"), Pass: 1, Passes: 2, Rows: -1}, func(next func(request.Progress)) error {
		if err := g.readHeaders(ctx, slices.Concat(paths, minus), len(paths)); err != nil {
			return err
		}
		var rows int64
		for _, f := range slices.Concat(g.files, g.minus) {
			rows += f.rows
		}
		next(request.Progress{What: "adding " + wording.CountNoun(len(paths), "file"), Pass: 2, Passes: 2, Rows: rows})
		e, err = g.sumFiles(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.WriteStats(ctx, m.Output, nil); err != nil {
		return nil, err
	}
	done := e.Summary(q.Hooks.Spelling, q.Hooks.Meter.Transfer().Since(fetched))
	done.Merged, done.Outside, done.Path = len(paths), outside, place.DisplayName(m.Output)
	return done, nil
}

// merger holds the state of one call of ufs.Merge, which adds up statistics files.
type merger struct {
	MergeRequest
	request *request.Request

	files          []mergedFile // in the order in which they are added
	minus          []mergedFile // the files to subtract
	kind           string       // kind of all files
	header         chunkio.StatsHeader
	coverage       statistics.Coverage
	lossCoverage   statistics.Coverage // of the rows to subtract
	keptInputs     []stream.Input      // files that are left after the subtraction; nil if there is none
	keptRanges     []stream.Range      // rows of these files
	subtracted     int64               // rows that are subtracted now or were before
	smallFiles     []string            // files with fewer rows than MinRows
	warnings       warningCollector
	hasDroppedRows bool  // some of the files report dropped rows
	bookkeeping    int64 // memory, in bytes, of all data whose size grows with the number of files

	firstBundle *statistics.Bundle // header of the file that determines the order of columns
	firstPath   string
}

// expandFiles lists the statistics files that the arguments files name. In folders and globs it skips the file at
// Output. If a file is named and is also the Output, it returns an error, except with Decay, because then the total of
// yesterday may be replaced.
func (m *merger) expandFiles(ctx context.Context, files []string) ([]string, error) {
	var paths []string
	for _, arg := range files {
		found, err := chunkio.ExpandStats(ctx, []string{arg}, budget.DocumentOptions(m.request))
		if err != nil {
			return nil, err
		}
		if len(found) != 1 || found[0] != arg {
			found = slices.DeleteFunc(found, func(path string) bool {
				return errors.As(atomicfile.CheckNotInput(ctx, m.Output, path), new(*stream.UsageError))
			})
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 && len(files) > 0 {
		return nil, stream.Usagef("no statistics file is left but {o} %s itself", place.DisplayName(m.Output))
	}
	if m.Decay > 0 { // today's total may overwrite yesterday's total
		return paths, nil
	}
	return paths, atomicfile.CheckNotInput(ctx, m.Output, paths...)
}

func (m *merger) bundleOfHeader() *statistics.Bundle {
	e := statistics.NewBundle(m.header)
	e.Kind, e.Inputs, e.Covered, e.Subtracted, e.Warnings = m.kind, m.coverage.Files, m.coverage.CoveredRanges(), m.subtracted, m.warnings.allTexts()
	if m.keptInputs != nil {
		e.Inputs, e.Covered = m.keptInputs, m.keptRanges
	}
	return e
}

func (m *merger) sumFiles(ctx context.Context) (*statistics.Bundle, error) {
	t, err := newSumTree(m, m.files, 0)
	if err != nil {
		return nil, err
	}
	defer t.close()
	e, err := t.sumAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := subtractLosses(ctx, m, e); err != nil {
		return nil, err
	}
	if err := checkRowCounts(m, e); err != nil {
		return nil, err
	}
	whole := m.bundleOfHeader()
	e.Kind, e.Columns, e.LeftOut, e.Useless, e.Table, e.Part = whole.Kind, whole.Columns, whole.LeftOut, whole.Useless, whole.Table, whole.Part
	e.Inputs, e.Covered, e.Options, e.Warnings = whole.Inputs, whole.Covered, whole.Options, whole.Warnings
	e.Since, e.Subtracted = whole.Since, whole.Subtracted
	e.CopyPositions(m.firstBundle)
	if m.hasDroppedRows && e.Profile.Seen > e.Profile.Rows {
		e.Warnings = append(e.Warnings, e.DroppedWarning())
	}
	m.recordMergeOptions(e)
	return e, nil
}
