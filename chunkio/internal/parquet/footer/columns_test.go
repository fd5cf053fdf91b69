package footer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// parseElements makes the elements of a schema from a text: "a#3" is a column a with the field id 3, and "s{x,y}" a group.
// A group that begins with "list:" or "map:" has this annotation, and "*" in front of a name means that it is repeated.
func parseElements(t *testing.T, text string) []schemaElement {
	t.Helper()
	root := schemaElement{name: "root"}
	elements := []schemaElement{root}
	open := []int{0}
	for len(text) > 0 {
		end := strings.IndexAny(text, "{},")
		if end < 0 {
			end = len(text)
		}
		if name := text[:end]; name != "" {
			e := schemaElement{set: 1<<fieldType | 1<<fieldRepetition}
			e.fields[fieldType], e.fields[fieldRepetition] = int64(parquet.Types.Int64), int64(parquet.Repetitions.Optional)
			for prefix, converted := range map[string]schema.ConvertedType{"list:": schema.ConvertedTypes.List, "map:": schema.ConvertedTypes.Map} {
				if rest, ok := strings.CutPrefix(name, prefix); ok {
					name, e.set, e.fields[fieldConverted] = rest, e.set|1<<fieldConverted, int64(converted)
				}
			}
			if rest, ok := strings.CutPrefix(name, "*"); ok {
				name, e.fields[fieldRepetition] = rest, int64(parquet.Repetitions.Repeated)
			}
			if before, id, ok := strings.Cut(name, "#"); ok {
				name, e.set = before, e.set|1<<fieldID
				must.Get(fmt.Sscan(id, &e.fields[fieldID]))(t)
			}
			e.name = name
			elements[open[len(open)-1]].fields[fieldChildren]++
			elements = append(elements, e)
		}
		if end < len(text) {
			switch text[end] {
			case '{':
				last := len(elements) - 1
				elements[last].set &^= 1 << fieldType
				open = append(open, last)
			case '}':
				open = open[:len(open)-1]
			}
			end++
		}
		text = text[end:]
	}
	return elements
}

// formatElements is the inverse of parseElements, without annotations and ids.
func formatElements(left []schemaElement) (text string, rest []schemaElement) {
	e := left[0]
	left = left[1:]
	if e.fields[fieldChildren] == 0 {
		return e.name, left
	}
	var inner []string
	for range e.fields[fieldChildren] {
		var one string
		one, left = formatElements(left)
		inner = append(inner, one)
	}
	return e.name + "{" + strings.Join(inner, ",") + "}", left
}

func countLeaves(elements []schemaElement) (n int) {
	for _, e := range elements {
		if e.hasField(fieldType) {
			n++
		}
	}
	return n
}

func structOf(name, physical string, id int32, fields ...columns.Column) columns.Column {
	return columns.Column{Name: name, Physical: physical, ID: id, Type: columns.Struct, Fields: fields}
}

func listOf(name, physical string, id int32, element columns.Column) columns.Column {
	return columns.Column{Name: name, Physical: physical, ID: id, Type: columns.List, Fields: []columns.Column{element}}
}

