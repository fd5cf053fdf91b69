package format

import "github.com/ufs-stream/ufs-stream/chunkio/internal/text"

// Bounds are the bounds of a leaf's values in one group, according to the metadata of the file.
type Bounds struct {
	Rows     int64
	Nulls    int64 // -1 if unknown
	Min, Max Bound // every value that is neither null nor NaN is between them
}

// Bound is one end of Bounds. It is not necessarily equal to a value, because writers truncate long texts.
type Bound struct {
	Known   bool
	Number  float64      // for numbers and booleans, as Decode returns them
	Text    []byte       // for texts, bytes and decimals, as DecodeTexts returns them
	Instant text.Instant // for dates and times
}

// Bounded is a File whose metadata contain bounds of the values of leaves.
type Bounded interface {
	// Bounds returns the known bounds of leaf l in group g. Leaf l need not be a feature.
	Bounds(g, l int) Bounds
}
