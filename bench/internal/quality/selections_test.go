package quality

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// writeTool writes selections of another tool, by sets, and returns their folder.
func writeTool(t *testing.T, tool string, bySet map[string]any) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), tool)
	must.Do(t, os.Mkdir(folder, 0o777))
	for set, list := range bySet {
		must.Do(t, os.WriteFile(filepath.Join(folder, set+".json"), must.Get(json.Marshal(list))(t), 0o666))
	}
	return folder
}

// TestOtherSelections: the choice of another tool has the scores of a method that chooses the same; a set for which
// there is none, or one of unknown columns, is refused; and a changed file is judged again.
func TestOtherSelections(t *testing.T) {
	dir, out := smallSets(t), filepath.Join(t.TempDir(), "q")
	sel := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{filepath.Join(dir, "one.parquet")}}, Columns: ufs.Columns{Label: "label"}, Choice: ufs.Choice{Method: "greedy", K: 8}}))(t)
	sel.Schema = stream.SelectionSchema
	same := writeTool(t, "same", map[string]any{"one": sel})
	short, wrong, twice := *sel, *sel, *sel
	slices.Reverse(sel.Selected) // the ranks decide
	backwards := writeTool(t, "backwards", map[string]any{"one": sel})
	short.Selected = slices.Clone(sel.Selected[5:])
	wrong.Selected = append(slices.Clone(sel.Selected[5:]), stream.Selected{Rank: 4, Name: "x01o"})
	twice.Selected = append(slices.Clone(sel.Selected[5:]), stream.Selected{Rank: 4, Name: sel.Selected[6].Name})
	args := fewFlags(dir, out, "--methods", "greedy,random", "--selections", strings.Join([]string{same, filepath.Join(backwards, "one.json"),
		writeTool(t, "short", map[string]any{"one": short}), writeTool(t, "wrong", map[string]any{"two": wrong}), writeTool(t, "twice", map[string]any{"one": twice})}, ","))
	run := func() map[string]string {
		code, _, said := bench.Run(t.Context(), args...)
		if code != exit.Done {
			t.Fatalf("exit %d: %s", code, said)
		}
		scores := make(map[string]string)
		for _, row := range must.Get(csv.NewReader(strings.NewReader(benchtest.ReadText(t, out+".csv"))).ReadAll())(t)[1:] {
			scores[row[0]+" "+row[4]+" "+row[5]] = strings.Join(slices.Concat(row[6:13], row[20:]), " ")
		}
		return scores
	}
	scores := run()
	for _, tool := range []string{"same", "backwards"} {
		for _, percent := range []string{"5", "20"} {
			if got, want := scores["one "+tool+" "+percent], withoutRan(scores["one greedy "+percent]); got == "" || got != want {
				t.Errorf("%s at %s %%: scores %s, want greedy's %s", tool, percent, got, want)
			}
		}
	}
	summary := benchtest.ReadText(t, out+".md")
	for _, want := range []string{"same on two, 5 %, 20 %: there is no selection of same for this set", "short on one, 20 %: chose 3 of 8",
		`wrong on two, 5 %, 20 %: the selection has the feature "x01o", which the set does not have; did you mean`, "twice on one, 5 %, 20 %: the selection has the feature"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not have %q:\n%s", want, summary)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(same, "one.json"), must.Get(json.Marshal(short))(t), 0o666))
	if again := run(); again["one same 20"] != again["one short 20"] {
		t.Errorf("after a change of the file the scores are %s, want %s", again["one same 20"], again["one short 20"])
	}
	for want, args := range map[string][]string{
		"files of selections":     {"--selections", filepath.Join(dir, "none")},
		"no such set; did you me": {"--selections", writeTool(t, "tool", map[string]any{"onne": sel})},
		"name of a variant":       {"--selections", writeTool(t, "greedy", map[string]any{"one": sel})},
		"another selection":       {"--selections", same + "," + writeTool(t, "same", map[string]any{"one": sel})},
	} {
		if code, _, said := bench.Run(t.Context(), fewFlags(dir, out, args...)...); code != exit.Usage && code != exit.Data || !strings.Contains(said, want) {
			t.Errorf("%v: exit %d, %q, want %q", args, code, said, want)
		}
	}
}

// withoutRan removes the method and scale of a line of scores.
func withoutRan(line string) string { return strings.Replace(line, "greedy, standard", "", 1) }
