package condition

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	maxText  = 1 << 20 // largest length of a condition in bytes
	maxDepth = 200     // largest nesting of parentheses and nots, because the parser is recursive
	maxParts = 10_000  // largest number of columns and constants
)

// example is the end of every error message of Parse.
const example = `a condition compares columns with constants, as in: day >= "2026-01-01" and site in ("a", "b") and not (x < 3)`

// condParser is a recursive-descent parser of conditions:
//
//	disjunction = conjunction { "or" conjunction }
//	conjunction = negation { "and" negation }
//	negation    = "not" negation | comparison
//	comparison  = operand [ relation operand | ["not"] "in" list | "is" ["not"] "null" ]
//	operand     = "(" disjunction ")" | column | constant | list
//
// A disjunction may also be a column or a constant alone, because these may be in parentheses.
type condParser struct {
	text   string
	runes  []rune
	tokens []token
	next   int // index of the next token
	depth  int
	parts  int
	leaves []Leaf
}

// Parse parses a condition. If it does not understand the condition, it returns a *stream.UsageError with the position
// of the fault, counted in characters.
func Parse(text string) (*Condition, error) {
	p := &condParser{text: text, runes: []rune(text)}
	switch {
	case !utf8.ValidString(text):
		return nil, stream.Usagef("{where}: the condition is no valid UTF-8")
	case len(text) > maxText:
		return nil, stream.Usagef("{where}: the condition has %d characters, more than %d", len(p.runes), maxText)
	case strings.TrimSpace(text) == "":
		return nil, stream.Usagef("{where}: the condition is empty; %s", example)
	}
	var err error
	if p.tokens, err = p.splitTokens(); err != nil {
		return nil, err
	}
	whole, err := p.parseJoined("or")
	if err != nil {
		return nil, err
	}
	if t := p.tokens[p.next]; t.kind != endOfText {
		return nil, p.errUnexpected(t)
	}
	root, err := p.makeCondition(whole)
	if err != nil {
		return nil, err
	}
	return &Condition{text: text, Root: root, Leaves: p.leaves}, nil
}

// acceptToken consumes the next token if it is this keyword or symbol.
func (p *condParser) acceptToken(what string) bool {
	t := p.tokens[p.next]
	if t.keyword != what && (t.kind != symbol || t.value != what) {
		return false
	}
	p.next++
	return true
}

// Symbols of other languages, which get an error of their own.
var (
	arithmetic = strings.Fields("+ - * ** / % ^ ..")
	foreign    = strings.Fields("? ?? ?. : ; | & # @ {")
)

func (p *condParser) errUnexpected(t token) error {
	switch {
	case t.kind == endOfText:
		return p.errAt(t.at, "something is missing")
	case t.kind != symbol || t.keyword != "":
	case slices.Contains(arithmetic, t.value):
		return p.errAt(t.at, "conditions cannot contain arithmetic")
	case slices.Contains(foreign, t.value):
		return p.errAt(t.at, "conditions cannot contain %s", t.value)
	}
	return p.errAt(t.at, "this is not expected here")
}

func (p *condParser) errAt(at int, format string, args ...any) error {
	const shown = 16
	what := fmt.Sprintf(format, args...)
	if begin := p.unquotedDateStart(at); begin >= 0 {
		at, what = begin, "write a date in quotes"
	}
	place := "at the end"
	if at < len(p.runes) {
		rest := p.runes[at:]
		more := ""
		if len(rest) > shown {
			rest, more = rest[:shown], "…"
		}
		place = fmt.Sprintf("at character %d, %q", at+1, string(rest)+more)
		if at > 0 {
			from := max(at-shown, 0)
			place += fmt.Sprintf(" after %q", string(p.runes[from:at]))
		}
	}
	return stream.Usagef("{where}: %s: %s; %s", what, place, example)
}

func (p *condParser) unquotedDateStart(at int) int {
	// Without this check the error would be about arithmetic or the syntax of numbers, which would mislead the author.
	for _, found := range unquotedDate().FindAllStringIndex(p.text, -1) {
		from, to := utf8.RuneCountInString(p.text[:found[0]]), utf8.RuneCountInString(p.text[:found[1]])
		if from <= at && at < to {
			return from
		}
	}
	return -1
}

// unquotedDate matches a date, or a date with a time.
var unquotedDate = convert.CompilePattern(`\b\d{4}-\d{1,2}-\d{1,2}(T[\d:.]+)?\b`)

func (p *condParser) enterLevel() error {
	if p.depth++; p.depth > maxDepth {
		return p.errAt(p.tokens[p.next-1].at, "it is nested more than %d deep", maxDepth)
	}
	return nil
}

func (p *condParser) leaveLevel() { p.depth-- }

func (p *condParser) parseJoined(keyword string) (operand, error) {
	parseSide, op := p.parseNegation, And
	if keyword == "or" {
		parseSide, op = func() (operand, error) { return p.parseJoined("and") }, Or
	}
	first, err := parseSide()
	if err != nil || p.tokens[p.next].keyword != keyword {
		return first, err
	}
	joined := &Node{Op: op}
	for side := first; ; {
		inner, err := p.makeCondition(side)
		switch {
		case err != nil:
			return operand{}, err
		case inner.Op == op:
			joined.Args = append(joined.Args, inner.Args...)
		default:
			joined.Args = append(joined.Args, inner)
		}
		if !p.acceptToken(keyword) {
			return operand{kind: isCondition, at: first.at, node: joined}, nil
		}
		if side, err = parseSide(); err != nil {
			return operand{}, err
		}
	}
}

