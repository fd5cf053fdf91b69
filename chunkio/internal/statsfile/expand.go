package statsfile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ExpandStats implements chunkio.ExpandStats: it replaces globs and folders among the arguments by the names of the
// statistics files that they contain.
func ExpandStats(ctx context.Context, args []string, opt storage.FetchOptions) ([]string, error) {
	client := storage.NewClient(opt)
	var paths []string
	for _, arg := range args {
		find := func(arg string) ([]string, error) { return expandLocalStats(ctx, arg) }
		if place.IsURL(arg) {
			find = func(arg string) ([]string, error) { return expandObjectStats(ctx, client, arg) }
		}
		found, err := find(arg)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

func expandLocalStats(ctx context.Context, arg string) ([]string, error) {
	pattern, err := place.LocalPath(arg)
	if err != nil {
		return nil, err
	}
	if place.IsFolder(arg) {
		return listStatsInFolder(pattern)
	}
	if _, err := os.Stat(pattern); !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(pattern, "*?[{") {
		return []string{pattern}, nil // opening it reports the error
	}
	if fault := glob.PatternFault(filepath.ToSlash(pattern), doublestar.ValidatePathPattern(pattern)); fault != "" {
		return nil, stream.Usagef("%s: %s", pattern, fault)
	}
	found, _, err := glob.FindPaths(ctx, pattern, doublestar.WithNoHidden(), doublestar.WithFilesOnly())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, stream.Dataf(pattern, "%w", err)
	}
	if !listing.IsHiddenName(filepath.Base(pattern)) {
		found = slices.DeleteFunc(found, func(p string) bool { return listing.IsHiddenName(filepath.Base(p)) })
	}
	if len(found) == 0 {
		return nil, stream.Dataf(pattern, "no file matches")
	}
	slices.Sort(found)
	return found, nil
}

// statsEnding ends the names of statistics files.
const statsEnding = ".ufs"

// errNoStats is wrapped by the error of a folder without statistics files.
var errNoStats = errors.New("no statistics file (*" + statsEnding + ") in this folder")

func isStatsName(name string) bool {
	return strings.HasSuffix(name, statsEnding) && !listing.IsHiddenName(name)
}

func listStatsInFolder(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, storage.ErrFetch(dir, stream.Errorf("cannot be listed: %w", storage.WithoutPath(err)), stream.Textf("check the path and its permissions"))
	}
	var found []string
	for _, e := range entries {
		if !e.IsDir() && isStatsName(e.Name()) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, stream.Dataf(dir, "%w", errNoStats)
	}
	return found, nil
}

func listStatsInBucket(ctx context.Context, client *store.Client, folder store.Location) ([]string, error) {
	var found []string
	for o, err := range client.List(ctx, folder) {
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(o.Key, folder.Key)
		if !strings.Contains(name, "/") && isStatsName(name) {
			found = append(found, folder.WithKey(o.Key).String())
		}
	}
	if len(found) == 0 {
		return nil, stream.Dataf(folder.PublicName(), "%w", errNoStats)
	}
	return found, nil
}

func listObjectOrFolder(ctx context.Context, client *store.Client, l store.Location) ([]string, error) {
	_, err := client.Stat(ctx, l)
	if !errors.Is(err, store.ErrNotExist) {
		return []string{l.String()}, err
	}
	found, err := listStatsInBucket(ctx, client, l.WithKey(place.FolderPrefix(l.Key)))
	if errors.Is(err, errNoStats) {
		e := stream.Dataf(l.PublicName(), "there is neither an object nor a folder of this name")
		e.Remedy = stream.Textf("check the bucket and the key")
		return nil, e
	}
	return found, err
}

func expandObjectStats(ctx context.Context, client *store.Client, arg string) ([]string, error) {
	l, err := store.Parse(arg)
	if err != nil {
		return nil, err
	}
	if l.Key == "" || strings.HasSuffix(l.Key, "/") {
		return listStatsInBucket(ctx, client, l)
	}
	prefix, isGlob := l.GlobPrefix()
	if !isGlob {
		if strings.HasSuffix(l.Key, statsEnding) || l.IsWeb() {
			return []string{arg}, nil // opening it reports the error
		}
		return listObjectOrFolder(ctx, client, l)
	}
	if fault := glob.PatternFault(l.Key, doublestar.ValidatePattern(l.Key)); fault != "" {
		return nil, stream.Usagef("%s: %s", l.PublicName(), fault)
	}
	switch _, err := client.Stat(ctx, l); {
	case err == nil:
		return []string{arg}, nil
	case !errors.Is(err, store.ErrNotExist):
		return nil, err
	}
	explicit := listing.IsHiddenName(path.Base(l.Key))
	var found []string
	for o, err := range client.List(ctx, l.WithKey(prefix)) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		matches, err := doublestar.Match(l.Key, o.Key)
		if err != nil {
			return nil, stream.Dataf(l.PublicName(), "%w", err)
		}
		if matches && (explicit || !listing.IsHiddenName(path.Base(o.Key))) {
			found = append(found, l.WithKey(o.Key).String())
		}
	}
	if len(found) == 0 {
		return nil, stream.Dataf(l.PublicName(), "no object matches")
	}
	return found, nil
}
