package chunkio

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Features may be derived from a column. Times (Options.Times) become a number and its parts, which stand in one
// block; and Options.Indicators adds, for a feature that may be missing, a feature that indicates it. Derived
// features depend only on the footers of all files, so that shards agree.

// derivation is how features are derived from the texts of a leaf: from times a number and two features for each
// circle, from categories one feature for each, by its index.
type derivation struct {
	circles    []string
	categories map[string]int32
}

// The parts of a date, a timestamp and a time of day, appended to the column's own name. A position in a circle, such
// as the hour in the day, is two features, sine and cosine, so that its end is near its beginning.
const (
	inDay  = ".hour"    // of the instant in its day
	inWeek = ".weekday" // of the day in its week, from Monday
	inYear = ".yearday" // of the day in its year
)

// timeCircles are the circles in which a leaf of times has positions; ok is false for other leaves. The number itself
// is the days since 1970-01-01 of a date, the seconds since then of a timestamp, in UTC or as written, and the
// seconds since midnight of a time of day.
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

// timeParts are the names of the features derived from a leaf of times, the number first; nil if there are none.
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

// indicatorPrefix begins the name of a feature that indicates whether another is missing.
const indicatorPrefix = "is_missing("

// IndicatorOf is the name of the feature that indicates whether another is missing.
func IndicatorOf(name string) string { return indicatorPrefix + name + ")" }

func indicatorSubject(name string) string { return name[len(indicatorPrefix) : len(name)-1] }

// IsIndicator reports whether a name is the result of IndicatorOf.
func IsIndicator(name string) bool {
	return strings.HasPrefix(name, indicatorPrefix) && strings.HasSuffix(name, ")")
}

// addIndicators adds an indicator for every entry that may be a feature and has nulls according to the footers, or
// may have some. Partition keys, labels and weights get none.
func addIndicators(entries []entry, opt Options) []entry {
	var before, of *origin // of the last indicator: elements of a list share one origin
	for i, e := range entries {
		if !e.mayBeMissing() || e.name().isMeantBy(opt.Label) || e.name().isMeantBy(opt.Weight) {
			continue
		}
		if e.origin != before {
			before, of = e.origin, &origin{leaf: e.leaf, part: -1, list: e.list, typ: "bool", derivation: e.derivation, width: e.width, index: e.index, columnPosition: e.columnPosition}
		}
		entries = append(entries, entry{origin: of, flat: IndicatorOf(e.flat), element: e.element, subject: i + 1})
	}
	return entries
}

func (e *entry) mayBeMissing() bool {
	return e.leaf >= 0 && e.why == "" && !e.isRefused && e.nulls != 0 && (e.block == "" || e.element == 0 && e.typ != stream.CategoryType)
}

func countDerived(c *catalog, opt Options, columns int) int {
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

// hostFeature is the feature whose memory the values of an element are decoded to; -1 if they are not needed.
func (r *columnRead) hostFeature(element int) int {
	if col := r.cols[element]; col >= 0 || r.missing == nil {
		return col
	}
	return r.missing[element]
}

func (r *columnRead) firstFeature() int {
	for e := range r.cols {
		if col := r.hostFeature(e); col >= 0 {
			return col
		}
	}
	return -1
}
