package ufs

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
	"github.com/ufs-stream/ufs-stream/internal/jsonsize"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// grouping assigns columns to groups. The zero value makes no groups.
type grouping struct {
	text          string // as recorded in a selection: the value of the option, or the contents of its file as JSON
	path          string // path of the file; empty without a file
	groupByColumn map[string]string
	columnOrder   []string // columns in the order of the file
	groupName     func(column string) string
}

// Beginnings and special values of Request.Groups. Other values are names of files or contents of such files.
const (
	groupsPrefix = "prefix:"
	groupsRegex  = "regex:"
	groupsLists  = "lists"
)

func (q *Request) readGroups(ctx context.Context) (*grouping, error) {
	g := &grouping{text: q.Groups}
	separator, isPrefix := strings.CutPrefix(q.Groups, groupsPrefix)
	pattern, isRegex := strings.CutPrefix(q.Groups, groupsRegex)
	switch {
	case q.Groups == "":
	case isPrefix && separator == "":
		return nil, stream.Usagef("{groups} prefix: there is no separator; want prefix:SEP, as prefix:_")
	case isPrefix:
		g.groupName = func(column string) string {
			name, _, _ := strings.Cut(column, separator)
			return name
		}
	case isRegex:
		re, err := regexp.Compile(pattern)
		if err != nil || pattern == "" {
			return nil, stream.Usagef("{groups} %s: want a regular expression (RE2) whose first group, or whole match, names the group: %w", q.Groups, err)
		}
		g.groupName = func(column string) string {
			found := re.FindStringSubmatch(column)
			return slices.Concat(found, []string{"", ""})[min(re.NumSubexp(), 1)]
		}
	case q.Groups == groupsLists:
		g.groupName = func(column string) string {
			if at := strings.LastIndexByte(column, '['); at > 0 && strings.HasSuffix(column, "]") {
				return column[:at]
			}
			return ""
		}
	default:
		return g, q.readGroupFile(ctx, g)
	}
	return g, nil
}

