package copying

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fileCopy copies the row groups of one input file to the output.
type fileCopy struct {
	run     *applier
	file    int // index in the catalog
	src     copier.Source
	columns []copier.Column // as this file has them
	fields  []copier.Field
}

func copyFile(ctx context.Context, a *applier, w *writer.File, fileIndex int, columns []copier.Column, fields []copier.Field) error {
	src, err := a.openSource(ctx, fileIndex)
	if err != nil {
		return err
	}
	defer src.Close()
	c := &fileCopy{run: a, file: fileIndex, src: src, columns: widenColumns(a.catalog, src, fileIndex, columnsInFile(a.catalog, fileIndex, columns)), fields: fields}
	for g, rows := range src.GroupRows() {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case rows == 0:
			continue
		case a.growing.hasGroup(fileIndex, g):
			a.skipUncopiedRows(rows)
			continue
		}
		skip, rowsKept, err := a.matches.matchGroup(rows)
		if err != nil {
			return err
		}
		if rowsKept > 0 {
			if err := c.copyGroup(ctx, w, g, skip, rowsKept); err != nil {
				return err
			}
		}
		a.opt.Meter.Rows.Add(rows)
	}
	return nil
}

func (c *fileCopy) copyGroup(ctx context.Context, w *writer.File, groupIndex int, rowsToSkip []uint64, rowsKept int64) error {
	group := w.Group(rowsKept)
	// The scratch memory is computed once: when it was computed for every few columns, 100,000 columns took an hour.
	scratch := memoizeScratchBytes(c.src, groupIndex, c.columns)
	for lo := 0; lo < len(c.columns); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, workers, err := c.countOpenColumns(groupIndex, c.columns[lo:], scratch)
		if err != nil {
			return format.PlaceError(c.filePath(), groupIndex, "", err)
		}
		w.SetWorkers(workers)
		release, err := c.fetchAhead(ctx, groupIndex, c.columns[lo:lo+n])
		if err == nil {
			err = c.copyColumns(ctx, groupIndex, workers, group, rowsToSkip, c.columns[lo:lo+n], c.fields[lo:lo+n])
		}
		release()
		if err != nil {
			return err
		}
		lo += n
	}
	if err := group.End(); err != nil {
		return err
	}
	return c.run.growing.markGroup(w, c.file, groupIndex)
}

func (c *fileCopy) filePath() string { return c.run.catalog.FileName(c.file) }

// fetchAhead fetches the bytes of the columns of row group g to a scratch file if the input is an object in a store,
// because the memory is needed for the encoded columns. For local files it does nothing.
func (c *fileCopy) fetchAhead(ctx context.Context, g int, columns []copier.Column) (release func(), err error) {
	counted, ok := c.src.Input().(*storage.CountingInput)
	if !ok {
		return func() {}, nil
	}
	o, far := counted.Input.(*storage.Object)
	if !far {
		return func() {}, nil
	}
	extents, at := c.src.Extents(g, columns), c.run.catalog.Files[c.file].LeafIndex
	if c.run.sparse != nil {
		group, err := c.src.Open(ctx, g, nil)
		if err != nil {
			return func() {}, err
		}
		if r, ok := group.(format.Ranged); ok {
			extents = append(extents, r.Extents([]int{at(c.run.sparse.Indices), at(c.run.sparse.Values)})...)
		}
		group.Close()
	}
	f, err := storage.NewFetcher(min(max(c.run.opt.Memory/32, storage.SpoolRequestBytes), storage.MaxRequestBytes), c.run.spool).StartFetch(ctx, o, extents)
	return f.Release, err
}

func memoizeScratchBytes(src copier.Source, groupIndex int, columns []copier.Column) func(workers int) (int64, error) {
	byWorkers := map[int]int64{}
	return func(workers int) (bytes int64, err error) {
		bytes, ok := byWorkers[workers]
		if !ok {
			bytes, err = src.Scratch(groupIndex, columns, workers)
			byWorkers[workers] = bytes
		}
		return bytes, err
	}
}

