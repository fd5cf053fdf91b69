package stream

import (
	"sync/atomic"
	"time"
)

// TimingPart is a part of a run's work; [TimingParts] says what each one is.
type TimingPart int

// The parts, in the order of the data's way.
const (
	PartRead TimingPart = iota
	PartDecode
	PartConvert
	PartGram
	PartSearch
	PartScatter
	partCount
)

// Busy adds up how long a run is busy with its parts, while it goes on and over all
// threads. The zero value is ready; a nil *Busy measures nothing.
type Busy struct{ spent [partCount]atomic.Int64 } // nanoseconds

// Add adds to a part. Negative time is taken back, where it has been counted with another part.
func (b *Busy) Add(p TimingPart, d time.Duration) {
	if b != nil {
		b.spent[p].Add(int64(d))
	}
}

// Parts is what has been measured so far.
func (b *Busy) Parts() TimingParts {
	if b == nil {
		return TimingParts{}
	}
	seconds := func(p TimingPart) float64 { return time.Duration(b.spent[p].Load()).Seconds() }
	return TimingParts{seconds(PartRead), seconds(PartDecode), seconds(PartConvert), seconds(PartGram), seconds(PartSearch), seconds(PartScatter)}
}

// TimingParts is where the busy time of a run went, in seconds by the clock, added up over its threads: a
// thread that waits for a processor counts as busy.
//
// Read, Decode and the first part of Convert, which settles missing values and keeps what is decoded
// for the next pass, or has it from the one before, make up [Timing].Read. Weights, labels and conditions are read and decoded beside that: Timing.Read leaves
// them out, and these parts do not. Decoders that wait for an object's bytes are busy reading;
// waiting for a pipe, and the footers, are in neither.
//
// The rest of Convert, Gram, Search and Scatter are at most threads times Timing.Accumulate, which
// is elapsed time and has more: profiles, samples of rows, and whatever the passes of methods that
// iterate compute.
type TimingParts struct {
	Read    float64 `json:"read_s,omitempty"`    // reading from files, checksums, decompression
	Decode  float64 `json:"decode_s,omitempty"`  // from pages and buffers to values
	Convert float64 `json:"convert_s,omitempty"` // settling missing values, keeping what is decoded; scaling and packing for the products
	Gram    float64 `json:"gram_s,omitempty"`    // products of the Gram matrix
	Search  float64 `json:"search_s,omitempty"`  // for the nearest anchors of rows
	Scatter float64 `json:"scatter_s,omitempty"` // adding rows to the sums of their anchors
}

// Since is p without what was measured before.
func (p TimingParts) Since(before TimingParts) TimingParts {
	return TimingParts{
		p.Read - before.Read, p.Decode - before.Decode, p.Convert - before.Convert,
		p.Gram - before.Gram, p.Search - before.Search, p.Scatter - before.Scatter,
	}
}
