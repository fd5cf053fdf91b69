package chunkio

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Parts of a table are folders and files below its root, where a listing of them alone does
// not show that there is a table.

// tableAround is the table that the files of a folder, a path with slashes, belong to: a table
// there, or one that has the folder as a partition (key=value) or as Iceberg's data. has says
// whether the table of this kind has its root in a folder. The kind is "" for none.
func tableAround(folder string, has func(root, kind string) bool) (kind, root string) {
	at := folder
	for {
		for _, kind := range []string{deltaTable, hudiTable} {
			if has(at, kind) {
				return kind, at
			}
		}
		if !strings.Contains(path.Base(at), "=") {
			break
		}
		at = path.Dir(at)
	}
	if path.Base(at) == icebergData && has(path.Dir(at), icebergTable) {
		return icebergTable, path.Dir(at)
	}
	return "", ""
}

// rootOnDisk reports whether a folder on disk is the root of a table of this kind.
func rootOnDisk(root, kind string) bool {
	log := map[string]string{deltaTable: deltaLog, icebergTable: icebergLog, hudiTable: hudiLog}[kind]
	entries, err := os.ReadDir(filepath.Join(filepath.FromSlash(root), log))
	if err != nil || kind != icebergTable {
		return err == nil
	}
	for _, e := range entries {
		if k, _ := tableAt(icebergLog + "/" + e.Name()); k != "" {
			return true
		}
	}
	return false
}

// tableOnDisk is tableAround of a folder on disk.
func tableOnDisk(folder string) *tableError {
	at := folder
	if abs, err := filepath.Abs(folder); err == nil {
		at = abs
	}
	kind, root := tableAround(filepath.ToSlash(at), rootOnDisk)
	if kind == "" {
		return nil
	}
	if root = filepath.FromSlash(root); root == at {
		root = folder // in the user's words
	}
	return &tableError{kind, root, ""}
}

// tableInStore is tableAround of the folder that loc's key, which may have a slash at its end,
// names. Hudi's tables show in the listings of their folders, and cost no requests here. Where
// nothing may be listed, nothing is known.
func (a *access) tableInStore(ctx context.Context, loc store.Location) *tableError {
	kind, root := tableAround("/"+strings.TrimSuffix(loc.Key, "/"), func(root, kind string) bool {
		log := map[string]string{deltaTable: deltaLog, icebergTable: icebergLog}[kind]
		if log == "" {
			return false
		}
		root = keyOfFolder(root)
		for o, err := range a.client.List(ctx, loc.WithKey(root+log+"/")) {
			if err != nil {
				return false
			}
			if k, _ := tableAt(strings.TrimPrefix(o.Key, root)); k == kind {
				return true
			}
		}
		return false
	})
	if kind == "" {
		return nil
	}
	return &tableError{kind, loc.WithKey(keyOfFolder(root)).Name(), ""}
}

// tableOver is the first table of those with roots below a folder that one of the listed
// files is in.
func tableOver(list *fileList, folder store.Location, roots map[string]string) *tableError {
	if len(roots) == 0 {
		return nil
	}
	begin, _ := splitQuery(folder)
	for _, e := range list.all() {
		rel := strings.TrimPrefix(e.path, begin)
		for at := range len(rel) + 1 {
			root := rel[:at]
			if at > 0 && (at == len(rel) || rel[at] != '/') {
				continue
			}
			if kind := roots[root]; kind != "" {
				return &tableError{kind, folder.Name(), root}
			}
		}
	}
	return nil
}

// keyOfFolder is what keys in a folder, a path from the root, begin with.
func keyOfFolder(folder string) string {
	return strings.TrimPrefix(strings.TrimSuffix(folder, "/")+"/", "/")
}

// part is the refusal of a folder of which only the table around it says what is live.
func (e *tableError) part(folder string) error {
	refused := stream.Dataf(folder, "this folder is a part of the %s table %s, whose log says which files are live", e.kind, e.folder)
	refused.Remedy = e.refusal().Remedy
	if e.kind == deltaTable {
		refused.Remedy = stream.Textf("read the table, and choose the part with {where}")
	}
	return refused
}

// bareFiles warns of files on disk that belong to tables.
func bareFiles(paths []string) (warnings []stream.Text) {
	folders, tables := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		folder := filepath.Dir(p)
		if folders[folder] {
			continue
		}
		folders[folder] = true
		if table := tableOnDisk(folder); table != nil && !tables[table.folder] {
			tables[table.folder] = true
			warnings = append(warnings, table.warning())
		}
	}
	return warnings
}

// bareObject warns of an object that belongs to a table, once for its folder.
func (a *access) bareObject(ctx context.Context, loc store.Location) []stream.Text {
	folder := loc.WithKey(keyOfFolder(path.Dir("/" + loc.Key)))
	if a.looked[folder.String()] {
		return nil
	}
	a.looked[folder.String()] = true
	if table := a.tableInStore(ctx, folder); table != nil {
		return []stream.Text{table.warning()}
	}
	return nil
}
