package stream

import (
	"slices"
	"testing"
)

// TestPartCheck: shards that pass Check and those that are missing are all shards, once each.
func TestPartCheck(t *testing.T) {
	const of = 3
	var ranges []ShardRange
	for from := -1; from <= of+1; from++ {
		for to := -1; to <= of+1; to++ {
			ranges = append(ranges, ShardRange{from, to})
		}
	}
	lists := [][]ShardRange{nil}
	for _, a := range ranges {
		lists = append(lists, []ShardRange{a})
		for _, b := range ranges {
			lists = append(lists, []ShardRange{a, b})
		}
	}
	passed := 0
	for _, list := range lists {
		p := Part{Of: of, Shards: list}
		var numbers []int
		for _, r := range list {
			for n := r.From; n <= r.To; n++ {
				numbers = append(numbers, n)
			}
			if r.To < r.From {
				numbers = append(numbers, -1) // no shard at all
			}
		}
		want := len(numbers) > 0 && slices.IsSorted(numbers) && len(slices.Compact(slices.Clone(numbers))) == len(numbers) &&
			numbers[0] >= 1 && numbers[len(numbers)-1] <= of
		if err := p.Check(); (err == nil) != want {
			t.Errorf("Check of shards %v: %v, want a valid part: %v", list, err, want)
		}
		if !want {
			continue
		}
		passed++
		missing := 0
		for _, r := range p.Missing() {
			missing += r.To - r.From + 1
		}
		if p.Count()+missing != of {
			t.Errorf("%v: %d shards, and %v missing", list, p.Count(), p.Missing())
		}
	}
	if passed == 0 {
		t.Error("no list passed")
	}
}
