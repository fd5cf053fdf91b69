package request

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StatisticsShape returns the values of all options that affect statistics. They are recorded in the header of a
// statistics file, and compared with the values in a checkpoint.
func StatisticsShape(q *Request) map[string]string {
	s := ListOptions(q, ShapesStatistics)
	if q.Choice.Scale != ScaleRank { // other scales do not affect statistics
		delete(s, "scale")
	}
	if q.SampleRows == 0 && q.Choice.Sketch == "" { // nothing is drawn
		delete(s, "seed")
	}
	return s
}

// ParseCategories returns the values of Columns.Categories by column; nil if there are none.
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

// AddColumnOptions copies to opt the options of q by which columns become features.
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
	for _, o := range options {
		if isOn, isSwitch := o.field(q).(*bool); isSwitch && *isOn && o.hasRole(MakesFeatures) && q.Columns.Sparse != "" {
			return stream.Usagef("%v is for columns, and {sparse} rows number theirs", stream.Option(o.name))
		}
	}
	return nil
}
