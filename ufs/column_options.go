package ufs

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnOptions are the options that say how the input's columns become features. They shape
// statistics, so that plans, statistics files and selections record them.
var columnOptions = []struct {
	name string
	of   func(q *Request) *bool
}{
	{"union-by-name", func(q *Request) *bool { return &q.UnionByName }},
	{"missing-indicators", func(q *Request) *bool { return &q.MissingIndicators }},
	{"times", func(q *Request) *bool { return &q.Times }},
}

// textOptions are the lists that overrule guesses about inputs that are text.
var textOptions = []struct {
	name string
	of   func(t *chunkio.TextOptions) *[]string
}{
	{"types", func(t *chunkio.TextOptions) *[]string { return &t.Types }},
	{"text", func(t *chunkio.TextOptions) *[]string { return &t.Text }},
	{"null-values", func(t *chunkio.TextOptions) *[]string { return &t.Nulls }},
}

const optionHeader = "header"

const isTrue = "true" // of an option that is recorded

// shapeColumns adds the column options of q to those that shape statistics.
func (q *Request) shapeColumns(shape map[string]string) {
	for _, o := range columnOptions {
		if *o.of(q) {
			shape[o.name] = isTrue
		}
	}
	for name, text := range map[string]string{optionCategorical: q.Categorical, optionCategories: q.categories, optionHeader: q.Texts.Header} {
		if text != "" {
			shape[name] = text
		}
	}
	for _, o := range textOptions {
		if list := *o.of(&q.Texts); list != nil {
			shape[o.name] = joinNames(list)
		}
	}
}

// takeColumnOption sets a column option that was recorded; known is whether it is one.
func (q *Request) takeColumnOption(name, text string) (known bool, err error) {
	for _, o := range columnOptions {
		if o.name == name {
			*o.of(q), known = text == isTrue, true
		}
	}
	for _, o := range textOptions {
		if o.name == name {
			*o.of(&q.Texts), err = splitNames(text)
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

// takeColumnOptions sets the column options that a selection records, but for texts that q has itself.
func (q *Request) takeColumnOptions(recorded map[string]any) error {
	own := q.Texts
	for _, name := range append(columnOptionNames(), optionCategories) {
		if _, ok := recorded[name]; !ok {
			continue
		}
		if _, err := q.takeColumnOption(name, method.Settings(recorded).Text(name)); err != nil {
			return stream.Errorf("the selection's {%s}: %w", name, err)
		}
	}
	q.Texts = textsOr(own, q.Texts)
	return nil
}

// settleHeader has q record how the first rows of CSV files were read, a guess or not: what comes after, other shards
// and apply, reads those of other files alike.
func settleHeader(q *Request, ds *chunkio.Dataset) {
	q.Texts.Header = cmp.Or(ds.Guesses().Header, q.Texts.Header)
}

// textsOr are the options of t, and of other if t leaves them open.
func textsOr(t, other chunkio.TextOptions) chunkio.TextOptions {
	if t.Header == "" {
		t.Header, t.Recorded = other.Header, other.Header != ""
	}
	for _, o := range textOptions {
		if own, recorded := o.of(&t), *o.of(&other); *own == nil && recorded != nil {
			*own, t.Recorded = recorded, t.Recorded || other.Recorded
		}
	}
	return t
}

// fillColumns takes the column options that p has and q does not.
func (q *Request) fillColumns(p *Request) {
	for _, o := range columnOptions {
		*o.of(q) = *o.of(q) || *o.of(p)
	}
	if q.Categorical == "" || q.Categorical == p.Categorical {
		q.Categorical, q.categories = p.Categorical, p.categories
	}
	q.Texts = textsOr(q.Texts, p.Texts)
}

// columnOptionNames lists the column options.
func columnOptionNames() (names []string) {
	for _, o := range columnOptions {
		names = append(names, o.name)
	}
	for _, o := range textOptions {
		names = append(names, o.name)
	}
	return append(names, optionCategorical, optionHeader)
}

// readColumns adds the column options of q to those of reading.
func (q *Request) readColumns(opt *chunkio.Options) {
	opt.Union, opt.Times, opt.Indicators = q.UnionByName, q.Times, q.MissingIndicators
	opt.Categories, opt.Texts = q.readCategories(), q.Texts
}

// checkColumns refuses column options that do not go with others.
func (q *Request) checkColumns() error {
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
		if *o.of(q) && q.Sparse != "" {
			return stream.Usagef("%v is for columns, and {sparse} rows number theirs", stream.Option(o.name))
		}
	}
	return nil
}

// unmarked warns of features with missing values that have no indicator, as the footers promised
// that nothing is null there.
func (g *gatherer) unmarked(e *gathered) []stream.Text {
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
	var without []string
	for j, c := range e.columns {
		if m := e.profile.Columns[j].Missing; m.NaNs+m.Infs > 0 && m.Nulls == 0 && c.Block == "" && !names[chunkio.IndicatorOf(c.Name)] {
			without = append(without, c.Name)
		}
	}
	if len(without) == 0 {
		return nil
	}
	text := joinNames(without[:min(len(without), fewNames)])
	if len(without) > fewNames {
		text += ", …"
	}
	return []stream.Text{stream.Textf("{missing-indicators}: %s without nulls by the footers, but with NaN or infinite values, have no indicator: %s", plural(len(without), "feature"), text)}
}

// recordedColumns takes the column options that the selections record, which must be the same.
func (e *evaluator) recordedColumns() error {
	for i, s := range e.Selections {
		q := Request{Texts: e.Texts}
		if err := q.takeColumnOptions(s.Options); err != nil {
			return stream.Errorf("%s: %w", s.Path, err)
		}
		for _, o := range columnOptions {
			if i > 0 && *o.of(&q) != *o.of(&e.q) {
				return stream.Usagef("%s and %s were made with different %v, so of different features; judge each on its own", e.Selections[0].Path, s.Path, stream.Option(o.name))
			}
			*o.of(&e.q) = *o.of(&q)
		}
		if other := &e.q.Texts; i > 0 && (q.Texts.Header == "" || other.Header == "") { // of inputs without a header
			q.Texts.Header, q.Texts.Recorded = cmp.Or(q.Texts.Header, other.Header), q.Texts.Recorded || other.Recorded
			other.Header, other.Recorded = q.Texts.Header, q.Texts.Recorded
		}
		if i > 0 && !reflect.DeepEqual(q.Texts, e.q.Texts) {
			return stream.Usagef("%s and %s were made with different readings of text ({header}, {types}, {text}, {null-values}); judge each on its own", e.Selections[0].Path, s.Path)
		}
		if i > 0 && q.categories != e.q.categories {
			return stream.Usagef("%s and %s were made with different {categorical}, so of different features; judge each on its own", e.Selections[0].Path, s.Path)
		}
		e.q.Categorical, e.q.categories, e.q.Texts = q.Categorical, q.categories, q.Texts
	}
	return nil
}
