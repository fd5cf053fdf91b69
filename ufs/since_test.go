package ufs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// lake is a Delta table that commits change at random.
type lake struct {
	t     *testing.T
	dir   string
	rng   *rand.Rand
	rows  map[string][][]float64 // rows of every file that was written
	live  map[string][]int       // deleted rows of every live file
	past  []map[string][]int     // live of every version
	files int
	id    float64
	names []string // columns
	// physical has the columns' names in the files, if the table maps them.
	physical map[string]string
}

var lakeColumns = []string{"id", "a", "b", "c", "ab", "far", "gap", "count", "kind"}

func newLake(t *testing.T, seed uint64, moreColumns ...string) *lake {
	l := &lake{t: t, dir: filepath.Join(t.TempDir(), "lake"), rng: rand.New(rand.NewPCG(seed, 52)), rows: map[string][][]float64{}, live: map[string][]int{}, names: slices.Concat(lakeColumns, moreColumns)}
	must.Do(t, os.MkdirAll(filepath.Join(l.dir, "_delta_log"), 0o755))
	actions := []any{
		map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": []string{"deletionVectors"}, "writerFeatures": []string{"deletionVectors"}}},
		l.schema(seed),
	}
	for range 4 {
		actions = append(actions, l.addRows(l.newRows(400), true))
	}
	l.commit(actions...)
	return l
}

// schema is the action that sets the columns.
func (l *lake) schema(id uint64) any {
	var fields []map[string]any
	mode := map[string]any{}
	for i, name := range l.names {
		mapping := map[string]any{}
		if l.physical != nil {
			mapping = map[string]any{"delta.columnMapping.id": i + 1, "delta.columnMapping.physicalName": l.physical[name]}
			mode["delta.columnMapping.mode"] = "name"
		}
		fields = append(fields, map[string]any{"name": name, "type": "double", "nullable": true, "metadata": mapping})
	}
	schema := string(must.Get(json.Marshal(map[string]any{"type": "struct", "fields": fields}))(l.t))
	return map[string]any{"metaData": map[string]any{"id": fmt.Sprint("lake ", id), "format": map[string]any{"provider": "parquet"}, "schemaString": schema, "partitionColumns": []string{}, "configuration": mode}}
}

func (l *lake) newRows(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		l.id++
		rows[i] = l.newRow(l.id)
	}
	return rows
}

func (l *lake) newRow(id float64) []float64 {
	a, b, c := l.rng.NormFloat64(), l.rng.NormFloat64(), l.rng.NormFloat64()
	gap := b + l.rng.NormFloat64()
	if l.rng.IntN(9) == 0 {
		gap = math.NaN()
	}
	row := []float64{id, 3*a + l.rng.NormFloat64(), 2*b + l.rng.NormFloat64(), c, a + b + .1*l.rng.NormFloat64(), 1e6 + c + .2*l.rng.NormFloat64(), gap, float64(l.rng.IntN(6)), float64(l.rng.IntN(2))}
	for len(row) < len(l.names) {
		row = append(row, l.rng.NormFloat64())
	}
	return row
}

// addRows writes a file and returns the action that adds it.
func (l *lake) addRows(rows [][]float64, changes bool) any {
	l.files++
	name := fmt.Sprintf("part-%04x-%d.parquet", l.rng.IntN(1<<16), l.files)
	var columns []chunkio.TableColumn
	for j, c := range l.names {
		values := make([]float64, len(rows))
		for i := range rows {
			values[i] = rows[i][j]
		}
		columns = append(columns, chunkio.TableColumn{Name: c, Values: values})
	}
	var b bytes.Buffer
	must.Do(l.t, chunkio.WriteTable(&b, len(rows), columns...))
	must.Do(l.t, os.WriteFile(filepath.Join(l.dir, name), b.Bytes(), 0o644))
	l.rows[name] = rows
	return l.add(name, nil, changes)
}

func (l *lake) add(name string, deleted []int, changes bool) any {
	l.live[name] = deleted
	return map[string]any{"add": l.action(name, deleted, changes)}
}

func (l *lake) remove(name string, changes bool) any {
	deleted := l.live[name]
	delete(l.live, name)
	return map[string]any{"remove": l.action(name, deleted, changes)}
}

