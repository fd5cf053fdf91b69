package intake

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// overrule is a type that is asked for, in place of the guess about a column.
type overrule struct {
	option  string // that asks for it
	pattern string // the column's name, that of its list, or a glob
	kind    Kind
}

// typeNames are the types that can be asked for, also by the word that inspect shows. A time is in UTC if its values have
// a zone.
var typeNames = []struct {
	name, shown string
	kind        Kind
}{{"bool", "bool", Bool}, {"int", "int64", Int}, {"float", "double", Float}, {"date", "date", Date}, {"time", "timestamp", Local}, {"text", "string", Text}}

// Check refuses types that there are not, and globs that cannot be matched.
func (t TextOptions) Check() error {
	_, err := t.overrules()
	return err
}

// overrules lists the types that are asked for: types by name before texts, which may be globs.
func (t TextOptions) overrules() (list []overrule, err error) {
	for _, text := range t.Types {
		at := strings.LastIndexByte(text, '=')
		if at < 1 {
			return nil, stream.Usagef("{types} %s: want COLUMN=TYPE, as zip=text", text)
		}
		name, typ := text[:at], text[at+1:]
		var names []string
		known := -1
		for i, t := range typeNames {
			if names = append(names, t.name); t.name == typ || t.shown == typ {
				known = i
			}
		}
		if known < 0 {
			return nil, stream.Usagef("{types} %s: there is no such type%s; the types are %s", text, suggest.DidYouMean(typ, names), strings.Join(names, ", "))
		}
		kind := typeNames[known].kind
		if slices.ContainsFunc(list, func(o overrule) bool { return o.pattern == name && o.kind != kind }) {
			return nil, stream.Usagef("{types} %s: the column has another type before", text)
		}
		list = append(list, overrule{"types", name, kind})
	}
	for _, pattern := range t.Text {
		if slices.ContainsFunc(list, func(o overrule) bool { return o.pattern == pattern && o.kind != Text }) {
			return nil, stream.Usagef("{text} %s: {types} has another type for the column", pattern)
		}
		if fault := glob.ColumnFault(pattern); fault != "" {
			return nil, stream.Usagef("{text} %s: %s", pattern, fault)
		}
		list = append(list, overrule{"text", pattern, Text})
	}
	return list, nil
}

// matches reports whether the type is asked for a column.
func (o overrule) matches(column string) bool {
	if o.option == "text" {
		return glob.MatchesColumn(o.pattern, column)
	}
	return glob.NamesColumn(o.pattern, column)
}

// Unmatched is an error for types asked for columns that are not among these.
func (t TextOptions) Unmatched(columns []string) error {
	list, err := t.overrules()
	if err != nil {
		return err
	}
	for _, o := range list {
		if !slices.ContainsFunc(columns, o.matches) {
			return stream.Usagef("%v %s: no column of a CSV or NDJSON file has this name%s", stream.Option(o.option), o.pattern, suggest.DidYouMean(o.pattern, columns))
		}
	}
	return nil
}

// overruled gives c the type that is asked for it.
func (o Options) overruled(c Column) (Column, bool) {
	for _, rule := range o.rules {
		if !rule.matches(c.Name) {
			continue
		}
		if rule.kind != Local || c.Kind != UTC {
			c.Kind = rule.kind
		}
		if c.fixed, c.watch = true, 0; c.Kind != Text {
			c.Why = ""
		}
		return c, true
	}
	return c, false
}

// settle decides how a column is written: with the type asked for, as text where its numbers are identifiers that
// nobody asks for by name, else as the narrowest kind of its values.
func (o Options) settle(c Column) Column {
	if c.Kind == Map {
		return c
	}
	if fixed, ok := o.overruled(c); ok {
		return fixed
	}
	exact := o.Exact != nil && o.Exact(c.Name)
	kind := c.Kind
	switch {
	case kind == Unknown, kind.whole() && !exact:
		kind = Float
	case kind == Count:
		kind = Int
	}
	if o.Asked == nil || !o.Asked(c.Name) {
		mark := c.identifies(exact)
		c.watch = c.watchFor(exact)
		switch {
		case mark != 0:
			kind, c.Why, c.Identifier = Text, c.whyText(mark), true
		case o.Identifier != nil && (c.Kind.whole() || c.Kind == Float || c.Kind == Unknown) && o.Identifier(c.Name):
			kind, c.watch, c.Identifier = Text, 0, true
			c.Why = "text, as a number would lose some of it in another file of the input: name the column to use its numbers"
		}
	}
	c.Kind = kind
	return c
}

// doubts are the guesses about columns that may be wrong, as far as anybody asks for them.
func (o Options) doubts(columns []Column) []stream.Text {
	const shown = 3
	var names []string
	for _, c := range columns {
		unused := o.Text != nil && o.Text(c.Name) && (o.Exact == nil || !o.Exact(c.Name))
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