// countOpenColumns returns the number n of leading columns whose encodings fit into the remaining memory together, and
// the number of workers to copy them. The parameter scratchOf returns the scratch memory in bytes that a given number
// of workers needs.
func (c *fileCopy) countOpenColumns(g int, columns []copier.Column, scratchOf func(workers int) (int64, error)) (n, workers int, err error) {
	a := c.run
	used := a.heldBytes() + c.src.HeldBytes() + a.matches.memoryBytes() + a.footerBytes
	for workers = a.opt.Threads; ; workers = (workers + 1) / 2 {
		scratch, err := scratchOf(workers)
		if err != nil {
			return 0, 0, err
		}
		first := bytesToCopyColumn(c.src, g, columns[0])
		if a.opt.Form == FormParquet { // rows for other forms are stored in plain pages, without encoders
			scratch += int64(workers) * writer.WorkerBytes
		}
		switch total := used + scratch + first; {
		case total <= a.opt.Memory:
			used = total
		case workers > 1:
			continue
		default:
			for _, column := range columns[1:] { // the error reports the need of the largest of the columns
				total = max(total, used+scratch+bytesToCopyColumn(c.src, g, column))
			}
			return 0, 0, &stream.MemoryError{
				What: fmt.Sprintf("copying column %q of %s, row group %d,", columns[0].Name, c.filePath(), g),
				Need: total, Limit: a.opt.Memory,
			}
		}
		break
	}
	for n = 1; n < len(columns); n++ {
		if used += bytesToCopyColumn(c.src, g, columns[n]); used > a.opt.Memory {
			break
		}
	}
	return n, workers, nil
}

func bytesToCopyColumn(src copier.Source, groupIndex int, c copier.Column) int64 {
	if c.Kind.ReadsLeaves() {
		return src.Need(groupIndex, c)
	}
	// Columns made from sparse rows or partition keys have small encodings, and sparse rows are spread in batches.
	return copier.OpenColumnBytes + 8*sparseBatch + 2*src.GroupRows()[groupIndex]
}

func (c *fileCopy) copyColumns(ctx context.Context, groupIndex, workers int, group *writer.Group, skip []uint64, columns []copier.Column, fields []copier.Field) error {
	var all []*writer.Chunk
	var copied, sparse []copier.Target // columns to copy from src; columns to make from sparse rows
	var tasks []copier.Task
	for k, column := range columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunks, err := group.Columns(len(fields[k].Dict))
		if err != nil {
			return err
		}
		all = append(all, chunks...)
		target := copier.Target{Column: column, Chunks: chunks, Skip: skip}
		switch column.Kind {
		case copier.FromSparse:
			sparse = append(sparse, target)
		case copier.FromPartition:
			tasks = append(tasks, copier.Task{Column: column.Name, Run: func(context.Context) error { return writePartitionColumn(c.run.catalog, c.file, target) }})
		case copier.FromNumbers:
			tasks = append(tasks, copier.Task{Column: column.Name, Run: func(ctx context.Context) error { return c.writeWidenedNumbers(ctx, groupIndex, target) }})
		case copier.FromDates:
			tasks = append(tasks, copier.Task{Column: column.Name, Run: func(ctx context.Context) error { return c.writeDatesAsTimes(ctx, groupIndex, target) }})
		case copier.Absent:
			tasks = append(tasks, copier.Task{Column: column.Name, Run: func(context.Context) error { return writeNullColumn(target) }})
		default:
			copied = append(copied, target)
		}
	}
	more, err := c.src.Tasks(ctx, groupIndex, copied)
	if err != nil {
		return format.PlaceError(c.filePath(), groupIndex, "", err)
	}
	tasks = append(tasks, more...)
	if len(sparse) > 0 {
		name := c.run.catalog.Leaves[c.run.sparse.Values].Name
		tasks = append(tasks, copier.Task{Column: name, Run: func(ctx context.Context) error { return c.copySparseFeatures(ctx, groupIndex, sparse) }})
	}
	if err := runCopyTasks(ctx, workers, c.filePath(), groupIndex, tasks, all); err != nil {
		return err
	}
	return group.Place(all)
}

func runCopyTasks(ctx context.Context, workers int, path string, groupIndex int, tasks []copier.Task, chunks []*writer.Chunk) error {
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(workers)
	for _, t := range tasks {
		if workCtx.Err() != nil {
			break
		}
		work.Go(func() error { return format.PlaceError(path, groupIndex, t.Column, t.Run(workCtx)) })
	}
	err := work.Wait()
	if ctx.Err() != nil {
		return ctx.Err() // the tasks also fail after a cancellation, but the cancellation is the cause
	}
	if err != nil {
		return err
	}
	var last errgroup.Group
	last.SetLimit(workers)
	for _, c := range chunks {
		if ctx.Err() != nil {
			break
		}
		last.Go(func() error { return format.PlaceError(path, groupIndex, c.Descr().Path(), c.Finish()) })
	}
	if err := last.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
