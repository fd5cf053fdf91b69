package ufs

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twelve is a table of 12 factors, each shown by several columns, their mixtures, and 60 columns of noise.
func twelve(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/twelve.parquet"
	table := planted.New(planted.Options{Rows: 6000, Factors: 12, Noise: 60})
	if err := chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{}); err != nil {
		t.Fatalf("writing the table: %v", err)
	}
	return path
}

// TestDefaultSize: a request that names no number selects as many features as {k} auto if the method's Gram
// matrix is in memory, and else 50, with the reason. A path shows 50.
func TestDefaultSize(t *testing.T) {
	path := plant(t, 900)
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		if q.Input.Paths, q.Choice.K = []string{path}, 0; spec.Takes.Cells {
			q.Input.Paths = []string{noiseFile(t, 200, 60, 1)}
		}
		if spec.Takes.RowScales != nil { // negative values are no counts
			q.Input.Paths = []string{faces(300, 60, 4).write(t)}
		}
		got := selected(t, q)
		p := must.Get(Plan(t.Context(), q))(t)
		if p.WhyK != got.WhyK || p.AutoK != (got.WhyK == "") || p.K < got.K {
			t.Errorf("planned up to %d, auto %v, because %q; selected %d because %q", p.K, p.AutoK, p.WhyK, got.K, got.WhyK)
		}
		if !spec.From.UsesGram() {
			if got.K != min(DefaultK, got.Features) || got.Options["k"] != nil || !strings.Contains(got.WhyK, spec.Name) {
				t.Errorf("%d features, options %v, because %q", got.K, got.Options, got.WhyK)
			}
			return
		}
		q.Choice.AutoK = true
		same(t, answerOf(t, got), answerOf(t, selected(t, q)))
		if got.Options["k"] != "auto" || got.WhyK != "" {
			t.Errorf("options %v, because %q", got.Options, got.WhyK)
		}
	})
	if c := must.Get(Path(t.Context(), Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy"}}))(t).Curve; len(c.Points) <= c.Size.Recommended || c.Options["k"] != nil {
		t.Errorf("%d points, options %v", len(c.Points), c.Options)
	}
}

// TestDefaultSizeMemory: one byte below the memory for finding the number of features, from data and from
// statistics, the default number is selected, the same features as with that number given, and the reason names
// the limit that suffices. With that limit the number is found.
func TestDefaultSizeMemory(t *testing.T) {
	path := noiseFile(t, 700, 600, 1)
	stats := t.TempDir() + "/all.ufs"
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Output: stats}}))(t)
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy"}}
	p := must.Get(Plan(t.Context(), q))(t).Memory
	if p.AutoK <= p.Smallest {
		t.Fatalf("telling takes %d bytes, selecting %d", p.AutoK, p.Smallest)
	}
	for _, q := range []Request{q, {Stats: stats, Choice: Choice{Method: "greedy"}}} {
		enough := p.AutoK
		if q.Stats != "" {
			q.Choice.AutoK, q.Limits.Memory = true, 1
			var short *stream.MemoryError
			if _, err := Select(t.Context(), q); !errors.As(err, &short) {
				t.Fatalf("selecting within 1 byte: %v, want a memory error", err)
			}
			enough, q.Choice.AutoK = short.Need, false
		}
		q.Limits.Memory = enough
		if s := selected(t, q); s.Options["k"] != "auto" || s.WhyK != "" {
			t.Errorf("%d features within %d bytes, because %q", s.K, q.Limits.Memory, s.WhyK)
		}
		q.Limits.Memory--
		short := selected(t, q)
		if short.K != DefaultK || short.Size != nil || short.Options["k"] != nil || !strings.Contains(short.WhyK, "memory") {
			t.Errorf("%d features, options %v, because %q", short.K, short.Options, short.WhyK)
		}
		q.Choice.K = DefaultK
		asked := selected(t, q)
		short.WhyK = ""
		same(t, answerOf(t, short), answerOf(t, asked))
	}
	q.Limits.Memory = p.Smallest - 1
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("error %v below the smallest limit", err)
	}
}

