package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// numbered gives rows ids that no others have.
func numbered(rows []row, first int) []row {
	for i := range rows {
		rows[i]["id"] = int64(first + i)
	}
	return rows
}

// idsOf are the sorted ids of rows.
func idsOf(rows []row) []int64 {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r["id"].(int64)
	}
	slices.Sort(ids)
	return ids
}

// plannedIDs are the sorted ids of the rows of a plan, without the deleted.
func plannedIDs(t *testing.T, plan string) (ids []int64) {
	t.Helper()
	head, files := readPlan(t, plan)
	for _, f := range files {
		gone := roaring64.New()
		if f.Deleted != nil {
			must.Do(t, gone.UnmarshalBinary(f.Deleted))
		}
		in := must.Get(file.OpenParquetFile(f.Path, false))(t)
		r := must.Get(pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator))(t)
		all := must.Get(r.ReadTable(t.Context()))(t)
		at := all.Schema().FieldIndices("id")[0]
		row := uint64(0)
		for _, chunk := range all.Column(at).Data().Chunks() {
			for _, id := range chunk.(*array.Int64).Int64Values() {
				if !gone.Contains(row) {
					ids = append(ids, id)
				}
				row++
			}
		}
		all.Release()
		must.Do(t, in.Close())
		if n := gone.GetCardinality(); n == row {
			t.Errorf("all %d rows of %s are deleted, and it is in the plan", n, f.Path)
		}
	}
	if head.Count != len(files) {
		t.Errorf("%d files, and the header has %d", len(files), head.Count)
	}
	slices.Sort(ids)
	return ids
}

// sameRows compares the rows of a plan with those that are live, by hand and by iceberg-go.
func sameRows(t *testing.T, what string, s *shelf, live []row, args ...string) {
	t.Helper()
	plan := mustPlan(t, append([]string{s.current.Location()}, args...)...)
	got, want := plannedIDs(t, plan), idsOf(live)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d rows, want %d; the first ids %v, want %v", what, len(got), len(want), got[:min(len(got), 9)], want[:min(len(want), 9)])
	}
	if len(args) > 0 {
		return
	}
	if n := sameAsScan(t, what, s.current, plan); n != len(live) {
		t.Errorf("%s: iceberg-go reads %d rows, want %d", what, n, len(live))
	}
}

// deleted is a row of a data file that is deleted by its place.
type deleted struct {
	path string
	at   int64
}

// positions writes a file of position deletes, as Iceberg's writers do, and returns it for
// a commit.
func positions(t *testing.T, s *shelf, name string, deletes ...deleted) *iceberg.DataFileBuilder {
	t.Helper()
	schema := must.Get(table.SchemaToArrowSchema(iceberg.PositionalDeleteSchema, nil, true, false))(t)
	var rows []row
	for _, d := range deletes {
		rows = append(rows, row{"file_path": d.path, "pos": d.at})
	}
	path := writeParquet(t, filepath.Join(s.current.Location(), "data", name), schema, rows)
	return deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.ParquetFile, int64(len(rows)))
}

func deleteFile(t *testing.T, s *shelf, path string, content iceberg.ManifestEntryContent, format iceberg.FileFormat, count int64) *iceberg.DataFileBuilder {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	return must.Get(iceberg.NewDataFileBuilder(s.current.Spec(), content, path, format, nil, nil, nil, count, info.Size()))(t)
}

// commit adds delete files to the table.
func commit(t *testing.T, s *shelf, files ...*iceberg.DataFileBuilder) {
	t.Helper()
	s.change(func(tx *table.Transaction) error {
		delta := tx.NewRowDelta(nil)
		for _, f := range files {
			delta = delta.AddDeletes(f.Build())
		}
		return delta.Commit(t.Context())
	})
}

// dataFiles are the paths of the data files of a table, the newest last.
func dataFiles(t *testing.T, s *shelf) (paths []string) {
	t.Helper()
	tasks := must.Get(s.current.Scan().PlanFiles(t.Context()))(t)
	slices.SortFunc(tasks, func(a, b table.FileScanTask) int { return int(*a.DataSequenceNumber - *b.DataSequenceNumber) })
	for _, task := range tasks {
		paths = append(paths, task.File.FilePath())
	}
	return paths
}

