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

// readCheckpoint takes all actions of a checkpoint into the state. What it says was
// removed is passed over: it is not among the added files.
func (t *table) readCheckpoint(ctx context.Context, c *checkpoint, s *state) error {
	r := checkpointReader{table: t, state: s, version: c.version}
	for _, part := range c.parts {
		read := r.parquet
		if c.kind == uuidJSON {
			read = r.json
		}
		if err := read(ctx, part); err != nil {
			return t.instead(c, err)
		}
	}
	// Only a V2 checkpoint has them. They have no sidecars of their own.
	for _, f := range r.sidecars {
		if err := r.parquet(ctx, f); err != nil {
			return t.instead(c, err)
		}
	}
	return nil
}

// instead adds to an error of a damaged checkpoint what can be read without it.
func (t *table) instead(c *checkpoint, err error) error {
	e, ok := errors.AsType[*stream.DataError](err)
	if _, fault := errors.AsType[faultError](err); !ok || fault {
		return err
	}
	// A missing file may have been cleaned up, with the table, since it was listed.
	again := ""
	if errors.Is(err, fs.ErrNotExist) {
		again = "read the table again; where that ends here as well, "
	}
	e.Remedy = stream.Textf(again + "restore the checkpoint from a copy")
	if t.wholeWithout(c) {
		e.Remedy = stream.Textf(again+"move the checkpoint of version %d away: the log is complete without it", c.version)
	}
	return e
}

// wholeWithout tells whether an older checkpoint, or none, and commits lead to the version
// of a checkpoint.
func (t *table) wholeWithout(c *checkpoint) bool {
	from := int64(0)
	for _, older := range t.checkpoints {
		if older.version < c.version {
			from = older.version + 1
		}
	}
	for v := from; v <= c.version; v++ {
		if _, there := t.commitOf(v); !there {
			return false
		}
	}
	return true
}

// checkpointReader reads the files of one checkpoint.
type checkpointReader struct {
	*table
	state    *state
	version  int64
	sidecars []logFile
	values   []pair
}

// json reads a V2 checkpoint that is written like a commit.
func (r *checkpointReader) json(ctx context.Context, f logFile) error {
	return r.lines(ctx, f, func(a *action) error {
		if m := a.CheckpointMetadata; m != nil && m.Version != nil {
			if err := r.checkVersion(*m.Version); err != nil {
				return err
			}
		}
		if a.Sidecar != nil {
			if err := r.sidecar(a.Sidecar.Path, a.Sidecar.SizeInBytes); err != nil {
				return err
			}
		}
		a.Remove = nil
		return r.apply(a, r.state)
	})
}

func (r *checkpointReader) checkVersion(version int64) error {
	if version != r.version {
		return fmt.Errorf("says that it is the checkpoint of version %d", version)
	}
	return nil
}

// sidecar notes a file that has more of the checkpoint. It lies in one folder, whatever
// else its path says.
func (r *checkpointReader) sidecar(raw string, size int64) error {
	name, err := url.PathUnescape(raw)
	if err != nil || path.Base(name) == "." || path.Base(name) == "/" {
		return fmt.Errorf("names a sidecar %q, which no file can be called", raw)
	}
	if !r.state.all {
		return nil
	}
	if err := r.budget.use(listedBytes+int64(len(name)), r.name); err != nil {
		return err
	}
	r.sidecars = append(r.sidecars, logFile{sidecarFolder + path.Base(name), size})
	return nil
}
