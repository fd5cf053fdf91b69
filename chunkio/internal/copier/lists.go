package copier

import (
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

// listSplitter splits a list column into flat columns. The output column of a copyTarget t has, for every row, the
// element with index t.element, or null if the row's list is too short.
type listSplitter[T any] struct {
	columns []splitColumn[T]
	// columnOf[e] is the index in columns of the output column for element e, plus 1; 0 if there is no such column.
	columnOf []int
	// If the definition level of an entry is below elementLevel, the row's list is null or empty. If it is max, the
	// entry is an element that is not null.
	elementLevel, max int16
	rowsBegun         int // number of rows begun in the current batch
	element           int // index of the current element in its list
}

// splitColumn collects the values of one output column. def has a level for every finished row.
type splitColumn[T any] struct {
	to     *writer.Chunk
	values []T
	def    []int16
}

func newListSplitter[T any](columnSchema *schema.Column, targets []copyTarget) *listSplitter[T] {
	s := &listSplitter[T]{max: columnSchema.MaxDefinitionLevel(), elementLevel: columnSchema.MaxDefinitionLevel()}
	for n := columnSchema.SchemaNode(); n != nil && n.RepetitionType() != parquet.Repetitions.Repeated; n = n.Parent() {
		if n.RepetitionType() == parquet.Repetitions.Optional {
			s.elementLevel--
		}
	}
	for _, t := range targets {
		if t.element < 0 {
			continue
		}
		for len(s.columnOf) <= t.element {
			s.columnOf = append(s.columnOf, 0)
		}
		s.columns = append(s.columns, splitColumn[T]{to: t.chunk})
		s.columnOf[t.element] = len(s.columns)
	}
	return s
}

// addLevels adds the next levels of the list column, with the values of the entries whose level is max.
func (s *listSplitter[T]) addLevels(values []T, def, rep []int16) error {
	if len(s.columns) == 0 {
		return nil
	}
	next := 0
	for i, r := range rep {
		if r == 0 {
			if s.rowsBegun == copyBatch {
				if err := s.writeCollectedValues(); err != nil {
					return err
				}
			}
			s.addNullsForShortList()
			s.rowsBegun++
			s.element = 0
		} else {
			s.element++
		}
		present := def[i] == s.max
		if def[i] >= s.elementLevel && s.element < len(s.columnOf) && s.columnOf[s.element] > 0 {
			c := &s.columns[s.columnOf[s.element]-1]
			if present {
				c.values = append(c.values, values[next])
				c.def = append(c.def, 1)
			} else {
				c.def = append(c.def, 0)
			}
		}
		if present {
			next++
		}
	}
	return nil
}

func (s *listSplitter[T]) addNullsForShortList() {
	for i := range s.columns {
		for c := &s.columns[i]; len(c.def) < s.rowsBegun; {
			c.def = append(c.def, 0)
		}
	}
}

func (s *listSplitter[T]) writeCollectedValues() error {
	s.addNullsForShortList()
	for i := range s.columns {
		c := &s.columns[i]
		if err := writer.Put(c.to, c.values, c.def, nil); err != nil {
			return err
		}
		c.values, c.def = c.values[:0], c.def[:0]
	}
	s.rowsBegun = 0
	return nil
}

func (s *listSplitter[T]) writeLastRows() error {
	if len(s.columns) == 0 || s.rowsBegun == 0 {
		return nil
	}
	return s.writeCollectedValues()
}
