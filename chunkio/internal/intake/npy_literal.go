package intake

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literalParser parses the subset of Python's ast.literal_eval that headers use: dictionaries with string keys
// (map[string]any), tuples and lists ([]any), strings, whole numbers (int64), True and False.
type literalParser struct{ rest string }

func (p *literalParser) skipBlanks() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *literalParser) takeByte(c byte) bool {
	if p.skipBlanks(); len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *literalParser) parseValue(depth int) (any, error) {
	if depth > 8 {
		return nil, errors.New("is nested too deep")
	}
	p.skipBlanks()
	switch {
	case p.takeByte('{'):
		dict := map[string]any{}
		for !p.takeByte('}') {
			key, err := p.parseString()
			if err != nil {
				return nil, err
			}
			if !p.takeByte(':') {
				return nil, errors.New("has a key without a value")
			}
			if dict[key], err = p.parseValue(depth + 1); err != nil {
				return nil, err
			}
			if !p.takeByte(',') && !strings.HasPrefix(p.rest, "}") {
				return nil, errors.New("lacks a comma")
			}
		}
		return dict, nil
	case p.takeByte('('):
		return p.parseList(')', depth)
	case p.takeByte('['):
		return p.parseList(']', depth)
	case strings.HasPrefix(p.rest, "'"), strings.HasPrefix(p.rest, `"`):
		return p.parseString()
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
	p.rest = strings.TrimPrefix(p.rest[n:], "L") // suffix of long integers in Python 2
	return x, nil
}

func (p *literalParser) parseList(end byte, depth int) ([]any, error) {
	list := []any{}
	for !p.takeByte(end) {
		v, err := p.parseValue(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !p.takeByte(',') && (len(p.rest) == 0 || p.rest[0] != end) {
			return nil, errors.New("lacks a comma")
		}
	}
	return list, nil
}

// parseString reads a string, with the escapes that Python's repr writes.
func (p *literalParser) parseString() (string, error) {
	p.skipBlanks()
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
			r, n, err := parseEscape(p.rest[i+1:])
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

// parseEscape decodes the escape sequence after a backslash, and returns its length in bytes.
func parseEscape(text string) (r rune, n int, err error) {
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
