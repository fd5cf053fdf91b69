package request

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

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

func checkCategoriesJSON(text string) error {
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

// NewReadOptions returns the options for reading the input of q that hold for every run.
func NewReadOptions(q *Request) chunkio.Options {
	return chunkio.Options{
		Plan: q.Input.Plan, Where: q.Input.Where, TableVersion: q.Input.Version, TableAsOf: q.Input.AsOf, TableSince: q.Input.Since, TableLosses: q.Input.Losses, Texts: q.Input.Texts,
		Anonymous: q.Input.Anonymous, Allow: q.Input.Allow, Stdin: q.Input.Stdin, Spool: ScratchOptions(q),
		Union: q.Columns.UnionByName, Times: q.Columns.Times, Indicators: q.Columns.MissingIndicators, Categories: ParseCategories(q),
		Seed: q.Choice.Seed, Threads: q.Limits.Threads, Meter: q.Hooks.Meter, Note: q.Hooks.Note,
	}
}

// ExcludesSuspects reports whether q leaves out columns that otherwise only get a warning.
func ExcludesSuspects(q *Request) bool { return q.Columns.AutoExclude || q.Columns.MaxMissing > 0 }

// RefuseExclusion refuses AutoExclude and MaxMissing for commands that make statistics. Statistics keep all columns,
// and the counts with which a later selection can find suspicious columns.
func RefuseExclusion(q *Request, verb string) error {
	if ExcludesSuspects(q) {
		return stream.Usagef("{-auto-exclude} and {-max-missing}: a %s keeps all columns, and what tells which to leave out; ask it of select with {stats}", verb)
	}
	return nil
}

// MaxMissingShare returns the share of missing values above which a column is left out or gets a warning.
func MaxMissingShare(q *Request) float64 {
	if q.Columns.MaxMissing > 0 {
		return q.Columns.MaxMissing
	}
	return MissingShareToWarn
}

// MissingShareToWarn is the share of missing values above which a column gets a warning.
const MissingShareToWarn = 0.5

// MissingPolicy returns the policy that the source applies to missing entries. Under mean, pairwise and (for dense
// rows) zero, the source reads NaN, and the statistics fill these entries.
func MissingPolicy(q *Request) stream.MissingPolicy {
	switch q.Columns.Missing {
	case MissingDropRow:
		return stream.MissingDropRow
	case MissingZero:
		if q.Columns.Sparse != "" { // in sparse rows, absent entries are 0
			return stream.MissingZero
		}
		return stream.MissingKeep
	case MissingMean, MissingPairwise:
		return stream.MissingKeep
	}
	return stream.MissingError
}

// MissingFill returns the values that replace missing entries under the policy of q.
func MissingFill(q *Request) gram.Fill {
	switch q.Columns.Missing {
	case MissingZero:
		return gram.FillZero
	case MissingPairwise:
		return gram.FillPairwise
	}
	return gram.FillMean
}
