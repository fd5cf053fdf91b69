package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// deleted is a row of a data file that is deleted by its place.
type deleted struct {
	path string
	at   int64
}

// positions writes a file of position deletes, as Iceberg's writers do, and returns it for
// a commit.
func positions(t *testing.T, s *shelf, name string, deletes ...deleted) iceberg.DataFile {
	t.Helper()
	schema := must.Get(table.SchemaToArrowSchema(iceberg.PositionalDeleteSchema, nil, true, false))(t)
	var rows []row
	for _, d := range deletes {
		rows = append(rows, row{"file_path": d.path, "pos": d.at})
	}
	path := writeParquet(t, filepath.Join(s.current.Location(), "data", name), schema, rows)
	info := must.Get(os.Stat(path))(t)
	b := must.Get(iceberg.NewDataFileBuilder(s.current.Spec(), iceberg.EntryContentPosDeletes, path, iceberg.ParquetFile, nil, nil, nil, int64(len(rows)), info.Size()))(t)
	return b.Build()
}

// Only delete files that apply to files of the plan are refused: not one whose files went
// with a compaction, though it still is in the snapshot and its bounds still cover live files.
func TestDanglingPositionDeletes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	dir := s.current.Location()
	rows := someEvents(rng, 50)
	s.append(rows)
	_, live := readPlan(t, mustPlan(t, dir))
	gone := filepath.Join(dir, "data", "0-gone.parquet")
	dangling := positions(t, s, "dangling.parquet", deleted{gone, 0}, deleted{filepath.Join(dir, "data", "z-gone.parquet"), 3})
	s.change(func(tx *table.Transaction) error {
		return tx.NewRowDelta(nil).AddDeletes(dangling).Commit(t.Context())
	})
	tasks := must.Get(s.current.Scan().PlanFiles(t.Context()))(t)
	if len(tasks) != 1 || len(tasks[0].DeleteFiles) != 1 {
		t.Fatalf("the manifests do not say that the delete file may apply: %v", tasks)
	}
	sameSelection(t, "dangling deletes", mustSelect(t, "--plan", mustPlan(t, dir)), mustSelect(t, byHand(t, events(), rows)))

	applies := positions(t, s, "real.parquet", deleted{gone, 0}, deleted{live[0].Path, 7})
	s.change(func(tx *table.Transaction) error { return tx.NewRowDelta(nil).AddDeletes(applies).Commit(t.Context()) })
	refused(t, 3, []string{dir}, "real.parquet: this file of position deletes deletes rows of "+live[0].Path, "1 delete file applies to 1 of the 1 data files")
	must.Do(t, os.Truncate(filepath.Join(dir, "data", "real.parquet"), 100))
	refused(t, 3, []string{dir}, "real.parquet: this file of position deletes cannot be read")
}

// Equality deletes apply to what is older than they are, and are refused for that.
func TestEqualityDeletes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	dir := s.current.Location()
	rows := someEvents(rng, 40)
	s.append(rows)
	keys := func(ids ...int64) iter.Seq2[arrow.RecordBatch, error] {
		schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: arrow.NewMetadata([]string{table.ArrowParquetFieldIDKey}, []string{"1"})}}, nil)
		var rows []row
		for _, id := range ids {
			rows = append(rows, row{"id": id})
		}
		return func(yield func(arrow.RecordBatch, error) bool) { yield(record(schema, rows), nil) }
	}
	s.change(func(tx *table.Transaction) error {
		return tx.CommitEqualityDeletes(t.Context(), []int{1}, keys(rows[0]["id"].(int64), rows[7]["id"].(int64)), nil)
	})
	before := s.snapshot()
	refused(t, 3, []string{dir}, "this file of equality deletes", "1 delete file applies to 1 of the 1 data files")
	compact(t, s)
	newer := someEvents(rng, 40)
	s.append(newer)
	if n := liveRows(t, s); mustSelect(t, "--plan", mustPlan(t, dir)).Rows != n {
		t.Errorf("the plan has not the %d live rows", n)
	}
	refused(t, 3, []string{dir, "--snapshot", fmt.Sprint(before)}, "equality deletes")
}

// Deletion vectors of version 3 are refused, one for each data file.
func TestDeletionVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "3", "write.delete.mode": "merge-on-read"})
	dir := s.current.Location()
	var rows []row
	for range 2 {
		more := someEvents(rng, 60)
		for i := range more {
			more[i]["ok"] = i%5 == 0
		}
		rows = append(rows, more...)
		s.append(more)
	}
	sameSelection(t, "version 3", mustSelect(t, "--plan", mustPlan(t, dir)), mustSelect(t, byHand(t, events(), rows)))
	s.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.EqualTo(iceberg.Reference("ok"), true), nil)
	})
	refused(t, 3, []string{dir}, ".puffin: this file of deletion vectors deletes rows of "+dir, "2 delete files apply to 2 of the 2 data files")
	// A condition that no deleted row's file can meet does not help: both files have such rows.
	if _, said := tryPlan(t, dir, "--where", "not ok"); !strings.Contains(said, "deletion vectors") {
		t.Errorf("with a condition: got %q, want deletion vectors refused", said)
	}
}

// A delete file matters only where its data file is planned.
func TestDeletesOfOtherPartitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	s := local(t, events(), layouts()["texts"], mergeOnRead)
	dir := s.current.Location()
	rows := someEvents(rng, 120)
	for i := range rows {
		rows[i]["site"], rows[i]["ok"] = []string{"north", "south"}[i%2], i%6 == 0
	}
	s.append(rows)
	s.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.EqualTo(iceberg.Reference("ok"), true), nil)
	})
	refused(t, 3, []string{dir}, "position deletes", "data files of "+dir)
	where := []string{"--where", "site = 'south'"}
	plan := mustPlan(t, append([]string{dir}, where...)...)
	sameSelection(t, "south", mustSelect(t, "--plan", plan), mustSelect(t, append([]string{byHand(t, events(), rows)}, where...)...))
}