// readGroupFile reads the file that Request.Groups names, or the contents of such a file as a selection recorded them.
func (q *Request) readGroupFile(ctx context.Context, g *grouping) error {
	name, text, err := q.readOptionFile(ctx, "groups", q.Groups, stream.Textf("{groups} needs a file, prefix:SEP, regex:RE or lists"))
	if err != nil {
		return err
	}
	if name != recordedJSONName {
		g.path = name
	}
	g.groupByColumn = make(map[string]string)
	put := func(column, group string) error {
		switch other, twice := g.groupByColumn[column]; {
		case column == "" || group == "":
			return stream.Dataf(name, "a column or a group has no name")
		case twice && other == group:
			return stream.Dataf(name, "group %s names column %s twice", group, column)
		case twice:
			return stream.Dataf(name, "column %s is in the groups %s and %s; a column is in one group at most", column, other, group)
		}
		g.groupByColumn[column], g.columnOrder = group, append(g.columnOrder, column)
		return nil
	}
	whole := make(map[string][]string)
	if isJSON(text) {
		if err := json.Unmarshal(text, &whole); err != nil {
			return stream.Dataf(name, `want JSON as {"group": ["column", …], …}: %w`, stream.PlainJSON(err))
		}
		for _, group := range sortedKeys(whole) {
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
	if len(g.columnOrder) == 0 {
		return stream.Dataf(name, "it names no group")
	}
	recorded, err := json.Marshal(whole)
	g.text = string(recorded)
	return err
}

// recordedJSONName replaces the name of a file in errors about recorded JSON.
const recordedJSONName = "the recorded JSON"

func (q *Request) readOptionFile(ctx context.Context, option, value string, remedy stream.Text) (name string, text []byte, err error) {
	from := q.documentOptions()
	if isJSON([]byte(value)) {
		return recordedJSONName, []byte(value), q.errForLimit(checkPairsMemory(ctx, recordedJSONName, []byte(value), from.Memory))
	}
	if _, err := os.Stat(value); errors.Is(err, os.ErrNotExist) && !place.IsURL(value) {
		kinds := []string{groupsPrefix, groupsRegex, groupsLists}
		return "", nil, stream.Usagef("%v %s: there is no such file; %v%s", stream.Option(option), value, remedy, suggest.DidYouMean(value, kinds))
	}
	text, err = chunkio.ReadAll(ctx, value, from, remedy)
	if err == nil {
		err = checkPairsMemory(ctx, value, text, from.Memory)
	}
	if err != nil {
		return "", nil, q.errForLimit(err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets write a byte order mark
	return place.DisplayName(value), text, err
}

func checkPairsMemory(ctx context.Context, path string, text []byte, memory int64) error {
	const line = 96 // bytes of memory for a parsed CSV line
	parsed := line * int64(bytes.Count(text, []byte{'\n'}))
	if isJSON(text) {
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

func isJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

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

// pricing holds the given costs of columns and groups. With the zero value each column costs 1.
type pricing struct {
	text  string // JSON, as recorded in a selection
	path  string
	costs map[string]float64
}

func readCosts(ctx context.Context, q *Request) (*pricing, error) {
	p := new(pricing)
	if q.Costs == "" {
		return p, nil
	}
	name, text, err := q.readOptionFile(ctx, "costs", q.Costs, stream.Textf("{costs} needs a file of CSV lines name,cost, or JSON"))
	if err != nil {
		return nil, err
	}
	if name != recordedJSONName {
		p.path = name
	}
	p.costs = make(map[string]float64)
	if isJSON(text) {
		if err := json.Unmarshal(text, &p.costs); err != nil {
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
			if _, twice := p.costs[row[0]]; twice {
				return nil, stream.Dataf(name, "%s has two costs", row[0])
			}
			p.costs[row[0]] = cost
		}
	}
	for _, owner := range sortedKeys(p.costs) {
		if cost := p.costs[owner]; !(cost > 0 && cost <= maxCost) {
			return nil, stream.Dataf(name, "the cost of %s is %v; want a number above 0, and {keep} for columns that you have anyway", owner, cost)
		}
	}
	recorded, err := json.Marshal(p.costs)
	p.text = string(recorded)
	return p, err
}

// maxCost bounds a cost, so that sums of costs do not overflow.
const maxCost = 1e100

// bindingOption returns the name of an option of q that constrains the choice and is not supported by a method with the
// given capabilities. It returns "" if the method supports all options of q.
func (q *Request) bindingOption(takes method.Takes) string {
	switch {
	case !takes.Turns:
	case q.Groups != "":
		return "groups"
	case q.Costs != "":
		return "costs"
	case q.Budget != 0:
		return "budget"
	case len(q.Forbid) > 0 && !takes.Forbid:
		return "forbid"
	}
	return ""
}

func (r *run) settleChoice(ctx context.Context) (err error) {
	q := &r.Request
	switch {
	case q.GroupMost < 0:
		return stream.Usagef("{group-most} %d: want 1 or more", q.GroupMost)
	case q.GroupMost > 0 && q.Groups == "":
		return stream.Usagef("{group-most} limits the choice from each group; define the groups with {groups}")
	case !(q.Budget >= 0 && q.Budget <= maxCost):
		return stream.Usagef("{budget} %v: want a number above 0", q.Budget)
	}
	if option := q.bindingOption(r.Takes); option != "" {
		return stream.Usagef("%v is not for method %s, which has no score of every feature; {method} greedy serves it", stream.Option(option), r.Name)
	}
	if r.grouping, err = q.readGroups(ctx); err != nil {
		return err
	}
	r.pricing, err = readCosts(ctx, q)
	return err
}

// recordChoice records the constraints on the choice in o, so that a run can be repeated without the files of groups
// and costs.
func (r *run) recordChoice(o map[string]any) {
	for option, text := range map[string]string{
		"groups": r.grouping.text, "groups-file": r.grouping.path, "costs": r.pricing.text, "costs-file": r.pricing.path, "forbid": joinNames(r.Forbid),
	} {
		if text != "" {
			o[option] = text
		}
	}
	if r.GroupMost > 0 {
		o["group-most"] = r.GroupMost
	}
	if r.Budget > 0 {
		o["budget"] = r.Budget
	}
}
