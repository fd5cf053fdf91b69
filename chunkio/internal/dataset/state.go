package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/stream"
)

// State identifies the contents of the files of an input, without reading them.
type State struct {
	Digest string    // of the names, sizes and versions of all files; a version of a local file is its time of change
	Newest time.Time // when a local file changed last; zero if all files are objects
}

// FindState implements chunkio.FindState: it lists the inputs, and asks for sizes and versions.
func FindState(ctx context.Context, inputs []string, opt settings.Options) (s State, err error) {
	f, err := catalog.NewFilter(opt.Where)
	if err != nil {
		return s, err
	}
	a := opening.NewAccess(settings.WithDefaults(opt))
	list, err := listing.ExpandInputs(ctx, a, inputs)
	if err == nil && list.IsStdin() {
		err = stream.Dataf("standard input", "%w", opening.ErrNoVersion)
	}
	if err == nil {
		list, err = f.PruneFiles(list)
	}
	if err != nil {
		return s, errors.Join(err, a.Close())
	}
	sum := sha256.New()
	record := json.NewEncoder(sum) // writes to a hash do not fail
	err = record.Encode(list.Table)
	for _, e := range list.Entries() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		var v opening.FileVersion
		if v, err = opening.FindVersion(ctx, a, e); err == nil {
			err = record.Encode([]any{v.Path, v.Size, v.Version, e.Deleted, e.Constants})
		}
		if v.Changed.After(s.Newest) {
			s.Newest = v.Changed
		}
	}
	s.Digest = hex.EncodeToString(sum.Sum(nil))
	return s, errors.Join(err, a.Close())
}
