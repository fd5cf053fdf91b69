package chunkio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/delta"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/localfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// localFolder is a folder on disk as a delta.Folder, through which the log of a table is read.
type localFolder string

// List implements delta.Folder.
func (f localFolder) List(ctx context.Context, prefix string) iter.Seq2[delta.Entry, error] {
	return func(yield func(delta.Entry, error) bool) {
		dir, base := path.Split(prefix)
		entries, err := os.ReadDir(filepath.Join(string(f), filepath.FromSlash(dir)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(delta.Entry{}, stream.Dataf(string(f), "cannot be listed: %w", withoutPath(err)))
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
				yield(delta.Entry{}, stream.Dataf(filepath.Join(string(f), dir, e.Name()), "cannot be read: %w", withoutPath(err)))
				return
			}
			if !yield(delta.Entry{Name: dir + e.Name(), Size: info.Size(), Modified: info.ModTime()}, nil) {
				return
			}
		}
	}
}

// ReadFile implements delta.Folder.
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

// Open implements delta.Folder.
func (f localFolder) Open(ctx context.Context, name string) (format.Input, error) {
	return openFile(ctx, filepath.Join(string(f), filepath.FromSlash(name)))
}

// storeFolder is a folder in a store as a delta.Folder, through which the log of a table is read.
type storeFolder struct {
	*access
	root   store.Location // its key ends with a slash
	memory int64
}

// List implements delta.Folder.
func (f storeFolder) List(ctx context.Context, prefix string) iter.Seq2[delta.Entry, error] {
	return func(yield func(delta.Entry, error) bool) {
		for o, err := range f.client.List(ctx, f.root.WithKey(f.root.Key+prefix)) {
			if !yield(delta.Entry{Name: strings.TrimPrefix(o.Key, f.root.Key), Size: o.Size, Modified: o.Modified}, err) {
				return
			}
		}
	}
}

// ReadFile implements delta.Folder.
func (f storeFolder) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	o, err := f.client.Stat(ctx, f.root.WithKey(f.root.Key+name))
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
	return b, f.client.Read(ctx, o, b, 0)
}

// Open implements delta.Folder.
func (f storeFolder) Open(ctx context.Context, name string) (format.Input, error) {
	o, err := f.openObject(ctx, fileEntry{path: f.root.WithKey(f.root.Key + name).String(), size: -1}, f.memory)
	if err != nil {
		return nil, err
	}
	o.maxHeadBytes = 0 // the metadata of batches need not be kept, because the file is read only once
	return o, nil
}

func (a *access) expandDelta(ctx context.Context, arg string) (*fileList, error) {
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
		folder, name = storeFolder{a, at, a.opt.Memory}, at.PublicName()
	} else {
		folder = localFolder(arg)
	}
	s, err := delta.Read(ctx, folder, name, delta.Options{Version: a.opt.TableVersion, AsOf: a.opt.TableAsOf, Memory: a.opt.Memory})
	if err != nil {
		return nil, err
	}
	if len(s.Files) == 0 {
		return nil, stream.Dataf(name, "version %d of this Delta table has no files", s.Version)
	}
	list := &fileList{
		table:  &stream.Table{Path: name, Format: "delta", Version: s.Version, Time: s.Time.UTC().Format(time.RFC3339)},
		schema: s.Schema, keyTexts: newKeyTexts(s.Partitions),
	}
	scope, err := place.NewScope(name, []string{arg}, a.opt.Allow)
	if err != nil {
		return nil, err
	}
	type placed struct {
		name, query string
		file        *delta.File
	}
	files := make([]placed, len(s.Files))
	for i := range s.Files {
		f := &s.Files[i]
		if files[i].name, files[i].query, err = locateLiveFile(arg, at, scope, f.Path); err != nil {
			return nil, err
		}
		files[i].file = f
	}
	slices.SortFunc(files, func(x, y placed) int { return strings.Compare(x.name, y.name) })
	for _, p := range files {
		list.appendEntry(p.name, p.query, p.file.Size, "")
		values := make([]string, len(p.file.Values))
		for k, v := range p.file.Values {
			if values[k] = hiveNull; v != nil {
				values[k] = *v
			}
		}
		list.keyTexts.addFileValues(values)
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
		name, query = splitURLQuery(at)
		return name, query, nil
	}
	file = strings.TrimPrefix(file, "./")
	if at.Bucket != "" {
		name, query = splitURLQuery(at.WithKey(at.Key + file))
		return name, query, nil
	}
	return filepath.Join(root, filepath.FromSlash(file)), "", nil
}

