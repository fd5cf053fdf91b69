package intake

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal reads what Python's ast.literal_eval reads, as far as headers have it: dictionaries of
// strings (map[string]any), tuples and lists ([]any), strings, whole numbers (int64), True and False.
type literal struct{ rest string }

func (p *literal) blanks() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take reads a character.
func (p *literal) take(c byte) bool {
	if p.blanks(); len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *literal) value(depth int) (any, error) {
	if depth > 8 {
		return nil, errors.New("is nested too deep")
	}
	p.blanks()
	switch {
	case p.take('{'):
		dict := map[string]any{}
		for !p.take('}') {
			key, err := p.string()
			if err != nil {
				return nil, err
			}
			if !p.take(':') {
				return nil, errors.New("has a key without a value")
			}
			if dict[key], err = p.value(depth + 1); err != nil {
				return nil, err
			}
			if !p.take(',') && !strings.HasPrefix(p.rest, "}") {
				return nil, errors.New("lacks a comma")
			}
		}
		return dict, nil
	case p.take('('):
		return p.list(')', depth)
	case p.take('['):
		return p.list(']', depth)
	case strings.HasPrefix(p.rest, "'"), strings.HasPrefix(p.rest, `"`):
		return p.string()
	case strings.HasPrefix(p.rest, "True"):
		p.rest = p.rest[4:]
		return true, nil
	case strings.HasPrefix(p.rest, "False"):
		p.rest = p.rest[5:]
		return false, nil
	}
	n := 0
	for n < len(p.rest) && (p.rest[n] >= '0' && p.rest[n] <= '9' || n == 0 && p.rest[n] == '-') {
		n++
	}
	x, err := strconv.ParseInt(p.rest[:n], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("has %.20q where a value should be", p.rest)
	}
	p.rest = strings.TrimPrefix(p.rest[n:], "L") // of Python 2
	return x, nil
}

// list reads values up to the end.
func (p *literal) list(end byte, depth int) ([]any, error) {
	list := []any{}
	for !p.take(end) {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !p.take(',') && (len(p.rest) == 0 || p.rest[0] != end) {
			return nil, errors.New("lacks a comma")
		}
	}
	return list, nil
}

// string reads a string, with the escapes that Python's repr writes.
func (p *literal) string() (string, error) {
	p.blanks()
	if len(p.rest) == 0 || p.rest[0] != '\'' && p.rest[0] != '"' {
		return "", errors.New("lacks a string")
	}
	quote := p.rest[0]
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case c == '\\' && i+1 < len(p.rest):
			r, n, err := escaped(p.rest[i+1:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("has a string that does not end")
}

// escaped is the character that text behind a backslash begins with, and how many bytes stand for it.
func escaped(text string) (r rune, n int, err error) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	switch at := strings.IndexByte("nrt\\'\"", text[0]); {
	case at >= 0:
		return rune("\n\r\t\\'\""[at]), 1, nil
	case digits == 0 || len(text) <= digits:
		return 0, 0, fmt.Errorf("has an escape \\%c", text[0])
	}
	code, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, 0, fmt.Errorf("has an escape \\%s", text[:1+digits])
	}
	return rune(code), 1 + digits, nil
}
