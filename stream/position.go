package stream

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Position is the zero-based position of a column in the input. Every column counts, feature or not, in the order of
// the first file, and the keys of folders after them; an expanded list counts once for each of its elements, a struct
// once for each of its fields, and a feature of sparse rows has its number. It is the number that inspect lists without
// options that make features: a column made from another one, such as an indicator of one of its categories, has that
// column's position.
//
// The zero Position is unknown, as in statistics files of earlier versions; it is null in JSON.
type Position struct{ onePlus int } // position + 1; 0 if unknown

// PositionAt returns the position i, counted from 0.
func PositionAt(i int) Position { return Position{i + 1} }

// Index returns the position as a number; known is false for the zero Position.
func (p Position) Index() (i int, known bool) { return p.onePlus - 1, p.onePlus > 0 }

// String is the number, or empty if unknown.
func (p Position) String() string {
	if i, known := p.Index(); known {
		return strconv.Itoa(i)
	}
	return ""
}

// MarshalJSON implements json.Marshaler.
func (p Position) MarshalJSON() ([]byte, error) {
	if i, known := p.Index(); known {
		return strconv.AppendInt(nil, int64(i), 10), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON implements json.Unmarshaler; null is unknown, and so is a number below 0.
func (p *Position) UnmarshalJSON(b []byte) error {
	i := int32(-1) // null changes nothing
	if json.Unmarshal(b, &i) != nil {
		return fmt.Errorf("%.40s is no position of a column, which is a whole number from 0", b)
	}
	*p = PositionAt(max(int(i), -1))
	return nil
}
