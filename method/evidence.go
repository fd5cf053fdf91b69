package method

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Evidence is what a method selects from. Which parts there are follows from what the
// method works from: all have Columns, Std and Profile but methods on a Gram matrix or
// graph in memory, which have that alone. The d features are numbered from 0.
type Evidence struct {
	Columns []stream.Column  // the features that take part
	LeftOut []stream.LeftOut // columns that do not

	Choice           // what may be chosen, for methods that take it (Takes.Choice)
	K        int     // features wanted; 0 where Variance or the method's own default says
	Keep     []int   // features that are in from the start
	Variance float64 // share to explain; 0 for K
	MinGain  float64 // share that each feature must add; 0 for any
	Scale    gram.Scale
	Fill     gram.Fill // of missing entries
	Missing  bool      // the source delivers missing entries, to be filled
	Seed     uint64
	Threads  int

	Gram *gram.Gram // of the scaled columns; for FromRows of the centred ones, or nil
	// Reads is how often the input may be read where Gram is an estimate by a sketch, for which it
	// was read once; Source is nil where there are no rows.
	Reads int
	Graph *anchor.Graph // of the scaled columns
	// Survey is what a sample of the rows tells of the features, for methods that take one; Gram is centred then.
	Survey *Survey
	Std    *gram.Standardizer // from the source's columns to the features
	// Profile is of the source's columns, which are more than Columns where some are left out.
	Profile *gram.Profile

	Source   stream.Source  // the rows: for FromRows, and FromGram where Gram is nil or an estimate
	Rows     int64          // of the source that are used, none dropped
	Scratch  stream.Scratch // nil: memory
	Stages   stream.Stages  // keep what an iteration over rows has come to; nil keeps nothing
	Memory   int64          // bytes to hold beside the source's chunks
	Parallel int            // settings of a grid to solve at a time
	// Checkpoint keeps what the method has come to, for the same run later on; nil keeps nothing.
	Checkpoint stream.Checkpoint
	// Release says that the source will not be read again, which frees its buffers.
	Release func() error

	Meter *stream.Meter
	// Pass is called as each pass over Source begins, with its number, counted from 1.
	Pass func(pass int, what string)
	// Iteration is called after each iteration, from any goroutine.
	Iteration func(done int, objective float64)
}

// Names are the names of the features.
func (e *Evidence) Names() []string { return names(e.Columns) }

func names(columns []stream.Column) []string {
	list := make([]string, len(columns))
	for j, c := range columns {
		list[j] = c.Name
	}
	return list
}
