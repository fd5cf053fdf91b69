package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// evolve changes the table's schema.
func evolve(s *shelf, change func(u *table.UpdateSchema) *table.UpdateSchema) {
	s.change(func(tx *table.Transaction) error { return change(tx.UpdateSchema(true, true)).Commit() })
}

// Whatever a table's schema has become since its files were written, ufs-stream reads the rows that iceberg-go reads: of
// all versions of a random evolution, with more rows written and others deleted in between.
func TestEvolvedSchemas(t *testing.T) {
	p := iceberg.PrimitiveTypes
	for _, version := range []string{"1", "2", "3"} {
		for seed := range 4 {
			rng := rand.New(rand.NewPCG(6, uint64(seed)))
			s := local(t, nestedEvents(), nil, iceberg.Properties{"format-version": version, "write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"})
			id, total := 0, 0
			write := func() {
				rows := numbered(someEvents(rng, 30), id)
				for i := range rows {
					fillRow(rng, rows[i], s.current.Schema().Fields())
				}
				id += len(rows)
				s.append(rows)
			}
			write()
			var did []string
			free := []string{"x0", "x1", "y1", "score", "z", "qty"} // names that come and go
			for range 9 {
				top := s.current.Schema().Fields()
				var at []string
				for len(at) == 0 || at[0] == "id" {
					at = []string{top[rng.IntN(len(top))].Name}
				}
				if st, ok := top[slices.IndexFunc(top, func(f iceberg.NestedField) bool { return f.Name == at[0] })].Type.(*iceberg.StructType); ok && rng.IntN(3) > 0 {
					at = append(at, st.FieldList[rng.IntN(len(st.FieldList))].Name)
				}
				fresh := free[rng.IntN(len(free))]
				typ := []iceberg.Type{p.Int32, p.Int64, p.Float32, p.Float64, p.String, p.Bool, iceberg.DecimalTypeOf(7, 2)}[rng.IntN(7)]
				change := []func(u *table.UpdateSchema) *table.UpdateSchema{
					func(u *table.UpdateSchema) *table.UpdateSchema { return u.RenameColumn(at, fresh) },
					func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn(at) },
					func(u *table.UpdateSchema) *table.UpdateSchema { return u.MoveFirst(at) },
					func(u *table.UpdateSchema) *table.UpdateSchema {
						return u.AddColumn(append(slices.Clone(at[:len(at)-1]), fresh), typ, "", false, nil)
					},
					func(u *table.UpdateSchema) *table.UpdateSchema { return widenColumn(u, s.current.Schema(), at) },
				}
				kind := rng.IntN(len(change))
				tx := s.current.NewTransaction()
				if err := change[kind](tx.UpdateSchema(true, true)).Commit(); err != nil {
					continue // such as a name that is there
				}
				must.Get(tx.Commit(t.Context()))(t)
				did = append(did, fmt.Sprintf("%s %v (%s)", []string{"rename", "drop", "move", "add", "widen"}[kind], at, fresh))
				if rng.IntN(2) == 0 {
					write()
				}
				if version != "1" && rng.IntN(3) == 0 {
					s.change(func(tx *table.Transaction) error {
						return tx.Delete(t.Context(), iceberg.EqualTo(iceberg.Reference("id"), int64(rng.IntN(id))), nil)
					})
				}
				total += sameAsScan(t, fmt.Sprintf("version %s, seed %d, %v", version, seed, did), s.current, mustPlan(t, s.current.Location()))
			}
			if total < 100 || len(did) < 3 {
				t.Errorf("version %s, seed %d: %d rows were compared after %d changes: the test says little", version, seed, total, len(did))
			}
		}
	}
}

// nestedEvents are events with a struct in a struct, and a list.
func nestedEvents() *iceberg.Schema {
	p := iceberg.PrimitiveTypes
	f := func(id int, name string, t iceberg.Type) iceberg.NestedField {
		return iceberg.NestedField{ID: id, Name: name, Type: t}
	}
	inner := &iceberg.StructType{FieldList: []iceberg.NestedField{f(23, "u", p.Int32), f(24, "v", p.Float32)}}
	return iceberg.NewSchema(0, append(events().Fields(),
		f(20, "s", &iceberg.StructType{FieldList: []iceberg.NestedField{f(21, "a", p.Int32), f(22, "in", inner), f(25, "x1", p.String)}}),
		f(26, "l", &iceberg.ListType{ElementID: 27, Element: p.Float64}),
	)...)
}

