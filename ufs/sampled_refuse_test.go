package ufs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// refused wants a usage error that contains all of these texts.
func refused(t *testing.T, what string, err error, says ...string) {
	t.Helper()
	if !errors.As(err, new(*stream.UsageError)) {
		t.Errorf("%s: got %v, want a usage error", what, err)
		return
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not say %q", what, err, part)
		}
	}
}

// A scan keeps rows if the request allows a sample, and else gives the remedy.
func TestScanRefusesToKeepRows(t *testing.T) {
	path := faces(200, 8, 1).write(t)
	out := filepath.Join(t.TempDir(), "rows.ufs")
	for _, c := range []struct {
		what string
		q    ScanRequest
		says []string
	}{
		{"no sample", ScanRequest{Request: Request{Choice: Choice{Method: "eufs"}}}, []string{"profile-only sample-rows 10000 method eufs", "select INPUT… method eufs"}},
		{"a profile without", ScanRequest{Request: Request{Choice: Choice{Method: "cpufs"}}, ProfileOnly: true}, []string{"sample-rows 10000"}},
		{"beside Gram statistics", ScanRequest{KeepRows: 10}, []string{"profile-only"}},
		{"of a method beside", ScanRequest{Request: Request{Choice: Choice{Method: "hufs"}}, KeepRows: 10}, []string{"profile-only"}},
		{"less than none", ScanRequest{KeepRows: -1, ProfileOnly: true}, []string{"sample-rows -1"}},
		{"too many", ScanRequest{KeepRows: 1 << 25, ProfileOnly: true}, []string{"16777216"}},
		{"that select draws", ScanRequest{Request: Request{Choice: Choice{Method: "eufs", Options: method.Settings{"sample": 5}}}, KeepRows: 10, ProfileOnly: true}, []string{"sample-rows"}},
		{"with weights", ScanRequest{Request: Request{Columns: Columns{Weight: "px_0_0"}}, KeepRows: 10, ProfileOnly: true}, []string{"weight"}},
		{"sparse, dropped", ScanRequest{Request: Request{Columns: Columns{Sparse: "i,v,4", Missing: "drop-row"}}, KeepRows: 10, ProfileOnly: true}, []string{"missing zero or error"}},
		{"beside anchors of what is left", ScanRequest{Request: Request{Choice: Choice{Method: "sfufs"}, Columns: Columns{Missing: "drop-row"}}, KeepRows: 10, ProfileOnly: true}, []string{"two profiles"}},
	} {
		c.q.Input.Paths, c.q.Output = []string{path}, out
		_, err := Scan(t.Context(), c.q)
		refused(t, c.what, err, c.says...)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused scan leaves a file")
	}
}

// Select draws at most the kept rows, and else names both numbers and the remedy.
func TestSelectRefusesRowsThatAreNotThere(t *testing.T) {
	table := faces(600, 8, 2)
	path := table.write(t)
	all := keptBy(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "eufs"}}, 100, 2, 1)
	eufs := func(settings method.Settings) Request {
		settings["clusters"], settings["max-iter"] = 3, 2
		return Request{Stats: all, Choice: Choice{Method: "eufs", K: 3, Options: settings}}
	}
	missed := eufs(method.Settings{})
	for _, c := range []struct {
		what string
		q    Request
		says []string
	}{
		{"more than kept", eufs(method.Settings{"sample": 101}), []string{"sample 101", "keeps 100 rows", "sample-rows 101", "select INPUT…"}},
		{"all", eufs(method.Settings{"sample": 0}), []string{"sample 0 (all 600)", "keeps 100 rows", "sample-rows 600"}},
		{"another seed", with(missed, func(q *Request) { q.Choice.Seed = 2 }), []string{"seed 2", "seed 1"}},
		{"another condition", with(missed, func(q *Request) { q.Input.Where = "px_0_0 > 1" }), []string{"scan again"}},
		{"a weight", with(missed, func(q *Request) { q.Columns.Weight = "px_0_0" }), []string{"weight is not for method eufs"}},
		{"a quick try", with(missed, func(q *Request) { q.SampleRows = 50 }), []string{"scan again"}},
		{"no such column", with(missed, func(q *Request) { q.Columns.Names = []string{"x*"} }), []string{"x*"}},
		{"files to skip", with(missed, func(q *Request) { q.SkipBad = true }), []string{"read whole"}},
		{"a checkpoint", with(missed, func(q *Request) { q.Checkpoint.Folder = t.TempDir() }), []string{"checkpoint"}},
	} {
		_, err := Select(t.Context(), c.q)
		refused(t, c.what, err, c.says...)
	}
	dir := t.TempDir()
	for name, q := range map[string]ScanRequest{"gram.ufs": {}, "profile.ufs": {ProfileOnly: true}} {
		q.Input.Paths, q.Output = []string{path}, filepath.Join(dir, name)
		if _, err := Scan(t.Context(), q); err != nil {
			t.Fatalf("scanning %s: %v", name, err)
		}
		_, err := Select(t.Context(), with(missed, func(r *Request) { r.Stats = q.Output }))
		refused(t, name, err, "keeps none", "profile-only sample-rows 10000 method eufs")
		if greedy := strings.Contains(err.Error(), "choose method greedy"); greedy != (name == "gram.ufs") {
			t.Errorf("%s: method greedy is advised: %v, in %v", name, greedy, err)
		}
	}
	_, err := Merge(t.Context(), MergeRequest{Files: []string{all, filepath.Join(dir, "profile.ufs")}, Output: filepath.Join(dir, "both.ufs")})
	refused(t, "rows and none", err, "sample-rows")
}

