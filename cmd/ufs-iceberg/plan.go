package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxReaders is the number of files that are read at the same time. Reads wait for the store and hardly need a core.
const maxReaders = 16

// dataFile is a live data file of the table.
type dataFile struct {
	iceberg.DataFile
	columns  columnsInFile
	path     string      // path or URL with which ufs-stream opens it
	version  string      // version, if it is an object
	identity map[int]any // values of the identity partitions, by column id

	constants []byte // for the plan
	lost      bool   // its live rows are of an older snapshot, and the table has lost them since then

	task          table.FileScanTask // the delete files that apply to it
	rows          int64              // number of rows, by the footer
	deleted       rowSet
	deletedRows   []byte // deleted, encoded for the plan
	whollyDeleted bool
}

// planSummary describes a finished plan.
type planSummary struct {
	files, losses int    // losses of the files have rows that the table has lost
	liveFiles     string // number of data files in the snapshot; empty if the summary of the snapshot lacks it
	bytes         int64
	then          *table.Snapshot // the plan has the changes since then; nil if it has all rows
	snapshot      *table.Snapshot
}

func (p *planSummary) String() string {
	if p.then != nil {
		return fmt.Sprintf("%d data files with rows gained and %d with rows lost, %d bytes, from snapshot %d to %d of %s", p.files-p.losses, p.losses, p.bytes, p.then.SnapshotID, p.snapshot.SnapshotID, timeText(p.snapshot.TimestampMs))
	}
	total := ""
	if p.liveFiles != "" {
		total = " of " + p.liveFiles
	}
	return fmt.Sprintf("%d%s data files, %d bytes, of snapshot %d of %s", p.files, total, p.bytes, p.snapshot.SnapshotID, timeText(p.snapshot.TimestampMs))
}

func writePlan(ctx context.Context, q request) (*planSummary, error) {
	if err := atomicfile.CheckWritable(ctx, q.output); err != nil {
		return nil, err
	}
	t, l, err := openTable(ctx, q)
	if err != nil {
		return nil, err
	}
	name := place.DisplayName(q.table)
	s, err := chooseSnapshot(t, name, q)
	if err != nil {
		return nil, err
	}
	p, err := newPruner(q.where, s.schema, t.Metadata())
	if err != nil {
		return nil, err
	}
	memory := &memoryCount{limit: int64(q.memory), table: l.table}
	head := planfile.Header{Table: &stream.Table{Path: tableName(q), Format: "iceberg", Version: s.SnapshotID, Time: timeText(s.TimestampMs)}}
	if id := t.Metadata().TableUUID(); id != ([16]byte{}) {
		head.Table.ID = id.String()
	}
	if head.Table.Schema, err = schemaDigest(s.schema); err != nil {
		return nil, errSchema(name, err)
	}
	done := &planSummary{snapshot: s.Snapshot}
	var files []*dataFile
	if q.since == "" {
		files, err = liveFiles(ctx, l, t, s, p, memory, name)
		if s.Summary != nil {
			done.liveFiles = s.Summary.Properties["total-data-files"]
		}
	} else {
		var then *snapshot
		if then, err = findSince(ctx, l, t, s, head.Table, q); err != nil {
			return nil, err
		}
		head.Since, done.then = &then.SnapshotID, then.Snapshot
		c := comparison{lake: l, table: t, name: name, pruner: p, memory: memory}
		files, err = c.findFiles(ctx, then, s)
	}
	if err != nil {
		return nil, err
	}
	if head.Columns, err = tableColumns(t, s.schema, files, name); err != nil {
		return nil, err
	}
	if err := setConstants(files, s.schema.AsStruct().FieldList, head.Columns); err != nil {
		return nil, err
	}
	if q.where != "" {
		head.Options = map[string]string{"where": q.where}
	}
	lines, err := describeFiles(files, &head)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if done.files++; f.lost {
			done.losses++
		}
	}
	done.bytes = head.Bytes
	if err := atomicfile.CheckNotInput(ctx, q.output, l.openedPlaces...); err != nil {
		return nil, err
	}
	return done, savePlan(ctx, q.output, head, lines)
}

