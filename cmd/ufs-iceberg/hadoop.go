package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Patterns of the names of metadata files. If there is no catalog, the file with the highest version is the newest: v7
// is newer than v6. With a catalog only the catalog knows for certain which file is the newest.
var (
	versionedName = regexp.MustCompile(`^v(\d+)(\.gz|\.zstd)?\.metadata\.json(\.gz|\.zstd)?$`)
	numberedName  = regexp.MustCompile(`^(\d{5,})-.+\.metadata\.json(\.gz|\.zstd)?$`) // mostly with a UUID
)

func openHadoop(ctx context.Context, q request) (*table.Table, *lake, error) {
	at := q.table
	if q.warehouse != "" && !strings.ContainsAny(at, "/\\") {
		at = place.JoinBelow(q.warehouse, filepath.FromSlash(strings.ReplaceAll(at, ".", "/")))
	}
	l := newLake(ctx, q)
	var err error
	if place.IsURL(at) {
		loc, err := store.Parse(at)
		if err != nil {
			return nil, nil, err
		}
		at = loc.String() // a URL with its parameters in a fixed order
	} else {
		if at, err = place.LocalPath(at); err != nil {
			return nil, nil, err
		}
		if at, err = filepath.Abs(at); err != nil {
			return nil, nil, errUnreadable(q.table, err)
		}
	}
	folder := at
	if strings.Contains(place.Base(at), ".metadata.json") {
		folder = tableFolder(at)
	} else if at, err = l.newestMetadata(at); err != nil {
		return nil, nil, err
	}
	if l.scope, err = place.NewScope(l.table, []string{folder}, q.allow); err != nil {
		return nil, nil, err
	}
	name := at
	if place.IsURL(at) { // iceberg-go detects compression by the name of the file
		loc, err := store.Parse(at)
		name = loc.WithoutParameters().String()
		if again, refused := l.resolvePlace(name); err != nil || refused != nil || again != at {
			return nil, nil, stream.Usagef("%s: metadata are opened by s3://, gs://, azblob:// or a path", place.DisplayName(at))
		}
	}
	t, err := table.NewFromLocation(ctx, table.Identifier{place.DisplayName(q.table)}, name, func(context.Context) (icebergio.IO, error) { return l, nil }, nil)
	if err != nil {
		return nil, nil, asDataError(name, "these metadata of an Iceberg table cannot be read", err)
	}
	root := strings.TrimPrefix(t.Metadata().Location(), "./")
	scheme, _, isURL := strings.Cut(root, "://")
	if _, err := parseLocation(root); err != nil && !place.IsURL(folder) && (!isURL || scheme == "file") {
		l.relativeRoot, l.folder = strings.TrimSuffix(root, "/"), filepath.ToSlash(folder)
	}
	return t, l, nil
}

func (l *lake) newestMetadata(folder string) (string, error) {
	below := place.JoinBelow(folder, "metadata")
	names, err := l.listFiles(below)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	find := func(pattern *regexp.Regexp) (best int, found []string) {
		for _, name := range names {
			m := pattern.FindStringSubmatch(name)
			if m == nil {
				continue
			}
			switch n, err := strconv.Atoi(m[1]); {
			case err != nil:
			case len(found) == 0 || n > best:
				best, found = n, []string{name}
			case n == best:
				found = append(found, name)
			}
		}
		slices.Sort(found)
		return best, found
	}
	version, hadoop := find(versionedName)
	_, cataloged := find(numberedName)
	ambiguous := func(what string) error {
		e := stream.Dataf(place.DisplayName(below), "%s, so the folder does not tell which metadata are the table's newest", what)
		e.Remedy = stream.Textf("ask its catalog ({catalog} rest or glue), or give the metadata file itself as TABLE")
		return e
	}
	switch {
	case len(hadoop) == 0 && len(cataloged) == 0:
		e := stream.Dataf(place.DisplayName(folder), "this is no Iceberg table: below metadata/ is no metadata file whose name tells its version")
		e.Remedy = stream.Textf("give the table's folder, a metadata file, or {catalog} rest or glue with namespace.table")
		return "", e
	case len(hadoop) > 0 && len(cataloged) > 0:
		return "", ambiguous(fmt.Sprintf("there are %s and %s, of two kinds of catalogs", hadoop[0], cataloged[0]))
	case len(cataloged) > 1:
		return "", ambiguous(fmt.Sprintf("%s and %s have the same number", cataloged[0], cataloged[1]))
	case len(cataloged) == 1:
		return place.JoinBelow(below, cataloged[0]), nil
	case len(hadoop) > 1:
		return "", ambiguous(fmt.Sprintf("%s and %s have the same number", hadoop[0], hadoop[1]))
	}
	// If a writer has not updated the hint yet, there may be newer metadata than the hint names. If the hint names a
	// version higher than the versions of all metadata files, it belongs to another table, or metadata were lost.
	if slices.Contains(names, "version-hint.text") {
		text, err := l.readResolved(place.JoinBelow(below, "version-hint.text"))
		if err != nil {
			return "", err
		}
		hint, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil && hint > version {
			return "", stream.Dataf(place.DisplayName(below), "version-hint.text says that the newest metadata are version %d, and the newest file here is %s", hint, hadoop[0])
		}
	}
	return place.JoinBelow(below, hadoop[0]), nil
}

func asDataError(at, what string, err error) error {
	var (
		data   *stream.DataError
		usage  *stream.UsageError
		memory *stream.MemoryError
	)
	if errors.As(err, &data) || errors.As(err, &usage) || errors.As(err, &memory) || errors.Is(err, context.Canceled) {
		return err
	}
	return stream.Dataf(place.DisplayName(at), what+": %w", err)
}
