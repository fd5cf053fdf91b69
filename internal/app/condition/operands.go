package condition

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
)

func isConstant(n syntax) bool {
	switch n := n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.NilNode:
		return true
	case *ast.UnaryNode:
		return n.Operator != "not" && isConstant(n.Node)
	}
	return false
}

func isColumn(n syntax) bool {
	switch n.(type) {
	case *ast.IdentifierNode, *ast.MemberNode, *ast.CallNode:
		return true
	}
	return false
}

// columnName returns the name of the column that an expression denotes: x, a.b, emb[3] or col("any name").
func (p *condParser) columnName(n syntax) (string, error) {
	t := p.tokenOf(n)
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return t.value, nil
	case *ast.MemberNode:
		if n.Optional {
			break
		}
		parent, err := p.columnName(n.Node)
		if err != nil {
			return "", err
		}
		switch n.Property.(type) {
		case *ast.StringNode:
			if property := p.tokenOf(n.Property); property.kind != lexer.String {
				return parent + "." + property.value, nil
			}
		case *ast.IntegerNode:
			index := p.tokenOf(n.Property).value
			if strings.Trim(index, "0123456789") == "" {
				return parent + "[" + index + "]", nil
			}
		}
		return "", p.errAtNode(n.Property, "an element of a list is named by its number, as in emb[3] > 0")
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if !ok || p.tokenOf(callee).value != "col" {
			return "", p.errAt(t.at, "conditions cannot contain functions")
		}
		if len(n.Arguments) == 1 {
			if name, ok := n.Arguments[0].(*ast.StringNode); ok && p.tokenOf(name).value != "" {
				return p.tokenOf(name).value, nil
			}
		}
		return "", p.errAt(t.at, `col needs one name in quotes, as in col("unit price") > 3`)
	case *ast.BinaryNode:
		if strings.Contains(operators, n.Operator) {
			return "", p.errAt(t.at, noArithmetic)
		}
		return "", p.errAt(t.at, "a column is expected here, and parts of conditions are joined by and, or, not")
	case *ast.UnaryNode:
		if n.Operator != "not" {
			return "", p.errAt(t.at, noArithmetic)
		}
		return "", p.errAt(t.at, "a column is expected here, and parts of conditions are joined by and, or, not")
	}
	return "", p.errAt(t.at, "a column is expected here")
}

func (p *condParser) parseConstant(n syntax) (Constant, error) {
	t := p.tokenOf(n)
	switch n := n.(type) {
	case *ast.BoolNode:
		return Constant{At: t.at, Kind: Truth, Truth: n.Value, Text: strings.ToLower(t.value)}, nil
	case *ast.StringNode:
		return Constant{At: t.at, Kind: Text, Text: t.value}, nil
	case *ast.IntegerNode, *ast.FloatNode:
		x, err := ParseNumber(t.value)
		if err != nil {
			return Constant{}, p.errAt(t.at, "%v", err)
		}
		return Constant{At: t.at, Kind: Number, Number: x, Text: t.value}, nil
	case *ast.UnaryNode:
		if n.Operator == "not" || !isConstant(n.Node) {
			break
		}
		c, err := p.parseConstant(n.Node)
		if err != nil {
			return c, err
		}
		if c.Kind != Number {
			return c, p.errAt(t.at, "only numbers have a sign")
		}
		if c.At = t.at; n.Operator == "-" {
			c.Number, c.Text = new(big.Rat).Neg(c.Number), "-"+c.Text
		}
		return c, nil
	}
	if isColumn(n) {
		return Constant{}, p.errAt(t.at, "a constant is expected here; write a text in quotes")
	}
	return Constant{}, p.errAt(t.at, "a constant is expected here")
}

// unquotedDateStart returns the start of the unquoted date that contains the character with the index `at`, or -1 if
// there is none. Without this check the error would be about arithmetic or the syntax of numbers, which would mislead
// the author.
func (p *condParser) unquotedDateStart(at int) int {
	for _, found := range unquotedDate.FindAllStringIndex(p.text, -1) {
		from, to := utf8.RuneCountInString(p.text[:found[0]]), utf8.RuneCountInString(p.text[:found[1]])
		if from <= at && at < to {
			return from
		}
	}
	return -1
}

// unquotedDate matches a date, or a date with a time.
var unquotedDate = regexp.MustCompile(`\b\d{4}-\d{1,2}-\d{1,2}(T[\d:.]+)?\b`)

// ParseNumber returns the exact value of a decimal number or of an integer in base 2, 8 or 16.
func ParseNumber(s string) (*big.Rat, error) {
	const longest, largestExponent = 400, 400
	plain := strings.ReplaceAll(s, "_", "")
	if len(plain) > longest {
		return nil, errors.New("the number is too long")
	}
	unsigned := strings.ToLower(strings.TrimLeft(plain, "+-"))
	if len(unsigned) > 1 && unsigned[0] == '0' && strings.ContainsRune("xob", rune(unsigned[1])) {
		if i, ok := new(big.Int).SetString(plain, 0); ok {
			return new(big.Rat).SetInt(i), nil
		}
		return nil, fmt.Errorf("%s is no number", s)
	}
	mantissa, exponent, scientific := strings.Cut(unsigned, "e")
	if strings.Trim(mantissa, "0123456789.") != "" {
		return nil, fmt.Errorf("%s is no number", s)
	}
	if scientific {
		var e int
		if n, err := fmt.Sscanf(exponent, "%d", &e); n != 1 || err != nil || strings.Trim(exponent, "+-0123456789") != "" {
			return nil, fmt.Errorf("%s is no number", s)
		}
		if e > largestExponent || e < -largestExponent {
			return nil, fmt.Errorf("the exponent of %s is too large", s)
		}
	}
	x, ok := new(big.Rat).SetString(plain)
	if !ok {
		return nil, fmt.Errorf("%s is no number", s)
	}
	return x, nil
}
