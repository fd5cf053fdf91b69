package intake

import (
	"encoding/binary"
	"errors"
	"hash"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The keys of a JSON object may be data, such as user identifiers, so that new keys keep occurring. With one column for
// each key, the table would have rows times keys cells, nearly all of them null. Such an object becomes one column
// instead: a map of texts to numbers. A cell contains its entries one after the other: the length of the key, the key,
// a byte that is 1 if there is a number, and the number.

// RowsMap is the name of the map column for rows whose members have become the entries of one map.
const RowsMap = "values"

// memberCounts contains counts about the members of one object, over all rows in which it occurs. The rows themselves
// are such an object too.
type memberCounts struct {
	rows, memberTotal                   int64 // number of objects, and total number of their members
	keys                                int   // number of different keys
	keysTwoDoublingsAgo, keysAtDoubling int   // number of keys when the number of objects reached its last two powers of two
	lastRow                             int64 // row of the last member
	hasNonNumbers                       bool  // the value of some member is not a number
}

func (m *memberCounts) addMember(row int64, isNewKey, isNumber bool) {
	if m.lastRow != row {
		m.lastRow = row
		if m.rows++; m.rows&(m.rows-1) == 0 {
			m.keysTwoDoublingsAgo, m.keysAtDoubling = m.keysAtDoubling, m.keys
		}
	}
	m.memberTotal++
	m.hasNonNumbers = m.hasNonNumbers || !isNumber
	if isNewKey {
		m.keys++
	}
}

// keysAreData reports whether the keys of an object are data, so that the object becomes a map. All values must be
// numbers, and an object must contain, on average, only a small share of all keys. In addition, either new keys keep
// occurring, or the table with one column for each key would be almost empty. Fewer than a thousand keys are columns,
// because these cost little.
func (m *memberCounts) keysAreData() bool {
	const (
		fewestKeys, fewestRows = 1000, 16
		manyKeys               = 4096
		share, smallShare      = 8, 64 // an object contains on average at most 1/share (1/smallShare) of all keys
	)
	cells := int64(m.keys) * m.rows
	switch {
	case m.hasNonNumbers || m.keys < fewestKeys || m.rows < fewestRows || m.memberTotal*share > cells:
		return false
	case m.keys >= manyKeys && m.memberTotal*smallShare <= cells:
		return true
	}
	return 5*m.keys >= 6*m.keysTwoDoublingsAgo // since then, the number of objects has at least doubled
}

// objectName returns the name of the object that contains the member with the given name. The object's name consists of
// the first bytes of this name, whose number is within. It is empty for a member of a row. ok is false for an element
// of an array.
func objectName(name []byte, within int) (object []byte, ok bool) {
	return name[:within], within == 0 || name[within] == '.'
}

func memberKeyInObject(name []byte, objectNameBytes int) []byte {
	if objectNameBytes > 0 {
		objectNameBytes++ // skip the dot
	}
	return name[objectNameBytes:]
}

func mapColumnName(object string) string {
	if object == "" {
		return RowsMap
	}
	return object
}

// withMaps replaces the columns of an object by one map if its keys are data, or if the function mapped returns true
// for the object and all its values are numbers.
func (o *columnObserver) withMaps(mapped func(object string) bool) []Column {
	data := map[string]bool{}
	for object, m := range o.objects {
		if m.keysAreData() || !m.hasNonNumbers && mapped != nil && mapped(mapColumnName(object)) {
			data[object] = true
		}
	}
	if len(data) == 0 {
		return o.columns
	}
	for _, at := range o.places {
		object := at.object // as a map, an object that contains objects or arrays would lose their values
		for outer := range data {
			if object != outer && (outer == "" || strings.HasPrefix(object, outer) && (object[len(outer)] == '.' || object[len(outer)] == '[')) {
				delete(data, outer)
			}
		}
	}
	added := map[string]bool{}
	columns := make([]Column, 0, len(o.columns))
	for j, c := range o.columns {
		object := o.places[j].object
		switch {
		case c.Kind == Unknown && data[c.Name]: // drop the column of the rows in which the object is null
		case c.Kind == Map || !data[object] || !o.places[j].isMember:
			columns = append(columns, c)
		case !added[object]:
			added[object] = true
			columns = append(columns, Column{Name: mapColumnName(object), Kind: Map, object: object})
		}
	}
	return columns
}

// HasColumnsOf reports whether the members of an object have become columns and the object is not a map.
func (t *Table) HasColumnsOf(object string) bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool {
		return c.Kind != Map && (object == RowsMap || strings.HasPrefix(c.Name, object+"."))
	}) && !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Kind == Map && c.Name == object })
}