// fillRow gives a row values for columns that it lacks.
func fillRow(rng *rand.Rand, r row, fields []iceberg.NestedField) {
	for _, f := range fields {
		if f.Name == "id" {
			continue
		}
		delete(r, f.Name)
		if rng.IntN(6) == 0 {
			continue
		}
		switch t := f.Type.(type) {
		case iceberg.Int32Type, iceberg.Int64Type:
			r[f.Name] = rng.Int64N(2000) - 1000
		case iceberg.Float32Type, iceberg.Float64Type:
			r[f.Name] = float64(float32(rng.NormFloat64()))
		case iceberg.DecimalType:
			r[f.Name] = float64(rng.IntN(2000)) / 100
		case iceberg.BooleanType:
			r[f.Name] = rng.IntN(2) == 0
		case iceberg.StringType:
			r[f.Name] = []string{"", "a", "ß", "null"}[rng.IntN(4)]
		case iceberg.BinaryType, iceberg.UUIDType:
			r[f.Name] = binary.BigEndian.AppendUint64(make([]byte, 8), rng.Uint64())
		case iceberg.DateType, iceberg.TimeType, iceberg.TimestampType, iceberg.TimestampTzType:
			r[f.Name] = time.Unix(86400*rng.Int64N(30000), 0).UTC()
		case *iceberg.ListType:
			r[f.Name] = []any{rng.NormFloat64(), 1.0}[:1+rng.IntN(2)]
		case *iceberg.StructType:
			below := row{}
			fillRow(rng, below, t.FieldList)
			r[f.Name] = below
		}
	}
}

// widenColumn widens a column, if Iceberg knows a wider type.
func widenColumn(u *table.UpdateSchema, schema *iceberg.Schema, path []string) *table.UpdateSchema {
	f, _ := schema.FindFieldByName(strings.Join(path, "."))
	wider := f.Type
	switch t := f.Type.(type) {
	case iceberg.Int32Type:
		wider = iceberg.PrimitiveTypes.Int64
	case iceberg.Float32Type:
		wider = iceberg.PrimitiveTypes.Float64
	case iceberg.DecimalType:
		wider = iceberg.DecimalTypeOf(t.Precision()+3, t.Scale())
	}
	return u.UpdateColumn(path, table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Valid: true, Val: wider}})
}

func addColumn(name string) func(u *table.UpdateSchema) *table.UpdateSchema {
	return func(u *table.UpdateSchema) *table.UpdateSchema {
		return u.AddColumn([]string{name}, iceberg.PrimitiveTypes.Float64, "", false, nil)
	}
}

func renameColumn(from, to string) func(u *table.UpdateSchema) *table.UpdateSchema {
	return func(u *table.UpdateSchema) *table.UpdateSchema { return u.RenameColumn([]string{from}, to) }
}

// A column that was dropped and added again has the name of the old one, and other values; names that were swapped are
// swapped; and the snapshots before have the schema of then.
func TestColumnAddedAgain(t *testing.T) {
	s := local(t, events(), nil, nil)
	rng := rand.New(rand.NewPCG(7, 2))
	rows := someEvents(rng, 40)
	id := s.append(rows)
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn([]string{"x4"}) })
	evolve(s, addColumn("x4"))
	dir := s.current.Location()
	sameAsScan(t, "added again", s.current, mustPlan(t, dir))
	plan := mustPlan(t, dir)
	lines := rowsOfPlan(t, plan, nil)
	at := slices.Index(strings.Split(lines[0], "\t"), "x4")
	for _, line := range lines[1:] {
		if cell := strings.Split(line, "\t")[at]; cell != "missing" {
			t.Fatalf("x4 was added after the row was written, and is %s", cell)
		}
	}
	evolve(s, renameColumn("x0", "y"))
	evolve(s, renameColumn("x1", "x0"))
	evolve(s, renameColumn("y", "x1"))
	s.append(someEvents(rng, 40))
	sameAsScan(t, "swapped", s.current, mustPlan(t, dir))
	old := mustPlan(t, dir, "--snapshot", itoa(id))
	sameAsScan(t, "of then", s.current, old, table.WithSnapshotID(id))
	sameSelection(t, "of then", mustSelect(t, "--plan", old), mustSelect(t, byHand(t, events(), rows)))
}

