package print

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteInspection writes s, the list of the columns of an input, as a table, JSON or CSV.
func WriteInspection(w io.Writer, s *ufs.Inspection, o Options) error {
	return output{jsonEncoderOf(s), func(w *screen.Page) { printInspection(w, s, o) }, inspectionColumns(s.Columns, s.Scanned), len(s.Columns)}.writeTo(w, o)
}

func printInspection(w *screen.Page, s *ufs.Inspection, o Options) {
	printInspectionHead(w, s, o)
	if o.Verbose || len(s.Columns) <= maxUnfoldedColumns {
		columns := inspectionColumns(s.Columns, s.Scanned)
		columns[0].text = func(i int) string { return screen.QuoteName(s.Columns[i].Name) }
		printColumns(w, columns, len(s.Columns))
		return
	}
	w.Printf("a line is all columns of one type and use, with sums of their counts and the ends of their ranges; -v lists each\n\n")
	folded := foldColumns(s.Columns)
	printColumns(w, inspectionColumns(folded, s.Scanned), len(folded))
}

func inspectionColumns(inspected []ufs.InspectedColumn, scanned bool) []column {
	at := func(i int) *ufs.InspectedColumn { return &inspected[i] }
	columns := []column{
		{name: "column", title: "column", value: func(i int) string { return at(i).Name }},
		{name: "type", title: "type", value: func(i int) string { return at(i).Type }},
		{name: "nulls", title: ">nulls", value: func(i int) string { return countText(at(i).Nulls) }},
	}
	if scanned {
		columns = append(columns,
			column{name: "nan", title: ">nan", value: func(i int) string { return countText(at(i).NaNs) }},
			column{name: "inf", title: ">inf", value: func(i int) string { return countText(at(i).Infs) }},
			column{name: "min", title: ">min", value: func(i int) string { return rangeEndText(at(i).Min) }},
			column{name: "max", title: ">max", value: func(i int) string { return rangeEndText(at(i).Max) }})
	}
	return append(columns,
		column{name: "feature", title: "feature", value: func(i int) string { return map[bool]string{true: "yes", false: "no"}[at(i).Used] }},
		column{name: "why not", title: "why not", value: func(i int) string { return at(i).Why }})
}

func printInspectionHead(w *screen.Page, s *ufs.Inspection, o Options) {
	what := "input"
	if s.Kind != "dataset" {
		what = s.Kind + " statistics"
	}
	rows := "rows unknown"
	if s.Rows != nil {
		rows = humanize.Comma(*s.Rows) + " rows"
	}
	if s.Groups != nil {
		rows += " in " + CountNoun(*s.Groups, "row group")
	}
	w.Printf("%s: %s, %s, %s; %d of %d columns are features\n",
		what, CountNoun(len(s.Inputs), "file"), humanize.IBytes(uint64(s.Bytes)), rows, s.Features, len(s.Columns))
	if t := s.Table; t != nil {
		w.Printf("  version %d of %s", t.Version, t.Path)
		if s.Since != nil {
			w.Printf(": only the changes since version %d", *s.Since)
		}
		w.Printf("\n")
	}
	if p := s.Part; p != nil {
		which := "all " + CountNoun(p.Of, "shard")
		if !p.Complete() {
			which = fmt.Sprintf("shards %s of %s", stream.ShardList(p.Shards), humanize.Comma(int64(p.Of)))
			if p.Count() == 1 {
				which = fmt.Sprintf("shard %d of %d", p.Shards[0].From, p.Of)
			}
		}
		if p.Round != "" {
			which += ", scanned with a profile of all of them"
		}
		w.Printf("  plan %s: %s\n", p.Plan, which)
	}
	for i, in := range s.Inputs {
		if i == maxListLines && !o.Verbose {
			w.Printf("  and %d more files; -v lists them\n", len(s.Inputs)-i)
			break
		}
		if s.Rows == nil { // for a stream only the schema was read
			continue
		}
		w.Printf("  %s: %s rows, %s\n", in.Path, humanize.Comma(in.Rows), humanize.IBytes(uint64(in.Bytes)))
	}
	for i, note := range s.Notes {
		if i == maxListLines && !o.Verbose {
			break
		}
		w.Printf("  %s\n", note)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		w.Printf("  --%s %s\n", name, s.Options[name])
	}
	w.Printf("\n")
}

func countText(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

func rangeEndText(n *stream.Number) string {
	if n == nil {
		return ""
	}
	// Write all digits of whole numbers, because the range of an identifier would be useless as 1e+12.
	if x := float64(*n); x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return roundedNumber(*n)
}

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
