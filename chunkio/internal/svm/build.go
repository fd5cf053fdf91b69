package svm

// Builder builds a Table of rows from single entries, without labels.
type Builder struct{ parser parser }

// NewBuilder returns a Builder for a Table in the spool. The entries of the Table have the given name. The Builder uses
// about 16 MiB, and at most limit bytes.
func NewBuilder(name string, spool Spool, limit int64) *Builder {
	return &Builder{parser{limit: limit, table: &Table{spool: spool, name: name}}}
}

// AddEntry adds an entry to the current row; index is at most MaxIndex.
func (b *Builder) AddEntry(index uint32, value float64) error { return b.parser.addEntry(index, value) }

// EndRow ends the current row.
func (b *Builder) EndRow() error {
	b.parser.endRow(0)
	return b.parser.writeGroupIfFull()
}

// FinishTable finishes the table, which is read from an input with this digest.
func (b *Builder) FinishTable(digest uint64) (*Table, error) {
	if err := b.parser.writeGroup(); err != nil {
		return nil, err
	}
	b.parser.table.digest = digest
	return b.parser.table, nil
}
