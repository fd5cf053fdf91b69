package stream

import (
	"sync/atomic"
	"time"
)

// TimingPart is one part of a run's work. The parts correspond to the fields of [TimingParts].
type TimingPart int

// Parts of a run's work, in the order in which data pass through them.
const (
	PartRead TimingPart = iota
	PartDecode
	PartConvert
	PartGram
	PartSearch
	PartScatter
	partCount
)

// Busy adds up the time that all threads of a run spend on each part. It may be read during the run. The zero value is
// ready for use; a nil *Busy measures nothing.
type Busy struct{ nanoseconds [partCount]atomic.Int64 }

// Add adds a duration to a part. A negative duration subtracts time that was counted in another part.
func (b *Busy) Add(p TimingPart, d time.Duration) {
	if b != nil {
		b.nanoseconds[p].Add(int64(d))
	}
}

// Parts returns the time that each part has taken so far.
func (b *Busy) Parts() TimingParts {
	if b == nil {
		return TimingParts{}
	}
	seconds := func(p TimingPart) float64 { return time.Duration(b.nanoseconds[p].Load()).Seconds() }
	return TimingParts{seconds(PartRead), seconds(PartDecode), seconds(PartConvert), seconds(PartGram), seconds(PartSearch), seconds(PartScatter)}
}

// TimingParts divides the busy time of a run into parts. Times are seconds of elapsed time, added up over the threads,
// so a thread that waits for a processor counts as busy.
//
// [Timing].Read is the sum of Read, Decode and a part of Convert: replacing missing values, and storing decoded data
// for the next pass or fetching them from the previous pass. Weights, labels and conditions are read and decoded
// separately. This time is in Read and Decode, but not in Timing.Read. A decoder that waits for bytes from an object
// store counts as reading. Waiting for a pipe and reading footers are in neither Timing.Read nor the parts.
//
// The rest of Convert, Gram, Search and Scatter together are at most Timing.Accumulate times the number of threads.
// Timing.Accumulate is elapsed time. It also includes profiles, samples of rows, and the computations that iterative
// methods make during their passes.
type TimingParts struct {
	Read    float64 `json:"read_s,omitempty"`    // reading from files, checksums, decompression
	Decode  float64 `json:"decode_s,omitempty"`  // from pages and buffers to values
	Convert float64 `json:"convert_s,omitempty"` // treating missing values, storing decoded data; scaling and packing for the products
	Gram    float64 `json:"gram_s,omitempty"`    // products of the Gram matrix
	Search  float64 `json:"search_s,omitempty"`  // search for the nearest anchors of rows
	Scatter float64 `json:"scatter_s,omitempty"` // adding rows to the sums of their anchors
}

// Since returns the times of p minus the times of before, an earlier measurement.
func (p TimingParts) Since(before TimingParts) TimingParts {
	return TimingParts{
		p.Read - before.Read, p.Decode - before.Decode, p.Convert - before.Convert,
		p.Gram - before.Gram, p.Search - before.Search, p.Scatter - before.Scatter,
	}
}
