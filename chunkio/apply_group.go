package chunkio

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/stream"
)

// copyFile appends the row groups of file i.
func (a *applier) copyFile(ctx context.Context, w *parquetWriter, i int, columns []outColumn, fields []outField) error {
	src, err := a.open(i)
	if err != nil {
		return err
	}
	defer src.Close()
	for g, rows := range src.GroupRows() {
		if rows == 0 {
			continue
		}
		group := w.group(rows)
		for lo := 0; lo < len(columns); {
			n, workers, err := a.window(src, i, g, columns[lo:])
			if err != nil {
				return copyError(ctx, a.catalog.files[i].path, g, "", err)
			}
			if err := a.copyWindow(ctx, src, i, g, workers, group, columns[lo:lo+n], fields[lo:lo+n]); err != nil {
				return err
			}
			lo += n
		}
		if err := group.end(); err != nil {
			return err
		}
		a.opt.Meter.Rows.Add(rows)
	}
	return nil
}

// window says how many of the columns may be open at once within the memory, and how
// many workers may copy them.
func (a *applier) window(src copySource, i, g int, columns []outColumn) (n, workers int, err error) {
	held := a.catalog.bytes() + src.HeldBytes()
	for workers = a.opt.Threads; ; workers = (workers + 1) / 2 {
		scratch, err := src.scratch(g, columns, workers)
		if err != nil {
			return 0, 0, err
		}
		first := a.need(src, g, columns[0])
		switch total := held + scratch + first; {
		case total <= a.opt.Memory:
			held = total
		case workers > 1:
			continue
		default:
			return 0, 0, &stream.MemoryError{
				What: fmt.Sprintf("copying column %q of %s, row group %d,", columns[0].name, a.catalog.files[i].path, g),
				Need: total, Limit: a.opt.Memory,
			}
		}
		break
	}
	for n = 1; n < len(columns); n++ {
		if held += a.need(src, g, columns[n]); held > a.opt.Memory {
			break
		}
	}
	return n, workers, nil
}

func (a *applier) need(src copySource, g int, c outColumn) int64 {
	if c.kind == fromLeaf || c.kind == fromField {
		return src.need(g, c)
	}
	// Encoded columns of sparse rows and of keys are small; sparse rows are spread in batches.
	return openColumnBytes + 8*sparseBatch + 2*src.GroupRows()[g]
}

// openColumnBytes is what a column holds while it is written, besides its pages: v15's
// writer (measured: 6 KiB, 13 with a dictionary) and a batch of values and levels
// (copyBatch of up to 24 + 4 bytes).
const openColumnBytes = 128 << 10

// copyWindow copies some columns of row group g.
func (a *applier) copyWindow(ctx context.Context, src copySource, i, g, workers int, group *groupWriter, columns []outColumn, fields []outField) error {
	var all []*chunkWriter
	var mine, sparse []openColumn // those that src copies, and those of sparse rows
	var tasks []copyTask
	for k, c := range columns {
		chunks, err := group.columns(len(fields[k].dict))
		if err != nil {
			return err
		}
		all = append(all, chunks...)
		open := openColumn{c, chunks}
		switch c.kind {
		case fromSparse:
			sparse = append(sparse, open)
		case fromPartition:
			tasks = append(tasks, copyTask{c.name, func(context.Context) error { return a.writePartition(i, open) }})
		default:
			mine = append(mine, open)
		}
	}
	path := a.catalog.files[i].path
	more, err := src.tasks(ctx, g, mine)
	if err != nil {
		return copyError(ctx, path, g, "", err)
	}
	tasks = append(tasks, more...)
	if len(sparse) > 0 {
		name := a.catalog.leaves[a.sparse.values].Name
		tasks = append(tasks, copyTask{name, func(ctx context.Context) error { return a.copySparse(ctx, src, i, g, sparse) }})
	}
	if err := runAll(ctx, workers, path, g, tasks, all); err != nil {
		return err
	}
	return group.place(all)
}

// runAll runs the tasks, then finishes the chunks they wrote.
func runAll(ctx context.Context, workers int, path string, g int, tasks []copyTask, chunks []*chunkWriter) error {
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(workers)
	for _, t := range tasks {
		work.Go(func() error { return copyError(workCtx, path, g, t.column, t.run(workCtx)) })
	}
	if err := work.Wait(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // what the tasks say is only its consequence
		}
		return err
	}
	var last errgroup.Group
	last.SetLimit(workers)
	for _, c := range chunks {
		last.Go(func() error { return copyError(ctx, path, g, c.Descr().Path(), c.finish()) })
	}
	return last.Wait()
}

// copyError puts the place into an error of a task, but leaves errors that are not
// about the data as they are.
func copyError(ctx context.Context, path string, g int, column string, err error) error {
	var memory *stream.MemoryError
	var usage *stream.UsageError
	if err == nil || ctx.Err() != nil || errors.As(err, &memory) || errors.As(err, &usage) {
		return err
	}
	place := stream.DataError{Err: err, RowGroup: -1, Row: -1}
	if e, ok := errors.AsType[*stream.DataError](err); ok {
		place = *e
	}
	place.Path = path
	if place.RowGroup < 0 {
		place.RowGroup = g
	}
	if place.Column == "" {
		place.Column = column
	}
	return &place
}
