package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// buildSame builds testdata/same.go in the module of ufs-stream.
var buildSame = sync.OnceValues(func() (string, error) { return buildProgram("same") })

// history is a table that commits change at random, and a folder for statistics of it.
type history struct {
	*shelf
	rng *rand.Rand
	id  int
	dir string
}

func newHistory(t *testing.T, seed uint64, props iceberg.Properties) *history {
	t.Helper()
	h := &history{shelf: local(t, events(), nil, props), rng: rand.New(rand.NewPCG(seed, 52)), dir: t.TempDir()}
	for range 3 {
		h.append(h.newRows(200))
	}
	return h
}

func (h *history) newRows(n int) []row {
	rows := numbered(someEvents(h.rng, n), h.id)
	h.id += n
	return rows
}

// commitAny commits a change of a random kind and returns its name.
func (h *history) commitAny() string {
	t := h.t
	format := h.current.Metadata().Version()
	switch kind := h.rng.IntN(9); {
	case kind < 3:
		h.append(h.newRows(40 + h.rng.IntN(100)))
		return "append"
	case kind == 3 && format == 2:
		files := dataFiles(t, h.shelf)
		var rows []deleted
		for range 8 {
			rows = append(rows, deleted{files[h.rng.IntN(len(files))], int64(h.rng.IntN(20))})
		}
		slices.SortFunc(rows, func(a, b deleted) int { return slices.Compare([]string{a.path}, []string{b.path}) })
		commit(t, h.shelf, positions(t, h.shelf, fmt.Sprintf("positions-%d.parquet", h.version), rows...))
		return "position deletes"
	case kind <= 4 && format >= 2:
		var keys []row
		for range 15 {
			keys = append(keys, row{"id": int64(h.rng.IntN(h.id))})
		}
		deleteEqual(t, h.shelf, []string{"id"}, keys, h.rng.IntN(2) == 0)
		return "equality deletes"
	case kind <= 6:
		from := h.rng.IntN(h.id)
		h.change(func(tx *table.Transaction) error {
			return tx.Delete(t.Context(), iceberg.NewAnd(iceberg.GreaterThanEqual(iceberg.Reference("id"), int64(from)), iceberg.LessThan(iceberg.Reference("id"), int64(from+30))), nil)
		})
		return "delete"
	case kind == 7:
		compact(t, h.shelf)
		return "compaction"
	}
	h.change(func(tx *table.Transaction) error {
		return tx.SetProperties(iceberg.Properties{"k": fmt.Sprint(h.version)})
	})
	return "nothing"
}

// scan plans with the arguments and scans by the plan.
func (h *history) scan(name string, args ...string) string {
	h.t.Helper()
	out := filepath.Join(h.dir, name+".ufs")
	runCommand(h.t, "scan", "--plan", mustPlan(h.t, append([]string{h.current.Location()}, args...)...), "--columns", "*", "-o", out)
	return out
}

func (h *history) merge(name string, files ...string) string {
	h.t.Helper()
	out := filepath.Join(h.dir, name+".ufs")
	runCommand(h.t, slices.Concat([]string{"merge"}, files, []string{"-o", out})...)
	return out
}

// sameAsWhole compares statistics with those of a scan of the whole table: counts, sums, and a selection.
func (h *history) sameAsWhole(what, stats string, args ...string) {
	h.t.Helper()
	whole := h.scan("whole", args...)
	if out, err := exec.CommandContext(h.t.Context(), must.Get(buildSame())(h.t), stats, whole).CombinedOutput(); err != nil {
		h.t.Fatalf("%s: %s", what, out)
	}
	sameSelection(h.t, what, mustSelect(h.t, "--stats", stats), mustSelect(h.t, "--stats", whole))
}

