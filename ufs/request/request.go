package request

import (
	"io"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Release is the number of the version that this source will be released as; results record it.
const Release = "0.1.0"

// Request describes the data to read, the features to select from it, and the bounds of the run. A zero field means its
// default.
//
// Errors name options as the command does. Most options have the names of their fields. The exceptions are {rows} for
// SampleRows, {on-error} for SkipBad, {passes} for Choice.Reads, {memory-limit} for Limits.Memory, {temp-dir} and
// {max-temp-size} for Limits.TempDir and Limits.MaxScratch, {checkpoint-every} for Checkpoint.Every, and {o} for Output.
type Request struct {
	Input      Input
	Columns    Columns
	Choice     Choice
	Limits     Limits
	Checkpoint Checkpoint
	Hooks      Hooks

	// Plan is a plan file (see ufs.WritePlan) to read instead of Input.Paths. It names the files, and contains all
	// options that shape statistics.
	Plan string
	// Stats is a statistics file (see ufs.Scan) to select from instead of Input.Paths.
	Stats string
	// SampleRows is the number of rows in a seeded sample, for a quick try; 0 means all rows (with Stats, all scanned
	// rows).
	SampleRows int64
	SkipBad    bool // leave out files that cannot be read, with a warning

	// Output is the place at which the caller will put the result: a file, or the URL of an object. An output that is
	// also an input is refused.
	Output string

	stdin  *chunkio.Stdin  // Input.Stdin wrapped so that it can be reopened
	ledger *scratch.Ledger // counts the bytes of scratch files and copies
}

// Input names the data, and the places from which it may be read.
type Input struct {
	// Paths name the data: files of Parquet, Arrow IPC, CSV, TSV, NDJSON, Avro, NumPy arrays or libsvm text; globs;
	// directories (with key=value partitions); URLs of these in object stores; @FILE for a file that lists such names; -
	// for Stdin in any of these formats; or the folder of a Delta table, which may follow delta://.
	Paths []string
	// Stdin is the data of the input -. It is kept in a scratch file. A stream of Arrow IPC is kept only if it is read
	// more than once, and only in a TempDir that the request names.
	Stdin io.Reader
	Where string // condition that rows must meet to be used; see chunkio.Options
	// Version is the version of a Delta table to read. AsOf selects the newest version at that time. By default the
	// newest version is read.
	Version *int64
	AsOf    time.Time
	// Anonymous means that no credentials for object stores are used and that no request for an input is signed.
	Anonymous bool
	// Allow lists prefixes of places: local folders and files, and URLs with the parameters to open objects below them.
	// Lists, plans, selections and logs of tables may name such places in addition to their own. Without Allow, such a
	// document cannot choose a server, credentials or a place of another kind.
	Allow []string
	// Texts overrides the guesses about text inputs: headers, types, and spellings of missing values. It replaces the
	// text options of a selection that is applied or judged.
	Texts chunkio.TextOptions
}

// Columns chooses the columns that become features, and how they do.
type Columns struct {
	Names, Exclude []string // names or globs: use only these (partition keys only if named), do not use these
	Label          string   // class column, which is never a feature
	Weight         string   // column of row weights, which is never a feature
	Sparse         string   // columns of sparse rows: lists "indices,values[,features]" or a map "map[,features]"
	Missing        string   // mean (default), error, drop-row, zero, or pairwise (for methods on the Gram matrix)
	// MaxMissing leaves out columns in which more than this share of the rows is missing. If it is 0, a column with a
	// share above 0.5 gets a warning.
	MaxMissing float64
	// AutoExclude leaves out the columns that otherwise only get a warning: identifiers, times given as numbers, columns
	// with mostly missing values, copies of other columns, and columns that nearly determine Label.
	AutoExclude bool
	// MissingIndicators adds a feature is_missing(NAME), which is 1 or 0, for each feature that has nulls by the
	// footers, or may have some. It is for Missing mean, zero and pairwise. Times makes features of dates and times: see
	// chunkio.Options.
	MissingIndicators, Times bool
	// Categorical makes features of columns of categories. "auto" means the columns of text with at most 64 distinct
	// values; other values are comma-separated names of columns; "" and "none" mean no columns. Each category is a
	// feature, which is 1 in the rows of the category and 0 in all others. Under scales that centre, these values become
	// (1 − p)/√p and −√p, p being the share of the rows of the category. The columns are read once before anything else.
	Categorical string
	Categories  string // the values of the columns that Categorical means, as JSON; found by reading if it is empty
	UnionByName bool   // a column that a file lacks is null in its rows; otherwise all files must have the same columns
}

// Choice names the method, and the features that it may and must select.
type Choice struct {
	// Method is by default methods.Recommended, or methods.Fallback if a sample of the rows shows no clusters; ufs.Scan
	// gathers statistics for both. Options contains the options of the method by name.
	Method  string
	Options method.Settings
	// Methods lists the methods to choose from; nil means methods.All().
	Methods []method.Spec
	// K is the number of features to select. If no field sets the number, ufs.Select acts as if AutoK were set, or uses
	// DefaultK if AutoK is impossible: see Selection.WhyK. ufs.Path uses DefaultK in that case.
	K        int
	AutoK    bool    // instead of K: select as many as package subset recommends; needs the Gram matrix in memory
	Variance float64 // instead of K: stop when the features explain this share
	// MinGain stops the selection when the next feature adds less than this share to the explained sum of squares; K is
	// then the largest number to select. Methods with Takes.MinGain stop at the first feature that adds less. Other
	// methods select K features (default DefaultK); those after the last one that adds at least this share are cut off.
	MinGain float64
	Keep    []string // names or globs of features that are chosen from the start
	Forbid  []string // names or globs of features that are never chosen, but explained like all others
	// Groups names groups of features that are chosen as a whole; K then counts groups and ungrouped features. The value
	// is the name of a file, which contains JSON {"group": ["column", …]} or CSV lines name,group; or such JSON itself;
	// or prefix:SEP; or regex:RE, whose first capture group, or else whole match, names the group; or lists. With
	// GroupMost, single features are chosen, at most GroupMost from each group. Features made from one column of the
	// input (stream.Column.Block) are always chosen together.
	Groups    string
	GroupMost int
	// Costs is a file with the costs of columns and groups, as CSV lines name,cost or JSON {"name": cost}. An unlisted
	// column costs 1; an unlisted group costs the sum over its columns. Budget bounds the total cost of all chosen
	// features, including the features of Keep.
	Costs  string
	Budget float64
	// Scale is none, center, minmax, unit, standard, pareto or rank (normal scores of ranks, which need one more pass).
	// By default the method determines it, or a survey of a sample of the rows.
	Scale string
	// Stability is the number of hash shards of the rows whose statistics are kept apart; AnyShards means a default
	// number, and 0 means no shards. From the shards ufs.Select can select from half-samples without reading rows again.
	// It reports the share of half-samples that choose each feature, and the agreement of the choices.
	Stability int
	// Sketch selects from an estimate of the Gram matrix if the matrix itself is too large. The estimate is made by a
	// sketch of the rows. The value is the number of rows of the sketch; or the deviation allowed for an entry, as "2%"
	// of the norms of its columns; or "auto" for 2,048 rows. Reads is the number of times that the input may then be
	// read: 1 leaves estimates, 2 (default) makes scores exact, and more may find a better choice. Methods on the anchor
	// graph allow Sketch, but not Reads.
	Sketch string
	Reads  int
	Seed   uint64 // of all random choices; default 1
}

// Limits bounds the resources of a run. They have no effect on its result.
type Limits struct {
	Threads    int    // default: one per core
	Memory     int64  // limit on the bytes by which resident memory grows; default 2 GiB
	TempDir    string // for scratch files; default: the temporary folder of the system
	MaxScratch int64  // limit on the bytes of scratch files and copies of objects; 0 means no limit
}

// Checkpoint keeps the progress of a long run.
type Checkpoint struct {
	// Folder keeps the progress, so that the same request resumes from it. ufs.Forget removes the progress once the
	// result is safe. AutoCheckpoint means a folder next to Output if the run is predicted to last longer than LongRun;
	// NoCheckpoint and "" keep no progress.
	Folder  string
	Every   time.Duration // least time between saves, default 30 s; saving uses at most a fiftieth of the run
	LongRun time.Duration // default: ten minutes
}

// Hooks receive events of a run while it works. Each may be nil.
type Hooks struct {
	Meter    *stream.Meter     // counts rows, bytes and busy time
	Progress func(Progress)    // receives the progress of every pass
	Note     func(stream.Text) // receives remarks
	Say      func(stream.Text) // receives remarks that everybody should see
	Spelling stream.Spelling   // spells the names of options in warnings; nil means their bare names
}

// options is the table of the options that statistics files, plans and selections record. The field of the request has
// the kind of the option: text, a list of names, a number or a switch. Options that differ are reported in this order.
var options = []option{
	{"columns", ShapesAnswer | ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Columns.Names }},
	{"exclude", ShapesAnswer | ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Columns.Exclude }},
	{"label", ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Columns.Label }},
	{"missing", ShapesAnswer | ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Columns.Missing }},
	{"weight", ShapesStatistics | FrozenByPlan | AgreesWithStatistics, func(q *Request) any { return &q.Columns.Weight }},
	{"sparse", ShapesStatistics | FrozenByPlan | AgreesWithStatistics, func(q *Request) any { return &q.Columns.Sparse }},
	{"where", ShapesStatistics | FrozenByPlan | AgreesWithStatistics, func(q *Request) any { return &q.Input.Where }},
	{"rows", ShapesStatistics | AgreesWithStatistics, func(q *Request) any { return &q.SampleRows }},
	{"union-by-name", featureRoles, func(q *Request) any { return &q.Columns.UnionByName }},
	{"missing-indicators", featureRoles, func(q *Request) any { return &q.Columns.MissingIndicators }},
	{"times", featureRoles, func(q *Request) any { return &q.Columns.Times }},
	{"types", featureRoles | ReadsText, func(q *Request) any { return &q.Input.Texts.Types }},
	{"text", featureRoles | ReadsText, func(q *Request) any { return &q.Input.Texts.Text }},
	{"null-values", featureRoles | ReadsText, func(q *Request) any { return &q.Input.Texts.Nulls }},
	{OptionCategorical, featureRoles, func(q *Request) any { return &q.Columns.Categorical }},
	{OptionHeader, featureRoles | ReadsText, func(q *Request) any { return &q.Input.Texts.Header }},
	{OptionCategories, ShapesStatistics | FrozenByPlan | MakesFeatures, func(q *Request) any { return &q.Columns.Categories }},
	{"scale", ShapesAnswer | ShapesStatistics | FollowsMethod, func(q *Request) any { return &q.Choice.Scale }},
	{"seed", ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Choice.Seed }},
	{OptionSketch, ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Choice.Sketch }},
	{OptionStability, ShapesAnswer | ShapesStatistics | FrozenByPlan, func(q *Request) any { return &q.Choice.Stability }},
	{"passes", ShapesAnswer, func(q *Request) any { return &q.Choice.Reads }},
	{"auto-exclude", ShapesAnswer, func(q *Request) any { return &q.Columns.AutoExclude }},
	{"max-missing", ShapesAnswer, func(q *Request) any { return &q.Columns.MaxMissing }},
	{"keep", ShapesAnswer, func(q *Request) any { return &q.Choice.Keep }},
	{"forbid", ShapesAnswer, func(q *Request) any { return &q.Choice.Forbid }},
	{"groups", ShapesAnswer, func(q *Request) any { return &q.Choice.Groups }},
	{"group-most", ShapesAnswer, func(q *Request) any { return &q.Choice.GroupMost }},
	{"costs", ShapesAnswer, func(q *Request) any { return &q.Choice.Costs }},
	{"budget", ShapesAnswer, func(q *Request) any { return &q.Choice.Budget }},
	{"variance", ShapesAnswer, func(q *Request) any { return &q.Choice.Variance }},
	{"min-gain", ShapesAnswer, func(q *Request) any { return &q.Choice.MinGain }},
}

