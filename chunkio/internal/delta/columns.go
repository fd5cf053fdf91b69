package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet/schema"

	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// Numbers of the columns of a checkpoint that are read. The groups inside lists and maps may have any name. A column in
// a list or map is therefore found by the beginning of its path, and in a map also by the end of its path.
const (
	addPath = iota
	addSize
	addStats
	addRows // number of rows, if statistics are stored as columns
	addKeys
	addValues
	vectorType
	vectorPlace
	vectorOffset
	vectorSize
	vectorRows
	metaPartitions
	metaSchema
	metaProvider
	metaID
	metaKeys
	metaValues
	protocolVersion
	protocolFeatures
	sidecarPath
	sidecarSize
	checkpointVersion
	columnCount
)

// columnNames returns one or two texts for each column. One text is the whole path of the column. If it ends with a
// dot, it is the path of a list or map that contains the column. For a map, the second text is the end of the column's
// path, which shows whether it has the keys or the values.
func columnNames() [columnCount][2]string {
	return [columnCount][2]string{
		addPath: {"add.path"}, addSize: {"add.size"}, addStats: {"add.stats"}, addRows: {"add.stats_parsed.numRecords"},
		addKeys: {"add.partitionValues.", ".key"}, addValues: {"add.partitionValues.", ".value"},
		vectorType: {"add.deletionVector.storageType"}, vectorPlace: {"add.deletionVector.pathOrInlineDv"}, vectorOffset: {"add.deletionVector.offset"},
		vectorSize: {"add.deletionVector.sizeInBytes"}, vectorRows: {"add.deletionVector.cardinality"},
		metaPartitions: {"metaData.partitionColumns."}, metaSchema: {"metaData.schemaString"}, metaProvider: {"metaData.format.provider"}, metaID: {"metaData.id"},
		metaKeys: {"metaData.configuration.", ".key"}, metaValues: {"metaData.configuration.", ".value"},
		protocolVersion: {"protocol.minReaderVersion"}, protocolFeatures: {"protocol.readerFeatures."},
		sidecarPath: {"sidecar.path"}, sidecarSize: {"sidecar.sizeInBytes"}, checkpointVersion: {"checkpointMetadata.version"},
	}
}

// findColumns returns the index of each column among the physical columns of a checkpoint, or -1 for an absent column.
// It finds the columns of added files only if files is set.
func findColumns(s *schema.Schema, files bool) (at [columnCount]int, err error) {
	for c, name := range columnNames() {
		at[c] = -1
		wantsFiles := c <= vectorRows || c == sidecarPath || c == sidecarSize
		if wantsFiles && !files {
			continue
		}
		for i := range s.NumColumns() {
			path := s.Column(i).Path()
			begins := strings.HasPrefix(path+".", strings.TrimSuffix(name[0], ".")+".")
			if !begins || !strings.HasSuffix(path, name[1]) || !strings.HasSuffix(name[0], ".") && path != name[0] {
				continue
			}
			if at[c] >= 0 {
				return at, fmt.Errorf("has more than one column %s", path)
			}
			at[c] = i
		}
	}
	for i := range s.NumColumns() {
		group, _, _ := strings.Cut(s.Column(i).Path(), ".")
		need := map[string][]int{"add": {addPath, addSize}, "metaData": {metaPartitions, metaSchema}, "protocol": {protocolVersion}, "sidecar": {sidecarPath}}[group]
		for _, c := range need {
			if at[c] < 0 && (files || group == "metaData" || group == "protocol") {
				return at, fmt.Errorf("has no column %s", columnNames()[c][0])
			}
		}
	}
	return at, checkShapes(s, at)
}

