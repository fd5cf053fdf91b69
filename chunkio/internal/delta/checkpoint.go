package delta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"

	"github.com/ufs-stream/ufs-stream/stream"
)

// readCheckpoint applies all actions of a checkpoint to the state. It skips remove actions, because a checkpoint's
// added files do not include removed files.
func readCheckpoint(ctx context.Context, t *table, c *checkpoint, s *replayState) error {
	r := checkpointReader{table: t, state: s, version: c.version}
	for _, part := range c.parts {
		read := r.readParquetFile
		if c.kind == uuidJSON {
			read = r.readJSONFile
		}
		if err := read(ctx, part); err != nil {
			return addCheckpointRemedy(t, c, err)
		}
	}
	// Only V2 checkpoints have sidecars, i.e. files that continue the checkpoint. A sidecar has no sidecars.
	for _, f := range r.sidecars {
		if err := r.readParquetFile(ctx, f); err != nil {
			return addCheckpointRemedy(t, c, err)
		}
	}
	return nil
}

func addCheckpointRemedy(t *table, damaged *checkpoint, err error) error {
	e, ok := errors.AsType[*stream.DataError](err)
	if _, fault := errors.AsType[folderError](err); !ok || fault {
		return err
	}
	// If a file is missing, it may have been cleaned up with parts of the table after the log was listed.
	retry := ""
	if errors.Is(err, fs.ErrNotExist) {
		retry = "read the table again; if that fails here too, "
	}
	e.Remedy = stream.Textf(retry + "restore the checkpoint from a copy")
	if isCompleteWithout(t, damaged) {
		e.Remedy = stream.Textf(retry+"move the checkpoint of version %d away: the log is complete without it", damaged.version)
	}
	return e
}

// isCompleteWithout reports whether the version of checkpoint c can also be built without c: from an older checkpoint
// or the empty table, and the commits after it.
func isCompleteWithout(t *table, c *checkpoint) bool {
	from := int64(0)
	for _, older := range t.checkpoints {
		if older.version < c.version {
			from = older.version + 1
		}
	}
	for v := from; v <= c.version; v++ {
		if _, ok := t.findCommit(v); !ok {
			return false
		}
	}
	return true
}

type checkpointReader struct {
	*table
	state    *replayState
	version  int64
	sidecars []logFile
	values   []partitionValue
}

func (r *checkpointReader) readJSONFile(ctx context.Context, f logFile) error {
	return r.readActions(ctx, f, func(a *action) error {
		if m := a.CheckpointMetadata; m != nil && m.Version != nil {
			if err := r.checkStatedVersion(*m.Version); err != nil {
				return err
			}
		}
		if a.Sidecar != nil {
			if err := r.addSidecar(a.Sidecar.Path, a.Sidecar.SizeInBytes); err != nil {
				return err
			}
		}
		a.Remove = nil
		return applyActionToState(r.table, a, r.state)
	})
}

func (r *checkpointReader) checkStatedVersion(version int64) error {
	if version != r.version {
		return fmt.Errorf("claims to be the checkpoint of version %d", version)
	}
	return nil
}

// addSidecar records a sidecar of the checkpoint. All sidecars are in one folder, so only the last part of the stated
// path is used.
func (r *checkpointReader) addSidecar(raw string, size int64) error {
	name, err := url.PathUnescape(raw)
	if err != nil || path.Base(name) == "." || path.Base(name) == "/" {
		return fmt.Errorf("names a sidecar %q, which no file can be called", raw)
	}
	if !r.state.wantsFiles {
		return nil
	}
	if err := r.budget.reserveBytes(checkpointFileBytes+int64(len(name)), r.name); err != nil {
		return err
	}
	r.sidecars = append(r.sidecars, logFile{sidecarFolder + path.Base(name), size})
	return nil
}
