package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The kinds of delete files.
const (
	positionDeletes = "position deletes"
	equalityDeletes = "equality deletes"
	deletionVectors = "deletion vectors"
)

// compactingCall is the remedy for delete files that cannot be applied.
const compactingCall = "as by Spark's CALL system.rewrite_data_files(table => '…', options => map('delete-file-threshold', '1'))"

// Ids of the columns of a file of position deletes.
const (
	deletedPathID = 2147483546
	deletedRowID  = 2147483545
)

// rowSet is a set of rows of a data file, which several delete files may add to at the same time.
type rowSet struct {
	mu      sync.Mutex
	rows    *roaring64.Bitmap
	counted int64 // bytes counted for rows
	added   int   // number of rows added since then
}

// addRows measures the set only from time to time, as measuring takes longer than adding.
func (s *rowSet) addRows(rows []uint64, count *memoryCount) error {
	const between = 1 << 16
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = roaring64.New()
	}
	s.rows.AddMany(rows)
	if s.added += len(rows); s.added < between && s.counted > 0 {
		return nil
	}
	s.added = 0
	return s.measureRows(count)
}

func (s *rowSet) measureRows(count *memoryCount) error {
	grown := int64(s.rows.GetSizeInBytes()) - s.counted
	s.counted += grown
	return count.takeBytes(grown)
}

// deletions finds the deleted rows of the data files of a plan. iceberg-go finds out which delete files apply to which data
// files (FileScanTask). This program applies them, because iceberg-go does not return the positions of the rows.
type deletions struct {
	lake    *lake
	table   *table.Table
	schema  *iceberg.Schema
	memory  *memoryCount
	ages    map[string]int64 // sequence numbers of the files of equality deletes
	byPath  map[string]*dataFile
	working *errgroup.Group
}

// resolveDeletes finds the deleted rows of data files. Delete files may remain in a table although their data files are
// no longer live, for instance after a compaction. Such delete files are ignored.
func resolveDeletes(ctx context.Context, l *lake, t *table.Table, s *snapshot, files []*dataFile, memory *memoryCount) error {
	d := &deletions{lake: l, table: t, schema: s.schema, memory: memory, ages: s.ages, byPath: make(map[string]*dataFile)}
	for _, f := range files {
		d.byPath[f.FilePath()] = f
	}
	vectors, positions, equality, err := d.sortDeleteFiles(files)
	if err != nil {
		return err
	}
	var groupCtx context.Context
	d.working, groupCtx = errgroup.WithContext(ctx)
	d.working.SetLimit(maxReaders)
	for _, group := range vectors {
		d.working.Go(func() error { return d.readVectors(groupCtx, group) })
	}
	for _, p := range positions {
		d.working.Go(func() error { return d.readPositions(groupCtx, p) })
	}
	if err := d.working.Wait(); err != nil {
		return err
	}
	return d.applyEquality(ctx, equality)
}

// positionFile is a file of position deletes, with the data files that it may apply to.
type positionFile struct {
	iceberg.DataFile
	targets map[string]*dataFile
}

// sortDeleteFiles returns the delete files of data files: deletion vectors by the file that contains them, position deletes, and
// equality deletes by the columns and partition.
func (d *deletions) sortDeleteFiles(files []*dataFile) (vectors [][]iceberg.DataFile, positions []*positionFile, equality []*equalityGroup, err error) {
	var inFile = make(map[string]int) // index in vectors
	known := make(map[string]*positionFile)
	groups := make(map[string]*equalityGroup)
	for _, f := range files {
		for _, v := range f.task.DeletionVectorFiles {
			if err := checkDeleteFile(v, deletionVectors, iceberg.PuffinFile); err != nil {
				return nil, nil, nil, err
			}
			at, ok := inFile[v.FilePath()]
			if !ok {
				at, vectors = len(vectors), append(vectors, nil)
				inFile[v.FilePath()] = at
			}
			vectors[at] = append(vectors[at], v)
		}
		for _, p := range f.task.DeleteFiles {
			if err := checkDeleteFile(p, positionDeletes, iceberg.ParquetFile); err != nil {
				return nil, nil, nil, err
			}
			if known[p.FilePath()] == nil {
				known[p.FilePath()] = &positionFile{p, make(map[string]*dataFile)}
				positions = append(positions, known[p.FilePath()])
			}
			known[p.FilePath()].targets[f.FilePath()] = f
		}
		for _, e := range f.task.EqualityDeleteFiles {
			if err := checkDeleteFile(e, equalityDeletes, iceberg.ParquetFile); err != nil {
				return nil, nil, nil, err
			}
			key := d.groupKey(e)
			if groups[key] == nil {
				if groups[key], err = d.newEqualityGroup(e); err != nil {
					return nil, nil, nil, err
				}
				equality = append(equality, groups[key])
			}
			groups[key].addFile(e, f)
		}
	}
	return vectors, positions, equality, nil
}

func checkDeleteFile(f iceberg.DataFile, kind string, want iceberg.FileFormat) error {
	e := stream.Dataf(place.DisplayName(f.FilePath()), "this file of %s is encrypted, and ufs-iceberg has no keys", kind)
	e.Remedy = stream.Textf("compact the table and plan again, %s", compactingCall)
	switch {
	case f.KeyMetadata() != nil:
		return e
	case f.FileFormat() != want:
		e.Err = stream.Errorf("this file of %s is %s, and ufs-iceberg reads %s", kind, f.FileFormat(), want)
		return e
	}
	return nil
}

