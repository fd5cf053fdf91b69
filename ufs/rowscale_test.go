package ufs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// countTable has counts of 12 words in documents of 3 topics and very different lengths. A given share of them is
// missing; a document in 20 is empty.
func countTable(missing float64) (t tabletest.Table) {
	const rows, words = 150, 12
	rng := rand.New(rand.NewPCG(51, 2))
	t.Cols = make([][]float64, words)
	for j := range t.Cols {
		t.Names = append(t.Names, fmt.Sprintf("w%d", j))
		t.Cols[j] = make([]float64, rows)
	}
	for i := range rows {
		length := rng.IntN(60)
		if i%20 == 7 {
			length = 0
		}
		for range length {
			j := rng.IntN(words)
			if rng.IntN(3) > 0 {
				j = i%3*words/3 + rng.IntN(words/3)
			}
			t.Cols[j][i]++
		}
		for j := range t.Cols {
			if rng.Float64() < missing {
				t.Cols[j][i] = math.NaN()
			}
		}
	}
	return t
}

// scaleByHand scales the rows of a table as the definition of the scale says: for tfidf by the smooth inverse document
// frequencies of scikit-learn, and then by their norms; for cp10k by their sums.
func scaleByHand(t tabletest.Table, scale string) tabletest.Table {
	if strings.HasPrefix(scale, "cp10k") {
		return t.MapEntries(func(i, _ int, x float64) float64 {
			sum := 0.0
			for _, col := range t.Cols {
				if !math.IsNaN(col[i]) {
					sum += col[i]
				}
			}
			switch {
			case sum == 0:
			case scale == "cp10k":
				return x / (sum / 10_000)
			default:
				return math.Log1p(x / (sum / 10_000))
			}
			return x
		})
	}
	weight := func(i int) float64 {
		if t.Weight == nil {
			return 1
		}
		return t.Weight[i]
	}
	idf := make([]float64, len(t.Cols))
	for j, col := range t.Cols {
		n, with := 0.0, 0.0
		for i, x := range col {
			n += weight(i)
			if x > 0 {
				with += weight(i)
			}
		}
		if idf[j] = 1; scale == "tfidf" {
			idf[j] = math.Log((1+n)/(1+with)) + 1
		}
	}
	norm := make([]float64, t.N())
	for i := range norm {
		for j, col := range t.Cols {
			if x := idf[j] * col[i]; !math.IsNaN(x) {
				norm[i] += x * x
			}
		}
		if norm[i] = math.Sqrt(norm[i]); norm[i] == 0 {
			norm[i] = 1
		}
	}
	return t.MapEntries(func(i, j int, x float64) float64 { return idf[j] * x / norm[i] })
}

func writeTable(t *testing.T, table stream.Source) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{RowGroupRows: 100}))
	return path
}