func (l *lake) action(name string, deleted []int, changes bool) map[string]any {
	a := map[string]any{"path": name, "partitionValues": map[string]string{}, "size": must.Get(os.Stat(filepath.Join(l.dir, name)))(l.t).Size(), "modificationTime": 1, "dataChange": changes, "stats": fmt.Sprintf(`{"numRecords":%d}`, len(l.rows[name]))}
	if len(deleted) > 0 {
		rows := roaring64.New()
		for _, i := range deleted {
			rows.Add(uint64(i))
		}
		data := append(binary.LittleEndian.AppendUint32(nil, 1681511377), must.Get(rows.ToBytes())(l.t)...)
		a["deletionVector"] = map[string]any{"storageType": "i", "pathOrInlineDv": z85(data), "sizeInBytes": len(data), "cardinality": len(deleted)}
	}
	return a
}

func z85(data []byte) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	var text strings.Builder
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	for ; len(data) > 0; data = data[4:] {
		word, block := binary.BigEndian.Uint32(data), [5]byte{}
		for i := 4; i >= 0; i-- {
			block[i], word = digits[word%85], word/85
		}
		text.Write(block[:])
	}
	return text.String()
}

func (l *lake) commit(actions ...any) {
	text := `{"commitInfo":{"operation":"WRITE"}}` + "\n"
	for _, a := range actions {
		text += string(must.Get(json.Marshal(a))(l.t)) + "\n"
	}
	must.Do(l.t, os.WriteFile(filepath.Join(l.dir, "_delta_log", fmt.Sprintf("%020d.json", len(l.past))), []byte(text), 0o644))
	l.past = append(l.past, maps.Clone(l.live))
}

func (l *lake) liveRows(name string) (rows [][]float64, at []int) {
	for i, row := range l.rows[name] {
		if !slices.Contains(l.live[name], i) {
			rows, at = append(rows, row), append(at, i)
		}
	}
	return rows, at
}

// someFile is a live file with at least 40 rows.
func (l *lake) someFile() string {
	for {
		names := slices.Sorted(maps.Keys(l.live))
		if name := names[l.rng.IntN(len(names))]; len(l.rows[name])-len(l.live[name]) >= 40 {
			return name
		}
	}
}

// firstFile is a file of version 0.
func (l *lake) firstFile() string { return slices.Min(slices.Collect(maps.Keys(l.past[0]))) }

// deleteRows deletes some rows of a file by a vector. It returns the actions and the rows.
func (l *lake) deleteRows(name string) (actions []any, rows [][]float64) {
	_, at := l.liveRows(name)
	deleted := slices.Clone(l.live[name])
	for _, i := range at {
		if l.rng.IntN(8) == 0 {
			deleted, rows = append(deleted, i), append(rows, l.rows[name][i])
		}
	}
	slices.Sort(deleted)
	return []any{l.remove(name, true), l.add(name, deleted, true)}, rows
}

// change commits a change of a random kind and returns its name.
func (l *lake) change() string {
	switch kind := l.rng.IntN(10); kind {
	case 0, 1:
		l.commit(l.addRows(l.newRows(60+l.rng.IntN(100)), true))
		return "append"
	case 2:
		actions, _ := l.deleteRows(l.someFile())
		l.commit(actions...)
		return "delete by a vector"
	case 3, 4: // as MERGE and UPDATE of today
		actions, rows := l.deleteRows(l.someFile())
		changed := l.newRows(5)
		for _, row := range rows {
			changed = append(changed, l.newRow(row[0]))
		}
		l.commit(append(actions, l.addRows(changed, true))...)
		return "update by a vector"
	case 5: // without vectors, the whole file is written again
		name := l.someFile()
		rows, _ := l.liveRows(name)
		rows = slices.Clone(rows[1:])
		rows[0] = l.newRow(rows[0][0])
		l.commit(l.remove(name, true), l.addRows(rows, true))
		return "copy on write"
	case 6:
		l.commit(l.remove(l.someFile(), true), l.addRows(l.newRows(300), true))
		return "drop a file"
	case 7:
		var actions []any
		var rows [][]float64
		for range min(3, len(l.live)-1) {
			name := l.someFile()
			more, _ := l.liveRows(name)
			rows, actions = append(rows, more...), append(actions, l.remove(name, false))
		}
		l.commit(append(actions, l.addRows(rows, false))...)
		return "optimize"
	case 8:
		l.commit()
		return "nothing"
	}
	to := l.past[l.rng.IntN(len(l.past))]
	var actions []any
	for name, deleted := range maps.Clone(l.live) {
		if old, ok := to[name]; !ok || !slices.Equal(old, deleted) {
			actions = append(actions, l.remove(name, true))
		}
	}
	for name, deleted := range to {
		if _, ok := l.live[name]; !ok {
			actions = append(actions, l.add(name, deleted, true))
		}
	}
	l.commit(actions...)
	return "restore"
}

