package schema

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RestrictColumns implements chunkio.Restrict.
func RestrictColumns(columns []stream.Column, left, decided []stream.LeftOut, include, exclude []string) (why []string, now []stream.LeftOut, err error) {
	d, without := len(columns), map[string]string{}
	for _, l := range left {
		switch l.Why {
		case partitionKey, frameIndex, Excluded, NotAskedFor:
			without[l.Name] = l.Why
		}
	}
	name := func(i int) naming.ColumnName {
		switch {
		case i < d:
			return naming.FeatureName(columns[i])
		case left[i-d].Why == naming.SharedName: // this column is not an element of a list
			return naming.ColumnName{Flat: left[i-d].Name}
		}
		return naming.ParseColumnName(left[i-d].Name)
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
		if why[d+i] != "" && (l.Why == naming.SharedName || l.Why == partitionKey || l.Why == frameIndex || valued[l.Name]) {
			now[i].Why = why[d+i]
		}
	}
	return why[:d], now, nil
}
