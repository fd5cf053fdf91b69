package stream

import "math"

// The bits of the NaN that represents a missing entry record the kind of the entry in the file, so that the entries of
// kept rows can be counted by kind later. Any other NaN was a NaN in the file.
const (
	// NullBits are the bits for a null ("null"): a quiet NaN that files do not contain in practice.
	NullBits = 0x7FF8_6E75_6C6C_0001
	// InfBits are the bits for ±Inf ("infi").
	InfBits = 0x7FF8_696E_6669_0001
)

// MissingValue returns the NaN that represents a missing entry x of a file. It is a null's NaN, a NaN or ±Inf.
func MissingValue(x float64) float64 {
	switch {
	case math.IsInf(x, 0):
		return math.Float64frombits(InfBits)
	case math.Float64bits(x) == NullBits:
		return x
	}
	return math.NaN()
}

// Add counts an entry returned by [MissingValue] according to its kind.
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
