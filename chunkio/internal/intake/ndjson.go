package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ndjsonReader reads one object per line. The members of the object are the columns. The members of an inner object a
// have names such as a.b, and the elements of an array a are named a[0], a[1], …. A missing member is null.
type ndjsonReader struct {
	cutter
	layout     *Layout
	columns    []Column
	nulls      nullSpellings
	sampleRows int64

	once    sync.Once
	index   map[string]int  // by name: index of a column that is written
	parents map[string]bool // names of the objects and arrays that contain these columns
	maps    map[string]int  // by object: index of its map column
}

// maxColumns limits the number of columns. An object with more keys should be written with its keys as values.
const maxColumns = 1 << 20

func newNDJSONReader(c cutter, opt Options) (*ndjsonReader, error) {
	r := &ndjsonReader{cutter: c, nulls: newNullSpellings(opt.Nulls), layout: opt.newLayout(false)}
	first, err := r.peekSample(sampleBytes)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(first.data, byteOrderMark) {
		r.buf = r.buf[:copy(r.buf, r.buf[len(byteOrderMark):])]
		first.data = first.data[:len(first.data)-len(byteOrderMark)]
	}
	o := newObserver(nil)
	if err := r.observePiece(first, o); err != nil {
		return nil, err
	}
	r.columns, r.sampleRows = withoutParents(o.withMaps(opt.Mapped)), o.rows
	r.maxRows = max(r.maxCells()/max(len(r.columns), 1), 1)
	return r, nil
}

// memberFunc is called with every value of an object. name is the name of its column; its first bytes, their number
// being enclosing, denote the enclosing object or array. If quoted is set, value is the unquoted text of a string.
// Otherwise it is JSON.
type memberFunc func(name []byte, enclosing int, value []byte, quoted bool) error

func (r *ndjsonReader) eachObject(p piece, row func(line int64) error, f memberFunc) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(p.data), jsontext.AllowDuplicateNames(true))
	line, counted := p.line, int64(0)
	var name []byte
	for {
		kind := d.PeekKind()
		at := d.InputOffset()
		line += int64(bytes.Count(p.data[counted:at], []byte{'\n'}))
		counted = at
		if kind == 0 {
			_, err := d.ReadToken()
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return r.errAtLine(p, line, d, err)
		}
		// The decoder has not yet skipped the blanks before the value.
		blank := p.data[at:][:len(p.data[at:])-len(bytes.TrimLeft(p.data[at:], " \t\r\n"))]
		line += int64(bytes.Count(blank, []byte{'\n'}))
		counted += int64(len(blank))
		if kind != '{' {
			e := stream.Dataf(r.name, "line %d: no object: NDJSON has one {…} a line", line)
			if kind == '[' {
				e.Remedy = stream.PlainText("write an array's objects one a line first, as jq does")
			}
			return e
		}
		if err := row(line); err != nil {
			return r.errAtLine(p, line, d, err)
		}
		var inner *misfit
		if err := walkMembers(d, name[:0], f); errors.As(err, &inner) {
			inner.line = line
			return inner
		} else if err != nil {
			return r.errAtLine(p, line, d, err)
		}
	}
}

func (r *ndjsonReader) errAtLine(p piece, line int64, d *jsontext.Decoder, err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		line = p.line + int64(bytes.Count(p.data[:min(e.ByteOffset, int64(len(p.data)))], []byte{'\n'}))
		if err = e.Err; errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the object does not end")
		}
		err = stream.PlainJSON(err)
	}
	e := stream.Dataf(r.name, "line %d: %w", line, err)
	e.Remedy = stream.PlainText("NDJSON has one object a line; jq writes other JSON so")
	return e
}

func walkMembers(d *jsontext.Decoder, name []byte, visit memberFunc) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	array := token.Kind() == '['
	enclosing := len(name)
	for i := 0; ; i++ {
		if k := d.PeekKind(); k == '}' || k == ']' {
			_, err := d.ReadToken()
			return err
		}
		name = name[:enclosing]
		if array {
			name = append(strconv.AppendInt(append(name, '['), int64(i), 10), ']')
		} else {
			if enclosing > 0 {
				name = append(name, '.')
			}
			key, err := d.ReadValue()
			if err != nil {
				return err
			}
			if name, err = appendUnquoted(name, key); err != nil {
				return err
			}
		}
		switch d.PeekKind() {
		case '{', '[':
			if err := walkMembers(d, name, visit); err != nil {
				return err
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		quoted := value.Kind() == '"'
		if quoted {
			if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
				value = inner
			} else if value, err = appendUnquoted(nil, value); err != nil {
				return err
			}
		}
		if err := visit(name, enclosing, value, quoted); err != nil {
			return err
		}
	}
}

func appendUnquoted(to []byte, quoted jsontext.Value) ([]byte, error) {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return append(to, inner...), nil
	}
	return jsontext.AppendUnquote(to, quoted)
}

// kindOfJSON returns the kind of a value: a string may be a date or a time, but never a number.
func kindOfJSON(value []byte, quoted bool) Kind {
	switch {
	case quoted:
		return kindOfTime(string(value))
	case string(value) == "null":
		return Unknown
	case value[0] == 't' || value[0] == 'f':
		return Bool
	}
	if k := kindOfWhole(string(value)); k != Unknown {
		return k
	}
	if _, ok := parseFloat(string(value)); ok {
		return Float
	}
	return Text // outside the range of float64
}

// isMissing reports whether the user gave spellings of missing values and the value is one of them. Without such
// spellings only JSON's null is missing.
func (r *ndjsonReader) isMissing(value []byte) bool {
	return r.nulls.replacesUsual && len(value) > 0 && r.nulls.isNull(string(value))
}

