package applying

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// ApplyRequest chooses the columns and rows of the input to write, and the output.
type ApplyRequest struct {
	Input     request.Input
	Selection *stream.Selection // its features are written in the order of rank
	K         int               // only the first K features; 0 means all
	Also      []string          // further columns of any type, written after the features
	Output    string            // a file, or a folder if the input is a folder; both may be in an object store
	Format    string            // parquet, arrow or csv; default: by the file extension of Output, else parquet
	Sparse    string            // as in request.Columns; default: the value in the selection
	Limits    request.Limits
	Hooks     request.Hooks
}

// ApplySelection implements ufs.Apply: it writes the selected columns of the input, with their types and values.
func ApplySelection(ctx context.Context, a ApplyRequest) (chunkio.ApplyReport, error) {
	var report chunkio.ApplyReport
	if err := requireOutputFile("apply", a.Output); err != nil {
		return report, err
	}
	form, err := chunkio.OutputForm(a.Output, a.Format)
	if err != nil {
		return report, err
	}
	err = a.withSelectedColumns(ctx, func(q *request.Request, opt chunkio.ApplyOptions) error {
		opt.Form = form
		return request.TrackProgress(q, request.Progress{What: "apply", Pass: 1, Passes: 1, Rows: a.Selection.Rows}, func(func(request.Progress)) (err error) {
			report, err = chunkio.Apply(ctx, a.Input.Paths, a.Output, opt)
			return unfinishedAsInterrupted(err)
		})
	})
	return report, err
}

func unfinishedAsInterrupted(err error) error {
	if u, ok := errors.AsType[*chunkio.Unfinished](err); ok {
		return &request.Interrupted{Checkpoint: u.Place, Err: err}
	}
	return err
}

// LocateColumns implements ufs.Locate: it finds the positions in the input of the columns that [Apply] would write.
func LocateColumns(ctx context.Context, a ApplyRequest) (located *chunkio.Located, err error) {
	err = a.withSelectedColumns(ctx, func(_ *request.Request, opt chunkio.ApplyOptions) error {
		located, err = chunkio.Locate(ctx, a.Input.Paths, opt)
		return err
	})
	return located, err
}

func (a *ApplyRequest) withSelectedColumns(ctx context.Context, write func(*request.Request, chunkio.ApplyOptions) error) error {
	switch {
	case a.Input.IsEmpty():
		return stream.Usagef("apply: no INPUT given")
	case a.Selection == nil:
		return stream.Usagef("apply: no selection given; add {selection} SEL.json")
	case a.K < 0:
		return stream.Usagef("{k} %d: want 1 or more", a.K)
	case a.K > len(a.Selection.Selected):
		return stream.Usagef("{k} %d: the selection has %s; select again with {k} %[1]d", a.K, wording.CountNoun(len(a.Selection.Selected), "feature"))
	}
	recorded, _ := a.Selection.Options["sparse"].(string)
	q := request.Request{Input: a.Input, Columns: request.Columns{Sparse: cmp.Or(a.Sparse, recorded)}, Limits: a.Limits, Hooks: a.Hooks}
	if err := request.FillFeatureOptions(&q, a.Selection.Options); err != nil {
		return err
	}
	if err := settled.FillInputFromPlan(ctx, &q); err != nil {
		return err
	}
	if q.Columns.Sparse == "" {
		q.Columns.Sparse = chunkio.DefaultSparse(ctx, a.Input.Paths, a.Input.Stdin, false)
	}
	var columns []string
	chosen := slices.Clone(a.Selection.Selected)
	slices.SortStableFunc(chosen, func(f, g stream.Selected) int { return cmp.Compare(f.Rank, g.Rank) })
	taken := make(map[string]bool)
	for _, f := range chosen[:cmp.Or(a.K, len(chosen))] {
		for _, name := range f.Inputs() {
			if !taken[name] {
				columns, taken[name] = append(columns, name), true
			}
		}
	}
	return runWithinLimits(ctx, &q, func(opt chunkio.ApplyOptions) error {
		opt.Columns, opt.Also = columns, a.Also
		return write(&q, opt)
	})
}

// runWithinLimits calls write within the limits of q, with the options of q for reading.
func runWithinLimits(ctx context.Context, q *request.Request, write func(chunkio.ApplyOptions) error) error {
	end, err := budget.ApplyLimits(ctx, q)
	if err != nil {
		return err
	}
	defer end()
	if err := request.CheckTempFolder(q.Limits.TempDir); err != nil {
		return err
	}
	read := request.NewReadOptions(q)
	return budget.ErrForLimit(q, write(chunkio.ApplyOptions{
		Plan: read.Plan, Where: read.Where, Sparse: q.Columns.Sparse, Union: read.Union, Times: read.Times, Indicators: read.Indicators, Categories: read.Categories, Threads: read.Threads,
		Memory: max(q.Limits.Memory-budget.ProgramBytes, 1), Meter: read.Meter, Anonymous: read.Anonymous, Allow: read.Allow, Texts: read.Texts, TableVersion: read.TableVersion, TableAsOf: read.TableAsOf,
		Spool: read.Spool, Stdin: read.Stdin, Note: read.Note, Maker: request.Release,
	}))
}
