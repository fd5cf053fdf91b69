package main

import (
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
)

// checkChoiceFlags refuses an explicit 0 for a flag whose zero value means that it was not given.
func (f *requestFlags) checkChoiceFlags(isSet func(string) bool) error {
	switch q := &f.req; {
	case isSet("budget") && q.Budget == 0:
		return stream.Usagef("--budget 0: want a number above 0")
	case isSet("group-most") && q.GroupMost == 0:
		return stream.Usagef("--group-most 0: want 1 or more")
	}
	return nil
}

// addChoiceFlags adds the flags that restrict the choice: forbidden features, groups, costs, budget.
func (f *requestFlags) addChoiceFlags(fs *pflag.FlagSet) {
	q := &f.req
	fs.StringSliceVar(&q.Forbid, "forbid", nil, "features or groups that are explained like others, and never chosen (`GLOBS`: names or globs, comma-separated; --exclude takes columns out of the data as well)")
	fs.StringVar(&q.Groups, "groups", "", "choose features whole groups at a time, -k counting groups: `GROUPS` is a file of JSON {\"group\": [\"column\", …]} or CSV name,group, prefix:SEP (the part of a name before SEP), regex:RE (its first group or the whole match), or lists (emb of emb[0], emb[1], …)")
	fs.IntVar(&q.GroupMost, "group-most", 0, "with --groups: choose single features, at most `N` of each group")
	fs.StringVar(&q.Costs, "costs", "", "what columns and groups cost: `FILE` of CSV name,cost or JSON {\"name\": cost}; a column costs 1 where it is not named, a group what its columns cost together. Greedy family: choose by gain per cost, of groups of several sizes without it too")
	fs.Float64Var(&q.Budget, "budget", 0, "choose as long as the costs together stay within `X`; -k is then a further bound")
}
