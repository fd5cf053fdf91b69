package where

import (
	"fmt"
)

// Class is the way in which the values of a column compare.
type Class uint8

// The classes of columns. The keys of a path are texts, whatever they contain.
const (
	Other     Class = iota // cannot be used in a condition
	Float                  // of 32 or 64 bits
	Integer                // of any size, as float64
	Decimal                // of Precision digits, Scale of them after the point
	Truth                  // 0 and 1
	Text                   // in the order of its bytes
	Date                   // written 2006-01-02
	Timestamp              // written 2006-01-02T15:04:05.999999999, with Z if UTC is set
	Clock                  // a time of day, written 15:04:05.999999999
	KeyNumber              // a key of paths, all numbers
	KeyTruth               // a key of paths, all true or false
	KeyText                // any other key of paths
	Lists                  // of numbers, which may be null as a whole; Rows wants 0, or a null, as numbers
)

// Kind is the type information that Bind needs about a column.
type Kind struct {
	Class            Class
	Type             string // for messages: "int64"
	Bits             int    // of Float: 32 if constants are read as 32-bit floats too
	Precision, Scale int    // of Decimal
	UTC              bool   // of Timestamp
}

// exactDigits is the largest number of digits of a decimal at which float64 still distinguishes all of them.
const exactDigits = 15

// IsNumeric reports whether Rows wants the column as numbers; other columns it wants as text.
func (k Kind) IsNumeric() bool {
	switch k.Class {
	case Float, Integer, Truth, Lists:
		return true
	case Decimal:
		return k.Precision <= exactDigits && 0 <= k.Scale && k.Scale <= 100
	}
	return false
}

// IsKey distinguishes keys of paths from columns of files.
func (k Kind) IsKey() bool { return k.Class == KeyNumber || k.Class == KeyTruth || k.Class == KeyText }

// ComparesLike reports whether a check bound for one kind compares values of the other: integers of any size, and else the
// same type.
func (k Kind) ComparesLike(o Kind) bool {
	return k.Class == o.Class && k.Bits == o.Bits && k.Precision == o.Precision && k.Scale == o.Scale
}

func (k Kind) String() string {
	switch k.Class {
	case KeyNumber:
		return "a partition key of numbers"
	case KeyTruth:
		return "a partition key of true and false"
	case KeyText:
		return "a partition key of texts"
	case Timestamp:
		if k.UTC {
			return "of type timestamp (UTC)"
		}
		return "of type timestamp (without a time zone)"
	}
	return fmt.Sprintf("of type %s", k.Type)
}