// Position deletes apply to the files that they name, with and without a referenced data file. A delete
// file may stay in the snapshot although its files went with a compaction, and its bounds still cover live files.
func TestPositionDeletes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	dir := s.current.Location()
	a, b := numbered(someEvents(rng, 5000), 0), numbered(someEvents(rng, 70), 10_000)
	s.append(a)
	s.append(b)
	files := dataFiles(t, s)
	gone := filepath.Join(dir, "data", "0-gone.parquet")
	commit(t, s, positions(t, s, "dangling.parquet", deleted{gone, 0}, deleted{filepath.Join(dir, "data", "z-gone.parquet"), 3_000_000}))
	sameRows(t, "dangling deletes", s, slices.Concat(a, b))

	var many []deleted
	for i := range a {
		if i%3 == 0 {
			many = append(many, deleted{files[0], int64(i)})
		}
	}
	many = append(many, deleted{files[1], 69}, deleted{gone, 9})
	commit(t, s, positions(t, s, "many.parquet", many...))
	again := positions(t, s, "again.parquet", deleted{files[1], 0}, deleted{files[1], 69})
	commit(t, s, again.ReferencedDataFile(files[1]))
	liveA := slices.Collect(func(yield func(row) bool) {
		for i, r := range a {
			if i%3 > 0 && !yield(r) {
				return
			}
		}
	})
	sameRows(t, "positions", s, slices.Concat(liveA, b[1:69]))

	var all []deleted
	for i := range b {
		all = append(all, deleted{files[1], int64(i)})
	}
	commit(t, s, positions(t, s, "all.parquet", all...))
	sameRows(t, "a file without a live row", s, liveA)
	for i := range a {
		all = append(all, deleted{files[0], int64(i)})
	}
	slices.SortFunc(all, func(x, y deleted) int { return strings.Compare(x.path, y.path) })
	commit(t, s, positions(t, s, "rest.parquet", all...))
	refused(t, 3, []string{dir}, "all rows of snapshot", "are deleted")
}

// someKeys are columns by which rows are deleted, by their ids.
var someKeys = map[string]int{"id": 1, "qty": 2, "ok": 5, "site": 6, "day": 7, "at": 8, "utc": 9, "price": 10}

// deleteEqual deletes rows that are equal to one of the keys in some columns. All keys are committed at once.
func deleteEqual(t *testing.T, s *shelf, columns []string, keys []row, byHand bool) {
	t.Helper()
	whole := must.Get(table.SchemaToArrowSchema(s.current.Schema(), nil, true, false))(t)
	var ids []int
	var fields []arrow.Field
	for _, c := range columns {
		f, _ := whole.FieldsByName(c)
		f[0].Nullable = true
		fields, ids = append(fields, f[0]), append(ids, someKeys[c])
	}
	if byHand { // without bounds
		path := writeParquet(t, filepath.Join(s.current.Location(), "data", fmt.Sprintf("equal-%d.parquet", s.version)), arrow.NewSchema(fields, nil), keys)
		commit(t, s, deleteFile(t, s, path, iceberg.EntryContentEqDeletes, iceberg.ParquetFile, int64(len(keys))).EqualityFieldIDs(ids))
		return
	}
	schema := arrow.NewSchema(fields, nil)
	var records iter.Seq2[arrow.RecordBatch, error] = func(yield func(arrow.RecordBatch, error) bool) { yield(record(schema, keys), nil) }
	s.change(func(tx *table.Transaction) error { return tx.CommitEqualityDeletes(t.Context(), ids, records, nil) })
}

// Equality deletes by any columns apply to the rows that are older than they are; a naive replay tells which are
// live. Rows that come back after a delete are live.
func TestEqualityDeletes(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		rng := rand.New(rand.NewPCG(3, 2))
		s := local(t, events(), nil, iceberg.Properties{"format-version": version})
		var live []row
		var all []row
		deletedRows := 0
		for step := range 24 {
			if step%3 == 0 {
				more := numbered(someEvents(rng, 150), 1000*step)
				if step > 0 { // some rows once more, with their old ids
					for i := range more[:20] {
						more[i] = all[rng.IntN(len(all))]
					}
				}
				all, live = append(all, more...), append(live, more...)
				s.append(more)
				continue
			}
			columns := slices.Collect(func(yield func(string) bool) {
				names := []string{"id", "qty", "ok", "site", "day", "at", "utc", "price"}
				rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
				for _, n := range names[:1+rng.IntN(3)] {
					if !yield(n) {
						return
					}
				}
			})
			if slices.Equal(columns, []string{"ok"}) {
				columns = []string{"ok", "qty"}
			}
			var keys []row
			for range 3 {
				keys = append(keys, all[rng.IntN(len(all))])
			}
			deleteEqual(t, s, columns, keys, step%2 == 0)
			before := len(live)
			live = slices.DeleteFunc(live, func(r row) bool {
				return slices.ContainsFunc(keys, func(k row) bool {
					return !slices.ContainsFunc(columns, func(c string) bool { return r[c] != k[c] })
				})
			})
			deletedRows += before - len(live)
			sameRows(t, fmt.Sprintf("version %s, step %d, by %v", version, step, columns), s, live)
		}
		if deletedRows < 100 || len(live) < 100 {
			t.Errorf("%d rows were deleted and %d are live: the test says little", deletedRows, len(live))
		}
		compact(t, s)
		sameRows(t, "compacted", s, live) // with the ids of rows as a column in version 3, which is not the table's
	}
}