func liveFiles(ctx context.Context, l *lake, t *table.Table, s *snapshot, p *pruner, memory *memoryCount, name string) ([]*dataFile, error) {
	tasks, err := listTasks(ctx, l, t, s, p, name)
	switch {
	case err != nil:
		return nil, err
	case len(tasks) == 0 && p == nil:
		return nil, stream.Dataf(name, "snapshot %d of this Iceberg table has no data files: it is empty", s.SnapshotID)
	case len(tasks) == 0:
		return nil, stream.Dataf(name, "{where} %s leaves none of the data files of snapshot %d, by their partitions and bounds", p.parsed, s.SnapshotID)
	}
	files, err := readFooters(ctx, l, t, s, tasks)
	if err != nil {
		return nil, err
	}
	if err := resolveDeletes(ctx, l, t, s, files, memory); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := f.encodeDeleted(memory); err != nil {
			return nil, err
		}
	}
	if files = slices.DeleteFunc(files, func(f *dataFile) bool { return f.whollyDeleted }); len(files) == 0 {
		return nil, stream.Dataf(name, "all rows of snapshot %d of this Iceberg table that a plan would have are deleted", s.SnapshotID)
	}
	return files, nil
}

func describeFiles(files []*dataFile, head *planfile.Header) ([]planfile.File, error) {
	head.Roots = place.CommonRoots(func(yield func(string) bool) {
		for _, f := range files {
			if !yield(f.path) {
				return
			}
		}
	})
	lines := make([]planfile.File, len(files))
	for i, f := range files {
		path, err := place.WithoutParameters(f.path)
		if err != nil {
			return nil, err
		}
		lines[i] = planfile.File{Path: path, Bytes: f.FileSizeBytes(), Version: f.version, Deleted: f.deletedRows, Constants: f.constants, Lost: f.lost}
		head.Bytes += f.FileSizeBytes()
	}
	head.Count = len(files)
	return lines, nil
}

// tableColumns returns the columns of the table for a plan. If a file has no field ids, they have the names of the table's
// mapping too.
func tableColumns(t *table.Table, current *iceberg.Schema, files []*dataFile, name string) ([]columns.Column, error) {
	var mapping iceberg.NameMapping
	if slices.ContainsFunc(files, func(f *dataFile) bool { return !f.columns.hasIDs }) {
		mapping = t.NameMapping()
	}
	translated, err := columnsOfPlan(current.AsStruct().FieldList, mapping)
	if err == nil {
		_, err = columns.NewSchema(translated)
	}
	if err != nil {
		return nil, errSchema(name, err)
	}
	return translated, nil
}

func errSchema(name string, err error) error {
	return stream.Dataf(name, "the table's schema, or its mapping of names (schema.name-mapping.default), cannot be read: %w", err)
}

func tableName(q request) string {
	if q.catalog == hadoopCatalog {
		return place.DisplayName(q.table)
	}
	return q.table
}

func savePlan(ctx context.Context, path string, head planfile.Header, lines []planfile.File) error {
	out, err := atomicfile.Create(ctx, path)
	if err != nil {
		return err
	}
	defer out.Close()
	var each iter.Seq2[planfile.File, error] = func(yield func(planfile.File, error) bool) {
		for _, f := range lines {
			if !yield(f, nil) {
				return
			}
		}
	}
	if _, err := planfile.Write(out, head, each); err != nil {
		return err
	}
	return out.Commit()
}

func listTasks(ctx context.Context, l *lake, t *table.Table, s *snapshot, p *pruner, name string) ([]table.FileScanTask, error) {
	tasks, err := s.listFilteredTasks(ctx, p.rowFilter(), name)
	if err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(task table.FileScanTask) bool {
		return !p.mayMatch(identityPartitionValues(t.Metadata(), task.File))
	})
	ages, deletes, err := readDeleteManifests(ctx, l, s.Snapshot, name)
	if err != nil {
		return nil, err
	}
	s.ages = ages
	// With a filter, iceberg-go also leaves out delete files by their bounds, even if they do not compare the column.
	// So the delete files are of a list without a filter.
	if deletes && p != nil && len(tasks) > 0 {
		matching := make(map[string]bool)
		for _, task := range tasks {
			matching[task.File.FilePath()] = true
		}
		if tasks, err = s.listFilteredTasks(ctx, iceberg.AlwaysTrue{}, name); err != nil {
			return nil, err
		}
		tasks = slices.DeleteFunc(tasks, func(task table.FileScanTask) bool { return !matching[task.File.FilePath()] })
	}
	return tasks, nil
}

