package condition

import (
	"math/big"
	"slices"
)

// Condition is a parsed condition. It does not change.
type Condition struct {
	Root   *Node
	Leaves []Leaf
	text   string
}

// Node is a connective, or a leaf.
type Node struct {
	Op   Connective
	Args []*Node
	Leaf int // into Condition.Leaves; every leaf is in the tree once
}

// Connective is what joins the nodes below a node.
type Connective uint8

// The connectives.
const (
	IsLeaf Connective = iota
	And
	Or
	Not // of one node
)

// Leaf is one comparison. What is the contrary of another (!=, not in, is not null) is
// that one under not, which NaN and null allow.
type Leaf struct {
	Column    string
	At        int // character of the column's name
	Test      Test
	Constants []Constant // one, any number for Equal, none for IsNull
	Bare      bool       // a column on its own stands for column == true
}

// Test is what a comparison asks.
type Test uint8

// The tests.
const (
	Less Test = iota
	LessEqual
	Greater
	GreaterEqual
	Equal // to one of the constants
	IsNull
)

// mirrored is the test that a constant on the left means.
var mirrored = [...]Test{Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual, Equal: Equal}

// Constant is a number, a text or a truth value of a condition.
type Constant struct {
	At     int
	Text   string   // what stands in the condition; the value of a text
	Number *big.Rat // of numbers
	Truth  bool     // of truth values
	Kind   ConstantKind
}

// ConstantKind is how a constant is written.
type ConstantKind uint8

// The kinds of constants.
const (
	Number ConstantKind = iota
	Text
	Truth
)

// String is the condition as it was given.
func (c *Condition) String() string { return c.text }

// Columns lists the columns of the condition in the order of their first use.
func (c *Condition) Columns() (names []string) {
	for _, l := range c.Leaves {
		if !slices.Contains(names, l.Column) {
			names = append(names, l.Column)
		}
	}
	return names
}
