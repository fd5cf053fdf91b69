package gathering

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// errNeedsProfileRound returns the error of scanning one shard if only a profile of all shards can show which columns
// are useless because of missing values. If err names a place in the data, the new error names it too.
func errNeedsProfileRound(g *Gatherer, err error) error {
	remedy := stream.Textf("make a profile of all shards first (scan {profile-only}, merge) and scan with {profile}, or plan with {missing} mean or zero")
	if g.GatherKind == method.FromProfile {
		remedy = OneRoundRemedy()
	}
	var at *stream.DataError
	if !errors.As(err, &at) {
		return stream.Usagef("the footers show missing values, and a shard cannot know which columns these make useless; %v", remedy)
	}
	restated := *at
	restated.Remedy = remedy
	return &restated
}

// OneRoundRemedy returns advice for graph methods. Their profiles draw anchors from the rows that are kept, so no
// earlier round shows which columns would cause rows to be dropped.
func OneRoundRemedy() stream.Text {
	return stream.Textf("plan with {missing} mean or zero, leave out all columns with missing values by {exclude}, or select on one machine")
}
