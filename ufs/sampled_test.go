package ufs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// overRows are the methods that iterate over rows.
func overRows() (specs []method.Spec) {
	for _, spec := range methods.All() {
		if spec.From.UsesRows() {
			specs = append(specs, spec)
		}
	}
	return specs
}

// keptBy scans q's input in this many shards, merges them in an order that the seed shuffles, and returns the
// merged file.
func keptBy(t *testing.T, q Request, rows int64, shards int, seed uint64) string {
	t.Helper()
	dir := t.TempDir()
	var parts []string
	for i := range shards {
		s := ScanRequest{Request: q, ProfileOnly: true, KeepRows: rows}
		s.Output = filepath.Join(dir, fmt.Sprintf("%d.ufs", i))
		if shards > 1 {
			s.Shard = fmt.Sprintf("%d/%d", i+1, shards)
		}
		if _, err := Scan(t.Context(), s); err != nil {
			t.Fatalf("scanning shard %d of %d: %v", i+1, shards, err)
		}
		parts = append(parts, s.Output)
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(shards, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	all := filepath.Join(dir, "all.ufs")
	if _, err := Merge(t.Context(), MergeRequest{Files: parts, Output: all}); err != nil {
		t.Fatalf("merging %d parts, shuffled by seed %d: %v", shards, seed, err)
	}
	return all
}

// chosen is the answer of q without the fields that depend on the source of the rows: the number of passes, the
// order of columns left out, and warnings.
func chosen(t *testing.T, q Request) string {
	t.Helper()
	s := selected(t, q)
	s.Passes, s.Warnings, s.Transfer = 0, nil, nil
	slices.SortFunc(s.LeftOut, func(a, b stream.LeftOut) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Inputs, func(a, b stream.Input) int { return cmp.Compare(a.Path, b.Path) })
	return answerOf(t, s)
}

// holes is c with nulls in a quarter of its columns, in some rows, and a column that is constant except for
// nulls.
func (c columns) holes(every int) columns {
	d := tableOf(c.Names, slices.Clone(c.Cols))
	for j := range d.Cols {
		if j%4 != 1 {
			continue
		}
		d.Cols[j] = slices.Clone(d.Cols[j])
		for i := range d.Cols[j] {
			if j == 5 {
				d.Cols[j][i] = 7
			}
			if (i*13+j)%every == 0 {
				d.Cols[j][i] = math.NaN()
			}
		}
	}
	return d
}

// A method over rows selects from kept rows as it does from the data with the same sample, to
// the last bit: however the data was cut and the parts were merged, for fewer rows than were
// kept, under each policy for missing values, with a condition, and with fewer columns.
func TestKeptRowsSelectAsTheData(t *testing.T) {
	whole := faces(900, 24, 11)
	full, holed := whole.write(t), whole.holes(90).write(t)
	for m, spec := range overRows() {
		for i, c := range []struct {
			name         string
			path         string
			scan, choose Request
			sample       int64 // 0: all that was kept
			kept         int64
			shards       int
		}{
			{name: "one part", path: full, kept: 200, shards: 1},
			{name: "three parts", path: full, kept: 200, shards: 3},
			{name: "more parts than row groups", path: full, kept: 200, shards: 9},
			{name: "fewer rows than kept", path: full, kept: 400, sample: 150, shards: 3},
			{name: "more rows than there are", path: full, kept: 5000, shards: 3},
			{name: "mean", path: holed, kept: 200, shards: 3, scan: Request{Columns: Columns{Missing: "mean"}}, choose: Request{Columns: Columns{Missing: "mean"}}},
			{name: "zero, said later", path: holed, kept: 200, shards: 2, choose: Request{Columns: Columns{Missing: "zero"}}},
			{name: "drop-row", path: holed, kept: 300, sample: 250, shards: 4, scan: Request{Columns: Columns{Missing: "drop-row"}}, choose: Request{Columns: Columns{Missing: "drop-row"}}},
			{name: "where", path: full, kept: 200, shards: 3, scan: Request{Input: Input{Where: "px_0_0 > 5"}}, choose: Request{Input: Input{Where: "px_0_0 > 5"}}},
			{name: "a quick try", path: full, kept: 200, sample: 90, shards: 1, scan: Request{SampleRows: 120}, choose: Request{SampleRows: 120}},
			{name: "another seed", path: full, kept: 200, shards: 3, scan: Request{Choice: Choice{Seed: 9}}, choose: Request{Choice: Choice{Seed: 9}}},
		} {
			// Which rows are kept does not depend on the method: each has half of the cases, its
			// neighbour the others.
			if (i+m)%2 == 1 || !long.TakesCase((i+m)/2, 2) {
				continue
			}
			t.Run(spec.Name+"/"+c.name, func(t *testing.T) {
				scan, data := c.scan, c.choose
				scan.Input.Paths, scan.Choice.Method = []string{c.path}, spec.Name
				all := keptBy(t, scan, c.kept, c.shards, uint64(c.kept))
				data.Choice.Method, data.Choice.K = spec.Name, 4
				data.Choice.Options = method.Settings{"clusters": 3, "max-iter": 6, "sample": cmp.Or(c.sample, c.kept)}
				if spec.Takes.Cells {
					data.Choice.Options["shape"] = whole.grid()
				}
				data.Input.Paths = []string{c.path}
				want := chosen(t, data)
				data.Input.Paths, data.Stats = nil, all
				if c.scan.Columns.Missing != "" {
					data.Columns.Missing = "" // the file records it
				}
				if c.sample == 0 {
					delete(data.Choice.Options, "sample")
				}
				same(t, chosen(t, data), want)
				// With other threads and as little memory as works: state and rows are then in files.
				data.Limits.Threads, data.Limits.Memory = 5, 1
				var tight *stream.MemoryError
				if _, err := Select(t.Context(), data); !errors.As(err, &tight) {
					t.Fatalf("a byte of memory: %v", err)
				}
				if data.Limits.Memory = tight.Need; spec.Takes.Cells { // without G its answers are equal to rounding only
					data.Limits.Memory += 8 * 24 * 24
				}
				same(t, chosen(t, data), want)
			})
		}
	}
}

// Blocks end at the same rows as in the table, so that sums are rounded alike: row groups have several blocks,
// whose height changes with the columns left out.
func TestKeptRowsAreCutIntoTheTablesBlocks(t *testing.T) {
	table := faces(3000, 1100, 12).holes(1000) // blocks of 1024 rows, without most columns of 2048
	path := filepath.Join(t.TempDir(), "table.parquet")
	if err := chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{RowGroupRows: 2900}); err != nil {
		t.Fatalf("writing the table: %v", err)
	}
	all := keptBy(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "eufs"}, Columns: Columns{Missing: "mean"}}, 2000, 2, 1)
	for _, columns := range [][]string{nil, {"px_0_*"}} {
		q := Request{Choice: Choice{Method: "eufs", K: 4, Options: method.Settings{"clusters": 3, "max-iter": 2, "sample": 1500, "graph": "none"}}, Columns: Columns{Names: columns, Missing: "mean"}}
		q.Input.Paths = []string{path}
		want := chosen(t, q)
		q.Input.Paths, q.Stats = nil, all
		same(t, chosen(t, q), want)
	}
}
