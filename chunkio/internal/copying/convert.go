package copying

import (
	"context"
	"iter"
	"os"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/plans"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ConvertInputs implements chunkio.Convert: it writes the inputs with all columns to out as Parquet, like Apply.
func ConvertInputs(ctx context.Context, inputs []string, out string, opt ApplyOptions) (ApplyReport, error) {
	opt.allColumns, opt.Columns, opt.Also, opt.Sparse = true, nil, nil, ""
	if stdin := opening.NewStdin(opt.Stdin); opt.Stdin != nil && stdin != opt.Stdin {
		defer stdin.Close()
		opt.Stdin = stdin
	}
	files := inputs
	if opt.Plan != "" {
		a := opt.newInputAccess()
		defer a.Close()
		list, err := plans.ListFiles(ctx, a)
		if err != nil {
			return ApplyReport{}, err
		}
		files = list.Paths()
	}
	if listing.DefaultSparse(ctx, files, opt.Stdin, false) != "" {
		return convertSparseText(ctx, inputs, out, opt.withDefaults())
	}
	opt.direct = &directOutput{out: out}
	defer opt.direct.discardUncommitted()
	return ApplyColumns(ctx, inputs, out, opt)
}

func convertSparseText(ctx context.Context, inputs []string, out string, opt ApplyOptions) (report ApplyReport, err error) {
	// The rows and the labels are read in parallel.
	read := settings.Options{
		Sparse: svm.Entries, Plan: opt.Plan, Where: opt.Where, Missing: stream.MissingKeep, Threads: opt.Threads, Memory: opt.Memory / 3,
		Anonymous: opt.Anonymous, Allow: opt.Allow, Spool: opt.Spool, Stdin: opt.Stdin, Meter: opt.Meter, Note: opt.Note,
	}
	rows, err := dataset.OpenInputs(ctx, inputs, read)
	if err != nil {
		return report, err
	}
	defer rows.Close()
	if err := rows.NotInput(ctx, out); err != nil {
		return report, err
	}
	report = ApplyReport{Files: 1, Columns: []string{writing.SparseIndices, writing.SparseValues}, Rows: rows.Rows(), Warnings: slices.Clip(rows.FileWarnings())}
	leaves := dataset.TableOf(rows).Catalog.Leaves
	labels := slices.IndexFunc(leaves, func(l format.Leaf) bool { return l.Name == svm.Label })
	if labels < 0 || leaves[labels].Why != "" {
		if labels >= 0 {
			report.Warnings = append(report.Warnings, stream.PlainText("the labels are not written: "+leaves[labels].Why))
		}
		err = writing.WriteParquet(ctx, out, rows, writing.WriteOptions{Sparse: true, Type: "double", Threads: opt.Threads})
	} else {
		report.Columns = append(report.Columns, svm.Label)
		err = writeSparseRowsWithLabels(ctx, out, rows, read)
	}
	if err != nil {
		return ApplyReport{}, err
	}
	if !place.IsURL(out) {
		if info, err := os.Stat(out); err == nil {
			report.Bytes = info.Size()
		}
	}
	return report, nil
}

func writeSparseRowsWithLabels(ctx context.Context, out string, rows *dataset.Dataset, readOptions settings.Options) (err error) {
	readOptions.Sparse, readOptions.Columns = "", []string{svm.Label}
	labels, err := rows.With(readOptions)
	if err != nil {
		return err
	}
	defer labels.Close()
	next, stop := iter.Pull2(labels.Chunks(ctx, stream.Range{}))
	defer stop()
	var chunk *stream.Chunk
	at := 0
	var failed error
	label := func(int64) float64 {
		for failed == nil && (chunk == nil || at == chunk.Rows) {
			var more bool
			if chunk, failed, more = next(); !more {
				failed = stream.Dataf(dataset.TableOf(rows).Catalog.InputName(), "fewer labels than rows")
			}
			at = 0
		}
		if failed != nil {
			return 0
		}
		at++
		return chunk.Col(0)[at-1]
	}
	if err = writing.WriteSparseWithLabels(ctx, out, rows, label, readOptions.Threads); failed != nil {
		err = failed
	}
	return err
}
