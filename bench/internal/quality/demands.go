package quality

import (
	"fmt"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/judge"
)

// What the default is held to, in points of NMI but for the last two.
const (
	marginOfKind     = 1    // it may be below the best variant of a kind
	marginOfRandom   = 2    // it may be below random features, on any set
	leadOverGreedy   = 3    // it has to be ahead, over all public sets
	leastAmongNoise  = 80   // it has to reach on made-noise and made-nuisance
	shareOfExplained = 0.98 // of what greedy explains of a lake
)

// listDemands are sentences on what the default is held to by a table, each miss by name.
func (t table) listDemands() (lines []string) {
	own, ok := t.rowOf(unnamed)
	if !ok {
		return nil
	}
	say := func(met bool, format string, args ...any) {
		lines = append(lines, metOrMissed(met)+": "+fmt.Sprintf(format, args...))
	}
	for _, kind := range t.kinds {
		if best, mean := t.bestOfKind(kind); best != "" && isPublic(kind) {
			gap := 100 * (t.meanOver(own, scoreNMI, onlyKind(kind)) - mean)
			say(gap >= -marginOfKind, "%s: %+.1f to %s, the best variant (want −%d)", kind, gap, best, marginOfKind)
		}
	}
	if greedy, ok := t.rowOf("greedy"); ok {
		if gap := 100 * (t.meanOver(own, scoreNMI, isPublic) - t.meanOver(greedy, scoreNMI, isPublic)); !math.IsNaN(gap) {
			say(gap >= leadOverGreedy, "all public sets: %+.1f to greedy (want %+d)", gap, leadOverGreedy)
		}
	}
	if random, ok := t.rowOf(judge.Random); ok {
		misses := t.setsBehind(own, random, marginOfRandom)
		say(len(misses) == 0, "sets more than %d below random: %s", marginOfRandom, joinOrNone(misses))
	}
	for i, s := range t.sets {
		if s.name == "made-noise" || s.name == "made-nuisance" {
			nmi := 100 * own.scores[scoreNMI][i]
			say(nmi >= leastAmongNoise, "%s: %.1f (want %d)", s.name, nmi, leastAmongNoise)
		}
	}
	return lines
}

// bestOfKind is the variant of the best mean of NMI within a kind, the default, random and all features
// aside.
func (t table) bestOfKind(kind string) (variant string, mean float64) {
	mean = math.Inf(-1)
	for _, row := range t.rows {
		if !row.ranked || row.variant == unnamed || row.variant == judge.Random {
			continue
		}
		if m := t.meanOver(row, scoreNMI, onlyKind(kind)); m > mean {
			variant, mean = row.variant, m
		}
	}
	return variant, mean
}

// setsBehind names the sets on which a row is below another by more than a margin in points of NMI, or
// has no figure.
func (t table) setsBehind(row, other tableRow, margin float64) (list []string) {
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

// metOrMissed begins a sentence on a demand.
func metOrMissed(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// joinOrNone is a list in a sentence.
func joinOrNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
