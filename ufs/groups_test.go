package ufs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// sensors are rows of 6 sensors of 3 readings each, and 2 columns more.
func sensors(t *testing.T) string {
	t.Helper()
	c := faces(300, 20, 5)
	for j := range 18 {
		c.Names[j] = fmt.Sprintf("s%d.r%d", j/3, j%3)
	}
	c.Names[18], c.Names[19] = "alone", "other"
	return c.write(t)
}

func textFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// groupFiles are the sensors' groups as JSON and as CSV.
func groupFiles(t *testing.T) (inJSON, inCSV string) {
	text, lines := "", "name,group\n"
	for s := range 6 {
		text += fmt.Sprintf(`, "s%d": ["s%[1]d.r0", "s%[1]d.r1", "s%[1]d.r2"]`, s)
		for r := range 3 {
			lines += fmt.Sprintf("s%d.r%d,s%[1]d\n", s, r)
		}
	}
	return textFile(t, "g.json", "{"+text[2:]+"}"), textFile(t, "g.csv", lines)
}

// TestGroupsAreWhole: however groups are given, every method that can chooses the same ones, whole, with the
// kept and without the forbidden ones, and within the budget; the record repeats the choice without the files.
func TestGroupsAreWhole(t *testing.T) {
	path := sensors(t)
	inJSON, inCSV := groupFiles(t)
	costs := textFile(t, "costs.csv", "\ufeffs1,2\nother,0.5\ns2.r0,4\n")
	cost := map[string]float64{"s0": 3, "s1": 2, "s2": 6, "s3": 3, "s4": 3, "s5": 3, "alone": 1, "other": 0.5}
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		if spec.Takes.Cells {
			q.Choice.Options["shape"] = "4x5"
		}
		q.Input.Paths, q.Choice.K, q.Choice.Keep, q.Choice.Forbid = []string{path}, 4, []string{"s3.r1"}, []string{"s5"}
		q.Choice.Groups, q.Choice.Costs, q.Choice.Budget = inJSON, costs, 11
		if spec.Takes.Turns {
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), spec.Name) {
				t.Fatalf("error %v, want a usage error that names the method", err)
			}
			return
		}
		want := selected(t, q)
		checkGroups(t, want, cost, 11)
		if want.Selected[0].Name != "s3" || len(want.Selected) < 3 {
			t.Errorf("selected %v: s3 is to be kept, and three fit", want.Selected)
		}
		for _, groups := range []string{inCSV, "prefix:.", `regex:^(s\d)\.`, `regex:^s\d`} {
			q.Choice.Groups = groups
			if got := selected(t, q); asJSON(t, got.Selected) != asJSON(t, want.Selected) {
				t.Errorf("groups %s: %v, want %v", groups, got.Selected, want.Selected)
			}
		}
		again := must.Get(RecordedRequest(want, nil))(t)
		if again.Choice.Groups[0] != '{' || again.Choice.Costs[0] != '{' {
			t.Errorf("groups %s and costs %s want their files", again.Choice.Groups, again.Choice.Costs)
		}
		again.Input.Paths, again.Choice.K = q.Input.Paths, 4
		if got := selected(t, again); asJSON(t, got.Selected) != asJSON(t, want.Selected) {
			t.Errorf("as recorded: %v, want %v", got.Selected, want.Selected)
		}
		if spec.Takes.Choice {
			return
		}
		// A ranking takes the best that fit, in the order of the norms of scores, or of their means.
		score := make(map[string][]float64)
		for _, s := range want.Scores {
			name, _, _ := strings.Cut(s.Name, ".")
			score[name] = append(score[name], float64(s.Score))
		}
		value := func(name string) float64 {
			squares, sum := 0.0, 0.0
			for _, x := range score[name] {
				squares, sum = squares+x*x, sum+x
			}
			if want.LowerIsBetter {
				return sum / float64(len(score[name]))
			}
			return math.Sqrt(squares)
		}
		for i, f := range want.Selected {
			if v := value(f.Name); math.Abs(v-float64(f.Score)) > 1e-9*v {
				t.Errorf("%s: score %v, want %v", f.Name, f.Score, v)
			}
			if i < 2 {
				continue
			}
			if before := want.Selected[i-1].Score; want.LowerIsBetter && before > f.Score*(1+1e-9) || !want.LowerIsBetter && before < f.Score*(1-1e-9) {
				t.Errorf("%v stands before %v", before, f.Score)
			}
		}
	})
}

// positionOf is the position that the reports give a feature.
func positionOf(s *stream.Selection, name string) stream.Position {
	return s.Columns[slices.IndexFunc(s.Columns, func(c stream.ColumnReport) bool { return c.Name == name })].Column
}