// scan scans a version of the table, or its changes since another, -1 for none.
func (l *lake) scan(since, version int, edit ...func(*ufs.ScanRequest)) (string, error) {
	at := int64(version)
	q := ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{l.dir}, Version: &at}, Output: filepath.Join(l.t.TempDir(), fmt.Sprintf("%d-%d.ufs", since, version))}}
	if since >= 0 {
		q.Since = fmt.Sprint(since)
	}
	for _, e := range edit {
		e(&q)
	}
	_, err := ufs.Scan(l.t.Context(), q)
	return q.Output, err
}

func (l *lake) scanned(since, version int, edit ...func(*ufs.ScanRequest)) string {
	l.t.Helper()
	return must.Get(l.scan(since, version, edit...))(l.t)
}

func profileOf(t *testing.T, path string) *gram.Profile {
	t.Helper()
	r := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer r.Close()
	p := gram.NewProfile(len(r.Header.Columns))
	must.Get(p.ReadFrom(must.Get(r.SectionReader("profile"))(t)))(t)
	return p
}

// sameAsScan compares a merged file with a scan of the whole table: counts, sums and selections.
func (l *lake) sameAsScan(what, got string, version int, methods ...string) {
	l.t.Helper()
	whole := l.scanned(-1, version)
	near(l.t, what, got, whole)
	a, b := profileOf(l.t, got), profileOf(l.t, whole)
	if a.Rows != b.Rows || a.Seen != b.Seen || a.Weight != b.Weight {
		l.t.Fatalf("%s: got %d rows of %d, weight %v, want %d of %d, %v", what, a.Rows, a.Seen, a.Weight, b.Rows, b.Seen, b.Weight)
	}
	for j := range a.Columns {
		x, y := a.Columns[j], b.Columns[j]
		if x.Observed != y.Observed || x.Missing != y.Missing || x.Min > y.Min || x.Max < y.Max {
			l.t.Fatalf("%s: column %s: got %+v, want %+v", what, l.names[j], x, y)
		}
		if mean, want := x.Pilot+x.Sum/x.Weight, y.Pilot+y.Sum/y.Weight; math.Abs(mean-want) > 1e-12*math.Max(1, math.Abs(want)) {
			l.t.Fatalf("%s: mean of %s is %v, want %v", what, l.names[j], mean, want)
		}
	}
	for _, m := range methods {
		choose := func(stats string) string {
			q := ufs.Request{Stats: stats, Choice: ufs.Choice{Method: m, K: 4}}
			q.Columns.AutoExclude = true
			s := must.Get(ufs.Select(l.t.Context(), q))(l.t)
			text := s.Method + ":"
			for _, f := range s.Selected {
				text += " " + f.Name
			}
			for _, c := range s.LeftOut {
				text += " -" + c.Name
			}
			return text
		}
		if got, want := choose(got), choose(whole); got != want {
			l.t.Errorf("%s: method %q: got %s, want %s", what, m, got, want)
		}
	}
}

