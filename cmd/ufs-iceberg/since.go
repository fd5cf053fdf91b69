package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// findSince returns the snapshot that {since} names, by its ID or by a file that is of it. It must be an ancestor of now,
// and have the same columns. The parameter described is the table as the plan describes it.
func findSince(ctx context.Context, l *lake, t *table.Table, now *snapshot, described *stream.Table, q request) (*snapshot, error) {
	name, shown := place.DisplayName(q.table), place.DisplayName(q.since)
	recorded := &stream.Table{ID: described.ID, Path: described.Path, Format: described.Format}
	var err error
	if recorded.Version, err = strconv.ParseInt(q.since, 10, 64); err != nil {
		if recorded, err = readTableOfFile(ctx, l, q.since, int64(q.memory)); err != nil {
			return nil, err
		}
	}
	switch {
	case recorded == nil || recorded.Format != described.Format:
		return nil, stream.Usagef("{since} %s: this file is of no snapshot of an Iceberg table; scan the whole table, and continue from that", shown)
	case !recorded.IsSame(described):
		return nil, stream.Usagef("{since} %s: this file is of another table, %s; scan the whole table, and continue from that", shown, recorded.Path)
	case t.SnapshotByID(recorded.Version) == nil:
		return nil, stream.Usagef("{since} %s: %s has no snapshot %d, or it has expired%s; scan the whole table", shown, name, recorded.Version, lastSnapshots(t))
	}
	ancestors, isComplete := table.AncestorsOfChecked(now.SnapshotID, t.SnapshotByID)
	// If snapshots in between have expired, this is unknown. The two snapshots differ by their files all the same.
	if isComplete && !slices.ContainsFunc(ancestors, func(s table.Snapshot) bool { return s.SnapshotID == recorded.Version }) {
		return nil, stream.Usagef("{since} %s: snapshot %d is no ancestor of snapshot %d: it is of another branch, or the table was rolled back; scan the whole table", shown, recorded.Version, now.SnapshotID)
	}
	then, err := chooseSnapshot(t, name, request{snapshot: recorded.Version})
	if err != nil {
		return nil, err
	}
	if err := checkSameColumns(t, then, now, recorded.Schema, described.Schema); err != nil {
		return nil, stream.Usagef("{since} %s: %w; scan the whole table", shown, err)
	}
	return then, nil
}

func checkSameColumns(t *table.Table, then, now *snapshot, recorded, current string) error {
	old := then.schema
	if recorded == "" { // only the ID of the snapshot is known
		var err error
		if recorded, err = schemaDigest(old); err != nil {
			return err
		}
	}
	if recorded == current {
		return nil
	}
	for _, s := range t.Metadata().Schemas() {
		if digest, err := schemaDigest(s); err == nil && digest == recorded {
			old = s
		}
	}
	changes := listColumnChanges("", old.AsStruct().FieldList, now.schema.AsStruct().FieldList)
	const shown = 5
	switch n := len(changes); {
	case n == 0:
		changes = []string{"their order, or a schema that the table does not have any more"}
	case n > shown:
		changes = append(changes[:shown], "…")
	}
	return fmt.Errorf("the table's columns have changed since then: %s", strings.Join(changes, ", "))
}

func listColumnChanges(prefix string, old, now []iceberg.NestedField) (changes []string) {
	find := func(fields []iceberg.NestedField, id int) *iceberg.NestedField {
		if at := slices.IndexFunc(fields, func(f iceberg.NestedField) bool { return f.ID == id }); at >= 0 {
			return &fields[at]
		}
		return nil
	}
	for _, f := range old {
		n := find(now, f.ID)
		if n == nil {
			changes = append(changes, fmt.Sprintf("%q was dropped", prefix+f.Name))
			continue
		}
		if n.Name != f.Name {
			changes = append(changes, fmt.Sprintf("%q was renamed to %q", prefix+f.Name, prefix+n.Name))
		}
		a, isStruct := f.Type.(*iceberg.StructType)
		if b, ok := n.Type.(*iceberg.StructType); ok && isStruct {
			changes = append(changes, listColumnChanges(prefix+f.Name+".", a.FieldList, b.FieldList)...)
		} else if !f.Type.Equals(n.Type) {
			changes = append(changes, fmt.Sprintf("%q was %s and is %s", prefix+f.Name, f.Type, n.Type))
		}
	}
	for _, n := range now {
		if find(old, n.ID) == nil {
			changes = append(changes, fmt.Sprintf("%q was added", prefix+n.Name))
		}
	}
	return changes
}

func schemaDigest(s *iceberg.Schema) (string, error) {
	translated, err := columnsOfPlan(s.AsStruct().FieldList, nil)
	if err != nil {
		return "", err
	}
	schema, err := columns.NewSchema(translated)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(schema.Digest, 16), nil // columns of Iceberg have IDs, so that the digest is set
}

func readTableOfFile(ctx context.Context, l *lake, path string, limit int64) (*stream.Table, error) {
	shown := place.DisplayName(path)
	in, err := l.openResolved(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stream.Usagef("{since} %s: want the ID of a snapshot, or a plan or statistics file that is of one, and there is no such file", shown)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if strings.HasSuffix(path, planfile.Ending) {
		r, err := planfile.OpenWithin(ctx, in, limit)
		if err != nil {
			return nil, asDataError(shown, "this plan cannot be read", err)
		}
		return r.Header.Table, nil
	}
	t, err := readTableOfStats(in, shown, limit)
	if err != nil {
		return nil, asDataError(shown, "this statistics file cannot be read", err)
	}
	return t, nil
}

// readTableOfStats reads the header of a statistics file: see docs/statistics-file.md. Package chunkio, which has the other
// reader, cannot be linked with iceberg-go.
func readTableOfStats(in icebergio.File, shown string, limit int64) (*stream.Table, error) {
	const magic, version = "ufsstats", 1
	head := make([]byte, len(magic)+8)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, errors.New("it is no statistics file: it does not begin with " + magic)
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return nil, fmt.Errorf("it has the format version %d, and this program reads %d", v, version)
	}
	length := int64(binary.LittleEndian.Uint32(head[len(magic)+4:]))
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if length > info.Size() {
		return nil, errors.New("it ends early")
	}
	if need := 2 * length; need > limit { // the text, and at most as much of it as strings
		return nil, &stream.MemoryError{What: "the header of " + shown, Need: need, Limit: limit}
	}
	text := make([]byte, length+8)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, errors.New("it ends early")
	}
	text, check := text[:length], text[length:]
	if xxhash.Sum64(text) != binary.LittleEndian.Uint64(check) {
		return nil, errors.New("the checksum of its header is wrong")
	}
	var h struct {
		Table *stream.Table `json:"table"`
	}
	err = json.Unmarshal(text, &h)
	return h.Table, err
}