// The changes of a table, merged day by day or at once, or planned at once over all days, make the statistics of its older
// snapshot those of a scan of the whole table.
func TestSinceIsTheWhole(t *testing.T) {
	const commits = 30
	seen := map[string]bool{}
	for seed, props := range []iceberg.Properties{
		{"format-version": "2", "write.delete.mode": "merge-on-read"},
		{"format-version": "3", "write.delete.mode": "merge-on-read"},
		{"format-version": "2"},
		{"format-version": "1"},
	} {
		h := newHistory(t, uint64(seed), props)
		first := h.snapshot()
		total := h.scan("base")
		days := []string{total}
		for day := 0; day < commits; {
			for range 1 + h.rng.IntN(2)*h.rng.IntN(4) {
				seen[h.commitAny()] = true
				day++
			}
			name := fmt.Sprint(seed, "-", day)
			days = append(days, h.scan("day-"+name, "--since", total))
			total = h.merge("total-"+name, total, days[len(days)-1])
			if day >= commits || h.rng.IntN(4) == 0 {
				h.sameAsWhole("day by day, to day "+name, total)
			}
		}
		what := fmt.Sprint("seed ", seed)
		h.sameAsWhole(what+", planned at once", h.merge("once", days[0], h.scan("all-days", "--since", itoa(first))))
		h.rng.Shuffle(len(days), func(i, j int) { days[i], days[j] = days[j], days[i] })
		h.sameAsWhole(what+", merged at once", h.merge("shuffled", days...))
	}
	for _, kind := range []string{"append", "position deletes", "equality deletes", "delete", "compaction", "nothing"} {
		if !seen[kind] {
			t.Errorf("no change was of the kind %q", kind)
		}
	}
}

// changes plans the changes since a snapshot, and returns the number of rows gained and lost, and the files.
func (h *history) changes(since string, args ...string) (gained, lost int, files []planfile.File) {
	h.t.Helper()
	_, files = readPlan(h.t, mustPlan(h.t, slices.Concat([]string{h.current.Location(), "--since", since}, args)...))
	for _, f := range files {
		in := must.Get(file.OpenParquetFile(f.Path, false))(h.t)
		rows := int(in.NumRows())
		must.Do(h.t, in.Close())
		if f.Deleted != nil {
			gone := roaring64.New()
			must.Do(h.t, gone.UnmarshalBinary(f.Deleted))
			rows -= int(gone.GetCardinality())
		}
		if f.Lost {
			lost += rows
		} else {
			gained += rows
		}
	}
	return gained, lost, files
}

func (h *history) wantChanges(what, since string, gained, lost int) []planfile.File {
	h.t.Helper()
	g, l, files := h.changes(since)
	if g != gained || l != lost {
		h.t.Errorf("%s: %d rows gained and %d lost, want %d and %d", what, g, l, gained, lost)
	}
	return files
}

// Only the rows that changed are planned: compacted files are none, and neither are rows that came and went.
func TestSinceReadsTheChanges(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		h := newHistory(t, 9, iceberg.Properties{"format-version": version, "write.delete.mode": "merge-on-read"})
		base, first := h.scan("base"), itoa(h.snapshot())
		remove := func(from, to int) {
			h.change(func(tx *table.Transaction) error {
				return tx.Delete(t.Context(), iceberg.NewAnd(iceberg.GreaterThanEqual(iceberg.Reference("id"), int64(from)), iceberg.LessThan(iceberg.Reference("id"), int64(to))), nil)
			})
		}
		files := h.wantChanges("nothing", first, 0, 0)
		if len(files) != 1 {
			t.Errorf("%d files for no change, want one with the columns", len(files))
		}
		h.sameAsWhole("nothing", h.merge("nothing", base, h.scan("no-day", "--since", first)))
		remove(10, 20)
		h.wantChanges("deleted", first, 0, 10)
		second := itoa(h.snapshot())
		compact(t, h.shelf)
		h.wantChanges("compacted", second, 0, 0)
		h.wantChanges("deleted and compacted", first, 0, 10)
		remove(15, 30)
		h.wantChanges("deleted from old and compacted files", first, 0, 20)
		h.append(h.newRows(50))
		remove(h.id-8, h.id)
		h.wantChanges("and appended", first, 42, 20)
		compact(t, h.shelf)
		remove(h.id-12, h.id-8)
		h.wantChanges("and deleted from the appended, compacted", second, 42, 14)
		third := itoa(h.snapshot())
		untouched := dataFiles(t, h.shelf)
		h.append(h.newRows(30))
		gained := 30
		if version == "3" { // position deletes name their files only inside, so that files of all others are opened
			remove(h.id-1, h.id)
			gained--
		}
		h.wantChanges("an append", third, gained, 0)
		total := h.scan("total")
		for _, f := range untouched {
			must.Do(t, os.Rename(f, f+".away"))
		}
		day := h.scan("day", "--since", third)
		for _, f := range untouched {
			must.Do(t, os.Rename(f+".away", f))
		}
		h.sameAsWhole("untouched files away", h.merge("sum", base, h.scan("to-third", "--since", first, "--snapshot", third), day))
		if out, err := exec.CommandContext(t.Context(), must.Get(buildSame())(t), h.merge("again", base, h.scan("at-once", "--since", base)), total).CombinedOutput(); err != nil {
			t.Errorf("at once: %s", out)
		}
	}
}

