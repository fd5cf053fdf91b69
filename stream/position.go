package stream

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Position is the zero-based position of a column in the input. All columns are counted, not only features: first the
// columns of the first file in their order, then the keys of partition folders. A list that is expanded counts once for
// each element, and a struct once for each field. For sparse rows, the position of a feature is its number. If a column
// is made from another column, such as an indicator of one of its categories, it has the position of that other column.
//
// The zero Position means unknown, as in statistics files of earlier versions. In JSON it is null.
type Position struct{ onePlus int } // position + 1; 0 if unknown

// PositionAt returns the position with number i, counted from 0.
func PositionAt(i int) Position { return Position{i + 1} }

// Index returns the position as a number; known is false for the zero Position.
func (p Position) Index() (i int, known bool) { return p.onePlus - 1, p.onePlus > 0 }

// String returns the number as text, or an empty text if the position is unknown.
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

// UnmarshalJSON implements json.Unmarshaler. Null or a number below 0 gives an unknown position.
func (p *Position) UnmarshalJSON(b []byte) error {
	i := int32(-1) // null does not change i
	if json.Unmarshal(b, &i) != nil {
		return fmt.Errorf("%.40s is no position of a column, which is a whole number from 0", b)
	}
	*p = PositionAt(max(int(i), -1))
	return nil
}
