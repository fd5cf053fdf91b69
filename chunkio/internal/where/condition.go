package where

import (
	"math/big"
	"slices"
)

// Condition is a parsed condition. It does not change.
type Condition struct {
	text   string
	root   *node
	leaves []leaf
}

// node is a connective, or a leaf.
type node struct {
	op   connective
	args []*node
	leaf int // into Condition.leaves; every leaf is in the tree once
}

type connective uint8

const (
	isLeaf connective = iota
	isAnd
	isOr
	isNot // of one node
)

// leaf is one comparison. What is the contrary of another (!=, not in, is not null) is
// that one under not, which NaN and null allow.
type leaf struct {
	column    string
	at        int // character of the column's name
	test      test
	constants []constant // one, any number for equal, none for null
	bare      bool       // a column on its own stands for column == true
}

type test uint8

const (
	less test = iota
	lessEqual
	greater
	greaterEqual
	equal // to one of the constants
	isNull
)

// mirrored is the test that a constant on the left means.
var mirrored = [...]test{less: greater, lessEqual: greaterEqual, greater: less, greaterEqual: lessEqual, equal: equal}

// constant is a number, a text or a truth value of a condition.
type constant struct {
	at     int
	text   string   // what stands in the condition; the value of a text
	number *big.Rat // of numbers
	truth  bool     // of truth values
	kind   constantKind
}

type constantKind uint8

const (
	aNumber constantKind = iota
	aText
	aTruth
)

// String is the condition as it was given.
func (c *Condition) String() string { return c.text }

// Columns lists the columns of the condition in the order of their first use.
func (c *Condition) Columns() (names []string) {
	for _, l := range c.leaves {
		if !slices.Contains(names, l.column) {
			names = append(names, l.column)
		}
	}
	return names
}
