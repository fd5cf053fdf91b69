package ufs

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnOptions lists the switches that determine how columns of the input become features. They affect statistics, so
// plans, statistics files and selections record them.
var columnOptions = []struct {
	name  string
	field func(q *Request) *bool
}{
	{"union-by-name", func(q *Request) *bool { return &q.UnionByName }},
	{"missing-indicators", func(q *Request) *bool { return &q.MissingIndicators }},
	{"times", func(q *Request) *bool { return &q.Times }},
}

// textOptions lists the options that replace guesses about inputs in text formats.
var textOptions = []struct {
	name  string
	field func(t *chunkio.TextOptions) *[]string
}{
	{"types", func(t *chunkio.TextOptions) *[]string { return &t.Types }},
	{"text", func(t *chunkio.TextOptions) *[]string { return &t.Text }},
	{"null-values", func(t *chunkio.TextOptions) *[]string { return &t.Nulls }},
}

const optionHeader = "header"

const trueText = "true" // the recorded value of a switch that is on

func (q *Request) addColumnShape(shape map[string]string) {
	for _, o := range columnOptions {
		if *o.field(q) {
			shape[o.name] = trueText
		}
	}
	for name, text := range map[string]string{optionCategorical: q.Categorical, optionCategories: q.categories, optionHeader: q.Texts.Header} {
		if text != "" {
			shape[name] = text
		}
	}
	for _, o := range textOptions {
		if list := *o.field(&q.Texts); list != nil {
			shape[o.name] = joinNames(list)
		}
	}
}

func (q *Request) setColumnOption(name, text string) (known bool, err error) {
	for _, o := range columnOptions {
		if o.name == name {
			*o.field(q), known = text == trueText, true
		}
	}
	for _, o := range textOptions {
		if o.name == name {
			*o.field(&q.Texts), err = splitNames(text)
			known, q.Texts.Recorded = true, true
		}
	}
	switch name {
	case optionHeader:
		q.Texts.Header, known = text, true
	case optionCategorical:
		q.Categorical, known = text, true
	case optionCategories:
		q.categories, known = text, true
	}
	return known, err
}

// setColumnOptions sets the options in q to the values that a selection recorded. Text options that are already set in
// q stay unchanged.
func (q *Request) setColumnOptions(recorded map[string]any) error {
	own := q.Texts
	for _, name := range append(columnOptionNames(), optionCategories) {
		if _, ok := recorded[name]; !ok {
			continue
		}
		if _, err := q.setColumnOption(name, method.Settings(recorded).Text(name)); err != nil {
			return stream.Errorf("the selection's {%s}: %w", name, err)
		}
	}
	q.Texts = mergeTexts(own, q.Texts)
	return nil
}

// recordHeader stores in q whether the first row of CSV files was read as a header, so that other shards and the
// command apply read their files in the same way, even if the header was only guessed.
func recordHeader(q *Request, ds *chunkio.Dataset) {
	q.Texts.Header = cmp.Or(ds.Guesses().Header, q.Texts.Header)
}

func mergeTexts(t, other chunkio.TextOptions) chunkio.TextOptions {
	if t.Header == "" {
		t.Header, t.Recorded = other.Header, other.Header != ""
	}
	for _, o := range textOptions {
		if own, recorded := o.field(&t), *o.field(&other); *own == nil && recorded != nil {
			*own, t.Recorded = recorded, t.Recorded || other.Recorded
		}
	}
	return t
}

func (q *Request) fillColumnOptions(p *Request) {
	for _, o := range columnOptions {
		*o.field(q) = *o.field(q) || *o.field(p)
	}
	if q.Categorical == "" || q.Categorical == p.Categorical {
		q.Categorical, q.categories = p.Categorical, p.categories
	}
	q.Texts = mergeTexts(q.Texts, p.Texts)
}

func columnOptionNames() (names []string) {
	for _, o := range columnOptions {
		names = append(names, o.name)
	}
	for _, o := range textOptions {
		names = append(names, o.name)
	}
	return append(names, optionCategorical, optionHeader)
}

