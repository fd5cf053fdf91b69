package chunkio

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Restrict is what {columns} and {exclude} make of statistics with the features columns. Of these it says why the
// options leave them out, "" where they do not; left, which the statistics leave out, it returns with the reasons that
// each has now. decided are those of left that were features until their values were seen. The answer is that for
// the input, but that statistics have no values of what was left out: a pattern that is the name of a column
// which would be a feature now is a *stream.UsageError, and a glob means the others.
func Restrict(columns []stream.Column, left, decided []stream.LeftOut, include, exclude []string) (why []string, now []stream.LeftOut, err error) {
	if err := RefuseShared("columns", include, left); err != nil {
		return nil, nil, err
	}
	names := featureNames(columns)
	for _, l := range left {
		name := columnName{flat: l.Name}
		if l.Why != SharedName { // else it is no element of a list
			name = nameOf(l.Name)
		}
		if slices.Contains(include, l.Name) && slices.Contains([]string{partitionKey, Excluded, NotAskedFor}, l.Why) {
			return nil, nil, stream.Usagef("{columns} %s: the statistics are without it, left out because: %s; scan again with it", l.Name, l.Why)
		}
		names = append(names, name)
	}
	included, err := matchPatterns("columns", include, names)
	if err != nil {
		return nil, nil, err
	}
	excluded, err := matchPatterns("exclude", exclude, names)
	if err != nil {
		return nil, nil, err
	}
	why = make([]string, len(names))
	for i := range names {
		switch {
		case excluded[i]:
			why[i] = Excluded
		case len(include) > 0 && !included[i]:
			why[i] = NotAskedFor
		}
	}
	valued := make(map[string]bool, len(decided))
	for _, l := range decided {
		valued[l.Name] = true
	}
	d := len(columns)
	now = slices.Clone(left)
	for i, l := range left { // as in reasons
		if why[d+i] != "" && (l.Why == SharedName || l.Why == partitionKey || valued[l.Name]) {
			now[i].Why = why[d+i]
		}
	}
	return why[:d], now, nil
}