func (p *condParser) parseNegation() (operand, error) {
	t := p.tokens[p.next]
	if !p.acceptToken("not") {
		return p.parseComparison()
	}
	if err := p.enterLevel(); err != nil {
		return operand{}, err
	}
	defer p.leaveLevel()
	inner, err := p.parseNegation()
	if err != nil {
		return operand{}, err
	}
	n, err := p.makeCondition(inner)
	return operand{kind: isCondition, at: t.at, node: negateNode(n)}, err
}

func negateNode(n *Node) *Node { return &Node{Op: Not, Args: []*Node{n}} }

func (p *condParser) addLeaf(l Leaf) *Node {
	p.leaves = append(p.leaves, l)
	return &Node{Op: IsLeaf, Leaf: len(p.leaves) - 1}
}

// makeCondition returns the condition that an operand is: a column alone must be true.
func (p *condParser) makeCondition(o operand) (*Node, error) {
	switch o.kind {
	case isCondition:
		return o.node, nil
	case isColumn:
		return p.addLeaf(Leaf{Column: o.name, At: o.at, Test: Equal, Bare: true, Constants: []Constant{{Kind: Truth, Truth: true, Text: "true"}}}), nil
	case isList:
		return nil, p.errAt(o.at, "a list may only follow in, and may only contain constants")
	}
	return nil, p.errAt(o.at, "a constant alone is no condition")
}

// tests are the relations that are symbols; != is the negation of ==.
var tests = map[string]Test{"==": Equal, "!=": Equal, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual}

func (p *condParser) parseComparison() (operand, error) {
	left, err := p.parseOperand()
	if err != nil {
		return operand{}, err
	}
	t := p.tokens[p.next]
	var n *Node
	negated := false
	switch _, isTest := tests[t.value]; {
	case t.kind == symbol && isTest:
		p.next++
		n, err = p.parseRelation(left, t)
		negated = t.value == "!="
	case p.acceptToken("in"):
		n, err = p.parseMembership(left)
	case t.kind == word && t.keyword == "not" && p.tokens[p.next+1].keyword == "in":
		p.next += 2
		n, err = p.parseMembership(left)
		negated = true
	case p.acceptToken("is"):
		if negated = p.acceptToken("not"); !p.acceptToken("null") {
			return operand{}, p.errAt(t.at, "this is not expected here")
		}
		n, err = p.compareOperands(left, operand{kind: isNull, at: p.tokens[p.next-1].at}, t)
	default:
		return left, nil
	}
	if err != nil {
		return operand{}, err
	}
	if t := p.tokens[p.next]; t.kind == symbol && t.keyword == "" {
		if _, isTest := tests[t.value]; isTest {
			return operand{}, p.errAt(t.at, "comparisons cannot be chained; write 1 < x and x < 5 for 1 < x < 5")
		}
	}
	if negated {
		n = negateNode(n)
	}
	return operand{kind: isCondition, at: left.at, node: n}, nil
}

func (p *condParser) parseRelation(left operand, relation token) (*Node, error) {
	right, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	return p.compareOperands(left, right, relation)
}

func (p *condParser) compareOperands(left, right operand, relation token) (*Node, error) {
	l := Leaf{Test: Equal}
	if relation.kind == symbol {
		l.Test = tests[relation.value]
	}
	if left.isConstant() {
		if right.isConstant() {
			return nil, p.errAt(relation.at, `two constants are compared; a column whose name is no word is written col("its name")`)
		}
		left, right, l.Test = right, left, swappedTest[l.Test]
	}
	if left.kind != isColumn {
		return nil, p.errNoColumn(left)
	}
	l.Column, l.At = left.name, left.at
	switch right.kind {
	case isColumn:
		return nil, p.errAt(relation.at, "two columns are compared, which is not understood: compare each with a constant")
	case isNull:
		if l.Test != Equal {
			return nil, p.errAt(right.at, "null has no order; ask x is null or x is not null")
		}
		l.Test = IsNull
	case isConstant:
		l.Constants = []Constant{right.constant}
	default:
		return nil, p.errAt(right.at, "a constant is expected here")
	}
	return p.addLeaf(l), nil
}

func (p *condParser) parseMembership(left operand) (*Node, error) {
	if left.kind != isColumn {
		return nil, p.errNoColumn(left)
	}
	closing := ")"
	at := p.tokens[p.next].at
	if !p.acceptToken("(") {
		if closing = "]"; !p.acceptToken("[") {
			return nil, p.errAt(at, `in needs a list of constants, as in: site in ("a", "b")`)
		}
	}
	list, err := p.parseList(at, closing)
	if err != nil {
		return nil, err
	}
	if len(list.items) == 0 {
		return nil, p.errAt(at, "the list is empty")
	}
	l := Leaf{Column: left.name, At: left.at, Test: Equal}
	for _, item := range list.items {
		switch item.kind {
		case isConstant:
			l.Constants = append(l.Constants, item.constant)
		case isNull:
			return nil, p.errAt(item.at, "null in a list is not understood; write x in (…) or x is null")
		case isColumn:
			return nil, p.errAt(item.at, "a constant is expected here; write a text in quotes")
		default:
			return nil, p.errAt(item.at, "a constant is expected here")
		}
	}
	return p.addLeaf(l), nil
}
