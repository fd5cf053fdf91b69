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
		{features(`"variantType","variantType-preview","variantShredding","variantShredding-preview"`), metaLine, ""},
		{features(`"timestampNtz","catalogOwned-preview","catalogManaged"`), metaLine, "table features catalogOwned-preview, catalogManaged,"},
		{features(`"fromTheFuture"`), `{"metaData":{"partitionColumns":[]}}`, "table feature fromTheFuture,"},
		{version(1), meta(columnMappingKey, "name"), ""}, // the property means nothing there
		{features(`"timestampNtz"`), meta(columnMappingKey, "name"), ""},
		{version(2), meta(columnMappingKey, "none"), ""},
		{version(2), meta(columnMappingKey, "position"), `column mapping of mode "position" (delta.columnMapping.mode)`},
		{features(`"columnMapping"`), meta(columnMappingKey, "both"), `column mapping of mode "both"`},
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
