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

// An object of JSON whose keys are data, as identifiers of users are, has ever new members. As columns they would take
// rows times keys cells, nearly all of them null. It becomes one column instead: a map of texts to numbers. A cell has
// its entries one after the other: the length of the key, the key, a byte that is 1 if there is a number, and that.

// RowsMap is the name of the map that whole rows are: the members of the objects themselves.
const RowsMap = "values"

// members counts the members of one object, or of the rows themselves.
type members struct {
	rows, entries int64 // objects, and their numbers in all
	keys          int   // different ones
	before, after int   // keys when the number of objects was a power of two, and the power before
	last          int64 // row
	others        bool  // some member is no number
}

// add counts a member in a row.
func (m *members) add(row int64, isNew, isNumber bool) {
	if m.last != row {
		m.last = row
		if m.rows++; m.rows&(m.rows-1) == 0 {
			m.before, m.after = m.after, m.keys
		}
	}
	m.entries++
	m.others = m.others || !isNumber
	if isNew {
		m.keys++
	}
}

// areData reports whether the keys are data: an object has few of them, and either new ones keep coming, or there are so
// many that columns would be next to empty. Below a thousand keys, columns cost little.
func (m *members) areData() bool {
	const (
		fewestKeys, fewestRows = 1000, 16
		manyKeys               = 4096
		share, smallShare      = 8, 64 // of the keys that a row has, one in so many
	)
	cells := int64(m.keys) * m.rows
	switch {
	case m.others || m.keys < fewestKeys || m.rows < fewestRows || m.entries*share > cells:
		return false
	case m.keys >= manyKeys && m.entries*smallShare <= cells:
		return true
	}
	return 5*m.keys >= 6*m.before // while the objects were doubled or more
}

// objectOf is the name of the object that a member is in, empty for rows; ok is false if it is in an array.
func objectOf(name []byte, within int) (object []byte, ok bool) {
	return name[:within], within == 0 || name[within] == '.'
}

// keyOf is the key of a member.
func keyOf(name []byte, within int) []byte {
	if within > 0 {
		within++ // the dot
	}
	return name[within:]
}

// mapOf is the name of the map that an object becomes.
func mapOf(object string) string {
	if object == "" {
		return RowsMap
	}
	return object
}

// withMaps puts a map in place of the columns of each object whose keys are data, or that mapped names, if it holds
// numbers alone.
func (o *observed) withMaps(mapped func(object string) bool) []Column {
	data := map[string]bool{}
	for object, m := range o.objects {
		if m.areData() || !m.others && mapped != nil && mapped(mapOf(object)) {
			data[object] = true
		}
	}
	if len(data) == 0 {
		return o.columns
	}
	for _, at := range o.places {
		object := at.object // of an object with objects and arrays as members, these would be lost
		for outer := range data {
			if object != outer && (outer == "" || strings.HasPrefix(object, outer) && (object[len(outer)] == '.' || object[len(outer)] == '[')) {
				delete(data, outer)
			}
		}
	}
	made := map[string]bool{}
	kept := make([]Column, 0, len(o.columns))
	for j, c := range o.columns {
		object := o.places[j].object
		switch {
		case c.Kind == Unknown && data[c.Name]: // rows where the object is null
		case c.Kind == Map || !data[object] || !o.places[j].isMember:
			kept = append(kept, c)
		case !made[object]:
			made[object] = true
			kept = append(kept, Column{Name: mapOf(object), Kind: Map, object: object})
		}
	}
	return kept
}

// HasColumnsOf reports whether the members of an object are columns, where it could be a map.
func (t *Table) HasColumnsOf(object string) bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool {
		return c.Kind != Map && (object == RowsMap || strings.HasPrefix(c.Name, object+"."))
	}) && !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Kind == Map && c.Name == object })
}

// mapsOf are the places of maps by the names of their objects.
func mapsOf(columns []Column) map[string]int {
	maps := map[string]int{}
	for j, c := range columns {
		if c.Kind == Map {
			maps[c.object] = j
		}
	}
	return maps
}

// addEntry adds an entry to the map at a place, which began in this row if it is not there yet.
func (b *batch) addEntry(at int, key []byte, value float64, null bool) error {
	if !b.there[at] {
		b.cells[at], b.there[at] = cell(len(b.text))<<32, true
	}
	start, n := b.cells[at]>>32, b.cells[at]&0xFFFFFFFF
	if start+n != cell(len(b.text)) {
		return errors.New("the object is there twice")
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

// mapNode is a map in the scratch file.
func mapNode(name string) schema.Node {
	key := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("key", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
	return schema.MustGroup(schema.MapOf(name, key, writer.NumberOf("double").Node("value", false), parquet.Repetitions.Required, -1))
}

// entriesAtOnce is how many entries of maps make a page.
const entriesAtOnce = 32 << 10

// putMap writes the keys of maps, or their values. A row without the map has an empty one.
func putMap(c *writer.Chunk, cells []cell, there []bool, arena []byte, values bool) error {
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
		if !there[i] {
			def, rep = append(def, empty), append(rep, 0)
			continue
		}
		for left, r := textAt(arena, x), int16(0); len(left) > 0; r = 1 {
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

// mapDoubts are the objects that were taken for maps, though none that mapped names: these are asked for, or told of by
// another file.
func mapDoubts(columns []Column, mapped func(object string) bool) (doubts []stream.Text) {
	for _, c := range columns {
		if c.Kind == Map && (mapped == nil || !mapped(c.Name)) {
			what := "the object " + c.Name + " is"
			if c.object == "" {
				what = "the rows are"
			}
			doubts = append(doubts, stream.Textf("%s read as a map of keys to numbers, as new keys keep coming: {sparse} %s chooses among them", what, c.Name))
		}
	}
	return doubts
}

// OnlyMap is the map that the rows at the beginning of a file of NDJSON have, if that is all there is to choose from.
func OnlyMap(in Input) (name string) {
	opt := Options{Memory: 1 << 30}
	err := withRows(in, opt, func(r rows, _ hash.Hash64) error {
		name = onlyMap(r.about().Columns)
		return nil
	})
	if err != nil {
		return "" // whoever reads the file fails with the reason
	}
	return name
}

// onlyMap is the map that is all there is to choose from: all columns but it are text, times or null. It is empty if
// there is no such map.
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