// TestSinceIsTheWhole: statistics of a version with the changes since then are those of a scan of the whole table,
// merged day by day or all at once, over days of one commit or several.
func TestSinceIsTheWhole(t *testing.T) {
	const commits = 30
	seen := map[string]bool{}
	for seed := range uint64(long.CountCases(1, 3)) {
		l := newLake(t, seed)
		for range commits {
			seen[l.change()] = true
		}
		base, last := l.scanned(-1, 0), 0
		total := base
		days := []string{base}
		for last < commits {
			next := min(last+1+l.rng.IntN(2)*l.rng.IntN(4), commits)
			day := l.scanned(last, next)
			total, days, last = merged(t, ufs.MergeRequest{}, total, day), append(days, day), next
			if last > commits-3 || l.rng.IntN(5) == 0 {
				l.sameAsScan(fmt.Sprintf("seed %d, day by day, version %d", seed, last), total, last, "greedy", "")
			}
		}
		rand.Shuffle(len(days), func(i, j int) { days[i], days[j] = days[j], days[i] })
		once := merged(t, ufs.MergeRequest{}, days...)
		l.sameAsScan(fmt.Sprintf("seed %d, at once", seed), once, commits, "greedy", "")
		if h := headerOf(t, once); h.Table == nil || h.Table.Version != commits || h.Since != nil || h.Losses != nil {
			t.Errorf("seed %d: the sum is of table %+v since %v, want version %d", seed, h.Table, h.Since, commits)
		}
	}
	if len(seen) < 8 {
		t.Errorf("only these changes occurred: %v", slices.Collect(maps.Keys(seen)))
	}
}

// TestSinceInShards: shards of changes, gains and losses, are merged with shards of the base in one go.
func TestSinceInShards(t *testing.T) {
	l := newLake(t, 7)
	actions, rows := l.deleteRows(l.someFile())
	l.commit(append(actions, l.remove(l.someFile(), true), l.addRows(rows, true), l.addRows(l.newRows(50), true))...)
	var files []string
	for i := range 3 {
		part := func(q *ufs.ScanRequest) { q.Shard = fmt.Sprintf("%d/3", i+1) }
		files = append(files, l.scanned(-1, 0, part), l.scanned(0, 1, part))
	}
	l.sameAsScan("shards", merged(t, ufs.MergeRequest{}, files...), 1, "greedy")
	refused(t, exit.Usage, "merge all shards of the table", ufs.MergeRequest{}, files[:5]...)
	refused(t, exit.Usage, "both cover rows", ufs.MergeRequest{}, append(files, files[1])...)
}

// TestSinceReadsTheChanges: only the files with changes are read, and of a compacted table not even the new files.
func TestSinceReadsTheChanges(t *testing.T) {
	l := newLake(t, 3)
	base := l.scanned(-1, 0)
	needed := map[string]bool{}
	keep := func(action any) any {
		for _, a := range action.(map[string]any) {
			needed[a.(map[string]any)["path"].(string)] = true
		}
		return action
	}
	l.commit(keep(l.addRows(l.newRows(90), true)))
	actions, _ := l.deleteRows(l.firstFile())
	l.commit(keep(actions[0]), actions[1])
	var rows [][]float64
	actions = nil
	for _, name := range slices.Sorted(maps.Keys(l.live)) {
		more, _ := l.liveRows(name)
		rows, actions = append(rows, more...), append(actions, l.remove(name, false))
	}
	l.commit(append(actions, l.addRows(rows, false))...)
	whole := l.scanned(-1, 3)
	for name := range l.rows {
		if !needed[name] {
			must.Do(t, os.Remove(filepath.Join(l.dir, name)))
		}
	}
	// The version read has a file that says the columns, and no rows of it are read.
	day := l.scanned(0, 3)
	near(t, "merged", merged(t, ufs.MergeRequest{}, base, day), whole)
	// The file that lost rows is needed, too.
	must.Do(t, os.Remove(filepath.Join(l.dir, l.firstFile())))
	_, err := l.scan(0, 3)
	if exit.CodeOf(err) != exit.Data || !strings.Contains(fmt.Sprint(err), "vacuumed") {
		t.Errorf("%v: exit code %d, want 3 and a file that was vacuumed", err, exit.CodeOf(err))
	}
}

