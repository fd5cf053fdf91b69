package copying

import (
	"context"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Located describes the places of the columns of a selection in the files of their input.
type Located struct {
	Columns []Place
	Files   []string      // expanded from the inputs
	Batches []Batch       // of Files, in their order
	Lists   []string      // inputs of the form @list that name some of the files
	Table   *stream.Table // the table to which the files belong; nil for bare files
}

// Place locates a selected column, perhaps a field of a struct or an element of a list, in the schema of a file.
type Place struct {
	Name string
	// Path is the name of the column in the file, followed by the names of the fields inside its structs.
	Path    []string
	Element int  // index in the list at Path, from 0; -1 if the value is not in a list
	Sparse  bool // Element is the index of a feature of sparse rows
	Key     bool // the column is a partition key, which no file contains
}

// Batch is a sequence of files that another program can read in the same way.
type Batch struct {
	Files   []string
	Format  string      // its usual name: Parquet, Arrow, CSV, …
	Packing string      // gz, zst or bz2; empty for none
	Text    *TextLayout // layout of CSV or NDJSON; nil for other formats
	Hive    bool        // the folders of the paths hold the partition keys, key=value
	Mixed   bool        // columns have different types in different files, or are missing in some
	Values  []Value     // one for each of Located.Columns, in their order
}

// TextLayout is the layout of rows of CSV or NDJSON in a file.
type TextLayout = intake.Layout

// TextStep is a step on the way to a value inside a JSON document: to a member of an object or an element of an array.
type TextStep = intake.Step

// Value describes how to read one column from the files of a Batch.
type Value struct {
	Absent bool         // the files lack the column
	Type   string       // of a parsed text: bool, int8 to int64, uint64, float, double, date, timestamp, instant or string
	Paths  [][]TextStep // possible paths of the value in NDJSON; a row has the value at one of them
	// Folder is the name of a partition key as it is spelled in the folders of the paths. If the folders lack it, the
	// value is the Constant, which is nil for null.
	Folder   string
	Constant *string
}

// LocateColumns implements chunkio.Locate: it finds the columns that [Apply] would write, and returns the same errors.
func LocateColumns(ctx context.Context, inputs []string, opt ApplyOptions) (*Located, error) {
	opt = opt.withDefaults()
	access := opt.newInputAccess()
	defer access.Close()
	p, err := newPlan(ctx, access, inputs, opt)
	if err != nil {
		return nil, err
	}
	list := p.catalog.List
	out := &Located{Files: list.Paths(), Lists: list.Lists, Table: list.Table}
	for _, c := range p.columns {
		at := Place{Name: c.Name, Path: []string{c.Name}, Element: c.Element}
		switch c.Kind {
		case copier.FromLeaf, copier.FromSparse:
			at.Path = p.catalog.Leaves[c.Leaf].ColumnPath()
		case copier.FromPartition:
			at.Key = true
		}
		at.Sparse = c.Kind == copier.FromSparse
		out.Columns = append(out.Columns, at)
	}
	for i := range p.catalog.Files {
		b, err := describeFileBatch(ctx, p, access, i)
		if err != nil {
			return nil, err
		}
		out.addBatch(b)
	}
	return out, nil
}

// addBatch adds the batch of one file, or adds the file to the last batch if both can be read in the same way. Parquet
// is read by the names of columns, so some files of a batch may lack columns.
func (l *Located) addBatch(b Batch) {
	if n := len(l.Batches); n > 0 {
		last := &l.Batches[n-1]
		alike := *last
		alike.Files, alike.Values = b.Files, slices.Clone(last.Values)
		for k := range alike.Values {
			if b.Format == "Parquet" {
				alike.Values[k].Absent = b.Values[k].Absent
			}
		}
		if reflect.DeepEqual(alike, b) {
			last.Files = append(last.Files, b.Files...)
			for k := range last.Values {
				last.Values[k].Absent = last.Values[k].Absent && b.Values[k].Absent
			}
			return
		}
	}
	l.Batches = append(l.Batches, b)
}

func describeFileBatch(ctx context.Context, p *plan, access *opening.Access, fileIndex int) (Batch, error) {
	entry := p.catalog.List.EntryAt(fileIndex)
	path := entry.Path
	b := Batch{Files: []string{path}, Format: "Arrow", Mixed: p.catalog.HasMixedTypes || p.catalog.List.Schema != nil, Values: make([]Value, len(p.columns))}
	rows := access.Texts.Rows[p.catalog.FileName(fileIndex)]
	switch {
	case p.catalog.List.IsStdin():
		b.Format = ipc.StreamName
	case rows != nil:
		b.Format, _, _ = strings.Cut(rows.Table.Format, ",")
		b.Packing, b.Text = rows.Packing, rows.Table.Layout
	case access.Texts.SparseFormat(p.catalog.FileName(fileIndex)) != "":
		b.Format = access.Texts.SparseFormat(p.catalog.FileName(fileIndex))
	case entry.Deleted != nil: // a reader of the file alone would read the deleted rows
		b.Format = "Parquet with deleted rows"
	case entry.Columns != nil && entry.Columns.IsMapped:
		b.Format = "Parquet with column mapping or variants"
	case p.catalog.Files[fileIndex].Parquet:
		b.Format = "Parquet"
	}
	var err error
	if b.Hive, err = foldersHoldKeys(p.catalog, fileIndex); err != nil {
		return b, err
	}
	for k, c := range p.columns {
		switch c.Kind {
		case copier.FromPartition:
			if b.Values[k], err = keyValue(p.catalog, fileIndex, c.Part, b.Hive); err != nil {
				return b, err
			}
			b.Values[k].Type = describePartitionType(p.catalog.Parts[c.Part])
		case copier.FromLeaf, copier.FromSparse:
			b.Values[k].Absent = p.catalog.Files[fileIndex].LeafIndex(c.Leaf) < 0
			if b.Text != nil {
				b.Values[k].Type = typeInferredFromText(rows.Table.Columns, c.Name, p.catalog.Leaves[c.Leaf].Type)
			}
		}
	}
	if b.Text == nil || b.Text.Separator != 0 {
		return b, nil
	}
	in, err := access.OpenEntryBytes(ctx, entry, p.opt.Memory)
	if err != nil {
		return b, err
	}
	defer in.Close()
	text, err := opening.NewDecompressor(in.Name(), opening.NewSequentialReader(in), b.Packing)
	if err != nil {
		return b, err
	}
	defer text.Close()
	return b, findJSONPaths(text, p.columns, b.Values)
}

func findJSONPaths(text io.Reader, columns []copier.Column, values []Value) error {
	names := namesOfColumns(columns)
	found, err := intake.FindPaths(text, names)
	for k, name := range names {
		values[k].Paths = found[name]
	}
	return err
}

// foldersHoldKeys reports whether the folders in the path of file i contain exactly its partition keys, with the same
// values. Keys from the log of a table may have other values.
func foldersHoldKeys(c *catalog.Catalog, i int) (bool, error) {
	path := c.List.EntryAt(i).Path
	keys, values, err := c.List.PartitionValues(i, path)
	if err != nil || c.List.KeyTexts == nil {
		return len(keys) > 0, err
	}
	folders, texts, fault := listing.HiveParts(path) // a fault matters only if keys are read from the path
	same := fault == nil && len(folders) == len(keys) && len(keys) > 0
	for k, key := range keys {
		at := slices.Index(folders, key)
		same = same && at >= 0 && texts[at] == values[k]
	}
	return same, nil
}

// keyValue returns the value of a partition key in file i as another program must read it, from a folder of the path or
// as a constant. The parameter folders is the result of foldersHoldKeys. A key with the text null is always a constant,
// because DuckDB reads the folder key=null as a null.
func keyValue(c *catalog.Catalog, i, part int, folders bool) (Value, error) {
	text, err := c.PartitionText(i, part)
	if err != nil {
		return Value{}, err
	}
	if folders && !strings.EqualFold(text, "null") {
		for folder := range strings.SplitSeq(c.List.EntryAt(i).Path, "/") {
			raw, _, _ := strings.Cut(folder, "=")
			if plain, err := url.PathUnescape(raw); raw == c.Parts[part].Key || err == nil && plain == c.Parts[part].Key {
				return Value{Folder: raw}, nil
			}
		}
	}
	if text == listing.HiveNull {
		return Value{}, nil
	}
	return Value{Constant: &text}, nil
}

func typeInferredFromText(columns []intake.Column, name, commonType string) string {
	at := slices.IndexFunc(columns, func(own intake.Column) bool { return own.Name == name })
	if at < 0 {
		return ""
	}
	typ := map[intake.Kind]string{
		intake.Unknown: "double", intake.Bool: "bool", intake.Count: "int64", intake.Int: "int64", intake.Uint: "uint64", intake.Float: "double",
		intake.Date: "date", intake.Local: "timestamp", intake.UTC: "instant", intake.Text: "string",
	}[columns[at].Kind]
	if typ != "bool" && commonType == "double" { // other files have fractions
		return "double"
	}
	return typ
}
