package condition

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/ufs-stream/ufs-stream/stream"
)

// maxText is the largest length of a condition's text in bytes.
const maxText = 1 << 20

// example is the end of every error message of Parse.
const example = `a condition compares columns with constants, as in: day >= "2026-01-01" and site in ("a", "b") and not (x < 3)`

// The arithmetic operators, which a condition must not contain, and the error message about them.
const (
	operators    = "+-**/%^.."
	noArithmetic = "conditions cannot contain arithmetic"
)

// syntax is a node of the tree that expr's parser returns.
type syntax = ast.Node

type condParser struct {
	text        string
	runes       []rune
	tokens      []token
	tokenStarts map[int]int // by the position of a token's placeholder in the text passed to expr: the token's index
	leaves      []Leaf
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
	tokens, err := p.tokenize()
	if err != nil {
		return nil, err
	}
	if p.tokens, err = p.rewriteTokens(tokens); err != nil {
		return nil, err
	}
	tree, err := p.parseTokens()
	if err != nil {
		return nil, err
	}
	root, err := p.convertCondition(tree)
	if err != nil {
		return nil, err
	}
	return &Condition{text: text, Root: root, Leaves: p.leaves}, nil
}

func (p *condParser) parseTokens() (syntax, error) {
	var b strings.Builder
	p.tokenStarts = make(map[int]int, len(p.tokens))
	for i, t := range p.tokens {
		p.tokenStarts[b.Len()] = i
		b.WriteString(t.placeholder + " ")
	}
	tree, err := parser.Parse(b.String())
	if err == nil {
		return tree.Node, nil
	}
	e, ok := errors.AsType[*file.Error](err)
	switch {
	case !ok:
		return nil, p.errAt(0, "it is not understood (%v)", err)
	case strings.Contains(e.Message, "maximum allowed nodes"):
		return nil, p.errAt(0, "it has too many parts (10,000 are allowed)")
	}
	if t, ok := p.findTokenAtOrBefore(e.From); ok && e.From < b.Len()-1 && t.at < len(p.runes) { // the last character is a space
		return nil, p.errAt(t.at, "this is not expected here")
	}
	return nil, p.errAt(len(p.runes), "something is missing")
}

func (p *condParser) findTokenAtOrBefore(place int) (token, bool) {
	for ; place >= 0; place-- {
		if i, ok := p.tokenStarts[place]; ok {
			return p.tokens[i], true
		}
	}
	return token{}, false
}

func (p *condParser) tokenOf(n syntax) token {
	if t, ok := p.findTokenAtOrBefore(n.Location().From); ok {
		return t
	}
	return token{}
}

// errAt returns a *stream.UsageError that points at the character of the condition with the index `at`.
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

func (p *condParser) errAtNode(n syntax, format string, args ...any) error {
	return p.errAt(p.tokenOf(n).at, format, args...)
}

// convertCondition converts a node whose value can be true, false or unknown.
func (p *condParser) convertCondition(n syntax) (*Node, error) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator != "not" {
			return nil, p.errAtNode(n, noArithmetic)
		}
		inner, err := p.convertCondition(n.Node)
		if err != nil {
			return nil, err
		}
		return negateNode(inner), nil
	case *ast.BinaryNode:
		return p.convertBinary(n)
	case *ast.IdentifierNode, *ast.MemberNode, *ast.CallNode:
		name, err := p.columnName(n)
		if err != nil {
			return nil, err
		}
		return p.addLeaf(Leaf{Column: name, At: p.tokenOf(n).at, Test: Equal, Bare: true, Constants: []Constant{{Kind: Truth, Truth: true, Text: "true"}}}), nil
	}
	return nil, p.errNoCondition(n)
}

func (p *condParser) errNoCondition(n syntax) error {
	switch n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.NilNode:
		return p.errAtNode(n, "a constant alone is no condition")
	case *ast.ArrayNode, *ast.MapNode, *ast.SliceNode:
		return p.errAtNode(n, "a list may only follow in, and may only contain constants")
	case *ast.ConditionalNode:
		return p.errAtNode(n, "conditions cannot contain if or ?")
	}
	return p.errAtNode(n, "conditions cannot contain this")
}

