package schema

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RestrictColumns implements chunkio.Restrict, whose documentation describes the parameters and results.
func RestrictColumns(columns []stream.Column, leftOut, leftOutByValues []stream.LeftOut, include, exclude []string) (why []string, stillLeftOut []stream.LeftOut, err error) {
	d, without := len(columns), map[string]string{}
	for _, l := range leftOut {
		switch l.Why {
		case partitionKey, frameIndex, Excluded, NotAskedFor:
			without[l.Name] = l.Why
		}
	}
	name := func(i int) naming.ColumnName {
		switch {
		case i < d:
			return naming.FeatureName(columns[i])
		case leftOut[i-d].Why == naming.SharedName: // this column is not an element of a list
			return naming.ColumnName{Flat: leftOut[i-d].Name}
		}
		return naming.ParseColumnName(leftOut[i-d].Name)
	}
	if why, err = unselectedReasons(d+len(leftOut), name, leftOut, include, exclude); err != nil {
		return nil, nil, err
	}
	for _, name := range include {
		if reason, ok := without[name]; ok {
			return nil, nil, stream.Usagef("{columns} %s: the statistics are without it, left out because: %s; scan again with it", name, reason)
		}
	}
	valued := make(map[string]bool, len(leftOutByValues))
	for _, l := range leftOutByValues {
		valued[l.Name] = true
	}
	stillLeftOut = slices.Clone(leftOut)
	for i, l := range leftOut { // by the rules of leftOutReasons
		if why[d+i] != "" && (l.Why == naming.SharedName || l.Why == partitionKey || l.Why == frameIndex || valued[l.Name]) {
			stillLeftOut[i].Why = why[d+i]
		}
	}
	return why[:d], stillLeftOut, nil
}
