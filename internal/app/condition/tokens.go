package condition

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number, a text or a symbol of a condition.
type token struct {
	kind    tokenKind
	value   string // the characters of the condition; of a text, its value
	keyword string // of a word that is a keyword: the keyword, in lower case
	at      int    // position of its first character in the condition, from 0
}

type tokenKind uint8

const (
	endOfText tokenKind = iota
	word
	number
	text
	symbol
)

// keywords are the words with a special meaning in a condition, in upper or lower case.
var keywords = map[string]string{
	"and": "and", "or": "or", "not": "not", "in": "in", "is": "is", "null": "null", "nil": "null", "true": "true", "false": "false",
}

// symbols are the symbols of several characters, and the other spellings of keywords and symbols.
var symbols = []struct{ written, meaning string }{
	{"&&", "and"}, {"||", "or"}, {"<>", "!="}, {"!=", "!="}, {"==", "=="}, {"<=", "<="}, {">=", ">="},
	{"**", "**"}, {"..", ".."}, {"??", "??"}, {"?.", "?."}, {"=", "=="}, {"!", "not"},
}

func (p *condParser) splitTokens() (tokens []token, err error) {
	for at := 0; at < len(p.runes); {
		c := p.runes[at]
		t, end := token{at: at}, at+1
		switch {
		case unicode.IsSpace(c):
			at++
			continue
		case isWordStart(c):
			t.kind, end = word, p.endOfRun(at, func(c rune) bool { return isWordStart(c) || unicode.IsDigit(c) })
		case isDigit(c) || c == '.' && end < len(p.runes) && isDigit(p.runes[end]):
			t.kind, end = number, p.endOfNumber(at)
		case strings.ContainsRune("\"'`", c):
			if t.kind = text; end < len(p.runes) && at > 0 && p.runes[at-1] == 'b' && tokens[len(tokens)-1].value == "b" {
				return nil, p.errAt(at-1, "texts are written without b")
			}
			if t.value, end, err = p.unquoteText(at); err != nil {
				return nil, err
			}
		case strings.ContainsRune("()[]{},.:;?|<>=!&+-*/%^#@", c):
			t.kind = symbol
		default:
			return nil, p.errAt(at, "unrecognized character")
		}
		if t.kind != text {
			t.value = string(p.runes[at:end])
		}
		switch t.kind {
		case word:
			t.keyword = keywords[strings.ToLower(t.value)]
		case symbol:
			for _, s := range symbols {
				if strings.HasPrefix(string(p.runes[at:min(at+2, len(p.runes))]), s.written) {
					t.value, end = s.meaning, at+len(s.written)
					break
				}
			}
			if t.value == "and" || t.value == "or" || t.value == "not" {
				t.keyword = t.value
			}
		}
		tokens, at = append(tokens, t), end
	}
	return append(tokens, token{at: len(p.runes)}), nil
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func isWordStart(c rune) bool { return c == '_' || c == '$' || unicode.IsLetter(c) }

func (p *condParser) endOfRun(at int, belongs func(rune) bool) int {
	for at < len(p.runes) && belongs(p.runes[at]) {
		at++
	}
	return at
}

func (p *condParser) endOfNumber(at int) int {
	isPart := func(c rune) bool { return c == '.' || c == '_' || isDigit(c) || unicode.IsLetter(c) }
	end := p.endOfRun(at, isPart)
	isHex := strings.HasPrefix(strings.ToLower(string(p.runes[at:min(at+2, end)])), "0x")
	if !isHex && end < len(p.runes) && strings.ContainsRune("+-", p.runes[end]) && strings.ContainsRune("eE", p.runes[end-1]) {
		return p.endOfRun(end+1, isPart)
	}
	return end
}

const longestEscape = len(`\U0001F600`)

// unquoteText returns the value of the quoted text that starts at a place, and the place after its end. Texts in backquotes
// have no escapes. Two single quotes in a text in single quotes are one, as in SQL.
func (p *condParser) unquoteText(start int) (value string, end int, err error) {
	quote := p.runes[start]
	var b strings.Builder
	for at := start + 1; at < len(p.runes); at++ {
		switch c := p.runes[at]; {
		case c == quote && quote == '\'' && at+1 < len(p.runes) && p.runes[at+1] == quote:
			at++
			b.WriteRune(c)
		case c == quote:
			return b.String(), at + 1, nil
		case c == '\n' && quote != '`':
			return "", 0, p.errAt(at, "literal not terminated")
		case c == '\\' && quote != '`':
			escaped, length := decodeEscape(string(p.runes[at+1 : min(at+longestEscape, len(p.runes))]))
			if length == 0 {
				return "", 0, p.errAt(at, "invalid char escape")
			}
			b.WriteRune(escaped)
			at += length
		default:
			b.WriteRune(c)
		}
	}
	return "", 0, p.errAt(len(p.runes), "literal not terminated")
}

// decodeEscape returns the character that the escape after a backslash denotes, and the length of the escape, which is 0 if
// it is invalid. Go's escapes are understood, and each quote and ? may be escaped.
func decodeEscape(s string) (c rune, length int) {
	if c, size := utf8.DecodeRuneInString(s); size == 1 && strings.ContainsRune("\"'`?", c) {
		return c, size
	}
	c, _, rest, err := strconv.UnquoteChar(`\`+s, 0)
	if err != nil {
		return 0, 0
	}
	return c, len(s) - len(rest)
}
