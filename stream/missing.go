package stream

import "math"

// A missing entry is represented by a NaN whose bits record its kind in the file, so that the entries of kept rows can
// be counted by kind later. All NaNs with other bits were NaN in the file.
const (
	// NullBits are the bits for a null. The bytes are the text "null", in a quiet NaN that files do not contain in
	// practice.
	NullBits = 0x7FF8_6E75_6C6C_0001
	// InfBits are the bits for ±Inf. The bytes are the text "infi".
	InfBits = 0x7FF8_696E_6669_0001
)

// MissingValue returns the NaN that represents x, a missing entry of a file. x is NaN, ±Inf, or the NaN of a null.
func MissingValue(x float64) float64 {
	switch {
	case math.IsInf(x, 0):
		return math.Float64frombits(InfBits)
	case math.Float64bits(x) == NullBits:
		return x
	}
	return math.NaN()
}

// Add counts a missing entry by its kind. The value missed is a result of [MissingValue].
func (m *MissingCount) Add(missed float64) {
	switch math.Float64bits(missed) {
	case NullBits:
		m.Nulls++
	case InfBits:
		m.Infs++
	default:
		m.NaNs++
	}
}
