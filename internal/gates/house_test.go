package gates

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// bounds are the most that one place may have, unless limits.tsv has a row for it: how the house is to be divided.
var bounds = map[string]int{
	"files in a folder":            25,
	"methods of a type":            30,
	"files with methods of a type": 4,
	"names reachable on a value":   90,
	"shadowed names on a value":    0,
	"structs that embed two":       0,
	"lines of a function":          100,
}

// limitsFile has a row (measure, place, number) for each place above its bound, and for each folder in which a word or
// a kind of name still occurs. The numbers of a measure may only fall.
const limitsFile = "testdata/limits.tsv"

// lowerVariable is set to have the test write lower limits to limitsFile after an improvement.
const lowerVariable = "UFS_LOWER_LIMITS"

// limits holds, by measure and place, the most that is there. The place of a share is "/": the share in 100,000.
type limits map[string]map[string]int

const wholeTree = "/"

// TestHouseGetsNoWorse keeps how the tree is divided, named and worded at least as good as it was.
func TestHouseGetsNoWorse(t *testing.T) {
	measured := must.Get(measureTree(filepath.Join("..", "..")))(t)
	text := string(must.Get(os.ReadFile(limitsFile))(t))
	recorded := must.Get(parseLimits(text))(t)
	faults := measured.compare(recorded)
	for _, fault := range faults {
		t.Errorf("the tree got worse: %s", fault)
	}
	now := formatLimits(measured.limits())
	switch {
	case len(faults) > 0 || now == text:
	case os.Getenv(lowerVariable) != "":
		must.Do(t, os.WriteFile(limitsFile, []byte(now), 0o666))
	default:
		t.Errorf("the tree is better than %s has it: %s=1 go test ./internal/gates records that", limitsFile, lowerVariable)
	}
	for _, earlier := range earlierLimits(t) {
		for _, fault := range earlier.raisedBy(recorded) {
			t.Errorf("the tree got worse: %s", fault)
		}
	}
}

// earlierLimits returns the limits of the last commit, and of the one before the last change to them.
func earlierLimits(t *testing.T) (earlier []limits) {
	commits, err := exec.Command("git", "log", "-2", "--format=%H", "--", limitsFile).Output()
	if err != nil {
		t.Skipf("no git history to compare the limits with: %v", err)
	}
	for commit := range strings.FieldsSeq(string(commits)) {
		if text := must.Get(exec.Command("git", "show", commit+":./"+limitsFile).Output())(t); len(text) > 0 {
			earlier = append(earlier, must.Get(parseLimits(string(text)))(t))
		}
	}
	return earlier
}

// limits returns the measures as limits: the rows of limitsFile.
func (m *houseMeasures) limits() limits {
	now := make(limits)
	for _, f := range m.findings {
		bound, isBounded := bounds[f.measure]
		if isBounded && f.count <= bound {
			continue
		}
		if now[f.measure] == nil {
			now[f.measure] = make(map[string]int)
		}
		if isBounded {
			place := f.place()
			now[f.measure][place] = max(now[f.measure][place], f.count)
		} else {
			now[f.measure][f.folder] += f.count
		}
	}
	for measure, total := range m.totals {
		if now[measure] == nil {
			now[measure] = make(map[string]int)
		}
		now[measure][wholeTree] = (sumOf(now[measure])*100_000 + total - 1) / max(total, 1)
	}
	return now
}

// place is the key of a bounded measure's row: a folder, type or function without the line, which moves.
func (f finding) place() string {
	name, _, _ := strings.Cut(f.name, " (")
	if f.measure == "lines of a function" {
		name = f.folder + "." + name
	}
	return name
}

