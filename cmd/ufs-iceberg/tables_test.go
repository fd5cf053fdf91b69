package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Tables of other writers are read as iceberg-go reads them, and as the tests of their owners demand. Their metadata have
// locations that are relative to another folder, so they mean the folder in which the tables are.
func TestTablesOfOthers(t *testing.T) {
	for name, rows := range map[string]int{"equality_deletes": 2, "legacy_v1": 3} {
		dir := filepath.Join("testdata", "tables", name)
		opened, _, err := openHadoop(t.Context(), request{table: dir, catalog: hadoopCatalog})
		must.Do(t, err)
		if got := sameAsScan(t, name, opened, mustPlan(t, dir)); got != rows {
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
	at := time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC)
	for _, c := range []struct {
		typ   iceberg.Type
		value any
		want  string
	}{
		{p.Bool, true, "true"}, {p.Int32, int32(-7), "-7"}, {p.Int64, int32(7), "7"}, {p.Int64, int64(math.MinInt64), "-9223372036854775808"},
		{p.Float32, float32(0.1), "0.10000000149011612"}, {p.Float64, 1e300, "1e+300"}, {p.Float64, float32(0.5), "0.5"}, {p.Float64, math.NaN(), "NaN"}, {p.Float64, math.Inf(1), "+Inf"},
		{p.String, "ß", "ß"}, {p.String, "", ""}, {p.Date, iceberg.Date(1), "1970-01-02"}, {p.Date, iceberg.Date(-1), "1969-12-31"},
		{iceberg.DecimalTypeOf(9, 2), decimalValue(-12345, 2), "-123.45"}, {iceberg.DecimalTypeOf(9, 2), iceberg.DecimalLiteral(decimalValue(5, 2)), "0.05"},
		{p.Time, iceberg.Time(1), "00:00:00.000001"}, {p.Timestamp, iceberg.Timestamp(at.UnixMicro()), "1969-12-31T23:59:59.999999"},
		{p.TimestampTz, iceberg.Timestamp(1), "1970-01-01T00:00:00.000001+00:00"}, {p.TimestampNs, iceberg.TimestampNano(at.UnixNano()), "1969-12-31T23:59:59.999999999"},
		{p.TimestampTzNs, iceberg.TimestampNano(0), "1970-01-01T00:00:00.000000000+00:00"}, {p.Binary, []byte{0xff, 0}, "ff00"}, {p.Binary, []byte{}, ""},
		{iceberg.FixedTypeOf(1), []byte{7}, "07"}, {p.UUID, [16]byte{15: 1}, "00000000000000000000000000000001"},
	} {
		if got, err := partitionText(c.typ, c.value); err != nil || got == nil || *got != c.want {
			t.Errorf("%v %v: got %v, %v, want %q", c.typ, c.value, got, err, c.want)
		}
	}
	for typ, value := range map[iceberg.Type]any{p.Date: int32(1), p.Int64: iceberg.Timestamp(1), p.Timestamp: iceberg.TimestampNano(1), p.Time: iceberg.Date(1), p.Bool: int32(1), p.String: "\xff", p.Float32: "1", p.Binary: 1.5} {
		if got, err := partitionText(typ, value); err == nil {
			t.Errorf("%v of type %T for a column of type %v has the text %q, want an error", value, value, typ, *got)
		}
	}
	if got, err := partitionText(p.Int32, nil); got != nil || err != nil {
		t.Errorf("null: got %v, %v", got, err)
	}
}

// A tag has the columns of its snapshot, and a branch has the columns of today, in the plan and in conditions.
func TestColumnsOfRefs(t *testing.T) {
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	rows := numbered(someEvents(rand.New(rand.NewPCG(20, 2)), 30), 0)
	id := s.append(rows)
	refs := []table.Update{
		table.NewSetSnapshotRefUpdate("then", id, table.TagRef, 0, 0, 0),
		table.NewSetSnapshotRefUpdate("side", id, table.BranchRef, 0, 0, 0),
	}
	must.Do(t, s.put(must.Get(table.UpdateTableMetadata(s.current.Metadata(), refs, s.current.MetadataLocation()))(t)))
	evolve(s, renameColumn("x0", "y0"))
	s.append(numbered(someEvents(rand.New(rand.NewPCG(21, 2)), 30), 100))
	dir := s.current.Location()
	for _, c := range []struct{ flag, name, column, none string }{{"--tag", "then", "x0", "y0"}, {"--branch", "side", "y0", "x0"}, {"--snapshot", itoa(id), "x0", "y0"}, {"--branch", "main", "y0", "x0"}} {
		for _, where := range []string{"", c.column + " > 0"} {
			plan := mustPlan(t, dir, c.flag, c.name, "--where", where)
			h, _ := readPlan(t, plan)
			var names []string
			for _, column := range h.Columns {
				names = append(names, column.Name)
			}
			if !slices.Contains(names, c.column) || slices.Contains(names, c.none) {
				t.Errorf("%s %s where %q: the columns are %v, want %s and no %s", c.flag, c.name, where, names, c.column, c.none)
			}
			if want := 30; where == "" && c.name != "main" && len(rowsOfPlan(t, plan, nil)) != want+1 {
				t.Errorf("%s %s: %d rows, want %d", c.flag, c.name, len(rowsOfPlan(t, plan, nil))-1, want)
			}
		}
		refused(t, 2, []string{dir, c.flag, c.name, "--where", c.none + " > 0"}, c.none)
	}
}

// Files of deletes that lie outside of the table are refused by name, like its data files.
func TestDeletesElsewhere(t *testing.T) {
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	s.append(numbered(someEvents(rand.New(rand.NewPCG(22, 2)), 30), 0))
	b := positions(t, s, "p.parquet", deleted{dataFiles(t, s)[0], 3})
	inside := filepath.Join(s.current.Location(), "data", "p.parquet")
	outside := filepath.Join(t.TempDir(), "elsewhere.parquet")
	must.Do(t, os.Rename(inside, outside))
	f := b.Build()
	moved := must.Get(iceberg.NewDataFileBuilder(s.current.Spec(), f.ContentType(), outside, f.FileFormat(), nil, nil, nil, f.Count(), f.FileSizeBytes()))(t)
	commit(t, s, moved)
	refused(t, 3, []string{s.current.Location()}, outside, "not in its own place", "--allow")
	plan := mustPlan(t, s.current.Location(), "--allow", filepath.Dir(outside))
	if got := sameAsScan(t, "allowed", s.current, plan); got != 29 {
		t.Errorf("%d rows, want 29", got)
	}
}
