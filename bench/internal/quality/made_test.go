package quality

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func spreadOf(mean float64) *stream.Spread { return &stream.Spread{Mean: stream.Number(mean)} }

// classShare is the share of a column's variance that lies between the classes.
func classShare(x, class []float64) float64 {
	sum, count := map[float64]float64{}, map[float64]float64{}
	mean, whole, between := 0.0, 0.0, 0.0
	for i, v := range x {
		sum[class[i]] += v
		count[class[i]]++
		mean += v / float64(len(x))
	}
	for _, v := range x {
		whole += (v - mean) * (v - mean)
	}
	for c, n := range count {
		between += n * (sum[c]/n - mean) * (sum[c]/n - mean)
	}
	return between / whole
}

// TestMadeSetsHideTheirAnswer: the columns of an answer tell of the classes and the others do
// not; the same call makes the same bytes.
func TestMadeSetsHideTheirAnswer(t *testing.T) {
	for _, k := range madeKinds() {
		s := must.Get(k.writeSet(t.Context(), t.TempDir()))(t)
		again := must.Get(k.writeSet(t.Context(), t.TempDir()))(t)
		if benchtest.ReadText(t, s.path) != benchtest.ReadText(t, again.path) {
			t.Errorf("%s: other bytes the second time", k.name)
		}
		names, columns := benchtest.ReadTable(t, s.path, chunkio.Options{})
		label := columns[len(columns)-1]
		known := slices.Concat(s.answer...)
		classes := slices.Max(label) + 1
		told := 0
		for j, x := range columns[:len(columns)-1] {
			share := classShare(x, label)
			// By chance the share is (classes−1)/rows, with a deviation of √(2·(classes−1))/rows;
			// six of these and half again leave room for thousands of columns.
			chance := 1.5 * (classes - 1 + 6*math.Sqrt(2*(classes-1))) / float64(k.rows)
			if slices.Contains(known, names[j]) {
				if share > 2*(classes-1)/float64(k.rows) {
					told++
				}
			} else if share > chance && k.name != "made-planted" { // whose mixtures follow the classes too
				t.Errorf("%s: column %s is not of the answer, and %.3f of its variance is between the classes", k.name, names[j], share)
			}
		}
		// Rare words tell of their topics too, but seldom occur; one factor of the planted set
		// follows no class.
		least := map[string]float64{"made-words": 0.3, "made-planted": 0.8}[k.name]
		if least == 0 {
			least = 0.9
		}
		if float64(told) < least*float64(len(known)) && !k.unranked {
			t.Errorf("%s: %d of %d columns of the answer tell of the classes", k.name, told, len(known))
		}
	}
}

// TestHalvesAreComplementary: the two halves of a pair contain all rows, each once, also of a sample, and keep
// missing values.
func TestHalvesAreComplementary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	must.Do(t, bench.Generate(t.Context(), []string{"gen", "planted", "-q", "-o", path, "--rows", "501", "--columns", "12", "--label", "--nulls", "0.1"}))
	for _, most := range []int64{1000, 100} {
		o := &options{seed: 3, halves: 4, rows: most}
		s := dataset{name: "a", path: path}
		must.Do(t, o.inspectSet(t.Context(), &s))
		paths := must.Get(o.writeHalves(t.Context(), s, t.TempDir()))(t)
		if len(paths) != 4 {
			t.Fatalf("%d halves", len(paths))
		}
		want := rowTexts(t, path, chunkio.Options{Label: s.label, Sample: min(most, 501), Seed: 3})
		for pair := range 2 {
			a, b := rowTexts(t, paths[2*pair], chunkio.Options{}), rowTexts(t, paths[2*pair+1], chunkio.Options{})
			got := append(slices.Clone(a), b...)
			slices.Sort(got)
			if !slices.Equal(got, want) || len(a)-len(b) > 1 || len(b) > len(a) {
				t.Errorf("pair %d of %d rows: halves of %d and %d rows are not all rows", pair, len(want), len(a), len(b))
			}
		}
	}
}