// compare describes, with name and place, everything that is above its limit. A share counts over the tree, and so
// does a number of occurrences; the folders in which these grew are named.
func (m *houseMeasures) compare(recorded limits) (faults []string) {
	findings := slices.SortedFunc(slices.Values(m.findings), compareFindings)
	for _, f := range findings {
		bound, isBounded := bounds[f.measure]
		if limit := max(bound, recorded[f.measure][f.place()]); isBounded && f.count > limit {
			faults = append(faults, strings.TrimSpace(fmt.Sprintf("%s %s: %d %s, at most %d", f.at, f.name, f.count, f.measure, limit)))
		}
	}
	now := m.limits()
	for _, measure := range slices.Sorted(maps.Keys(now)) {
		if _, isBounded := bounds[measure]; isBounded {
			continue
		}
		got, limit, unit := now.level(measure), recorded.level(measure), "in the tree"
		if _, isShare := m.totals[measure]; isShare {
			unit = "in 100,000"
		}
		if got <= limit {
			continue
		}
		faults = append(faults, fmt.Sprintf("%s: %d %s, at most %d; in the folders that have more of them now:", measure, got, unit, limit))
		for _, f := range findings {
			if f.measure == measure && now[measure][f.folder] > recorded[measure][f.folder] {
				faults = append(faults, fmt.Sprintf("%s %s", f.at, f.name))
			}
		}
	}
	return faults
}

// level is the share of a measure in the whole tree, or the sum over all places, above the bound if there is one.
func (l limits) level(measure string) int {
	if share, isShare := l[measure][wholeTree]; isShare {
		return share
	}
	return sumOf(l[measure]) - bounds[measure]*len(l[measure])
}

// raisedBy describes the measures whose level is higher in later than in l.
func (l limits) raisedBy(later limits) (faults []string) {
	for _, measure := range slices.Sorted(maps.Keys(later)) {
		if was, is := l.level(measure), later.level(measure); is > was {
			faults = append(faults, fmt.Sprintf("%s raises the limits of %q from %d to %d: limits may only be lowered", limitsFile, measure, was, is))
		}
	}
	return faults
}

func sumOf(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func parseLimits(text string) (limits, error) {
	parsed := make(limits)
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: %q has %d fields, want 3", limitsFile, line, len(fields))
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", limitsFile, err)
		}
		if parsed[fields[0]] == nil {
			parsed[fields[0]] = make(map[string]int)
		}
		parsed[fields[0]][fields[1]] = n
	}
	return parsed, nil
}

func formatLimits(l limits) string {
	var text strings.Builder
	for _, measure := range slices.Sorted(maps.Keys(l)) {
		for _, place := range slices.Sorted(maps.Keys(l[measure])) {
			fmt.Fprintf(&text, "%s\t%s\t%d\n", measure, place, l[measure][place])
		}
	}
	return text.String()
}

// measureSources measures a tree of the given files.
func measureSources(t *testing.T, files map[string]string) *houseMeasures {
	t.Helper()
	root := t.TempDir()
	for name, source := range files {
		must.Do(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(source), 0o600))
	}
	return must.Get(measureTree(root))(t)
}

// smallHouse has one of each thing that is counted, and things that are not.
var smallHouse = map[string]string{
	"a/a.go": `package a

// T says what is where, beside those of so many others.
type T struct {
	inner
	b.Other
	n int
}

type inner struct{ n, m int }

func (t T) held() {}

// drawRows has two words and a comment.
func drawRows() {}

func Seed() {}
`,
	"a/more.go":          "package a\n\nfunc (t *T) m() {}\n",
	"a/b/b.go":           "package b\n\ntype Other struct{ Name string }\n",
	"a/a_test.go":        "package a\n\nfunc f() { t.Fatal(err); t.Errorf(\"%d rows\", 1); t.Error(\"rows\", n); b.Errorf(\"%d, %.3g\", 1, x) }\n",
	"a/generated.go":     "// Code generated by hand. DO NOT EDIT.\n\npackage a\n\nfunc drawn() {}\n",
	"a/testdata/x.go":    "package x\n\nfunc drawn() {}\n",
	"_tools/x.go":        "package x\n\nfunc drawn() {}\n",
	"a/not-of-go.go.txt": "drawn",
}

