package main

import (
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// inputNames returns the names of the input columns that a selection needs. Each name occurs once.
func inputNames(s *stream.Selection) (names []string) {
	taken := make(map[string]bool)
	for _, f := range s.Selected {
		for _, name := range f.Inputs() {
			if !taken[name] {
				names, taken[name] = append(names, name), true
			}
		}
	}
	return names
}

func chosenCountText(s *stream.Selection) string {
	if !s.HasGroups() {
		return strconv.Itoa(len(s.Selected))
	}
	groups := 0
	for _, f := range s.Selected {
		groups += min(len(f.Members), 1)
	}
	alsoFeatures := ""
	if alone := len(s.Selected) - groups; alone > 0 {
		alsoFeatures = " and " + countNoun(alone, "feature") + " by themselves"
		if alone == 1 {
			alsoFeatures = " and 1 feature by itself"
		}
	}
	return fmt.Sprintf("%s%s, %d", countNoun(groups, "group"), alsoFeatures, s.SelectedFeatures())
}

func printCost(w *screen.Page, s *stream.Selection) {
	if s.Cost == nil {
		return
	}
	budgetNote := ""
	if budget := s.Options["budget"]; budget != nil {
		budgetNote = fmt.Sprintf(" of a budget of %v", budget)
	}
	w.Printf("\ncost %s%s\n", roundedNumber(*s.Cost), budgetNote)
}
