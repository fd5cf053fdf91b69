package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/stream"
)

// comparison finds the rows by which snapshots of a table differ.
type comparison struct {
	lake   *lake
	table  *table.Table
	name   string
	pruner *pruner
	memory *memoryCount
}

// step is two snapshots, and the data files that differ between them or have other delete files.
type step struct {
	snapshots [2]*snapshot // the older one first
	tasks     [2][]table.FileScanTask
}

// findFiles returns the files with the rows by which two snapshots differ: files with rows gained, of which there is at
// least one, perhaps without a row, so that it has the columns; and files with rows lost.
func (c *comparison) findFiles(ctx context.Context, then, now *snapshot) ([]*dataFile, error) {
	whole, err := c.listStep(ctx, then, now, now.schema)
	if err != nil {
		return nil, err
	}
	steps, err := c.listStepsBetweenRewrites(ctx, then, now)
	if err != nil {
		return nil, err
	}
	var changed []*dataFile
	isOnce := false
	if steps != nil && bytesToRead(steps...) < bytesToRead(whole) {
		if changed, isOnce, err = c.findFilesOfSteps(ctx, steps); err != nil {
			return nil, err
		}
	}
	if !isOnce {
		if changed, _, err = c.findFilesOfSteps(ctx, []*step{whole}); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(changed, func(f *dataFile) bool { return !f.lost }) {
		empty, err := c.fileWithoutRows(ctx, then, now)
		if err != nil {
			return nil, err
		}
		changed = append(changed, empty)
	}
	slices.SortStableFunc(changed, func(a, b *dataFile) int { return strings.Compare(a.path, b.path) })
	return changed, nil
}

func (c *comparison) listStep(ctx context.Context, from, to *snapshot, schema *iceberg.Schema) (*step, error) {
	s := &step{snapshots: [2]*snapshot{from, to}}
	for i, v := range s.snapshots {
		c.pruner.keepColumnsOf(v.schema)
		v.schema, v.isPast = schema, i == 0
	}
	deletes := make(map[string]string) // by the path of a data file
	var err error
	for i, v := range s.snapshots {
		if s.tasks[i], err = listTasks(ctx, c.lake, c.table, v, c.pruner, c.name); err != nil {
			return nil, err
		}
	}
	for _, task := range s.tasks[0] {
		deletes[task.File.FilePath()] = namesOfDeletes(task)
	}
	same := make(map[string]bool)
	for _, task := range s.tasks[1] {
		before, isInBoth := deletes[task.File.FilePath()]
		same[task.File.FilePath()] = isInBoth && before == namesOfDeletes(task)
	}
	for i := range s.tasks {
		s.tasks[i] = slices.DeleteFunc(s.tasks[i], func(task table.FileScanTask) bool { return same[task.File.FilePath()] })
	}
	return s, nil
}

// listStepsBetweenRewrites returns the steps from a snapshot to another without the snapshots in between that only moved
// rows to other files, such as compactions. It returns nil if there are none of these, or if snapshots have expired.
func (c *comparison) listStepsBetweenRewrites(ctx context.Context, then, now *snapshot) ([]*step, error) {
	between, isKnown := table.AncestorsBetween(now.SnapshotID, then.SnapshotID, c.table.SnapshotByID)
	if !isKnown || !slices.ContainsFunc(between, c.isRewrite) {
		return nil, nil
	}
	var ends [][2]int64
	from, last := then.SnapshotID, then.SnapshotID
	for _, s := range slices.Backward(between) {
		if c.isRewrite(s) {
			ends, from = append(ends, [2]int64{from, last}), s.SnapshotID
		}
		last = s.SnapshotID
	}
	steps := []*step{}
	for _, ids := range append(ends, [2]int64{from, last}) {
		if ids[0] == ids[1] {
			continue
		}
		older, err1 := chooseSnapshot(c.table, c.name, request{snapshot: ids[0]})
		newer, err2 := chooseSnapshot(c.table, c.name, request{snapshot: ids[1]})
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		s, err := c.listStep(ctx, older, newer, now.schema)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// isRewrite reports whether a snapshot has the rows of its parent, by its operation and the numbers of rows in the summaries.
// These include deleted rows, and count only if there are none.
func (c *comparison) isRewrite(s table.Snapshot) bool {
	if s.Summary == nil || s.Summary.Operation != table.OpReplace || s.ParentSnapshotID == nil {
		return false
	}
	parent := c.table.SnapshotByID(*s.ParentSnapshotID)
	if parent == nil || parent.Summary == nil {
		return true
	}
	before, after := parent.Summary.Properties, s.Summary.Properties
	const rows, files = "total-records", "total-delete-files"
	return before[files] != "0" || after[files] != "0" || before[rows] == after[rows]
}

func bytesToRead(steps ...*step) (n int64) {
	counted := make(map[string]bool)
	for _, s := range steps {
		times := make(map[string]int)
		both := slices.Concat(s.tasks[0], s.tasks[1])
		for _, task := range both {
			times[task.File.FilePath()]++
		}
		for _, task := range both {
			// Of a file with other delete files only few rows are read.
			if path := task.File.FilePath(); times[path] == 1 && !counted[path] {
				counted[path], n = true, n+task.File.FileSizeBytes()
			}
		}
	}
	return n
}

// findFilesOfSteps returns the files with rows gained and lost by all steps together. isOnce reports whether no step gained
// a row again that another had gained, or lost one again.
func (c *comparison) findFilesOfSteps(ctx context.Context, steps []*step) (changed []*dataFile, isOnce bool, err error) {
	known := make(map[string][2]*dataFile) // with rows lost and gained, by path
	isOnce = true
	for _, s := range steps {
		var files [2][]*dataFile
		ofStep := make(map[string][2]*dataFile)
		for i, v := range s.snapshots {
			if files[i], err = readFooters(ctx, c.lake, c.table, v, s.tasks[i]); err != nil {
				return nil, false, err
			}
			if err := resolveDeletes(ctx, c.lake, c.table, v, files[i], c.memory); err != nil {
				return nil, false, err
			}
			for _, f := range files[i] {
				pair := ofStep[f.FilePath()]
				pair[i] = f
				ofStep[f.FilePath()] = pair
			}
		}
		for path, pair := range ofStep {
			if err := c.cancelRowsInBoth(pair); err != nil {
				return nil, false, err
			}
			sum := known[path]
			for i, f := range pair {
				isNew, err := c.addChangedRows(&sum[i], f)
				if err != nil {
					return nil, false, err
				}
				isOnce = isOnce && isNew
			}
			known[path] = sum
		}
	}
	for _, pair := range known {
		if !isOnce {
			for _, f := range pair {
				if f != nil {
					c.memory.returnBytes(f.deleted.counted)
				}
			}
			continue
		}
		if err := c.cancelRowsInBoth(pair); err != nil {
			return nil, false, err
		}
		for _, f := range pair {
			if f == nil {
				continue
			}
			if err := f.encodeDeleted(c.memory); err != nil {
				return nil, false, err
			}
			if !f.whollyDeleted && f.rows > 0 {
				changed = append(changed, f)
			}
		}
	}
	return changed, isOnce, nil
}

func namesOfDeletes(task table.FileScanTask) string {
	var names []string
	for _, f := range slices.Concat(task.DeleteFiles, task.EqualityDeleteFiles, task.DeletionVectorFiles) {
		n := fmt.Sprintf("%q", f.FilePath())
		if at := f.ContentOffset(); at != nil && table.IsDeletionVector(f) {
			n += fmt.Sprintf(" %d", *at)
		}
		names = append(names, n)
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

func maxBitmapBytes(rows int64) int64 { return rows/4 + 1<<12 }

// cancelRowsInBoth deletes the rows that are live in both files, which are versions of one file, from both.
func (c *comparison) cancelRowsInBoth(pair [2]*dataFile) error {
	if pair[0] == nil || pair[1] == nil {
		return nil
	}
	need := 3 * maxBitmapBytes(pair[0].rows)
	if err := c.memory.takeBytes(need); err != nil {
		return err
	}
	defer c.memory.returnBytes(need)
	var live [2]*roaring64.Bitmap
	for i, f := range pair {
		live[i] = f.deleted.liveRows(f.rows)
	}
	for i, f := range pair {
		if f.deleted.rows == nil {
			f.deleted.rows = roaring64.New()
		}
		f.deleted.rows.Or(live[1-i])
		f.deleted.rows.RunOptimize()
		if err := f.deleted.measureRows(c.memory); err != nil {
			return err
		}
	}
	return nil
}

func (s *rowSet) liveRows(total int64) *roaring64.Bitmap {
	live := roaring64.New()
	live.AddRange(0, uint64(total))
	if s.rows != nil {
		live.AndNot(s.rows)
	}
	return live
}

// addChangedRows adds the live rows of f, which may be nil, to the live rows of *sum. It reports whether all are new there.
func (c *comparison) addChangedRows(sum **dataFile, f *dataFile) (isNew bool, err error) {
	if *sum == nil || f == nil {
		*sum = cmp.Or(*sum, f)
		return true, nil
	}
	need := 2 * maxBitmapBytes(f.rows)
	if err := c.memory.takeBytes(need); err != nil {
		return false, err
	}
	defer c.memory.returnBytes(need)
	a, b := (*sum).deleted.liveRows(f.rows), f.deleted.liveRows(f.rows)
	isNew = !a.Intersects(b)
	if to := &(*sum).deleted; to.rows != nil {
		to.rows.AndNot(b)
		err = to.measureRows(c.memory)
	}
	c.memory.returnBytes(f.deleted.counted)
	return isNew, err
}

func (c *comparison) fileWithoutRows(ctx context.Context, then, now *snapshot) (*dataFile, error) {
	for _, s := range []*snapshot{now, then} {
		tasks, err := s.listFilteredTasks(ctx, iceberg.AlwaysTrue{}, c.name)
		if err != nil {
			return nil, err
		}
		if len(tasks) == 0 {
			continue
		}
		files, err := readFooters(ctx, c.lake, c.table, s, tasks[:1])
		if err != nil {
			return nil, err
		}
		f := files[0]
		f.lost, f.deleted.rows = false, roaring64.New()
		f.deleted.rows.AddRange(0, uint64(f.rows))
		return f, f.encodeDeleted(c.memory)
	}
	return nil, stream.Dataf(c.name, "snapshots %d and %d of this Iceberg table have no data files: they are empty", then.SnapshotID, now.SnapshotID)
}