// checkShapes verifies that exactly the expected columns of a checkpoint are lists, that exactly the expected columns
// are texts, and that maps have both keys and values.
func checkShapes(s *schema.Schema, at [columnCount]int) error {
	repeated := []int{addKeys, addValues, metaPartitions, metaKeys, metaValues, protocolFeatures}
	for c, i := range at {
		if i < 0 {
			continue
		}
		if d := s.Column(i); (d.MaxRepetitionLevel() > 0) != slices.Contains(repeated, c) {
			return fmt.Errorf("column %s differs from checkpoints in whether it is a list", d.Path())
		}
		text := !slices.Contains([]int{addSize, addRows, vectorOffset, vectorSize, vectorRows, protocolVersion, sidecarSize, checkpointVersion}, c)
		if isText := s.Column(i).PhysicalType().String() == "BYTE_ARRAY"; isText != text {
			return fmt.Errorf("column %s holds %v, other than in checkpoints", s.Column(i).Path(), s.Column(i).PhysicalType())
		}
	}
	for _, pair := range [][2]int{{addKeys, addValues}, {metaKeys, metaValues}} {
		if (at[pair[0]] < 0) != (at[pair[1]] < 0) {
			return fmt.Errorf("has keys without values in a map of %s", columnNames()[pair[0]][0])
		}
	}
	return nil
}

// rowReader reads the rows of one row group of a checkpoint.
type rowReader struct {
	cursors [columnCount]*columnCursor // nil if the file does not have the column
	cells   [columnCount][]cell        // cells of the current row
}

// openRows opens the columns of row group g. The caller must call closeCursors.
func openRows(f *pq.File, g int, at [columnCount]int) (*rowReader, error) {
	r := new(rowReader)
	for c, i := range at {
		if i < 0 {
			continue
		}
		var err error
		if r.cursors[c], err = openCursor(f, g, i); err != nil {
			r.closeCursors()
			return nil, err
		}
	}
	return r, nil
}

func (r *rowReader) closeCursors() {
	for _, c := range r.cursors {
		if c != nil {
			c.done()
		}
	}
}

func (r *rowReader) nextRow() (err error) {
	for c, cursor := range r.cursors {
		if cursor == nil {
			continue
		}
		if r.cells[c], err = cursor.nextRow(r.cells[c]); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowReader) rowHasActionOfColumn(columnNumber int) bool {
	return r.cursors[columnNumber] != nil && r.cells[columnNumber][0].def >= r.cursors[columnNumber].levels.group
}

// scalarCell returns the cell of the column with number c in the current row. ok is false if the value is null or the
// column is absent.
func (r *rowReader) scalarCell(c int) (v cell, ok bool) {
	if r.cursors[c] == nil {
		return v, false
	}
	v = r.cells[c][0]
	return v, v.def == r.cursors[c].levels.max
}

// listTexts returns the elements of list column number c in the current row. It fails if one is null.
func (r *rowReader) listTexts(c int) (elements []string, err error) {
	if r.cursors[c] == nil {
		return nil, nil
	}
	for _, v := range r.cells[c] {
		switch l := r.cursors[c].levels; {
		case v.def == l.max:
			elements = append(elements, string(v.text))
		case v.def >= l.element:
			return nil, fmt.Errorf("column %s has a null in a list", r.cursors[c].path)
		}
	}
	return elements, nil
}

// mapPairs appends the entries of a map to the slice into. The map consists of the columns keys and values, of equal
// length.
func (r *rowReader) mapPairs(keys, values int, into []partitionValue) ([]partitionValue, error) {
	into = into[:0]
	if r.cursors[keys] == nil {
		return into, nil
	}
	k, v := r.cursors[keys], r.cursors[values]
	if len(r.cells[keys]) != len(r.cells[values]) {
		return nil, fmt.Errorf("columns %s and %s have maps of %d and %d entries in one row", k.path, v.path, len(r.cells[keys]), len(r.cells[values]))
	}
	for i, key := range r.cells[keys] {
		value := r.cells[values][i]
		if (key.def >= k.levels.element) != (value.def >= v.levels.element) {
			return nil, fmt.Errorf("columns %s and %s differ in whether a map is present", k.path, v.path)
		}
		if key.def < k.levels.element { // the map is null or empty
			continue
		}
		if key.def < k.levels.max {
			return nil, fmt.Errorf("column %s has a null key", k.path)
		}
		p := partitionValue{name: string(key.text)}
		if value.def == v.levels.max {
			text := string(value.text)
			p.value = &text
		}
		into = append(into, p)
	}
	return into, nil
}
