package condition

import (
	"math/big"
	"slices"
)

// Condition is a parsed condition. It is immutable.
type Condition struct {
	Root   *Node
	Leaves []Leaf
	text   string
}

// Node is a node of the tree of a condition: either a connective that joins other nodes, or a leaf.
type Node struct {
	Op   Connective
	Args []*Node
	Leaf int // index in Condition.Leaves; each leaf occurs once in the tree
}

// Connective is the logical operator that joins the nodes below a node.
type Connective uint8

// IsLeaf marks a node that is a comparison. The other constants are logical operators.
const (
	IsLeaf Connective = iota
	And
	Or
	Not // of exactly one node
)

// Leaf is one comparison. A negative comparison (!=, not in, is not null) is stored as the positive comparison below a
// Not node. This also gives the right result for NaN and null.
type Leaf struct {
	Column    string
	At        int // position of the column's name in the condition, in characters
	Test      Test
	Constants []Constant // one or more for Equal, none for IsNull, one for all other tests
	Bare      bool       // the condition contains the column alone, which means column == true
}

// Test is the relation that a comparison tests.
type Test uint8

// These constants are the relations that a comparison can test.
const (
	Less Test = iota
	LessEqual
	Greater
	GreaterEqual
	Equal // the column is equal to one of the constants
	IsNull
)

// swappedTest maps each test to the test with exchanged sides, such as < to >. It is used if the constant is on the
// left.
var swappedTest = [...]Test{Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual, Equal: Equal}

// Constant is a number, a text or a truth value of a condition.
type Constant struct {
	At     int
	Text   string   // as written in the condition, or the value of a text
	Number *big.Rat // value of a number
	Truth  bool     // value of a truth value
	Kind   ConstantKind
}

// ConstantKind is the kind of a constant.
type ConstantKind uint8

// These are the kinds of constants.
const (
	Number ConstantKind = iota
	Text
	Truth
)

// String returns the text of the condition, unchanged.
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