// Shards of changes are merged in one go with the base, and a plan that was completed with footers is a base too.
func TestSinceInShards(t *testing.T) {
	h := newHistory(t, 10, iceberg.Properties{"format-version": "3", "write.delete.mode": "merge-on-read"})
	at := func(name string) string { return filepath.Join(h.dir, name) }
	runCommand(t, "plan", "--plan", mustPlan(t, h.current.Location()), "--columns", "*", "-o", at("job.plan.json"))
	for i := range 2 {
		runCommand(t, "scan", "--plan", at("job.plan.json"), "--shard", fmt.Sprintf("%d/2", i+1), "-o", at("parts")+"/")
	}
	base := h.merge("base", at("parts")+"/")
	for range 6 {
		h.commitAny()
	}
	h.append(h.newRows(70))
	h.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.LessThan(iceberg.Reference("id"), int64(90)), nil)
	})
	for _, since := range []string{base, at("job.plan.json")} {
		plan := mustPlan(t, h.current.Location(), "--since", since)
		files := []string{base}
		for i := range 3 {
			files = append(files, at(fmt.Sprintf("%d.ufs", i)))
			runCommand(t, "scan", "--plan", plan, "--columns", "*", "--shard", fmt.Sprintf("%d/3", i+1), "-o", files[i+1])
		}
		h.sameAsWhole("shards since "+since, h.merge("sum", files...))
		h.refusedByCommand(2, []string{"merge all shards of the table"}, slices.Concat([]string{"merge"}, files[:3], []string{"-o", at("less.ufs")})...)
		h.refusedByCommand(2, []string{"both cover rows"}, slices.Concat([]string{"merge"}, files, files[1:2], []string{"-o", at("more.ufs")})...)
	}
}

// refusedByCommand wants ufs-stream to end with a code and to say all of the texts.
func (h *history) refusedByCommand(code int, texts []string, args ...string) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), ufsStream, args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		h.t.Errorf("%v: exit code %d, want %d: %s", args, got, code, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			h.t.Errorf("%v says %q\nwithout %q", args, out, text)
		}
	}
}

