package listing

import (
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// finder describes an input argument that is searched for files: a folder or a glob. An output among these files would
// be read as input the next time.
type finder struct {
	argument     string
	folder       string // the argument if it is a folder, or its part before the pattern
	pattern      string // pattern of paths below the folder; empty if all data files in it are read
	matchesFiles bool   // the pattern matches files, which are read; otherwise folders, whose data files are read
	findsAll     bool   // every file below the folder is read
}

// logFinder makes a finder for the log of a Delta table: any file in it may change the table.
func logFinder(table string) finder {
	root := strings.TrimPrefix(table, DeltaScheme)
	return finder{argument: root, folder: place.JoinBelow(root, deltaLog), pattern: "**", findsAll: true}
}

func newFinder(argument string, found *List, foundPaths []string) (f finder, ok bool) {
	f = finder{argument: argument, folder: argument}
	if !store.IsURL(argument) {
		local, err := place.LocalPath(argument)
		if err != nil || len(foundPaths) == 0 || foundPaths[0] == local {
			return finder{}, false
		}
		f.folder = local
		if _, err := os.Stat(local); err != nil {
			f.folder, f.pattern = doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(local)))
			first, err := filepath.Rel(f.folder, foundPaths[0])
			f.matchesFiles = err == nil && matchKey(f.pattern, filepath.ToSlash(first))
		}
		return f, true
	}
	l, err := store.Parse(argument)
	if err != nil || found == nil || found.Count == 0 || found.EntryAt(0).Path == l.String() {
		return finder{}, false
	}
	if _, pattern := l.GlobPrefix(); pattern {
		var folder string
		if folder, f.pattern = doublestar.SplitPattern(strings.TrimSuffix(l.Key, "/")); folder == "." {
			folder = ""
		}
		f.folder = l.WithKey(folder).String()
		first, ok := place.RelativePath(f.folder, found.EntryAt(0).Path)
		f.matchesFiles = ok && matchKey(f.pattern, first)
	}
	return f, true
}

// canFind reports whether a search by the input argument would find a file at the path rel below its folder.
func (f *finder) canFind(rel string) bool {
	switch {
	case f.findsAll:
		return true
	case f.pattern == "":
		return isVisible(rel) && isNotOwnResult(rel)
	case matchKey(f.pattern, rel):
		return IsHiddenName(path.Base(f.pattern)) || !IsHiddenName(path.Base(rel))
	case f.matchesFiles:
		return false
	}
	folder := folderMatchingPattern(f.pattern, rel)
	return folder != "" && isVisible(rel[len(folder)+1:]) && isNotOwnResult(rel)
}

// CheckOutput refuses an output that the inputs would include the next time. The output is the file out or, if below is
// not nil, the files in the folder out at the paths that are the values of below.
func (l *List) CheckOutput(out string, below map[string]string) error {
	if out == "" || out == "-" {
		return nil
	}
	for _, f := range l.finders {
		rel, ok := place.RelativePath(f.folder, out)
		if !ok {
			continue
		}
		taken := below == nil && f.canFind(rel)
		for file := range maps.Values(below) {
			if taken = f.canFind(path.Join(rel, file)); taken {
				break
			}
		}
		switch {
		case !taken:
		case f.pattern != "":
			return stream.Usagef("{o} %s: the input %s matches this as well and would take it in the next time; name a place that it does not match", place.DisplayName(out), place.DisplayName(f.argument))
		default:
			dir, base := path.Split(rel)
			return stream.Usagef("{o} %s: this lies in the input %s, which would take it in the next time; name a place outside of that, or one that begins with _ or ., as %s",
				place.DisplayName(out), place.DisplayName(f.argument), place.DisplayName(place.JoinBelow(f.folder, filepath.FromSlash(dir+"_"+base))))
		}
	}
	return nil
}

// RefuseAsOutput refuses an output that would replace an input, or that the inputs would include the next time.
func (l *List) RefuseAsOutput(ctx context.Context, out string, stdin io.Reader, others []string) error {
	if err := atomicfile.CheckNotInput(ctx, out, append(l.SourcePaths(), others...)...); err != nil {
		return err
	}
	if l.IsStdin() {
		if err := opening.RefuseStdinFile(out, stdin); err != nil {
			return err
		}
	}
	return l.CheckOutput(out, nil)
}
