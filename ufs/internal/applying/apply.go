package applying

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
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

// ApplySelection implements ufs.Apply.
func ApplySelection(ctx context.Context, a ApplyRequest) (chunkio.ApplyReport, error) {
	var report chunkio.ApplyReport
	if err := checkDataOutput("apply", a.Output); err != nil {
		return report, err
	}
	form, err := chunkio.OutputForm(a.Output, a.Format)
	if err != nil {
		return report, err
	}
	err = a.runWithinLimits(ctx, func(q *request.Request, opt chunkio.ApplyOptions) error {
		opt.Form = form
		return request.TrackProgress(q, request.Progress{What: "apply", Pass: 1, Passes: 1, Rows: a.Selection.Rows}, func(func(request.Progress)) (err error) {
			report, err = chunkio.Apply(ctx, a.Input.Paths, a.Output, opt)
			return asInterrupted(err)
		})
	})
	return report, err
}

func asInterrupted(err error) error {
	if u, ok := errors.AsType[*chunkio.Unfinished](err); ok {
		return &request.Interrupted{Checkpoint: u.Place, Err: err}
	}
	return err
}

// LocateColumns implements ufs.Locate.
func LocateColumns(ctx context.Context, a ApplyRequest) (located *chunkio.Located, err error) {
	err = a.runWithinLimits(ctx, func(_ *request.Request, opt chunkio.ApplyOptions) error {
		located, err = chunkio.Locate(ctx, a.Input.Paths, opt)
		return err
	})
	return located, err
}

func (a *ApplyRequest) runWithinLimits(ctx context.Context, write func(*request.Request, chunkio.ApplyOptions) error) error {
	switch {
	case len(a.Input.Paths) == 0:
		return stream.Usagef("apply: no INPUT given")
	case a.Selection == nil:
		return stream.Usagef("apply: no selection given; add {selection} SEL.json")
	case a.K < 0:
		return stream.Usagef("{k} %d: want 1 or more", a.K)
	case a.K > len(a.Selection.Selected):
		return stream.Usagef("{k} %d: the selection has %s; select again with {k} %[1]d", a.K, wording.Plural(len(a.Selection.Selected), "feature"))
	}
	q := request.Request{Input: a.Input, Limits: a.Limits, Hooks: a.Hooks}
	if err := request.FillLimits(&q); err != nil {
		return err
	}
	if err := request.CheckTempFolder(q.Limits.TempDir); err != nil {
		return err
	}
	end, err := budget.ApplyLimits(ctx, &q)
	if err != nil {
		return err
	}
	defer end()
	sparse := a.Sparse
	if recorded, ok := a.Selection.Options["sparse"].(string); ok && sparse == "" {
		sparse = recorded
	}
	if sparse == "" {
		sparse = chunkio.DefaultSparse(ctx, a.Input.Paths, a.Input.Stdin)
	}
	if err := request.FillFeatureOptions(&q, a.Selection.Options); err != nil {
		return err
	}
	opt := chunkio.ApplyOptions{
		Also: a.Also, Where: a.Input.Where, Sparse: sparse, Union: q.Columns.UnionByName, Times: q.Columns.Times, Indicators: q.Columns.MissingIndicators, Categories: request.ParseCategories(&q), Threads: q.Limits.Threads,
		Memory: max(q.Limits.Memory-budget.ProgramBytes, 1), Meter: q.Hooks.Meter, Anonymous: a.Input.Anonymous, Allow: a.Input.Allow, Texts: q.Input.Texts, TableVersion: a.Input.Version, TableAsOf: a.Input.AsOf,
		Spool: request.ScratchOptions(&q), Stdin: a.Input.Stdin, Note: a.Hooks.Note, Maker: request.Release,
	}
	chosen := slices.Clone(a.Selection.Selected)
	slices.SortStableFunc(chosen, func(f, g stream.Selected) int { return cmp.Compare(f.Rank, g.Rank) })
	taken := make(map[string]bool)
	for _, f := range chosen[:cmp.Or(a.K, len(chosen))] {
		for _, name := range f.Inputs() {
			if !taken[name] {
				opt.Columns, taken[name] = append(opt.Columns, name), true
			}
		}
	}
	return budget.ErrForLimit(&q, write(&q, opt))
}
