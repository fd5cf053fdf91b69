package method

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Evidence is the input of a method's selection. Which fields are set depends on the method's From: all have Columns,
// Std and Profile, except that methods applied to a Gram matrix or graph in memory have that alone. The d features are
// numbered from 0.
type Evidence struct {
	Columns []stream.Column  // the features
	LeftOut []stream.LeftOut // columns that are not features

	Choice           // the allowed choice, for methods with Takes.Choice
	K        int     // features wanted; 0 if Variance or the method's own default decides
	Keep     []int   // features that are kept from the start
	Variance float64 // share to explain; 0 for K
	MinGain  float64 // least share that each feature must add; 0 for none
	Scale    gram.Scale
	Fill     gram.Fill // of missing entries
	Missing  bool      // the source delivers missing entries, to be filled
	Seed     uint64
	Threads  int

	Gram *gram.Gram // of the scaled columns; for FromRows of the centred columns, or nil
	// Reads is the allowed number of passes over the input if Gram is an estimate by a sketch, including the pass for
	// the sketch; Source is nil if there are no rows.
	Reads int
	Graph *anchor.Graph // of the scaled columns
	// Survey holds statistics of a sample of the rows, for methods that take one; Gram is centred then.
	Survey *Survey
	Std    *gram.Standardizer // from the source's columns to the features
	// Profile is of the source's columns, which may be more than Columns.
	Profile *gram.Profile

	Source   stream.Source  // the rows: for FromRows, and FromGram if Gram is nil or an estimate
	Rows     int64          // used rows of the source, if none is dropped
	Scratch  stream.Scratch // nil means memory
	Stages   stream.Stages  // save the state of iterations over rows; nil saves nothing
	Memory   int64          // bytes to use in addition to the source's chunks
	Parallel int            // settings of a grid to solve in parallel
	// Checkpoint saves the method's state for a restart of the same run; nil saves nothing.
	Checkpoint stream.Checkpoint
	// Release promises that the source will not be read again, and frees its buffers.
	Release func() error

	Meter *stream.Meter
	// Pass is called at the start of each pass over Source, with its number, counted from 1.
	Pass func(pass int, what string)
	// Iteration is called after each iteration, from any goroutine.
	Iteration func(done int, objective float64)
}

// Names returns the names of the features.
func (e *Evidence) Names() []string { return columnNames(e.Columns) }

func columnNames(columns []stream.Column) []string {
	list := make([]string, len(columns))
	for j, c := range columns {
		list[j] = c.Name
	}
	return list
}