// Progress describes a step of a run: a pass over the input, or an iteration. A phase begins with the first call of
// Hooks.Progress, and ends with the call that has Done set.
type Progress struct {
	What   string // description, such as "statistics" or "iteration 3 of at most 50"
	Pass   int    // number of the pass, from 1
	Passes int    // least number of passes in all; 0 if unknown
	Most   int    // largest number of passes in all; 0 means the same as Passes
	Rows   int64  // number of rows of the pass; -1 if unknown
	Done   bool   // the phase has ended
	Failed bool   // the phase has ended with an error
}

// The names of the missing policies, which are the values of Columns.Missing.
const (
	MissingError    = "error"
	MissingDropRow  = "drop-row"
	MissingMean     = "mean"
	MissingZero     = "zero"
	MissingPairwise = "pairwise"
)

// MissingPolicies implements ufs.MissingPolicies.
func MissingPolicies() []string {
	return []string{MissingMean, MissingError, MissingDropRow, MissingZero, MissingPairwise}
}

// KeptMissing lists the policies under which statistics keep missing entries; these are filled later.
func KeptMissing() []string { return []string{MissingMean, MissingZero, MissingPairwise} }

// defaultMemory is Limits.Memory if the request leaves it open.
const defaultMemory = 2 << 30

// DefaultK is the number of features to select if the request names none and no rule can recommend one; with fewer
// features all are selected.
const DefaultK = 50