func (s *snapshot) listFilteredTasks(ctx context.Context, filter iceberg.BooleanExpression, name string) ([]table.FileScanTask, error) {
	scan := s.scan.UseRowLimit(table.ScanNoLimit) // a copy
	table.WithRowFilter(filter)(scan)
	tasks, err := scan.PlanFiles(ctx)
	if err != nil {
		return nil, asDataError(name, "the manifests of the snapshot cannot be read", err)
	}
	slices.SortStableFunc(tasks, func(a, b table.FileScanTask) int { return strings.Compare(a.File.FilePath(), b.File.FilePath()) })
	// Several tasks may be pieces of one data file.
	return slices.CompactFunc(tasks, func(a, b table.FileScanTask) bool { return a.File.FilePath() == b.File.FilePath() }), nil
}

func readFooters(ctx context.Context, l *lake, t *table.Table, s *snapshot, tasks []table.FileScanTask) ([]*dataFile, error) {
	var files []*dataFile
	for _, task := range tasks {
		files = append(files, &dataFile{DataFile: task.File, task: task, lost: s.isPast, identity: identityPartitionValues(t.Metadata(), task.File)})
	}
	faults := make([]error, len(files))
	var first atomic.Int64
	first.Store(int64(len(files)))
	g := errgroup.Group{}
	g.SetLimit(maxReaders)
	for i, f := range files {
		g.Go(func() error {
			if int64(i) > first.Load() || ctx.Err() != nil {
				return ctx.Err()
			}
			if faults[i] = f.readFooter(l, s.schema, t.NameMapping()); faults[i] != nil {
				for was := first.Load(); int64(i) < was && !first.CompareAndSwap(was, int64(i)); {
					was = first.Load()
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if i := first.Load(); i < int64(len(files)) {
		return nil, faults[i]
	}
	slices.SortFunc(files, func(a, b *dataFile) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

func identityPartitionValues(meta table.Metadata, f iceberg.DataFile) map[int]any {
	values := make(map[int]any)
	spec := meta.PartitionSpecByID(int(f.SpecID()))
	if spec == nil {
		return values
	}
	for _, field := range spec.Fields() {
		if _, same := field.Transform.(iceberg.IdentityTransform); same {
			values[field.SourceID()] = f.Partition()[field.FieldID]
		}
	}
	return values
}

func (f *dataFile) readFooter(l *lake, schema *iceberg.Schema, mapping iceberg.NameMapping) (err error) {
	shown := place.DisplayName(f.FilePath())
	switch {
	case f.FileFormat() != iceberg.ParquetFile:
		e := stream.Dataf(shown, "this data file is %s, and ufs-stream reads Parquet", f.FileFormat())
		e.Remedy = stream.Textf("set the table's property write.format.default to parquet and have its files written again, as by Spark's CALL system.rewrite_data_files(table => '…', options => map('rewrite-all', 'true'))")
		return e
	case f.KeyMetadata() != nil:
		return stream.Dataf(shown, "this data file is encrypted, and ufs-stream has no keys")
	}
	if f.path, err = l.resolvePlace(f.FilePath()); err != nil {
		return err
	}
	shown = place.DisplayName(f.path)
	in, err := l.openResolved(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		e := stream.Dataf(shown, "the snapshot says that this file is live, and it is not there")
		if f.lost {
			e.Err = stream.Errorf("the snapshot of {since} had this file, and it is not there any more, as after expire_snapshots")
			e.Remedy = stream.Textf("scan the whole table, without {since}")
			return e
		}
		e.Remedy = stream.Textf("plan a newer snapshot; if the table was moved or copied, its metadata still name the old place: register or rewrite them there")
		return e
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return errUnreadable(shown, err)
	}
	if info.Size() != f.FileSizeBytes() {
		return stream.Dataf(shown, "the snapshot says that this file has %d bytes, and it has %d: it was replaced", f.FileSizeBytes(), info.Size())
	}
	if remote, ok := in.(*openObject); ok {
		f.version = remote.info.Version
	}
	err = recoverParquetPanics(func() error {
		r, err := file.NewParquetReader(in)
		if err != nil {
			return err
		}
		meta := r.MetaData()
		if meta.IsSetEncryptionAlgorithm() {
			return stream.Dataf(shown, "this data file is encrypted, and ufs-stream has no keys")
		}
		for g := range r.NumRowGroups() {
			f.rows += r.RowGroup(g).NumRows()
		}
		f.columns, err = matchColumns(shown, schema, mapping, meta.Schema.Root())
		return err
	})
	if err != nil {
		return asDataError(shown, "the footer of this Parquet file cannot be read", err)
	}
	return nil
}
