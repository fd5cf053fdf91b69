package listing

import (
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A table of a data lake is more than the files below its folder: its log decides which of them are live. Without the
// log, replaced or deleted files would count again.

// DeltaScheme in front of the path or URL of a folder means the Delta table in this folder.
const DeltaScheme = "delta://"

// Names of the folders and files by which a Delta, Iceberg or Hudi table is recognized. icebergData is the folder with
// the data files of an Iceberg table, and hudiMark is a file in each folder of a partition of a Hudi table.
const (
	deltaLog = "_delta_log"

	icebergLog = "metadata"

	icebergData = "data"

	hudiLog = ".hoodie"

	hudiMark = ".hoodie_partition_metadata"
)

const (
	deltaTable = "Delta"

	icebergTable = "Iceberg"

	hudiTable = "Hudi"
)

// detectTable recognizes a table by the path of one of its files. The path is below a folder and has slashes. It
// returns the table's format and its root below the folder; both are empty if the path shows no table.
func detectTable(rel string) (kind, root string) {
	parts := strings.Split(rel, "/")
	for i, p := range parts[:len(parts)-1] {
		switch {
		case p == deltaLog:
			kind = deltaTable
		case p == hudiLog:
			kind = hudiTable
		case p == icebergLog && i == len(parts)-2 && strings.HasSuffix(parts[i+1], ".metadata.json"):
			kind = icebergTable
		default:
			continue
		}
		return kind, strings.Join(parts[:i], "/")
	}
	if last := len(parts) - 1; parts[last] == hudiMark {
		return hudiTable, strings.Join(parts[:last], "/")
	}
	return "", ""
}

// tableError is the error of a folder that was given as a folder of files, but contains a table.
type tableError struct {
	kind, folder, root string // root is relative to folder; empty if the table is folder itself
}

func (e *tableError) Error() string { return e.toDataError().Error() }

func (e *tableError) toDataError() *stream.DataError {
	at := e.folder
	if e.root != "" {
		at = place.JoinBelow(e.folder, filepath.FromSlash(e.root))
	}
	refused := stream.Dataf(at, "this is %s %s table, whose log says which files are live", indefiniteArticle(e.kind), e.kind)
	switch e.kind {
	case deltaTable:
		refused.Remedy = stream.Textf("read it by itself, delta://%s", at)
	case icebergTable:
		refused.Remedy = stream.Textf("make a plan of it, ufs-iceberg %s {o} t.plan.json, and read that, ufs-stream select {plan} t.plan.json; ufs-iceberg comes with ufs-stream (cmd/ufs-iceberg)", at)
	case hudiTable:
		refused.Remedy = stream.Textf("list the files of its newest commit and read them as @list.txt, or write a plain copy")
	}
	return refused
}

func (e *tableError) toWarning() stream.Text {
	refused := e.toDataError()
	return stream.Textf("files of the %s table %s are read as they lie, without its log: deleted rows may be among them", e.kind, refused.Path)
}

func indefiniteArticle(tableKind string) string {
	if tableKind == icebergTable {
		return "an"
	}
	return "a"
}
