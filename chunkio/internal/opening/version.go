package opening

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FileVersion identifies the contents of a file without reading it.
type FileVersion struct {
	Path    string // absolute
	Size    int64
	Version string    // of an object its ETag or generation, of a local file Changed
	Changed time.Time // zero for an object
}

// ErrNoVersion reports a file whose contents cannot be identified without reading them.
var ErrNoVersion = errors.New("its contents cannot be identified without reading them")

// FindVersion returns the version of the file of an entry. It sends a request only for an object of unknown version.
func FindVersion(ctx context.Context, a *Access, e storage.Entry) (v FileVersion, err error) {
	if !store.IsURL(e.Path) {
		if v.Path, err = place.AbsolutePath(e.Path); err != nil {
			return v, err
		}
		info, err := os.Stat(v.Path)
		if err != nil {
			return v, stream.Dataf(e.Path, "%w", storage.WithoutPath(err))
		}
		v.Size, v.Changed = info.Size(), info.ModTime()
		v.Version = v.Changed.UTC().Format(time.RFC3339Nano)
		return v, nil
	}
	if v = (FileVersion{Path: e.Path, Size: e.Size, Version: e.Version}); v.Version != "" {
		return v, nil
	}
	location, err := store.Parse(e.Path)
	if err != nil {
		return v, err
	}
	object, err := a.Objects.Client.Stat(ctx, location)
	if v.Size, v.Version = object.Size, object.Version; err == nil && v.Version == "" {
		err = stream.Dataf(place.DisplayName(e.Path), "%w", ErrNoVersion)
	}
	return v, err
}
