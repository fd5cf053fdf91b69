package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/delta"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// localFolder is a folder on disk as a delta.Folder, through which the log of a table is read.
type localFolder string

func (f localFolder) List(ctx context.Context, prefix string) iter.Seq2[delta.Entry, error] {
	return func(yield func(delta.Entry, error) bool) {
		dir, base := path.Split(prefix)
		entries, err := os.ReadDir(filepath.Join(string(f), filepath.FromSlash(dir)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(delta.Entry{}, stream.Dataf(string(f), "cannot be listed: %w", storage.WithoutPath(err)))
			return
		}
		for _, e := range entries { // in byte order
			if !strings.HasPrefix(e.Name(), base) {
				continue
			}
			if e.IsDir() {
				for found, err := range f.List(ctx, dir+e.Name()+"/") {
					if !yield(found, err) {
						return
					}
				}
				continue
			}
			info, err := e.Info()
			if err != nil {
				yield(delta.Entry{}, stream.Dataf(filepath.Join(string(f), dir, e.Name()), "cannot be read: %w", storage.WithoutPath(err)))
				return
			}
			if !yield(delta.Entry{Name: dir + e.Name(), Size: info.Size(), Modified: info.ModTime()}, nil) {
				return
			}
		}
	}
}

func (f localFolder) ReadFile(_ context.Context, name string, limit int64) ([]byte, error) {
	at := filepath.Join(string(f), filepath.FromSlash(name))
	info, err := os.Stat(at)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &stream.MemoryError{What: "reading " + at, Need: info.Size(), Limit: limit}
	}
	return localfile.ReadAll(at)
}

func (f localFolder) Open(ctx context.Context, name string) (format.Input, error) {
	return storage.OpenFile(ctx, filepath.Join(string(f), filepath.FromSlash(name)))
}

// storeFolder is a folder in a store as a delta.Folder, through which the log of a table is read.
type storeFolder struct {
	*opening.Access
	root   store.Location // its key ends with a slash
	memory int64
}

func (f storeFolder) List(ctx context.Context, prefix string) iter.Seq2[delta.Entry, error] {
	return func(yield func(delta.Entry, error) bool) {
		for o, err := range f.Objects.Client.List(ctx, f.root.WithKey(f.root.Key+prefix)) {
			if !yield(delta.Entry{Name: strings.TrimPrefix(o.Key, f.root.Key), Size: o.Size, Modified: o.Modified}, err) {
				return
			}
		}
	}
}

func (f storeFolder) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	o, err := f.Objects.Client.Stat(ctx, f.root.WithKey(f.root.Key+name))
	if errors.Is(err, store.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	if o.Size > limit {
		return nil, &stream.MemoryError{What: "reading " + o.PublicName(), Need: o.Size, Limit: limit}
	}
	b := make([]byte, o.Size)
	return b, f.Objects.Client.Read(ctx, o, b, 0)
}

func (f storeFolder) Open(ctx context.Context, name string) (format.Input, error) {
	o, err := f.Objects.OpenObject(ctx, storage.Entry{Path: f.root.WithKey(f.root.Key + name).String(), Size: -1}, f.memory)
	if err != nil {
		return nil, err
	}
	o.MaxHeadBytes = 0 // the metadata of batches need not be kept, because the file is read only once
	return o, nil
}

// tableFolder is the folder of a table. Its log may also name files outside of the folder, if the scope allows them.
type tableFolder struct {
	delta.Folder
	access *opening.Access
	locate func(file string) (name, query string, err error)
}

func (f tableFolder) Open(ctx context.Context, name string) (format.Input, error) {
	if !delta.IsAbsolute(name) {
		return f.Folder.Open(ctx, name)
	}
	path, query, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	return f.access.OpenEntryBytes(ctx, storage.Entry{Path: path + query, Size: -1}, f.access.Options.Memory)
}

