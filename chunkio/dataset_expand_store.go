package chunkio

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// expandURL is expandPath for object stores, in which a folder is the part of a key before a slash. Listings are
// streamed: only the files to read are kept in memory, packed.
func (a *access) expandURL(ctx context.Context, arg string, found *findings) (*fileList, error) {
	loc, err := store.Parse(arg)
	if err != nil {
		return nil, err
	}
	prefix, pattern := loc.GlobPrefix()
	switch {
	case loc.IsWeb(): // a web server lists no files
	case pattern:
		return a.globStore(ctx, loc, prefix, found)
	case loc.Key == "" || strings.HasSuffix(loc.Key, "/"):
		return a.walkStore(ctx, loc, found)
	}
	o, err := a.client.Stat(ctx, loc)
	switch {
	case err == nil:
		l := new(fileList)
		l.addObject(o)
		if !loc.IsWeb() {
			l.warnings = a.warnBareObject(ctx, loc)
		}
		return l, nil
	case errors.Is(err, store.ErrNotExist) && !loc.IsWeb():
		list, folderErr := a.walkStore(ctx, loc.WithKey(loc.Key+"/"), found)
		if errors.Is(folderErr, errNoFiles) {
			e := stream.Dataf(loc.PublicName(), "there is neither an object nor a folder of this name")
			e.Remedy = stream.Textf("check the bucket and the key; inspect shows what a prefix holds")
			return nil, e
		}
		return list, folderErr
	}
	return nil, err
}

// addObject appends an object; its key must not be before the last one's.
func (l *fileList) addObject(o store.Object) {
	name, query := splitQuery(o.Location)
	l.add(name, query, o.Size, o.Version)
}

func splitQuery(l store.Location) (name, query string) {
	bare := l.WithKey("").String()
	query = bare[min(len(bare), len(l.Scheme)+len("://")+len(l.Bucket)+1):]
	return strings.TrimSuffix(l.String(), query), query
}

// errNoFiles is wrapped by the error of a folder without any files.
var errNoFiles = errors.New("no data files below it (" + strings.Join(dataEndings, ", ") + ")")

func (a *access) walkStore(ctx context.Context, loc store.Location, found *findings) (*fileList, error) {
	// Only folders with these names can be parts of tables; other folders cost no request.
	if base := path.Base(loc.Key); strings.Contains(base, "=") || base == icebergData {
		if table := a.enclosingTableInStore(ctx, loc); table != nil && table.folder != loc.PublicName() {
			return nil, table.errPart(loc.PublicName())
		}
	}
	p, before := a.newPicker(found), found.nonData.count
	for o, err := range a.client.List(ctx, loc) {
		if err != nil {
			return nil, err
		}
		rel := strings.TrimPrefix(o.Key, loc.Key)
		if kind, root := detectTable(rel); kind != "" {
			return nil, &tableError{kind, loc.PublicName(), root}
		}
		if isVisible(rel) {
			if err := p.offerObject(ctx, o); err != nil {
				return nil, err
			}
		}
	}
	if err := p.decideWaiting(ctx); err != nil {
		return nil, err
	}
	switch {
	case p.list.count > 0:
		return p.list, nil
	case found.nonData.count > before:
		return nil, found.errNoData(loc.PublicName())
	}
	return nil, stream.Dataf(loc.PublicName(), "%w", errNoFiles)
}

func (a *access) globStore(ctx context.Context, loc store.Location, prefix string, found *findings) (*fileList, error) {
	pattern := strings.TrimSuffix(loc.Key, "/")
	if fault := glob.PatternFault(pattern, doublestar.ValidatePattern(pattern)); fault != "" {
		return nil, stream.Usagef("%s: %s", loc.PublicName(), fault)
	}
	explicit := isHiddenName(path.Base(pattern))
	roots := map[string]string{} // root of each table below the prefix → kind of the table
	files, below := new(fileList), new(fileList)
	for o, err := range a.client.List(ctx, loc.WithKey(prefix)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if kind, root := detectTable(strings.TrimPrefix(o.Key, prefix)); kind != "" {
			roots[root] = kind
		}
		switch {
		case strings.HasSuffix(o.Key, "/"): // marks a folder
		case matchKey(pattern, o.Key):
			if explicit || !isHiddenName(path.Base(o.Key)) {
				files.addObject(o)
			}
		case files.count == 0:
			if folder := matchFolder(pattern, o.Key); folder != "" && isVisible(o.Key[len(folder)+1:]) {
				below.addObject(o)
			}
		}
	}
	before := found.nonData.count
	if files.count == 0 {
		var err error
		if below, err = a.pickData(ctx, below, found); err != nil {
			return nil, err
		}
	}
	chosen := files
	if files.count == 0 {
		chosen = below
	}
	table := tableCovering(chosen, loc.WithKey(prefix), roots)
	if table == nil && chosen.count > 0 { // the root of the table may be above the prefix
		table = a.enclosingTableInStore(ctx, loc.WithKey(prefix))
	}
	switch {
	case files.count > 0:
		if table != nil {
			files.warnings = append(files.warnings, table.warningText())
		}
		return files, nil
	case below.count > 0 && table != nil && table.root == "":
		return nil, table.errPart(loc.PublicName())
	case below.count > 0 && table != nil:
		return nil, table
	case below.count > 0:
		return below, nil
	case found.nonData.count > before:
		return nil, found.errNoData(loc.PublicName())
	}
	if o, err := a.client.Stat(ctx, loc); err == nil { // an object of exactly this name
		files.addObject(o)
		return files, nil
	}
	e := stream.Dataf(loc.PublicName(), "no object matches")
	e.Remedy = stream.Textf("check the bucket and the pattern: * does not stand for a slash, ** does")
	return nil, e
}

// matchKey matches a key as a shell does: a wildcard does not match a dot at the beginning of a part.
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

func matchFolder(pattern, key string) string {
	for at := range len(key) {
		if key[at] == '/' && matchKey(pattern, key[:at]) {
			return key[:at]
		}
	}
	return ""
}
