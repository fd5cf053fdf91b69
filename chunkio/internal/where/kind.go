package where

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/condition"
)

// Class determines how the values of a column are compared.
type Class uint8

// Classes of columns. A key is the name in a part key=value of a file's path.
const (
	Other     Class = iota // cannot be used in a condition
	Float                  // of 32 or 64 bits
	Integer                // of any size, read as float64
	Decimal                // of Precision digits, Scale of them after the point
	Truth                  // stored as 0 and 1
	Text                   // compared in the order of its bytes
	Date                   // written 2006-01-02
	Timestamp              // written 2006-01-02T15:04:05.999999999, with Z if UTC is set
	Clock                  // a time of day, written 15:04:05.999999999
	KeyNumber              // key of paths whose values are all numbers
	KeyTruth               // key of paths whose values are all true or false
	KeyText                // any other key of paths
	KeyDate                // key that a table declares as dates
	KeyTime                // key that a table declares as times, in UTC if UTC is set
	Lists                  // lists of numbers, tested only for null; Rows needs 0 for a list, and null for a null list
)

// Kind is the type information that Bind needs about a column.
type Kind struct {
	Class            Class
	Type             string // for messages: "int64"
	Bits             int    // for Float: 32 or 64; constants are rounded to floats of this size
	Precision, Scale int    // for Decimal
	UTC              bool   // for Timestamp and KeyTime
}

// exactDigits is the largest number of digits for which different decimals become different float64 numbers.
const exactDigits = 15

// IsNumeric reports whether Rows needs the values of the column as numbers. It needs all other columns as text.
func (k Kind) IsNumeric() bool {
	switch k.Class {
	case Float, Integer, Truth, Lists:
		return true
	case Decimal:
		return k.Precision <= exactDigits && 0 <= k.Scale && k.Scale <= 100
	}
	return false
}

// IsKey reports whether the column is a key of paths, as opposed to a column of files.
func (k Kind) IsKey() bool { return KeyNumber <= k.Class && k.Class <= KeyTime }

// AcceptsKey reports whether a key of this kind can have the value.
func (k Kind) AcceptsKey(value string) bool {
	switch k.Class {
	case KeyNumber:
		_, err := strconv.ParseFloat(value, 64)
		return err == nil
	case KeyTruth:
		return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	case KeyDate, KeyTime:
		_, ok := condition.ParseUTC(value)
		return ok
	}
	return true
}

// ComparesLike reports whether a comparison that is bound to kind k can also be applied to values of kind o. This is
// true for integers of any size, and for equal types.
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
	case KeyDate:
		return "a partition key of dates"
	case KeyTime:
		return "a partition key of times"
	case Timestamp:
		if k.UTC {
			return "of type timestamp (UTC)"
		}
		return "of type timestamp (without a time zone)"
	}
	return fmt.Sprintf("of type %s", k.Type)
}
