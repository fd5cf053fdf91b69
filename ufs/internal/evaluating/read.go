package evaluating

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (e *evaluator) readTable(ctx context.Context) error {
	missing, fill := e.missingPolicy()
	opt := request.NewReadOptions(&e.request)
	opt.Columns, opt.Exclude = e.request.Columns.Names, e.request.Columns.Exclude // recorded by a path
	opt.Label, opt.Classes, opt.Sparse, opt.Missing = e.Label, e.Label != "", e.sparse, missing
	opt.Sample, opt.Again, opt.Memory = e.Sample, e.Sample > 0 || e.Resamples > 0, max(e.request.Limits.Memory-budget.ProgramBytes, 1)
	for _, s := range e.Selections {
		for _, f := range s.Selected {
			opt.Numbers = append(opt.Numbers, f.Name)
		}
		for _, c := range s.Columns {
			opt.Numbers = append(opt.Numbers, c.Name)
		}
	}
	if request.NeedsFrequencies(&e.request) {
		if request.IsSinglePassStream(&e.request) {
			return stream.Usagef("{rows-scale} tfidf reads the input more than once, and a stream of Arrow IPC passes once; name a {temp-dir} to keep it in, or save it to a file")
		}
		count := opt
		count.Sample, count.Again = 0, true
		if err := settled.CountFrequencies(ctx, &e.request, count); err != nil {
			return err
		}
	}
	opt.RowScale = request.NewRowScale(&e.request)
	ds, err := e.openInput(ctx, opt)
	if err != nil {
		return err
	}
	defer ds.Close()
	opt.Memory = 0 // set below
	if opt.Memory, err = planReading(e, ds); err != nil {
		return largerRefusal(ctx, e, ds.Rows(), err)
	}
	opt.LeaveOut = unjudgedColumns(e, ds)
	excludeFromNorms(e, ds, &opt)
	if ds, err = ds.With(opt); err != nil {
		return err
	}
	if err := predictResamples(ctx, e, ds.Rows()); err != nil {
		return err
	}
	rows := 0
	if n := ds.Rows(); n >= 0 {
		rows = int(n)
		if e.Sample > 0 {
			rows = int(min(n, e.Sample))
		}
	}
	readBefore := e.request.Hooks.Meter.Rows.Load()
	e.table = judge.NewTable(len(e.columns), rows, e.request.Limits.Threads, e.request.Limits.Memory-budget.ProgramBytes-opt.Memory)
	err = request.TrackProgress(&e.request, request.Progress{What: "reading", Pass: 1, Passes: 1, Rows: ds.Rows()}, func(func(request.Progress)) error {
		return stream.Fold(ctx, ds, stream.FoldOptions{Meter: e.request.Hooks.Meter}, e.table)
	})
	if missing := (*stream.DataError)(nil); errors.As(err, &missing) && errors.Is(err, stream.ErrMissing) {
		missing.Remedy = stream.Textf("choose {missing} mean, zero or drop-row") // the selections determine the columns
	}
	if err != nil {
		return restateForLimit(e, ds, err)
	}
	e.inputs, e.usedRows, e.rows = ds.Inputs(), e.table.Rows, ds.Rows()
	if e.rows < 0 {
		e.rows = e.request.Hooks.Meter.Rows.Load() - readBefore
	}
	e.unlabelled = e.table.Unlabelled
	if err := e.countClasses(ds.Classes()); err != nil {
		return err
	}
	if _, err := planTable(e, ds, e.usedRows); err != nil { // the numbers of rows and clusters are now known
		return err
	}
	e.table.FillMissing(fill)
	return nil
}

func (e *evaluator) openInput(ctx context.Context, opt chunkio.Options) (*chunkio.Dataset, error) {
	ds, err := chunkio.Open(ctx, e.Input.Paths, opt)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		// The memory error of the whole plan is more useful than the error of opening the files.
		opt.Memory = 0
		if reopened, openErr := chunkio.Open(ctx, e.Input.Paths, opt); openErr == nil {
			defer reopened.Close()
			if openErr = chooseColumns(e, reopened); openErr == nil {
				if _, openErr = planReading(e, reopened); openErr != nil {
					openErr = largerRefusal(ctx, e, reopened.Rows(), openErr)
				}
			}
			if openErr != nil {
				return nil, openErr
			}
		}
	}
	if err != nil {
		return nil, budget.ErrForLimit(&e.request, err)
	}
	e.warnings = append(e.warnings, ds.FileWarnings()...)
	if err = chooseColumns(e, ds); err == nil {
		opt.LeaveOut = unjudgedColumns(e, ds)
		var chosen *chunkio.Dataset
		if chosen, err = ds.With(opt); err == nil {
			if err = chosen.Check(); err == nil {
				err = ds.NotInput(ctx, e.Output)
			}
		}
	}
	if err != nil {
		ds.Close()
		return nil, err
	}
	return ds, nil
}

// minRowsPerClass is the smallest average number of rows per class with which a column is accepted as a label.
const minRowsPerClass = 2

func (e *evaluator) countClasses(classNames []string) error {
	path := wording.InputPaths(e.inputs)[0]
	if e.usedRows == 0 {
		if n := e.table.Unlabelled; n > 0 {
			err := stream.Dataf(path, "{label} %s is null in every row judged", e.Label)
			err.Remedy = stream.Textf("choose another {label}%v", e.widerSampleAdvice())
			return err
		}
		err := stream.Dataf(path, "no rows to judge by (%s seen, all dropped)", wording.WithCommas(e.rows))
		err.Remedy = stream.Textf("choose {missing} mean or zero%v", e.widerSampleAdvice())
		return err
	}
	if e.Label == "" {
		return nil
	}
	sizes := make([]int64, len(classNames))
	for _, c := range e.table.Classes {
		sizes[c]++
	}
	for i, n := range sizes {
		if n > 0 {
			e.classes, e.classRows = append(e.classes, classNames[i]), append(e.classRows, n)
		}
	}
	if n := e.table.Unlabelled; n > 0 {
		e.warnings = append(e.warnings, stream.Textf("%s of %s rows take no part: {label} %s is null there", wording.WithCommas(n), wording.WithCommas(n+int64(e.usedRows)), e.Label))
	}
	if len(e.classes) == 1 {
		return stream.Usagef("{label} %s: all rows judged are of one class, %q; with one class every clustering is right; choose another {label}%v", e.Label, e.classes[0], e.widerSampleAdvice())
	}
	if e.Clusters == 0 {
		e.Clusters = len(e.classes)
		// Clustering into very many clusters would take hours and would not give information. For comparison, data set
		// ORL has 10 rows in each class.
		if e.usedRows > 2*minRowsPerClass && len(e.classes)*minRowsPerClass > e.usedRows {
			return stream.Usagef("{label} %s has %s classes in %s rows, so it seems to be no class; if it is one, say how many {clusters} to make",
				e.Label, wording.WithCommas(int64(len(e.classes))), wording.WithCommas(int64(e.usedRows)))
		}
	}
	if len(e.Classify) > 0 && e.Folds > e.usedRows {
		return stream.Usagef("%d folds are more than the %d rows judged; give fewer {folds}, or a larger {sample}", e.Folds, e.usedRows)
	}
	if e.Clusters > e.usedRows {
		return stream.Usagef("%d clusters are more than the %d rows judged; give fewer {clusters}, or a larger {sample}", e.Clusters, e.usedRows)
	}
	return nil
}

func (e *evaluator) widerSampleAdvice() stream.Text {
	if e.Sample > 0 && e.rows > e.Sample {
		return stream.Textf(", or a larger {sample}")
	}
	return stream.Text{}
}
