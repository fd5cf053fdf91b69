package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// maxUnfoldedColumns is the largest number of columns that are listed one by one for people. If there are more, all
// columns of the same type and use share a line.
const maxUnfoldedColumns = 1000

// foldColumns merges all columns of the same type and use into one entry. Its name consists of the first and the last
// name, its counts are sums, and its range covers all ranges. Entries are in the order of their first columns.
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
	groupOf := map[kind]*group{}
	for _, col := range columns {
		why, _, _ := strings.Cut(col.Why, " (") // cuts off the value of a constant column
		k := kind{col.Type, why, col.Used}
		g := groupOf[k]
		if g == nil {
			g = &group{sum: col}
			groupOf[k], groups = g, append(groups, g)
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
		folded[i].Name = screen.QuoteName(g.sum.Name)
		if g.count > 1 {
			folded[i].Name = fmt.Sprintf("%s … %s (%s columns)", folded[i].Name, screen.QuoteName(g.last), humanize.Comma(int64(g.count)))
		}
	}
	return folded
}

// sumIfKnown returns a + b, or nil if one of them is unknown. The result is a new number.
func sumIfKnown(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

// outerEnd compares the ends of two ranges and returns the end that is further out: beyond reports whether its first
// argument is further out than its second. nil is the end of a range without values.
func outerEnd(a, b *stream.Number, beyond func(a, b stream.Number) bool) *stream.Number {
	if a == nil || b != nil && beyond(*b, *a) {
		return b
	}
	return a
}
