package ufs

import (
	"io"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Release is the version that this source will become; results record it.
const Release = "0.1.0"

// Request describes the data to read, the features to select from it, and the bounds of the run. A zero field
// means its default.
//
// Errors name options as the command does: {rows} stands for SampleRows, {on-error} for SkipBad, {passes} for
// Reads, {memory-limit} for Memory, {temp-dir} and {max-temp-size} for TempDir and MaxScratch, {o} for Output;
// the others have the names of their fields.
type Request struct {
	// Inputs are files of Parquet, Arrow IPC, CSV, TSV, NDJSON, Avro, NumPy arrays or libsvm text, globs,
	// directories (with key=value partitions), URLs of object stores for any of those, @lists of those, - for
	// any of these formats on Stdin, or a Delta table: its folder, or delta:// and the folder.
	Inputs []string
	// Stdin is kept in a scratch file; a stream of Arrow IPC only in a named TempDir, and only if it is read
	// more than once.
	Stdin io.Reader
	stdin *chunkio.Stdin // Stdin wrapped so that it can be reopened
	// Plan is a plan file (see WritePlan) to read in place of Inputs: it names the files, and holds all options
	// that shape statistics.
	Plan string
	// Stats is a statistics file (see Scan) to select from in place of Inputs.
	Stats string

	Columns, Exclude []string // names or globs of columns: only these (partition keys only if named), not these
	Label            string   // the class column: never a feature
	Weight           string   // column of row weights: never a feature
	Sparse           string   // list columns of sparse rows, or a map: "indices,values[,features]" or "map[,features]"
	Missing          string   // mean (default), error, drop-row, zero, pairwise (methods on the Gram matrix)
	Where            string   // a condition; only rows for which it is true take part: see chunkio.Options
	// MaxMissing leaves out columns in which more than this share of the rows is missing; 0 warns above 0.5.
	MaxMissing float64
	// AutoExclude leaves out the columns that otherwise get a warning: identifiers, times as numbers, mostly
	// missing ones, copies of others, and columns that nearly determine Label.
	AutoExclude bool
	SampleRows  int64 // number of rows in a seeded sample, for a quick try; 0 means all, or with Stats the scanned rows
	// MissingIndicators adds a feature is_missing(NAME), 1 or 0, for each feature that has nulls by the footers,
	// or may have some; it goes with Missing mean, zero and pairwise. Times makes features of dates and times:
	// see chunkio.Options.
	MissingIndicators, Times bool
	// Categorical makes features of columns of categories: "auto" of text with at most 64 distinct values, or
	// the names of columns, comma-separated; "" and "none" of none. Each category is a feature, 1 in its rows
	// and else 0, and under the scales that centre (1 − p)/√p and −√p, p its share of the rows. The columns are
	// read once before anything else.
	Categorical string
	categories  string // their values, as JSON

	UnionByName bool // a column that a file lacks is null in its rows; otherwise all files must agree
	SkipBad     bool // leave out files that cannot be read, with a warning

	// Method is by default methods.Recommended, or methods.Fallback if a sample of the rows shows no clusters;
	// Scan gathers for both. Options are the options of the method, by name.
	Method  string
	Options method.Settings
	// K is the number of features to select. If the request sets neither K nor Variance nor MinGain, Select acts
	// as for AutoK if possible, else it takes DefaultK: see Selection.WhyK. Path takes DefaultK.
	K        int
	AutoK    bool    // instead of K: as many as package subset recommends; needs the Gram matrix in memory
	Variance float64 // instead of K: stop when this share is explained
	// MinGain stops when the next feature adds less than this share to the explained sum of squares; K is then
	// the largest number selected. Methods with Takes.MinGain stop at the first feature that adds less; the
	// others select K (default DefaultK), and the features after the last one that adds as much are cut off.
	MinGain float64
	Keep    []string // names or globs of features that are chosen from the start
	Forbid  []string // names or globs of features that are explained like others, and never chosen
	// Groups names groups of features to choose whole; K then counts groups and ungrouped features. It is a file
	// of JSON {"group": ["column", …]} or CSV lines name,group (or such JSON itself), prefix:SEP, regex:RE
	// (whose first group, or whole match, names the group), or lists. With GroupMost single features are chosen,
	// at most GroupMost from each group. Features made from one column of the input (stream.Column.Block) are
	// always chosen together.
	Groups    string
	GroupMost int
	// Costs is a file of CSV lines name,cost or JSON {"name": cost} of columns and groups; an unlisted column
	// costs 1, and an unlisted group the sum over its columns. Budget bounds the cost of all chosen features,
	// including Keep.
	Costs  string
	Budget float64
	// Scale is none, center, minmax, unit, standard, pareto or rank (normal scores of ranks: one more pass); the
	// default is the method's, or settled by a sample of the rows.
	Scale string
	// Stability keeps the statistics of this many hash shards of the rows apart, AnyShards a default number, so
	// that Select can select from half-samples without reading rows again and reports the share of them that
	// choose each feature, and the agreement of the choices. 0 means none.
	Stability int
	// Sketch selects from an estimate of the Gram matrix by a sketch of the rows, if the matrix itself is too
	// large: the number of rows of the sketch; the deviation allowed for an entry, as "2%" of its columns'
	// norms; or "auto" for 2,048 rows. Reads is the number of times the input may be read then: 1 leaves
	// estimates, 2, the default, makes scores exact, and more may find a better choice. Methods on the anchor
	// graph take a Sketch and no Reads.
	Sketch string
	Reads  int
	// Methods lists the methods to choose from; nil means methods.All().
	Methods []method.Spec

	Seed       uint64          // of everything random; default 1
	Threads    int             // default: one a core; never changes the result
	Memory     int64           // peak resident memory in bytes beyond the process's before, default 2 GiB; never changes the result
	TempDir    string          // for scratch files; default: the system's
	MaxScratch int64           // limit on the bytes of scratch files and copies of objects; 0 means no bound
	ledger     *scratch.Ledger // of scratch files and copies

	// Checkpoint is a folder that keeps the progress of a long run: the same request resumes from it. Forget
	// removes it once the result is safe. AutoCheckpoint takes a folder next to Output if the run is predicted
	// to take more than ten minutes; NoCheckpoint and an empty one keep nothing. CheckpointEvery is the least
	// time between saves, default 30 s; they take no more than a fiftieth of the run.
	Checkpoint      string
	CheckpointEvery time.Duration
	longRun         time.Duration // replaces the ten minutes; 0 except in tests

	// Output is the caller's destination of the result, a file or the URL of an object: refused if that is an
	// input.
	Output string

	// Version is the version to read of a Delta table; AsOf selects the newest version at that time; nil and
	// zero read the newest.
	Version *int64
	AsOf    time.Time
	// Anonymous means that no credentials for object stores are used and that no request for an input is signed.
	Anonymous bool
	// Allow lists prefixes of places that lists, plans, selections and logs of tables may name outside their own
	// place: local folders and files, and URLs with the parameters to open objects below them. Without it, none
	// chooses a server, credentials or a place of another kind.
	Allow []string
	// Texts override the guesses about text inputs: headers, types, spellings of missing values.
	Texts chunkio.TextOptions

	Meter    *stream.Meter     // counts rows, bytes and busy time during the run
	Progress func(Progress)    // receives every pass; nil shows nothing
	Note     func(stream.Text) // receives remarks during the run; nil drops them
	Say      func(stream.Text) // receives remarks that everybody should see; nil drops them
	// Spelling spells the names of options in warnings: by their bare names if it is nil.
	Spelling stream.Spelling
}

// Progress is a step of a run: a pass over the input, or an iteration. A phase begins with the first call and
// ends with the call that has Done set.
type Progress struct {
	What   string // "statistics", "iteration 3 of at most 50"
	Pass   int    // from 1
	Passes int    // in all, at least; 0 unknown
	Most   int    // in all, at most; 0 means as Passes
	Rows   int64  // of the pass; -1 unknown
	Done   bool   // the phase has ended
	Failed bool   // with an error
}

// Missing policies, by name.
const (
	missingError    = "error"
	missingDropRow  = "drop-row"
	missingMean     = "mean"
	missingZero     = "zero"
	missingPairwise = "pairwise"
)

// MissingPolicies lists the values of Request.Missing, the default first.
func MissingPolicies() []string {
	return []string{missingMean, missingError, missingDropRow, missingZero, missingPairwise}
}

// keptMissing lists the policies under which statistics keep missing entries, to fill them later.
func keptMissing() []string { return []string{missingMean, missingZero, missingPairwise} }

// defaultMemory is Request.Memory if the request leaves it open.
const defaultMemory = 2 << 30

// DefaultK is the number of features selected, if there are as many, when a request names none and no rule can
// recommend one.
const DefaultK = 50
