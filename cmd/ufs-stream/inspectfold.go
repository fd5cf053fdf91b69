package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// maxUnfoldedColumns is the number of columns above which a table for reading has a line for those alike
// in place of one for each: nobody reads a million lines.
const maxUnfoldedColumns = 1000

// foldColumns makes one of all columns of the same type and use, in the order of the first of
// each: named by the first and the last, with the sums of the counts and the ends of the ranges.
func foldColumns(columns []ufs.InspectedColumn) []ufs.InspectedColumn {
	type kind struct {
		typ, why string
		used     bool
	}
	type group struct {
		sum   ufs.InspectedColumn
		last  string
		count int
	}
	var groups []*group
	of := map[kind]*group{}
	for _, col := range columns {
		why, _, _ := strings.Cut(col.Why, " (") // the value of a constant column
		k := kind{col.Type, why, col.Used}
		g := of[k]
		if g == nil {
			g = &group{sum: col}
			of[k], groups = g, append(groups, g)
		} else {
			if g.sum.Why != col.Why {
				g.sum.Why = why
			}
			g.sum.Nulls = sumIfKnown(g.sum.Nulls, col.Nulls)
			g.sum.NaNs = sumIfKnown(g.sum.NaNs, col.NaNs)
			g.sum.Infs = sumIfKnown(g.sum.Infs, col.Infs)
			g.sum.Min = outerEnd(g.sum.Min, col.Min, func(a, b stream.Number) bool { return a < b })
			g.sum.Max = outerEnd(g.sum.Max, col.Max, func(a, b stream.Number) bool { return a > b })
		}
		g.last = col.Name
		g.count++
	}
	folded := make([]ufs.InspectedColumn, len(groups))
	for i, g := range groups {
		folded[i] = g.sum
		folded[i].Name = screen.Name(g.sum.Name)
		if g.count > 1 {
			folded[i].Name = fmt.Sprintf("%s … %s (%s columns)", folded[i].Name, screen.Name(g.last), humanize.Comma(int64(g.count)))
		}
	}
	return folded
}

// sumIfKnown is a new number: what it adds up is the inspection's own. It is unknown where one is.
func sumIfKnown(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

// outerEnd is the one of two ends that lies further out; a column without entries has none.
func outerEnd(a, b *stream.Number, beyond func(a, b stream.Number) bool) *stream.Number {
	if a == nil || b != nil && beyond(*b, *a) {
		return b
	}
	return a
}
