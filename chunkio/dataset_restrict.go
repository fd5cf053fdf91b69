package chunkio

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Restrict applies the options {columns} and {exclude} to statistics with the given feature columns. The parameter left
// contains the columns that the statistics leave out, and decided contains the columns in left that were features until
// the scan saw their values. The result why contains for each feature column the reason for which the new options leave
// it out, or "" if it stays. The result now contains the columns in left with their reasons under the new options. The
// result is the same as after a new scan of the input with these options, except that statistics have no values of the
// columns in left. Therefore the exact name of a column in left that would now be a feature is a *stream.UsageError,
// and a glob skips such columns.
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
		case left[i-d].Why == SharedName: // this column is not an element of a list
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
	for i, l := range left { // by the rules of leftOutReasons
		if why[d+i] != "" && (l.Why == SharedName || l.Why == partitionKey || l.Why == frameIndex || valued[l.Name]) {
			now[i].Why = why[d+i]
		}
	}
	return why[:d], now, nil
}
