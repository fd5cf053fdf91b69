package condition

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// operand is a part of a condition: a condition in itself, or one side of a comparison.
type operand struct {
	kind     operandKind
	at       int       // position of its first character
	node     *Node     // of a condition
	name     string    // of a column
	constant Constant  // of a constant other than null
	items    []operand // of a list
}

type operandKind uint8

const (
	isCondition operandKind = iota
	isColumn
	isConstant
	isNull
	isList
)

func (o operand) isConstant() bool { return o.kind == isConstant || o.kind == isNull }

func (p *condParser) errNoColumn(o operand) error {
	if o.kind == isCondition {
		return p.errAt(o.at, "a column is expected here, and parts of conditions are joined by and, or, not")
	}
	return p.errAt(o.at, "a column is expected here")
}

func (p *condParser) parseOperand() (operand, error) {
	if p.parts++; p.parts > maxParts {
		return operand{}, p.errAt(0, "it has too many parts (10,000 are allowed)")
	}
	t := p.tokens[p.next]
	p.next++
	o := operand{kind: isConstant, at: t.at, constant: Constant{At: t.at, Text: t.value}}
	switch {
	case t.keyword == "true" || t.keyword == "false":
		o.constant.Kind, o.constant.Text, o.constant.Truth = Truth, t.keyword, t.keyword == "true"
	case t.keyword == "null":
		o.kind = isNull
	case t.kind == word && (t.keyword == "" || t.keyword == "is"): // "is" is a keyword only after a column
		return p.parseColumn(t)
	case t.kind == text:
		o.constant.Kind = Text
	case t.kind == number:
		x, err := ParseNumber(t.value)
		if err != nil {
			return o, p.errAt(t.at, "%v", err)
		}
		o.constant.Kind, o.constant.Number = Number, x
	case t.kind != symbol:
		return o, p.errUnexpected(t)
	case t.value == "+" || t.value == "-":
		return p.parseSigned(t)
	case t.value == "[":
		return p.parseList(t.at, "]")
	case t.value == "(":
		return p.parseParenthesized()
	default:
		return o, p.errUnexpected(t)
	}
	return o, nil
}

func (p *condParser) parseParenthesized() (operand, error) {
	if err := p.enterLevel(); err != nil {
		return operand{}, err
	}
	defer p.leaveLevel()
	o, err := p.parseJoined("or")
	if err == nil && !p.acceptToken(")") {
		err = p.errUnexpected(p.tokens[p.next])
	}
	return o, err
}

func (p *condParser) parseSigned(sign token) (operand, error) {
	if err := p.enterLevel(); err != nil {
		return operand{}, err
	}
	defer p.leaveLevel()
	o, err := p.parseOperand()
	switch {
	case err != nil:
		return o, err
	case !o.isConstant():
		return o, p.errUnexpected(sign)
	case o.kind == isNull || o.constant.Kind != Number:
		return o, p.errAt(sign.at, "only numbers have a sign")
	}
	if o.at, o.constant.At = sign.at, sign.at; sign.value == "-" {
		o.constant.Number, o.constant.Text = new(big.Rat).Neg(o.constant.Number), "-"+o.constant.Text
	}
	return o, nil
}

// parseList parses the items of a list, and the bracket that closes it. A comma may follow the last item.
func (p *condParser) parseList(at int, closing string) (operand, error) {
	if err := p.enterLevel(); err != nil {
		return operand{}, err
	}
	defer p.leaveLevel()
	list := operand{kind: isList, at: at}
	for !p.acceptToken(closing) {
		if len(list.items) > 0 && !p.acceptToken(",") {
			return list, p.errUnexpected(p.tokens[p.next])
		}
		if len(list.items) > 0 && p.acceptToken(closing) {
			break
		}
		item, err := p.parseJoined("or")
		if err != nil {
			return list, err
		}
		list.items = append(list.items, item)
	}
	return list, nil
}

// parseColumn parses the name of a column that starts with a word: x, a.b, emb[3] or col("any name").
func (p *condParser) parseColumn(first token) (operand, error) {
	o := operand{kind: isColumn, at: first.at, name: first.value}
	if p.acceptToken("(") {
		if first.value != "col" {
			return o, p.errAt(o.at, "conditions cannot contain functions")
		}
		name := p.tokens[p.next]
		if p.next++; name.kind != text || name.value == "" || !p.acceptToken(")") {
			return o, p.errAt(o.at, `col needs one name in quotes, as in col("unit price") > 3`)
		}
		o.name = name.value
	}
	for {
		switch {
		case p.acceptToken("."):
			t := p.tokens[p.next]
			if t.kind != word {
				return o, p.errUnexpected(t)
			}
			p.next++
			o.name += "." + t.value
		case p.acceptToken("["):
			t := p.tokens[p.next]
			if p.next++; t.kind != number || strings.Trim(t.value, "0123456789") != "" || !p.acceptToken("]") {
				return o, p.errAt(t.at, "an element of a list is named by its number, as in emb[3] > 0")
			}
			o.name += "[" + t.value + "]"
		case p.acceptToken("("):
			return o, p.errAt(o.at, "conditions cannot contain functions")
		default:
			return o, nil
		}
	}
}

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