// Equality deletes apply whatever the columns that they compare became since: renamed, widened, dropped.
func TestEqualityDeletesOfEvolvedColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	live := numbered(someEvents(rng, 200), 0)
	s.append(live)
	gone := func(name, now string, keys []row) {
		deleteEqual(t, s, []string{now}, keys, true)
		live = slices.DeleteFunc(live, func(r row) bool {
			return slices.ContainsFunc(keys, func(k row) bool { return r[name] == k[now] })
		})
	}
	gone("qty", "qty", []row{{"qty": live[3]["qty"]}})
	sameRows(t, "before", s, live)
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema {
		return widenColumn(u, s.current.Schema(), []string{"qty"})
	})
	evolve(s, renameColumn("qty", "amount"))
	someKeys["amount"] = someKeys["qty"]
	more := numbered(someEvents(rng, 100), 1000)
	for i := range more {
		more[i]["amount"] = more[i]["qty"]
	}
	live = append(live, more...)
	s.append(more)
	sameRows(t, "renamed and widened", s, live)
	gone("qty", "amount", []row{{"amount": live[0]["qty"]}, {"amount": more[len(more)-1]["qty"]}})
	// iceberg-go 0.7.0 takes an int of an old file for another value than the same long of a delete file.
	byHand := []string{"--memory-limit", "1GiB"}
	sameRows(t, "deleted by the new name", s, live, byHand...)
	evolve(s, func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn([]string{"amount"}) })
	evolve(s, addColumn("amount"))
	sameRows(t, "dropped and added again", s, live, byHand...)
}

// Deletes of a partition apply to that partition alone, and deletes of an unpartitioned spec to all.
func TestEqualityDeletesOfPartitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	whole := s.current.Spec()
	first := numbered(someEvents(rng, 20), 0)
	s.append(first)
	s.change(func(tx *table.Transaction) error { return tx.UpdateSpec(true).AddIdentity("site").Commit() })
	sites := func(from int) []row {
		rows := numbered(someEvents(rng, 40), from)
		for i := range rows {
			rows[i]["site"], rows[i]["qty"] = []string{"north", "south", "west"}[i%3], int64(i%5)
			if i%3 == 2 {
				delete(rows[i], "site")
			}
		}
		return rows
	}
	rows := sites(1000)
	s.append(rows)
	part := s.current.Spec()
	field := part.Field(0).FieldID
	write := func(spec iceberg.PartitionSpec, site any, qty ...int64) *iceberg.DataFileBuilder {
		schema := must.Get(table.SchemaToArrowSchema(s.current.Schema(), nil, true, false))(t)
		f, _ := schema.FieldsByName("qty")
		var keys []row
		for _, q := range qty {
			keys = append(keys, row{"qty": q})
		}
		path := writeParquet(t, filepath.Join(s.current.Location(), "data", fmt.Sprintf("part-%d-%v.parquet", s.version, site)), arrow.NewSchema(f, nil), keys)
		partition := map[int]any{}
		if spec.NumFields() > 0 {
			partition[field] = site
		}
		info := must.Get(os.Stat(path))(t)
		return must.Get(iceberg.NewDataFileBuilder(spec, iceberg.EntryContentEqDeletes, path, iceberg.ParquetFile, partition, nil, nil, int64(len(qty)), info.Size()))(t).EqualityFieldIDs([]int{2})
	}
	live := func(site any, qty ...int64) {
		rows = slices.DeleteFunc(rows, func(r row) bool {
			q, _ := r["qty"].(int64)
			return (site == "any" || r["site"] == site) && slices.Contains(qty, q)
		})
	}
	commit(t, s, write(part, "north", 1, 2), write(part, nil, 3))
	live("north", 1, 2)
	live(nil, 3)
	sameRows(t, "partitions", s, slices.Concat(first, rows))
	more := sites(2000)
	s.append(more)
	commit(t, s, write(part, "south", 0))
	rows = append(rows, more...)
	live("south", 0)
	sameRows(t, "partitions, once more", s, slices.Concat(first, rows))
	rows = append(rows, first...)
	commit(t, s, write(whole, "any", 4))
	live("any", 4)
	sameRows(t, "partitions and all", s, rows)
}

