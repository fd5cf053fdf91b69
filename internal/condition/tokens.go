package condition

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

// token is a token of the condition, or one that the rewriting put in.
type token struct {
	kind  lexer.Kind
	value string // of a text: without quotes
	at    int    // first and last character of it in the condition, counted from 0
	end   int
	write string // what the parser reads in its place
}

// maxDepth bounds how deep parentheses and nots may be nested: the parser is recursive.
const maxDepth = 200

// tokenize cuts the condition into tokens.
func (p *condParser) tokenize() ([]token, error) {
	lexed, err := lexer.Lex(file.NewSource(p.text))
	if err != nil {
		at, what := 0, err.Error()
		if e, ok := errors.AsType[*file.Error](err); ok {
			at, what = e.From, e.Message
		}
		return nil, p.fault(at, "%s", what)
	}
	tokens := make([]token, 0, len(lexed))
	for _, l := range lexed {
		t := token{kind: l.Kind, value: l.Value, at: l.From, end: l.To}
		if last := len(tokens) - 1; last >= 0 && tokens[last].end == t.at {
			before := &tokens[last]
			switch {
			case before.kind == lexer.Operator && before.value == "<" && t.kind == lexer.Operator && t.value == ">":
				before.value, before.end = "!=", t.end
				continue
			case before.kind == lexer.String && t.kind == lexer.String && p.runes[before.at] == '\'' && p.runes[t.at] == '\'':
				before.value, before.end = before.value+"'"+t.value, t.end // SQL's 'it''s'
				continue
			}
		}
		if t.kind == lexer.EOF {
			t.at = len(p.runes)
			t.end = t.at
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// rewriter turns what people write into what expr parses.
type rewriter struct {
	*condParser
	in, out []token
	frames  []frame
	depth   int
}

// frame is an open bracket.
type frame struct {
	closing string // what closes it
	nots    int    // parentheses opened after a not, which end with the comparison
}

// rewrite spells tokens as expr does. not binds less than comparisons, as in SQL and
// Python, which expr does not do: it gets parentheses. Names, numbers and texts become
// placeholders, so that no name is a keyword and every number keeps all its digits; the
// place tells what they stand for.
func (p *condParser) rewrite(tokens []token) ([]token, error) {
	r := rewriter{condParser: p, in: tokens, frames: []frame{{}}}
	for i := 0; i < len(tokens); {
		n, err := r.step(i)
		if err != nil {
			return nil, err
		}
		i += n
	}
	return r.out, nil
}

// step rewrites the token at i and returns how many it used.
func (r *rewriter) step(i int) (used int, err error) {
	t := r.in[i]
	word := r.word(i)
	switch {
	case t.kind == lexer.EOF:
		r.endComparison()
		return 1, nil
	case t.kind == lexer.String:
		r.put(t, `""`)
	case t.kind == lexer.Bytes:
		return 0, r.fault(t.at, "texts are written without b")
	case t.kind == lexer.Number:
		r.put(t, "0")
	case r.isField(i):
		r.put(t, "c")
	case word == "not" && r.word(i+1) == "in":
		r.put(t, "not")
		used, err = r.list(i + 1)
		return used + 1, err
	case word == "not" || t.value == "!":
		if r.depth++; r.depth > maxDepth {
			return 0, r.tooDeep(t)
		}
		r.frames[len(r.frames)-1].nots++
		r.put(t, "not")
		r.put(t, "(")
	case word == "in":
		return r.list(i)
	case word == "is" && isNil(r.word(i+1)):
		r.put(t, "==")
	case word == "is" && r.word(i+1) == "not" && isNil(r.word(i+2)):
		r.put(t, "!=")
		return 2, nil
	case word == "and" || t.value == "&&":
		r.endComparison()
		r.put(t, "and")
	case word == "or" || t.value == "||":
		r.endComparison()
		r.put(t, "or")
	case isNil(word):
		r.put(t, "nil")
	case word == "true" || word == "false":
		r.put(t, word)
	case word != "" || t.kind == lexer.Identifier:
		r.put(t, "c")
	case t.value == "=":
		r.put(t, "==")
	case t.kind == lexer.Bracket:
		return 1, r.bracket(t)
	default:
		if t.value == "," {
			r.endComparison()
		}
		r.put(t, t.value)
	}
	return 1, nil
}

// list rewrites the in at i, with the parenthesis after it.
func (r *rewriter) list(i int) (used int, err error) {
	r.put(r.in[i], "in")
	if next := r.in[i+1]; next.kind == lexer.Bracket && next.value == "(" {
		r.put(next, "[")
		return 2, r.open(next, "]")
	}
	return 1, nil
}

func (r *rewriter) bracket(t token) error {
	closes := map[string]string{"(": ")", "[": "]", "{": "}"}
	if closing, ok := closes[t.value]; ok {
		r.put(t, t.value)
		return r.open(t, closing)
	}
	r.endComparison()
	closing := t.value
	if last := len(r.frames) - 1; last > 0 {
		if closing == ")" { // of in (…) too
			closing = r.frames[last].closing
		}
		r.frames = r.frames[:last]
		r.depth--
	}
	r.put(t, closing)
	return nil
}

func (r *rewriter) open(t token, closing string) error {
	r.frames = append(r.frames, frame{closing: closing})
	if r.depth++; r.depth > maxDepth {
		return r.tooDeep(t)
	}
	return nil
}

func (r *rewriter) tooDeep(t token) error {
	return r.fault(t.at, "it is nested more than %d deep", maxDepth)
}

// endComparison closes the parentheses of nots.
func (r *rewriter) endComparison() {
	f := &r.frames[len(r.frames)-1]
	for ; f.nots > 0; f.nots-- {
		last := r.out[len(r.out)-1]
		r.put(token{at: last.end, end: last.end}, ")")
		r.depth--
	}
}

func (r *rewriter) put(t token, write string) {
	t.write = write
	r.out = append(r.out, t)
}

// keywords are words of the condition, whatever their case.
var keywords = []string{"and", "or", "not", "in", "is", "null", "nil", "true", "false"}

// exprWords are operators to expr's lexer but names to us.
var exprWords = []string{"let", "if", "else", "matches", "contains", "startsWith", "endsWith"}

// word is the token at i in lower case if it is a keyword or an operator that is a word,
// "" if it is none or a field's name (a.in).
func (r *rewriter) word(i int) string {
	if i >= len(r.in) || r.isField(i) {
		return ""
	}
	switch t := r.in[i]; t.kind {
	case lexer.Identifier, lexer.Operator:
		if lower := strings.ToLower(t.value); slices.Contains(keywords, lower) {
			return lower
		}
		if slices.Contains(exprWords, t.value) {
			return t.value
		}
	}
	return ""
}

// isField tells the name after a dot, which is no keyword.
func (r *rewriter) isField(i int) bool {
	t := r.in[i]
	return i > 0 && r.in[i-1].kind == lexer.Operator && r.in[i-1].value == "." &&
		(t.kind == lexer.Identifier || t.kind == lexer.Operator && unicode.IsLetter(rune(t.value[0])))
}

func isNil(word string) bool { return word == "null" || word == "nil" }
