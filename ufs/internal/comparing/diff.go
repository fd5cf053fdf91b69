package comparing

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// CompareSelections implements ufs.Diff: it compares two selections by the names of their features.
func CompareSelections(before, after *stream.Selection) *result.Difference {
	d := &result.Difference{
		Schema: result.DifferenceSchema, Old: newSide(before), New: newSide(after),
		Came: featuresOnlyIn(after, before, absencePhrases{"not in the old data", "takes the place of"}), Went: featuresOnlyIn(before, after, absencePhrases{"gone from the data", "replaced by"}), Moved: []result.Move{}, Settings: changedSettings(before, after),
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
			d.Moved = append(d.Moved, result.Move{Name: f.Name, Old: rank, New: f.Rank})
		}
	}
	return d
}

func newSide(s *stream.Selection) result.Side {
	side := result.Side{Method: s.Method, K: len(s.Selected), RowsUsed: s.RowsUsed, Features: s.Features, Error: stream.Number(math.NaN())}
	if n := len(s.Selected); n > 0 {
		side.Error = s.Selected[n-1].Error
	}
	return side
}

func newDataShift(before, after *stream.Selection) result.DataShift {
	d := result.DataShift{Rows: after.RowsUsed - before.RowsUsed, Features: after.Features - before.Features, New: []string{}, Gone: []string{}}
	contents := func(s *stream.Selection) (list []string) {
		for _, in := range s.Inputs {
			list = append(list, in.Fingerprint)
		}
		slices.Sort(list)
		return list
	}
	d.SameInputs = len(before.Inputs) > 0 && slices.Equal(contents(before), contents(after)) && !slices.Contains(contents(before), "")
	if statistics.LacksFeatureReports(before) || statistics.LacksFeatureReports(after) {
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
		for _, name := range request.SortedKeys(from) {
			if _, there := others[name]; !there {
				list = append(list, name)
			}
		}
		return list
	}
	d.New, d.Gone = absent(y, x), absent(x, y)
	return d
}

// absencePhrases holds the phrases with which a report explains why one of two selections lacks a feature.
type absencePhrases struct{ absent, substitute string }

// replacement describes how the other selection makes up for the absence of c, by naming its feature nearest to c.
// inBoth means that both selections contain that nearest feature.
func (r absencePhrases) replacement(c result.Change, inBoth bool) string {
	if c.Nearest == "" {
		return ""
	}
	why := r.substitute + " " + c.Nearest
	if inBoth {
		why = "explained through " + request.JoinNames([]string{c.Nearest})
	}
	if v := float64(c.Explained); !math.IsNaN(v) {
		why += fmt.Sprintf(", with which %.2f%% of it is explained", 100*v)
	}
	return why
}

func featuresOnlyIn(selection, other *stream.Selection, phrases absencePhrases) []result.Change {
	chosen, own := make(map[string]bool), make(map[string]bool)
	groupOf := make(map[string]string) // the group of each feature that was chosen in a group
	for _, f := range other.Selected {
		chosen[f.Name] = true
		for _, name := range f.Features() {
			groupOf[name] = f.Name
		}
	}
	for _, name := range choice.FeatureNames(selection) {
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
	list := []result.Change{}
	for _, f := range selection.Selected {
		if chosen[f.Name] {
			continue
		}
		first := f.Features()[0]
		c := result.Change{Name: f.Name, Rank: f.Rank, Explained: stream.Number(math.NaN()), Why: why[first]}
		if report, known := reports[first]; known {
			c.Explained, c.Nearest = report.Explained, report.Nearest
			for _, name := range f.Features() { // a group gets the smallest share of its features
				c.Explained = min(c.Explained, reports[name].Explained)
			}
			if c.Why = phrases.replacement(c, own[c.Nearest]); c.Why == "" && groupOf[first] != "" {
				c.Why = "chosen there as part of " + groupOf[first]
			}
		} else if c.Why == "" && statistics.LacksFeatureReports(other) {
			c.Why = "reports left out"
		} else if c.Why == "" {
			c.Why = phrases.absent
		}
		list = append(list, c)
	}
	return list
}

func changedSettings(before, after *stream.Selection) []result.Setting {
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
	list := []result.Setting{}
	for _, option := range request.SortedKeys(both) {
		if x[option] != y[option] && option != request.OptionFrequencies { // they follow from the inputs
			list = append(list, result.Setting{Option: option, Old: x[option], New: y[option]})
		}
	}
	return list
}