// TestSinceOnlyGains: statistics of rows gained are like any others: one can select from them, and they keep a sample
// of their rows.
func TestSinceOnlyGains(t *testing.T) {
	l := newLake(t, 4)
	base := l.scanned(-1, 0)
	for range 3 {
		l.commit(l.addRows(l.newRows(200), true))
	}
	a, b := l.scanned(0, 1), l.scanned(1, 3)
	days := merged(t, ufs.MergeRequest{}, a, b)
	if h := headerOf(t, days); h.Since == nil || *h.Since != 0 || h.Table.Version != 3 || h.Subtracted != 0 {
		t.Errorf("days are of %+v since %v, want version 3 since 0", h.Table, h.Since)
	}
	s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: days, Choice: ufs.Choice{K: 3}}))(t)
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "has gained from version 0 to 3") {
		t.Errorf("warnings %q do not tell that this is not the whole table", s.Warnings)
	}
	half := l.scanned(0, 1, func(q *ufs.ScanRequest) { q.Shard = "1/2" })
	refused(t, exit.Usage, "merge all shards of the table", ufs.MergeRequest{}, base, half)
	all := merged(t, ufs.MergeRequest{}, base, days)
	l.sameAsScan("only gains", all, 3, "greedy", "")
	if len(section(t, all, "sample")) < 1000*8*len(lakeColumns) {
		t.Error("the sample of rows is missing")
	}
	l.sameAsScan("in a window", merged(t, ufs.MergeRequest{Window: 9}, base, days), 3, "greedy")
	// With losses, the sample is gone.
	l.commit(l.remove(l.someFile(), true))
	less := merged(t, ufs.MergeRequest{}, all, l.scanned(3, 4))
	l.sameAsScan("losses", less, 4, "greedy")
	if h := headerOf(t, less); h.Subtracted == 0 || !strings.Contains(strings.Join(h.Warnings, "\n"), "scan the whole table for it") {
		t.Errorf("%d rows subtracted, warnings %q: want a warning that there is no sample", h.Subtracted, h.Warnings)
	}
	_, err := ufs.Select(t.Context(), ufs.Request{Stats: less, Choice: ufs.Choice{K: 3, Method: "greedy", Scale: "minmax"}})
	if exit.CodeOf(err) != exit.Usage || !strings.Contains(fmt.Sprint(err), "were subtracted") {
		t.Errorf("scale minmax: %v, want a refusal", err)
	}
}

// TestSinceNothing: no change, changes that cancel, and a table that becomes empty.
func TestSinceNothing(t *testing.T) {
	l := newLake(t, 5)
	base := l.scanned(-1, 0)
	l.commit(l.addRows(nil, true))
	same := merged(t, ufs.MergeRequest{}, base, l.scanned(0, 1))
	l.sameAsScan("no change", same, 1, "greedy", "")
	first := l.addRows(l.newRows(77), true)
	l.commit(first)
	for _, a := range first.(map[string]any) {
		l.commit(l.remove(a.(map[string]any)["path"].(string), true))
	}
	l.sameAsScan("changes that cancel", merged(t, ufs.MergeRequest{}, same, l.scanned(1, 3)), 3, "greedy", "")
	var actions []any
	for _, name := range slices.Sorted(maps.Keys(l.live)) {
		actions = append(actions, l.remove(name, true))
	}
	l.commit(actions...)
	empty := merged(t, ufs.MergeRequest{}, base, l.scanned(0, 4))
	if p := profileOf(t, empty); p.Rows != 0 || p.Seen != 0 {
		t.Errorf("%d rows of %d are left of an empty table", p.Rows, p.Seen)
	}
	l.commit(l.addRows(l.newRows(100), true))
	l.sameAsScan("rows again", merged(t, ufs.MergeRequest{}, empty, l.scanned(4, 5)), 5, "greedy")
}

