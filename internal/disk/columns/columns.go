// Package columns describes the columns of a table in a data lake, and finds them in the table's data files, in which they
// may have other names: the log of a Delta table and the metadata of an Iceberg table map columns to physical names or to
// field ids. Plan files contain these columns too.
package columns

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Column is a column of a table, a field of a struct, the element of a list, or the key or the value of a map.
type Column struct {
	Name string `json:"name,omitempty"` // its name in the table
	// ID is the field id of the column in data files. A column without an id has 0, and is found by its name.
	ID int32 `json:"id,omitempty"`
	// Physical is its name in data files, if this is not Name, and Aliases are further names. A column with an ID is found
	// by these names only in files that have no field ids at all. Such files are refused if no column has a Physical name.
	Physical string   `json:"physical,omitempty"`
	Aliases  []string `json:"aliases,omitempty"`
	// Type is struct, list, map, variant, or the name of a primitive type in data files; it is empty if it is not known.
	Type string `json:"type,omitempty"`
	// Fixed is the number of bytes of a binary value or a decimal, if the data files store it with a fixed number of bytes.
	Fixed int32 `json:"fixed,omitempty"`
	// Default is the value of the column in all rows of a file that lacks it, in the format of Constants; without it they
	// are null. Only columns outside of structs, lists and maps have one.
	Default *string `json:"default,omitempty"`
	// Fields are the fields of a struct, the only element of a list, or the key and the value of a map.
	Fields []Column `json:"fields,omitempty"`

	index *index // of Fields, if the column is a struct
}

// Types of columns that consist of several columns of a data file.
const (
	Struct  = "struct"
	List    = "list"
	Map     = "map"
	Variant = "variant"
)

// LocalTime is the type of times without a zone.
const LocalTime = "timestamp_ntz"

// Schema contains the columns of a table. NewSchema makes it; afterwards it does not change.
type Schema struct {
	Root Column // a struct, whose fields are the columns
	// IsMapped is set if a data file shows its columns only with the schema: because names differ, because of a default,
	// or because of a variant, which files do not always declare.
	IsMapped bool
	NeedsIDs bool // columns can be found in files with field ids only
	// HasLocalTimes is set if a column has times without a zone, to which the table may have widened dates of its files.
	HasLocalTimes bool
	// Digest differs for schemas that show the same data file differently. It is 0 if IsMapped is not set.
	Digest uint64

	hasPhysical bool // of a column
}

// index has the positions of the fields of a struct.
type index struct {
	byName map[string]int // by name and, unless another column has this name, by name in lower case
	byFile map[string]int // by name in data files; nil if these are the names of the table
	byID   map[int32]int
}

// NewSchema makes the schema of a table with these columns, which it keeps.
func NewSchema(fields []Column) (*Schema, error) {
	s := &Schema{Root: Column{Type: Struct, Fields: fields}}
	if err := s.indexColumn(&s.Root); err != nil || !s.IsMapped {
		return s, err
	}
	s.NeedsIDs = s.NeedsIDs && !s.hasPhysical
	text, err := json.Marshal(fields)
	s.Digest = xxhash.Sum64(text)
	return s, err
}

// Constants are values of columns in all rows of one file that lacks them, by the columns' ids; nil represents null. Texts
// are not quoted, and bytes are hexadecimal. Other values are written as Iceberg's specification writes them in JSON, but
// without quotes: 14.20, 2017-11-16, 22:31:08.123456, 2017-11-16T22:31:08.123456+00:00. Floats may be NaN, Inf and -Inf.
// https://iceberg.apache.org/spec/#json-single-value-serialization
type Constants map[int32]*string

// ParseConstants parses Constants from JSON.
func ParseConstants(text []byte) (c Constants, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("the values of its columns cannot be read: %w", err)
	}
	return c, nil
}

// ValueOf returns the value of a column that a file with these constants lacks, or nil for null.
func (c Constants) ValueOf(column *Column) *string {
	if value, ok := c[column.ID]; ok && column.ID != 0 {
		return value
	}
	return column.Default
}