func negateNode(n *Node) *Node { return &Node{Op: Not, Args: []*Node{n}} }

func (p *condParser) addLeaf(l Leaf) *Node {
	p.leaves = append(p.leaves, l)
	return &Node{Op: IsLeaf, Leaf: len(p.leaves) - 1}
}

func (p *condParser) convertBinary(n *ast.BinaryNode) (*Node, error) {
	switch n.Operator {
	case "and", "or":
		op := And
		if n.Operator == "or" {
			op = Or
		}
		return p.flattenConnective(op, n)
	case "&&": // made by expr for a chain of comparisons; a && of the text was replaced by "and"
		return nil, p.errAtNode(n, "comparisons cannot be chained; write 1 < x and x < 5 for 1 < x < 5")
	case "in":
		return p.convertMembership(n)
	case "==", "!=", "<", "<=", ">", ">=":
		return p.convertComparison(n)
	}
	if strings.Contains(operators, n.Operator) {
		return nil, p.errAtNode(n, noArithmetic)
	}
	return nil, p.errAtNode(n, "conditions cannot contain the operator %s", n.Operator)
}

func (p *condParser) flattenConnective(op Connective, n *ast.BinaryNode) (*Node, error) {
	joined := &Node{Op: op}
	for _, side := range []syntax{n.Left, n.Right} {
		inner, err := p.convertCondition(side)
		switch {
		case err != nil:
			return nil, err
		case inner.Op == op:
			joined.Args = append(joined.Args, inner.Args...)
		default:
			joined.Args = append(joined.Args, inner)
		}
	}
	return joined, nil
}

func (p *condParser) convertComparison(n *ast.BinaryNode) (*Node, error) {
	column, other := n.Left, n.Right
	swapped := false
	if isConstant(column) {
		column, other, swapped = other, column, true
	}
	if isConstant(column) {
		return nil, p.errAtNode(n, `two constants are compared; a column whose name is no word is written col("its name")`)
	}
	name, err := p.columnName(column)
	if err != nil {
		return nil, err
	}
	if isColumn(other) {
		if _, err := p.columnName(other); err != nil {
			return nil, err
		}
		return nil, p.errAtNode(n, "two columns are compared, which is not understood: compare each with a constant")
	}
	l := Leaf{Column: name, At: p.tokenOf(column).at}
	negated := n.Operator == "!="
	switch n.Operator {
	case "==", "!=":
		l.Test = Equal
	case "<":
		l.Test = Less
	case "<=":
		l.Test = LessEqual
	case ">":
		l.Test = Greater
	case ">=":
		l.Test = GreaterEqual
	}
	if swapped {
		l.Test = swappedTest[l.Test]
	}
	if _, null := other.(*ast.NilNode); null {
		if l.Test != Equal {
			return nil, p.errAtNode(other, "null has no order; ask x is null or x is not null")
		}
		l.Test = IsNull
	} else {
		c, err := p.parseConstant(other)
		if err != nil {
			return nil, err
		}
		l.Constants = []Constant{c}
	}
	if negated {
		return negateNode(p.addLeaf(l)), nil
	}
	return p.addLeaf(l), nil
}

func (p *condParser) convertMembership(n *ast.BinaryNode) (*Node, error) {
	name, err := p.columnName(n.Left)
	if err != nil {
		return nil, err
	}
	l := Leaf{Column: name, At: p.tokenOf(n.Left).at, Test: Equal}
	list, ok := n.Right.(*ast.ArrayNode)
	switch {
	case !ok:
		return nil, p.errAtNode(n.Right, `in needs a list of constants, as in: site in ("a", "b")`)
	case len(list.Nodes) == 0:
		return nil, p.errAtNode(list, "the list is empty")
	}
	for _, item := range list.Nodes {
		if _, null := item.(*ast.NilNode); null {
			return nil, p.errAtNode(item, "null in a list is not understood; write x in (…) or x is null")
		}
		c, err := p.parseConstant(item)
		if err != nil {
			return nil, err
		}
		l.Constants = append(l.Constants, c)
	}
	return p.addLeaf(l), nil
}