// bitmap has rows as Roaring's portable 64-bit bytes.
func bitmap(t *testing.T, rows ...uint64) []byte {
	t.Helper()
	return must.Get(roaring64.BitmapOf(rows...).ToBytes())(t)
}

// vectorBlob is a blob of type deletion-vector-v1, by the specification of Puffin.
func vectorBlob(bitmap []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(bitmap)))
	b = append(b, 0xd1, 0xd3, 0x39, 0x64)
	b = append(b, bitmap...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// vector is a deletion vector of a file of tests.
type vector struct {
	target      string
	blob        []byte
	cardinality int64
}

// writePuffin writes deletion vectors to one file, and returns them for a commit.
func writePuffin(t *testing.T, s *shelf, name string, vectors ...vector) (builders []*iceberg.DataFileBuilder) {
	t.Helper()
	path := filepath.Join(s.current.Location(), "data", name)
	out := must.Get(os.Create(path))(t)
	w := must.Get(puffin.NewWriter(out))(t)
	var blobs []puffin.BlobMetadata
	for _, v := range vectors {
		blobs = append(blobs, must.Get(w.AddBlob(puffin.BlobMetadataInput{
			Type: puffin.BlobTypeDeletionVector, SnapshotID: -1, SequenceNumber: -1, Fields: []int32{},
			Properties: map[string]string{"referenced-data-file": v.target, "cardinality": fmt.Sprint(v.cardinality)},
		}, v.blob))(t))
	}
	must.Do(t, w.Finish())
	must.Do(t, out.Close())
	for i, v := range vectors {
		b := deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.PuffinFile, v.cardinality)
		builders = append(builders, b.ReferencedDataFile(v.target).ContentOffset(blobs[i].Offset).ContentSizeInBytes(blobs[i].Length))
	}
	return builders
}

// Deletion vectors of iceberg-go, and of several data files in one Puffin file; a vector supersedes position deletes.
func TestDeletionVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "3", "write.delete.mode": "merge-on-read"})
	a, b := numbered(someEvents(rng, 90), 0), numbered(someEvents(rng, 60), 1000)
	for i := range a {
		a[i]["ok"] = i%5 == 0
	}
	for i := range b {
		b[i]["ok"] = i%5 == 0
	}
	s.append(a)
	s.append(b)
	s.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.EqualTo(iceberg.Reference("ok"), true), nil)
	})
	if _, files := readPlan(t, mustPlan(t, s.current.Location())); files[0].Deleted == nil || files[1].Deleted == nil {
		t.Error("there are no vectors of both files")
	}
	dead := func(r row) bool { return r["ok"] == true }
	sameRows(t, "of iceberg-go", s, slices.DeleteFunc(slices.Concat(a, b), dead))
	sameRows(t, "with a condition that they meet", s, slices.DeleteFunc(slices.Concat(a, b), dead), "--where", "ok or not ok")

	s = local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	s.append(a)
	s.append(b)
	files := dataFiles(t, s)
	commit(t, s, positions(t, s, "old.parquet", deleted{files[0], 3}, deleted{files[0], 4}))
	sameRows(t, "position deletes", s, slices.Concat(a[:3], a[5:], b))
	s.change(func(tx *table.Transaction) error { return tx.UpgradeFormatVersion(3) })
	sameRows(t, "position deletes in version 3", s, slices.Concat(a[:3], a[5:], b))
	commit(t, s, writePuffin(t, s, "two.puffin", vector{files[1], vectorBlob(bitmap(t, 0, 1, 2, 59)), 4}, vector{files[0], vectorBlob(bitmap(t, 4, 89)), 2})...)
	sameRows(t, "two vectors in a file", s, slices.Concat(a[:4], a[5:89], b[3:59]))
}