// What is no change that can be added is refused by name, and leaves nothing.
func TestSinceRefused(t *testing.T) {
	h := newHistory(t, 11, iceberg.Properties{"format-version": "3", "write.delete.mode": "merge-on-read"})
	at := func(name string) string { return filepath.Join(h.dir, name) }
	dir, first := h.current.Location(), h.snapshot()
	base := h.scan("base")
	h.append(h.newRows(30))
	second := h.snapshot()
	h.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.LessThan(iceberg.Reference("id"), int64(5)), nil)
	})
	third := itoa(h.snapshot())
	one, two, both := h.scan("one", "--since", base, "--snapshot", itoa(second)), h.scan("two", "--since", itoa(second)), h.scan("both", "--since", base)
	changes := mustPlan(t, dir, "--since", base)

	merge := func(texts []string, files ...string) {
		h.refusedByCommand(2, texts, slices.Concat([]string{"merge"}, files, []string{"-o", at("no.ufs")})...)
	}
	merge([]string{"two.ufs has the changes from version " + itoa(second) + " to " + third, "reaches version " + itoa(first)}, base, two)
	merge([]string{"has the changes from version " + itoa(first), "leave out one of the files"}, base, both, one)
	merge([]string{"one.ufs has the changes from version"}, h.merge("first", base, one), one)
	merge([]string{"which has rows to subtract"}, base, one, two, "--window", "9")
	merge([]string{"merge it with the statistics of version " + itoa(second)}, two)
	other := newHistory(t, 12, nil)
	merge([]string{"is of another, " + other.current.Location()}, other.scan("other"), one, two)
	refused(t, 2, []string{dir, "--since", other.scan("other")}, "--since "+filepath.Join(other.dir, "other.ufs"), "of another table, "+other.current.Location())

	for _, args := range [][]string{{"select", "-k", "2"}, {"plan", "-o", at("no.plan.json")}, {"convert", "-o", at("no.parquet")}, {"inspect"}} {
		h.refusedByCommand(2, []string{"has only the changes of " + dir + " since version " + itoa(first), "scan --plan"}, append(args, "--plan", changes)...)
	}
	h.refusedByCommand(2, []string{"--since", "leave --plan out"}, "scan", "--plan", changes, "--since", base, "-o", at("no.ufs"))
	h.refusedByCommand(2, []string{"--since", "leave --plan out"}, "scan", "--plan", mustPlan(t, dir), "--since", "3", "-o", at("no.ufs"))
	h.refusedByCommand(2, []string{"has no footers, so it has no shards"}, "scan", "--plan", mustPlan(t, dir), "--shard", "1/2", "-o", at("no.ufs"))
	h.refusedByCommand(2, []string{"do not allow to subtract"}, "scan", "--plan", changes, "--profile-only", "-o", at("no.ufs"))

	refused(t, 2, []string{dir, "--since", "7"}, "--since 7", "has no snapshot 7, or it has expired", third)
	refused(t, 2, []string{dir, "--since", third, "--snapshot", itoa(first)}, "--since "+third, "snapshot "+third+" is no ancestor of snapshot "+itoa(first))
	refused(t, 2, []string{dir, "--since", at("none.ufs")}, "none.ufs", "there is no such file")
	must.Do(t, os.WriteFile(at("bad.ufs"), []byte("ufsstats\x01\x00\x00\x00\xff\xff\xff\xff{}"), 0o600))
	refused(t, 3, []string{dir, "--since", at("bad.ufs")}, "bad.ufs", "it ends early")
	must.Do(t, os.WriteFile(at("bad.plan.json"), []byte("{}"), 0o600))
	refused(t, 3, []string{dir, "--since", at("bad.plan.json")}, "bad.plan.json", "this plan cannot be read")
	whole := must.Get(os.ReadFile(base))(t)
	whole[40] ^= 1
	must.Do(t, os.WriteFile(at("damaged.ufs"), whole, 0o600))
	refused(t, 3, []string{dir, "--since", at("damaged.ufs")}, "damaged.ufs", "the checksum of its header is wrong")
	runCommand(t, "scan", byHand(t, events(), h.newRows(9)), "-o", at("file.ufs"))
	refused(t, 2, []string{dir, "--since", at("file.ufs")}, "file.ufs", "of no snapshot of an Iceberg table")
	_, files := readPlan(t, changes)
	deleteEqual(t, h.shelf, []string{"id", "site"}, h.newRows(15_000), true)
	refused(t, 4, []string{dir, "--since", base, "--memory-limit", "1MiB"}, "--memory-limit", "the limit is 1.0 MiB")
	lost := files[slices.IndexFunc(files, func(f planfile.File) bool { return f.Lost })].Path
	h.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.LessThan(iceberg.Reference("id"), int64(200)), nil)
	})
	must.Do(t, os.Remove(lost))
	refused(t, 3, []string{dir, "--since", base}, lost, "not there any more", "scan the whole table")
	for _, name := range []string{"no.ufs", "no.plan.json", "no.parquet"} {
		if _, err := os.Stat(at(name)); err == nil {
			t.Errorf("%s was left", name)
		}
	}
}