func mapColumnIndicesByObject(columns []Column) map[string]int {
	maps := map[string]int{}
	for j, c := range columns {
		if c.Kind == Map {
			maps[c.object] = j
		}
	}
	return maps
}

// addEntry adds an entry to the map in cell `at`, and begins the map if the cell has none yet.
func (b *batch) addEntry(at int, key []byte, value float64, null bool) error {
	if !b.present[at] {
		b.cells[at], b.present[at] = cell(len(b.text))<<32, true
	}
	start, n := b.cells[at]>>32, b.cells[at]&0xFFFFFFFF
	if start+n != cell(len(b.text)) {
		return errors.New("the object occurs twice")
	}
	b.text = append(binary.AppendUvarint(b.text, uint64(len(key))), key...)
	if null {
		b.text = append(b.text, 0)
	} else {
		b.text = binary.LittleEndian.AppendUint64(append(b.text, 1), math.Float64bits(value))
	}
	b.cells[at] = start<<32 | cell(len(b.text)) - start
	return nil
}

func mapSchemaNode(name string) schema.Node {
	key := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("key", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
	return schema.MustGroup(schema.MapOf(name, key, writer.NumberOf("double").Node("value", false), parquet.Repetitions.Required, -1))
}

// entriesAtOnce is the number of map entries that are written as one page of Parquet.
const entriesAtOnce = 32 << 10

// putMap writes the keys of maps, or their values if values is set. A row without a map is written as an empty map.
func putMap(c *writer.Chunk, cells []cell, present []bool, arena []byte, values bool) error {
	const empty, entry, number = 0, 1, 2 // definition levels
	var def, rep []int16
	var plain []byte
	flush := func() error {
		err := c.PutPage(plain, def, rep)
		def, rep, plain = def[:0], rep[:0], plain[:0]
		return err
	}
	for i, x := range cells {
		if len(def) >= entriesAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
		if !present[i] {
			def, rep = append(def, empty), append(rep, 0)
			continue
		}
		for left, r := textOfCell(arena, x), int16(0); len(left) > 0; r = 1 {
			n, used := binary.Uvarint(left)
			key := left[used:][:n]
			isNumber := left[used+int(n)] == 1
			left = left[used+int(n)+1:]
			level := int16(entry)
			switch {
			case !values:
				plain = append(binary.LittleEndian.AppendUint32(plain, uint32(n)), key...)
			case isNumber:
				level, plain = number, append(plain, left[:8]...)
			}
			if isNumber {
				left = left[8:]
			}
			def, rep = append(def, level), append(rep, r)
		}
	}
	return flush()
}

// mapDoubts returns warnings about objects that were guessed to be maps: they were neither requested as maps nor found
// as maps in another file.
func mapDoubts(columns []Column, mapped func(object string) bool) (doubts []stream.Text) {
	for _, c := range columns {
		if c.Kind == Map && (mapped == nil || !mapped(c.Name)) {
			subject := "the object " + c.Name + " is"
			if c.object == "" {
				subject = "the rows are"
			}
			doubts = append(doubts, stream.Textf("%s read as a map of keys to numbers, as new keys keep coming: {sparse} %s chooses among them", subject, c.Name))
		}
	}
	return doubts
}

// OnlyMap reads the first rows of an NDJSON file and returns the name of its only map, if all other columns are
// unusable as features.
func OnlyMap(in Input) (name string) {
	opt := Options{Memory: 1 << 30}
	err := readInputWithReader(in, opt, func(r rowReader, _ hash.Hash64) error {
		name = onlyMap(r.describeTable().Columns)
		return nil
	})
	if err != nil {
		return "" // a later read of the file reports the error
	}
	return name
}

// onlyMap returns the name of the only map if all other columns are text, times or null. Otherwise it returns "".
func onlyMap(columns []Column) (name string) {
	for _, c := range columns {
		switch {
		case c.Kind == Map && name == "":
			name = c.Name
		case c.Kind == Map, !slices.Contains([]Kind{Text, Unknown, Date, Local, UTC}, c.Kind):
			return ""
		}
	}
	return name
}