// checkGroups fails unless s selects whole sensors without s5 at these costs.
func checkGroups(t *testing.T, s *stream.Selection, cost map[string]float64, budget float64) {
	t.Helper()
	sum := 0.0
	for i, f := range s.Selected {
		sensor := strings.HasPrefix(f.Name, "s")
		if sensor && !slices.Equal(f.Members, []string{f.Name + ".r0", f.Name + ".r1", f.Name + ".r2"}) || !sensor && f.Members != nil {
			t.Errorf("%s has the members %v", f.Name, f.Members)
		}
		if f.Name == "s5" || f.Rank != i+1 || f.Column != positionOf(s, f.Features()[0]) || f.Cost == nil || float64(*f.Cost) != cost[f.Name] {
			t.Errorf("entry %d is %+v", i, f)
		}
		sum += float64(*f.Cost)
	}
	if s.Cost == nil || float64(*s.Cost) != sum || sum > budget {
		t.Errorf("cost %v, of a budget of %v; the entries' are %v", s.Cost, budget, sum)
	}
}

// TestGroupsFromStats: statistics give the selection of groups that the data do.
func TestGroupsFromStats(t *testing.T) {
	q := Request{Input: Input{Paths: []string{sensors(t)}}, Choice: Choice{Method: "greedy", Groups: "prefix:.", K: 3}}
	stats := filepath.Join(t.TempDir(), "a.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: q.Input.Paths}, Output: stats}}))(t)
	want := selected(t, q)
	q.Input.Paths, q.Stats = nil, stats
	if got := selected(t, q); asJSON(t, got.Selected) != asJSON(t, want.Selected) {
		t.Errorf("from statistics: %v, want %v", got.Selected, want.Selected)
	}
	f := must.Get(Plan(t.Context(), Request{Input: Input{Paths: []string{sensors(t)}}, Choice: Choice{Method: "greedy", Groups: "prefix:.", K: 3, Forbid: []string{"s1"}}}))(t)
	if f.K != 3 || f.Candidates != 7 || f.Features != 20 {
		t.Errorf("planned: %d of %d candidates, %d features; want 3 of 7, 20", f.K, f.Candidates, f.Features)
	}
}

// TestGroupsAutoK: greedy takes as many groups as explain the share of the recommended number of features, and
// a ranking as many as have that number. Reports on the other features refer to the chosen groups.
func TestGroupsAutoK(t *testing.T) {
	for _, name := range []string{"greedy", "laplacian"} {
		s := selected(t, Request{Input: Input{Paths: []string{sensors(t)}}, Choice: Choice{Method: name, Groups: "prefix:.", AutoK: true}})
		n, most := len(choice.FeatureNames(s)), len(last(s.Selected).Features())
		want := s.Size.Recommended
		enough := n >= want && n-most < want
		if name == "greedy" {
			k := slices.IndexFunc(s.Selected, func(f stream.Selected) bool { return 1-f.Error >= s.Size.Explained })
			enough = len(s.Selected) <= want && (k == len(s.Selected)-1 || k < 0 && len(s.Selected) == want)
		}
		if s.K != len(s.Selected) || !enough {
			t.Errorf("%s: %d features in %d groups, the last of %d; %d are recommended, and explain %v", name, n, len(s.Selected), most, want, s.Size.Explained)
		}
		again := selected(t, Request{Input: Input{Paths: []string{sensors(t)}}, Choice: Choice{Method: name, Groups: "prefix:.", K: s.K}})
		if asJSON(t, again.Columns) != asJSON(t, s.Columns) {
			t.Errorf("%s: the reports on features are others than of -k %d", name, s.K)
		}
		if s.Objective != nil && len(s.Objective) != len(s.Selected)+1 {
			t.Errorf("%s: %d numbers of the objective for %d groups", name, len(s.Objective), len(s.Selected))
		}
	}
}

// TestGroupsOfOne: groups of single features under their own names change nothing.
func TestGroupsOfOne(t *testing.T) {
	path := sensors(t)
	ones := ""
	for s := range 6 {
		for r := range 3 {
			ones += fmt.Sprintf("s%d.r%d,s%[1]d.r%[2]d\n", s, r)
		}
	}
	file := textFile(t, "ones.csv", ones)
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		if spec.Takes.Cells {
			q.Choice.Options["shape"] = "4x5"
		}
		if q.Input.Paths = []string{path}; spec.Takes.Turns {
			return // refused: see TestGroupsAreWhole
		}
		want := selected(t, q)
		q.Choice.Groups = file
		if got := selected(t, q); asJSON(t, got.Selected) != asJSON(t, want.Selected) || asJSON(t, got.Columns) != asJSON(t, want.Columns) {
			t.Errorf("%v, want %v", got.Selected, want.Selected)
		}
	})
}

