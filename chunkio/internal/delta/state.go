package delta

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// replayState is the state of a table while its log is replayed.
type replayState struct {
	budget     *budget
	wantsFiles bool // whether to replay files, and not only metadata and protocol

	meta     *metaData
	protocol *protocol

	changes     map[string]fileChange // by key, as liveFiles; nil if no changes are to be recorded
	since       int64                 // changes are recorded of the versions after this one
	changesRows bool                  // whether the current action changes rows

	liveFiles  map[string]liveFile // by key: the path of the file, and its deletion vector if it has one
	partitions map[string]*partition
	version    int64               // version whose actions are being applied
	removed    map[string]struct{} // keys of the files that this version removed
	text       []byte
}

// liveFile is a data file that the replayed versions added and did not remove.
type liveFile struct {
	path      string // path as in File; shares memory with the key if they are equal
	size      int64
	rows      int64
	version   int64 // version that added the file
	partition *partition
	vector    *deletionVector // nil if no row is deleted
}

// Memory of the parts of the state, in bytes. A live file needs 80 bytes and a string header of 16 bytes, in a map that
// is between 7/8 and 7/16 full. It needs 64 bytes in the resulting list of files. A partition needs its struct, a map
// entry and 32 bytes per value.
const (
	fileBytes      = 256
	removedBytes   = 64
	vectorBytes    = 96
	partitionBytes = 160
	valueBytes     = 64
)

func newReplayState(b *budget, withFiles bool) *replayState {
	return &replayState{budget: b, wantsFiles: withFiles, liveFiles: map[string]liveFile{}, partitions: map[string]*partition{}, removed: map[string]struct{}{}}
}

func (s *replayState) beginVersion(version int64) {
	for key := range s.removed {
		s.budget.releaseBytes(removedBytes + int64(len(key)))
	}
	// Clearing a map takes time proportional to its largest size. Therefore a large map is replaced, so that one commit
	// that removes millions of files does not slow down all later commits.
	if len(s.removed) > 1024 {
		s.removed = map[string]struct{}{}
	}
	clear(s.removed)
	s.version = version
}

func liveFileKey(pathKey, vectorID string) string {
	if vectorID == "" {
		return pathKey
	}
	return pathKey + "\x00" + vectorID // a path does not contain zero bytes
}

func (s *replayState) addFile(table, rawPath string, vector *deletionVector, size, rows int64, values []partitionValue) error {
	if !s.wantsFiles {
		return nil
	}
	path, key, err := parsePath(rawPath)
	if err != nil {
		return err
	}
	if size < 0 {
		return fmt.Errorf("adds the file %q with %d bytes", rawPath, size)
	}
	same := path == key && vector == nil
	key = liveFileKey(key, vector.uniqueID())
	if same {
		path = key
	}
	if _, removedToo := s.removed[key]; removedToo {
		return errAddedAndRemoved(rawPath)
	}
	f := liveFile{path: path, size: size, rows: max(-1, rows), version: s.version, vector: vector}
	if f.partition, err = s.joinPartition(table, values); err != nil {
		return err
	}
	old, replaces := s.liveFiles[key]
	switch {
	case replaces && old.version == s.version && (old.size != f.size || old.rows != f.rows || old.partition != f.partition):
		return fmt.Errorf("adds the file %q, which the same version adds otherwise", rawPath)
	case replaces && old.partition != f.partition && s.changes != nil && s.version > s.since:
		return fmt.Errorf("adds the file %q again, with other partition values, and {since} does not follow such a change; scan the whole table, without {since}", rawPath)
	case replaces:
		s.budget.releaseBytes(s.liveFileBytes(key, old))
		s.removeFileFromPartition(old.partition)
	}
	if err := s.budget.reserveBytes(s.liveFileBytes(key, f), table); err != nil {
		return err
	}
	s.liveFiles[key] = f
	if replaces {
		return nil
	}
	return s.recordChange(table, key, f, 1)
}

func (s *replayState) liveFileBytes(key string, f liveFile) int64 {
	n := int64(fileBytes + len(key))
	if f.path != key {
		n += int64(len(f.path))
	}
	if f.vector != nil {
		n += vectorBytes + int64(len(f.vector.PathOrInlineDv))
	}
	return n
}

// removeFile applies the removal of a file, which need not be live: checkpoints and commits may mention files that were
// removed long ago.
func (s *replayState) removeFile(table, raw, vector string) error {
	if !s.wantsFiles {
		return nil
	}
	_, key, err := parsePath(raw)
	if err != nil {
		return err
	}
	key = liveFileKey(key, vector)
	if _, alreadyRemoved := s.removed[key]; !alreadyRemoved {
		if err := s.budget.reserveBytes(removedBytes+int64(len(key)), table); err != nil {
			return err
		}
		s.removed[key] = struct{}{}
	}
	f, ok := s.liveFiles[key]
	if !ok {
		return nil
	}
	if f.version == s.version {
		return errAddedAndRemoved(raw)
	}
	if err := s.recordChange(table, key, f, -1); err != nil {
		return err
	}
	s.budget.releaseBytes(s.liveFileBytes(key, f))
	s.removeFileFromPartition(f.partition)
	delete(s.liveFiles, key)
	return nil
}

func errAddedAndRemoved(rawPath string) error {
	return fmt.Errorf("adds or removes the file %q, which the same version also removes or adds; the log does not decide between them", rawPath)
}

// liveFiles returns the live files of a replayed state. It clears the state to free its memory.
func liveFiles(t *table, s *replayState) ([]File, error) {
	files := s.listFiles(maps.Values(s.liveFiles), len(s.liveFiles))
	s.liveFiles, s.partitions = nil, nil
	if path := repeatedPath(files); path != "" {
		return nil, t.errDamagedFile(logFolder, "has the file %q twice, with different deletion vectors", path)
	}
	return files, nil
}

func (s *replayState) listFiles(list iter.Seq[liveFile], count int) []File {
	files := make([]File, 0, count)
	values := make(map[*partition][]*string, len(s.partitions))
	for f := range list {
		v, ok := values[f.partition]
		if !ok {
			v = f.partition.columnValues(s.meta.PartitionColumns)
			values[f.partition] = v
		}
		files = append(files, File{Path: f.path, Size: f.size, Values: v, Rows: f.rows, vector: f.vector})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

func repeatedPath(files []File) string {
	for i := range files[min(1, len(files)):] {
		if files[i].Path == files[i+1].Path {
			return files[i].Path
		}
	}
	return ""
}

func quoteTableNameForSQL(tableName string) string { return "delta.`" + tableName + "`" }
