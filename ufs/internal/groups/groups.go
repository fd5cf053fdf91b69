package groups

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Grouping assigns columns to groups. The zero value makes no groups.
type Grouping struct {
	Text          string // as recorded in a selection: the value of the option, or the contents of its file as JSON
	Path          string // path of the file; empty without a file
	GroupByColumn map[string]string
	ColumnOrder   []string // columns in the order of the file
	GroupName     func(column string) string
}

func ReadGroups(ctx context.Context, q *request.Request) (*Grouping, error) {
	g := &Grouping{Text: q.Choice.Groups}
	separator, isPrefix := strings.CutPrefix(q.Choice.Groups, request.GroupsPrefix)
	pattern, isRegex := strings.CutPrefix(q.Choice.Groups, request.GroupsRegex)
	switch {
	case q.Choice.Groups == "":
	case isPrefix && separator == "":
		return nil, stream.Usagef("{groups} prefix: there is no separator; want prefix:SEP, as prefix:_")
	case isPrefix:
		g.GroupName = func(column string) string {
			name, _, _ := strings.Cut(column, separator)
			return name
		}
	case isRegex:
		re, err := regexp.Compile(pattern)
		if err != nil || pattern == "" {
			return nil, stream.Usagef("{groups} %s: want a regular expression (RE2) whose first group, or whole match, names the group: %w", q.Choice.Groups, err)
		}
		g.GroupName = func(column string) string {
			found := re.FindStringSubmatch(column)
			return slices.Concat(found, []string{"", ""})[min(re.NumSubexp(), 1)]
		}
	case q.Choice.Groups == request.GroupsLists:
		g.GroupName = func(column string) string {
			if at := strings.LastIndexByte(column, '['); at > 0 && strings.HasSuffix(column, "]") {
				return column[:at]
			}
			return ""
		}
	default:
		return g, readGroupFile(ctx, q, g)
	}
	return g, nil
}

// readGroupFile reads the file that Choice.Groups names, or the contents of such a file as a selection recorded them.
func readGroupFile(ctx context.Context, q *request.Request, g *Grouping) error {
	name, text, err := readOptionFile(ctx, q, "groups", q.Choice.Groups, stream.Textf("{groups} needs a file, prefix:SEP, regex:RE or lists"))
	if err != nil {
		return err
	}
	if name != recordedJSONName {
		g.Path = name
	}
	g.GroupByColumn = make(map[string]string)
	put := func(column, group string) error {
		switch other, twice := g.GroupByColumn[column]; {
		case column == "" || group == "":
			return stream.Dataf(name, "a column or a group has no name")
		case twice && other == group:
			return stream.Dataf(name, "group %s names column %s twice", group, column)
		case twice:
			return stream.Dataf(name, "column %s is in the groups %s and %s; a column is in one group at most", column, other, group)
		}
		g.GroupByColumn[column], g.ColumnOrder = group, append(g.ColumnOrder, column)
		return nil
	}
	whole := make(map[string][]string)
	if request.IsJSON(text) {
		if err := json.Unmarshal(text, &whole); err != nil {
			return stream.Dataf(name, `want JSON as {"group": ["column", …], …}: %w`, stream.PlainJSON(err))
		}
		for _, group := range request.SortedKeys(whole) {
			for _, column := range whole[group] {
				if err := put(column, group); err != nil {
					return err
				}
			}
		}
	} else {
		rows, err := readCSVPairs(name, text, "group")
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := put(row[0], row[1]); err != nil {
				return err
			}
			whole[row[1]] = append(whole[row[1]], row[0])
		}
	}
	if len(g.ColumnOrder) == 0 {
		return stream.Dataf(name, "it names no group")
	}
	recorded, err := json.Marshal(whole)
	g.Text = string(recorded)
	return err
}

// recordedJSONName replaces the name of a file in errors about recorded JSON.
const recordedJSONName = "the recorded JSON"

