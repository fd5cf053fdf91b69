package request

import (
	"fmt"
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

	// Stats is a statistics file (see ufs.Scan) to select from instead of Input.Paths.
	Stats string
	// SampleRows is the number of rows in a seeded sample, for a quick try; 0 means all (with Stats, all scanned) rows.
	SampleRows int64
	// Cache is a folder in which the statistics of Input are kept for later requests on the same files; CacheBeside means
	// the folder of the first input. Empty means none. It is for requests that select or relate columns.
	Cache   string
	SkipBad bool // leave out files that cannot be read, with a warning

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
	// Plan is a plan file (see ufs.WritePlan) to read instead of Paths. It names the files, and contains all options that
	// shape statistics.
	Plan string
	// Stdin is the data of the input -. It is kept in a scratch file. A stream of Arrow IPC is kept only if it is read
	// more than once, and only in a TempDir that the request names.
	Stdin io.Reader
	Where string // condition that rows must meet to be used; see chunkio.Options
	// Version is the version of a Delta table to read. AsOf selects the newest version at that time. By default the
	// newest version is read.
	Version *int64
	AsOf    time.Time
	// Since and Losses are set by Scan: it reads the rows that a table has gained since this version, or the rows
	// that it has lost.
	Since  *int64
	Losses bool
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

// IsEmpty reports whether in names no data.
func (in *Input) IsEmpty() bool { return len(in.Paths) == 0 && in.Plan == "" }

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
	// RowScale is "", none, l2, tfidf, cp10k or cp10k,log1p. l2 divides each row by its Euclidean norm over all features; a row of zeros stays
	// one. tfidf first multiplies each value by ln((1 + n)/(1 + f)) + 1, n being the weight of all rows and f the weight of
	// the rows in which the feature is not 0. Missing values count as 0 in norms and in f, and Missing then treats them:
	// mean is the mean of a column of scaled rows. Other options, such as Choice.Scale, act on the scaled rows. cp10k
	// multiplies each row so that its sum is 10,000, and log1p then replaces each value x by ln(1 + x); a negative value is
	// an error.
	RowScale    string
	Frequencies string // the weights n and f that tfidf means, as JSON; found by reading if it is empty
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
	// ExplainColumns are names or globs of features to be explained by the others: none of them is chosen, and the
	// explained share is of them alone. Empty means that all features are explained.
	ExplainColumns []string
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

// options is the table of all options of requests. Commands list the options of a section in this order, and options
// that differ from a record are reported in it.
var options = []Option{
	{Name: "k", Short: "k", Part: PartChoice, Section: Everyday, Bounds: OneOrMore, usage: featureCountOptionHelp,
		field: func(q *Request) any { return &q.Choice.K }, format: formatFeatureCount, parse: parseFeatureCount},
	{Name: "label", Part: PartColumns, Section: Everyday, roles: ShapesStatistics | FrozenByPlan | NamesColumn, field: func(q *Request) any { return &q.Columns.Label },
		Help: "the class column `COL`: never a feature"},
	{Name: "columns", Part: PartColumns, Section: Everyday, roles: everyRecord | NamesColumns, field: func(q *Request) any { return &q.Columns.Names },
		Help: "only these columns are features (`GLOBS`: names or globs, comma-separated); partition keys and the index of a data frame are features only if named here"},
	{Name: "exclude", Part: PartColumns, Section: Everyday, roles: everyRecord | NamesColumns, field: func(q *Request) any { return &q.Columns.Exclude },
		Help: "these columns are no features (`GLOBS`: names or globs, comma-separated)"},
	{Name: "missing", Part: PartColumns, Section: Everyday, roles: everyRecord, field: func(q *Request) any { return &q.Columns.Missing }, Shown: MissingMean, Values: MissingPolicies(),
		Help: "nulls, NaN and infinities: mean (fill with the column's mean over the whole input; filled values are counted if the flag is not given), error (refuse, with the place), drop-row, zero, pairwise (greedy family: each covariance over the rows that have both columns)"},
	{Name: "method", Part: PartChoice, Section: Everyday, field: func(q *Request) any { return &q.Choice.Method }, usage: methodOptionHelp},
	{Name: "scale", Part: PartChoice, Section: Everyday, roles: ShapesAnswer | ShapesStatistics | FollowsMethod | CheckedByRun, Values: ScaleNames(), field: func(q *Request) any { return &q.Choice.Scale }, usage: scaleOptionHelp},

	{Name: "stats", Part: PartAlone, Section: Reading, field: func(q *Request) any { return &q.Stats },
		Help: "select from the statistics in `ALL.ufs` (see scan and merge) in place of INPUT"},
	{Name: "cache", Part: PartAlone, Section: Reading, field: func(q *Request) any { return &q.Cache },
		Help: "keep the statistics of INPUT in the folder `DIR`, or beside: hidden files next to INPUT; as long as its files are unchanged, later questions read no rows (default: keep none)"},
	{Name: "plan", Part: PartTables, Section: Reading, field: func(q *Request) any { return &q.Input.Plan },
		Help: "read the files that the plan file `JOB.plan.json` names, in place of INPUT; it has the options that shape statistics (see plan)"},
	{Name: "where", Part: PartRows, Section: Reading, roles: ShapesStatistics | FrozenByPlan | AgreesWithStatistics, field: func(q *Request) any { return &q.Input.Where },
		Help: "only rows for which `EXPR` is true: comparisons of columns and partition keys with constants, as day >= '2026-01-01' and site in ('a', 'b') and x is not null"},
	{Name: "rows", Part: PartColumns, Section: Reading, roles: ShapesStatistics | AgreesWithStatistics, field: func(q *Request) any { return &q.SampleRows }, Bounds: AtLeast(0, "0 (all) or more"),
		Help: "quick try: only a seeded sample of `N` rows (0: all)"},
	{Name: "on-error", Part: PartColumns, Section: Reading, field: func(q *Request) any { return &q.SkipBad }, Shown: "fail", Values: []string{"fail", "skip-file"},
		Help: "a file that cannot be read: fail, or skip-file (left out with a warning; a pass under way starts again)"},
	{Name: "union-by-name", Part: PartColumns, Section: Reading, roles: featureRoles, field: func(q *Request) any { return &q.Columns.UnionByName },
		Help: "a column that a file lacks is null in its rows (else all files must have the same columns)"},
	{Name: "sparse", Part: PartColumns, Section: Reading, roles: ShapesStatistics | FrozenByPlan | AgreesWithStatistics, field: func(q *Request) any { return &q.Columns.Sparse },
		Help: "sparse rows: the list columns `INDICES,VALUES[,D]`, or a map column, MAP[,D], hold zero-based feature numbers (a map also texts) and their values, or ROW,INDEX,VALUE[,D] a value each, sorted by row; absent is 0; D is the number of features"},
	{Name: OptionHeader, Part: PartTables, Section: Reading, roles: featureRoles | ReadsText, field: func(q *Request) any { return &q.Input.Texts.Header }, Values: []string{"auto", "yes", "no"},
		Help: "CSV: yes, the first row has the names of the columns; no, it is data; auto, decide by comparing it with the rows below (default: auto, or as the plan or selection records)"},
	{Name: "null-values", Part: PartTables, Section: Reading, roles: featureRoles | ReadsText, field: func(q *Request) any { return &q.Input.Texts.Nulls },
		Help: "CSV: a `LIST` of spellings of a missing value, as NA,?,-999, in place of the usual ones of pandas; an empty field always is one. The listed ones are missing in text and in NDJSON too. Numbers in the list are missing values of features in every format"},
	{Name: "text", Part: PartTables, Section: Reading, roles: featureRoles | ReadsText, field: func(q *Request) any { return &q.Input.Texts.Text },
		Help: "CSV and NDJSON: columns `COL,…` (names or globs) that are text though their values look like numbers: postal codes, phone numbers, keys"},
	{Name: "types", Part: PartTables, Section: Reading, roles: featureRoles | ReadsText, field: func(q *Request) any { return &q.Input.Texts.Types },
		Help: "CSV and NDJSON: `COL=TYPE,…` for columns whose type is not to be guessed: bool, int, float, date, time, text"},
	{Name: "as-of", Part: PartTables, Section: Reading, field: func(q *Request) any { return &q.Input.AsOf },
		Help: "the Delta table as it was at `TIME`, as 2026-01-31 or 2026-01-31T08:00:00Z (UTC)"},
	{Name: "version", Part: PartTables, Section: Reading, Bounds: AtLeast(0, "0 or more"),
		field: func(q *Request) any { return &q.Input.Version }, format: formatTableVersion, parse: parseTableVersion,
		Help: "version `N` of the Delta table (default: the newest)"},
	{Name: "anonymous", Part: PartTables, Section: Reading, field: func(q *Request) any { return &q.Input.Anonymous },
		Help: "inputs in object stores are public: look for no credentials and sign no request for them"},
	{Name: "allow", Part: PartTables, Section: Reading, roles: Repeats, field: func(q *Request) any { return &q.Input.Allow },
		Help: "lists, plans, selections and logs of tables may also name files below `PREFIX`, a folder or a URL with its parameters, as s3://BUCKET/FOLDER/?region=… (repeatable; without it only files in their own place)"},

	{Name: OptionRowScale, Part: PartColumns, Section: Preparing, roles: featureRoles, field: func(q *Request) any { return &q.Columns.RowScale }, Shown: RowScaleNone, Values: RowScales(),
		Help: "l2: divide each row by its Euclidean norm over all features, before anything else. tfidf, for counts: first multiply each value by ln((1+n)/(1+f))+1, for n rows of which f have the feature; the input is read once more beforehand, by plan too. cp10k, for counts: multiply each row so that its sum is 10,000; cp10k,log1p: then replace each value x by ln(1+x). Missing values count as 0 in norms, sums and counts"},
	{Name: OptionFrequencies, roles: ShapesStatistics | FrozenByPlan | MakesFeatures, field: func(q *Request) any { return &q.Columns.Frequencies }}, // found by reading; no command has it
	{Name: "weight", Part: PartColumns, Section: Preparing, roles: ShapesStatistics | FrozenByPlan | AgreesWithStatistics | NamesColumn, field: func(q *Request) any { return &q.Columns.Weight },
		Help: "column `COL` of row weights (>= 0): never a feature"},
	{Name: "max-missing", Part: PartExclusion, Section: Preparing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Columns.MaxMissing },
		Bounds: Bounds{"a share above 0 and below 1, as 0.5", func(v float64) bool { return v > 0 && v < 1 }},
		Help:   "leave out columns that lack a value in more than this `SHARE` of the rows, as 0.5; without this flag, a share above 0.5 is a warning"},
	{Name: "auto-exclude", Part: PartExclusion, Section: Preparing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Columns.AutoExclude },
		Help: "leave out the columns that otherwise cause a warning: identifiers, times as numbers, mostly missing ones, copies of others, and those that nearly determine {label}. The output lists them, with the reason. Methods on an anchor graph or over rows then read the input once more"},
	{Name: OptionCategorical, Part: PartColumns, Section: Preparing, roles: featureRoles | NamesColumns, field: func(q *Request) any { return &q.Columns.Categorical },
		Help: "columns of categories, `COL,…`, or auto: text of at most 64 distinct values. Each category is a feature, NAME=VALUE, scaled as in multiple correspondence analysis; these columns are read once more beforehand, by plan too (default: none)"},
	{Name: OptionCategories, roles: ShapesStatistics | FrozenByPlan | MakesFeatures, field: func(q *Request) any { return &q.Columns.Categories }}, // found by reading; no command has it
	{Name: "times", Part: PartColumns, Section: Preparing, roles: featureRoles, field: func(q *Request) any { return &q.Columns.Times },
		Help: "dates and times are features: a number (days, or seconds since 1970) and its positions in the day, the week and the year as sine and cosine: ts, ts.hour.sin, …"},
	{Name: "missing-indicators", Part: PartColumns, Section: Preparing, roles: featureRoles, field: func(q *Request) any { return &q.Columns.MissingIndicators },
		Help: "unless {missing} is error or drop-row: for each feature with nulls another, is_missing(NAME), that is 1 where it is missing, else 0"},

	{Name: "variance", Part: PartChoice, Section: Choosing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.Variance }, Bounds: ShareUpToOne, usage: varianceOptionHelp},
	{Name: "min-gain", Part: PartChoice, Section: Choosing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.MinGain },
		Bounds: Bounds{"a share above 0 and below 1", func(v float64) bool { return v > 0 && v < 1 }}, usage: minGainOptionHelp},
	{Name: "keep", Part: PartChoice, Section: Choosing, roles: ShapesAnswer | NamesColumns, field: func(q *Request) any { return &q.Choice.Keep },
		Help: "features or groups that are in from the start (`GLOBS`: names or globs, comma-separated)"},
	{Name: "forbid", Part: PartChoice, Section: Choosing, roles: ShapesAnswer | NamesColumns, field: func(q *Request) any { return &q.Choice.Forbid },
		Help: "features or groups that are never chosen, but explained like others (`GLOBS`: names or globs, comma-separated; {exclude} removes columns from the data too)"},
	{Name: "explain-columns", Part: PartChoice, Section: Choosing, roles: ShapesAnswer | NamesColumns, field: func(q *Request) any { return &q.Choice.ExplainColumns },
		Help: "choose the features that best reconstruct these features or groups (`GLOBS`: names or globs, comma-separated), which are never chosen themselves; methods greedy and partgreedy. With the class column here, unlabelled selection becomes supervised"},
	{Name: "groups", Part: PartChoice, Section: Choosing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.Groups },
		Help: "choose whole groups of features, and count groups by {k}: `GROUPS` is a file of JSON {\"group\": [\"column\", …]} or CSV name,group, prefix:SEP (the part of a name before SEP), regex:RE (its first group or the whole match), or lists (emb of emb[0], emb[1], …)"},
	{Name: "group-most", Part: PartChoice, Section: Choosing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.GroupMost }, Bounds: OneOrMore,
		Help: "with {groups}: choose single features, at most `N` of each group"},
	{Name: "costs", Part: PartChoice, Section: Choosing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.Costs },
		Help: "costs of columns and groups: `FILE` of CSV name,cost or JSON {\"name\": cost}. A column that is not named costs 1, such a group the sum of its columns. The greedy family chooses by gain per cost; for groups of several sizes it does so without this flag too"},
	{Name: "budget", Part: PartChoice, Section: Choosing, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.Budget },
		Bounds: Bounds{"a number above 0", func(v float64) bool { return v > 0 && v <= MaxCost }},
		Help:   "choose while the total cost stays within `X`; {k} is then a further bound"},
	{Name: OptionStability, Part: PartAlone, Section: Choosing, roles: everyRecord, NoValue: anyShardsText,
		field: func(q *Request) any { return &q.Choice.Stability }, format: formatShardCount, parse: parseShardCount,
		Help: "greedy family and graph methods: keep the statistics of `H` hash shards of the rows apart (even, 4 to 32; the flag alone: 8, or the number in {stats}). Also select from half-samples, which are sums of shards, to show how often each feature is chosen and how well the choices agree. No row is read again. This takes memory for H+1 times the statistics, and time for 20 further selections from them"},

	{Name: "memory-limit", Part: PartLimits, Section: Limiting, roles: CountsBytes, field: func(q *Request) any { return &q.Limits.Memory }, Default: "2GiB", Bounds: AtLeast(0, "a number of bytes"),
		Help: "peak resident memory, as 512MiB or 4GB; never changes a method's selection. Without {method}, too little memory for the recommended one means greedy. Without {k}, too little to find how many are worth keeping means 50. The output reports this"},
	{Name: "threads", Part: PartLimits, Section: Limiting, field: func(q *Request) any { return &q.Limits.Threads },
		Bounds: Bounds{fmt.Sprintf("0 (one for each core) up to %d", maxThreads), func(v float64) bool { return v >= 0 && v <= maxThreads }},
		Help:   "`N` worker threads (0: one for each core); never changes the result"},
	{Name: "seed", Part: PartLimits, Section: Limiting, roles: ShapesStatistics | FrozenByPlan, field: func(q *Request) any { return &q.Choice.Seed }, Shown: "1", Bounds: AtLeast(1, "a number from 1 on"),
		Help: "seed `N` of everything random, from 1 on"},
	{Name: "temp-dir", Part: PartScratch, Section: Limiting, field: func(q *Request) any { return &q.Limits.TempDir },
		Help: "folder `DIR` for scratch files, used for CSV and other files of rows, for standard input that is read more than once (a stream of Arrow IPC only if named here), and for rows that a method iterates over, if they do not fit into memory and {checkpoint} names no folder (default: the system's)"},
	{Name: "max-temp-size", Part: PartScratch, Section: Limiting, roles: CountsBytes, field: func(q *Request) any { return &q.Limits.MaxScratch }, Bounds: AtLeast(0, "a number of bytes"),
		Help: "largest scratch space, including copies of objects, as 100GiB (default: no bound)"},
	{Name: OptionSketch, Part: PartAlone, Section: Limiting, roles: ShapesStatistics | FrozenByPlan, field: func(q *Request) any { return &q.Choice.Sketch },
		Help: "greedy and methods on the anchor graph, if the Gram matrix is too large: estimate it by a sketch of `ROWS` rows. ROWS may also be the error of an entry as a share (as 2%%), or auto (2,048 rows). The output marks estimates"},
	{Name: "passes", Part: PartAlone, Section: Limiting, roles: ShapesAnswer, field: func(q *Request) any { return &q.Choice.Reads }, Bounds: OneOrMore,
		Help: "greedy with {sketch}: read the input at most `N` times. 1 leaves estimates, 2 (default) makes the scores exact, more may find a better choice"},
	{Name: "checkpoint", Part: PartCheckpoint, Section: Limiting, field: func(q *Request) any { return &q.Checkpoint.Folder }, Default: AutoCheckpoint,
		Help: "save the progress of the run in `DIR` now and then, and when interrupted; the same command continues from there. auto: in OUTPUT.checkpoint next to {o}, if the run is predicted to take more than ten minutes; none: nowhere"},
	{Name: "checkpoint-every", Part: PartCheckpoint, Section: Limiting, field: func(q *Request) any { return &q.Checkpoint.Every }, Default: "30s", Bounds: Bounds{"a time above 0", func(v float64) bool { return v > 0 }},
		Help: "shortest time between saves; they take no more than 2 %% of the run"},
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

// MissingPolicies implements ufs.MissingPolicies: it lists the values of Columns.Missing, the default first.
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