// Names that differ only by case are different columns.
func TestNamesThatDifferByCase(t *testing.T) {
	p := iceberg.PrimitiveTypes
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: p.Int64}, iceberg.NestedField{ID: 2, Name: "A", Type: p.Int32}, iceberg.NestedField{ID: 3, Name: "a", Type: p.Float64}, iceberg.NestedField{ID: 4, Name: "ID", Type: p.Float32})
	s := local(t, schema, nil, nil)
	s.append([]row{{"id": int64(1), "A": int64(2), "a": 0.3, "ID": 4.5}, {"id": int64(6), "a": 0.7}})
	sameAsScan(t, "names", s.current, mustPlan(t, s.current.Location()))
}

// Files that were imported have no ids: the table's mapping of names tells which column is which, also after columns were
// renamed, and beside files with ids.
func TestImportedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	s := local(t, nestedEvents(), nil, nil)
	rows := someEvents(rng, 60)
	for i := range rows {
		fillRow(rng, rows[i], nestedEvents().Fields())
	}
	as := must.Get(table.SchemaToArrowSchema(nestedEvents(), nil, false, false))(t)
	must.Do(t, os.MkdirAll(filepath.Join(s.current.Location(), "data"), 0o750))
	path := writeParquet(t, filepath.Join(s.current.Location(), "data", "imported.parquet"), as, rows)
	s.change(func(tx *table.Transaction) error { return tx.AddFiles(t.Context(), []string{path}, nil, false) })
	plan := mustPlan(t, s.current.Location())
	sameAsScan(t, "imported", s.current, plan)
	sameSelection(t, "imported", mustSelect(t, "--plan", plan), mustSelect(t, byHand(t, nestedEvents(), rows)))
	evolve(s, renameColumn("x0", "y0"))
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema { return u.RenameColumn([]string{"s", "a"}, "aa") })
	sameAsScan(t, "renamed", s.current, mustPlan(t, s.current.Location()))
	evolve(s, addColumn("x0"))
	sameAsScan(t, "added", s.current, mustPlan(t, s.current.Location()))
	more := someEvents(rng, 60)
	for i := range more {
		fillRow(rng, more[i], s.current.Schema().Fields())
	}
	s.append(more)
	sameAsScan(t, "with a file that has ids", s.current, mustPlan(t, s.current.Location()))
	s.change(func(tx *table.Transaction) error {
		return tx.SetProperties(iceberg.Properties{"schema.name-mapping.default": `[{"field-id":1,"names":["id"]},{"field-id":2,"names":["id"]}]`})
	})
	refused(t, 3, []string{s.current.Location()}, s.current.Location(), "its mapping of names", `"id" and "qty" are the same column`)
	s.change(func(tx *table.Transaction) error {
		return tx.RemoveProperties([]string{"schema.name-mapping.default"})
	})
	refused(t, 3, []string{s.current.Location()}, "imported.parquet", "no ids", "schema.name-mapping.default")
}

// Files of a table that was migrated from Hive lack the columns that it is partitioned by: their
// values come from the manifests, also if later files have the columns.
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
	twin := local(t, events(), nil, nil) // iceberg-go does not read values of partitions
	twin.append(rows)
	sameAsScan(t, "migrated", twin.current, mustPlan(t, s.current.Location()))
	more := someEvents(rng, 30)
	s.append(more)
	twin.append(more)
	sameAsScan(t, "with files that have the columns", twin.current, mustPlan(t, s.current.Location()))
	s.change(func(tx *table.Transaction) error { return tx.UpdateSpec(true).RemoveField("qty").Commit() })
	more = someEvents(rng, 30)
	s.append(more)
	twin.append(more)
	sameAsScan(t, "with files that are not partitioned by a column", twin.current, mustPlan(t, s.current.Location()))
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
