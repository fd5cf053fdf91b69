package ufs

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// DifferenceSchema names the version of the JSON form of Difference.
const DifferenceSchema = "ufs-stream/diff/v1"

// Difference lists the changes from an old selection to a new one. It is plain data.
type Difference struct {
	Schema   string    `json:"schema"`
	Old      Side      `json:"old"`
	New      Side      `json:"new"`
	Both     int       `json:"both"`     // number of features in both selections
	Came     []Change  `json:"came"`     // features only in the new selection, sorted by rank
	Went     []Change  `json:"went"`     // features only in the old selection, sorted by rank
	Moved    []Move    `json:"moved"`    // features in both selections at different ranks, sorted by the new rank
	Settings []Setting `json:"settings"` // options with different values
	Data     DataShift `json:"data"`
}

// DataShift lists the differences between the data of the old and the new selection. Its columns are features or
// left-out columns of the selections. The lists are empty unless both selections have reports on their features.
type DataShift struct {
	SameInputs bool     `json:"same_inputs"` // both selections name the same files, with the same contents
	Rows       int64    `json:"rows_more"`   // number of used rows in the new selection minus the old number
	Features   int      `json:"features_more"`
	New        []string `json:"new_columns"`
	Gone       []string `json:"gone_columns"`
}

// Side summarises one of the selections.
type Side struct {
	Method   string        `json:"method"`
	K        int           `json:"k"`
	RowsUsed int64         `json:"rows_used"`
	Features int           `json:"features"`
	Error    stream.Number `json:"error"` // error of the whole selection on its own data
}

// Change is a feature of only one of the two selections, with the report of the other selection on this feature.
type Change struct {
	Name      string        `json:"name"`
	Rank      int           `json:"rank"`
	Explained stream.Number `json:"explained"`         // share that the other selection explains; of a group: the least
	Nearest   string        `json:"nearest,omitempty"` // the nearest feature of the other selection
	Why       string        `json:"why,omitempty"`     // reason for its absence from the other selection
}

// Move is a feature that has different ranks in the two selections.
type Move struct {
	Name string `json:"name"`
	Old  int    `json:"old_rank"`
	New  int    `json:"new_rank"`
}

// Setting is an option with its values in the two selections. A value is empty if the selection lacks the option.
type Setting struct {
	Option string `json:"option"`
	Old    string `json:"old"`
	New    string `json:"new"`
}

// Diff compares two selections by the names of their features.
func Diff(before, after *stream.Selection) *Difference {
	d := &Difference{
		Schema: DifferenceSchema, Old: newSide(before), New: newSide(after),
		Came: changesOnlyIn(after, before, absencePhrases{"not in the old data", "takes the place of"}), Went: changesOnlyIn(before, after, absencePhrases{"gone from the data", "replaced by"}), Moved: []Move{}, Settings: changedSettings(before, after),
		Data: newDataShift(before, after),
	}
	ranks := make(map[string]int)
	for _, f := range before.Selected {
		ranks[f.Name] = f.Rank
	}
	for _, f := range after.Selected {
		rank, both := ranks[f.Name]
		if both {
			d.Both++
		}
		if both && rank != f.Rank {
			d.Moved = append(d.Moved, Move{f.Name, rank, f.Rank})
		}
	}
	return d
}

func newSide(s *stream.Selection) Side {
	side := Side{Method: s.Method, K: len(s.Selected), RowsUsed: s.RowsUsed, Features: s.Features, Error: stream.Number(math.NaN())}
	if n := len(s.Selected); n > 0 {
		side.Error = s.Selected[n-1].Error
	}
	return side
}

