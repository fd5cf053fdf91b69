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

// Request says what to read, what to select from it and within which bounds. A zero field
// means its default.
//
// Errors name options as the command does: {rows} stands for SampleRows, {on-error} for
// SkipBad, {passes} for Reads, {memory-limit} for Memory, {temp-dir} and {max-temp-size} for TempDir and
// MaxScratch, {o} for Output; the others are called like their fields.
type Request struct {
	// Inputs are files of Parquet, Arrow IPC, CSV, TSV, NDJSON, Avro, NumPy arrays or libsvm text,
	// globs, directories (with key=value partitions), URLs of object stores for any of those, @lists
	// of those, - for any of these formats on Stdin, or a Delta table: its folder, or delta:// before it.
	Inputs []string
	// Stdin is kept in a scratch file; a stream of Arrow IPC only in a TempDir that is named, and
	// where it is read more than once.
	Stdin io.Reader
	stdin *chunkio.Stdin // what the request has made of it
	// Plan is a plan file (see WritePlan) to read in place of Inputs: it names the files, and has
	// all that shapes statistics.
	Plan string
	// Stats is a statistics file (see Scan) to select from in place of Inputs.
	Stats string

	Columns, Exclude []string // names or globs of columns: only these (partition keys only so), not these
	Label            string   // the class column: never a feature
	Weight           string   // column of row weights: never a feature
	Sparse           string   // list columns of sparse rows, or a map: "indices,values[,features]" or "map[,features]"
	Missing          string   // mean (default), error, drop-row, zero, pairwise (methods on the Gram matrix)
	Where            string   // a condition; only rows for which it is true take part: see chunkio.Options
	// MaxMissing leaves out columns of which more than this share of the rows is missing; 0 warns above 0.5.
	MaxMissing float64
	// AutoExclude leaves out the columns that are otherwise warned of: identifiers, times as numbers,
	// mostly missing ones, copies of others, and those that nearly determine Label.
	AutoExclude bool
	SampleRows  int64 // a quick try on a seeded sample of so many rows; 0 means all, or with Stats those scanned
	// MissingIndicators adds a feature is_missing(NAME), 1 or 0, for each feature that has nulls, as
	// the footers tell, or may have some; it goes with Missing mean, zero and pairwise. Times makes
	// features of dates and times: see chunkio.Options.
	MissingIndicators, Times bool
	// Categorical makes features of columns of categories: "auto" of text with at most 64 distinct
	// values, or the names of columns, comma-separated; "" and "none" of none. Each category is a feature,
	// 1 in its rows and else 0, and under the scales that centre (1 − p)/√p and −√p, p its share of the
	// rows. The columns are read once before anything else.
	Categorical string
	categories  string // what was found of them

	UnionByName bool // a column that a file lacks is null in its rows; otherwise all files have the same columns
	SkipBad     bool // leave out files that cannot be read, with a warning

	Method  string          // default: methods.Recommended, or methods.Fallback if a sample of the rows shows no clusters; Scan gathers for both
	Options method.Settings // of the method, by name
	// K is the number of features to select. Where neither that nor Variance nor MinGain is named,
	// Select acts as for AutoK where that can be served, and takes DefaultK where not: see
	// Selection.WhyK. Path takes DefaultK.
	K        int
	AutoK    bool    // in place of K: as many as package subset recommends; needs the Gram matrix in memory
	Variance float64 // in place of K: stop when this share is explained
	// MinGain stops where the next feature adds less than this share to what is explained; K is then
	// the most that are selected. Methods that take it as they choose stop at the first that adds less;
	// of others' first K (default DefaultK) those after the last that adds as much are cut off.
	MinGain float64
	Keep    []string // names or globs of features that are in from the start
	Forbid  []string // names or globs of features that are explained like others, and never chosen
	// Groups says which features are chosen whole, K then counting groups and the features in none: a file
	// of JSON {"group": ["column", …]} or CSV lines name,group (or such JSON itself), prefix:SEP, regex:RE
	// (whose first group, or whole match, names the group), or lists. With GroupMost single features are
	// chosen, so many of each group at most. Columns that are made of one column of the input
	// (stream.Column.Block) are chosen as that one in any case.
	Groups    string
	GroupMost int
	// Costs is a file of CSV lines name,cost or JSON {"name": cost} of columns and groups; a column costs 1
	// where nothing is said, and a group what its columns cost together. Budget bounds the cost of all that
	// is chosen, what is kept included.
	Costs  string
	Budget float64
	Scale  string // none, center, minmax, unit, standard, pareto, rank (normal scores of ranks: one more pass); default: the method's, or what a sample of the rows tells
	// Stability keeps the statistics of so many hash shards of the rows apart, AnyShards a default
	// number, so that Select can select from half-samples without reading rows again: Select says
	// how often each feature is chosen, and how well the choices agree. 0 does without.
	Stability int
	// Sketch selects from an estimate of the Gram matrix by a sketch of the rows, where that itself
	// is too large: the number of rows of the sketch; how far an entry may be off, as "2%" of its
	// columns' norms; or "auto" for 2,048 rows. Reads is how often the input may be read then: 1 leaves
	// estimates, 2, the default, makes scores exact, and more may find a better choice. Methods on the
	// anchor graph take a Sketch and no Reads.
	Sketch string
	Reads  int
	// Methods are those to choose from; nil means methods.All().
	Methods []method.Spec

	Seed       uint64          // of everything random; default 1
	Threads    int             // default: one a core; never changes the result
	Memory     int64           // peak resident memory in bytes, beside what the process held before, default 2 GiB; never changes the result
	TempDir    string          // for scratch files; default: the system's
	MaxScratch int64           // bytes of scratch files and copies of objects at most; 0 means no bound
	ledger     *scratch.Ledger // of those

	// Checkpoint is a folder that keeps what a long run has come to: the same request goes on
	// from there. Forget removes it once the result is safe. AutoCheckpoint takes a folder beside
	// Output where the run is predicted to take more than ten minutes; NoCheckpoint and an empty
	// one keep nothing. CheckpointEvery is the time between saves at least, default 30 s; they
	// take no more than a fiftieth of the run.
	Checkpoint      string
	CheckpointEvery time.Duration
	longRun         time.Duration // in place of the ten minutes; 0 in all but tests

	// Output is where the caller will put the result, a file or the URL of an object:
	// refused where that is an input.
	Output string

	// Version is the version to read of a Delta table, and AsOf the time whose newest version is
	// read; nil and zero read the newest.
	Version *int64
	AsOf    time.Time
	// Anonymous looks for no credentials of object stores and signs no request for an input.
	Anonymous bool
	// Allow are prefixes of places that lists, plans, selections and logs of tables may name outside
	// their own place: local folders and files, and URLs with the parameters to open what lies below
	// them. Without it, none chooses a server, credentials or a place of another kind.
	Allow []string
	// Texts overrule what is guessed about inputs that are text: headers, types, spellings of missing values.
	Texts chunkio.TextOptions

	Meter    *stream.Meter     // counts rows, bytes and busy time as the run goes on
	Progress func(Progress)    // hears of every pass; nil shows nothing
	Note     func(stream.Text) // hears remarks on the way; nil drops them
	Say      func(stream.Text) // hears those that everybody should; nil drops them
	// Spelling says how warnings name options: by their bare names where it is nil.
	Spelling stream.Spelling
}

// Progress is a step of a run: a pass over the input, or an iteration. A phase begins with
// the first call and ends with the one that says Done.
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

// keptMissing are the policies under which statistics keep what is missing, and settle it.
func keptMissing() []string { return []string{missingMean, missingZero, missingPairwise} }

// defaultMemory is Request.Memory where nothing is said.
const defaultMemory = 2 << 30

// DefaultK is the number of features selected, if there are as many, where a request names none and
// nothing tells how many are worth keeping.
const DefaultK = 50
