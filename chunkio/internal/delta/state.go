package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// state is a table in the middle of its replay.
type state struct {
	budget     *budget
	wantsFiles bool // files count as well, not only metadata and protocol

	meta     *metaData
	protocol *protocol

	liveFiles  map[string]liveFile // by key: the file, and its deletion vector if it has one
	partitions map[string]*partition
	version    int64               // version whose actions are being added
	removed    map[string]struct{} // keys that this version removed
	text       []byte
}

// liveFile is a file that was added and not removed yet.
type liveFile struct {
	path      string // File's path; shares the key's memory if they are equal
	size      int64
	rows      int64
	version   int64 // version that added it
	partition *partition
	hasVector bool // it has a deletion vector
}

// The memory of the state, in bytes. A live file takes 80 bytes and a string header of 16 in the map, which is
// between 7/8 and 7/16 full, and 56 in the list of files made from it; a partition takes its struct, a map entry and
// 32 bytes a value.
const (
	fileBytes      = 256
	removedBytes   = 64
	partitionBytes = 160
	valueBytes     = 64
)

func newState(b *budget, all bool) *state {
	return &state{budget: b, wantsFiles: all, liveFiles: map[string]liveFile{}, partitions: map[string]*partition{}, removed: map[string]struct{}{}}
}

// beginVersion starts the actions of a version, which may come in any order.
func (s *state) beginVersion(version int64) {
	for key := range s.removed {
		s.budget.release(removedBytes + int64(len(key)))
	}
	// Clearing a map costs time proportional to its largest size: a large one is left to the collector, so that one
	// commit that removes millions does not slow all later ones.
	if len(s.removed) > 1024 {
		s.removed = map[string]struct{}{}
	}
	clear(s.removed)
	s.version = version
}

func fileKey(key, vector string) string {
	if vector == "" {
		return key
	}
	return key + "\x00" + vector // no path has a zero byte
}

func (s *state) addFile(table, raw, vector string, size, rows int64, values []pair) error {
	if !s.wantsFiles {
		return nil
	}
	path, key, err := readPath(raw)
	if err != nil {
		return err
	}
	if size < 0 {
		return fmt.Errorf("adds the file %q with %d bytes", raw, size)
	}
	same := path == key && vector == ""
	key = fileKey(key, vector)
	if same {
		path = key
	}
	if _, removedToo := s.removed[key]; removedToo {
		return errAddedAndRemoved(raw)
	}
	f := liveFile{path: path, size: size, rows: max(-1, rows), version: s.version, hasVector: vector != ""}
	if f.partition, err = s.joinPartition(table, values); err != nil {
		return err
	}
	old, replaces := s.liveFiles[key]
	switch {
	case replaces && old.version == s.version && (old.size != f.size || old.rows != f.rows || old.partition != f.partition):
		return fmt.Errorf("adds the file %q, which the same version adds otherwise", raw)
	case replaces:
		s.budget.release(s.liveFileBytes(key, old))
		s.leavePartition(old.partition)
	}
	if err := s.budget.reserve(s.liveFileBytes(key, f), table); err != nil {
		return err
	}
	s.liveFiles[key] = f
	return nil
}

func (s *state) liveFileBytes(key string, f liveFile) int64 {
	n := int64(fileBytes + len(key))
	if f.path != key {
		n += int64(len(f.path))
	}
	return n
}

// removeFile applies the removal of a file. It need not be live: checkpoints and commits may mention files that went
// long ago.
func (s *state) removeFile(table, raw, vector string) error {
	if !s.wantsFiles {
		return nil
	}
	_, key, err := readPath(raw)
	if err != nil {
		return err
	}
	key = fileKey(key, vector)
	if _, alreadyRemoved := s.removed[key]; !alreadyRemoved {
		if err := s.budget.reserve(removedBytes+int64(len(key)), table); err != nil {
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
	s.budget.release(s.liveFileBytes(key, f))
	s.leavePartition(f.partition)
	delete(s.liveFiles, key)
	return nil
}

func errAddedAndRemoved(raw string) error {
	return fmt.Errorf("adds or removes the file %q, which the same version also removes or adds; the log does not decide between them", raw)
}

// liveFiles returns the live files of a replayed state, which it gives up.
func (t *table) liveFiles(s *state) ([]File, error) {
	files := make([]File, 0, len(s.liveFiles))
	values := make(map[*partition][]*string, len(s.partitions))
	var vector string
	for _, f := range s.liveFiles {
		if f.hasVector && (vector == "" || f.path < vector) {
			vector = f.path
		}
		v, ok := values[f.partition]
		if !ok {
			v = f.partition.columnValues(s.meta.PartitionColumns)
			values[f.partition] = v
		}
		files = append(files, File{Path: f.path, Size: f.size, Values: v, Rows: f.rows})
	}
	s.liveFiles, s.partitions = nil, nil
	if vector != "" {
		place := vector
		if !IsAbsolute(vector) {
			place = t.filePath(vector)
		}
		e := stream.Dataf(place, "has rows that a deletion vector takes out (table feature deletionVectors), which ufs-stream does not read")
		e.Remedy = stream.Textf("write the file without them by REORG TABLE %s APPLY (PURGE), or write a plain copy of the table", tableInSQL(t.name))
		return nil, e
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func tableInSQL(name string) string { return "delta.`" + name + "`" }