// TestGroupMost: at most GroupMost features are chosen from each group, and any number outside the groups.
func TestGroupMost(t *testing.T) {
	path := sensors(t)
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		if spec.Takes.Cells {
			q.Choice.Options["shape"] = "4x5"
		}
		q.Input.Paths, q.Choice.K, q.Choice.Groups, q.Choice.GroupMost, q.Choice.Keep = []string{path}, 8, "prefix:.", 1, []string{"s0.r2"}
		if spec.Takes.Turns {
			return
		}
		s := selected(t, q)
		seen := make(map[string]bool)
		for _, f := range s.Selected {
			name, _, _ := strings.Cut(f.Name, ".")
			if seen[name] || f.Members != nil {
				t.Errorf("%s is the second of its group, or a group: %v", f.Name, s.Selected)
			}
			seen[name] = true
		}
		if len(s.Selected) != 8 || s.Selected[0].Name != "s0.r2" {
			t.Errorf("selected %v, want 8, s0.r2 first", s.Selected)
		}
	})
}

// TestForbidden: a forbidden feature is not chosen, and is explained.
func TestForbidden(t *testing.T) {
	path := sensors(t)
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		if spec.Takes.Cells {
			q.Choice.Options["shape"] = "4x5"
		}
		q.Input.Paths, q.Choice.Forbid = []string{path}, []string{"s0.*", "alone"}
		s, err := Select(t.Context(), q)
		if spec.Takes.Turns && !spec.Takes.Forbid {
			if !errors.As(err, new(*stream.UsageError)) {
				t.Errorf("error %v, want a usage error", err)
			}
			return
		}
		if err != nil {
			t.Fatalf("selecting: %v", err)
		}
		for _, f := range s.Selected {
			if strings.HasPrefix(f.Name, "s0.") || f.Name == "alone" {
				t.Errorf("%s is forbidden", f.Name)
			}
		}
		if len(s.Selected) != 4 || len(s.Columns) != 20 {
			t.Errorf("%d of %d features, want 4 of 20", len(s.Selected), len(s.Columns))
		}
		if q.Choice.K = 17; !spec.From.UsesGraph() {
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) {
				t.Errorf("17 of 16: error %v, want a usage error", err)
			}
		}
	})
}

