package chunkio

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Restrict applies {columns} and {exclude} to statistics with the features columns. why has for each of these the
// reason that the options leave it out, "" if they do not; now is left (the columns that the statistics leave out)
// with the reasons that each has now. decided are the columns of left that were features until their values were
// seen. The answer is the same as for the input, except that statistics have no values of left columns: a pattern
// that is exactly the name of a left column that would now be a feature is a *stream.UsageError, and a glob means the
// others.
func Restrict(columns []stream.Column, left, decided []stream.LeftOut, include, exclude []string) (why []string, now []stream.LeftOut, err error) {
	d, without := len(columns), map[string]string{}
	for _, l := range left {
		switch l.Why {
		case partitionKey, frameIndex, Excluded, NotAskedFor:
			without[l.Name] = l.Why
		}
	}
	name := func(i int) columnName {
		switch {
		case i < d:
			return featureName(columns[i])
		case left[i-d].Why == SharedName: // it is no element of a list
			return columnName{flat: left[i-d].Name}
		}
		return parseColumnName(left[i-d].Name)
	}
	if why, err = unselectedReasons(d+len(left), name, left, include, exclude); err != nil {
		return nil, nil, err
	}
	for _, name := range include {
		if reason, ok := without[name]; ok {
			return nil, nil, stream.Usagef("{columns} %s: the statistics are without it, left out because: %s; scan again with it", name, reason)
		}
	}
	valued := make(map[string]bool, len(decided))
	for _, l := range decided {
		valued[l.Name] = true
	}
	now = slices.Clone(left)
	for i, l := range left { // as in leftOutReasons
		if why[d+i] != "" && (l.Why == SharedName || l.Why == partitionKey || l.Why == frameIndex || valued[l.Name]) {
			now[i].Why = why[d+i]
		}
	}
	return why[:d], now, nil
}