// TestSinceRefusals: no version is merged twice or left out, and no other table.
func TestSinceRefusals(t *testing.T) {
	l, other := newLake(t, 6), newLake(t, 8)
	for range 4 {
		l.commit(l.addRows(l.newRows(100), true))
	}
	l.commit(l.remove(l.firstFile(), true))
	base, second := l.scanned(-1, 0), l.scanned(-1, 2)
	first, later, last, long, losses := l.scanned(0, 1), l.scanned(1, 2), l.scanned(2, 3), l.scanned(0, 2), l.scanned(4, 5)
	m := ufs.MergeRequest{}
	refused(t, exit.Usage, "would be added twice", m, second, later)
	refused(t, exit.Usage, "would be added twice", m, base, first, later, long)
	refused(t, exit.Usage, "both cover rows", m, base, first, first)
	refused(t, exit.Usage, "scan since 1 version 2", m, base, first, last)
	refused(t, exit.Usage, "scan since 0 version 1", m, base, later)
	refused(t, exit.Usage, "have rows in common", m, base, second, last)
	refused(t, exit.Usage, "is of another", m, other.scanned(-1, 0), first)
	// A table that was made anew in the same place is another, and one that was moved or typed otherwise is the same.
	refused(t, exit.Usage, "is of another", m, rewritten(t, base, func(h *chunkio.StatsHeader) { h.Table.ID = "before" }), first)
	merged(t, m, rewritten(t, base, func(h *chunkio.StatsHeader) { h.Table.Path = "elsewhere" }), first)
	refused(t, exit.Usage, "is of another", m, rewritten(t, base, func(h *chunkio.StatsHeader) { h.Table.Path, h.Table.ID = "elsewhere", "" }), first)
	refused(t, exit.Usage, "is of no version", m, rewritten(t, base, func(h *chunkio.StatsHeader) { h.Table = nil }), first)
	refused(t, exit.Usage, "merge it with the statistics of version 4", m, losses)
	refused(t, exit.Usage, "window and decay", ufs.MergeRequest{Decay: .9}, l.scanned(-1, 4), losses)
	refused(t, exit.Usage, "more rows are to be subtracted", m, rewritten(t, first, func(h *chunkio.StatsHeader) { h.Since, h.Table.Version = nil, 4 }), losses)
	// The version of a statistics file stands for it.
	byFile, err := l.scan(-1, 2, func(q *ufs.ScanRequest) { q.Since = first })
	must.Do(t, err)
	l.sameAsScan("since a file", merged(t, m, base, first, byFile), 2, "greedy")
	for says, since := range map[string]string{"no such file": "total", "of no version": rewritten(t, base, func(h *chunkio.StatsHeader) { h.Table = nil }), "of another table": other.scanned(-1, 0)} {
		if _, err := l.scan(-1, 2, func(q *ufs.ScanRequest) { q.Since = since }); exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), says) {
			t.Errorf("since %s: %v, want %q", since, err, says)
		}
	}
	l.sameAsScan("in two steps", merged(t, m, long, base, last), 3, "greedy")
	for _, c := range []struct {
		since, version int
		edit           func(*ufs.ScanRequest)
		says           string
	}{
		{4, 3, nil, "want a version"},
		{0, 5, func(q *ufs.ScanRequest) { q.Choice.Stability = 8 }, "hash shards"},
		{0, 5, func(q *ufs.ScanRequest) { q.ProfileOnly = true }, "profiles"},
		{0, 5, func(q *ufs.ScanRequest) { q.Choice.Method = "sfufs" }, "anchor graphs"},
		{0, 5, func(q *ufs.ScanRequest) { q.Choice.Sketch = "100" }, "sketches"},
		{0, 5, func(q *ufs.ScanRequest) { q.Choice.Scale = "rank" }, "ranks"},
		{0, 5, func(q *ufs.ScanRequest) { q.Checkpoint.Folder = t.TempDir() }, "checkpoint is"},
		{0, 5, func(q *ufs.ScanRequest) { q.SampleRows = 10 }, "rows and since"},
		{0, 5, func(q *ufs.ScanRequest) {
			q.Input.Version, q.Input.Paths = nil, []string{filepath.Join(l.dir, "*.parquet")}
		}, "are for Delta tables"},
	} {
		var edits []func(*ufs.ScanRequest)
		if c.edit != nil {
			edits = append(edits, c.edit)
		}
		out, err := l.scan(c.since, c.version, edits...)
		if exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want a refusal", c.says, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: left an output behind", c.says)
		}
	}
	l.names = append(slices.Clone(l.names), "late")
	l.commit(l.schema(6), l.addRows(l.newRows(50), true))
	refused(t, exit.Usage, "if the columns of the table have changed", m, l.scanned(-1, 5), l.scanned(5, 6))
	if _, err := ufs.Select(t.Context(), ufs.Request{Stats: losses, Choice: ufs.Choice{K: 3}}); exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "merge it with") {
		t.Errorf("selecting from losses: %v, want a refusal", err)
	}
}

