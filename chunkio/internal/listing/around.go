package listing

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A listing of a folder inside a table does not show the table, so the functions below search the folders above it.

// findEnclosingTable finds the table that the files of a folder, a path with slashes, belong to: the folder is its
// root, one of its partitions (key=value), or the data folder of an Iceberg table. isRoot reports whether a folder is
// the root of a table of the given kind, such as Delta. Both results are "" if there is no such table.
func findEnclosingTable(folder string, isRoot func(root, kind string) bool) (kind, root string) {
	at := folder
	for {
		for _, kind := range []string{deltaTable, hudiTable} {
			if isRoot(at, kind) {
				return kind, at
			}
		}
		if !strings.Contains(path.Base(at), "=") {
			break
		}
		at = path.Dir(at)
	}
	if path.Base(at) == icebergData && isRoot(path.Dir(at), icebergTable) {
		return icebergTable, path.Dir(at)
	}
	return "", ""
}

func hasTableLogOnDisk(root, tableKind string) bool {
	log := map[string]string{deltaTable: deltaLog, icebergTable: icebergLog, hudiTable: hudiLog}[tableKind]
	entries, err := os.ReadDir(filepath.Join(filepath.FromSlash(root), log))
	if err != nil || tableKind != icebergTable {
		return err == nil
	}
	for _, e := range entries {
		if k, _ := detectTable(icebergLog + "/" + e.Name()); k != "" {
			return true
		}
	}
	return false
}

func findTableAroundFolder(folder string) *tableError {
	at := folder
	if abs, err := filepath.Abs(folder); err == nil {
		at = abs
	}
	kind, root := findEnclosingTable(filepath.ToSlash(at), hasTableLogOnDisk)
	if kind == "" {
		return nil
	}
	if root = filepath.FromSlash(root); root == at {
		root = folder // the root as the user named it
	}
	return &tableError{kind, root, ""}
}

// findTableAroundObject looks for the table to which the folder named by loc's key belongs; the key may end with a
// slash. It sends no requests for Hudi tables, because a listing of one of their folders already shows the table. If
// listing is not allowed, it finds no table.
func findTableAroundObject(ctx context.Context, a *opening.Access, loc store.Location) *tableError {
	kind, root := findEnclosingTable("/"+strings.TrimSuffix(loc.Key, "/"), func(root, kind string) bool {
		log := map[string]string{deltaTable: deltaLog, icebergTable: icebergLog}[kind]
		if log == "" {
			return false
		}
		root = folderKeyPrefix(root)
		for o, err := range a.Objects.Client.List(ctx, loc.WithKey(root+log+"/")) {
			if err != nil {
				return false
			}
			if k, _ := detectTable(strings.TrimPrefix(o.Key, root)); k == kind {
				return true
			}
		}
		return false
	})
	if kind == "" {
		return nil
	}
	return &tableError{kind, loc.WithKey(folderKeyPrefix(root)).PublicName(), ""}
}

func findTableOfEntries(list *List, folder store.Location, rootsByKind map[string]string) *tableError {
	if len(rootsByKind) == 0 {
		return nil
	}
	begin, _ := SplitURLQuery(folder)
	for _, e := range list.Entries() {
		rel := strings.TrimPrefix(e.Path, begin)
		for at := range len(rel) + 1 {
			root := rel[:at]
			if at > 0 && (at == len(rel) || rel[at] != '/') {
				continue
			}
			if kind := rootsByKind[root]; kind != "" {
				return &tableError{kind, folder.PublicName(), root}
			}
		}
	}
	return nil
}

// folderKeyPrefix returns the prefix that all keys of objects in a folder have. The folder is a path from the root of
// its bucket.
func folderKeyPrefix(folder string) string {
	return strings.TrimPrefix(strings.TrimSuffix(folder, "/")+"/", "/")
}

// errInsideTable returns the error for a folder inside a table: only the table's log shows which of its files are live.
func (e *tableError) errInsideTable(folder string) error {
	refused := stream.Dataf(folder, "this folder is a part of the %s table %s, whose log says which files are live", e.kind, e.folder)
	refused.Remedy = e.toDataError().Remedy
	if e.kind == deltaTable {
		refused.Remedy = stream.Textf("read the table, and choose the part with {where}")
	}
	return refused
}

func warnFilesInTables(paths []string) (warnings []stream.Text) {
	folders, tables := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		folder := filepath.Dir(p)
		if folders[folder] {
			continue
		}
		folders[folder] = true
		if table := findTableAroundFolder(folder); table != nil && !tables[table.folder] {
			tables[table.folder] = true
			warnings = append(warnings, table.toWarning())
		}
	}
	return warnings
}

func warnObjectInTable(ctx context.Context, a *opening.Access, object store.Location) []stream.Text {
	folder := object.WithKey(folderKeyPrefix(path.Dir("/" + object.Key)))
	if a.SearchedFolders[folder.String()] {
		return nil
	}
	a.SearchedFolders[folder.String()] = true
	if table := findTableAroundObject(ctx, a, folder); table != nil {
		return []stream.Text{table.toWarning()}
	}
	return nil
}
