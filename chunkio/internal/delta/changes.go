package delta

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/remaining"
)

// Changes lists the rows by which two versions of a table differ. Both lists are in byte order of their paths.
type Changes struct {
	Added, Removed []File
	// Some is a file of either version that stands for no rows, from which the columns can be read. It is nil if no
	// version has a file.
	Some *File
}

// fileChange counts how often versions added the rows of a file, minus how often they removed them.
type fileChange struct {
	file liveFile
	live int // by all actions, so -1, 0 or 1
	rows int // only by actions that change rows; some move rows to other files
}

// changeBytes is the memory of a change: an entry of a map, and its two places in lists.
const changeBytes = fileBytes

func (s *replayState) recordChange(table, key string, f liveFile, times int) error {
	if s.changes == nil || s.version <= s.since {
		return nil
	}
	c, known := s.changes[key]
	if !known {
		if err := s.budget.reserveBytes(changeBytes+s.liveFileBytes(key, f), table); err != nil {
			return err
		}
		f.partition.files++ // the partition stays in memory
		c.file = f
	}
	c.live += times
	if s.changesRows {
		c.rows += times
	}
	if s.changes[key] = c; c.live == 0 && c.rows == 0 {
		s.budget.releaseBytes(changeBytes + s.liveFileBytes(key, c.file))
		s.removeFileFromPartition(c.file.partition)
		delete(s.changes, key)
	}
	return nil
}

// listChanges lists the changes that s recorded. It chooses between two lists with the same sum of rows: the files by
// which the versions differ, and the files of the actions that change rows. If files were compacted, the second has
// fewer bytes. It is taken only if it names no file twice, as it may if the table was restored, and if the numbers of
// rows in the log show that writers did not confuse the two kinds of actions.
func listChanges(ctx context.Context, t *table, s *replayState) (*Changes, error) {
	live, rows := s.splitChanges(func(c fileChange) int { return c.live }), s.splitChanges(func(c fileChange) int { return c.rows })
	if path := live.repeatedPath(); path != "" {
		return nil, t.errDamagedFile(logFolder, "has the file %q twice, with different deletion vectors", path)
	}
	changes := live
	for _, c := range s.changes {
		if c.rows < -1 || c.rows > 1 {
			rows = live
		}
	}
	if rows.repeatedPath() == "" && rows.bytesToRead() < live.bytesToRead() && rows.haveSameNetRows(live) {
		changes = rows
	}
	s.setSome(changes)
	s.liveFiles, s.partitions, s.changes = nil, nil, nil
	if err := loadDeletionVectors(ctx, t, changes.Added); err != nil {
		return nil, err
	}
	if err := loadDeletionVectors(ctx, t, changes.Removed); err != nil {
		return nil, err
	}
	return changes, changes.subtractVectors(t)
}

func (s *replayState) splitChanges(times func(c fileChange) int) *Changes {
	filesWith := func(sign int) []File {
		var files []liveFile
		for _, c := range s.changes {
			if times(c)*sign > 0 {
				files = append(files, c.file)
			}
		}
		return s.listFiles(slices.Values(files), len(files))
	}
	return &Changes{Added: filesWith(1), Removed: filesWith(-1)}
}

func (c *Changes) repeatedPath() string {
	return cmp.Or(repeatedPath(c.Added), repeatedPath(c.Removed))
}

func (c *Changes) bytesToRead() (n int64) {
	for i := range c.Added {
		n += min(c.Added[i].Size, math.MaxInt64-n)
	}
	for i := range c.Removed {
		f := &c.Removed[i]
		if _, isInBoth := slices.BinarySearchFunc(c.Added, f.Path, func(a File, path string) int { return strings.Compare(a.Path, path) }); !isInBoth { // with two vectors
			n += min(f.Size, math.MaxInt64-n)
		}
	}
	return n
}

func (c *Changes) haveSameNetRows(other *Changes) bool {
	n, isKnown := int64(0), true
	count := func(list []File, sign int64) {
		for i := range list {
			f := &list[i]
			isKnown = isKnown && f.Rows >= 0
			if n += sign * f.Rows; f.vector != nil {
				n -= sign * f.vector.Cardinality
			}
		}
	}
	count(c.Added, 1)
	count(c.Removed, -1)
	count(other.Added, -1)
	count(other.Removed, 1)
	return isKnown && n == 0
}

func (s *replayState) setSome(c *Changes) {
	var first *liveFile
	choose := func(f liveFile) {
		if first == nil || f.path < first.path {
			first = &f
		}
	}
	for _, f := range s.liveFiles {
		choose(f)
	}
	if first == nil { // the table has become empty
		for _, change := range s.changes {
			choose(change.file)
		}
	}
	if first == nil {
		return
	}
	c.Some = &s.listFiles(slices.Values([]liveFile{*first}), 1)[0]
	c.Some.vector = &deletionVector{bitmap: remaining.KeepOnly(remaining.Bitmap{}, remaining.Bitmap{})}
}

func (c *Changes) subtractVectors(t *table) error {
	var added, removed []File
	for len(c.Added) > 0 && len(c.Removed) > 0 {
		a, r := c.Added[0], c.Removed[0]
		switch {
		case a.Path < r.Path:
			added, c.Added = append(added, a), c.Added[1:]
			continue
		case a.Path > r.Path:
			removed, c.Removed = append(removed, r), c.Removed[1:]
			continue
		}
		c.Added, c.Removed = c.Added[1:], c.Removed[1:]
		var err error
		if added, err = appendDifference(t, added, a, r); err != nil {
			return err
		}
		if removed, err = appendDifference(t, removed, r, a); err != nil {
			return err
		}
	}
	c.Added, c.Removed = append(added, c.Added...), append(removed, c.Removed...)
	return nil
}

func appendDifference(t *table, list []File, f, other File) ([]File, error) {
	if other.DeletedRows() == nil { // only rows that the other has deleted are more
		return list, nil
	}
	rows, err := remaining.ParseBitmap(other.DeletedRows())
	if err != nil {
		return nil, errDamagedVector(t, &other, err)
	}
	var both remaining.Bitmap
	if f.DeletedRows() != nil {
		if both, err = remaining.ParseBitmap(f.DeletedRows()); err != nil {
			return nil, errDamagedVector(t, &f, err)
		}
	}
	if rows.IsWithin(both) {
		return list, nil
	}
	f.vector = &deletionVector{bitmap: remaining.KeepOnly(rows, both)}
	return append(list, f), t.budget.reserveBytes(int64(len(f.vector.bitmap)), t.name)
}
