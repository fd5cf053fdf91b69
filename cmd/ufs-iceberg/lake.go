package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	icebergio "github.com/apache/iceberg-go/io"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// lake opens the files of a table for iceberg-go. It reads objects with the same client as ufs-stream.
type lake struct {
	ctx               context.Context
	client            *store.Client
	table             string       // name of the table, for errors
	userParameters    string       // parameters of the user for the objects of a catalog: endpoint=…&region=…
	catalogParameters string       // parameters of the catalog, which are not used
	allow             []string     // places that the user allows, other than the table's folder or bucket
	scope             *place.Scope // places that the metadata may refer to; nil until the location of the table is known

	// A location such as warehouse/t, which is no place by itself, means the folder in which the table was found.
	relativeRoot, folder string

	mu           sync.Mutex
	openedPlaces []string // paths and URLs of the files opened so far
}

func newLake(ctx context.Context, q request) *lake {
	return &lake{ctx: ctx, client: store.New(store.Options{}), table: tableName(q), allow: q.allow}
}

// parametersForStore translates the properties of a catalog into URL parameters. It leaves out credentials, because
// ufs-stream finds its own credentials.
func parametersForStore(props map[string]string) string {
	var query []string
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				query = append(query, name+"="+strings.NewReplacer("%", "%25", "&", "%26").Replace(v))
				return
			}
		}
	}
	add("endpoint", props["s3.endpoint"], props["gcs.service.host"])
	add("region", props["s3.region"], props["client.region"])
	if props["s3.path-style-access"] == "true" || props["s3.force-virtual-addressing"] == "false" {
		add("use_path_style", "true")
	}
	return strings.Join(query, "&")
}

// Open implements icebergio.IO: it opens a file that the metadata of the table name.
func (l *lake) Open(name string) (icebergio.File, error) {
	at, err := l.resolvePlace(name)
	if err != nil {
		return nil, err
	}
	return l.openResolved(at)
}

// ReadFile implements icebergio.ReadFileIO: it reads a file that the metadata of the table name.
func (l *lake) ReadFile(name string) ([]byte, error) {
	at, err := l.resolvePlace(name)
	if err != nil {
		return nil, err
	}
	return l.readResolved(at)
}

func (l *lake) readResolved(resolvedPath string) ([]byte, error) {
	f, err := l.openResolved(resolvedPath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (l *lake) openResolved(resolvedPath string) (icebergio.File, error) {
	l.mu.Lock()
	l.openedPlaces = append(l.openedPlaces, resolvedPath)
	l.mu.Unlock()
	if !place.IsURL(resolvedPath) {
		f, err := os.Open(resolvedPath)
		if err != nil {
			return nil, errUnreadable(resolvedPath, err)
		}
		return f, nil
	}
	loc, err := store.Parse(resolvedPath)
	if err != nil {
		return nil, err
	}
	o, err := l.client.Stat(l.ctx, loc)
	if errors.Is(err, store.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	f := &openObject{lake: l, info: o}
	f.SectionReader = io.NewSectionReader(pieceReader{f}, 0, o.Size)
	return f, nil
}

func errUnreadable(at string, err error) error {
	if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return stream.Dataf(at, "cannot be read: %w", err)
}

// Remove implements icebergio.IO. It always fails, because nothing is ever removed.
func (l *lake) Remove(name string) error {
	return &fs.PathError{Op: "remove", Path: name, Err: errors.ErrUnsupported}
}

// openObject is an open object, for one goroutine at a time. Sequential reads fetch pieces of at least pieceSize bytes
// and keep the last piece. ReadAt fetches only the bytes that it needs.
type openObject struct {
	*io.SectionReader
	info store.Object
	lake *lake

	piece      []byte
	pieceStart int64
}

// pieceSize is the number of bytes of a manifest or metadata file that are fetched at once. Most are smaller.
const pieceSize = 1 << 20

// pieceReader implements sequential reads of an object, one piece at a time.
type pieceReader struct{ *openObject }

func (r pieceReader) ReadAt(b []byte, at int64) (n int, err error) {
	o := r.openObject
	for n < len(b) && at < o.info.Size {
		if at < o.pieceStart || at >= o.pieceStart+int64(len(o.piece)) {
			o.pieceStart, o.piece = at, make([]byte, min(max(pieceSize, int64(len(b)-n)), o.info.Size-at))
			if err := o.lake.client.Read(o.lake.ctx, o.info, o.piece, at); err != nil {
				o.piece = nil
				return n, err
			}
		}
		k := copy(b[n:], o.piece[at-o.pieceStart:])
		n, at = n+k, at+int64(k)
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// Close implements fs.File.
func (o *openObject) Close() error { return nil }

// Stat implements fs.File.
func (o *openObject) Stat() (fs.FileInfo, error) { return objectInfo{o.info}, nil }

// objectInfo implements fs.FileInfo for an object.
type objectInfo struct{ o store.Object }

func (i objectInfo) Name() string       { return path.Base(i.o.Key) }
func (i objectInfo) Size() int64        { return i.o.Size }
func (i objectInfo) Mode() fs.FileMode  { return 0o444 }
func (i objectInfo) ModTime() time.Time { return i.o.Modified }
func (i objectInfo) IsDir() bool        { return false }
func (i objectInfo) Sys() any           { return nil }

func (l *lake) listFiles(folder string) (names []string, err error) {
	if !place.IsURL(folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, errUnreadable(folder, err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		return names, nil
	}
	at, err := store.Parse(folder)
	if err != nil {
		return nil, err
	}
	at = at.WithKey(place.FolderPrefix(at.Key))
	for o, err := range l.client.List(l.ctx, at) {
		if err != nil {
			return nil, err
		}
		if name := strings.TrimPrefix(o.Key, at.Key); !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names, nil
}