func newDataShift(before, after *stream.Selection) DataShift {
	d := DataShift{Rows: after.RowsUsed - before.RowsUsed, Features: after.Features - before.Features, New: []string{}, Gone: []string{}}
	contents := func(s *stream.Selection) (list []string) {
		for _, in := range s.Inputs {
			list = append(list, in.Fingerprint)
		}
		slices.Sort(list)
		return list
	}
	d.SameInputs = len(before.Inputs) > 0 && slices.Equal(contents(before), contents(after)) && !slices.Contains(contents(before), "")
	if lacksReports(before) || lacksReports(after) {
		return d
	}
	known := func(s *stream.Selection) map[string]string {
		all := make(map[string]string)
		for _, c := range s.Columns {
			all[c.Name] = ""
		}
		for _, l := range s.LeftOut {
			all[l.Name] = l.Why
		}
		return all
	}
	x, y := known(before), known(after)
	absent := func(from, others map[string]string) []string {
		list := []string{}
		for _, name := range sortedKeys(from) {
			if _, there := others[name]; !there {
				list = append(list, name)
			}
		}
		return list
	}
	d.New, d.Gone = absent(y, x), absent(x, y)
	return d
}

// absencePhrases holds phrases that explain the absence of a feature.
type absencePhrases struct{ absent, substitute string }

// replacement describes how the other selection makes up for the absence of c, by naming its feature nearest to c.
// inBoth means that both selections contain that nearest feature.
func (r absencePhrases) replacement(c Change, inBoth bool) string {
	if c.Nearest == "" {
		return ""
	}
	why := r.substitute + " " + c.Nearest
	if inBoth {
		why = "explained through " + joinNames([]string{c.Nearest})
	}
	if v := float64(c.Explained); !math.IsNaN(v) {
		why += fmt.Sprintf(", with which %.2f%% of it is explained", 100*v)
	}
	return why
}

func changesOnlyIn(s, other *stream.Selection, words absencePhrases) []Change {
	chosen, own := make(map[string]bool), make(map[string]bool)
	groupOf := make(map[string]string) // the group of each feature that was chosen in a group
	for _, f := range other.Selected {
		chosen[f.Name] = true
		for _, name := range f.Features() {
			groupOf[name] = f.Name
		}
	}
	for _, name := range featureNames(s) {
		own[name] = true
	}
	reports := make(map[string]stream.ColumnReport)
	for _, c := range other.Columns {
		reports[c.Name] = c
	}
	why := make(map[string]string)
	for _, l := range other.LeftOut {
		why[l.Name] = l.Why
	}
	list := []Change{}
	for _, f := range s.Selected {
		if chosen[f.Name] {
			continue
		}
		first := f.Features()[0]
		c := Change{Name: f.Name, Rank: f.Rank, Explained: stream.Number(math.NaN()), Why: why[first]}
		if report, known := reports[first]; known {
			c.Explained, c.Nearest = report.Explained, report.Nearest
			for _, name := range f.Features() { // a group gets the smallest share of its features
				c.Explained = min(c.Explained, reports[name].Explained)
			}
			if c.Why = words.replacement(c, own[c.Nearest]); c.Why == "" && groupOf[first] != "" {
				c.Why = "chosen there as part of " + groupOf[first]
			}
		} else if c.Why == "" && lacksReports(other) {
			c.Why = "reports left out"
		} else if c.Why == "" {
			c.Why = words.absent
		}
		list = append(list, c)
	}
	return list
}

func lacksReports(s *stream.Selection) bool { return len(s.Columns) == 0 && s.Features > 0 }

func changedSettings(before, after *stream.Selection) []Setting {
	settings := func(s *stream.Selection) map[string]string {
		all := map[string]string{"method": s.Method, "seed": strconv.FormatUint(s.Seed, 10), "k": strconv.Itoa(s.K)}
		own := method.Settings(s.Options)
		for option := range own {
			all[option] = own.Text(option)
		}
		return all
	}
	x, y := settings(before), settings(after)
	both := make(map[string]string)
	for option := range x {
		both[option] = ""
	}
	for option := range y {
		both[option] = ""
	}
	list := []Setting{}
	for _, option := range sortedKeys(both) {
		if x[option] != y[option] {
			list = append(list, Setting{option, x[option], y[option]})
		}
	}
	return list
}