// TestDefaultSizeSketch: an estimate of the Gram matrix gives no number, from data and statistics.
func TestDefaultSizeSketch(t *testing.T) {
	path := plant(t, 900)
	stats := t.TempDir() + "/sketch.ufs"
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Choice: Choice{Sketch: "64"}, Output: stats}}))(t)
	for _, q := range []Request{{Input: Input{Paths: []string{path}}, Choice: Choice{Sketch: "64"}}, {Stats: stats}, {Stats: stats, Choice: Choice{Method: "greedy"}}} {
		if s := selected(t, q); s.K != min(DefaultK, s.Features) || s.Size != nil || !strings.Contains(s.WhyK, "sketch") {
			t.Errorf("%+v: %d features, because %q", q, s.K, s.WhyK)
		}
	}
}

// TestTwelveFactors: of twelve factors among noise twelve features are kept; of 20 that are asked
// for, the last 8 are found to add no more than noise.
func TestTwelveFactors(t *testing.T) {
	q := Request{Input: Input{Paths: []string{twelve(t)}}, Choice: Choice{Method: "greedy"}}
	auto := selected(t, q)
	if auto.K != 12 || auto.Worth == nil || auto.Worth.Faint != 0 || !(auto.Size.Next <= auto.Size.Noise) {
		t.Fatalf("%d features, worth %+v, size %+v", auto.K, auto.Worth, auto.Size)
	}
	if gone := math.Abs(float64(1 - auto.Selected[11].Error - auto.Worth.Explained)); gone > 1e-9 {
		t.Errorf("%v explained, left %v", auto.Worth.Explained, auto.Selected[11].Error)
	}
	q.Choice.K = 20
	if s := selected(t, q); s.Worth.Faint != 8 || s.Worth.Last != 8 || !(s.Worth.Most <= s.Worth.Noise) || s.Size == nil || s.Size.Recommended != 12 || s.Options["k"] != nil {
		t.Errorf("worth %+v, size %+v, options %v", s.Worth, s.Size, s.Options)
	}
}

// TestMinGain: a method that stops by itself selects the same as with the number of features given that each
// add the share, in memory and without the Gram matrix; another graph method selects its ranking up to the last
// that adds it.
func TestMinGain(t *testing.T) {
	path := twelve(t)
	for i, c := range []struct {
		q     Request
		exact bool // stops by itself
	}{
		{Request{Choice: Choice{Method: "greedy"}}, true},
		{Request{Choice: Choice{Method: "greedy", Scale: "none"}}, true},
		{Request{Choice: Choice{Method: "greedy", Keep: []string{"x003", "x150"}}}, true},
		{Request{Choice: Choice{Method: "greedy", Options: method.Settings{"refine": "swap"}}}, true},
		{Request{Choice: Choice{Method: "partgreedy"}}, true},
		{Request{Choice: Choice{Method: "graphgreedy", Options: method.Settings{"anchors": 30}}}, true},
		{Request{Choice: Choice{Method: "graphgreedy", Options: method.Settings{"anchors": 30, "target": "spectral", "clusters": 6}}}, true},
		{Request{Choice: Choice{Method: "align"}}, false},
		{Request{Choice: Choice{Method: "laplacian", Options: method.Settings{"anchors": 30}}}, false},
	} {
		if !long.TakesCase(i, 2) {
			continue
		}
		q := c.q
		q.Input.Paths, q.Choice.K = []string{path}, 30
		whole := selected(t, q)
		if q.Choice.Method == "greedy" && q.Choice.Options != nil { // the order in which greedy takes them
			plain := q
			plain.Choice.Options = nil
			whole = selected(t, plain)
		}
		var gains []float64
		before := stream.Number(1)
		for _, f := range whole.Selected {
			gains = append(gains, float64(before-f.Error))
			before = f.Error
		}
		sorted := slices.Sorted(slices.Values(gains))
		share := (sorted[15] + sorted[16]) / 2
		cut := 0
		for i, gain := range gains {
			switch {
			case gain >= share:
				cut = i + 1
			case c.exact && i >= len(q.Choice.Keep) && cut <= i: // the first that adds less
				gains = gains[:i]
			}
			if i >= len(gains) {
				break
			}
		}
		if cut = max(cut, len(q.Choice.Keep)); c.exact {
			cut = max(len(gains), len(q.Choice.Keep))
		}
		q.Choice.K = cut
		want := selected(t, q)
		for _, most := range []int{0, 30} {
			if most == 0 && !c.exact {
				continue // the default is another number
			}
			q.Choice.K, q.Choice.MinGain = most, share
			got := selected(t, q)
			if got.K != cut || got.Options["min-gain"] != share {
				t.Errorf("%+v: %d features, options %v, want %d", c.q, got.K, got.Options, cut)
			}
			sameChoice(t, got, want)
		}
		if q.Choice.K = 2; len(q.Choice.Keep) == 0 {
			if got := selected(t, q); got.K > 2 {
				t.Errorf("%+v: %d features, at most 2", c.q, got.K)
			}
		}
		q.Choice.K, q.Choice.MinGain = 0, 0.99
		if q.Choice.Keep == nil {
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) {
				t.Errorf("%+v: error %v where no feature gains as much", c.q, err)
			}
		}
	}
}