func TestMeasuresOfASmallHouse(t *testing.T) {
	m := measureSources(t, smallHouse)
	counts := make(map[string]int)
	for _, f := range m.findings {
		if f.folder != "." {
			counts[f.measure+" "+f.place()] += f.count
		}
	}
	for key, want := range map[string]int{
		"files in a folder a": 2, "files in a folder a/b": 1,
		"methods of a type a.T": 2, "files with methods of a type a.T": 2,
		"names reachable on a value a.T": 6, "shadowed names on a value a.T": 2, // inner, Other, n (twice), m (twice), held, Name
		"structs that embed two a.T":   1,
		"functions of one word T.held": 1, "functions of one word Seed": 1, "functions of one word T.m": 1, "functions of one word drawRows": 0,
		"participles as functions T.held": 1, "participles as functions Seed": 0,
		"private functions with a comment drawRows": 1, "private functions with a comment T.held": 0,
		"lines of a function a.drawRows":         1,
		"failures of tests without a word Fatal": 1, "failures of tests without a word Errorf": 1, "failures of tests without a word Error": 0,
	} {
		if counts[key] != want {
			t.Errorf("%s: got %d, want %d", key, counts[key], want)
		}
	}
	sentence := "// T says what is where, beside those of so many others."
	for word := range overusedWords {
		if got := counts[fmt.Sprintf("%q in comments %s", word, sentence)]; got != 1 {
			t.Errorf("the word %q is counted %d times in %q, want 1", word, got, sentence)
		}
	}
	if got := m.totals["functions of one word"]; got != 4 {
		t.Errorf("%d functions are counted, want 4", got)
	}
}

// A tree is no worse than itself; with one more of anything it is, and the fault names it and its place.
func TestHouseNamesWhatGotWorse(t *testing.T) {
	recorded := measureSources(t, smallHouse).limits()
	if faults := measureSources(t, smallHouse).compare(recorded); len(faults) > 0 {
		t.Errorf("an unchanged tree has the faults %q", faults)
	}
	long := "package a\n\nfunc longFunction() {\n" + strings.Repeat("\tprintln()\n", 101) + "}\n"
	for _, c := range []struct{ file, source, want string }{
		{"a/new.go", "package a\n\n// newRows tells much.\nfunc newRows() {}\n", "a/new.go:3 // newRows tells much."},
		{"a/new.go", "package a\n\nfunc taken() {}\n", "a/new.go:3 taken"},
		{"a/new.go", "package a\n\ntype U struct {\n\tinner\n\tT\n}\n", "a/new.go:3 a.U: 1 structs that embed two, at most 0"},
		{"a/new.go", long, "a/new.go:3 longFunction: 103 lines of a function, at most 100"},
		{"c/c_test.go", "package c\n\nfunc f() { t.Fatal(err) }\n", "c/c_test.go:3 Fatal"},
	} {
		files := maps.Clone(smallHouse)
		files[c.file] = c.source
		faults := measureSources(t, files).compare(recorded)
		if !slices.Contains(faults, c.want) {
			t.Errorf("with %q the faults are %q, want %q among them", c.source, faults, c.want)
		}
	}
}

// Limits read back as they were written, move between folders, and are never raised.
func TestLimitsAreOnlyLowered(t *testing.T) {
	was := measureSources(t, smallHouse).limits()
	again, err := parseLimits(formatLimits(was))
	if err != nil || formatLimits(again) != formatLimits(was) {
		t.Errorf("limits read back as %v, want %v (%v)", again, was, err)
	}
	moved := maps.Clone(smallHouse)
	moved["z/a.go"] = moved["a/a.go"]
	moved["z/more.go"] = moved["a/more.go"]
	delete(moved, "a/a.go")
	delete(moved, "a/more.go")
	if faults := was.raisedBy(measureSources(t, moved).limits()); len(faults) > 0 {
		t.Errorf("a folder was moved, which gives %q", faults)
	}
	raised := must.Get(parseLimits(formatLimits(was)))(t)
	raised["participles as functions"]["a"]++
	if faults := was.raisedBy(raised); len(faults) != 1 || !strings.Contains(faults[0], "from 1 to 2") {
		t.Errorf("a raised limit gives %q, want one fault: from 1 to 2", faults)
	}
	if _, err := parseLimits("files in a folder\tufs\n"); err == nil {
		t.Error("a row of two fields was read, want an error")
	}
	if _, err := measureTree(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("measuring an absent tree: got %v, want that it is not there", err)
	}
}
