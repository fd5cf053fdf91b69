package deltatwin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Table is a version of a Delta table in memory: the values of its rows, column by column.
type Table struct {
	Version    int64
	Rows       int
	Columns    []Column // in the order of the schema
	Partitions []string // names of the columns by which the table is partitioned
	Vectors    int      // live files that have a deletion vector
	Files      []File
}

// File is a live data file, for those who read it by other means.
type File struct {
	Path    string
	Deleted []int64
	Names   []string // of the columns of the table in this file; empty if the file lacks the column
}

// Column is a column of a table. A value is nil, bool, int64, float64, string, []byte, a Day, a Moment, a Decimal,
// a List or a Struct; see Text.
type Column struct {
	Name   string
	Type   any // of the schema: a name, or an object with the type of a struct, array or map
	Values []any
	// Stated has the texts of a partition column as the log states them. It is nil for other columns.
	Stated []any
}

// ReadTable reads the newest version of the table in a folder.
func ReadTable(dir string) (*Table, error) {
	s, err := replayLog(dir)
	if err != nil {
		return nil, err
	}
	var schema struct{ Fields []schemaField }
	// Some tables in tests of logs have no schema.
	if err := json.Unmarshal([]byte(s.meta.SchemaString), &schema); err != nil && s.meta.SchemaString != "" {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	t := &Table{Version: s.version, Partitions: s.meta.PartitionColumns}
	for _, f := range schema.Fields {
		t.Columns = append(t.Columns, Column{Name: f.Name, Type: f.Type})
	}
	mapped := s.protocol.MinReaderVersion == 2 || slices.Contains(s.protocol.ReaderFeatures, "columnMapping")
	mode := s.meta.Configuration["delta.columnMapping.mode"]
	if !mapped || mode == "" {
		mode = "none"
	}
	for _, key := range slices.Sorted(maps.Keys(s.files)) {
		if err := t.addFile(dir, s.files[key], schema.Fields, mode); err != nil {
			return nil, fmt.Errorf("%s: %w", s.files[key].Path, err)
		}
	}
	return t, nil
}

func (t *Table) addFile(dir string, file addAction, fields []schemaField, mode string) error {
	path, err := locateFile(dir, file.Path)
	if err != nil {
		return err
	}
	f, err := openParquet(path)
	if err != nil {
		return err
	}
	deleted := map[int64]bool{}
	if file.DeletionVector != nil {
		t.Vectors++
		if deleted, err = readVector(dir, file.DeletionVector); err != nil {
			return fmt.Errorf("the deletion vector: %w", err)
		}
	}
	for row := range deleted {
		if row >= f.rows {
			return fmt.Errorf("the deletion vector has row %d of %d", row, f.rows)
		}
	}
	t.Rows += int(f.rows) - len(deleted)
	t.Files = append(t.Files, File{Path: path, Deleted: slices.Sorted(maps.Keys(deleted)), Names: make([]string, len(fields))})
	names := t.Files[len(t.Files)-1].Names
	for i, field := range fields {
		c := &t.Columns[i]
		var values []any
		if column := f.findColumn(field, mode); column != nil {
			names[i] = column.node.Name()
		}
		if slices.Contains(t.Partitions, field.Name) {
			var stated any
			if text := file.PartitionValues[field.physicalName(mode)]; text != nil {
				stated = *text
			}
			value, err := parsePartition(stated, field.Type)
			if err != nil {
				return fmt.Errorf("partition column %q: %w", field.Name, err)
			}
			values = slices.Repeat([]any{value}, int(f.rows))
			c.Stated = append(c.Stated, slices.Repeat([]any{stated}, int(f.rows)-len(deleted))...)
		} else if values, err = f.readColumn(field, mode, false); err != nil {
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
		for row, v := range values {
			if !deleted[int64(row)] {
				c.Values = append(c.Values, v)
			}
		}
	}
	return nil
}

func locateFile(dir, uri string) (string, error) {
	scheme, rest, hasScheme := strings.Cut(uri, ":")
	absolute := hasScheme && scheme == "file"
	if absolute {
		if after, ok := strings.CutPrefix(rest, "//"); ok { // file://HOST/PATH, whose host is empty
			rest = "/" + strings.TrimLeft(after, "/")
		}
		uri = rest
	}
	path, err := url.PathUnescape(uri)
	if err != nil {
		return "", err
	}
	if absolute || strings.HasPrefix(path, "/") {
		return path, nil
	}
	return filepath.Join(dir, path), nil
}