// applySchema sets the types of the leaves to the types in the schema of the table. It marks the names of leaves that
// are not columns of the table with noColumn: such leaves are row ids and versions that the writer of the table stores,
// or columns of other versions of the table. Partition columns are marked too, because their values are in the log.
func (l *fileList) applySchema(path string, leaves []format.Leaf, names []leafName) ([]format.Leaf, error) {
	if l.schema == nil {
		return leaves, nil
	}
	leaves = slices.Clone(leaves)
	for i := range leaves {
		leaf := &leaves[i]
		at := leaf.Path
		if at == nil {
			at = []string{leaf.Name}
		}
		typ, ok := l.schema.ColumnType(at)
		if !ok || slices.ContainsFunc(l.keyTexts.keys, func(key string) bool { return strings.EqualFold(key, at[0]) }) {
			names[i].nth = noColumn
			continue
		}
		if !delta.Widens(leaf.Type, typ) {
			e := stream.Dataf(path, "its type is %s here, and %s in the schema of the table, which the Delta protocol does not widen it to", leaf.Type, typ)
			e.Column, e.Remedy = leaf.Name, stream.Textf("write the file again with the table's writer, or read a {version} of the table whose schema it has")
			return nil, e
		}
		if _, ok := format.CommonType(leaf.Type, typ); ok && format.IsNumber(typ) {
			leaf.Type = typ
		}
	}
	return leaves, nil
}

// addAbsentColumns adds the columns of a table's schema that are in no file. They are null in all rows. Columns within
// structs are not added.
func (b *catalogBuilder) addAbsentColumns() {
	if !b.union || b.list.schema == nil {
		return
	}
	for _, f := range b.list.schema.Fields {
		name := leafName{name: f.Name}
		if _, there := b.index[name]; there || f.Type == "" || slices.Contains(b.keys, f.Name) {
			continue
		}
		l := format.Leaf{Name: f.Name, Type: f.Type, Width: 1}
		if _, isNumber := format.CommonType(f.Type, "double"); !isNumber {
			l.Width, l.Why = 0, map[string]string{"string": "text"}[f.Type]
			if l.Why == "" {
				l.Why = f.Type
			}
		}
		b.addLeaf("", l, name)
	}
}

// orderByTable puts the columns and partition keys of a table into the order of its schema, whichever file was read
// first. If there is a condition but no union, it keeps the files' order, because the condition is bound to that order.
func (b *catalogBuilder) orderByTable() {
	schema := b.list.schema
	if schema == nil || b.filter != nil && !b.union {
		return
	}
	place := func(leaf int) int { return schema.ColumnIndex(topLevelName(b.leaves[leaf])) }
	order := make([]int, len(b.leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(place(i), place(j)) })
	for i := range b.parts {
		p := &b.parts[i]
		p.leafAfter = slices.IndexFunc(order, func(leaf int) bool { return place(leaf) > schema.ColumnIndex(p.key) }) + 1
	}
	if slices.IsSorted(order) {
		return
	}
	for i := range b.files {
		f := &b.files[i]
		f.order = b.internOrder(valuesInOrder(order, func(leaf int) int32 { return int32(f.leafIndex(leaf)) }))
	}
	refusing := make(map[int]string, len(b.firstRefusal))
	for at, leaf := range order {
		if path, ok := b.firstRefusal[leaf]; ok {
			refusing[at] = path
		}
	}
	b.firstRefusal = refusing
	if spreads := b.catalog.spreads; spreads != nil {
		b.catalog.spreads = valuesInOrder(order, func(leaf int) numberRange {
			if leaf < len(spreads) {
				return spreads[leaf]
			}
			return numberRange{}
		})
	}
	b.leaves = valuesInOrder(order, func(leaf int) format.Leaf { return b.leaves[leaf] })
}

func topLevelName(l format.Leaf) string {
	if len(l.Path) > 0 {
		return l.Path[0]
	}
	return l.Name
}

func valuesInOrder[T any](order []int, value func(int) T) []T {
	values := make([]T, len(order))
	for i, item := range order {
		values[i] = value(item)
	}
	return values
}

func (e fileEntry) checkAgainstLog(in Input, err error) error {
	switch {
	case e.plan != "":
		return e.checkAgainstPlan(in, err)
	case !e.inLog || e.version != "":
		return err // no log lists the file, or another opening has already checked it
	case errors.Is(err, store.ErrNotExist) || errors.Is(err, fs.ErrNotExist):
		gone := stream.Dataf(place.DisplayName(e.path), "the log of its table says that this file is live, and it is not there: it was vacuumed, expired or deleted")
		gone.Remedy = stream.Textf("read a {version} whose files are all there, or restore the file")
		return gone
	case err == nil && in.Size() != e.size:
		other := stream.Dataf(in.Name(), "the log of its table says that this file has %d bytes, and it has %d: it was rewritten", e.size, in.Size())
		other.Remedy = stream.Textf("restore the file, or write the table again")
		return other
	}
	return err
}
