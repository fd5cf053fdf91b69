package ufs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// answers is a table of nine columns and a text label, in two files; the column score determines the classes.
// It returns their folder.
func answers(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	dir := t.TempDir()
	folder := filepath.Join(dir, "answers")
	must.Do(t, os.Mkdir(folder, 0o755))
	for part := range 2 {
		lines := []string{"m0,m1,m2,m3,m4,m5,m6,m7,score,answer"}
		for range 300 {
			var cells []string
			hidden := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			for j := range 8 {
				cells = append(cells, fmt.Sprint(10+hidden[j%3]+0.3*float64(1+j)*r.NormFloat64()))
			}
			class := r.IntN(4) // the last has none
			cells = append(cells, fmt.Sprint(1+float64(class)+0.05*r.NormFloat64()), []string{"größer", "no", "yes", ""}[class])
			lines = append(lines, strings.Join(cells, ","))
		}
		text := filepath.Join(dir, fmt.Sprintf("%d.csv", part))
		must.Do(t, os.WriteFile(text, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
		must.Get(Convert(t.Context(), ConvertRequest{Input: Input{Paths: []string{text}}, Output: filepath.Join(folder, fmt.Sprintf("%d.parquet", part))}))(t)
	}
	return folder
}

// leaks are the names of the columns that s suspects to tell the label.
func leaks(s *stream.Selection) (names []string) {
	for _, one := range s.Suspects {
		if strings.HasPrefix(one.Why, "nearly determines the label answer (") {
			names = append(names, one.Name)
		}
	}
	return names
}

// TestEveryMethodWarnsOfALeak: every method warns about a leak of a text label without reading the input again,
// and selects the same as without the label. Selecting from kept rows gives the same warning.
func TestEveryMethodWarnsOfALeak(t *testing.T) {
	folder := answers(t)
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		q.Input.Paths, q.Choice.K, q.Columns.Label = []string{folder}, 3, "answer"
		if spec.Takes.Cells {
			q.Choice.Options["shape"] = "3x3"
		}
		with := selected(t, q)
		if got := leaks(with); !slices.Equal(got, []string{"score"}) {
			t.Errorf("leaks %q of %v", got, with.Suspects)
		}
		unlabelled := q
		unlabelled.Columns.Label = ""
		without := selected(t, unlabelled)
		if with.Passes != without.Passes || without.Suspects != nil {
			t.Errorf("%d passes, without the label %d, suspects %v", with.Passes, without.Passes, without.Suspects)
		}
		if !slices.Equal(names(with), names(without)) {
			t.Errorf("%v, without the label %v", with.Selected, without.Selected)
		}
		if !spec.From.UsesRows() {
			return
		}
		delete(q.Choice.Options, "sample") // all rows that were kept
		for _, rows := range long.TakeCases(2, []int64{200, 5000}) {
			kept := q
			kept.Stats, kept.Input.Paths, kept.Columns.Label = keptBy(t, Request{Input: Input{Paths: q.Input.Paths}, Choice: Choice{Method: q.Choice.Method}, Columns: Columns{Label: q.Columns.Label}}, rows, 2, 1), nil, ""
			s := selected(t, kept)
			if got := leaks(s); !slices.Equal(got, []string{"score"}) {
				t.Errorf("%d rows kept: leaks %q of %v", rows, got, s.Suspects)
			}
			if kept.Columns.Exclude = []string{"m1"}; !spec.Takes.Cells {
				if got := leaks(selected(t, kept)); !slices.Equal(got, []string{"score"}) {
					t.Errorf("%d rows kept of fewer columns: leaks %q", rows, got)
				}
			}
		}
	})
}
