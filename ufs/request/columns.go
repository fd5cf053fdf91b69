package request

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StatisticsShape returns the values of all options that affect statistics. They are recorded in the header of a
// statistics file, and compared with the values in a checkpoint.
func StatisticsShape(q *Request) map[string]string {
	s := map[string]string{"missing": q.Columns.Missing}
	for option, value := range map[string]string{
		"columns": JoinNames(q.Columns.Names), "exclude": JoinNames(q.Columns.Exclude),
		"label": q.Columns.Label, "weight": q.Columns.Weight, "sparse": q.Columns.Sparse, "where": q.Input.Where,
	} {
		if value != "" {
			s[option] = value
		}
	}
	AddColumnShape(q, s)
	if q.Choice.Scale == ScaleRank { // other scales do not affect statistics
		s["scale"] = ScaleRank
	}
	if q.SampleRows > 0 {
		s["rows"] = strconv.FormatInt(q.SampleRows, 10)
		s["seed"] = strconv.FormatUint(q.Choice.Seed, 10)
	}
	if q.Choice.Sketch != "" {
		s[OptionSketch] = q.Choice.Sketch
		s["seed"] = strconv.FormatUint(q.Choice.Seed, 10)
	}
	if q.Choice.Stability > 0 {
		s[OptionStability] = strconv.Itoa(q.Choice.Stability)
	}
	return s
}

func ParseCategories(q *Request) (list []chunkio.Category) {
	var values map[string][]string
	if q.Columns.Categories == "" || json.Unmarshal([]byte(q.Columns.Categories), &values) != nil {
		return nil
	}
	list = []chunkio.Category{}
	for _, column := range SortedKeys(values) {
		c := chunkio.Category{Column: column, Values: values[column]}
		if c.Values == nil {
			c.Why = fmt.Sprintf("no or more than %d distinct values, or long ones", MaxCategories)
		}
		list = append(list, c)
	}
	return list
}

func checkCategories(text string) error {
	var values map[string][]string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return fmt.Errorf("no categories: %w", stream.PlainJSON(err))
	}
	for column, list := range values {
		if !slices.IsSortedFunc(list, strings.Compare) || len(slices.Compact(slices.Clone(list))) != len(list) {
			return fmt.Errorf("the categories of %q are not in order", column)
		}
	}
	return nil
}

// ColumnOptions lists the switches that determine how columns of the input become features. They affect statistics, so
// plans, statistics files and selections record them.
var ColumnOptions = []struct {
	Name  string
	Field func(q *Request) *bool
}{
	{"union-by-name", func(q *Request) *bool { return &q.Columns.UnionByName }},
	{"missing-indicators", func(q *Request) *bool { return &q.Columns.MissingIndicators }},
	{"times", func(q *Request) *bool { return &q.Columns.Times }},
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

func AddColumnShape(q *Request, shape map[string]string) {
	for _, o := range ColumnOptions {
		if *o.Field(q) {
			shape[o.Name] = trueText
		}
	}
	for name, text := range map[string]string{optionCategorical: q.Columns.Categorical, OptionCategories: q.Columns.Categories, OptionHeader: q.Input.Texts.Header} {
		if text != "" {
			shape[name] = text
		}
	}
	for _, o := range textOptions {
		if list := *o.field(&q.Input.Texts); list != nil {
			shape[o.name] = JoinNames(list)
		}
	}
}

func SetColumnOption(q *Request, name, text string) (known bool, err error) {
	for _, o := range ColumnOptions {
		if o.Name == name {
			*o.Field(q), known = text == trueText, true
		}
	}
	for _, o := range textOptions {
		if o.name == name {
			*o.field(&q.Input.Texts), err = SplitNames(text)
			known, q.Input.Texts.Recorded = true, true
		}
	}
	switch name {
	case OptionHeader:
		q.Input.Texts.Header, known = text, true
	case optionCategorical:
		q.Columns.Categorical, known = text, true
	case OptionCategories:
		q.Columns.Categories, known = text, true
	}
	return known, err
}

// SetColumnOptions sets the options in q to the values that a selection recorded. Text options that are already set in
// q stay unchanged.
func SetColumnOptions(q *Request, recorded map[string]any) error {
	own := q.Input.Texts
	for _, name := range append(ColumnOptionNames(), OptionCategories) {
		if _, ok := recorded[name]; !ok {
			continue
		}
		if _, err := SetColumnOption(q, name, method.Settings(recorded).Text(name)); err != nil {
			return stream.Errorf("the selection's {%s}: %w", name, err)
		}
	}
	q.Input.Texts = mergeTexts(own, q.Input.Texts)
	return nil
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

func fillColumnOptions(q *Request, p *Request) {
	for _, o := range ColumnOptions {
		*o.Field(q) = *o.Field(q) || *o.Field(p)
	}
	if q.Columns.Categorical == "" || q.Columns.Categorical == p.Columns.Categorical {
		q.Columns.Categorical, q.Columns.Categories = p.Columns.Categorical, p.Columns.Categories
	}
	q.Input.Texts = mergeTexts(q.Input.Texts, p.Input.Texts)
}

func ColumnOptionNames() (names []string) {
	for _, o := range ColumnOptions {
		names = append(names, o.Name)
	}
	for _, o := range textOptions {
		names = append(names, o.name)
	}
	return append(names, optionCategorical, OptionHeader)
}

func AddColumnOptions(q *Request, opt *chunkio.Options) {
	opt.Union, opt.Times, opt.Indicators = q.Columns.UnionByName, q.Columns.Times, q.Columns.MissingIndicators
	opt.Categories, opt.Texts = ParseCategories(q), q.Input.Texts
}

func checkColumnOptions(q *Request) error {
	if q.Columns.MissingIndicators && q.Stats == "" && !slices.Contains(KeptMissing(), q.Columns.Missing) {
		return stream.Usagef("{missing-indicators} is for missing values that are filled in, and {missing} %s leaves none; choose {missing} mean, zero or pairwise", q.Columns.Missing)
	}
	if q.Columns.Categorical == categoricalNone {
		q.Columns.Categorical = ""
	}
	if q.Columns.Categorical != "" && q.Columns.Sparse != "" {
		return stream.Usagef("{categorical} is for columns, and {sparse} rows number theirs")
	}
	if q.Columns.Categories != "" {
		if err := checkCategories(q.Columns.Categories); err != nil {
			return stream.Errorf("{categorical}: %w", err)
		}
	}
	for _, o := range ColumnOptions {
		if *o.Field(q) && q.Columns.Sparse != "" {
			return stream.Usagef("%v is for columns, and {sparse} rows number theirs", stream.Option(o.Name))
		}
	}
	return nil
}
