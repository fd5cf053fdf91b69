package ufs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
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
			q.Options["shape"] = "4x5"
		}
		q.Inputs, q.K, q.Keep, q.Forbid = []string{path}, 4, []string{"s3.r1"}, []string{"s5"}
		q.Groups, q.Costs, q.Budget = inJSON, costs, 11
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
			q.Groups = groups
			if got := selected(t, q); asJSON(t, got.Selected) != asJSON(t, want.Selected) {
				t.Errorf("groups %s: %v, want %v", groups, got.Selected, want.Selected)
			}
		}
		again := must.Get(RecordedRequest(want, nil))(t)
		if again.Groups[0] != '{' || again.Costs[0] != '{' {
			t.Errorf("groups %s and costs %s want their files", again.Groups, again.Costs)
		}
		again.Inputs, again.K = q.Inputs, 4
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
	q := Request{Inputs: []string{sensors(t)}, Method: "greedy", Groups: "prefix:.", K: 3}
	stats := filepath.Join(t.TempDir(), "a.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Inputs: q.Inputs, Output: stats}}))(t)
	want := selected(t, q)
	q.Inputs, q.Stats = nil, stats
	if got := selected(t, q); asJSON(t, got.Selected) != asJSON(t, want.Selected) {
		t.Errorf("from statistics: %v, want %v", got.Selected, want.Selected)
	}
	f := must.Get(Plan(t.Context(), Request{Inputs: []string{sensors(t)}, Method: "greedy", Groups: "prefix:.", K: 3, Forbid: []string{"s1"}}))(t)
	if f.K != 3 || f.Candidates != 7 || f.Features != 20 {
		t.Errorf("planned: %d of %d candidates, %d features; want 3 of 7, 20", f.K, f.Candidates, f.Features)
	}
}

