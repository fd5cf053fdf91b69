package stream

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Position is the zero-based place of a column in the input. Every column counts there, feature or not, in the order of
// the first file, the keys of folders behind them; a list that is expanded counts once for each of its elements, a struct
// once for each of its fields, and a feature of sparse rows has its number. It is what inspect lists without options that
// make features: what is made of a column, as an indicator of one of its categories, has the column's position.
//
// The zero Position is unknown, as in statistics files of earlier versions, and null in JSON.
type Position struct{ next int } // one more

// PositionAt is the position i of a column, counted from 0.
func PositionAt(i int) Position { return Position{i + 1} }

// Index is the position as a number; known is false where nothing tells it.
func (p Position) Index() (i int, known bool) { return p.next - 1, p.next > 0 }

// String is the number, and empty where it is unknown.
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