func errBeyond(f *dataFile, row any) error {
	return fmt.Errorf("it deletes row %d of %s, which has %d rows", row, place.DisplayName(f.FilePath()), f.rows)
}

func asDeleteError(path, kind string, err error) error {
	if err == nil {
		return nil
	}
	return asDataError(path, "this file of "+kind+" cannot be read", err)
}

func (d *deletions) readPositions(ctx context.Context, p *positionFile) error {
	in, err := d.lake.Open(p.FilePath())
	if err != nil {
		return asDeleteError(p.FilePath(), positionDeletes, err)
	}
	defer in.Close()
	var paths, rows *fileColumn
	choose := func(r *file.Reader) (_ []*fileColumn, err error) {
		if paths, err = newPositionColumn(r, deletedPathID, "file_path", iceberg.PrimitiveTypes.String); err != nil {
			return nil, err
		}
		rows, err = newPositionColumn(r, deletedRowID, "pos", iceberg.PrimitiveTypes.Int64)
		return []*fileColumn{paths, rows}, err
	}
	var deleted []uint64
	visit := func(_ int64, n int) error {
		for start := 0; start < n; {
			path := paths.cellOfRow(start)
			end := start + 1
			for end < n && bytes.Equal(paths.cellOfRow(end), path) {
				end++
			}
			target := p.targets[string(path)]
			deleted = deleted[:0]
			for i := start; i < end && target != nil; i++ {
				if rows.nulls[i] {
					return errors.New("it has a null as the position of a row")
				}
				row := binary.BigEndian.Uint64(rows.cellOfRow(i))
				if row >= uint64(target.rows) {
					return errBeyond(target, int64(row))
				}
				deleted = append(deleted, row)
			}
			if target != nil {
				if err := target.deleted.addRows(deleted, d.memory); err != nil {
					return err
				}
			}
			start = end
		}
		return nil
	}
	return asDeleteError(p.FilePath(), positionDeletes, readRows(ctx, in, d.memory, choose, visit))
}

func newPositionColumn(r *file.Reader, id int, name string, t iceberg.Type) (*fileColumn, error) {
	root := r.MetaData().Schema.Root()
	for i := range root.NumFields() {
		n := root.Field(i)
		if int(n.FieldID()) != id && (n.FieldID() >= 0 || n.Name() != name) {
			continue
		}
		if leaf, ok := n.(*schema.PrimitiveNode); ok {
			e, err := newEncoder(t, leaf)
			if err != nil {
				return nil, err
			}
			return newFileColumn(r, leaf, e)
		}
	}
	return nil, fmt.Errorf("it has no column %s", name)
}

func (f *dataFile) encodeDeleted(count *memoryCount) (err error) {
	rows := f.deleted.rows
	if rows == nil || rows.IsEmpty() {
		return nil
	}
	rows.RunOptimize()
	if err := count.takeBytes(int64(rows.GetSerializedSizeInBytes())); err != nil {
		return err
	}
	f.whollyDeleted = rows.GetCardinality() == uint64(f.rows)
	f.deletedRows, err = rows.ToBytes()
	f.deleted.rows = nil
	count.returnBytes(f.deleted.counted)
	return err
}

// readDeleteManifests returns the sequence numbers of the files of equality deletes in a snapshot, and whether it has
// delete files at all.
func readDeleteManifests(ctx context.Context, l *lake, s *table.Snapshot, name string) (ages map[string]int64, found bool, err error) {
	manifests, err := s.Manifests(l)
	if err != nil {
		return nil, false, asDataError(name, "the manifests of the snapshot cannot be read", err)
	}
	manifests = slices.DeleteFunc(manifests, func(m iceberg.ManifestFile) bool { return m.ManifestContent() != iceberg.ManifestContentDeletes })
	ages = make(map[string]int64)
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReaders)
	for _, m := range manifests {
		g.Go(func() error {
			for e, err := range m.Entries(l, true) {
				if err := cmp.Or(err, ctx.Err()); err != nil {
					return asDataError(m.FilePath(), "this manifest cannot be read", err)
				}
				f := e.DataFile()
				mu.Lock()
				found = true
				if f.ContentType() == iceberg.EntryContentEqDeletes {
					ages[f.FilePath()] = e.SequenceNum()
				}
				mu.Unlock()
				switch {
				case e.SequenceNum() < 0:
					return stream.Dataf(place.DisplayName(m.FilePath()), "this manifest does not say how old the delete file %s is (sequence_number)", place.DisplayName(f.FilePath()))
				case table.IsDeletionVector(f) && (f.ReferencedDataFile() == nil || *f.ReferencedDataFile() == ""):
					return stream.Dataf(place.DisplayName(m.FilePath()), "this manifest does not say to which data file a deletion vector in %s belongs (referenced_data_file)", place.DisplayName(f.FilePath()))
				case !slices.Contains([]iceberg.ManifestEntryContent{iceberg.EntryContentPosDeletes, iceberg.EntryContentEqDeletes}, f.ContentType()):
					return stream.Dataf(place.DisplayName(m.FilePath()), "this manifest of deletes has the data file %s", place.DisplayName(f.FilePath()))
				}
			}
			return nil
		})
	}
	return ages, found, g.Wait()
}
