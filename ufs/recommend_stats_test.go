package ufs

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// scannedFaces are the statistics of a table of clusters.
func scannedFaces(t *testing.T, q Request) (input, stats string) {
	t.Helper()
	input, stats = faces(1200, 48, 1).write(t), filepath.Join(t.TempDir(), "all.ufs")
	q.Input.Paths, q.Output = []string{input}, stats
	must.Get(Scan(t.Context(), ScanRequest{Request: q}))(t)
	return input, stats
}

// TestStatisticsAreLookedAtWithinMemory: surveying the sample of rows in statistics takes memory too. If there
// is too little, a named method refuses and names the limit that suffices; without a name the fallback selects.
func TestStatisticsAreLookedAtWithinMemory(t *testing.T) {
	_, stats := scannedFaces(t, Request{})
	want := selected(t, Request{Stats: stats, Choice: Choice{K: 3, Method: methods.Recommended}})
	little := Request{Stats: stats, Choice: Choice{K: 3}, Limits: Limits{Memory: budget.ProgramBytes + 8<<20}}
	if s := selected(t, little); s.Method != methods.Fallback || !strings.Contains(s.Why, "memory-limit") {
		t.Errorf("within 8 MiB: method %s: %q, want %s for lack of memory", s.Method, s.Why, methods.Fallback)
	}
	little.Choice.Method = methods.Recommended
	_, err := Select(t.Context(), little)
	var refused *stream.MemoryError
	if !errors.As(err, &refused) {
		t.Fatalf("method %s within 8 MiB: %v, want a refusal for lack of memory", little.Choice.Method, err)
	}
	little.Limits.Memory = refused.Need
	got := selected(t, little)
	if got.Selected[2].Name != want.Selected[2].Name || float64(got.Selected[2].Score) != float64(want.Selected[2].Score) {
		t.Errorf("within the %d bytes that it asked for it selects %v, with more %v", refused.Need, got.Selected, want.Selected)
	}
}

// TestGraphRowsOfStatistics: of the rows that statistics keep as many are looked at as the request asks for, which are the
// same as from the input; more than they keep are refused.
func TestGraphRowsOfStatistics(t *testing.T) {
	input, stats := scannedFaces(t, Request{Choice: Choice{Options: method.Settings{"graph-rows": 1000}}})
	q := Request{Input: Input{Paths: []string{input}}, Choice: Choice{K: 3, Method: methods.Recommended, Options: method.Settings{"graph-rows": 600}}}
	want := selected(t, q)
	q.Input.Paths, q.Stats = nil, stats
	got := selected(t, q)
	if got.Trust.Clusters.Value != want.Trust.Clusters.Value || got.Selected[2].Score != want.Selected[2].Score {
		t.Errorf("600 of 1,000 rows: %v, from the input %v", got.Selected, want.Selected)
	}
	q.Choice.Options = method.Settings{"graph-rows": 1100}
	if _, err := Select(t.Context(), q); err == nil || !strings.Contains(err.Error(), "keeps a sample of 1,000 rows") {
		t.Errorf("1,100 of 1,000 rows: %v", err)
	}
}

// TestSeedOfStatistics: statistics whose rows another seed has drawn are refused, whether or not the method is named:
// that is no reason for another method.
func TestSeedOfStatistics(t *testing.T) {
	_, stats := scannedFaces(t, Request{Choice: Choice{Seed: 2}})
	for _, name := range []string{"", methods.Recommended} {
		if s, err := Select(t.Context(), Request{Stats: stats, Choice: Choice{K: 3, Seed: 3, Method: name}}); err == nil || !strings.Contains(err.Error(), "drawn with") {
			t.Errorf("method %q, another seed: %v, %v", name, s, err)
		}
		if s := selected(t, Request{Stats: stats, Choice: Choice{K: 3, Method: name}}); s.Seed != 2 || s.Method != methods.Recommended {
			t.Errorf("method %q: seed %d, method %s; want 2, %s", name, s.Seed, s.Method, methods.Recommended)
		}
	}
}

// TestUnmeasuredIsNotTold: nothing is claimed of columns and rows that were compared with nothing.
func TestUnmeasuredIsNotTold(t *testing.T) {
	for name, table := range map[string]columns{"two rows": chance(2, 50), "one column": chance(50, 1)} {
		for _, method := range []string{"", methods.Recommended} {
			s := selected(t, Request{Input: Input{Paths: []string{table.write(t)}}, Choice: Choice{K: 1, Method: method}})
			if s.Trust != nil && s.Trust.Dependence != nil {
				t.Errorf("%s, method %q: dependence %v", name, method, *s.Trust.Dependence)
			}
			if told := strings.Join(s.Warnings, "\n"); strings.Contains(told, "than independent ones") {
				t.Errorf("%s, method %q: %s", name, method, told)
			}
		}
	}
}