// Forged and damaged delete files are named with their fault.
func TestForgedDeletes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	rows := numbered(someEvents(rng, 10), 0)
	good := func(t *testing.T) []byte { return bitmap(t, 1, 2) }
	change := func(b []byte, at int, to byte) []byte {
		b = bytes.Clone(b)
		if at < 0 {
			at += len(b)
		}
		b[at] = to
		return b
	}
	// A bitmap of one container of runs, 5 to 9 and 3 to 4, which are in no order.
	runs := []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3b, 0x30, 0, 0, 1, 0, 0, 6, 0, 2, 0, 5, 0, 4, 0, 3, 0, 1, 0}
	for name, c := range map[string]struct {
		vector  func(t *testing.T, target string) vector
		builder func(b *iceberg.DataFileBuilder)
		says    string
	}{
		"checksum":     {vector: func(t *testing.T, f string) vector { return vector{f, change(vectorBlob(good(t)), -1, 9), 2} }, says: "checksum"},
		"magic":        {vector: func(t *testing.T, f string) vector { return vector{f, change(vectorBlob(good(t)), 4, 9), 2} }, says: "magic number"},
		"length":       {vector: func(t *testing.T, f string) vector { return vector{f, change(vectorBlob(good(t)), 0, 9), 2} }, says: "claims a length"},
		"short":        {vector: func(t *testing.T, f string) vector { return vector{f, []byte{1, 2}, 2} }, says: "only 2 bytes"},
		"no bitmap":    {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob([]byte{1, 2, 3}), 2} }, says: "is damaged: unexpected EOF"},
		"many bitmaps": {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob(bytes.Repeat([]byte{0xff}, 20)), 2} }, says: "invalid bucket count"},
		"cut":          {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob(good(t)[:20]), 2} }, says: "could not deserialize bitmap"},
		"runs":         {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob(runs), 7} }, says: "is damaged"},
		"cardinality":  {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob(good(t)), 1 << 60} }, says: "deletes 2 rows, and the manifest says 1152921504606846976"},
		"beyond":       {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob(bitmap(t, 1, 10)), 2} }, says: "it deletes row 10 of "},
		"far beyond":   {vector: func(t *testing.T, f string) vector { return vector{f, vectorBlob(bitmap(t, 1<<63)), 1} }, says: "it deletes row 9223372036854775808 of "},
		"offset":       {builder: func(b *iceberg.DataFileBuilder) { b.ContentOffset(1 << 50) }, says: "no blob"},
		"size":         {builder: func(b *iceberg.DataFileBuilder) { b.ContentSizeInBytes(1 << 50) }, says: "no blob of 1125899906842624 bytes"},
		"other size":   {builder: func(b *iceberg.DataFileBuilder) { b.ContentSizeInBytes(7) }, says: "no blob of 7 bytes"},
		"encrypted":    {builder: func(b *iceberg.DataFileBuilder) { b.KeyMetadata([]byte{1}) }, says: "is encrypted"},
		"other file":   {vector: func(t *testing.T, f string) vector { return vector{f + "x", vectorBlob(good(t)), 2} }, says: "is of "},
	} {
		t.Run(name, func(t *testing.T) {
			s := local(t, events(), nil, iceberg.Properties{"format-version": "3"})
			s.append(rows)
			target := dataFiles(t, s)[0]
			v := vector{target, vectorBlob(good(t)), 2}
			if c.vector != nil {
				v = c.vector(t, target)
			}
			b := writePuffin(t, s, "forged.puffin", v)[0].ReferencedDataFile(target)
			if c.builder != nil {
				c.builder(b)
			}
			commit(t, s, b)
			refused(t, 3, []string{s.current.Location()}, "forged.puffin", c.says)
		})
	}
	for name, c := range map[string]struct {
		file func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder
		says []string
	}{
		"beyond": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			return positions(t, s, "p.parquet", deleted{target, 10})
		}, says: []string{"it deletes row 10 of ", "which has 10 rows"}},
		"negative": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			return positions(t, s, "p.parquet", deleted{target, -1})
		}, says: []string{"it deletes row -1 of "}},
		"no column": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			path := writeParquet(t, filepath.Join(s.current.Location(), "data", "p.parquet"), arrow.NewSchema([]arrow.Field{{Name: "file_path", Type: arrow.BinaryTypes.String}}, nil), []row{{"file_path": target}})
			return deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.ParquetFile, 1)
		}, says: []string{"it has no column pos"}},
		"other type": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			path := writeParquet(t, filepath.Join(s.current.Location(), "data", "p.parquet"), arrow.NewSchema([]arrow.Field{{Name: "file_path", Type: arrow.BinaryTypes.String}, {Name: "pos", Type: arrow.PrimitiveTypes.Float64}}, nil), []row{{"file_path": target, "pos": 1.0}})
			return deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.ParquetFile, 1)
		}, says: []string{`column "pos"`, "not the table's"}},
		"null": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			path := writeParquet(t, filepath.Join(s.current.Location(), "data", "p.parquet"), arrow.NewSchema([]arrow.Field{{Name: "file_path", Type: arrow.BinaryTypes.String}, {Name: "pos", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil), []row{{"file_path": target}})
			return deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.ParquetFile, 1)
		}, says: []string{"a null"}},
		"cut": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			b := positions(t, s, "p.parquet", deleted{target, 3})
			must.Do(t, os.Truncate(filepath.Join(s.current.Location(), "data", "p.parquet"), 100))
			return b
		}, says: []string{"this file of position deletes cannot be read"}},
		"gone": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			b := positions(t, s, "p.parquet", deleted{target, 3})
			must.Do(t, os.Remove(filepath.Join(s.current.Location(), "data", "p.parquet")))
			return b
		}, says: []string{"no such file"}},
		"Avro": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			path := filepath.Join(s.current.Location(), "data", "p.parquet")
			must.Do(t, os.WriteFile(path, []byte("Obj"), 0o600))
			return deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.AvroFile, 1)
		}, says: []string{"this file of position deletes is AVRO", "rewrite_data_files"}},
		"encrypted": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			return positions(t, s, "p.parquet", deleted{target, 3}).KeyMetadata([]byte{1})
		}, says: []string{"this file of position deletes is encrypted"}},
		"sound": {file: func(t *testing.T, s *shelf, target string) *iceberg.DataFileBuilder {
			return positions(t, s, "p.parquet", deleted{target, 3})
		}, says: nil},
	} {
		t.Run("positions, "+name, func(t *testing.T) {
			s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
			s.append(rows)
			commit(t, s, c.file(t, s, dataFiles(t, s)[0]))
			if c.says == nil {
				sameRows(t, name, s, slices.Concat(rows[:3], rows[4:]))
				return
			}
			refused(t, 3, []string{s.current.Location()}, append(c.says, "p.parquet")...)
		})
	}
}

