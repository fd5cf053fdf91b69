package format

import "github.com/ufs-stream/ufs-stream/chunkio/internal/text"

// Bounds are the bounds of a leaf's values in one group according to metadata.
type Bounds struct {
	Rows     int64
	Nulls    int64 // -1 if unknown
	Min, Max Bound // every value that is neither null nor NaN lies between them
}

// Bound is one end of Bounds. It need not be a value that occurs: writers truncate long texts.
type Bound struct {
	Known   bool
	Number  float64      // of numbers and booleans, as Decode writes them
	Text    []byte       // of texts, bytes and decimals, as DecodeTexts writes them
	Instant text.Instant // of dates and times
}

// Bounded is a File that has bounds in its metadata.
type Bounded interface {
	// Bounds returns the known bounds of leaf l in group g; l may be one that is no feature.
	Bounds(g, l int) Bounds
}
