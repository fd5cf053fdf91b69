package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// evolve changes the table's schema.
func evolve(s *shelf, change func(u *table.UpdateSchema) *table.UpdateSchema) {
	s.change(func(tx *table.Transaction) error { return change(tx.UpdateSchema(true, true)).Commit() })
}

// Wherever a file's columns have other names than the table's, or other columns those names, the
// file and the column are named. Reordering is nothing: both match by something else than place.
func TestEvolvedSchemas(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	rename := func(from, to string) func(u *table.UpdateSchema) *table.UpdateSchema {
		return func(u *table.UpdateSchema) *table.UpdateSchema { return u.RenameColumn([]string{from}, to) }
	}
	for name, c := range map[string]struct {
		change func(u *table.UpdateSchema) *table.UpdateSchema
		more   []func(u *table.UpdateSchema) *table.UpdateSchema
		again  bool // a second append, under the new schema
		says   []string
	}{
		"reordered": {change: func(u *table.UpdateSchema) *table.UpdateSchema { return u.MoveFirst([]string{"x3"}) }, again: true},
		"renamed":   {change: rename("x0", "y0"), says: []string{`column "y0"`, `called "x0" in this file`, "rewrite_data_files"}},
		"swapped":   {change: rename("x0", "y"), more: []func(u *table.UpdateSchema) *table.UpdateSchema{rename("x1", "x0"), rename("y", "x1")}, says: []string{`called "x0" in this file`}},
		"dropped":   {change: func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn([]string{"x4"}) }, says: []string{`column "x4"`, "this file still has it"}},
		"added":     {change: addColumn("x9"), again: true, says: []string{`column "x9"`, "this file lacks the column", "added to the table"}},
		"widened": {change: func(u *table.UpdateSchema) *table.UpdateSchema {
			return u.UpdateColumn([]string{"qty"}, table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Valid: true, Val: iceberg.PrimitiveTypes.Int64}})
		}, again: true, says: []string{`column "qty"`, "INT32", "INT64", "widened"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := local(t, events(), nil, nil)
			rows := someEvents(rng, 40)
			s.append(rows)
			evolve(s, c.change)
			for _, change := range c.more {
				evolve(s, change)
			}
			if c.again {
				more := someEvents(rng, 40)
				for i := range more {
					more[i]["x9"] = 1.0
				}
				rows = append(rows, more...)
				s.append(more)
			}
			if c.says == nil {
				sameSelection(t, name, mustSelect(t, "--plan", mustPlan(t, s.current.Location())), mustSelect(t, byHand(t, events(), rows)))
				return
			}
			refused(t, 3, []string{s.current.Location()}, append(c.says, filepath.Join(s.current.Location(), "data"))...)
		})
	}
}

func addColumn(name string) func(u *table.UpdateSchema) *table.UpdateSchema {
	return func(u *table.UpdateSchema) *table.UpdateSchema {
		return u.AddColumn([]string{name}, iceberg.PrimitiveTypes.Float64, "", false, nil)
	}
}

// A column that was dropped and added again has the name of the old one, and other values.
func TestColumnAddedAgain(t *testing.T) {
	s := local(t, events(), nil, nil)
	s.append(someEvents(rand.New(rand.NewPCG(7, 2)), 40))
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn([]string{"x4"}) })
	evolve(s, addColumn("x4"))
	refused(t, 3, []string{s.current.Location()}, `column "x4"`, "another column of that name")
}

// A column that no file has yet is null in all rows: it is left out, with a warning. The
// snapshot before an evolution has the schema of then.
func TestColumnOfNoFile(t *testing.T) {
	s := local(t, events(), nil, nil)
	rows := someEvents(rand.New(rand.NewPCG(8, 2)), 40)
	id := s.append(rows)
	evolve(s, addColumn("x9"))
	out := filepath.Join(t.TempDir(), "t.plan.json")
	code, said := planOf(t, s.current.Location(), "-o", out)
	if code != 0 || !strings.Contains(said, `warning: no file has the table's column "x9"`) {
		t.Errorf("exit code %d: %s", code, said)
	}
	sameSelection(t, "null in all rows", mustSelect(t, "--plan", out), mustSelect(t, byHand(t, events(), rows)))
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema { return u.RenameColumn([]string{"x0"}, "y0") })
	refused(t, 3, []string{s.current.Location()}, "renamed")
	old := mustPlan(t, s.current.Location(), "--snapshot", itoa(id))
	sameSelection(t, "of then", mustSelect(t, "--plan", old), mustSelect(t, byHand(t, events(), rows)))
}

// Files that were imported have no ids: the table's mapping of names tells which column is which.
func TestImportedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	s := local(t, events(), nil, nil)
	rows := someEvents(rng, 60)
	as := must.Get(table.SchemaToArrowSchema(events(), nil, false, false))(t)
	must.Do(t, os.MkdirAll(filepath.Join(s.current.Location(), "data"), 0o750))
	path := writeParquet(t, filepath.Join(s.current.Location(), "data", "imported.parquet"), as, rows)
	s.change(func(tx *table.Transaction) error { return tx.AddFiles(t.Context(), []string{path}, nil, false) })
	plan := mustPlan(t, s.current.Location())
	sameSelection(t, "imported", mustSelect(t, "--plan", plan), mustSelect(t, byHand(t, events(), rows)))
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema { return u.RenameColumn([]string{"x0"}, "y0") })
	refused(t, 3, []string{s.current.Location()}, "imported.parquet", `column "y0"`, `called "x0"`)
	s.change(func(tx *table.Transaction) error {
		return tx.RemoveProperties([]string{"schema.name-mapping.default"})
	})
	refused(t, 3, []string{s.current.Location()}, "imported.parquet", "no ids", "schema.name-mapping.default")
}

