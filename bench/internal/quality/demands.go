package quality

import (
	"fmt"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
)

// Demands on the default variant. All are in points of NMI except the last, which is a share.
const (
	marginOfKind     = 1    // how far it may be below the best variant on the sets of a kind
	marginOfRandom   = 2    // how far it may be below random features on any set
	leadOverGreedy   = 3    // how far it must be above greedy on average over all public sets
	minAmongNoise    = 80   // its least score on the sets made-noise and made-nuisance
	shareOfExplained = 0.98 // its least explained variance on a lake, as a share of greedy's
)

func (t table) listDemands() (lines []string) {
	defaultRow, ok := t.findRow(defaultVariant)
	if !ok {
		return nil
	}
	add := func(met bool, format string, args ...any) {
		lines = append(lines, metOrMissed(met)+": "+fmt.Sprintf(format, args...))
	}
	for _, kind := range t.kinds {
		if best, mean := t.bestOfKind(kind); best != "" && isPublic(kind) {
			gap := 100 * (t.meanOver(defaultRow, scoreNMI, onlyKind(kind)) - mean)
			add(gap >= -marginOfKind, "%s: %+.1f to %s, the best variant (want −%d)", kind, gap, best, marginOfKind)
		}
	}
	if greedy, ok := t.findRow("greedy"); ok {
		if gap := 100 * (t.meanOver(defaultRow, scoreNMI, isPublic) - t.meanOver(greedy, scoreNMI, isPublic)); !math.IsNaN(gap) {
			add(gap >= leadOverGreedy, "all public sets: %+.1f to greedy (want %+d)", gap, leadOverGreedy)
		}
	}
	if random, ok := t.findRow(judge.Random); ok {
		misses := t.setsBelow(defaultRow, random, marginOfRandom)
		add(len(misses) == 0, "sets more than %d below random: %s", marginOfRandom, joinOrNone(misses))
	}
	for i, s := range t.sets {
		if s.name == "made-noise" || s.name == "made-nuisance" {
			nmi := 100 * defaultRow.scores[scoreNMI][i]
			add(nmi >= minAmongNoise, "%s: %.1f (want %d)", s.name, nmi, minAmongNoise)
		}
	}
	return lines
}

func (t table) bestOfKind(kind string) (variant string, mean float64) {
	mean = math.Inf(-1)
	for _, row := range t.rows {
		if !row.ranked || row.variant == defaultVariant || row.variant == judge.Random {
			continue
		}
		if m := t.meanOver(row, scoreNMI, onlyKind(kind)); m > mean {
			variant, mean = row.variant, m
		}
	}
	return variant, mean
}

// setsBelow names the sets on which row has no score, or a score that is more than `margin` points of NMI below the
// score of the row `other`.
func (t table) setsBelow(row, other tableRow, margin float64) (list []string) {
	for i, s := range t.sets {
		switch gap := 100 * (row.scores[scoreNMI][i] - other.scores[scoreNMI][i]); {
		case math.IsNaN(row.scores[scoreNMI][i]):
			list = append(list, s.name+" (refused)")
		case gap < -margin:
			list = append(list, fmt.Sprintf("%s (%+.1f)", s.name, gap))
		}
	}
	return list
}

func metOrMissed(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

func joinOrNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