func expandDelta(ctx context.Context, a *opening.Access, arg string) (*List, error) {
	var folder delta.Folder
	var at store.Location
	name, far := arg, store.IsURL(arg)
	if far {
		var err error
		if at, err = store.Parse(arg); err != nil {
			return nil, err
		}
		if at.Key != "" && !strings.HasSuffix(at.Key, "/") {
			at = at.WithKey(at.Key + "/")
		}
		folder, name = storeFolder{a, at, a.Options.Memory}, at.PublicName()
	} else {
		folder = localFolder(arg)
	}
	scope, err := place.NewScope(name, []string{arg}, a.Options.Allow)
	if err != nil {
		return nil, err
	}
	locate := func(file string) (name, query string, err error) { return locateLiveFile(arg, at, scope, file) }
	s, err := delta.Read(ctx, tableFolder{folder, a, locate}, name, delta.Options{Version: a.Options.TableVersion, AsOf: a.Options.TableAsOf, Since: a.Options.TableSince, Memory: a.Options.Memory})
	if err != nil {
		return nil, err
	}
	losses := 0
	if c := s.Changes; c != nil {
		if s.Files, losses = c.Added, len(c.Removed); a.Options.TableLosses {
			s.Files = c.Removed
		}
		if len(s.Files) == 0 && c.Some != nil {
			s.Files = []delta.File{*c.Some}
		}
	}
	if len(s.Files) == 0 {
		return nil, stream.Dataf(name, "version %d of this Delta table has no files", s.Version)
	}
	list := &List{
		Losses: losses,
		Table:  &stream.Table{ID: s.ID, Path: name, Format: "delta", Version: s.Version, Time: s.Time.UTC().Format(time.RFC3339)},
		Schema: s.Schema, KeyTexts: NewKeyTexts(s.Partitions),
	}
	if s.Schema != nil && hasOtherNames(&s.Schema.Root) { // a column may have the name that another one had before
		list.Table.Schema = strconv.FormatUint(s.Schema.Digest, 16)
	}
	type placed struct {
		name, query string
		file        *delta.File
	}
	files := make([]placed, len(s.Files))
	for i := range s.Files {
		f := &s.Files[i]
		if files[i].name, files[i].query, err = locate(f.Path); err != nil {
			return nil, err
		}
		files[i].file = f
	}
	slices.SortFunc(files, func(x, y placed) int { return strings.Compare(x.name, y.name) })
	for _, p := range files {
		list.AppendEntry(p.name, p.query, p.file.Size, "", p.file.DeletedRows(), nil)
		values := make([]string, len(p.file.Values))
		for k, v := range p.file.Values {
			if values[k] = HiveNull; v != nil {
				values[k] = *v
			}
		}
		list.KeyTexts.AddFileValues(values)
	}
	return list, nil
}

// locateLiveFile returns the path or URL of a file that the log of a table lists, and the query of the URL. A relative
// path is below the root of the table, which is the parameter root for a local folder, or the parameter at for a folder
// in a store. An absolute path must be allowed by the scope of the table.
func locateLiveFile(root string, at store.Location, scope *place.Scope, file string) (name, query string, err error) {
	if delta.IsAbsolute(file) {
		if name, err = scope.ResolveURI(file); err != nil || !store.IsURL(name) {
			return name, "", err
		}
		if at, err = store.Parse(name); err != nil {
			return "", "", err
		}
		name, query = SplitURLQuery(at)
		return name, query, nil
	}
	file = strings.TrimPrefix(file, "./")
	if at.Bucket != "" {
		name, query = SplitURLQuery(at.WithKey(at.Key + file))
		return name, query, nil
	}
	return filepath.Join(root, filepath.FromSlash(file)), "", nil
}

func hasOtherNames(c *columns.Column) bool {
	return c.ID != 0 || c.Physical != "" && c.Physical != c.Name || slices.ContainsFunc(c.Fields, func(f columns.Column) bool { return hasOtherNames(&f) })
}
