package main

import (
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
)

// checkChoiceFlags returns an error if the user has set --budget or --group-most to 0. The request cannot show this,
// because in it 0 means that the flag was not given.
func (f *requestFlags) checkChoiceFlags(isSet func(string) bool) error {
	switch q := &f.req; {
	case isSet("budget") && q.Choice.Budget == 0:
		return stream.Usagef("--budget 0: want a number above 0")
	case isSet("group-most") && q.Choice.GroupMost == 0:
		return stream.Usagef("--group-most 0: want 1 or more")
	}
	return nil
}

// addChoiceFlags adds the flags that restrict which features may be chosen: forbidden features, groups, costs, budget.
func (f *requestFlags) addChoiceFlags(fs *pflag.FlagSet) {
	q := &f.req
	fs.StringSliceVar(&q.Choice.Forbid, "forbid", nil, "features or groups that are never chosen, but explained like others (`GLOBS`: names or globs, comma-separated; --exclude removes columns from the data too)")
	fs.StringVar(&q.Choice.Groups, "groups", "", "choose whole groups of features, and count groups by -k: `GROUPS` is a file of JSON {\"group\": [\"column\", …]} or CSV name,group, prefix:SEP (the part of a name before SEP), regex:RE (its first group or the whole match), or lists (emb of emb[0], emb[1], …)")
	fs.IntVar(&q.Choice.GroupMost, "group-most", 0, "with --groups: choose single features, at most `N` of each group")
	fs.StringVar(&q.Choice.Costs, "costs", "", "costs of columns and groups: `FILE` of CSV name,cost or JSON {\"name\": cost}. A column that is not named costs 1, such a group the sum of its columns. The greedy family chooses by gain per cost; for groups of several sizes it does so without this flag too")
	fs.Float64Var(&q.Choice.Budget, "budget", 0, "choose while the total cost stays within `X`; -k is then a further bound")
}
