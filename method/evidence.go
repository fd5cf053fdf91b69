package method

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Evidence is the input of a method's selection. The method's From determines which fields are set. A run sets Columns,
// Std and Profile for all methods. A caller that applies a method to a Gram matrix or graph in memory sets only the
// matrix or graph. The d features are numbered from 0.
type Evidence struct {
	Columns []stream.Column  // the features
	LeftOut []stream.LeftOut // columns that are not features

	Choice           // restrictions of the choice, for methods with Takes.Choice
	K        int     // number of features to choose; 0 if Variance or the method's own default decides
	Keep     []int   // features that are kept from the start
	Variance float64 // share of the variance to explain; 0 if K decides
	MinGain  float64 // least share of the variance that each further feature must add; 0 means no such condition
	Scale    gram.Scale
	Fill     gram.Fill // replacement of missing entries
	Missing  bool      // the source delivers missing entries, which must be filled
	Seed     uint64
	Threads  int

	Gram *gram.Gram // Gram matrix of the scaled columns. For FromRows methods: that of the centred columns, or nil
	// Reads is used only if Gram is an estimate from a sketch. It is the largest allowed number of passes over the
	// input, including the pass for the sketch. Source is then nil if the rows are not available.
	Reads int
	Graph *anchor.Graph // anchor graph of the scaled columns
	// Survey holds statistics of a sample of the rows, for methods that use a sample. For these methods Gram is the
	// Gram matrix of the centred columns.
	Survey *Survey
	Std    *gram.Standardizer // converts the source's columns to the features
	// Profile describes the source's columns, which may be more than Columns.
	Profile *gram.Profile

	Source   stream.Source  // the rows, for FromRows methods, and for FromGram methods if Gram is nil or an estimate
	Rows     int64          // number of used rows of the source, if no row is dropped
	Scratch  stream.Scratch // space for data of the rows; nil means memory
	Stages   stream.Stages  // saves the state of iterations over rows; nil saves nothing
	Memory   int64          // memory that the method may use in addition to the source's chunks, in bytes
	Parallel int            // number of settings of a grid to solve in parallel
	// Checkpoint saves the method's state for a restart of the same run; nil saves nothing.
	Checkpoint stream.Checkpoint
	// Release frees the buffers of the source. The method calls it when it will not read the source again.
	Release func() error

	Meter *stream.Meter
	// Pass is called at the start of each pass over Source, with its number, counted from 1, and its purpose.
	Pass func(pass int, what string)
	// Iteration is called after each iteration, possibly by another goroutine. done counts the finished iterations.
	Iteration func(done int, objective float64)
}

// Names returns the names of the features.
func (e *Evidence) Names() []string { return namesOfColumns(e.Columns) }

func namesOfColumns(columns []stream.Column) []string {
	list := make([]string, len(columns))
	for j, c := range columns {
		list[j] = c.Name
	}
	return list
}