// Columns that changed are refused by name, although their names are those of before: the ids count. Statistics that were
// made between a change of columns and the next snapshot have the columns of then.
func TestSinceOtherColumns(t *testing.T) {
	h := newHistory(t, 13, nil)
	dir, first := h.current.Location(), itoa(h.snapshot())
	base := h.scan("base")
	evolve(h.shelf, renameColumn("x0", "y"))
	evolve(h.shelf, renameColumn("x1", "x0"))
	evolve(h.shelf, renameColumn("y", "x1"))
	between := h.scan("between")
	for _, since := range []string{base, first} {
		refused(t, 2, []string{dir, "--since", since}, "--since "+since, `"x0" was renamed to "x1"`, `"x1" was renamed to "x0"`, "scan the whole table")
	}
	h.append(h.newRows(60))
	h.sameAsWhole("swapped before", h.merge("sum", between, h.scan("day", "--since", between)))
	for _, since := range []string{base, first} {
		refused(t, 2, []string{dir, "--since", since}, `"x0" was renamed to "x1"`)
	}
	// Only by the ID of a snapshot it is unknown which columns the statistics have, and merge knows.
	evolve(h.shelf, renameColumn("x0", "y"))
	evolve(h.shelf, renameColumn("x1", "x0"))
	evolve(h.shelf, renameColumn("y", "x1"))
	h.append(h.newRows(60))
	back := h.scan("back", "--since", first)
	h.sameAsWhole("swapped back", h.merge("sum", base, back))
	h.refusedByCommand(2, []string{"with different columns", "scan the whole table"}, "merge", between, back, "-o", filepath.Join(h.dir, "no.ufs"))
	refused(t, 2, []string{dir, "--since", between}, "between.ufs", `"x0" was renamed to "x1"`)
	last := itoa(h.snapshot())
	evolve(h.shelf, addColumn("x9"))
	refused(t, 2, []string{dir, "--since", last}, `"x9" was added`)
	evolve(h.shelf, func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn([]string{"x9"}) })
	evolve(h.shelf, func(u *table.UpdateSchema) *table.UpdateSchema { return u.DeleteColumn([]string{"x4"}) })
	evolve(h.shelf, func(u *table.UpdateSchema) *table.UpdateSchema {
		return widenColumn(u, h.current.Schema(), []string{"qty"})
	})
	refused(t, 2, []string{dir, "--since", last}, `"x4" was dropped`, `"qty" was int and is long`)
	evolve(h.shelf, func(u *table.UpdateSchema) *table.UpdateSchema { return u.MoveFirst([]string{"x2"}) })
	current := h.scan("current")
	evolve(h.shelf, func(u *table.UpdateSchema) *table.UpdateSchema { return u.MoveFirst([]string{"x3"}) })
	refused(t, 2, []string{dir, "--since", current}, "their order")
}

// A condition leaves out files of both snapshots, and changes of other rows are none.
func TestSinceWithACondition(t *testing.T) {
	for _, layout := range []string{"", "identity"} {
		h := newHistory(t, 14, iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
		if layout != "" {
			h.shelf = local(t, events(), layouts()[layout], iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
			h.append(h.newRows(300))
		}
		where := []string{"--where", "day >= '2026-01-05' and x1 > -1"}
		base := h.scan("base", where...)
		total := base
		for day := range 6 {
			h.commitAny()
			total = h.merge(fmt.Sprint("total", day), total, h.scan(fmt.Sprint("day", day), append(where, "--since", total)...))
		}
		h.sameAsWhole("where "+where[1], total, where...)
		h.sameAsWhole("at once where "+where[1], h.merge("once", base, h.scan("all", append(where, "--since", base)...)), where...)
		other := h.scan("other", "--since", base, "--where", "x1 > 0")
		h.refusedByCommand(2, []string{"their options differ", "where"}, "merge", base, other, "-o", filepath.Join(h.dir, "no.ufs"))
	}
}

// A table may become empty, and get rows again.
func TestSinceOfAnEmptyTable(t *testing.T) {
	h := newHistory(t, 15, iceberg.Properties{"format-version": "2"})
	base := h.scan("base")
	h.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.GreaterThanEqual(iceberg.Reference("id"), int64(0)), nil)
	})
	empty := h.merge("empty", base, h.scan("gone", "--since", base))
	h.append(h.newRows(120))
	h.sameAsWhole("filled again", h.merge("full", empty, h.scan("back", "--since", empty)))
	h.sameAsWhole("filled at once", h.merge("full", base, h.scan("at-once", "--since", base)))
}