// sameChoice checks that two selections have the same features, errors and explained shares.
func sameChoice(t *testing.T, got, want *stream.Selection) {
	t.Helper()
	if len(got.Selected) != len(want.Selected) {
		t.Errorf("%d features, want %d", len(got.Selected), len(want.Selected))
		return
	}
	for i, f := range got.Selected {
		if w := want.Selected[i]; f.Name != w.Name || math.Abs(float64(f.Error-w.Error)) > 1e-12 {
			t.Errorf("%s: rank %d is %s with error %v, want %s with %v", got.Method, i+1, f.Name, f.Error, w.Name, w.Error)
		}
	}
	for j, c := range got.Columns {
		if w := want.Columns[j]; c.Nearest != w.Nearest || math.Abs(float64(c.Explained-w.Explained)) > 1e-12 {
			t.Errorf("%s: column %s %+v, want %+v", got.Method, c.Name, c, w)
		}
	}
}

// TestMinGainOutOfCore: without the Gram matrix the same features are selected.
func TestMinGainOutOfCore(t *testing.T) {
	q := Request{Input: Input{Paths: []string{noiseFile(t, 1600, 1500, 1)}}, Choice: Choice{Method: "greedy", K: 8}}
	some := selected(t, q).Selected
	q.Choice.K, q.Choice.MinGain = 0, float64(some[4].Error-some[6].Error)/2 // between the sixth gain and the seventh
	want := selected(t, q)
	q.Limits.Memory = must.Get(Plan(t.Context(), q))(t).Memory.Smallest
	got := selected(t, q)
	if got.Passes <= want.Passes || want.K < 2 || want.K > 600 {
		t.Fatalf("%d features in %d passes, and in %d within %d bytes", want.K, want.Passes, got.Passes, q.Limits.Memory)
	}
	for i, f := range got.Selected {
		if i >= len(want.Selected) || f.Name != want.Selected[i].Name {
			t.Fatalf("rank %d is %s", i+1, f.Name)
		}
	}
}

// TestMinGainRefused: with another rule for the number, out of its range, for methods that leave no Gram
// matrix, and of an estimate.
func TestMinGainRefused(t *testing.T) {
	path := plant(t, 300)
	for _, q := range []Request{
		{Choice: Choice{MinGain: 0.1, AutoK: true}}, {Choice: Choice{MinGain: 0.1, Variance: 0.5}}, {Choice: Choice{MinGain: 1}}, {Choice: Choice{MinGain: -0.1}},
		{Choice: Choice{MinGain: 0.1, Method: "variance"}}, {Choice: Choice{MinGain: 0.1, Method: "eufs"}}, {Choice: Choice{MinGain: 0.1, Method: "fsfs"}}, {Choice: Choice{MinGain: 0.1, Sketch: "64"}},
	} {
		q.Input.Paths = []string{path}
		if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("%+v: error %v", q, err)
		}
	}
	if s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{MinGain: 0.05}}); s.Method != "greedy" || !strings.Contains(s.Why, "min-gain") {
		t.Errorf("method %s: %s", s.Method, s.Why)
	}
}

// TestApplyFirst: the first features by rank are written, whatever their order in the document.
func TestApplyFirst(t *testing.T) {
	path := plant(t, 300)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 5}})
	want := []string{s.Selected[0].Name, s.Selected[1].Name, s.Selected[2].Name}
	slices.Reverse(s.Selected)
	out := t.TempDir() + "/small.parquet"
	done := must.Get(Apply(t.Context(), ApplyRequest{Input: Input{Paths: []string{path}}, Selection: s, K: 3, Output: out}))(t)
	if !slices.Equal(done.Columns, want) {
		t.Errorf("columns %v, want %v", done.Columns, want)
	}
	for _, k := range []int{6, -1} {
		if _, err := Apply(t.Context(), ApplyRequest{Input: Input{Paths: []string{path}}, Selection: s, K: k, Output: out}); !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("k %d of 5 features: error %v", k, err)
		}
	}
}
