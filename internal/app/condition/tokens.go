package condition

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

// token is a token of the condition, or a token that the rewriter inserted.
type token struct {
	kind        lexer.Kind
	value       string // without the quotes if it is a text
	at          int    // position of its first character in the condition, from 0
	end         int
	placeholder string // the text that expr's parser receives instead
}

// maxDepth bounds the nesting of parentheses and nots, because the parser is recursive.
const maxDepth = 200

func (p *condParser) tokenize() ([]token, error) {
	lexed, err := lexer.Lex(file.NewSource(p.text))
	if err != nil {
		at, what := 0, err.Error()
		if e, ok := errors.AsType[*file.Error](err); ok {
			at, what = e.From, e.Message
		}
		return nil, p.errAt(at, "%s", what)
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
				before.value, before.end = before.value+"'"+t.value, t.end // two adjacent texts are SQL's 'it''s'
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

// rewriter converts the tokens of a condition to tokens that expr can parse.
type rewriter struct {
	*condParser
	in, out []token
	frames  []frame
	depth   int
}

// frame describes an open bracket.
type frame struct {
	closing string // the bracket that closes it
	nots    int    // number of parentheses inserted after nots and not closed yet; the comparison's end closes them
}

// rewriteTokens replaces each token by the form that expr understands. It adds parentheses around the operand of not:
// not binds more tightly than a comparison in expr, but less tightly in SQL and Python. It replaces names, numbers and
// texts by placeholders, so that names cannot be keywords and numbers keep all digits. The position of a placeholder
// identifies its token.
func (p *condParser) rewriteTokens(tokens []token) ([]token, error) {
	r := rewriter{condParser: p, in: tokens, frames: []frame{{}}}
	for i := 0; i < len(tokens); {
		n, err := r.rewriteToken(i)
		if err != nil {
			return nil, err
		}
		i += n
	}
	return r.out, nil
}

func (r *rewriter) rewriteToken(index int) (tokensUsed int, err error) {
	t := r.in[index]
	word := r.keywordAt(index)
	switch {
	case t.kind == lexer.EOF:
		r.closeNots()
		return 1, nil
	case t.kind == lexer.String:
		r.appendToken(t, `""`)
	case t.kind == lexer.Bytes:
		return 0, r.errAt(t.at, "texts are written without b")
	case t.kind == lexer.Number:
		r.appendToken(t, "0")
	case r.isField(index):
		r.appendToken(t, "c")
	case word == "not" && r.keywordAt(index+1) == "in":
		r.appendToken(t, "not")
		tokensUsed, err = r.rewriteList(index + 1)
		return tokensUsed + 1, err
	case word == "not" || t.value == "!":
		if r.depth++; r.depth > maxDepth {
			return 0, r.errTooDeep(t)
		}
		r.frames[len(r.frames)-1].nots++
		r.appendToken(t, "not")
		r.appendToken(t, "(")
	case word == "in":
		return r.rewriteList(index)
	case word == "is" && isNullWord(r.keywordAt(index+1)):
		r.appendToken(t, "==")
	case word == "is" && r.keywordAt(index+1) == "not" && isNullWord(r.keywordAt(index+2)):
		r.appendToken(t, "!=")
		return 2, nil
	case word == "and" || t.value == "&&":
		r.closeNots()
		r.appendToken(t, "and")
	case word == "or" || t.value == "||":
		r.closeNots()
		r.appendToken(t, "or")
	case isNullWord(word):
		r.appendToken(t, "nil")
	case word == "true" || word == "false":
		r.appendToken(t, word)
	case word != "" || t.kind == lexer.Identifier:
		r.appendToken(t, "c")
	case t.value == "=":
		r.appendToken(t, "==")
	case t.kind == lexer.Bracket:
		return 1, r.rewriteBracket(t)
	default:
		if t.value == "," {
			r.closeNots()
		}
		r.appendToken(t, t.value)
	}
	return 1, nil
}

func (r *rewriter) rewriteList(index int) (tokensUsed int, err error) {
	r.appendToken(r.in[index], "in")
	if next := r.in[index+1]; next.kind == lexer.Bracket && next.value == "(" {
		r.appendToken(next, "[")
		return 2, r.openBracket(next, "]")
	}
	return 1, nil
}

func (r *rewriter) rewriteBracket(t token) error {
	closes := map[string]string{"(": ")", "[": "]", "{": "}"}
	if closing, ok := closes[t.value]; ok {
		r.appendToken(t, t.value)
		return r.openBracket(t, closing)
	}
	r.closeNots()
	closing := t.value
	if last := len(r.frames) - 1; last > 0 {
		if closing == ")" { // if it closes the list of in (…), the list now has [ ]
			closing = r.frames[last].closing
		}
		r.frames = r.frames[:last]
		r.depth--
	}
	r.appendToken(t, closing)
	return nil
}

func (r *rewriter) openBracket(t token, closing string) error {
	r.frames = append(r.frames, frame{closing: closing})
	if r.depth++; r.depth > maxDepth {
		return r.errTooDeep(t)
	}
	return nil
}

func (r *rewriter) errTooDeep(t token) error {
	return r.errAt(t.at, "it is nested more than %d deep", maxDepth)
}

// closeNots closes, after a comparison, the parentheses that were inserted after the nots before it.
func (r *rewriter) closeNots() {
	f := &r.frames[len(r.frames)-1]
	for ; f.nots > 0; f.nots-- {
		last := r.out[len(r.out)-1]
		r.appendToken(token{at: last.end, end: last.end}, ")")
		r.depth--
	}
}

func (r *rewriter) appendToken(t token, text string) {
	t.placeholder = text
	r.out = append(r.out, t)
}

// keywords are the words with a special meaning in a condition, in upper or lower case.
var keywords = []string{"and", "or", "not", "in", "is", "null", "nil", "true", "false"}

// exprWords are words that are operators for expr's lexer but may be ordinary names in a condition.
var exprWords = []string{"let", "if", "else", "matches", "contains", "startsWith", "endsWith"}

// keywordAt returns token i in lower case if it is a keyword, and unchanged if it is one of the exprWords. For any
// other token, and for the name of a field (as in a.in), it returns "".
func (r *rewriter) keywordAt(i int) string {
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

// isField reports whether token i is a name after a dot. Such a name cannot be a keyword.
func (r *rewriter) isField(i int) bool {
	t := r.in[i]
	return i > 0 && r.in[i-1].kind == lexer.Operator && r.in[i-1].value == "." &&
		(t.kind == lexer.Identifier || t.kind == lexer.Operator && unicode.IsLetter(rune(t.value[0])))
}

func isNullWord(word string) bool { return word == "null" || word == "nil" }
