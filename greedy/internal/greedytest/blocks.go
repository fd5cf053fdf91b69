package greedytest

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/method"
)

// BlockChoices returns options, by name, that restrict a choice among blocks of d features.
func BlockChoices(d int) map[string]selection.Options {
	var list, priced []method.Block
	for from := 0; from < d; {
		n := min(1+len(list)*5%4, d-from)
		b := method.Block{Cost: float64(n)}
		for j := range n {
			b.Members = append(b.Members, from+j)
		}
		list, from = append(list, b), from+n
		b.Cost = float64(1 + len(list)*7%5)
		priced = append(priced, b)
	}
	even := slices.Clone(list)
	sets := make([]int, len(list))
	for i := range even {
		even[i].Cost, sets[i] = 1, i%3-1
	}
	return map[string]selection.Options{
		"blocks": {K: 6, Choice: method.Choice{Blocks: even}},
		"all":    {K: len(even), Keep: []int{2}, Choice: method.Choice{Blocks: even}},
		"gate":   {K: 4, Keep: []int{3}, Choice: method.Choice{Blocks: even, Forbid: []int{1, 5}, Most: 2, Sets: sets}},
		"costs":  {K: 5, Choice: method.Choice{Blocks: priced}},
		"budget": {K: len(priced), Choice: method.Choice{Blocks: priced, Budget: 9}},
	}
}
