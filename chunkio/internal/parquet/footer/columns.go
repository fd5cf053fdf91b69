package footer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
)

// applyTable gives the columns of the file the names that they have in a table. It removes all other columns from the
// footer, such as columns that the table dropped after the file was written: another column may have their name now. It
// adds columns that the file lacks, if they have a value.
func (f *Metadata) applyTable(elements []schemaElement, table *columns.Schema, constantsText []byte) ([]schemaElement, error) {
	constants, err := columns.ParseConstants(constantsText)
	if err != nil {
		return nil, err
	}
	m := mapper{left: elements, mapped: elements[:0], constants: constants} // never longer than the elements that were read
	m.hasIDs = slices.ContainsFunc(elements[1:], func(e schemaElement) bool { return e.hasField(fieldID) })
	if table.NeedsIDs && !m.hasIDs && len(elements) > 1 {
		return nil, errors.New("its columns have no field ids, and the table finds them by their ids")
	}
	if _, err := m.mapFields(m.copyNext(), &table.Root); err != nil {
		return nil, err
	}
	for g := range f.Groups {
		group := &f.Groups[g]
		if len(group.Chunks) != m.leaves {
			return nil, fmt.Errorf("row group %d has %d columns, and the schema has %d", g, len(group.Chunks), m.leaves)
		}
		faults := group.ChunkFaults
		group.ChunkFaults = nil
		for to, from := range m.kept {
			group.Chunks[to] = group.Chunks[from]
			if why, ok := faults[from]; ok {
				group.RecordChunkFault(to, why)
			}
		}
		group.Chunks = group.Chunks[:len(m.kept)]
	}
	ordered := f.HasTypeOrder
	f.HasTypeOrder = nil
	for _, from := range m.kept {
		f.HasTypeOrder = append(f.HasTypeOrder, from < len(ordered) && ordered[from])
	}
	return f.addConstants(m.mapped, m.lacking, constants)
}

// mapper copies the elements of a schema, which are listed depth first and have been checked by checkTree.
type mapper struct {
	left   []schemaElement // not copied yet
	mapped []schemaElement // the copies
	leaves int             // number of physical columns that were read
	kept   []int           // the physical columns that were copied, by their indices in the file
	hasIDs bool            // the file has field ids

	constants columns.Constants
	lacking   []*columns.Column // columns of the table, outside of structs, that the file lacks
}

func (m *mapper) copyNext() (at int) {
	m.mapped, m.left = append(m.mapped, m.left[0]), m.left[1:]
	return len(m.mapped) - 1
}

// mapFields copies the fields of a struct, whose own element is already copied to the index `at`, and leaves out those
// that the table lacks. It reports whether any field is left.
func (m *mapper) mapFields(at int, table *columns.Column) (bool, error) {
	left, names := int64(0), map[*columns.Column]string{}
	for range m.mapped[at].fields[fieldChildren] {
		kept, child := len(m.kept), m.copyNext()
		e := m.mapped[child]
		id := int32(0)
		if e.hasField(fieldID) {
			id = int32(e.fields[fieldID])
		}
		column := table.FindInFile(e.name, id, m.hasIDs)
		if column != nil && at == 0 && !m.hasIDs {
			if _, constant := m.constants[column.ID]; constant {
				column = nil // the constant has priority over a column that is only found by its name
			}
		}
		if other, twice := names[column]; twice && column != nil {
			return false, fmt.Errorf("its columns %q and %q are both the column %q of the table", other, e.name, column.Name)
		}
		names[column] = e.name
		remains, err := m.mapChildren(child, column)
		if err != nil {
			return false, err
		}
		if column == nil || !remains {
			m.mapped, m.kept = m.mapped[:child], m.kept[:kept]
			continue
		}
		m.mapped[child].name = column.Name
		left++
	}
	m.mapped[at].fields[fieldChildren] = left
	for i := range table.Fields {
		if _, found := names[&table.Fields[i]]; !found && at == 0 {
			m.lacking = append(m.lacking, &table.Fields[i])
		}
	}
	return left > 0, nil
}

// mapChildren copies the elements below the element that is already copied to the index `at`, which is a column of the
// table; nil means that it is none. The result is false if no field of a struct in it is left.
func (m *mapper) mapChildren(at int, table *columns.Column) (bool, error) {
	e := &m.mapped[at]
	children, repeated := e.fields[fieldChildren], parquet.Repetition(e.fields[fieldRepetition]) == parquet.Repetitions.Repeated
	isStruct := e.logical == nil && !e.hasField(fieldConverted)
	switch {
	case children == 0:
		if e.hasField(fieldType) {
			m.kept = append(m.kept, m.leaves)
			m.leaves++
		}
		return true, nil
	case table == nil:
	case table.Type == columns.Struct && isStruct:
		return m.mapFields(at, table)
	case table.Type == columns.Variant && isStruct:
		e.logical = variantAnnotation
	case table.Type == columns.List && repeated:
		return m.mapChildren(at, &table.Fields[0])
	case table.Type == columns.List && children == 1:
		return m.mapList(at, table)
	case table.Type == columns.Map && children == 1:
		return m.mapEntries(table)
	}
	for range children {
		if _, err := m.mapChildren(m.copyNext(), nil); err != nil {
			return false, err
		}
	}
	return true, nil
}

// mapList copies the only element below the group of a list. In lists of two levels, by old writers, it is already an
// element of the list, as visitList explains. Names that the rules of the format depend on are made independent of the
// names of columns, and of the number of fields that are left.
func (m *mapper) mapList(at int, table *columns.Column) (bool, error) {
	name := m.mapped[at].name
	repeated := m.copyNext()
	e := &m.mapped[repeated]
	switch {
	case e.fields[fieldChildren] == 0:
		return m.mapChildren(repeated, nil)
	case e.fields[fieldChildren] > 1 || e.name == "array" || e.name == name+"_tuple":
		e.name = "array"
		return m.mapChildren(repeated, &table.Fields[0])
	}
	e.name = "list"
	return m.mapChildren(m.copyNext(), &table.Fields[0])
}

func (m *mapper) mapEntries(table *columns.Column) (bool, error) {
	pair := m.copyNext()
	if m.mapped[pair].fields[fieldChildren] != 2 {
		return m.mapChildren(pair, nil)
	}
	all := true
	for i := range table.Fields {
		remains, err := m.mapChildren(m.copyNext(), &table.Fields[i])
		if err != nil {
			return false, err
		}
		all = all && remains
	}
	return all, nil
}

// variantAnnotation is the logical type of a variant: field 16 of the union, which is an empty struct. Spark 4.0 and
// older writers of variants do not write it.
var variantAnnotation = []byte{thrift.Struct, 2 * 16, 0, 0}