func (s *Schema) indexColumn(c *Column) error {
	if want, fixed := map[string]int{List: 1, Map: 2}[c.Type]; fixed && len(c.Fields) != want {
		return fmt.Errorf("the column %q is a %s of %d columns", c.Name, c.Type, len(c.Fields))
	}
	if c.ID < 0 {
		return fmt.Errorf("the column %q has the id %d", c.Name, c.ID)
	}
	s.IsMapped = s.IsMapped || c.ID != 0 || c.Physical != "" || c.Default != nil || c.Type == Variant
	s.NeedsIDs = s.NeedsIDs || c.ID != 0
	s.HasLocalTimes = s.HasLocalTimes || c.Type == LocalTime
	s.hasPhysical = s.hasPhysical || c.Physical != ""
	for i := range c.Fields {
		if f := &c.Fields[i]; f.Default != nil && (c != &s.Root || len(f.Fields) > 0) {
			return fmt.Errorf("the column %q, of type %s in a %s, has a default", f.Name, f.Type, c.Type)
		}
		if err := s.indexColumn(&c.Fields[i]); err != nil {
			return err
		}
	}
	if c.Type == Struct {
		return c.indexFields()
	}
	return nil
}

func (c *Column) indexFields() error {
	c.index = &index{byName: make(map[string]int, len(c.Fields))}
	for i, f := range c.Fields {
		if lower := strings.ToLower(f.Name); lower != f.Name {
			c.index.byName[lower] = i
		}
		if f.ID != 0 || f.Physical != "" {
			c.index.byFile, c.index.byID = map[string]int{}, map[int32]int{}
		}
	}
	for i, f := range c.Fields {
		c.index.byName[f.Name] = i
	}
	if c.index.byFile == nil {
		return nil
	}
	for i, f := range c.Fields {
		name := f.Physical
		if f.ID == 0 {
			name = cmp.Or(name, f.Name)
		}
		if other, taken := c.index.byID[f.ID]; taken {
			return errSameColumn(c.Fields[other], f)
		}
		if f.ID != 0 {
			c.index.byID[f.ID] = i
		}
		for _, name := range append([]string{name}, f.Aliases...) {
			if other, taken := c.index.byFile[name]; taken && other != i {
				return errSameColumn(c.Fields[other], f)
			}
			if name != "" {
				c.index.byFile[name] = i
			}
		}
	}
	return nil
}

func errSameColumn(a, b Column) error {
	return fmt.Errorf("the columns %q and %q are the same column of a data file", a.Name, b.Name)
}

// FindInFile returns the field of the struct c that a data file has under this name and field id, or nil if there is
// none. The id is at most 0 for a column without one. hasIDs is set if any column of the file has a field id.
func (c *Column) FindInFile(name string, id int32, hasIDs bool) *Column {
	if c.index == nil {
		return nil
	}
	if c.index.byFile == nil {
		return c.fieldOfName(name)
	}
	at, found := c.index.byFile[name]
	if found && hasIDs && c.Fields[at].ID != 0 {
		found = false
	}
	if byID, ok := c.index.byID[id]; ok && hasIDs {
		at, found = byID, true
	}
	if !found {
		return nil
	}
	return &c.Fields[at]
}

func (c *Column) fieldOfName(name string) *Column {
	if c.index == nil {
		return nil
	}
	at, found := c.index.findName(name)
	if !found {
		return nil
	}
	return &c.Fields[at]
}

func (x *index) findName(name string) (at int, found bool) {
	if at, found = x.byName[name]; !found {
		at, found = x.byName[strings.ToLower(name)]
	}
	return at, found
}

// ColumnType returns the type that the schema declares for the column with this path of names. For a list this is
// list<…>. ok is false if the schema lacks the column. An empty type means that types cannot be compared.
func (s *Schema) ColumnType(path []string) (typ string, ok bool) {
	at := &s.Root
	for _, name := range path {
		if at.Type != Struct { // the path leads into a list of structs or a map
			return "", true
		}
		if at = at.fieldOfName(name); at == nil {
			return "", false
		}
	}
	if at.Type == List && at.Fields[0].primitiveType() != "" {
		return "list<" + at.Fields[0].Type + ">", len(path) > 0
	}
	return at.primitiveType(), len(path) > 0
}

func (c *Column) primitiveType() string {
	switch c.Type {
	case Struct, List, Map:
		return ""
	}
	return c.Type
}

// ColumnIndex returns the index of a column in the schema, or the number of columns if it is absent.
func (s *Schema) ColumnIndex(name string) int {
	if at, ok := s.Root.index.findName(name); ok {
		return at
	}
	return len(s.Root.Fields)
}

// FieldIndexes returns the index in the schema of the column that begins a path of names, of its field that the path goes
// on with, and so on. A column or field that is absent has the number of columns or fields, and ends the result.
func (s *Schema) FieldIndexes(path []string) (indexes []int) {
	at := &s.Root
	for _, name := range path {
		if at.index == nil {
			break
		}
		i, ok := at.index.findName(name)
		if !ok {
			return append(indexes, len(at.Fields))
		}
		indexes, at = append(indexes, i), &at.Fields[i]
	}
	return indexes
}
