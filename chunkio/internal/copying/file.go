package copying

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (a *applier) writeSingleFile(ctx context.Context, out string) error {
	var fields []copier.Field
	files := make([]int, len(a.catalog.Files))
	for i := range files {
		files[i] = i
		if a.catalog.Rows > 0 && a.catalog.Files[i].CountRows() == 0 {
			continue // the columns of a file without rows do not affect the columns of the output
		}
		added, err := a.outputFields(ctx, i, columnsInFile(a.catalog, i, a.columns))
		if err == nil {
			fields, err = mergeFields(a.catalog, i, fields, added)
		}
		if err != nil {
			return err
		}
	}
	setNullFieldsOfAbsentColumns(a.catalog.Leaves, fields, a.columns)
	if !place.IsURL(out) && (a.opt.Form == FormParquet || a.opt.Spool.Dir == "") {
		return a.resumeSingleFile(ctx, out, fields, files)
	}
	return a.createSingleFile(ctx, out, fields, files)
}

func (a *applier) createSingleFile(ctx context.Context, out string, fields []copier.Field, fileIndices []int) error {
	if err := atomicfile.CheckWritable(ctx, out); err != nil { // without this check an upload would fail only at its end
		return err
	}
	file, err := atomicfile.Create(ctx, out)
	if err != nil {
		return err
	}
	return a.writeFile(ctx, file, fields, a.columns, fileIndices)
}

func (a *applier) writeFolder(ctx context.Context, layout outputLayout, out string) (err error) {
	places := make(map[string]bool, len(layout.place))
	for _, rel := range layout.place {
		places[rel] = true
	}
	dir, err := atomicfile.ResumeDir(ctx, out, func(rel string) bool { return places[rel] })
	if err != nil {
		return err
	}
	a.report.Warnings = append(a.report.Warnings, stream.PlainTexts(dir.Remarks())...)
	a.folderBytes = layout.memoryBytes() + dir.HeldBytes(maps.Keys(places))
	defer func() {
		if leavesUnfinished(ctx, err) {
			if temp, ok := dir.LeaveForResume(ctx); ok {
				err = &Unfinished{Place: temp, Finished: a.report.Files, Files: len(places), Err: err}
			}
		}
		if left := dir.Abort(ctx); left != nil {
			err = errors.Join(err, left)
		}
	}()
	for i := range a.catalog.Files {
		if err := a.writeFolderFile(ctx, dir, i, layout.place[a.catalog.List.EntryAt(i).Path]); err != nil {
			return err
		}
	}
	return dir.Commit(ctx)
}

// writeFolderFile writes file i to the path rel in the folder, unless an earlier run has finished it.
func (a *applier) writeFolderFile(ctx context.Context, dir *atomicfile.Dir, i int, rel string) error {
	columns, err := folderFileColumns(a.columns, rel)
	if err == nil {
		columns, err = presentColumns(a.catalog, i, columns)
	}
	if err != nil || len(columns) == 0 { // the file has no rows and no columns
		return err
	}
	recipe, err := a.digestOutput(i, columns)
	if err != nil {
		return err
	}
	if done, err := a.reuseFinishedFile(ctx, dir, i, rel, recipe); done || err != nil {
		return err
	}
	fields, err := a.outputFields(ctx, i, columns)
	if err != nil {
		return err
	}
	setNullFieldsOfAbsentColumns(a.catalog.Leaves, fields, columns)
	file, err := dir.Create(ctx, rel)
	if err != nil {
		return err
	}
	before := a.report.Rows
	if err := a.writeFile(ctx, file, fields, columns, []int{i}); err != nil {
		return err
	}
	return dir.RecordFile(ctx, rel, file, recipe, a.report.Rows-before)
}

func (a *applier) reuseFinishedFile(ctx context.Context, dir *atomicfile.Dir, fileIndex int, relativePath, recipe string) (bool, error) {
	f, fate, err := dir.CheckFinished(ctx, relativePath, recipe)
	if err != nil {
		return false, err
	}
	a.report.Resumed.countFinishedFile(fate)
	if fate != atomicfile.Whole {
		return false, nil
	}
	a.report.Files++
	a.report.Rows += f.Rows
	a.report.Bytes += f.Bytes
	a.skipUncopiedRows(a.catalog.Files[fileIndex].CountRows())
	return true, nil
}