func with(q Request, change func(*Request)) Request {
	change(&q)
	return q
}

// A shard alone has the rows that it would add to the whole: they serve, with a warning, but
// nothing is said to be more of them than there is.
func TestRowsOfSomeShards(t *testing.T) {
	path := faces(4000, 8, 3).write(t)
	part := filepath.Join(t.TempDir(), "part.ufs")
	scan := ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Output: part}, ProfileOnly: true, KeepRows: 500, Shard: "1/4"}
	if _, err := Scan(t.Context(), scan); err != nil {
		t.Fatalf("scanning the part: %v", err)
	}
	q := Request{Stats: part, Choice: Choice{Method: "eufs", K: 3, Options: method.Settings{"clusters": 3, "max-iter": 2}}}
	s := selected(t, q)
	// Of 773 rows below the bound about a quarter: six deviations on either side.
	if s.RowsUsed < 193-6*13 || s.RowsUsed > 193+6*13 || !strings.Contains(strings.Join(s.Warnings, "\n"), "some shards are missing") {
		t.Errorf("%d rows used, %q", s.RowsUsed, s.Warnings)
	}
	q.Choice.Options["sample"] = 400
	_, err := Select(t.Context(), q)
	refused(t, "a sample of the whole", err, "some shards", "merge all shards")
}

// Rows of inputs that were scanned separately add up to a sample, whatever the order; the file warns that it is
// another sample.
func TestRowsOfInputsScannedApart(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, name := range []string{"a", "b"} {
		files = append(files, filepath.Join(dir, name+".ufs"))
		scan := ScanRequest{Request: Request{Input: Input{Paths: []string{faces(300, 8, uint64(i)).write(t)}}, Output: files[i]}, ProfileOnly: true, KeepRows: 100}
		if _, err := Scan(t.Context(), scan); err != nil {
			t.Fatalf("scanning %s: %v", name, err)
		}
	}
	var answers []string
	for _, order := range [][]string{files, {files[1], files[0]}} {
		all := filepath.Join(dir, "all.ufs")
		done, err := Merge(t.Context(), MergeRequest{Files: order, Output: all})
		if err != nil {
			t.Fatalf("merging %v: %v", order, err)
		}
		if !strings.Contains(strings.Join(done.Warnings, "\n"), "number theirs apart") {
			t.Errorf("warnings %q", done.Warnings)
		}
		s := selected(t, Request{Stats: all, Choice: Choice{Method: "eufs", K: 3, Options: method.Settings{"clusters": 3, "max-iter": 2}}})
		if s.RowsUsed != 100 || s.Rows != 600 {
			t.Errorf("%d of %d rows", s.RowsUsed, s.Rows)
		}
		s.Inputs, s.Table = nil, nil
		answers = append(answers, answerOf(t, s))
	}
	same(t, answers[1], answers[0])
}

// A missing value under the policy that allows none is an error with its place, also if only kept rows show it.
func TestMissingValuesOfKeptRows(t *testing.T) {
	all := keptBy(t, Request{Input: Input{Paths: []string{faces(300, 24, 5).holes(50).write(t)}}, Choice: Choice{Method: "eufs"}, Columns: Columns{Missing: request.MissingError}}, 200, 2, 1)
	_, err := Select(t.Context(), Request{Stats: all, Choice: Choice{Method: "eufs", K: 3}})
	var bad *stream.DataError
	if !errors.As(err, &bad) || !errors.Is(err, stream.ErrMissing) || bad.Path != all || bad.Row < 0 || !strings.HasPrefix(bad.Column, "px_") || bad.Remedy.Format == "" {
		t.Errorf("got %+v, want a data error that names file, row, column px_… and remedy of a missing value", err)
	}
}

// A part whose rows are damaged is an error, before anything is selected.
func TestDamagedRows(t *testing.T) {
	all := keptBy(t, Request{Input: Input{Paths: []string{faces(300, 8, 5).write(t)}}, Choice: Choice{Method: "eufs"}}, 200, 1, 1)
	b, err := os.ReadFile(all)
	if err != nil {
		t.Fatalf("reading the statistics file: %v", err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(all, b, 0o666); err != nil {
		t.Fatalf("writing the damaged file: %v", err)
	}
	if _, err := Select(t.Context(), Request{Stats: all, Choice: Choice{Method: "eufs", K: 3}}); !errors.As(err, new(*stream.DataError)) {
		t.Errorf("selecting from damaged rows: %v, want a data error", err)
	}
}

// The header records the settings of the kept rows.
func TestKeptRowsAreRecorded(t *testing.T) {
	q := Request{Input: Input{Paths: []string{faces(300, 8, 5).write(t)}}, Choice: Choice{Method: "eufs", Seed: 4}, Columns: Columns{Missing: "mean"}} // not the policy that a profile has
	all := keptBy(t, q, 200, 2, 1)
	h, err := chunkio.ReadStatsHeader(t.Context(), all, chunkio.FetchOptions{})
	if err != nil {
		t.Fatalf("reading the header: %v", err)
	}
	for option, want := range map[string]string{"sample-rows": "200", "seed": "4", "sample-missing": "mean"} {
		if h.Options[option] != want {
			t.Errorf("%s %q, want %q", option, h.Options[option], want)
		}
	}
	seen, err := Inspect(t.Context(), Request{Input: Input{Paths: []string{all}}}, false)
	if err != nil || seen.Options["missing"] != "mean" || seen.Options["sample-rows"] != "200" || seen.Options["sample-missing"] != "" {
		t.Errorf("inspected: %v, %v", seen, err)
	}
}
