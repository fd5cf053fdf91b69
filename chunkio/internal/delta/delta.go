package delta

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Folder gives access to the folder of a table. File names are relative to the table's root and use slashes. ReadFile
// may be called from several goroutines at the same time.
type Folder interface {
	// List yields the files whose names begin with prefix, in byte order.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// ReadFile reads a whole file of at most limit bytes. It returns fs.ErrNotExist if the file does not exist.
	ReadFile(ctx context.Context, name string, limit int64) ([]byte, error)
	// Open opens a file that is read in parts: a checkpoint, a commit that is too long to be held in memory, or a file of
	// deletion vectors. Only the latter may have an absolute name, see File.Path.
	Open(ctx context.Context, name string) (format.Input, error)
}

// Entry is one file of a listing.
type Entry struct {
	Name     string
	Size     int64
	Modified time.Time
}

// Options of Read. The zero value reads the newest version.
type Options struct {
	Version *int64    // the version to read; nil for the newest
	AsOf    time.Time // if set, read the version that was the newest at this time
	Since   *int64    // if set, list the changes between this version and the version to read
	Memory  int64     // limit on the bytes that Read holds; 0 for 1 GiB
}

// Snapshot is a table at one version.
type Snapshot struct {
	ID         string // identifies the table, wherever it is; empty if the log does not contain it
	Version    int64
	Time       time.Time       // commit time of the version, to the millisecond
	Partitions []string        // names of the partition columns, in the table's order
	Schema     *columns.Schema // schema including the partition columns; nil if the log does not contain a schema
	Files      []File          // the live files, in byte order of their paths
	Changes    *Changes        // with Options.Since, in place of Files
}

// File is a live data file, i.e. one that the version of the table contains.
type File struct {
	// Path is relative to the table's root, without URL-encoding. An absolute URI or path is exactly as in the log.
	Path string
	Size int64
	// Values has the value of each partition column, in the order of the columns, with nil for null. Files of the same
	// partition share the slice.
	Values []*string
	Rows   int64 // number of rows according to the file's statistics, with the deleted ones; -1 if unknown
	vector *deletionVector
}

// DeletedRows returns the set of deleted rows, in a format of remaining.OpenRemaining. It is nil if there are none.
func (f *File) DeletedRows() []byte {
	if f.vector == nil {
		return nil
	}
	return f.vector.bitmap
}

// Read reads the log of the table in folder. Messages use name as the name of the table.
//
// The error is a *stream.UsageError for a version or time that does not exist, a *stream.MemoryError, or in all other
// cases a *stream.DataError that names the file of the log.
func Read(ctx context.Context, folder Folder, name string, opt Options) (*Snapshot, error) {
	if opt.Version != nil && !opt.AsOf.IsZero() {
		return nil, stream.Usagef("{version} and {as-of} both choose a version of %s: set one of them", name)
	}
	t := &table{folder: folder, name: strings.TrimRight(name, "/"), budget: budget{limit: cmp.Or(opt.Memory, 1<<30)}}
	if err := t.listLogFiles(ctx); err != nil {
		return nil, err
	}
	version, err := findRequestedVersion(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	part, err := t.segmentOfVersion(version)
	if opt.Since != nil {
		part, err = t.segmentSince(*opt.Since, version)
	}
	if err != nil {
		return nil, err
	}
	s := newReplayState(&t.budget, true)
	if opt.Since != nil {
		s.changes, s.since = map[string]fileChange{}, *opt.Since
	}
	if err := replaySegment(ctx, t, part, s); err != nil {
		return nil, err
	}
	if err := checkProtocolIsSupported(t, s); err != nil {
		return nil, err
	}
	snapshot := &Snapshot{ID: s.meta.ID, Version: version, Partitions: slices.Clone(s.meta.PartitionColumns)}
	if snapshot.Schema, err = tableSchema(t, s.meta, s.mappingMode()); err != nil {
		return nil, err
	}
	if snapshot.Time, err = t.findVersionTime(ctx, version, s.meta); err != nil {
		return nil, err
	}
	if opt.Since != nil {
		snapshot.Changes, err = listChanges(ctx, t, s)
		return snapshot, err
	}
	if snapshot.Files, err = liveFiles(t, s); err != nil {
		return nil, err
	}
	return snapshot, loadDeletionVectors(ctx, t, snapshot.Files)
}

func findRequestedVersion(ctx context.Context, t *table, opt Options) (int64, error) {
	switch {
	case opt.Version != nil:
		if v := *opt.Version; v < t.oldest || v > t.newest {
			return 0, stream.Usagef("%s has no version %d: its log reaches from version %d to %d; set {version} to one of these",
				t.name, v, t.oldest, t.newest)
		}
		return *opt.Version, nil
	case !opt.AsOf.IsZero():
		return t.findVersionAsOf(ctx, opt.AsOf)
	}
	return t.newest, nil
}
