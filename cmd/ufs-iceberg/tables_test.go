package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Tables of other writers are read as iceberg-go reads them, and as the tests of their owners demand. Their metadata have
// locations that are relative to another folder, so they mean the folder in which the tables are.
func TestTablesOfOthers(t *testing.T) {
	for name, rows := range map[string]int{"equality_deletes": 2, "legacy_v1": 3} {
		dir := filepath.Join("testdata", "tables", name)
		table, _, err := openHadoop(t.Context(), request{table: dir, catalog: hadoopCatalog})
		must.Do(t, err)
		if got := sameAsScan(t, name, table, mustPlan(t, dir)); got != rows {
			t.Errorf("%s: %d rows, want %d", name, got, rows)
		}
	}
}

// A relative location of a table leads into its folder, and not out of it.
func TestRelativeLocations(t *testing.T) {
	s := local(t, events(), nil, nil)
	s.append([]row{{"id": int64(1), "x0": 2.0}})
	dir := s.current.Location()
	newest := filepath.Join(dir, "metadata", "v2.metadata.json")
	text := string(must.Get(os.ReadFile(newest))(t))
	for root, says := range map[string]string{"wh/t": "", "./wh/t": "", "file://wh/t": "", "wh/t/../..": "not in its own place", "wh/../t": "without saying from where"} {
		changed := strings.ReplaceAll(text, dir+"/metadata", root+"/metadata")
		changed = strings.Replace(changed, `"location":"`+dir+`"`, `"location":"`+strings.TrimSuffix(strings.ReplaceAll(root, "wh/../t", "wh/t"), "/../..")+`"`, 1)
		must.Do(t, os.WriteFile(newest, []byte(changed), 0o600))
		if says != "" {
			refused(t, 3, []string{dir}, says)
			continue
		}
		if _, files := readPlan(t, mustPlan(t, dir)); !strings.HasPrefix(files[0].Path, dir) {
			t.Errorf("location %s: the plan has the file %s", root, files[0].Path)
		}
	}
}

// The number of a metadata file tells which is the newest, whatever follows it.
func TestNumberedMetadata(t *testing.T) {
	s := local(t, events(), nil, nil)
	first := s.append([]row{{"id": int64(1), "x0": 2.0}})
	s.append([]row{{"id": int64(2), "x0": 2.0}})
	dir := s.current.Location()
	at := func(name string) string { return filepath.Join(dir, "metadata", name) }
	must.Do(t, os.Rename(at("v3.metadata.json"), at("00001-0df07f41-5a36-4fff-9a8e-a9fde9817a98.metadata.json")))
	must.Do(t, os.Rename(at("v2.metadata.json"), at("00002-restored.metadata.json")))
	must.Do(t, os.Remove(at("v1.metadata.json")))
	if h, _ := readPlan(t, mustPlan(t, dir)); h.Table.Version != first {
		t.Errorf("the plan is of snapshot %d, want %d of the metadata with the highest number", h.Table.Version, first)
	}
}

// The values of partitions have texts that ufs-stream reads as the same values, or are refused.
func TestPartitionTexts(t *testing.T) {
	p := iceberg.PrimitiveTypes
	decimal := func(unscaled int64, scale int) iceberg.Decimal {
		return iceberg.Decimal{Val: decimal128.FromI64(unscaled), Scale: scale}
	}
	for _, c := range []struct {
		typ   iceberg.Type
		value any
		want  string // empty if it is refused
	}{
		{p.Bool, true, "true"}, {p.Int32, int32(-7), "-7"}, {p.Int64, int32(7), "7"}, {p.Int64, int64(math.MinInt64), "-9223372036854775808"},
		{p.Float32, float32(0.1), "0.10000000149011612"}, {p.Float64, 1e300, "1e+300"}, {p.Float64, float32(0.5), "0.5"}, {p.Float64, math.NaN(), ""}, {p.Float64, math.Inf(1), ""},
		{p.String, "ß", "ß"}, {p.String, "", ""}, {p.String, nullKey, ""}, {p.Date, iceberg.Date(1), "1970-01-02"}, {p.Date, int32(1), ""},
		{iceberg.DecimalTypeOf(9, 2), decimal(-12345, 2), "-123.45"}, {iceberg.DecimalTypeOf(9, 2), iceberg.DecimalLiteral(decimal(5, 2)), "0.05"},
		{p.Timestamp, iceberg.Timestamp(1), ""}, {p.Int64, iceberg.Timestamp(1), ""}, {p.Binary, []byte("x"), ""}, {p.Int32, nil, nullKey},
	} {
		got, err := partitionText(c.typ, c.value)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v %v: got %q, %v, want %q", c.typ, c.value, got, err, c.want)
		}
	}
}
