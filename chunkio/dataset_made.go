package chunkio

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Features may be made of a column. Times (Options.Times) become a number and its parts, which
// stand in one block; and Options.Indicators adds for a feature that may be missing whether it is.
// What is made follows from the footers of all files, so that shards agree.

// made says how features are made of the texts of a leaf: of times a number and two for each
// circle, of categories one for each, by their places.
type made struct {
	circles    []string
	categories map[string]int32
}

// The parts of a date, a timestamp and a time of day, behind the column's own name. A position in
// a circle, as that of the hour in the day, is two features, sine and cosine, so that its end is
// near its beginning.
const (
	inDay  = ".hour"    // of the instant in its day
	inWeek = ".weekday" // of the day in its week, from Monday
	inYear = ".yearday" // of the day in its year
)

// circles are the circles that a leaf of times has positions in; ok is whether it is one. The
// number itself is the days since 1970-01-01 of a date, the seconds since then of a timestamp, in
// UTC or as they stand, and the seconds since midnight of a time of day.
func circles(l format.Leaf) (names []string, ok bool) {
	if l.List || l.NoClass != "" {
		return nil, false
	}
	switch l.Type {
	case "date":
		return []string{inWeek, inYear}, true
	case "timestamp", "int96":
		return []string{inDay, inWeek, inYear}, true
	case "time":
		return []string{inDay}, true
	}
	return nil, false
}

// timeParts are the names of the features made of a leaf of times, the number first; nil where
// none are.
func timeParts(l format.Leaf, opt Options) []string {
	names, ok := circles(l)
	if !ok || !opt.Times {
		return nil
	}
	parts := []string{l.Name}
	for _, c := range names {
		parts = append(parts, l.Name+c+".sin", l.Name+c+".cos")
	}
	return parts
}

// addParts adds the entries of a leaf's times; e is that of the leaf itself.
func addParts(entries []entry, e entry, parts []string) []entry {
	names, _ := circles(format.Leaf{Type: e.typ})
	e.why, e.refused, e.list, e.block = "", false, e.flat, e.flat
	e.made, e.width = &made{circles: names}, len(parts)
	for k, name := range parts {
		e.flat, e.element = name, k
		if k == 1 {
			circle := *e.origin
			e.origin, circle.typ = &circle, "double"
		}
		entries = append(entries, e)
	}
	return entries
}

// indicatorPrefix begins the name of a feature that says whether another is missing.
const indicatorPrefix = "is_missing("

// IndicatorOf is the name of the feature that says whether another is missing.
func IndicatorOf(name string) string { return indicatorPrefix + name + ")" }

// indicated is the name of the feature of which an indicator says whether it is missing.
func indicated(name string) string { return name[len(indicatorPrefix) : len(name)-1] }

// IsIndicator reports whether a name is one that IndicatorOf makes.
func IsIndicator(name string) bool {
	return strings.HasPrefix(name, indicatorPrefix) && strings.HasSuffix(name, ")")
}

// addIndicators adds an entry for every one that may be a feature and has nulls, as the footers
// tell, or may have some where they do not. Partition keys have none, nor have labels and weights.
func addIndicators(entries []entry, opt Options) []entry {
	var before, of *origin // of the last indicator: those of a list have one
	for i, e := range entries {
		if !e.mayMiss() || e.name().matches(opt.Label) || e.name().matches(opt.Weight) {
			continue
		}
		if e.origin != before {
			before, of = e.origin, &origin{leaf: e.leaf, part: -1, list: e.list, typ: "bool", made: e.made, width: e.width, index: e.index, at: e.at}
		}
		entries = append(entries, entry{origin: of, flat: IndicatorOf(e.flat), element: e.element, missing: i + 1})
	}
	return entries
}

func (e *entry) mayMiss() bool {
	return e.leaf >= 0 && e.why == "" && !e.refused && e.nulls != 0 && (e.block == "" || e.element == 0 && e.typ != stream.CategoryType)
}

// countMade bounds the entries that are made of a catalog's leaves.
func countMade(c *catalog, opt Options, columns int) int {
	n := 0
	for _, l := range c.leaves {
		n += len(timeParts(l, opt))
	}
	for _, c := range opt.Categories {
		n += len(c.Values)
	}
	if opt.Indicators {
		n += columns + n
	}
	return n
}

// host is the feature whose memory the values of an element are decoded to; -1 where they are
// not wanted.
func (r *read) host(element int) int {
	if col := r.cols[element]; col >= 0 || r.missing == nil {
		return col
	}
	return r.missing[element]
}

// first is the first feature of a read.
func (r *read) first() int {
	for e := range r.cols {
		if col := r.host(e); col >= 0 {
			return col
		}
	}
	return -1
}
