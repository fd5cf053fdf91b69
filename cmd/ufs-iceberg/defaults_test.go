package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// constantField is a column of which some files have no value, with its constant in the JSON of Iceberg's metadata, as a
// value of a row, and as a value of a partition.
type constantField struct {
	iceberg.NestedField
	json      string
	value     any
	partition any
}

func constantFields() []constantField {
	p := iceberg.PrimitiveTypes
	at := time.Date(2017, 11, 16, 22, 31, 8, 123456000, time.UTC)
	clock := at.Sub(at.Truncate(24 * time.Hour)).Microseconds()
	uuid := []byte{0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7}
	fields := []constantField{
		{json: `true`, value: true, partition: true},
		{json: `-34`, value: int64(-34), partition: int32(-34)},
		{json: `9007199254740991`, value: int64(1<<53 - 1), partition: int64(1<<53 - 1)},
		{json: `0.1`, value: 0.1, partition: float32(0.1)},
		{json: `-2.5e-7`, value: -2.5e-7, partition: -2.5e-7},
		{json: `"14.20"`, value: 14.2, partition: decimalValue(1420, 2)},
		{json: `"-1.001"`, value: -1.001, partition: decimalValue(-1001, 3)},
		{json: `"2017-11-16"`, value: at, partition: iceberg.Date(at.Unix() / 86400)},
		{json: `"22:31:08.123456"`, value: at, partition: iceberg.Time(clock)},
		{json: `"2017-11-16T22:31:08.123456"`, value: at, partition: iceberg.Timestamp(at.UnixMicro())},
		{json: `"2017-11-16T22:31:08.123456+00:00"`, value: at, partition: iceberg.Timestamp(at.UnixMicro())},
		{json: `"köln"`, value: "köln", partition: "köln"},
		{json: `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, value: uuid, partition: [16]byte(uuid)},
		{json: `"00ff"`, value: []byte{0, 0xff}, partition: []byte{0, 0xff}},
	}
	types := []iceberg.Type{p.Bool, p.Int32, p.Int64, p.Float32, p.Float64, iceberg.DecimalTypeOf(9, 2), iceberg.DecimalTypeOf(25, 3), p.Date, p.Time, p.Timestamp, p.TimestampTz, p.String, p.UUID, p.Binary}
	names := []string{"truth", "whole", "long", "narrow", "double", "price", "exact", "day", "clock", "at", "utc", "site", "uuid", "bytes"}
	for i := range fields {
		fields[i].NestedField = iceberg.NestedField{ID: 2 + i, Name: names[i], Type: types[i]}
	}
	return fields
}

// twinTables are two tables of the same rows in two files. In the first table the first file lacks some of the columns of
// constantFields, and in the second one it has their constants in all rows.
type twinTables struct{ lacking, written *shelf }

func newTwins(t *testing.T, partitioned bool, lacking ...string) twinTables {
	t.Helper()
	rng := rand.New(rand.NewPCG(23, 5))
	fields := constantFields()
	var own []iceberg.NestedField
	for _, f := range fields {
		own = append(own, f.NestedField)
	}
	x := []iceberg.NestedField{{ID: 1, Name: "x0", Type: iceberg.PrimitiveTypes.Float64}, {ID: 2 + len(fields), Name: "x1", Type: iceberg.PrimitiveTypes.Float64}}
	schema := iceberg.NewSchema(0, slices.Concat(x[:1], own, x[1:])...)
	as := must.Get(table.SchemaToArrowSchema(schema, nil, true, false))(t)
	without := arrow.NewSchema(slices.DeleteFunc(slices.Clone(as.Fields()), func(f arrow.Field) bool { return slices.Contains(lacking, f.Name) }), nil)
	var first, second []row
	for i := range 200 {
		r := row{"x0": rng.NormFloat64(), "x1": rng.NormFloat64()}
		for _, f := range fields {
			if r[f.Name] = f.value; i >= 100 {
				fillRow(rng, r, []iceberg.NestedField{f.NestedField})
			}
		}
		if i < 100 {
			first = append(first, r)
		} else {
			second = append(second, r)
		}
	}
	makeTable := func(firstSchema *arrow.Schema) *shelf {
		s := local(t, schema, nil, iceberg.Properties{"format-version": "3"})
		partition := map[int]any{}
		if partitioned {
			s.change(func(tx *table.Transaction) error {
				u := tx.UpdateSpec(true)
				for _, name := range lacking {
					u = u.AddIdentity(name)
				}
				return u.Commit()
			})
			spec := s.current.Spec()
			for _, f := range spec.Fields() {
				at := slices.IndexFunc(fields, func(c constantField) bool { return c.ID == f.SourceID() })
				partition[f.FieldID] = fields[at].partition
			}
		}
		must.Do(t, os.MkdirAll(filepath.Join(s.current.Location(), "data"), 0o750))
		for i, rows := range [][]row{first, second} {
			path := writeParquet(t, filepath.Join(s.current.Location(), "data", fmt.Sprintf("%d.parquet", i)), []*arrow.Schema{firstSchema, as}[i], rows)
			spec := []iceberg.PartitionSpec{s.current.Spec(), s.current.Metadata().PartitionSpecs()[0]}[i]
			b := must.Get(iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, path, iceberg.ParquetFile, []map[int]any{partition, nil}[i], nil, nil, int64(len(rows)), must.Get(os.Stat(path))(t).Size()))(t)
			s.change(func(tx *table.Transaction) error {
				return tx.AddDataFiles(t.Context(), []iceberg.DataFile{b.FirstRowID(int64(100 * i)).Build()}, nil)
			})
		}
		return s
	}
	return twinTables{makeTable(without), makeTable(as)}
}

// setDefaults edits the newest metadata file of a table: iceberg-go writes some defaults otherwise than the specification.
func setDefaults(t *testing.T, s *shelf, defaults map[string]string) {
	t.Helper()
	path := s.current.MetadataLocation()
	var metadata map[string]any
	decoder := json.NewDecoder(must.Get(os.Open(path))(t))
	decoder.UseNumber()
	must.Do(t, decoder.Decode(&metadata))
	var visit func(fields any)
	visit = func(fields any) {
		for _, field := range fields.([]any) {
			f := field.(map[string]any)
			if text, ok := defaults[f["name"].(string)]; ok {
				f["initial-default"] = json.RawMessage(text)
			}
			if below, ok := f["type"].(map[string]any); ok && below["type"] == "struct" {
				visit(below["fields"])
			}
		}
	}
	for _, schema := range metadata["schemas"].([]any) {
		visit(schema.(map[string]any)["fields"])
	}
	must.Do(t, os.WriteFile(path, must.Get(json.Marshal(metadata))(t), 0o600))
}

// A default is the value of all rows of the files that lack the column: every command's output is that of a table whose
// files have the values.
func TestDefaults(t *testing.T) {
	twins := newTwins(t, false, namesOfConstants(nil)...)
	defaults := map[string]string{}
	for _, f := range constantFields() {
		defaults[f.Name] = f.json
	}
	setDefaults(t, twins.lacking, defaults)
	sameOutputs(t, twins)
}

// The value of a file's partition is the value of all its rows, if the file lacks the column; other files have the column.
func TestColumnsOfPartitions(t *testing.T) {
	var twins twinTables
	several := []string{"price", "exact", "uuid"} // iceberg-go writes manifests with at most one of these partitions
	for _, lacking := range append([][]string{namesOfConstants(several)}, several[:1], several[1:2], several[2:]) {
		if twins = newTwins(t, true, lacking...); len(lacking) > 1 {
			sameOutputs(t, twins)
			continue
		}
		texts := []string{"site", "uuid"}
		if got, want := rowsOfPlan(t, mustPlan(t, twins.lacking.current.Location()), texts), rowsOfPlan(t, mustPlan(t, twins.written.current.Location()), texts); !slices.Equal(got, want) {
			t.Errorf("partitioned by %v:\n%v\nwant\n%v", lacking, got, want)
		}
	}
	defaults := map[string]string{} // partitions have priority
	for _, f := range constantFields() {
		defaults[f.Name] = `"1"`
	}
	setDefaults(t, twins.lacking, defaults)
	plan := mustPlan(t, twins.lacking.current.Location())
	if got, want := rowsOfPlan(t, plan, []string{"site", "utc"}), rowsOfPlan(t, mustPlan(t, twins.written.current.Location()), []string{"site", "utc"}); !slices.Equal(got, want) {
		t.Errorf("with defaults that no file needs:\n%v\nwant\n%v", got, want)
	}
	for _, c := range mustColumns(t, plan) {
		if c.Default != nil {
			t.Errorf("the plan has a default of %s, which no file needs", c.Name)
		}
	}
}

// Defaults that cannot be the value of all rows of a file, or have another type than their column, are refused by name.
func TestDefaultsThatAreRefused(t *testing.T) {
	s := local(t, nestedEvents(), nil, iceberg.Properties{"format-version": "3"})
	rng := rand.New(rand.NewPCG(19, 2))
	rows := someEvents(rng, 20)
	for i := range rows {
		fillRow(rng, rows[i], nestedEvents().Fields())
	}
	s.append(rows)
	first := dataFiles(t, s)[0]
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema {
		u = u.AddColumn([]string{"s", "fresh"}, iceberg.PrimitiveTypes.Int32, "", false, nil)
		return u.AddColumn([]string{"n"}, iceberg.PrimitiveTypes.Int64, "", false, nil).AddColumn([]string{"tags"}, &iceberg.ListType{ElementID: 90, Element: iceberg.PrimitiveTypes.Int32}, "", false, nil)
	})
	for _, c := range []struct{ column, text, says string }{
		{"fresh", `5`, `column "s.fresh"`}, {"tags", `[1]`, `column "tags"`}, {"n", `"5"`, "cannot be read"}, {"n", `9007199254740993`, "cannot be read"}, {"n", `1.5`, "cannot be read"},
	} {
		setDefaults(t, s, map[string]string{c.column: c.text})
		refused(t, 3, []string{s.current.Location()}, first, c.says, "rewrite_data_files")
		setDefaults(t, s, map[string]string{c.column: "null"})
	}
	sameAsScan(t, "null defaults", s.current, mustPlan(t, s.current.Location()))
}

func namesOfConstants(without []string) (names []string) {
	for _, f := range constantFields() {
		if !slices.Contains(without, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

func mustColumns(t *testing.T, plan string) []columns.Column {
	t.Helper()
	head, _ := readPlan(t, plan)
	return head.Columns
}

// sameOutputs compares what ufs-stream makes of the tables by their plans.
func sameOutputs(t *testing.T, twins twinTables) {
	t.Helper()
	conditions := []string{
		"", "truth", "not truth", "whole = -34", "whole > -34 or whole is null", "long >= 9007199254740991", "narrow = 0.1", "double < 0", "price = 14.2", "exact < -1",
		"day = '2017-11-16'", "clock > '22:00:00'", "at <= '2017-11-16T22:31:08.123456'", "utc > '2017-11-16T22:31:08.123456Z'", "utc = '2017-11-16T23:31:08.123456+01:00'",
		"site = 'köln'", "site in ('a', 'köln') and not (day is null)", "uuid is null", "uuid = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
	}
	output := func(s *shelf, where string, do func(plan string, at func(string) string) string) string {
		var args []string
		if where != "" {
			args = []string{"--where", where}
		}
		dir := t.TempDir()
		text := do(mustPlan(t, append([]string{s.current.Location()}, args...)...), func(name string) string { return filepath.Join(dir, name) })
		return strings.ReplaceAll(strings.ReplaceAll(text, dir, "DIR"), s.current.Location(), "TABLE")
	}
	compare := func(what, where string, do func(plan string, at func(string) string) string) {
		t.Helper()
		if got, want := output(twins.lacking, where, do), output(twins.written, where, do); got != want {
			t.Errorf("%s, where %q: without the columns:\n%s\nwith them:\n%s", what, where, got, want)
		}
	}
	for _, where := range conditions {
		compare("inspect", where, func(plan string, _ func(string) string) string {
			args := []string{"inspect", "--plan", plan, "--scan", "--format", "csv", "-q"}
			if where != "" {
				args = append(args, "--where", where)
			}
			return runCommand(t, args...)
		})
		compare("apply", where, func(plan string, at func(string) string) string {
			args := []string{"--plan", plan}
			if where != "" {
				args = append(args, "--where", where)
			}
			return allColumns(t, at("t.csv"), args...)
		})
	}
	numbers := "x*,truth,whole,long,narrow,double,price,exact"
	compare("select, apply, eval and shards", "", func(plan string, at func(string) string) string {
		must.Do(t, os.Mkdir(at("parts"), 0o750))
		for _, args := range [][]string{
			{"select", "--plan", plan, "--columns", "x*,whole,long,narrow,double,price,exact,site,at", "--categorical", "site", "--times", "-k", "5", "-o", at("sel.json")},
			{"apply", "--plan", plan, "--selection", at("sel.json"), "--also", "uuid,utc,clock,day,exact,price", "-o", at("small.csv")},
			{"convert", "--plan", plan, "-o", at("folder") + "/"},
			{"eval", "--plan", plan, "--selection", at("sel.json"), "--label", "truth", "--format", "json", "-o", at("eval.json")},
			{"plan", "--plan", plan, "--columns", numbers, "--method", "greedy", "-o", at("job.plan.json")},
			{"scan", "--plan", at("job.plan.json"), "--shard", "1/2", "-o", at("parts") + "/"},
			{"scan", "--plan", at("job.plan.json"), "--shard", "2/2", "-o", at("parts") + "/"},
			{"merge", at("parts") + "/", "-o", at("all.ufs")},
			{"select", "--stats", at("all.ufs"), "-k", "5", "-o", at("shards.json")},
		} {
			runCommand(t, args...)
		}
		text := ""
		for _, name := range []string{"sel.json", "shards.json", "eval.json"} {
			text += withoutVolatile(t, must.Get(os.ReadFile(at(name)))(t)) + "\n"
		}
		return text + string(must.Get(os.ReadFile(at("small.csv")))(t)) + allColumns(t, at("folder.csv"), at("folder"))
	})
	compare("rows", "", func(plan string, _ func(string) string) string {
		return strings.Join(rowsOfPlan(t, plan, []string{"day", "clock", "at", "utc", "site", "uuid", "bytes"}), "\n")
	})
	compare("convert to one file", "", func(plan string, at func(string) string) string {
		runCommand(t, "convert", "--plan", plan, "-o", at("one.parquet"))
		return runCommand(t, "inspect", at("one.parquet"), "--scan", "--format", "csv", "-q") + allColumns(t, at("t.csv"), at("one.parquet"))
	})
}

// allColumns returns all values of an input.
func allColumns(t *testing.T, out string, input ...string) string {
	t.Helper()
	names := filepath.Join(t.TempDir(), "names.txt")
	must.Do(t, os.WriteFile(names, []byte("x1\n"), 0o600))
	var also []string
	for _, f := range constantFields() {
		if f.Name != "bytes" { // they have no form in CSV
			also = append(also, f.Name)
		}
	}
	runCommand(t, append([]string{"apply", "--selection", names, "--also", strings.Join(also, ","), "-q", "-o", out}, input...)...)
	return string(must.Get(os.ReadFile(out))(t))
}

// withoutVolatile returns a result without times and the digests of files.
func withoutVolatile(t *testing.T, text []byte) string {
	t.Helper()
	var result map[string]any
	must.Do(t, json.Unmarshal(text, &result))
	for _, name := range []string{"timing", "inputs", "input", "table", "created", "plan", "part", "stats", "memory", "command", "selections"} {
		delete(result, name)
	}
	return string(must.Get(json.MarshalIndent(result, "", " "))(t))
}

func decimalValue(unscaled int64, scale int) iceberg.Decimal {
	return iceberg.Decimal{Val: decimal128.FromI64(unscaled), Scale: scale}
}