// rowTexts are the rows of a file as texts, sorted.
func rowTexts(t *testing.T, path string, opt chunkio.Options) []string {
	t.Helper()
	_, columns := benchtest.ReadTable(t, path, opt)
	rows := make([]string, len(columns[0]))
	for i := range rows {
		for _, x := range columns {
			rows[i] += fmt.Sprintf("%v ", x[i])
		}
	}
	slices.Sort(rows)
	return rows
}

func TestCountsAndFound(t *testing.T) {
	s := dataset{features: 30, answer: [][]string{{"a", "b"}, {"c"}, {"d"}}}
	if got := s.featureCounts([]float64{2, 5, 10, 20, 100}); !slices.Equal(got, []int{2, 2, 3, 6, 30}) {
		t.Errorf("counts %v", got)
	}
	for _, c := range []struct {
		chosen  []string
		covered int
		found   float64
	}{{[]string{"x", "y"}, 0, 0}, {[]string{"a", "b"}, 1, 0.5}, {[]string{"c", "d"}, 2, 1}, {[]string{"a", "b", "c", "x"}, 2, 2. / 3}} {
		covered := s.countCovered(c.chosen)
		share := stream.Number(covered)
		found := choiceMade{Chosen: len(c.chosen), Covered: &share}.shareFound(s)
		if covered != c.covered || found != c.found {
			t.Errorf("%v: %d covered and %v found, want %d and %v", c.chosen, covered, found, c.covered, c.found)
		}
	}
	if got := (dataset{features: 30, answer: s.answer, lake: true}).featureCounts([]float64{2, 20}); !slices.Equal(got, []int{3, 3}) {
		t.Errorf("counts of a lake of 3 factors %v", got)
	}
}

// TestFindingsCutOff: a line that was cut off does not count, and does not spoil the lines after it.
func TestFindingsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	for i := range 3 {
		f := must.Get(openFindings(path))(t)
		if len(f.list) != i {
			t.Errorf("%d findings, want %d", len(f.list), i)
		}
		must.Do(t, f.appendFinding(finding{Set: fmt.Sprint(i)}))
		must.Do(t, f.Close())
		must.Do(t, os.WriteFile(path, []byte(benchtest.ReadText(t, path)+`{"set":"cut`), 0o666))
	}
	if n := strings.Count(benchtest.ReadText(t, path), "\n"); n != 5 {
		t.Errorf("%d lines", n)
	}
	if _, err := openFindings(filepath.Join(path, "below", "a file")); err == nil {
		t.Error("a folder below a file was made")
	}
}

// TestQualityInterruptedEarly: before anything is found nothing is lost and nothing left.
func TestQualityInterruptedEarly(t *testing.T) {
	dir := smallSets(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, said := bench.Run(ctx, fewFlags(dir, filepath.Join(t.TempDir(), "q"))...); code != 130 {
		t.Errorf("exit %d: %s", code, said)
	}
	benchtest.CheckNoScratch(t)
}

// TestProbe: of the methods known best, the probe finds that mcfs alone needs a run for every
// number of features.
func TestProbe(t *testing.T) {
	o := &options{seed: 1, rows: 1000, timeout: time.Minute, memory: 2 << 30, threads: 1}
	want := []bool{false, false, true, false, true}
	for _, name := range []string{"greedy", "graphgreedy", "mcfs", "cpufs"} {
		o.variants = append(o.variants, variant{name: name, method: name})
	}
	o.variants = append(o.variants, variant{name: "told", method: "variance", needsRunPerCount: true})
	got := must.Get((&run{options: o, scratch: t.TempDir()}).findPerCountVariants(t.Context()))(t)
	if !slices.Equal(got, want) {
		t.Errorf("runs for every number of features: %v, want %v", got, want)
	}
}
