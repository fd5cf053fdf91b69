package ufs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The columns of categories (Request.Categorical) are read once to find their distinct values, before the other passes.
// Each value becomes a feature. The features must be known before the passes, and must be the same for all parts of the
// data. Plans, statistics and selections record the values. A run with such a record does not search for values again.

const (
	optionCategorical = "categorical"
	optionCategories  = "categories" // the values found, as JSON: a list per column, or null if there are too many
	categoricalAuto   = "auto"
	categoricalNone   = "none"
)

// maxCategories bounds the number of distinct values of a text column that becomes categories. Each value becomes a
// feature, and the size of the Gram matrix grows with the square of the number of features.
const maxCategories = 64

func (r *run) findCategories(ctx context.Context) error {
	if r.Categorical == "" || r.categories != "" || r.Stats != "" {
		return nil
	}
	if r.scale == gram.ScaleRank {
		return stream.Usagef("{categorical}: categories have no ranks; choose {scale} standard")
	}
	columns, err := splitNames(r.Categorical)
	if err != nil {
		return stream.Usagef("{categorical} %s: %v", r.Categorical, err)
	}
	if r.Categorical == categoricalAuto {
		columns = nil
	}
	opt := r.readOptions()
	for _, name := range columns { // opening needs these names, so that whole numbers in the columns remain categories
		opt.Categories = append(opt.Categories, chunkio.Category{Column: name, Why: "values that are not read yet"})
	}
	slices.SortFunc(opt.Categories, func(a, b chunkio.Category) int { return strings.Compare(a.Column, b.Column) })
	ds, err := chunkio.Open(ctx, r.Inputs, opt)
	if err != nil {
		return r.errForLimit(err)
	}
	defer ds.Close()
	var found []chunkio.Category
	err = r.trackProgress(Progress{What: "categories", Pass: 1, Passes: 1, Rows: ds.Rows()}, func(func(Progress)) error {
		found, err = ds.Categories(ctx, columns, maxCategories)
		return err
	})
	if err != nil {
		return r.errForLimit(err)
	}
	values := make(map[string][]string, len(found))
	for _, c := range found {
		values[c.Column] = c.Values
		if c.Why != "" {
			values[c.Column] = nil
		}
	}
	text, err := json.Marshal(values)
	r.categories = string(text)
	if r.fallback != nil {
		r.fallback.categories = r.categories
	}
	return err
}

func (q *Request) parseCategories() (list []chunkio.Category) {
	var values map[string][]string
	if q.categories == "" || json.Unmarshal([]byte(q.categories), &values) != nil {
		return nil
	}
	list = []chunkio.Category{}
	for _, column := range sortedKeys(values) {
		c := chunkio.Category{Column: column, Values: values[column]}
		if c.Values == nil {
			c.Why = fmt.Sprintf("no or more than %d distinct values, or long ones", maxCategories)
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
