package chunkio

import (
	"context"
	"iter"
	"os"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// convertText is Convert for libsvm text, whose rows become the one file out.
func convertText(ctx context.Context, inputs []string, out string, opt ApplyOptions) (report ApplyReport, err error) {
	// Rows and labels are read side by side.
	read := Options{
		Sparse: svm.Entries, Label: svm.Label, Where: opt.Where, Missing: stream.MissingKeep, Threads: opt.Threads, Memory: opt.Memory / 3,
		Spool: opt.Spool, Meter: opt.Meter, Note: opt.Note,
	}
	rows, err := Open(ctx, inputs, read)
	if err != nil {
		return report, err
	}
	defer rows.Close()
	if err := rows.NotInput(ctx, out); err != nil {
		return report, err
	}
	read.Sparse, read.Label, read.Columns = "", "", []string{svm.Label}
	labels, err := rows.With(read)
	if err != nil {
		return report, err
	}
	defer labels.Close()
	next, stop := iter.Pull2(labels.Chunks(ctx, stream.Range{}))
	defer stop()
	var chunk *stream.Chunk
	at := 0
	var failed error
	write := WriteOptions{Sparse: true, Type: "double", Threads: opt.Threads, label: func(int64) float64 {
		for failed == nil && (chunk == nil || at == chunk.Rows) {
			var more bool
			if chunk, failed, more = next(); !more {
				failed = stream.Dataf(rows.catalog.name(), "fewer labels than rows")
			}
			at = 0
		}
		if failed != nil {
			return 0
		}
		at++
		return chunk.Col(0)[at-1]
	}}
	if err = WriteParquet(ctx, out, rows, write); failed != nil {
		err = failed
	}
	if err != nil {
		return report, err
	}
	report = ApplyReport{Files: 1, Columns: []string{sparseIndices, sparseValues, svm.Label}, Rows: rows.Rows()}
	if !place.IsURL(out) {
		if info, err := os.Stat(out); err == nil {
			report.Bytes = info.Size()
		}
	}
	return report, nil
}