// TestGroupsAutoK: greedy takes as many groups as explain the share of the recommended number of features, and
// a ranking as many as have that number. Reports on the other features refer to the chosen groups.
func TestGroupsAutoK(t *testing.T) {
	for _, name := range []string{"greedy", "laplacian"} {
		s := selected(t, Request{Inputs: []string{sensors(t)}, Method: name, Groups: "prefix:.", AutoK: true})
		n, most := len(featureNames(s)), len(last(s.Selected).Features())
		want := s.Size.Recommended
		enough := n >= want && n-most < want
		if name == "greedy" {
			k := slices.IndexFunc(s.Selected, func(f stream.Selected) bool { return 1-f.Error >= s.Size.Explained })
			enough = len(s.Selected) <= want && (k == len(s.Selected)-1 || k < 0 && len(s.Selected) == want)
		}
		if s.K != len(s.Selected) || !enough {
			t.Errorf("%s: %d features in %d groups, the last of %d; %d are recommended, and explain %v", name, n, len(s.Selected), most, want, s.Size.Explained)
		}
		again := selected(t, Request{Inputs: []string{sensors(t)}, Method: name, Groups: "prefix:.", K: s.K})
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
			q.Options["shape"] = "4x5"
		}
		if q.Inputs = []string{path}; spec.Takes.Turns {
			return // refused: see TestGroupsAreWhole
		}
		want := selected(t, q)
		q.Groups = file
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
			q.Options["shape"] = "4x5"
		}
		q.Inputs, q.K, q.Groups, q.GroupMost, q.Keep = []string{path}, 8, "prefix:.", 1, []string{"s0.r2"}
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
			q.Options["shape"] = "4x5"
		}
		q.Inputs, q.Forbid = []string{path}, []string{"s0.*", "alone"}
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
		if q.K = 17; spec.From != method.FromGraph {
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
		{"no file", Request{Groups: "nowhere.json"}, []string{"nowhere.json", "prefix:SEP"}},
		{"near a word", Request{Groups: "list"}, []string{"did you mean lists"}},
		{"no separator", Request{Groups: "prefix:"}, []string{"prefix:SEP"}},
		{"no expression", Request{Groups: "regex:("}, []string{"regular expression"}},
		{"no list", Request{Groups: "lists"}, []string{"no column is in any group"}},
		{"separator nowhere", Request{Groups: "prefix:#"}, []string{"no column is in any group"}},
		{"unknown column", Request{Groups: textFile(t, "g.csv", "s0.r0,a\ns0.r9,a\n")}, []string{"s0.r9", "did you mean s0.r"}},
		{"two groups", Request{Groups: textFile(t, "g.csv", "s0.r0,a\ns0.r0,b\n")}, []string{"s0.r0", "a and b"}},
		{"named as a column", Request{Groups: textFile(t, "g.csv", "s0.r0,alone\n")}, []string{"alone", "call it otherwise"}},
		{"no pairs", Request{Groups: textFile(t, "g.csv", "s0.r0\n")}, []string{"g.csv", "name,group"}},
		{"no lists in JSON", Request{Groups: textFile(t, "g.json", `{"a": "s0.r0"}`)}, []string{"g.json", `{"group"`}},
		{"empty", Request{Groups: textFile(t, "g.csv", "name,group\n")}, []string{"g.csv", "no group"}},
		{"most of nothing", Request{GroupMost: 2}, []string{"group-most", "groups"}},
		{"cost of nothing", Request{Costs: textFile(t, "c.csv", "s0.r9,2\n")}, []string{"s0.r9", "did you mean"}},
		{"no cost", Request{Costs: textFile(t, "c.csv", "s0.r0,cheap\n")}, []string{"s0.r0", "cheap"}},
		{"free", Request{Costs: textFile(t, "c.json", `{"s0.r0": 0}`)}, []string{"s0.r0", "keep"}},
		{"two costs", Request{Costs: textFile(t, "c.csv", "s0.r0,1\ns0.r0,2\n")}, []string{"s0.r0 has two costs"}},
		{"budget below 0", Request{Budget: -1}, []string{"budget -1"}},
		{"nothing so cheap", Request{Budget: 0.5}, []string{"budget 0.5", "cheapest", "costs 1"}},
		{"must-haves beyond the budget", Request{Budget: 4, Groups: "prefix:.", Keep: []string{"s0", "s1"}}, []string{"s0, s1", "costs 6", "budget 4"}},
		{"kept and forbidden", Request{Keep: []string{"s0.r0"}, Forbid: []string{"s0.*"}}, []string{"keep and forbid", "s0.r0"}},
		{"forbidden with its group", Request{Keep: []string{"s0.r0"}, Forbid: []string{"s0.r1"}, Groups: "prefix:."}, []string{"keep and forbid", "s0"}},
		{"more kept than k", Request{Keep: []string{"s0.*"}, K: 2}, []string{"3 features", "s0.r0", "k 2"}},
		{"more kept than of a group", Request{Keep: []string{"s0.*"}, Groups: "prefix:.", GroupMost: 2}, []string{"s0", "group-most 2"}},
		{"all forbidden", Request{Forbid: []string{"*"}}, []string{"forbid *"}},
		{"forbidden is nowhere", Request{Forbid: []string{"s9"}}, []string{"forbid", "s9"}},
		{"more than groups", Request{Groups: "prefix:.", K: 9, Forbid: []string{"s1"}}, []string{"k 9", "7 groups", "1 that forbid"}},
		{"swap", Request{Groups: "prefix:.", Options: method.Settings{"refine": "swap"}}, []string{"refine swap"}},
		{"sketch", Request{Groups: "prefix:.", Sketch: "64"}, []string{"sketch", "Gram matrix"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Inputs, c.q.Method = []string{path}, "greedy"
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

// TestBlockColumns: columns that one of the input was made into are chosen as that one, alone or in a group,
// which names the columns to read.
func TestBlockColumns(t *testing.T) {
	cols := []stream.Column{
		{Name: "color=red", Block: "color"}, {Name: "x"}, {Name: "color=blue", Block: "color"}, {Name: "size=1", Block: "size"}, {Name: "y"},
	}
	r := &run{Request: Request{}, grouping: new(grouping), pricing: new(pricing), Bound: new(method.Bound)}
	c := must.Get(r.newCandidates(cols, nil, true))(t)
	if !slices.Equal(c.names(), []string{"color", "x", "size", "y"}) || !slices.Equal(c.Blocks[0].Members, []int{0, 2}) {
		t.Errorf("candidates %v, %v", c.names(), c.Blocks)
	}
	if reads := [][]string{c.inputNames(0), c.inputNames(1), c.inputNames(2), c.inputNames(3)}; !reflect.DeepEqual(reads, [][]string{{"color"}, nil, {"size"}, nil}) {
		t.Errorf("reads %v", reads)
	}
	r.grouping = &grouping{groupByColumn: map[string]string{"color": "looks", "y": "looks"}, columnOrder: []string{"color", "y"}}
	r.Groups, r.Keep = "g.csv", []string{"color=blue"}
	r.pricing = &pricing{costs: map[string]float64{"color": 3}}
	c = must.Get(r.newCandidates(cols, nil, true))(t)
	if !slices.Equal(c.names(), []string{"looks", "x", "size"}) || !slices.Equal(c.Blocks[0].Members, []int{0, 2, 4}) || c.Blocks[0].Cost != 4 {
		t.Errorf("candidates %v, %v", c.names(), c.Blocks)
	}
	if !slices.Equal(c.inputNames(0), []string{"color", "y"}) || !slices.Equal(c.keep, []int{0}) {
		t.Errorf("reads %v, keep %v", c.inputNames(0), c.keep)
	}
	// The number of a time alone is called like its column, and is no feature by itself all the same.
	alone := &run{grouping: new(grouping), pricing: new(pricing), Bound: new(method.Bound)}
	alone.Takes.Turns, alone.Name = true, "other"
	if _, err := alone.newCandidates([]stream.Column{{Name: "x"}, {Name: "t", Block: "t"}}, nil, true); !errors.As(err, new(*stream.UsageError)) || !strings.HasPrefix(err.Error(), "t stands for") {
		t.Errorf("a column that is its own block: %v", err)
	}
	r.Takes.Turns, r.Name = true, "other"
	if _, err := r.newCandidates(cols, nil, true); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "looks") {
		t.Errorf("for a method without scores: %v", err)
	}
}

// TestGroupsAfterwards: apply writes the members of groups; eval, check and diff go by them.
func TestGroupsAfterwards(t *testing.T) {
	path := sensors(t)
	q := Request{Inputs: []string{path}, Method: "greedy", Groups: "prefix:.", K: 3}
	s := selected(t, q)
	names := featureNames(s)
	out := filepath.Join(t.TempDir(), "out.parquet")
	must.Get(Apply(t.Context(), ApplyRequest{Inputs: q.Inputs, Selection: s, Output: out}))(t)
	ds := must.Get(chunkio.Open(t.Context(), []string{out}, chunkio.Options{}))(t)
	defer ds.Close()
	if got := columnNames(ds.Columns()); !slices.Equal(got, names) {
		t.Errorf("applied: %v, want %v", got, names)
	}
	e := must.Get(Eval(t.Context(), EvalRequest{Inputs: q.Inputs, Selections: []NamedSelection{{Selection: s}}, Resamples: 2}))(t)
	at := slices.IndexFunc(e.Results, func(r stream.Evaluated) bool { return r.Name == "selection" })
	if r := e.Results[at]; r.K != len(names) || math.Abs(float64(r.Reconstruction-last(s.Selected).Error)) > 1e-9 || r.Stability == nil {
		t.Errorf("eval: %+v; want %d features that leave %v", r, len(names), last(s.Selected).Error)
	}
	if len(s.Selected) != 3 {
		t.Errorf("eval changed the selection: %v", s.Selected)
	}
	stats := filepath.Join(t.TempDir(), "a.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Inputs: q.Inputs, Output: stats}}))(t)
	v := must.Get(Check(t.Context(), CheckRequest{Selection: s, Stats: stats, Baseline: stats}))(t)
	if v.K != len(names) || math.Abs(float64(v.Error-last(s.Selected).Error)) > 1e-9 || len(v.Gone) > 0 {
		t.Errorf("check: %+v", v)
	}
	q.Forbid = []string{s.Selected[2].Name}
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