// Files of a table that was migrated from Hive lack the columns that it is partitioned by: their
// values come from the manifests.
func TestMigratedFromHive(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 2))
	spec := iceberg.NewPartitionSpec(
		iceberg.PartitionField{SourceIDs: []int{7}, FieldID: 1000, Name: "day", Transform: iceberg.IdentityTransform{}},
		iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1001, Name: "qty", Transform: iceberg.IdentityTransform{}},
	)
	s := local(t, events(), &spec, nil)
	as := must.Get(table.SchemaToArrowSchema(events(), nil, true, false))(t)
	keys := func(f arrow.Field) bool { return f.Name == "day" || f.Name == "qty" }
	without := arrow.NewSchema(slices.DeleteFunc(slices.Clone(as.Fields()), keys), nil)
	var rows []row
	var files []iceberg.DataFile
	for i, day := range []string{"2026-01-05", "2026-01-06", ""} {
		more := someEvents(rng, 30)
		partition := map[int]any{1000: nil, 1001: int32(i - 1)}
		for j := range more {
			more[j]["qty"] = int64(i - 1)
			delete(more[j], "day")
			if day != "" {
				more[j]["day"] = must.Get(parseDay(day))(t)
			}
		}
		if day != "" {
			partition[1000] = iceberg.Date(must.Get(parseDay(day))(t).Unix() / 86400)
		}
		rows = append(rows, more...)
		// Other values in the path than in the manifest: the manifest counts.
		dir := filepath.Join(s.current.Location(), "data", "day=1999-01-01", "qty=77")
		must.Do(t, os.MkdirAll(dir, 0o750))
		path := writeParquet(t, filepath.Join(dir, itoa(int64(i))+".parquet"), without, more)
		info := must.Get(os.Stat(path))(t)
		files = append(files, must.Get(iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, path, iceberg.ParquetFile, partition, nil, nil, 30, info.Size()))(t).Build())
	}
	s.change(func(tx *table.Transaction) error { return tx.AddDataFiles(t.Context(), files, nil) })
	hand := byHand(t, events(), rows)
	for _, where := range []string{"", "day = '2026-01-05'", "day > '2026-01-05' or qty = 1", "day is null", "qty in (-1, 0) and x2 > 0", "not qty = 0"} {
		var args []string
		if where != "" {
			args = []string{"--where", where}
		}
		plan := mustPlan(t, append([]string{s.current.Location()}, args...)...)
		sameSelection(t, "where "+where, mustSelect(t, "--plan", plan), mustSelect(t, append([]string{hand}, args...)...))
	}
	head, lines := readPlan(t, mustPlan(t, s.current.Location()))
	if !slices.Equal(head.Keys, []string{"qty", "day"}) && !slices.Equal(head.Keys, []string{"day", "qty"}) {
		t.Errorf("the keys are %v", head.Keys)
	}
	if at := slices.Index(head.Keys, "day"); lines[0].Keys[at] != "2026-01-05" || lines[2].Keys[at] != nullKey {
		t.Errorf("the days are %v", lines)
	}
}

// The folders of an Iceberg table look like Hive's, but say nothing that counts.
func TestFoldersAreNoKeys(t *testing.T) {
	s := local(t, events(), layouts()["buckets"], nil)
	rows := someEvents(rand.New(rand.NewPCG(11, 2)), 80)
	s.append(rows)
	plan := mustPlan(t, s.current.Location())
	if _, lines := readPlan(t, plan); !strings.Contains(lines[0].Path, "qty_bucket=") {
		t.Fatalf("%s has no folder of a partition", lines[0].Path)
	}
	all := func(args ...string) []string {
		return append(args, "--columns", "*", "--exclude", "qty,score,ok,price", "-k", "7")
	}
	sameSelection(t, "all columns", mustSelect(t, all("--plan", plan)...), mustSelect(t, all(byHand(t, events(), rows))...))
}

// Data files of other formats are refused by name, and so are encrypted ones.
func TestOtherFormats(t *testing.T) {
	for want, build := range map[string]func(path string, size int64) iceberg.DataFile{
		"is ORC": func(path string, size int64) iceberg.DataFile {
			return must.Get(iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, path, iceberg.OrcFile, nil, nil, nil, 1, size))(t).Build()
		},
		"is AVRO": func(path string, size int64) iceberg.DataFile {
			return must.Get(iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, path, iceberg.AvroFile, nil, nil, nil, 1, size))(t).Build()
		},
		"is encrypted": func(path string, size int64) iceberg.DataFile {
			return must.Get(iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, path, iceberg.ParquetFile, nil, nil, nil, 1, size))(t).KeyMetadata([]byte{1}).Build()
		},
	} {
		s := local(t, events(), nil, nil)
		path := filepath.Join(s.current.Location(), "data", "strange.bin")
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must.Do(t, os.WriteFile(path, []byte("bytes"), 0o600))
		s.change(func(tx *table.Transaction) error {
			return tx.AddDataFiles(t.Context(), []iceberg.DataFile{build(path, 5)}, nil)
		})
		refused(t, 3, []string{s.current.Location()}, "strange.bin", want)
	}
}
