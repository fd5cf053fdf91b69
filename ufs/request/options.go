package request

import (
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
)

const (
	optionCategorical = "categorical"

	OptionCategories = "categories" // the values found, as JSON: a list per column, or null if there are too many

	CategoricalAuto = "auto"

	categoricalNone = "none"
)

// MaxCategories bounds the number of distinct values of a text column that becomes categories. Each value becomes a
// feature, and the size of the Gram matrix grows with the square of the number of features.
const MaxCategories = 64

// Special values of Request.Checkpoint. All other values are names of folders.
const (

	// AutoCheckpoint requests a folder next to Request.Output if the run is predicted to be long.
	AutoCheckpoint = "auto"

	NoCheckpoint = "none"
)

const OptionHeader = "header"

const trueText = "true" // the recorded value of a switch that is on

// RandomBaseline is the name of the baseline that draws new random features in every run.
const RandomBaseline = judge.Random

// The names of the options of a merge that a merged file records, and that selections from this file report.
const (
	OptionWindow = "window"

	OptionDecay = "decay"
)

const (
	ScaleRank = "rank"

	// OptionRanks identifies the ranks that scores were made from: statistics of scores from other ranks do not add up.
	OptionRanks = "ranks"
)

// OptionGraphRows is the option under which the number of sampled rows for a survey is recorded.
const OptionGraphRows = "graph-rows"

// The names of the options that a statistics file records about its sample of rows.
const (
	OptionSampleRows = "sample-rows"

	// OptionSampleMissing is the missing policy requested for the scan. It acts when methods select from the sample; the
	// profile in the file is of all rows.
	OptionSampleMissing = "sample-missing"
)

// ScaleNames implements ufs.ScaleNames.
func ScaleNames() []string {
	var names []string
	for s := gram.ScaleNone; s <= gram.ScaleRank; s++ {
		names = append(names, s.String())
	}
	return names
}

// If neither the Gram matrix nor the rows fit into memory, a method may select from an estimate of the matrix. The
// estimate comes from a sketch of the rows (gram.Sketch): fewer rows, each a sum of input rows with random signs. One
// pass gathers the sketch and a profile. Sketches of shards add up, as moments do. Methods read the rows again for
// exact values.

// OptionSketch is the option in which a statistics file records the number of rows of its sketch.
const OptionSketch = "sketch"

const (
	SketchAuto = "auto"
)

// AnyShards is the value of Choice.Stability for the default number of hash shards or, with Stats, for the number of
// shards in the file.
const AnyShards = -1

// OptionStability is the option in which a statistics file records the number of its hash shards.
const OptionStability = "stability"