// TestSinceSwappedColumns: two columns that have exchanged their names since then are no longer the columns of the sums.
func TestSinceSwappedColumns(t *testing.T) {
	l := newLake(t, 9)
	l.physical = map[string]string{}
	for _, name := range l.names {
		l.physical[name] = name
	}
	features := []string{"deletionVectors", "columnMapping"}
	l.commit(map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}}, l.schema(9))
	l.commit(l.addRows(l.newRows(100), true))
	unmapped, base, same := l.scanned(-1, 0), l.scanned(-1, 1), l.scanned(1, 2)
	merged(t, ufs.MergeRequest{}, base, same)
	merged(t, ufs.MergeRequest{}, unmapped, l.scanned(0, 2))
	l.physical["b"], l.physical["c"] = "c", "b"
	l.commit(l.schema(9), l.addRows(l.newRows(100), true))
	refused(t, exit.Usage, "with different columns, which were renamed", ufs.MergeRequest{}, base, same, l.scanned(2, 3))
	refused(t, exit.Usage, "with different columns, which were renamed", ufs.MergeRequest{}, unmapped, l.scanned(0, 3))
}

// TestSinceWithinMemory: a scan and a merge of gains and losses run with the memory that they ask for.
func TestSinceWithinMemory(t *testing.T) {
	var more []string
	for i := range 700 {
		more = append(more, fmt.Sprintf("x%d", i))
	}
	l := newLake(t, 9, more...)
	l.commit(l.remove(l.firstFile(), true), l.addRows(l.newRows(50), true))
	limited := func(what string, run func(memory int64) error) {
		t.Helper()
		memory := int64(1 << 20)
		for tries := 0; ; tries++ {
			err := run(memory)
			if err == nil {
				break
			}
			short := new(stream.MemoryError)
			if !errors.As(err, &short) || tries == 4 || short.Need <= memory {
				t.Fatalf("%s with %d bytes: %v", what, memory, err)
			}
			memory = short.Need
		}
		t.Logf("%s needs %d bytes", what, memory)
	}
	base := l.scanned(-1, 0)
	var day string
	limited("scan", func(memory int64) (err error) {
		day, err = l.scan(0, 1, func(q *ufs.ScanRequest) { q.Limits.Memory = memory })
		return err
	})
	all := filepath.Join(t.TempDir(), "all.ufs")
	limited("merge", func(memory int64) error {
		_, err := ufs.Merge(t.Context(), ufs.MergeRequest{Files: []string{base, day}, Output: all, Limits: ufs.Limits{Memory: memory}})
		return err
	})
	l.sameAsScan("limited", all, 1, "greedy")
	if !bytes.Equal(contents(t, all), contents(t, merged(t, ufs.MergeRequest{}, base, day))) {
		t.Error("other bits than with more memory")
	}
}

// TestSinceInStore: the changes of a table in an object store take few of its bytes.
func TestSinceInStore(t *testing.T) {
	s := storetest.S3(t)
	l := newLake(t, 10)
	for range 10 {
		l.commit(l.addRows(l.newRows(400), true))
	}
	l.commit(l.remove(l.firstFile(), true), l.addRows(l.newRows(100), true))
	must.Do(t, filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			s.PutObject("table/"+must.Get(filepath.Rel(l.dir, path))(t), contents(t, path))
		}
		return err
	}))
	var read [2]int64
	far := func(meter *stream.Meter) func(*ufs.ScanRequest) {
		return func(q *ufs.ScanRequest) { q.Input.Paths, q.Hooks.Meter = []string{s.URL("table/")}, meter }
	}
	var files []string
	for i, since := range []int{-1, 10} {
		meter := new(stream.Meter)
		files = append(files, l.scanned(since, 10+i, far(meter)))
		read[i] = meter.Fetched.Load()
	}
	l.sameAsScan("in a store", merged(t, ufs.MergeRequest{}, files...), 11, "greedy")
	// 500 of 5,600 rows, and twice the log, which is short.
	if t.Logf("%d bytes for the whole table, %d for the changes", read[0], read[1]); 4*read[1] > read[0] {
		t.Errorf("%d bytes were fetched for changes of a table that takes %d", read[1], read[0])
	}
}