func (r *ndjsonReader) observePiece(p piece, o *columnObserver) error {
	at := int64(0)
	return r.eachObject(p, func(line int64) error {
		o.rows++
		at = line
		return nil
	}, func(name []byte, enclosing int, value []byte, quoted bool) error {
		object, isMember := objectName(name, enclosing)
		kind := Unknown
		if !r.isMissing(value) {
			kind = kindOfJSON(value, quoted)
		}
		isNumber := kind == Unknown || kind.isWhole() || kind == Float
		if j, ok := o.maps[string(object)]; ok && isMember {
			if !isNumber {
				return &misfit{column: o.columns[j].Name, kind: Map, value: string(value)}
			}
			return nil
		}
		if _, ok := o.index[string(name)]; !ok {
			if o.nameBytes += len(name); len(o.columns) == maxColumns || o.nameBytes > r.maxNames() {
				return fmt.Errorf("more than %d different members, or %d MiB of their names: are keys among them that should be values?", maxColumns, r.maxNames()>>20)
			}
		}
		j := o.findOrAddColumn(name)
		c, place := &o.columns[j], &o.places[j]
		if isMember {
			m := o.objects[string(object)]
			if m == nil {
				m = new(memberCounts)
				o.objects[string(object)] = m
			}
			m.addMember(o.rows, !place.seen, isNumber)
		}
		if !place.seen {
			place.seen, place.object, place.isMember = true, string(object), isMember
		}
		if c.Kind != Text {
			c.addValue(kind, string(value), at)
		}
		return nil
	})
}

// withoutParents drops columns whose values are objects or arrays in some rows and null in all other rows. The members
// and elements of these values have their own columns.
func withoutParents(columns []Column) []Column {
	parents := map[string]bool{}
	for _, c := range columns {
		if c.Kind == Unknown {
			parents[c.Name] = false
		}
	}
	if len(parents) == 0 {
		return columns
	}
	for _, c := range columns {
		markParents(c.Name, func(parent string) {
			if _, null := parents[parent]; null {
				parents[parent] = true
			}
		})
	}
	return slices.DeleteFunc(columns, func(c Column) bool { return c.Kind == Unknown && parents[c.Name] })
}

// markParents calls mark with the names of the objects and arrays that may contain the value with this name.
func markParents(name string, mark func(parent string)) {
	for i := 1; i < len(name); i++ {
		if name[i] == '.' || name[i] == '[' {
			mark(name[:i])
		}
	}
}

func (r *ndjsonReader) parsePiece(p piece, columns []Column, b *batch) error {
	b.resetToSize(len(columns), bytes.Count(p.data, []byte{'\n'})+1)
	r.once.Do(func() { // once per output file
		r.index, r.parents, r.maps = newObserver(columns).index, map[string]bool{}, mapColumnIndicesByObject(columns)
		for _, c := range columns {
			markParents(c.Name, func(parent string) { r.parents[parent] = true })
		}
	})
	index := r.index
	last := make([]int, len(columns)) // row in which the member last occurred, counted from 1
	next := 0                         // the most probable column of the next member
	started := 0
	err := r.eachObject(p, func(int64) error {
		if started++; started > b.stride {
			return errors.New("two objects on one line")
		}
		next = 0
		return nil
	}, func(name []byte, enclosing int, value []byte, quoted bool) error {
		if object, ok := objectName(name, enclosing); ok && len(r.maps) > 0 {
			if j, ok := r.maps[string(object)]; ok {
				return addNumber(b, &columns[j], j*b.stride+started-1, memberKeyInObject(name, enclosing), value, quoted)
			}
		}
		j := next
		if j >= len(columns) || columns[j].Name != string(name) {
			var ok bool
			if j, ok = index[string(name)]; !ok {
				if !quoted && string(value) == "null" && r.parents[string(name)] {
					return nil
				}
				return &misfit{column: string(name), noSuchColumn: true}
			}
		}
		next = j + 1
		if last[j] == started {
			return fmt.Errorf("the member %q occurs twice", name)
		}
		last[j] = started
		c, at := &columns[j], j*b.stride+started-1
		isNull := !quoted && string(value) == "null" || r.isMissing(value)
		switch {
		case isNull:
		case c.Kind == Map:
			return &misfit{column: c.Name, kind: c.Kind, value: string(value)}
		case !quoted && c.changesKind(string(value)):
			return &misfit{column: c.Name, kind: c.Kind, value: string(value), losesSpelling: true}
		case c.Kind == Text:
			b.setText(at, string(value))
		default:
			v, ok := parseField(c.Kind, string(value))
			isMissing := !ok && c.typeRequested && r.nulls.isNull(string(value))
			if times := c.Kind >= Date; !ok && !isMissing || !c.typeRequested && quoted != times {
				return &misfit{column: c.Name, kind: c.Kind, value: string(value), typeRequested: c.typeRequested}
			}
			b.cells[at], b.present[at] = v, ok
		}
		return nil
	})
	b.rows = started
	return err
}

func addNumber(b *batch, c *Column, cellIndex int, key, value []byte, isQuoted bool) error {
	if !isQuoted && string(value) == "null" {
		return b.addEntry(cellIndex, key, 0, true)
	}
	x, ok := parseFloat(string(value))
	if isQuoted || !ok {
		return &misfit{column: c.Name, kind: Map, value: string(value)}
	}
	return b.addEntry(cellIndex, key, x, false)
}

func (r *ndjsonReader) describeTable() Table {
	return Table{Format: "NDJSON", Columns: r.columns, Sample: r.sampleRows, Layout: r.layout}
}
