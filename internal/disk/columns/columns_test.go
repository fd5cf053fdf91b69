package columns

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFindInFile: a column with an id is found by it alone if the file has ids, and else by its physical name, if there
// is one. A column without an id is found by its physical name, or else by its own, and never by a name that is another
// column's physical name.
func TestFindInFile(t *testing.T) {
	s := must.Get(NewSchema([]Column{
		{Name: "a", Physical: "b"}, {Name: "b", Physical: "a"}, {Name: "plain"},
		{Name: "c", ID: 7}, {Name: "d", ID: 8, Physical: "old", Aliases: []string{"older", "old"}}, {Name: "S", Type: Struct, Fields: []Column{{Name: "X"}}},
	}))(t)
	if !s.IsMapped || s.NeedsIDs {
		t.Errorf("mapped: got %t, and ids needed: %t, want only the first, because a column has a physical name", s.IsMapped, s.NeedsIDs)
	}
	if s := must.Get(NewSchema([]Column{{Name: "c", ID: 7}, {Name: "d"}}))(t); !s.IsMapped || !s.NeedsIDs {
		t.Errorf("a schema of ids: mapped: got %t, and ids needed: %t, want both", s.IsMapped, s.NeedsIDs)
	}
	for _, c := range []struct {
		name   string
		id     int32
		hasIDs bool
		want   string
	}{
		{"a", 0, false, "b"}, {"b", 0, false, "a"}, {"a", 99, true, "b"}, {"plain", 0, true, "plain"}, {"PLAIN", 0, false, ""}, {"A", 0, false, ""},
		{"c", 0, false, ""}, {"c", 7, false, ""}, {"anything", 7, true, "c"}, {"a", 7, true, "c"}, {"c", 0, true, ""}, {"c", -1, true, ""},
		{"old", 0, false, "d"}, {"older", 0, false, "d"}, {"old", 0, true, ""}, {"older", 0, true, ""}, {"other", 8, true, "d"}, {"d", 0, false, ""}, {"S", 3, true, "S"}, {"gone", 3, true, ""},
	} {
		got := ""
		if found := s.Root.FindInFile(c.name, c.id, c.hasIDs); found != nil {
			got = found.Name
		}
		if got != c.want {
			t.Errorf("column %q of id %d, in a file with ids: %t: got column %q, want %q", c.name, c.id, c.hasIDs, got, c.want)
		}
	}
	in := s.Root.FindInFile("S", 0, false) // its fields have neither ids nor physical names
	if got := in.FindInFile("x", 5, true); got == nil || got.Name != "X" {
		t.Errorf("the field x of S: got %v, want X", got)
	}
	if got := (&Column{Name: "a"}).FindInFile("x", 1, true); got != nil {
		t.Errorf("the field x of a column that is no struct: got %v, want none", got)
	}
}

// TestSchemaFaults: columns that one column of a file would be, impossible ids, and lists and maps without their parts
// are errors that name a column, also inside others; and a schema is the same after it was JSON.
func TestSchemaFaults(t *testing.T) {
	list := func(c ...Column) Column { return Column{Name: "l", Type: List, Fields: c} }
	for text, bad := range map[string][]Column{
		`"a" and "b" are the same`:   {{Name: "a", ID: 1}, {Name: "b", ID: 1}},
		`"x" and "y" are the same`:   {list(Column{Type: Struct, Fields: []Column{{Name: "x", Physical: "p"}, {Name: "y", Physical: "p"}}})},
		`"p" and "y" are the same`:   {{Name: "p"}, {Name: "y", Physical: "p"}},
		`"z" and "y" are the same`:   {{Name: "z", ID: 1, Physical: "p", Aliases: []string{"q"}}, {Name: "y", ID: 2, Physical: "r", Aliases: []string{"q"}}},
		`"a" has the id -1`:          {{Name: "a", ID: -1}},
		`"l" is a list of 0 columns`: {list()},
		`"l" is a list of 2 columns`: {list(Column{}, Column{})},
		`"m" is a map of 1 columns`:  {{Name: "m", Type: Map, Fields: []Column{{}}}},
	} {
		if _, err := NewSchema(bad); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: got error %v, want one with %q", bad, err, text)
		}
	}
	good := []Column{{Name: "a", ID: 1, Physical: "p", Type: "int64"}, {Name: "m", Type: Map, Fields: []Column{{Name: "key", Type: "string"}, {Name: "value", Type: Struct, Fields: []Column{{Name: "x", ID: 3}}}}}}
	first := must.Get(NewSchema(good))(t)
	var again []Column
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(first.Root.Fields))(t), &again))
	second := must.Get(NewSchema(again))(t)
	if fmt.Sprint(again) == "" || first.Digest != second.Digest || first.Digest == 0 {
		t.Errorf("digest: got %x, and %x after it was JSON, want the same", first.Digest, second.Digest)
	}
	again[0].Name = "b"
	if third := must.Get(NewSchema(again))(t); third.Digest == first.Digest {
		t.Errorf("digest after a renaming: got %x, want another", third.Digest)
	}
	if plain := must.Get(NewSchema([]Column{{Name: "a", Type: "int64"}}))(t); plain.IsMapped || plain.NeedsIDs || plain.Digest != 0 {
		t.Errorf("a schema of names: got %+v, want one that files need not be read by", plain)
	}
	if variant := must.Get(NewSchema([]Column{list(Column{Type: Variant})}))(t); !variant.IsMapped || variant.NeedsIDs {
		t.Errorf("a schema with a variant: got %+v, want one that files are read by", variant)
	}
}

// TestNamesThatDifferByCase: each of several names is found exactly, and another form of a name only if it is in lower case.
func TestNamesThatDifferByCase(t *testing.T) {
	s := must.Get(NewSchema([]Column{{Name: "AB", Type: "1"}, {Name: "ab", Type: "2"}, {Name: "Ab", Type: "3"}, {Name: "Cd", Type: "4"}}))(t)
	for name, want := range map[string]string{"AB": "1", "ab": "2", "Ab": "3", "aB": "2", "Cd": "4", "CD": "4", "cd": "4", "x": ""} {
		if got, _ := s.ColumnType([]string{name}); got != want {
			t.Errorf("column %q: got type %q, want %q", name, got, want)
		}
	}
	if at, none := s.ColumnIndex("Ab"), s.ColumnIndex("x"); at != 2 || none != 4 {
		t.Errorf("index: got %d and %d, want 2 and 4", at, none)
	}
}

// TestFieldIndexes: the order of indexes is the order of the columns and fields in the schema.
func TestFieldIndexes(t *testing.T) {
	s := must.Get(NewSchema([]Column{{Name: "a"}, {Name: "s", Type: Struct, Fields: []Column{{Name: "y"}, {Name: "in", Type: Struct, Fields: []Column{{Name: "x"}}}}}, {Name: "l", Type: List, Fields: []Column{{}}}}))(t)
	for path, want := range map[string]string{"a": "[0]", "s/y": "[1 0]", "s/in/x": "[1 1 0]", "s/in/gone": "[1 1 1]", "s/gone/x": "[1 2]", "l/list/element": "[2]", "gone": "[3]", "S/IN": "[1 1]"} {
		if got := fmt.Sprint(s.FieldIndexes(strings.Split(path, "/"))); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
