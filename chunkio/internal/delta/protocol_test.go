package delta

import (
	"fmt"
	"strings"
	"testing"
)

// Features that the data files need and this package lacks are refused by name; features that change nothing for it
// are read.
func TestProtocol(t *testing.T) {
	features := func(names string) string {
		return fmt.Sprintf(`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[%s]}}`, names)
	}
	meta := func(key, value string) string {
		return fmt.Sprintf(`{"metaData":{"format":{"provider":"parquet"},"partitionColumns":[],"configuration":{%q:%q}}}`, key, value)
	}
	version := func(v int) string {
		return fmt.Sprintf(`{"protocol":{"minReaderVersion":%d,"minWriterVersion":7}}`, v)
	}
	for _, c := range []struct{ protocol, meta, refused string }{
		{version(1), metaLine, ""},
		{version(2), metaLine, ""},
		{version(3), metaLine, ""},
		{version(0), metaLine, "version 0 of the Delta protocol"},
		{version(4), metaLine, "version 4 of the Delta protocol"},
		{features(`"timestampNtz","vacuumProtocolCheck","v2Checkpoint","deletionVectors","columnMapping"`), metaLine, ""},
		{features(`"typeWidening","typeWidening-preview"`), metaLine, ""},
		{features(`"timestampNtz","variantType","catalogManaged"`), metaLine, "table features variantType, catalogManaged,"},
		{features(`"fromTheFuture"`), `{"metaData":{"partitionColumns":[]}}`, "table feature fromTheFuture,"},
		{version(1), meta(columnMappingKey, "name"), ""}, // the property means nothing there
		{features(`"timestampNtz"`), meta(columnMappingKey, "name"), ""},
		{version(2), meta(columnMappingKey, "none"), ""},
		{version(2), meta(columnMappingKey, "name"), "columnMapping"},
		{features(`"columnMapping"`), meta(columnMappingKey, "id"), "columnMapping (delta.columnMapping.mode is id)"},
		{version(1), strings.ReplaceAll(metaLine, "parquet", "orc"), `format "orc"`},
	} {
		m := newFolder()
		m.commit(0, c.protocol, c.meta, addLine("x"))
		got, err := read(t, m, -1)
		switch {
		case c.refused != "":
			wantData(t, c.protocol, err, "", c.refused, "ufs-stream", "write a plain copy", "delta.`shop/orders`")
		case err != nil || len(got.Files) != 1:
			t.Errorf("%s %s: reading gives %v, error %v, want one file", c.protocol, c.meta, got, err)
		}
	}
	for _, c := range [][2]string{{protocolLine, "metaData"}, {metaLine, "protocol"}} {
		m := newFolder()
		m.commit(0, c[0], addLine("x"))
		_, err := read(t, m, -1)
		wantData(t, c[0], err, logFolder, "has no "+c[1]+" action")
	}
}

// A table may have deletion vectors, but no live file may carry one. A vector makes
// another file of the same path.
func TestDeletionVectors(t *testing.T) {
	const vector = `"deletionVector":{"storageType":"u","pathOrInlineDv":"abc","offset":%d,"sizeInBytes":4,"cardinality":2}`
	with := func(line string, offset int) string {
		return strings.Replace(line, `"path"`, fmt.Sprintf(vector, offset)+`,"path"`, 1)
	}
	m := newFolder()
	m.commit(0, `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"]}}`, metaLine, addLine("b"), addLine("a"), addLine("c"))
	m.commit(1, with(addLine("b"), 1), removeLine("b"), removeLine("c"), with(addLine("c"), 1))
	m.commit(2, removeLine("b"), with(removeLine("b"), 2)) // other keys: neither is live
	m.commit(3, with(removeLine("b"), 1), with(addLine("b"), 7))
	m.commit(4, with(removeLine("b"), 7), addLine("new"), with(removeLine("c"), 1))
	for version, refused := range []bool{false, true, true, true, false} {
		got, err := read(t, m, int64(version))
		switch {
		case refused:
			wantData(t, fmt.Sprint(version), err, "b", "deletionVectors", "REORG TABLE delta.`shop/orders` APPLY (PURGE)")
		case err != nil:
			t.Errorf("version %d: %v", version, err)
		case version == 4 && (len(got.Files) != 2 || got.Files[0].Path != "a" || got.Files[1].Path != "new"):
			t.Errorf("version 4: %+v", got.Files)
		}
	}

	// The same in a checkpoint.
	for _, vector := range []any{nil, row{"storageType": "u", "pathOrInlineDv": "abc", "offset": 1}} {
		h := newHistory(12, 1)
		m := newFolder()
		rows := append(h.otherRows(0), row{"add": row{"path": "b", "size": 1, "deletionVector": vector}})
		m.files[fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 0)] = writeRows(t, checkpointFields(false), rows, 10)
		_, err := read(t, m, -1)
		if vector == nil && err != nil {
			t.Errorf("reading a file without a deletion vector: %v", err)
		} else if vector != nil {
			wantData(t, "checkpoint", err, "b", "deletionVectors")
		}
	}
}
