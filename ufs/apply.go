package ufs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ApplyRequest chooses the columns and rows of the input to write, and the output.
type ApplyRequest struct {
	Inputs    []string
	Selection *stream.Selection // its features are written in the order of rank
	K         int               // only the first K features; 0 means all
	Also      []string          // further columns of any type, written after the features
	Output    string            // a file, or a folder if the input is a folder; both may be in an object store
	Format    string            // parquet, arrow or csv; default: by the file extension of Output, else parquet
	Where     string            // condition as in Request: only rows that satisfy it are written
	Sparse    string            // as in Request; default: the value in the selection
	Threads   int
	Memory    int64
	Version   *int64 // as in Request; so are the next three fields
	AsOf      time.Time
	Anonymous bool
	Allow     []string
	Texts     chunkio.TextOptions // replaces the text options of the selection
	Stdin     io.Reader

	TempDir    string // as in Request; so is MaxScratch
	MaxScratch int64
	Meter      *stream.Meter
	Progress   func(Progress)
	Note       func(stream.Text)
}

// Apply writes the selected columns of the input, with their original types and values. The output appears only when it
// is complete. If Apply is interrupted, a later call resumes it ([chunkio.Apply]).
func Apply(ctx context.Context, a ApplyRequest) (chunkio.ApplyReport, error) {
	var report chunkio.ApplyReport
	if err := checkDataOutput("apply", a.Output); err != nil {
		return report, err
	}
	form, err := chunkio.OutputForm(a.Output, a.Format)
	if err != nil {
		return report, err
	}
	err = a.runWithinLimits(ctx, func(q *Request, opt chunkio.ApplyOptions) error {
		opt.Form = form
		return q.trackProgress(Progress{What: "apply", Pass: 1, Passes: 1, Rows: a.Selection.Rows}, func(func(Progress)) (err error) {
			report, err = chunkio.Apply(ctx, a.Inputs, a.Output, opt)
			return asInterrupted(err)
		})
	})
	return report, err
}

func asInterrupted(err error) error {
	if u, ok := errors.AsType[*chunkio.Unfinished](err); ok {
		return &Interrupted{Checkpoint: u.Place, Err: err}
	}
	return err
}

// Locate finds the positions in the input of the columns that [Apply] would write. It reads only footers.
func Locate(ctx context.Context, a ApplyRequest) (located *chunkio.Located, err error) {
	err = a.runWithinLimits(ctx, func(_ *Request, opt chunkio.ApplyOptions) error {
		located, err = chunkio.Locate(ctx, a.Inputs, opt)
		return err
	})
	return located, err
}

func (a *ApplyRequest) runWithinLimits(ctx context.Context, write func(*Request, chunkio.ApplyOptions) error) error {
	switch {
	case len(a.Inputs) == 0:
		return stream.Usagef("apply: no INPUT given")
	case a.Selection == nil:
		return stream.Usagef("apply: no selection given; add {selection} SEL.json")
	case a.K < 0:
		return stream.Usagef("{k} %d: want 1 or more", a.K)
	case a.K > len(a.Selection.Selected):
		return stream.Usagef("{k} %d: the selection has %s; select again with {k} %[1]d", a.K, plural(len(a.Selection.Selected), "feature"))
	}
	q := Request{Threads: a.Threads, Memory: a.Memory, TempDir: a.TempDir, MaxScratch: a.MaxScratch, Meter: a.Meter, Progress: a.Progress}
	if err := q.fillLimits(); err != nil {
		return err
	}
	if err := checkTempFolder(q.TempDir); err != nil {
		return err
	}
	end, err := q.applyLimits(ctx)
	if err != nil {
		return err
	}
	defer end()
	sparse := a.Sparse
	if recorded, ok := a.Selection.Options["sparse"].(string); ok && sparse == "" {
		sparse = recorded
	}
	if sparse == "" {
		sparse = chunkio.DefaultSparse(a.Inputs)
	}
	q.Texts = a.Texts
	if err := q.setColumnOptions(a.Selection.Options); err != nil {
		return err
	}
	opt := chunkio.ApplyOptions{
		Also: a.Also, Where: a.Where, Sparse: sparse, Union: q.UnionByName, Times: q.Times, Indicators: q.MissingIndicators, Categories: q.parseCategories(), Threads: q.Threads,
		Memory: max(q.Memory-programBytes, 1), Meter: q.Meter, Anonymous: a.Anonymous, Allow: a.Allow, Texts: q.Texts, TableVersion: a.Version, TableAsOf: a.AsOf,
		Spool: q.scratchOptions(), Stdin: a.Stdin, Note: a.Note, Maker: Release,
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
	return q.errForLimit(write(&q, opt))
}
