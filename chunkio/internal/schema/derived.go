package schema

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/stream"
)

func addCategoryEntries(entries []Entry, column Entry, categories *settings.Category) []Entry {
	if categories.Why != "" {
		kind, remedy := column.Typ, ""
		switch {
		case column.Typ == "string":
			kind = "text"
		case column.Why == "":
			kind, remedy = "a number", "; not named as categories, it is a feature"
		}
		column.Why, column.IsRefused = kind+" of "+categories.Why+remedy, false
		return append(entries, column)
	}
	column.Why, column.IsRefused, column.List, column.Block, column.nulls = "", false, column.Flat, column.Flat, 0
	column.Typ = stream.CategoryType
	column.derivation, column.width = &derivation{Categories: make(map[string]int32, len(categories.Values))}, len(categories.Values)
	for k, value := range categories.Values {
		column.derivation.Categories[value] = int32(k)
		column.Flat, column.Element = categories.Column+"="+value, k
		entries = append(entries, column)
	}
	return entries
}

// Features may be derived from a column. With Options.Times, a column of times becomes a number and its positions in
// the day, week and year, which form one block. Options.Indicators adds a feature that indicates missing values, for
// each feature that may have some. Derived features depend only on the footers of all files, so that all shards of a
// plan have the same features.

// derivation describes how features are derived from the texts of a leaf. A time becomes a number and, for each circle
// (day, week or year), the sine and cosine of its position there. A text becomes one feature for each category;
// categories contains the number of each of these features.
type derivation struct {
	Circles    []string
	Categories map[string]int32
}

// Endings of the names of features for the position of a time in its day, week or year, seen as a circle. Such a
// position becomes two features, its sine and cosine, so that, for example, the end of a day is near its beginning.
const (
	InDay = ".hour" // position of the instant in its day

	InWeek = ".weekday" // position of the day in its week, from Monday

	InYear = ".yearday" // position of the day in its year
)

// timeCircles returns the circles (InDay, InWeek, InYear) that apply to the times of a leaf; ok is false if the leaf
// has no times. The number of a date is the days since 1970-01-01. The number of a timestamp is the seconds since then,
// in UTC or as written. The number of a time of day is the seconds since midnight.
func timeCircles(l format.Leaf) (names []string, ok bool) {
	if l.List || l.NoClass != "" {
		return nil, false
	}
	switch l.Type {
	case "date":
		return []string{InWeek, InYear}, true
	case "timestamp", "int96":
		return []string{InDay, InWeek, InYear}, true
	case "time":
		return []string{InDay}, true
	}
	return nil, false
}

// timeParts returns the names of the features derived from a leaf of times, the number first, or nil if there are none.
func timeParts(l format.Leaf, opt settings.Options) []string {
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

func addTimeEntries(entries []Entry, column Entry, featureNames []string) []Entry {
	names, _ := timeCircles(format.Leaf{Type: column.Typ})
	column.Why, column.IsRefused, column.List, column.Block = "", false, column.Flat, column.Flat
	column.derivation, column.width = &derivation{Circles: names}, len(featureNames)
	for k, name := range featureNames {
		column.Flat, column.Element = name, k
		if k == 1 {
			circle := *column.Origin
			column.Origin, circle.Typ = &circle, "double"
		}
		entries = append(entries, column)
	}
	return entries
}

// addIndicators appends an indicator for every entry that may be a feature and has nulls according to the footers, or
// may have some. Partition keys, labels and weights get no indicator.
func addIndicators(entries []Entry, opt settings.Options) []Entry {
	var before, indicator *Origin // origins of the last entry with an indicator, and of this indicator: elements of a list share one origin
	for i, e := range entries {
		if !e.mayBeMissing() || matchesOptionName(e.name(), opt.Label) || matchesOptionName(e.name(), opt.Weight) {
			continue
		}
		if e.Origin != before {
			before, indicator = e.Origin, &Origin{Leaf: e.Leaf, Part: -1, List: e.List, Typ: "bool", derivation: e.derivation, width: e.width, index: e.index, columnPosition: e.columnPosition}
		}
		entries = append(entries, Entry{Origin: indicator, Flat: naming.IndicatorOf(e.Flat), Element: e.Element, Subject: i + 1})
	}
	return entries
}

func (e *Entry) mayBeMissing() bool {
	return e.Leaf >= 0 && e.Why == "" && !e.IsRefused && e.nulls != 0 && (e.Block == "" || e.Element == 0 && e.Typ != stream.CategoryType)
}

func countDerivedFeatures(c *catalog.Catalog, opt settings.Options, columnCount int) int {
	n := 0
	for _, l := range c.Leaves {
		n += len(timeParts(l, opt))
	}
	for _, c := range opt.Categories {
		n += len(c.Values)
	}
	if opt.Indicators {
		n += columnCount + n
	}
	return n
}

// HostFeature returns the feature whose memory receives the decoded values of an element: the element itself or else
// its indicator. It returns -1 if the element is not a feature and has no indicator.
func (r *ColumnRead) HostFeature(element int) int {
	if col := r.Cols[element]; col >= 0 || r.Missing == nil {
		return col
	}
	return r.Missing[element]
}

// FirstHostFeature returns the first feature that the read decodes into, or -1.
func (r *ColumnRead) FirstHostFeature() int {
	for e := range r.Cols {
		if col := r.HostFeature(e); col >= 0 {
			return col
		}
	}
	return -1
}