func (a *applier) skipUncopiedRows(rows int64) {
	a.opt.Meter.Rows.Add(rows)
	a.matches.skipRows(rows)
}

// folderFileColumns selects the columns for the output file at the path rel in the output folder. A partition key that
// is in this path is not a column of the file.
func folderFileColumns(all []copier.Column, rel string) ([]copier.Column, error) {
	keys, _, err := listing.HiveParts(rel)
	if err != nil {
		return nil, err
	}
	var columns []copier.Column
	for _, c := range all {
		if c.Kind != copier.FromPartition || !slices.Contains(keys, c.Name) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return nil, stream.Usagef("only partition keys are selected, which are folders and no columns: add a column with {also}, or write one file ({o} FILE.parquet)")
	}
	return columns, nil
}

func (a *applier) writeFile(ctx context.Context, out *atomicfile.File, fields []copier.Field, columns []copier.Column, fileIndices []int) (err error) {
	defer func() {
		if leavesUnfinished(ctx, err) {
			if temp, ok := out.LeaveForResume(ctx); ok {
				err = &Unfinished{Place: temp, Err: err}
			}
		}
		out.Close()
	}()
	var nodes schema.FieldList
	var dict []bool
	for _, f := range fields {
		nodes = append(nodes, f.Node)
		dict = append(dict, f.Dict...)
	}
	var rows, bytes int64
	if a.opt.Form == FormParquet {
		rows, bytes, err = a.writeParquet(ctx, out, nodes, dict, columns, fields, fileIndices)
	} else {
		rows, bytes, err = a.writeArrowOrCSV(ctx, out, nodes, columns, fields, fileIndices)
	}
	if err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	a.report.Files++
	a.report.Rows += rows
	a.report.Bytes += bytes
	return nil
}

func (a *applier) writeParquet(ctx context.Context, out *atomicfile.File, nodes schema.FieldList, useDictionary []bool, columns []copier.Column, fields []copier.Field, fileIndices []int) (rows, bytes int64, err error) {
	annotations := mergeAnnotations(fields)
	w, err := a.growing.resumeOrBeginFile(out, func(to io.Writer) (*writer.File, error) {
		return writer.NewAnnotated(to, nodes, useDictionary, annotations)
	})
	if err != nil {
		return 0, 0, err
	}
	if err := a.copyFiles(ctx, w, columns, fields, fileIndices); err != nil {
		return 0, 0, err
	}
	return w.Rows, w.Offset, writing.VerifyWritten(out, w.Rows, len(useDictionary))
}

func (a *applier) copyFiles(ctx context.Context, w *writer.File, columns []copier.Column, fields []copier.Field, fileIndices []int) error {
	groups := int64(0)
	for _, i := range fileIndices {
		for _, rows := range a.catalog.Files[i].Groups {
			if rows > 0 {
				groups++
			}
		}
	}
	if a.footerBytes = w.FooterBytes(groups); a.growing != nil {
		a.footerBytes += markCopies * max(min(maxMarkBytes, w.MarkBytes(groups)), w.MarkBytes(min(groups, 1)))
	}
	for _, i := range fileIndices {
		if a.growing.hasInput(i) {
			a.skipUncopiedRows(a.catalog.Files[i].CountRows())
			continue
		}
		if err := copyFile(ctx, a, w, i, columns, fields); err != nil {
			return err
		}
	}
	if err := a.growing.markEnd(w); err != nil {
		return err
	}
	if a.opt.Where == "" { // with a condition, the number of rows to write is unknown
		want := int64(0)
		for _, i := range fileIndices {
			want += a.catalog.Files[i].CountRows()
		}
		if w.Rows != want {
			return fmt.Errorf("%d rows were written of %d of the input, which is a fault of this program", w.Rows, want)
		}
	}
	return w.Finish()
}