func (q *Request) addColumnOptions(opt *chunkio.Options) {
	opt.Union, opt.Times, opt.Indicators = q.UnionByName, q.Times, q.MissingIndicators
	opt.Categories, opt.Texts = q.parseCategories(), q.Texts
}

func (q *Request) checkColumnOptions() error {
	if q.MissingIndicators && q.Stats == "" && !slices.Contains(keptMissing(), q.Missing) {
		return stream.Usagef("{missing-indicators} is for missing values that are filled in, and {missing} %s leaves none; choose {missing} mean, zero or pairwise", q.Missing)
	}
	if q.Categorical == categoricalNone {
		q.Categorical = ""
	}
	if q.Categorical != "" && q.Sparse != "" {
		return stream.Usagef("{categorical} is for columns, and {sparse} rows number theirs")
	}
	if q.categories != "" {
		if err := checkCategories(q.categories); err != nil {
			return stream.Errorf("{categorical}: %w", err)
		}
	}
	for _, o := range columnOptions {
		if *o.field(q) && q.Sparse != "" {
			return stream.Usagef("%v is for columns, and {sparse} rows number theirs", stream.Option(o.name))
		}
	}
	return nil
}

// indicatorWarnings warns about features that have missing values but did not get an indicator feature, because the
// footers of the files did not announce nulls.
func (g *gatherer) indicatorWarnings(e *bundle) []stream.Text {
	if !g.MissingIndicators {
		return nil
	}
	names := make(map[string]bool, len(e.columns))
	for _, c := range e.columns {
		names[c.Name] = true
	}
	for _, l := range e.leftOut {
		names[l.Name] = true
	}
	var unmarked []string
	for j, c := range e.columns {
		if m := e.profile.Columns[j].Missing; m.NaNs+m.Infs > 0 && m.Nulls == 0 && c.Block == "" && !names[chunkio.IndicatorOf(c.Name)] {
			unmarked = append(unmarked, c.Name)
		}
	}
	if len(unmarked) == 0 {
		return nil
	}
	text := joinNames(unmarked[:min(len(unmarked), maxNamesInError)])
	if len(unmarked) > maxNamesInError {
		text += ", …"
	}
	return []stream.Text{stream.Textf("{missing-indicators}: %s without nulls by the footers, but with NaN or infinite values, have no indicator: %s", plural(len(unmarked), "feature"), text)}
}

func (e *evaluator) useRecordedColumnOptions() error {
	for i, s := range e.Selections {
		q := Request{Texts: e.Texts}
		if err := q.setColumnOptions(s.Options); err != nil {
			return stream.Errorf("%s: %w", s.Path, err)
		}
		for _, o := range columnOptions {
			if i > 0 && *o.field(&q) != *o.field(&e.request) {
				return stream.Usagef("%s and %s were made with different %v, so of different features; judge each on its own", e.Selections[0].Path, s.Path, stream.Option(o.name))
			}
			*o.field(&e.request) = *o.field(&q)
		}
		if other := &e.request.Texts; i > 0 && (q.Texts.Header == "" || other.Header == "") { // empty without CSV files
			q.Texts.Header, q.Texts.Recorded = cmp.Or(q.Texts.Header, other.Header), q.Texts.Recorded || other.Recorded
			other.Header, other.Recorded = q.Texts.Header, q.Texts.Recorded
		}
		if i > 0 && !reflect.DeepEqual(q.Texts, e.request.Texts) {
			return stream.Usagef("%s and %s were made with different readings of text ({header}, {types}, {text}, {null-values}); judge each on its own", e.Selections[0].Path, s.Path)
		}
		if i > 0 && q.categories != e.request.categories {
			return stream.Usagef("%s and %s were made with different {categorical}, so of different features; judge each on its own", e.Selections[0].Path, s.Path)
		}
		e.request.Categorical, e.request.categories, e.request.Texts = q.Categorical, q.categories, q.Texts
	}
	return nil
}