// TestApplyTable: columns of the file get the names of the table, by physical name or field id, at any depth; all others
// disappear with their column chunks, their faults and the order of their bounds. The expected physical columns are
// counted by hand.
func TestApplyTable(t *testing.T) {
	named := func(name, physical string) columns.Column {
		return columns.Column{Name: name, Physical: physical, Type: "int64"}
	}
	numbered := func(name string, id int32) columns.Column {
		return columns.Column{Name: name, ID: id, Type: "int64"}
	}
	mapOf := func(name, physical string, key, value columns.Column) columns.Column {
		return columns.Column{Name: name, Physical: physical, Type: columns.Map, Fields: []columns.Column{key, value}}
	}
	xy := structOf("", "", 0, named("x", "p1"), named("y", "p2"))
	for _, c := range []struct {
		what, file string
		table      []columns.Column
		want       string
		kept       []int
	}{
		{"by name", "p1,p2", []columns.Column{named("a", "p2"), named("b", "p1")}, "b,a", []int{0, 1}},
		{"swapped names", "a,b", []columns.Column{named("a", "b"), named("b", "a")}, "b,a", []int{0, 1}},
		{"a dropped column whose name is another's now", "a,p2", []columns.Column{named("a", "p2")}, "a", []int{1}},
		{"an added column that the file lacks, but whose name it has", "a", []columns.Column{named("a", "p9")}, "", nil},
		{"by id", "a#1,b#2,c", []columns.Column{numbered("x", 2), numbered("y", 1)}, "y,x", []int{0, 1}},
		{"ids in another order than names", "a#2,b#1", []columns.Column{numbered("a", 1), numbered("b", 2)}, "b,a", []int{0, 1}},
		{"an id that the file lacks", "a#1,b#2", []columns.Column{numbered("b", 3), numbered("a", 1)}, "a", []int{0}},
		{"a struct", "u,s{p1,gone,p2},v", []columns.Column{structOf("S", "s", 0, xy.Fields...), named("w", "v")}, "S{x,y},w", []int{1, 3, 4}},
		{"a struct by ids", "s#1{a#3,b#2}", []columns.Column{structOf("S", "", 1, numbered("x", 2), numbered("y", 3))}, "S{y,x}", []int{0, 1}},
		{"a struct without any field left", "s{gone},p", []columns.Column{structOf("S", "s", 0, named("x", "p1")), named("a", "p")}, "a", []int{1}},
		{"a struct in a struct", "s{s{p1,p2},p2}", []columns.Column{structOf("S", "s", 0, structOf("T", "s", 0, named("x", "p2")), named("z", "p2"))}, "S{T{x},z}", []int{1, 2}},
		{"a list", "list:l{*list{element}}", []columns.Column{listOf("L", "l", 0, columns.Column{Type: "int64"})}, "L{list{element}}", []int{0}},
		{"a list of structs", "list:l{*bag{array_element{p1,gone,p2}}}", []columns.Column{listOf("L", "l", 0, xy)}, "L{list{array_element{x,y}}}", []int{0, 2}},
		{"a list of structs that are gone", "list:l{*bag{array_element{gone}}},p", []columns.Column{listOf("L", "l", 0, xy), named("a", "p")}, "a", []int{1}},
		{"a list of two levels", "list:l{*element}", []columns.Column{listOf("L", "l", 0, columns.Column{Type: "int64"})}, "L{element}", []int{0}},
		{"structs in a list of two levels", "list:l{*element{p1,p2}}", []columns.Column{listOf("L", "l", 0, xy)}, "L{array{x,y}}", []int{0, 1}},
		{"structs in a list of two levels, of which one field is left", "list:l{*element{p1,gone}}", []columns.Column{listOf("L", "l", 0, xy)}, "L{array{x}}", []int{0}},
		{"structs in a list that is called after its column", "list:l{*l_tuple{p2}}", []columns.Column{listOf("L", "l", 0, xy)}, "L{array{y}}", []int{0}},
		{"a list that would be called after its column", "list:l{*L_tuple{element}}", []columns.Column{listOf("L", "l", 0, columns.Column{Type: "int64"})}, "L{list{element}}", []int{0}},
		{"a repeated struct", "*l{gone,p2}", []columns.Column{listOf("L", "l", 0, xy)}, "L{y}", []int{1}},
		{"a list of lists", "list:l{*list{list:element{*list{element{p2}}}}}", []columns.Column{listOf("L", "l", 0, listOf("", "", 0, xy))}, "L{list{element{list{element{y}}}}}", []int{0}},
		{"a map", "map:m{*key_value{key{p1,p2},value{gone,p2}}}", []columns.Column{mapOf("M", "m", xy, structOf("", "", 0, named("z", "p2")))}, "M{key_value{key{x,y},value{z}}}", []int{0, 1, 3}},
		{"a map whose values are gone", "map:m{*key_value{key,value{gone}}},p", []columns.Column{mapOf("M", "m", columns.Column{}, xy), named("a", "p")}, "a", []int{2}},
		{"a list instead of a struct", "list:s{*list{element}}", []columns.Column{structOf("S", "s", 0, named("x", "p1"))}, "S{list{element}}", []int{0}},
		{"a column instead of a struct", "s", []columns.Column{structOf("S", "s", 0, named("x", "p1"))}, "S", []int{0}},
		{"a struct instead of a column", "p1{a,b}", []columns.Column{named("x", "p1")}, "x{a,b}", []int{0, 1}},
		{"no column left", "a,b", []columns.Column{named("x", "p1")}, "", nil},
	} {
		elements := parseElements(t, c.file)
		n := countLeaves(elements)
		f := &Metadata{HasTypeOrder: make([]bool, n), Groups: []groupMeta{{Chunks: make([]ChunkMeta, n), ChunkFaults: map[int]string{}}}}
		for i := range n {
			f.Groups[0].Chunks[i].Values = int64(i)
			f.HasTypeOrder[i] = i%2 == 1
			if i%3 == 2 {
				f.Groups[0].ChunkFaults[i] = fmt.Sprint("fault ", i)
			}
		}
		mapped, err := f.applyTable(elements, must.Get(columns.NewSchema(c.table))(t), nil)
		if err != nil {
			t.Errorf("%s: got error %v, want none", c.what, err)
			continue
		}
		got, rest := formatElements(mapped)
		if got = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(got, "root"), "{"), "}"); got != c.want || len(rest) != 0 {
			t.Errorf("%s: %s: got %s and %d more elements, want %s", c.what, c.file, got, len(rest), c.want)
		}
		for to, from := range c.kept {
			why := ""
			if from%3 == 2 {
				why = fmt.Sprint("fault ", from)
			}
			chunk := f.Groups[0].Chunks[to]
			if chunk.Values != int64(from) && why == "" || f.Groups[0].ChunkFaults[to] != why || f.HasTypeOrder[to] != (from%2 == 1) {
				t.Errorf("%s: column chunk %d: got %d with fault %q, want %d", c.what, to, chunk.Values, f.Groups[0].ChunkFaults[to], from)
			}
		}
		if len(f.Groups[0].Chunks) != len(c.kept) || len(f.HasTypeOrder) != len(c.kept) || countLeaves(mapped) != len(c.kept) {
			t.Errorf("%s: got %d column chunks, %d orders and %d columns, want %d", c.what, len(f.Groups[0].Chunks), len(f.HasTypeOrder), countLeaves(mapped), len(c.kept))
		}
		if _, _, err := parseSchema(mapped); err != nil {
			t.Errorf("%s: the tree cannot be built: %v", c.what, err)
		}
	}
	for _, c := range []struct {
		file, want string
		table      []columns.Column
	}{
		{"a,b", "have no field ids", []columns.Column{numbered("a", 1)}},
		{"a#1,b#1", `"a" and "b" are both the column "x"`, []columns.Column{numbered("x", 1)}},
		{"p,p", `"p" and "p" are both the column "x"`, []columns.Column{named("x", "p")}},
		{"s{p,q,p}", `"p" and "p" are both the column "x"`, []columns.Column{structOf("S", "s", 0, named("x", "p"))}},
	} {
		if _, err := new(Metadata).applyTable(parseElements(t, c.file), must.Get(columns.NewSchema(c.table))(t), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.file, err, c.want)
		}
	}
	short := &Metadata{Groups: []groupMeta{{Chunks: make([]ChunkMeta, 1)}}}
	if _, err := short.applyTable(parseElements(t, "p1,p2"), must.Get(columns.NewSchema(xy.Fields))(t), nil); err == nil {
		t.Errorf("a row group with 1 of 2 columns: got no error, want one")
	}
}

// TestApplyTableMarksVariants: a group without an annotation is a variant if the table says so, at any depth.
func TestApplyTableMarksVariants(t *testing.T) {
	variant := columns.Column{Name: "v", Type: columns.Variant}
	table := must.Get(columns.NewSchema([]columns.Column{variant, listOf("l", "", 0, variant), structOf("s", "", 0, variant, columns.Column{Name: "x"}), {Name: "x"}}))(t)
	file := parseElements(t, "v{metadata,value,typed_value{a}},list:l{*list{element{metadata,value}}},s{v{metadata,value},x},x")
	mapped, err := new(Metadata).applyTable(file, table, nil)
	must.Do(t, err)
	_, strange, err := parseSchema(mapped)
	must.Do(t, err)
	var got []string
	for n, s := range strange {
		got = append(got, n.Path()+" "+s.Typ)
	}
	slices.Sort(got)
	if want := []string{"l.list.element variant", "s.v variant", "v variant"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