// What deletes take in memory is limited, and the message names the flag.
func TestMemoryOfDeletes(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	rows := numbered(someEvents(rng, 20_000), 0)
	s.append(rows)
	deleteEqual(t, s, []string{"id", "site"}, rows[:15_000], true)
	refused(t, 4, []string{s.current.Location(), "--memory-limit", "2MiB"}, "reading the deletes of "+s.current.Location(), "the limit is 2.0 MiB", "--memory-limit", "rewrite_data_files")
	sameRows(t, "enough memory", s, rows[15_000:], "--memory-limit", "40MiB")
	refused(t, 2, []string{s.current.Location(), "--memory-limit", "much"}, "--memory-limit much", "512MiB")
}

// A condition leaves out no delete file by the bounds of a column that the deletes do not compare.
func TestConditionKeepsDeletes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	s := local(t, events(), nil, iceberg.Properties{"format-version": "2"})
	rows := numbered(someEvents(rng, 50), 0)
	for i := range rows {
		rows[i]["qty"] = int64(i % 5)
	}
	s.append(rows)
	whole := must.Get(table.SchemaToArrowSchema(s.current.Schema(), nil, true, false))(t)
	id, _ := whole.FieldsByName("id")
	qty, _ := whole.FieldsByName("qty")
	path := writeParquet(t, filepath.Join(s.current.Location(), "data", "wide.parquet"), arrow.NewSchema([]arrow.Field{id[0], qty[0]}, nil), []row{{"id": int64(7), "qty": int64(100)}})
	bounds := map[int][]byte{2: must.Get(iceberg.Int32Literal(100).MarshalBinary())(t)}
	commit(t, s, deleteFile(t, s, path, iceberg.EntryContentEqDeletes, iceberg.ParquetFile, 1).EqualityFieldIDs([]int{1}).
		ValueCounts(map[int]int64{2: 1}).NullValueCounts(map[int]int64{2: 0}).LowerBoundValues(bounds).UpperBoundValues(bounds))
	sameRows(t, "with a condition", s, slices.Concat(rows[:7], rows[8:]), "--where", "qty < 50")
}