func readOptionFile(ctx context.Context, q *request.Request, option, value string, remedy stream.Text) (name string, text []byte, err error) {
	from := budget.DocumentOptions(q)
	if request.IsJSON([]byte(value)) {
		return recordedJSONName, []byte(value), budget.ErrForLimit(q, checkPairsMemory(ctx, recordedJSONName, []byte(value), from.Memory))
	}
	if _, err := os.Stat(value); errors.Is(err, os.ErrNotExist) && !place.IsURL(value) {
		kinds := []string{request.GroupsPrefix, request.GroupsRegex, request.GroupsLists}
		return "", nil, stream.Usagef("%v %s: there is no such file; %v%s", stream.Option(option), value, remedy, suggest.DidYouMean(value, kinds))
	}
	text, err = chunkio.ReadAll(ctx, value, from, remedy)
	if err == nil {
		err = checkPairsMemory(ctx, value, text, from.Memory)
	}
	if err != nil {
		return "", nil, budget.ErrForLimit(q, err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets write a byte order mark
	return place.DisplayName(value), text, err
}

func checkPairsMemory(ctx context.Context, path string, text []byte, memory int64) error {
	const line = 96 // bytes of memory for a parsed CSV line
	parsed := line * int64(bytes.Count(text, []byte{'\n'}))
	if request.IsJSON(text) {
		size, err := jsonsize.DecodedBytes(ctx, text, reflect.TypeFor[map[string][]string]())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if parsed = size; err != nil && json.Valid(text) {
			return err
		}
	}
	if need := int64(len(text)) + 2*parsed; memory > 0 && need > memory {
		return &stream.MemoryError{What: "reading " + place.DisplayName(path), Need: need, Limit: memory}
	}
	return nil
}

// readCSVPairs reads CSV lines of two fields. It skips the first line if the second field of that line is heading.
func readCSVPairs(name string, text []byte, heading string) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.TrimLeadingSpace = 2, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, stream.Dataf(name, "want CSV lines name,%s, or JSON: %w", heading, err)
	}
	if len(rows) > 0 && strings.EqualFold(rows[0][1], heading) {
		rows = rows[1:]
	}
	return rows, nil
}

// Pricing holds the given costs of columns and groups. With the zero value each column costs 1.
type Pricing struct {
	Text  string // JSON, as recorded in a selection
	Path  string
	Costs map[string]float64
}

func ReadCosts(ctx context.Context, q *request.Request) (*Pricing, error) {
	p := new(Pricing)
	if q.Choice.Costs == "" {
		return p, nil
	}
	name, text, err := readOptionFile(ctx, q, "costs", q.Choice.Costs, stream.Textf("{costs} needs a file of CSV lines name,cost, or JSON"))
	if err != nil {
		return nil, err
	}
	if name != recordedJSONName {
		p.Path = name
	}
	p.Costs = make(map[string]float64)
	if request.IsJSON(text) {
		if err := json.Unmarshal(text, &p.Costs); err != nil {
			return nil, stream.Dataf(name, `want JSON as {"name": cost, …}: %w`, stream.PlainJSON(err))
		}
	} else {
		rows, err := readCSVPairs(name, text, "cost")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			cost, err := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
			if err != nil {
				return nil, stream.Dataf(name, "the cost of %s is %q; want a number above 0", row[0], row[1])
			}
			if _, twice := p.Costs[row[0]]; twice {
				return nil, stream.Dataf(name, "%s has two costs", row[0])
			}
			p.Costs[row[0]] = cost
		}
	}
	for _, owner := range request.SortedKeys(p.Costs) {
		if cost := p.Costs[owner]; !(cost > 0 && cost <= request.MaxCost) {
			return nil, stream.Dataf(name, "the cost of %s is %v; want a number above 0, and {keep} for columns that you have anyway", owner, cost)
		}
	}
	recorded, err := json.Marshal(p.Costs)
	p.Text = string(recorded)
	return p, err
}

// BindingOption returns the name of an option of q that constrains the choice and is not supported by a method with the
// given capabilities. It returns "" if the method supports all options of q.
func BindingOption(q *request.Request, takes method.Takes) string {
	switch {
	case !takes.Turns:
	case q.Choice.Groups != "":
		return "groups"
	case q.Choice.Costs != "":
		return "costs"
	case q.Choice.Budget != 0:
		return "budget"
	case len(q.Choice.Forbid) > 0 && !takes.Forbid:
		return "forbid"
	}
	return ""
}
