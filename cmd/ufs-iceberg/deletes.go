package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// deleteFile is a delete file, with the data files that it may apply to.
type deleteFile struct {
	iceberg.DataFile
	kind         string
	targets      []string // paths of the data files
	listsTargets bool     // the data files are named in the delete file itself, not in the manifest
}

// refuseDeletes returns an error if delete files apply to the files of a plan. Delete files may remain in a table
// although their data files are no longer live, for instance after a compaction. Such delete files are ignored.
func refuseDeletes(ctx context.Context, l *lake, tasks []table.FileScanTask, name string) error {
	deletions, err := listDeletes(ctx, l, tasks)
	if err != nil {
		return err
	}
	touched := make(map[string]bool)
	var first *deleteFile
	count := 0
	kinds := make(map[string]int)
	for _, d := range deletions {
		if len(d.targets) == 0 {
			continue
		}
		if first == nil {
			first = d
		}
		count++
		kinds[d.kind]++
		for _, path := range d.targets {
			touched[path] = true
		}
	}
	if first == nil {
		return nil
	}
	data := make(map[string]bool)
	for _, t := range tasks {
		data[t.File.FilePath()] = true
	}
	detail := ""
	for _, kind := range []string{positionDeletes, equalityDeletes, deletionVectors} {
		if n := kinds[kind]; n > 0 && len(kinds) > 1 {
			detail += fmt.Sprintf(", %d of %s", n, kind)
		}
	}
	e := stream.Dataf(place.DisplayName(first.FilePath()), "this file of %s deletes rows of %s: %s to %d of the %d data files of %s%s, and they are not applied here",
		first.kind, place.DisplayName(first.targets[0]), countNoun(count, "delete file applies", "delete files apply"), len(touched), len(data), name, detail)
	e.Remedy = stream.Textf("compact the table and plan again, as by Spark's CALL system.rewrite_data_files(table => '…', options => map('delete-file-threshold', '1'))")
	return e
}

const (
	positionDeletes = "position deletes"
	equalityDeletes = "equality deletes"
	deletionVectors = "deletion vectors"
)

func countNoun(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func listDeletes(ctx context.Context, l *lake, tasks []table.FileScanTask) ([]*deleteFile, error) {
	var all []*deleteFile
	known := make(map[string]*deleteFile)
	for _, t := range tasks {
		add := func(files []iceberg.DataFile, kind string) {
			for _, f := range files {
				// One file may contain the deletion vectors of many data files.
				key := f.FilePath()
				if kind == deletionVectors && f.ContentOffset() != nil {
					key += fmt.Sprintf("#%d", *f.ContentOffset())
				}
				d := known[key]
				if d == nil {
					d = &deleteFile{DataFile: f, kind: kind, listsTargets: kind == positionDeletes && f.ReferencedDataFile() == nil && f.FileFormat() == iceberg.ParquetFile}
					known[key] = d
					all = append(all, d)
				}
				if n := len(d.targets); n == 0 || d.targets[n-1] != t.File.FilePath() { // several tasks may be pieces of one data file
					d.targets = append(d.targets, t.File.FilePath())
				}
			}
		}
		add(t.DeleteFiles, positionDeletes)
		add(t.EqualityDeleteFiles, equalityDeletes)
		add(t.DeletionVectorFiles, deletionVectors)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReaders)
	for _, d := range all {
		if d.listsTargets {
			g.Go(func() error { return d.narrowTargets(ctx, l) })
		}
	}
	return all, g.Wait()
}

func (d *deleteFile) narrowTargets(ctx context.Context, l *lake) error {
	named := make(map[string]bool)
	err := recoverParquetPanics(func() error { return readDeletedPaths(ctx, l, d.FilePath(), named) })
	if err != nil {
		return asDataError(d.FilePath(), "this file of position deletes cannot be read", err)
	}
	var targets []string
	for _, path := range d.targets {
		if named[path] {
			targets = append(targets, path)
		}
	}
	d.targets = targets
	return nil
}

func readDeletedPaths(ctx context.Context, l *lake, name string, paths map[string]bool) error {
	in, err := l.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := file.NewParquetReader(in)
	if err != nil {
		return err
	}
	column := r.MetaData().Schema.ColumnIndexByName("file_path")
	if column < 0 {
		return errors.New("it has no column file_path")
	}
	values, levels := make([]parquet.ByteArray, 4096), make([]int16, 4096)
	for g := range r.NumRowGroups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		reader, err := r.RowGroup(g).Column(column)
		if err != nil {
			return err
		}
		texts, ok := reader.(*file.ByteArrayColumnChunkReader)
		if !ok {
			return errors.New("its column file_path is no text")
		}
		for texts.HasNext() {
			_, n, err := texts.ReadBatch(int64(len(values)), values, levels, nil)
			if err != nil {
				return err
			}
			for _, v := range values[:n] {
				if !paths[string(v)] {
					paths[string(v)] = true
				}
			}
		}
		if err := texts.Err(); err != nil {
			return err
		}
	}
	return nil
}

func recoverParquetPanics(read func() error) (err error) {
	defer func() {
		fault := recover()
		if _, ok := fault.(runtime.Error); ok {
			err = errors.New("the file is damaged or forged, or this is a fault of ufs-iceberg, please report it")
		} else if fault != nil {
			err = fmt.Errorf("the file is damaged: %v", fault)
		}
	}()
	return read()
}
