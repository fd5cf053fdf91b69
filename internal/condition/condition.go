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

// Node is a connective of other nodes, or a leaf.
type Node struct {
	Op   Connective
	Args []*Node
	Leaf int // index in Condition.Leaves; every leaf is in the tree once
}

// Connective joins the nodes below a node.
type Connective uint8

// The connectives.
const (
	IsLeaf Connective = iota
	And
	Or
	Not // of one node
)

// Leaf is one comparison. A negative one (!=, not in, is not null) is its opposite below a Not, which is right
// for NaN and null too.
type Leaf struct {
	Column    string
	At        int // position of the column's name, in characters
	Test      Test
	Constants []Constant // one, any number for Equal, none for IsNull
	Bare      bool       // a column alone, which means column == true
}

// Test is the relation of a comparison.
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

// swappedTest is the test with its sides swapped, for a constant on the left.
var swappedTest = [...]Test{Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual, Equal: Equal}

// Constant is a number, a text or a truth value of a condition.
type Constant struct {
	At     int
	Text   string   // as written in the condition; of a text its value
	Number *big.Rat // of numbers
	Truth  bool     // of truth values
	Kind   ConstantKind
}

// ConstantKind is the kind of a constant.
type ConstantKind uint8

// The kinds of constants.
const (
	Number ConstantKind = iota
	Text
	Truth
)

// String returns the condition as it was given.
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