// TestChoiceRefusals: constraints that cannot be met are refused by name before anything is read.
func TestChoiceRefusals(t *testing.T) {
	path := sensors(t)
	for _, c := range []struct {
		name string
		q    Request
		want []string
	}{
		{"no file", Request{Choice: Choice{Groups: "nowhere.json"}}, []string{"nowhere.json", "prefix:SEP"}},
		{"near a word", Request{Choice: Choice{Groups: "list"}}, []string{"did you mean lists"}},
		{"no separator", Request{Choice: Choice{Groups: "prefix:"}}, []string{"prefix:SEP"}},
		{"no expression", Request{Choice: Choice{Groups: "regex:("}}, []string{"regular expression"}},
		{"no list", Request{Choice: Choice{Groups: "lists"}}, []string{"no column is in any group"}},
		{"separator nowhere", Request{Choice: Choice{Groups: "prefix:#"}}, []string{"no column is in any group"}},
		{"unknown column", Request{Choice: Choice{Groups: textFile(t, "g.csv", "s0.r0,a\ns0.r9,a\n")}}, []string{"s0.r9", "did you mean s0.r"}},
		{"two groups", Request{Choice: Choice{Groups: textFile(t, "g.csv", "s0.r0,a\ns0.r0,b\n")}}, []string{"s0.r0", "a and b"}},
		{"named as a column", Request{Choice: Choice{Groups: textFile(t, "g.csv", "s0.r0,alone\n")}}, []string{"alone", "call it otherwise"}},
		{"no pairs", Request{Choice: Choice{Groups: textFile(t, "g.csv", "s0.r0\n")}}, []string{"g.csv", "name,group"}},
		{"no lists in JSON", Request{Choice: Choice{Groups: textFile(t, "g.json", `{"a": "s0.r0"}`)}}, []string{"g.json", `{"group"`}},
		{"empty", Request{Choice: Choice{Groups: textFile(t, "g.csv", "name,group\n")}}, []string{"g.csv", "no group"}},
		{"most of nothing", Request{Choice: Choice{GroupMost: 2}}, []string{"group-most", "groups"}},
		{"cost of nothing", Request{Choice: Choice{Costs: textFile(t, "c.csv", "s0.r9,2\n")}}, []string{"s0.r9", "did you mean"}},
		{"no cost", Request{Choice: Choice{Costs: textFile(t, "c.csv", "s0.r0,cheap\n")}}, []string{"s0.r0", "cheap"}},
		{"free", Request{Choice: Choice{Costs: textFile(t, "c.json", `{"s0.r0": 0}`)}}, []string{"s0.r0", "keep"}},
		{"two costs", Request{Choice: Choice{Costs: textFile(t, "c.csv", "s0.r0,1\ns0.r0,2\n")}}, []string{"s0.r0 has two costs"}},
		{"budget below 0", Request{Choice: Choice{Budget: -1}}, []string{"budget -1"}},
		{"nothing so cheap", Request{Choice: Choice{Budget: 0.5}}, []string{"budget 0.5", "cheapest", "costs 1"}},
		{"must-haves beyond the budget", Request{Choice: Choice{Budget: 4, Groups: "prefix:.", Keep: []string{"s0", "s1"}}}, []string{"s0, s1", "costs 6", "budget 4"}},
		{"kept and forbidden", Request{Choice: Choice{Keep: []string{"s0.r0"}, Forbid: []string{"s0.*"}}}, []string{"keep and forbid", "s0.r0"}},
		{"forbidden with its group", Request{Choice: Choice{Keep: []string{"s0.r0"}, Forbid: []string{"s0.r1"}, Groups: "prefix:."}}, []string{"keep and forbid", "s0"}},
		{"more kept than k", Request{Choice: Choice{Keep: []string{"s0.*"}, K: 2}}, []string{"3 features", "s0.r0", "k 2"}},
		{"more kept than of a group", Request{Choice: Choice{Keep: []string{"s0.*"}, Groups: "prefix:.", GroupMost: 2}}, []string{"s0", "group-most 2"}},
		{"all forbidden", Request{Choice: Choice{Forbid: []string{"*"}}}, []string{"forbid *"}},
		{"forbidden is nowhere", Request{Choice: Choice{Forbid: []string{"s9"}}}, []string{"forbid", "s9"}},
		{"more than groups", Request{Choice: Choice{Groups: "prefix:.", K: 9, Forbid: []string{"s1"}}}, []string{"k 9", "7 groups", "1 that forbid"}},
		{"swap", Request{Choice: Choice{Groups: "prefix:.", Options: method.Settings{"refine": "swap"}}}, []string{"refine swap"}},
		{"sketch", Request{Choice: Choice{Groups: "prefix:.", Sketch: "64"}}, []string{"sketch", "Gram matrix"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Input.Paths, c.q.Choice.Method = []string{path}, "greedy"
			_, err := Select(t.Context(), c.q)
			if !errors.As(err, new(*stream.UsageError)) && !errors.As(err, new(*stream.DataError)) {
				t.Fatalf("error %v, want one of usage or data", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// TestGroupsAfterwards: apply writes the members of groups; eval, check and diff go by them.
func TestGroupsAfterwards(t *testing.T) {
	path := sensors(t)
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", Groups: "prefix:.", K: 3}}
	s := selected(t, q)
	names := choice.FeatureNames(s)
	out := filepath.Join(t.TempDir(), "out.parquet")
	must.Get(Apply(t.Context(), ApplyRequest{Input: Input{Paths: q.Input.Paths}, Selection: s, Output: out}))(t)
	ds := must.Get(chunkio.Open(t.Context(), []string{out}, chunkio.Options{}))(t)
	defer ds.Close()
	if got := wording.ColumnNames(ds.Columns()); !slices.Equal(got, names) {
		t.Errorf("applied: %v, want %v", got, names)
	}
	e := must.Get(Eval(t.Context(), EvalRequest{Input: Input{Paths: q.Input.Paths}, Selections: []NamedSelection{{Selection: s}}, Resamples: 2}))(t)
	at := slices.IndexFunc(e.Results, func(r stream.Evaluated) bool { return r.Name == "selection" })
	if r := e.Results[at]; r.K != len(names) || math.Abs(float64(r.Reconstruction-last(s.Selected).Error)) > 1e-9 || r.Stability == nil {
		t.Errorf("eval: %+v; want %d features that leave %v", r, len(names), last(s.Selected).Error)
	}
	if len(s.Selected) != 3 {
		t.Errorf("eval changed the selection: %v", s.Selected)
	}
	stats := filepath.Join(t.TempDir(), "a.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: q.Input.Paths}, Output: stats}}))(t)
	v := must.Get(Check(t.Context(), CheckRequest{Selection: s, Stats: stats, Baseline: stats}))(t)
	if v.K != len(names) || math.Abs(float64(v.Error-last(s.Selected).Error)) > 1e-9 || len(v.Gone) > 0 {
		t.Errorf("check: %+v", v)
	}
	q.Choice.Forbid = []string{s.Selected[2].Name}
	d := Diff(s, selected(t, q))
	if d.Both != 2 || len(d.Went) != 1 || d.Went[0].Name != s.Selected[2].Name || !(d.Went[0].Explained > 0) {
		t.Errorf("diff: %+v", d)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(must.Get(json.Marshal(v))(t))
}

func last[T any](list []T) T { return list[len(list)-1] }
