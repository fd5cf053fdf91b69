package namelist

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ufs-stream/ufs-stream/stream"
)

// document walks through a JSON document without building its values.
type document struct {
	*jsontext.Decoder
	text     []byte
	line, at int // the line of offset at
}

// skipped is a JSON value that is checked, but not kept.
type skipped struct{}

func (skipped) UnmarshalJSON([]byte) error { return nil }

// readJSON reads an array of names, or the array "selected" of an object. An element is a name, or an object with a
// name and possibly a rank. The ranks order the list if each element has one.
func (l *List) readJSON(ctx context.Context, path string, text []byte) error {
	if err := json.Unmarshal(text, &skipped{}); err != nil { // for its clear errors
		return stream.PlainJSON(err)
	}
	d := &document{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)), text: text, line: 1}
	if d.PeekKind() == '[' {
		return l.readElements(ctx, path, d)
	}
	found := false
	err := d.eachMember(func(key string) error {
		if !strings.EqualFold(key, "selected") {
			return d.SkipValue()
		}
		if found || d.PeekKind() != '[' {
			return errLine(path, d.currentLine(), `"selected" has to be one list of names`)
		}
		found = true
		return l.readElements(ctx, path, d)
	})
	if err == nil && !found {
		return stream.Errorf(`it has no list "selected"`)
	}
	return err
}

func (d *document) eachMember(visit func(key string) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		key, err := d.readText()
		if err != nil {
			return err
		}
		if err := visit(key); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (d *document) readText() (string, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return "", err
	}
	if len(raw) > 6*maxNameBytes { // an escaped byte has up to six
		return "", stream.Errorf("line %d has a name of %d bytes, and none has more than %d", d.currentLine(), len(raw), maxNameBytes)
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

func (d *document) currentLine() int {
	to := int(d.InputOffset())
	d.line += bytes.Count(d.text[d.at:to], []byte("\n"))
	d.at = to
	return d.line
}

func (l *List) readElements(ctx context.Context, path string, d *document) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	var ranks []float64
	for n := 1; d.PeekKind() != ']'; n++ {
		var name string
		var err error
		rank := -1.0
		switch kind := d.PeekKind(); kind {
		case '"':
			name, err = d.readText()
		case '{':
			name, rank, err = d.readFeature()
		default:
			err = d.SkipValue()
			if err == nil {
				err = errLine(path, d.currentLine(), "element %d of the list is neither a name nor an object with a name", n)
			}
		}
		l.at = d.InputOffset()
		if err == nil {
			err = l.addName(ctx, path, name, d.currentLine())
		}
		if err != nil {
			return err
		}
		if rank >= 0 {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) == len(l.names) {
		l.keys = ranks
	}
	_, err := d.ReadToken()
	return err
}

func (d *document) readFeature() (name string, rank float64, err error) {
	rank = -1
	err = d.eachMember(func(key string) (err error) {
		switch kind := d.PeekKind(); {
		case strings.EqualFold(key, "name") && kind == '"':
			name, err = d.readText()
			return err
		case strings.EqualFold(key, "rank") && kind == '0':
			number, err := d.ReadToken()
			if err == nil {
				rank = number.Float()
			}
			return err
		}
		return d.SkipValue()
	})
	return name, rank, err
}
