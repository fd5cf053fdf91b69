package intake

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// typeRequest is a type that the user requests for a column, in place of the inferred type.
type typeRequest struct {
	option  string // option that requests it
	pattern string // name of the column or of its list, or a glob
	kind    Kind
}

// requestableTypes lists the types by the names that the user gives, and by the names that the command inspect prints.
// A time is in UTC if its values have a zone.
var requestableTypes = []struct {
	name, shown string
	kind        Kind
}{{"bool", "bool", Bool}, {"int", "int64", Int}, {"float", "double", Float}, {"date", "date", Date}, {"time", "timestamp", Local}, {"text", "string", Text}}

// Check refuses unknown types and invalid globs.
func (t TextOptions) Check() error {
	_, err := t.typeRequests()
	return err
}

// typeRequests lists the requested types: first the types requested by the names of columns, then the requests for
// text, which may be globs.
func (t TextOptions) typeRequests() (list []typeRequest, err error) {
	for _, text := range t.Types {
		at := strings.LastIndexByte(text, '=')
		if at < 1 {
			return nil, stream.Usagef("{types} %s: want COLUMN=TYPE, as zip=text", text)
		}
		name, typ := text[:at], text[at+1:]
		var names []string
		known := -1
		for i, t := range requestableTypes {
			if names = append(names, t.name); t.name == typ || t.shown == typ {
				known = i
			}
		}
		if known < 0 {
			return nil, stream.Usagef("{types} %s: there is no such type%s; the types are %s", text, suggest.DidYouMean(typ, names), strings.Join(names, ", "))
		}
		kind := requestableTypes[known].kind
		if slices.ContainsFunc(list, func(o typeRequest) bool { return o.pattern == name && o.kind != kind }) {
			return nil, stream.Usagef("{types} %s: the column has another type before", text)
		}
		list = append(list, typeRequest{"types", name, kind})
	}
	for _, pattern := range t.Text {
		if slices.ContainsFunc(list, func(o typeRequest) bool { return o.pattern == pattern && o.kind != Text }) {
			return nil, stream.Usagef("{text} %s: {types} has another type for the column", pattern)
		}
		if fault := glob.ColumnFault(pattern); fault != "" {
			return nil, stream.Usagef("{text} %s: %s", pattern, fault)
		}
		list = append(list, typeRequest{"text", pattern, Text})
	}
	return list, nil
}

func (o typeRequest) matchesColumn(column string) bool {
	if o.option == "text" {
		return glob.MatchesColumn(o.pattern, column)
	}
	return glob.NamesColumn(o.pattern, column)
}

// CheckMatches refuses requested types that do not match any of the columns.
func (t TextOptions) CheckMatches(columns []string) error {
	list, err := t.typeRequests()
	if err != nil {
		return err
	}
	for _, o := range list {
		if !slices.ContainsFunc(columns, o.matchesColumn) {
			return stream.Usagef("%v %s: no column of a CSV or NDJSON file has this name%s", stream.Option(o.option), o.pattern, suggest.DidYouMean(o.pattern, columns))
		}
	}
	return nil
}

func (o Options) withRequestedType(c Column) (Column, bool) {
	for _, rule := range o.rules {
		if !rule.matchesColumn(c.Name) {
			continue
		}
		if rule.kind != Local || c.Kind != UTC {
			c.Kind = rule.kind
		}
		if c.typeRequested, c.watchedMarks = true, 0; c.Kind != Text {
			c.Why = ""
		}
		return c, true
	}
	return c, false
}

// settleColumn decides the type of a column when it is written. It is the requested type if there is one, or text if
// the numbers of the column are identifiers and were not requested by name. Otherwise it is the narrowest kind that
// holds the values.
func (o Options) settleColumn(c Column) Column {
	if c.Kind == Map {
		return c
	}
	if fixed, ok := o.withRequestedType(c); ok {
		return fixed
	}
	exact := o.Exact != nil && o.Exact(c.Name)
	kind := c.Kind
	switch {
	case kind == Unknown, kind.isWhole() && !exact:
		kind = Float
	case kind == Count:
		kind = Int
	}
	if o.Asked == nil || !o.Asked(c.Name) {
		mark := c.identifierMark(exact)
		c.watchedMarks = c.decisiveMarks(exact)
		switch {
		case mark != 0:
			kind, c.Why, c.Identifier = Text, c.whyIdentifiersAreText(mark), true
		case o.Identifier != nil && (c.Kind.isWhole() || c.Kind == Float || c.Kind == Unknown) && o.Identifier(c.Name):
			kind, c.watchedMarks, c.Identifier = Text, 0, true
			c.Why = "text, as a number would lose some of it in another file of the input: name the column to use its numbers"
		}
	}
	c.Kind = kind
	return c
}

// guessDoubts returns warnings about guesses that may be wrong, for columns that are used.
func (o Options) guessDoubts(columns []Column) []stream.Text {
	const shown = 3
	var names []string
	for _, c := range columns {
		unused := o.MayBeText != nil && o.MayBeText(c.Name) && (o.Exact == nil || !o.Exact(c.Name))
		if c.Identifier && !unused {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	list := strings.Join(names[:min(len(names), shown)], ", ")
	if n := len(names) - shown; n > 0 {
		list += ", …"
	}
	return []stream.Text{stream.Textf("columns of digits are read as text, as numbers would lose leading zeros, plus signs or digits of them: %s; {types} %s=float reads numbers, {text} %[2]s confirms the text", list, names[0])}
}
