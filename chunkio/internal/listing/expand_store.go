package listing

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// expandURL resolves one object, folder or glob in a store. A folder is the part of a key before a slash. Listings are
// streamed: only the files to read are kept in memory, in the compact form of a List.
func expandURL(ctx context.Context, a *opening.Access, arg string, found *searchNotes) (*List, error) {
	loc, err := store.Parse(arg)
	if err != nil {
		return nil, err
	}
	prefix, pattern := loc.GlobPrefix()
	switch {
	case loc.IsWeb(): // a web server lists no files
	case pattern:
		return globStoreObjects(ctx, a, loc, prefix, found)
	case loc.Key == "" || strings.HasSuffix(loc.Key, "/"):
		return walkStoreFolder(ctx, a, loc, found)
	}
	o, err := a.Objects.Client.Stat(ctx, loc)
	switch {
	case err == nil:
		l := new(List)
		l.AddObject(o, nil, nil)
		if !loc.IsWeb() {
			l.Warnings = warnObjectInTable(ctx, a, loc)
		}
		return l, nil
	case errors.Is(err, store.ErrNotExist) && !loc.IsWeb():
		list, folderErr := walkStoreFolder(ctx, a, loc.WithKey(loc.Key+"/"), found)
		if errors.Is(folderErr, errNoFiles) {
			e := stream.Dataf(loc.PublicName(), "there is neither an object nor a folder of this name")
			e.Remedy = stream.Textf("check the bucket and the key; inspect shows what a prefix holds")
			return nil, e
		}
		return list, folderErr
	}
	return nil, err
}

// AddObject appends an object of a store to the list. Objects must be added in byte order of their keys.
func (l *List) AddObject(o store.Object, deleted, constants []byte) {
	name, query := SplitURLQuery(o.Location)
	l.AppendEntry(name, query, o.Size, o.Version, deleted, constants)
}

// SplitURLQuery returns a URL without its query, and the query.
func SplitURLQuery(l store.Location) (name, query string) {
	bare := l.WithKey("").String()
	query = bare[min(len(bare), len(l.Scheme)+len("://")+len(l.Bucket)+1):]
	return strings.TrimSuffix(l.String(), query), query
}

// errNoFiles is wrapped by the error of a folder without any files.
var errNoFiles = errors.New("no data files below it (" + strings.Join(DataEndings(), ", ") + ")")

func walkStoreFolder(ctx context.Context, a *opening.Access, folder store.Location, notes *searchNotes) (*List, error) {
	// Only folders with these names can be parts of tables; other folders cost no request.
	if base := path.Base(folder.Key); strings.Contains(base, "=") || base == icebergData {
		if table := findTableAroundObject(ctx, a, folder); table != nil && table.folder != folder.PublicName() {
			return nil, table.errInsideTable(folder.PublicName())
		}
	}
	p, before := newObjectPicker(a, notes), notes.nonData.count
	for o, err := range a.Objects.Client.List(ctx, folder) {
		if err != nil {
			return nil, err
		}
		rel := strings.TrimPrefix(o.Key, folder.Key)
		if kind, root := detectTable(rel); kind != "" {
			return nil, &tableError{kind, folder.PublicName(), root}
		}
		if isVisible(rel) {
			if err := p.addCandidate(ctx, o); err != nil {
				return nil, err
			}
		}
	}
	if err := p.decideWaitingObjects(ctx); err != nil {
		return nil, err
	}
	switch {
	case p.list.Count > 0:
		return p.list, nil
	case notes.nonData.count > before:
		return nil, notes.errNoData(folder.PublicName())
	}
	return nil, stream.Dataf(folder.PublicName(), "%w", errNoFiles)
}

func globStoreObjects(ctx context.Context, a *opening.Access, location store.Location, keyPrefix string, notes *searchNotes) (*List, error) {
	pattern := strings.TrimSuffix(location.Key, "/")
	if fault := glob.PatternFault(pattern, doublestar.ValidatePattern(pattern)); fault != "" {
		return nil, stream.Usagef("%s: %s", location.PublicName(), fault)
	}
	explicit := IsHiddenName(path.Base(pattern))
	roots := map[string]string{} // root of each table below the prefix → kind of the table
	files, below := new(List), new(List)
	for o, err := range a.Objects.Client.List(ctx, location.WithKey(keyPrefix)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if kind, root := detectTable(strings.TrimPrefix(o.Key, keyPrefix)); kind != "" {
			roots[root] = kind
		}
		switch {
		case strings.HasSuffix(o.Key, "/"): // marks a folder
		case matchKey(pattern, o.Key):
			if explicit || !IsHiddenName(path.Base(o.Key)) {
				files.AddObject(o, nil, nil)
			}
		case files.Count == 0:
			if folder := folderMatchingPattern(pattern, o.Key); folder != "" && isVisible(o.Key[len(folder)+1:]) {
				below.AddObject(o, nil, nil)
			}
		}
	}
	before := notes.nonData.count
	if files.Count == 0 {
		var err error
		if below, err = pickDataObjects(ctx, a, below, notes); err != nil {
			return nil, err
		}
	}
	chosen := files
	if files.Count == 0 {
		chosen = below
	}
	table := findTableOfEntries(chosen, location.WithKey(keyPrefix), roots)
	if table == nil && chosen.Count > 0 { // the root of the table may be above the prefix
		table = findTableAroundObject(ctx, a, location.WithKey(keyPrefix))
	}
	switch {
	case files.Count > 0:
		if table != nil {
			files.Warnings = append(files.Warnings, table.toWarning())
		}
		return files, nil
	case below.Count > 0 && table != nil && table.root == "":
		return nil, table.errInsideTable(location.PublicName())
	case below.Count > 0 && table != nil:
		return nil, table
	case below.Count > 0:
		return below, nil
	case notes.nonData.count > before:
		return nil, notes.errNoData(location.PublicName())
	}
	if o, err := a.Objects.Client.Stat(ctx, location); err == nil { // an object of exactly this name
		files.AddObject(o, nil, nil)
		return files, nil
	}
	e := stream.Dataf(location.PublicName(), "no object matches")
	e.Remedy = stream.Textf("check the bucket and the pattern: * does not stand for a slash, ** does")
	return nil, e
}

// matchKey matches a key as a shell does: a wildcard does not match a dot at the beginning or after a slash.
func matchKey(pattern, key string) bool {
	if !doublestar.MatchUnvalidated(pattern, key) {
		return false
	}
	for part := range strings.SplitSeq(key, "/") {
		if strings.HasPrefix(part, ".") && !strings.Contains(pattern, part) {
			return false
		}
	}
	return true
}

func folderMatchingPattern(pattern, key string) string {
	for at := range len(key) {
		if key[at] == '/' && matchKey(pattern, key[:at]) {
			return key[:at]
		}
	}
	return ""
}