// Snapshots may have expired in between, an operation may be another than its name, and statistics and plans of earlier
// versions have no id of the table.
func TestSinceOfOtherWriters(t *testing.T) {
	h := newHistory(t, 16, iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
	dir, first := h.current.Location(), h.snapshot()
	old := filepath.Join(h.dir, "old.plan.json")
	head, files := readPlan(t, mustPlan(t, dir))
	head.Table.ID, head.Table.Schema = "", ""
	must.Do(t, savePlan(t.Context(), old, head, files))
	base := filepath.Join(h.dir, "old.ufs")
	runCommand(t, "scan", "--plan", old, "--columns", "*", "-o", base)
	h.append(h.newRows(50))
	second := h.snapshot()
	newest := filepath.Join(dir, "metadata", fmt.Sprintf("v%d.metadata.json", h.version))
	text := string(must.Get(os.ReadFile(newest))(t))
	at := strings.LastIndex(text, `"operation":"append"`)
	must.Do(t, os.WriteFile(newest, []byte(text[:at]+strings.Replace(text[at:], "append", "replace", 1)), 0o600))
	h.wantChanges("an append that calls itself replace", itoa(first), 50, 0)
	must.Do(t, os.WriteFile(newest, []byte(text), 0o600))

	for range 5 {
		h.commitAny()
	}
	h.append(h.newRows(20))
	updates := []table.Update{
		table.NewSetSnapshotRefUpdate("kept", first, table.TagRef, 0, 0, 0),
		table.NewRemoveSnapshotsUpdate([]int64{second}, false),
	}
	must.Do(t, h.put(must.Get(table.UpdateTableMetadata(h.current.Metadata(), updates, h.current.MetadataLocation()))(t)))
	if h.current.SnapshotByID(second) != nil {
		t.Fatal("the snapshot has not expired")
	}
	for _, since := range []string{old, base, itoa(first)} {
		h.sameAsWhole("since "+since, h.merge("sum", base, h.scan("day", "--since", since)))
	}
}

// A file may go, come back and go again, with compactions in between.
func TestSinceOfAFileThatComesBack(t *testing.T) {
	h := newHistory(t, 17, iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
	base, first := h.scan("base"), itoa(h.snapshot())
	tasks := must.Get(h.current.Scan().PlanFiles(t.Context()))(t)
	comesBack := tasks[slices.IndexFunc(tasks, func(task table.FileScanTask) bool { return task.File.FilePath() == dataFiles(t, h.shelf)[0] })].File
	remove := func(from, to int) {
		h.change(func(tx *table.Transaction) error {
			return tx.Delete(t.Context(), iceberg.NewAnd(iceberg.GreaterThanEqual(iceberg.Reference("id"), int64(from)), iceberg.LessThan(iceberg.Reference("id"), int64(to))), nil)
		})
	}
	net := func(what string, lost int) { // files of both snapshots are read if the file came or went twice
		if g, l, _ := h.changes(first); l-g != lost {
			t.Errorf("%s: %d rows lost and %d gained, want %d more lost", what, l, g, lost)
		}
	}
	for i := range 3 {
		remove(0, 200)
		if slices.Contains(dataFiles(t, h.shelf), comesBack.FilePath()) {
			t.Fatal("the file has not gone")
		}
		net("gone", 200+2*i)
		remove(300+i, 301+i)
		compact(t, h.shelf)
		net("gone and compacted", 201+2*i)
		h.change(func(tx *table.Transaction) error {
			return tx.AddDataFiles(t.Context(), []iceberg.DataFile{comesBack}, nil)
		})
		net("back", 1+2*i)
		h.sameAsWhole("back", h.merge("sum", base, h.scan("day", "--since", base)))
		remove(400+i, 401+i)
		compact(t, h.shelf)
	}
	remove(0, 200)
	h.sameAsWhole("gone", h.merge("sum", base, h.scan("day", "--since", base)))
}