// writeSVM writes a table without missing values as libsvm text, without its zeros.
func writeSVM(t *testing.T, table tabletest.Table) string {
	t.Helper()
	var b strings.Builder
	for i := range table.N() {
		b.WriteByte('0')
		for j, col := range table.Cols {
			if col[i] != 0 {
				fmt.Fprintf(&b, " %d:%v", j, col[i])
			}
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "table.svm")
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// checkAlike compares the features of two selections and their scores. They are equal if they come from the same sums,
// and nearly equal if they come from sums over shards.
func checkAlike(t *testing.T, what string, got, want *stream.Selection, tolerance float64) {
	t.Helper()
	if a, b := picked(got), picked(want); !slices.Equal(a, b) {
		t.Errorf("%s: got %v, want %v", what, a, b)
		return
	}
	for i, f := range got.Selected {
		if a, b := float64(f.Score), float64(want.Selected[i].Score); math.Abs(a-b) > tolerance*math.Abs(b) {
			t.Errorf("%s: got score %v of %s, want %v", what, a, f.Name, b)
		}
	}
}

// TestRowScaleOfMethods: each method selects from scaled rows as from a file that has the rows scaled by hand.
func TestRowScaleOfMethods(t *testing.T) {
	raw := countTable(0)
	path, sparse := writeTable(t, raw), writeSVM(t, raw)
	for _, scale := range ufs.RowScales()[1:] {
		hand := scaleByHand(raw, scale)
		byHand, byHandSparse := writeTable(t, hand), writeSVM(t, hand)
		for i, spec := range methods.All() {
			q := ufs.Request{Choice: ufs.Choice{Method: spec.Name, K: 5}}
			for form, pair := range [][2]string{{path, byHand}, {sparse, byHandSparse}} {
				if !long.TakesCase(i+form+len(scale), 4) {
					continue
				}
				what := fmt.Sprintf("%s, %s, %s", scale, spec.Name, filepath.Ext(pair[0]))
				twin, own := q, q
				twin.Input.Paths, own.Input.Paths, own.Columns.RowScale = pair[1:], pair[:1], scale
				if fit := spec.Takes.RowScales; fit != nil && !slices.Contains(fit, scale) {
					if _, err := ufs.Select(t.Context(), own); err == nil || !strings.Contains(err.Error(), "is not for method "+spec.Name) {
						t.Errorf("%s: got error %v, want a refusal", what, err)
					}
					continue
				}
				want, err := ufs.Select(t.Context(), twin)
				if err != nil { // such a method takes no sparse rows
					if _, ownErr := ufs.Select(t.Context(), own); ownErr == nil {
						t.Errorf("%s: no error, want that of rows scaled by hand: %v", what, err)
					}
					continue
				}
				got := must.Get(ufs.Select(t.Context(), own))(t)
				checkAlike(t, what, got, want, 0)
				passes := want.Passes
				if scale == "tfidf" {
					passes++
				}
				if got.Passes != passes || got.Options["rows-scale"] != scale {
					t.Errorf("%s: got %d passes, scale %v, want %d, %s", what, got.Passes, got.Options["rows-scale"], passes, scale)
				}
			}
		}
	}
}

// TestRowScaleOfMissing: missing values count as 0 in norms and frequencies, and are filled by the means of scaled
// columns; weights of rows count in frequencies.
func TestRowScaleOfMissing(t *testing.T) {
	raw := countTable(0.05)
	for i := range raw.N() {
		raw.Weight = append(raw.Weight, float64(1+i%3))
	}
	withWeights := func(t tabletest.Table) tabletest.Table {
		t.Names, t.Cols, t.Weight = append(slices.Clone(t.Names), "weight"), append(slices.Clone(t.Cols), t.Weight), nil
		return t
	}
	path := writeTable(t, withWeights(raw))
	for _, scale := range ufs.RowScales()[1:] {
		hand := writeTable(t, withWeights(scaleByHand(raw, scale)))
		for _, policy := range []string{"mean", "zero", "pairwise", "drop-row"} {
			q := ufs.Request{Input: ufs.Input{Paths: []string{hand}}, Columns: ufs.Columns{Missing: policy, Weight: "weight"}, Choice: ufs.Choice{Method: "greedy", K: 6}}
			want := must.Get(ufs.Select(t.Context(), q))(t)
			q.Input.Paths, q.Columns.RowScale = []string{path}, scale
			got := must.Get(ufs.Select(t.Context(), q))(t)
			checkAlike(t, scale+", "+policy, got, want, 0)
			q.Limits.Threads = 3
			checkAlike(t, scale+", "+policy+", 3 threads", must.Get(ufs.Select(t.Context(), q))(t), got, 0)
		}
	}
}

// TestRowScaleOfStatistics: one scan, shards and a plan give the selection of the data; files of other scales or
// frequencies do not add up, and columns cannot be left out afterwards.
func TestRowScaleOfStatistics(t *testing.T) {
	raw := countTable(0)
	path := writeTable(t, raw)
	for _, scale := range ufs.RowScales()[1:] {
		q := ufs.Request{Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{RowScale: scale}, Choice: ufs.Choice{Method: "greedy", K: 5}}
		want := must.Get(ufs.Select(t.Context(), q))(t)
		for what, stats := range gatheredAlike(t, q, path) {
			from := ufs.Request{Stats: stats, Choice: q.Choice}
			got := must.Get(ufs.Select(t.Context(), from))(t)
			checkAlike(t, scale+" from "+what, got, want, 1e-9)
			if got.Options["rows-scale"] != scale || got.Options["document-frequencies"] != want.Options["document-frequencies"] {
				t.Errorf("%s from %s: got options %v, want %v", scale, what, got.Options, want.Options)
			}
			from.Columns.Exclude = []string{"w0"}
			if _, err := ufs.Select(t.Context(), from); err == nil || !strings.Contains(err.Error(), "norms") {
				t.Errorf("%s from %s without w0: got error %v, want one about norms", scale, what, err)
			}
			for _, other := range ufs.RowScales() {
				from.Columns = ufs.Columns{RowScale: other}
				if _, err := ufs.Select(t.Context(), from); (err == nil) != (other == scale) {
					t.Errorf("%s from %s, asked for %s: got error %v", scale, what, other, err)
				}
			}
		}
		// A graph of shards takes the rows of a profile of all shards.
		graph := q
		graph.Choice.Method = "laplacian"
		want = must.Get(ufs.Select(t.Context(), graph))(t)
		profile := scan(t, ufs.ScanRequest{Request: graph, ProfileOnly: true}, path)
		var shards []string
		for i := range 2 {
			shards = append(shards, scan(t, ufs.ScanRequest{Request: graph, Profile: profile, Shard: fmt.Sprintf("%d/2", i+1)}, path))
		}
		checkAlike(t, scale+", graph of shards", must.Get(ufs.Select(t.Context(), ufs.Request{Stats: merged(t, ufs.MergeRequest{}, shards...), Choice: graph.Choice}))(t), want, 1e-9)
		graph.Columns.RowScale = ""
		graph.Input.Paths, graph.Output = []string{path}, filepath.Join(t.TempDir(), "s.ufs")
		if _, err := ufs.Scan(t.Context(), ufs.ScanRequest{Request: graph, Profile: profile}); err == nil || !strings.Contains(err.Error(), "rows-scale") {
			t.Errorf("%s, a profile of other rows: got error %v, want one that names rows-scale", scale, err)
		}
	}
	var files []string
	for _, part := range []func(i, j int, x float64) float64{func(i, j int, x float64) float64 { return x }, func(i, j int, x float64) float64 { return max(x-1, 0) }} {
		files = append(files, scan(t, ufs.ScanRequest{Request: ufs.Request{Columns: ufs.Columns{RowScale: "tfidf"}}}, writeTable(t, raw.MapEntries(part))))
	}
	if _, err := ufs.Merge(t.Context(), ufs.MergeRequest{Files: files, Output: filepath.Join(t.TempDir(), "all.ufs")}); err == nil || !strings.Contains(err.Error(), "frequencies of other rows") {
		t.Errorf("merging files of other frequencies: got error %v, want one about them", err)
	}
}

// TestRowScaleOfEval: eval judges the scaled rows, as it judges a file of rows scaled by hand: those that a selection
// records, or those that the request names for a list of names.
func TestRowScaleOfEval(t *testing.T) {
	raw := countTable(0)
	withClass := func(t tabletest.Table) tabletest.Table {
		class := make([]float64, t.N())
		for i := range class {
			class[i] = float64(i % 3)
		}
		t.Names, t.Cols = append(slices.Clone(t.Names), "class"), append(slices.Clone(t.Cols), class)
		return t
	}
	path := writeTable(t, withClass(raw))
	judge := func(path, scale string, s *stream.Selection) *stream.Evaluation {
		return must.Get(ufs.Eval(t.Context(), ufs.EvalRequest{Input: ufs.Input{Paths: []string{path}}, Label: "class", Runs: 2, Restarts: 2, Baselines: []string{"all"}, RowScale: scale, Selections: []ufs.NamedSelection{{Selection: s}}}))(t)
	}
	for _, scale := range ufs.RowScales()[1:] {
		hand := writeTable(t, withClass(scaleByHand(raw, scale)))
		q := ufs.Request{Input: ufs.Input{Paths: []string{hand}}, Columns: ufs.Columns{Label: "class"}, Choice: ufs.Choice{Method: "greedy", K: 4}}
		twin := must.Get(ufs.Select(t.Context(), q))(t)
		q.Input.Paths, q.Columns.RowScale = []string{path}, scale
		s := must.Get(ufs.Select(t.Context(), q))(t)
		list := &stream.Selection{Selected: s.Selected}
		want := judge(hand, "", twin)
		for what, got := range map[string]*stream.Evaluation{"recorded": judge(path, "", s), "of a list": judge(path, scale, list), "named": judge(path, scale, twin)} {
			for i, r := range want.Results {
				if a, b := got.Results[i].NMISqrt.Mean, r.NMISqrt.Mean; math.Abs(float64(a-b)) > 1e-9 || math.Abs(float64(got.Results[i].Reconstruction-r.Reconstruction)) > 1e-9 && what != "of a list" {
					t.Errorf("%s %s, %s: got NMI %v, error %v, want %v, %v", scale, what, r.Name, a, got.Results[i].Reconstruction, b, r.Reconstruction)
				}
			}
			if got.RowsScale != scale {
				t.Errorf("%s %s: got rows in scale %q", scale, what, got.RowsScale)
			}
		}
		if raw := judge(path, "none", s); raw.RowsScale != "" || raw.Results[1].NMISqrt.Mean == want.Results[1].NMISqrt.Mean {
			t.Errorf("%s, judged without: got rows in scale %q, NMI %v, want none and another", scale, raw.RowsScale, raw.Results[1].NMISqrt.Mean)
		}
	}
}

// TestRowScaleRefusals: options that do not go together are refused before any row is read.
func TestRowScaleRefusals(t *testing.T) {
	for want, columns := range map[string]ufs.Columns{
		"want none, l2, tfidf, cp10k, cp10k,log1p": {RowScale: "log1p"}, "categorical": {RowScale: "l2", Categorical: "auto"},
		"document frequencies": {RowScale: "tfidf", Frequencies: `{"rows": 2, "features": {"w0": 3}}`},
	} {
		_, err := ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{writeTable(t, countTable(0))}}, Columns: columns})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q", columns, err, want)
		}
	}
}
