package ufs

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// statisticsShape returns the values of all options that affect statistics. They are recorded in the header of a
// statistics file, and compared with the values in a checkpoint.
func (q *Request) statisticsShape() map[string]string {
	s := map[string]string{"missing": q.Missing}
	for option, value := range map[string]string{
		"columns": joinNames(q.Columns), "exclude": joinNames(q.Exclude),
		"label": q.Label, "weight": q.Weight, "sparse": q.Sparse, "where": q.Where,
	} {
		if value != "" {
			s[option] = value
		}
	}
	q.addColumnShape(s)
	if q.Scale == scaleRank { // other scales do not affect statistics
		s["scale"] = scaleRank
	}
	if q.SampleRows > 0 {
		s["rows"] = strconv.FormatInt(q.SampleRows, 10)
		s["seed"] = strconv.FormatUint(q.Seed, 10)
	}
	if q.Sketch != "" {
		s[optionSketch] = q.Sketch
		s["seed"] = strconv.FormatUint(q.Seed, 10)
	}
	if q.Stability > 0 {
		s[optionStability] = strconv.Itoa(q.Stability)
	}
	return s
}

// joinNames writes names as the value of an option. Names are separated by commas, and a name with a comma or quotes is
// quoted as in CSV. A list of one empty name becomes a pair of quotes, which differs from the text of an empty list.
func joinNames(names []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(names) // writing to a Builder cannot fail
	w.Flush()
	list := strings.TrimSuffix(b.String(), "\n")
	if list == "" && len(names) > 0 {
		return `""`
	}
	return list
}

// maxNames bounds the number of names in an option, far above any real use. Each name needs 80 bytes of memory in
// addition to its text. Without a bound, 30 million names in a selection file of 60 MB used 2.4 GB.
const maxNames = 1_000_000

// splitNames reads the output of joinNames. A comma separates two names if the number of quotes before it is even. The
// limit [maxNames] also counts commas within quotes. Package encoding/csv is not used, because it would change names:
// it turns a carriage return and newline into a newline, and ends at a newline outside quotes.
func splitNames(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	if strings.Count(list, ",") >= maxNames {
		return nil, fmt.Errorf("it has more than %d commas; name columns by patterns", maxNames-1)
	}
	var names []string
	from, quoted := 0, false
	for end := range len(list) + 1 {
		if end < len(list) && (quoted || list[end] != ',') {
			quoted = quoted != (list[end] == '"')
			continue
		}
		name, whole := unquoteField(list[from:end])
		if !whole {
			return nil, fmt.Errorf("a name with a comma or quotes stands in quotes, and has its own twice: %s", list[from:end])
		}
		names, from = append(names, name), end+1
	}
	return names, nil
}

// unquoteField returns the text of a CSV field without its quotes, and whether the quotes are well-formed.
func unquoteField(field string) (string, bool) {
	inner := field
	if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
		inner = field[1 : len(field)-1]
		field = strings.ReplaceAll(inner, `""`, "")
	}
	return strings.ReplaceAll(inner, `""`, `"`), !strings.Contains(field, `"`)
}

func openDataset(ctx context.Context, inputs []string, opt chunkio.Options) (*chunkio.Dataset, error) {
	ds, err := chunkio.Open(ctx, inputs, opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		ds.Close()
		return nil, err
	}
	return ds, nil
}

func promisesMissing(ds *chunkio.Dataset) bool { return ds.WithNulls() > 0 }

// matchFeatures returns the indices in cols of the features that the patterns of an option match, in the order of the
// patterns. A pattern without a match is a usage error.
func matchFeatures(option string, patterns []string, cols []stream.Column, leftOut []stream.LeftOut) ([]int, error) {
	var found []int
	taken := make([]bool, len(cols))
	for _, p := range patterns {
		matched, err := chunkio.MatchColumns(option, []string{p}, cols)
		if err != nil {
			for _, l := range leftOut {
				if l.Name == p {
					return nil, stream.Usagef("%v %s: it is no feature: %s", stream.Option(option), p, l.Why)
				}
			}
			return nil, err
		}
		for j, ok := range matched {
			if ok && !taken[j] {
				found, taken[j] = append(found, j), true
			}
		}
	}
	return found, nil
}

func checkAtMost(k, d int, leftOut []stream.LeftOut) error {
	if k <= d {
		return nil
	}
	why := ""
	if n := len(leftOut); n > 0 {
		why = fmt.Sprintf("; %s left out, the first %q: %s", plural(n, "column"), leftOut[0].Name, leftOut[0].Why)
	}
	return stream.Usagef("{k} %d is more than the %s that can be selected%s", k, plural(d, "feature"), why)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func columnNames(cols []stream.Column) []string {
	names := make([]string, len(cols))
	for j, c := range cols {
		names[j] = c.Name
	}
	return names
}

func inputPaths(inputs []stream.Input) []string {
	list := make([]string, len(inputs))
	for i, in := range inputs {
		list[i] = in.Path
	}
	return list
}

func spellAll(texts []stream.Text, say stream.Spelling) []string {
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = t.Spell(say)
	}
	return list
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func comma(n int64) string { return humanize.Comma(n) }

// refuseInputAsOutput refuses an Output that is also an input: one of the files that q names, or one of moreInputs.
// Files in the folders, globs and lists of q are compared later, when they are found ([chunkio.Dataset.NotInput]).
func refuseInputAsOutput(ctx context.Context, q *Request, moreInputs ...string) error {
	if q.Output == "" {
		return nil
	}
	return atomicfile.CheckNotInput(ctx, q.Output, append(namedFiles(q), moreInputs...)...)
}

func namedFiles(q *Request) []string {
	files := []string{q.Plan, q.Stats}
	for _, in := range q.Inputs {
		files = append(files, strings.TrimPrefix(in, "@"))
	}
	options := map[string]string{"groups": q.Groups, "costs": q.Costs}
	for option := range q.Options {
		options[option] = q.Options.Text(option)
	}
	for option, text := range options {
		if namesFile(option, text) {
			files = append(files, text)
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" })
}
