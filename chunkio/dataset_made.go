package chunkio

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Features may be derived from a column. With Options.Times, a column of times becomes a number and its positions in
// the day, week and year, which form one block. Options.Indicators adds a feature that indicates missing values, for
// each feature that may have some. Derived features depend only on the footers of all files, so that all shards of a
// plan have the same features.

// derivation describes how features are derived from the texts of a leaf. A time becomes a number and, for each circle
// (day, week or year), the sine and cosine of its position there. A text becomes one feature for each category;
// categories contains the number of each of these features.
type derivation struct {
	circles    []string
	categories map[string]int32
}

// Endings of the names of features for the position of a time in its day, week or year, seen as a circle. Such a
// position becomes two features, its sine and cosine, so that, for example, the end of a day is near its beginning.
const (
	inDay  = ".hour"    // position of the instant in its day
	inWeek = ".weekday" // position of the day in its week, from Monday
	inYear = ".yearday" // position of the day in its year
)

// timeCircles returns the circles (inDay, inWeek, inYear) that apply to the times of a leaf; ok is false if the leaf
// has no times. The number of a date is the days since 1970-01-01. The number of a timestamp is the seconds since then,
// in UTC or as written. The number of a time of day is the seconds since midnight.
func timeCircles(l format.Leaf) (names []string, ok bool) {
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

// timeParts returns the names of the features derived from a leaf of times, the number first, or nil if there are none.
func timeParts(l format.Leaf, opt Options) []string {
	names, ok := timeCircles(l)
	if !ok || !opt.Times {
		return nil
	}
	parts := []string{l.Name}
	for _, c := range names {
		parts = append(parts, l.Name+c+".sin", l.Name+c+".cos")
	}
	return parts
}

func addTimeEntries(entries []entry, e entry, parts []string) []entry {
	names, _ := timeCircles(format.Leaf{Type: e.typ})
	e.why, e.isRefused, e.list, e.block = "", false, e.flat, e.flat
	e.derivation, e.width = &derivation{circles: names}, len(parts)
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

// indicatorPrefix begins the name of a feature that indicates whether another feature is missing.
const indicatorPrefix = "is_missing("

// IndicatorOf returns the name of the feature that indicates whether the named feature is missing.
func IndicatorOf(name string) string { return indicatorPrefix + name + ")" }

func featureOfIndicator(name string) string { return name[len(indicatorPrefix) : len(name)-1] }

// IsIndicator reports whether a name is the result of IndicatorOf.
func IsIndicator(name string) bool {
	return strings.HasPrefix(name, indicatorPrefix) && strings.HasSuffix(name, ")")
}

// addIndicators appends an indicator for every entry that may be a feature and has nulls according to the footers, or
// may have some. Partition keys, labels and weights get no indicator.
func addIndicators(entries []entry, opt Options) []entry {
	var before, indicator *origin // origins of the last entry with an indicator, and of this indicator: elements of a list share one origin
	for i, e := range entries {
		if !e.mayBeMissing() || e.name().isMeantBy(opt.Label) || e.name().isMeantBy(opt.Weight) {
			continue
		}
		if e.origin != before {
			before, indicator = e.origin, &origin{leaf: e.leaf, part: -1, list: e.list, typ: "bool", derivation: e.derivation, width: e.width, index: e.index, columnPosition: e.columnPosition}
		}
		entries = append(entries, entry{origin: indicator, flat: IndicatorOf(e.flat), element: e.element, subject: i + 1})
	}
	return entries
}

func (e *entry) mayBeMissing() bool {
	return e.leaf >= 0 && e.why == "" && !e.isRefused && e.nulls != 0 && (e.block == "" || e.element == 0 && e.typ != stream.CategoryType)
}

func countDerivedFeatures(c *catalog, opt Options, columns int) int {
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

// hostFeature returns the feature whose memory receives the decoded values of an element: the element itself or else
// its indicator. It returns -1 if the element is not a feature and has no indicator.
func (r *columnRead) hostFeature(element int) int {
	if col := r.cols[element]; col >= 0 || r.missing == nil {
		return col
	}
	return r.missing[element]
}

func (r *columnRead) firstHostFeature() int {
	for e := range r.cols {
		if col := r.hostFeature(e); col >= 0 {
			return col
		}
	}
	return -1
}
