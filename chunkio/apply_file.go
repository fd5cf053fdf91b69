package chunkio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// copySource is an opened input file that columns can be copied from.
type copySource interface {
	format.File
	// field makes the output field of a column that is a leaf or a whole field.
	field(c outColumn) (outField, error)
	// tasks lists what must be done, in any order and at once, to write row group g of
	// such columns to their chunks.
	tasks(ctx context.Context, g int, open []openColumn) ([]copyTask, error)
	// need bounds the bytes that column c of row group g holds while it is open, and
	// scratch those that copying from row group g takes besides with so many workers.
	need(g int, c outColumn) int64
	scratch(g int, columns []outColumn, workers int) (int64, error)
}

// outField is the schema of one output column.
type outField struct {
	node schema.Node
	dict []bool // by leaf: whether a dictionary is worth trying
}

// openColumn is an output column of the row group that is being written.
type openColumn struct {
	outColumn
	chunks []*chunkWriter // by leaf
}

// copyTask is a part of the copying of one row group; column names it in errors.
type copyTask struct {
	column string
	run    func(ctx context.Context) error
}

// open opens file i of the catalog for copying.
func (a *applier) open(i int) (copySource, error) {
	f := &a.catalog.files[i]
	opened, err := a.catalog.reopen(f, a.opt.Memory, &a.opt.Meter.Bytes)
	if err != nil {
		return nil, err
	}
	switch o := opened.(type) {
	case *pq.File:
		return &parquetSource{File: o, file: f}, nil
	case *ipc.File:
		s, err := newIPCSource(o, f)
		if err != nil {
			o.Close()
			return nil, stream.Dataf(f.path, "cannot be read for copying: %w", err)
		}
		return s, nil
	}
	opened.Close()
	return nil, stream.Dataf(f.path, "columns of this kind of file cannot be copied")
}

// writeOne writes all files to the one file out.
func (a *applier) writeOne(ctx context.Context, out string) error {
	var fields []outField
	files := make([]int, len(a.catalog.files))
	for i := range files {
		files[i] = i
		more, err := a.fieldsOf(ctx, i, a.columns)
		if err == nil {
			fields, err = a.mergeFields(i, fields, more)
		}
		if err != nil {
			return err
		}
	}
	return a.writeFile(ctx, out, out, fields, a.columns, files)
}

// writeFolder writes every file to its place below the new folder out.
func (a *applier) writeFolder(ctx context.Context, l outputLayout, out string) error {
	dir, err := atomicfile.CreateDir(out)
	if err != nil {
		return err
	}
	defer dir.Abort()
	for i := range a.catalog.files {
		rel := l.place[a.catalog.files[i].path]
		place := filepath.Join(dir.Path(), rel)
		if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
			return &stream.OutputError{Path: filepath.Join(out, rel), Err: err, Remedy: atomicfile.Remedy(err)}
		}
		columns, err := a.columnsBelow(rel)
		if err != nil {
			return err
		}
		fields, err := a.fieldsOf(ctx, i, columns)
		if err != nil {
			return err
		}
		if err := a.writeFile(ctx, place, filepath.Join(out, rel), fields, columns, []int{i}); err != nil {
			return err
		}
	}
	return dir.Commit()
}

// columnsBelow are the columns that a file at rel holds: a partition key that stands
// in its path is no column of the file.
func (a *applier) columnsBelow(rel string) ([]outColumn, error) {
	keys, _, err := hiveParts(rel)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, k := range keys {
		kept[k] = true
	}
	var columns []outColumn
	for _, c := range a.columns {
		if c.kind != fromPartition || !kept[c.name] {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return nil, stream.Usagef("only partition keys are selected, which are folders and no columns: add a column with {also}, or write one file (-o FILE.parquet)")
	}
	return columns, nil
}

// writeFile writes the given files of the catalog to the one file at path; shown is
// its name in errors.
func (a *applier) writeFile(ctx context.Context, path, shown string, fields []outField, columns []outColumn, files []int) (err error) {
	out, err := atomicfile.Create(path)
	if err != nil {
		return renameOutput(err, shown)
	}
	defer out.Close()
	defer func() { err = renameOutput(err, shown) }()
	var nodes schema.FieldList
	var dict []bool
	for _, f := range fields {
		nodes = append(nodes, f.node)
		dict = append(dict, f.dict...)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return fmt.Errorf("the output's schema: %w", err)
	}
	w, err := newParquetWriter(out, root, dict, a.opt.Threads)
	if err != nil {
		return err
	}
	var rows int64
	for _, i := range files {
		if err := a.copyFile(ctx, w, i, columns, fields); err != nil {
			return err
		}
		rows += a.catalog.files[i].rows()
	}
	if err := w.finish(); err != nil {
		return err
	}
	if err := verifyWritten(out, rows, len(dict)); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	a.report.Files++
	a.report.Rows += rows
	a.report.Bytes += w.offset
	return nil
}

// renameOutput puts the output's own name into errors that have its temporary one.
func renameOutput(err error, shown string) error {
	var o *stream.OutputError
	if errors.As(err, &o) {
		o.Path = shown
	}
	return err
}
