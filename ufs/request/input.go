package request

import (
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
)

// Suspicious columns, such as identifiers, should not be features. They are recognised from counts (hygiene.Facts) that
// every pass gathers with its statistics. For methods on the Gram matrix or a profile, suspicious columns are removed
// from the gathered statistics. Graph methods and methods over rows need to know these columns before the statistics
// are gathered, so a profile pass over the whole input finds them first.

// FillFromPlan copies from p the options that q leaves open. It copies the scale and the options of a method only if q
// does not name another method.
func FillFromPlan(q *Request, p Request) {
	if len(q.Columns.Names)+len(q.Columns.Exclude) > 0 {
		p.Columns.Names, p.Columns.Exclude = nil, nil
	}
	switch q.Columns.Categorical {
	case "", p.Columns.Categorical:
		q.Columns.Categories = "" // all parts have the categories of the plan
	default:
		p.Columns.Categories = ""
	}
	switch q.Columns.RowScale {
	case "", p.Columns.RowScale:
		q.Columns.Frequencies = "" // all parts have the frequencies of the plan
	default:
		p.Columns.Frequencies = ""
	}
	FillOptions(q, &p, FrozenByPlan)
	if q.Choice.Method != "" && q.Choice.Method != p.Choice.Method {
		return
	}
	q.Choice.Method = p.Choice.Method
	FillOptions(q, &p, FollowsMethod)
	own := q.Choice.Options
	q.Choice.Options = maps.Clone(p.Choice.Options)
	maps.Copy(q.Choice.Options, own)
}

// Beginnings and special values of Choice.Groups. Other values are names of files or contents of such files.
const (
	GroupsPrefix = "prefix:"
	GroupsRegex  = "regex:"
	GroupsLists  = "lists"
)

// IsSinglePassStream reports whether the input is a stream of Arrow IPC on standard input that can be read only once,
// because there is no folder to keep it in.
func IsSinglePassStream(q *Request) bool {
	if q.Limits.TempDir != "" || !slices.Contains(q.Input.Paths, "-") {
		return false
	}
	in, ok := q.Input.Stdin.(*chunkio.Stdin)
	return ok && in.Stream()
}
