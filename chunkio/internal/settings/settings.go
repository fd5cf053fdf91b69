package settings

import (
	"cmp"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options choose the rows and columns to deliver, and how. The zero value delivers all numeric columns and ends with
// an error at a missing value.
type Options struct {
	// Columns and Exclude restrict the features by globs over the flattened names; an exact name wins over a glob, a
	// list's own name means all its elements, and * matches / too. A pattern that matches no column is a usage error.
	// Partition keys are features only if a pattern in Columns matches them. The same holds for the index of a data
	// frame, a column that pandas names in the metadata of a file.
	Columns, Exclude []string
	Label, Weight    string // columns that are never features; Weight contains the weights of the rows
	// Sparse makes rows sparse. It names two list columns ("indices,values"), a map from integers to numbers ("map"),
	// or three columns of triples, and may end with the number of features: "indices,values,4862".
	Sparse string
	// Classes delivers the values of the Label column as Chunk.Class: integers, booleans, strings, floats, decimals,
	// dates, times or a partition key. Null and NaN are not classes; the empty string is one. More than 65,536 classes
	// are an error. Set Classes for Open too, not only for With. Otherwise Open may round the whole numbers in files of
	// rows to float64, and labels that are then equal are one class.
	Classes bool
	// Target delivers the values of the Label column as Chunk.Target: numbers and booleans as they are. If the label
	// has another type that Classes accepts, each value gets a code, the upper 53 bits of the xxHash64 of its text;
	// codes are the same in every file and format. Null and NaN have no target. If Classes does not accept the label,
	// or if its texts need much memory to decode, there are no targets, and this is not an error.
	Target bool
	// Where is a condition on rows, such as day >= "2026-01-01" and site in ("a", "b"). Rows for which it is not true
	// take no part, like rows outside the sample: their values are not counted, and cause no errors. The columns in the
	// condition need not be features. Files excluded by their partition keys are not opened and not counted. Row groups
	// excluded by their statistics are not decoded. Rows of the opened files count in positions, in Rows and in
	// Chunk.Block, whether they match or not. Only Open reads this option.
	Where    string
	Missing  stream.MissingPolicy
	LeaveOut []stream.LeftOut // features, by flattened name, that an earlier decision excludes from reading
	// Union allows files to lack columns that other files have: such columns are null in all rows of the file. Columns
	// are in the order in which the files introduce them. Only Open reads this option.
	Union bool
	// Times makes features of dates (days since 1970), timestamps (seconds since 1970) and times of day (seconds since
	// midnight): one feature is this number, and pairs of features are the sine and cosine of the position in the day,
	// the week and the year. The features of a column, "ts", "ts.hour.sin", …, are in one Block. Indicators adds a
	// feature is_missing(NAME) for each feature that has nulls according to the footers, or may have some. It is 1 if
	// the value is missing (null, NaN or ±Inf), else 0.
	Times, Indicators bool
	// Categories are columns of categories, by name, as found by [Dataset.Categories]. Each category makes a feature,
	// "city=Paris", that is 1 in rows with that value, else 0. All features of a column are in one Block. In rows with
	// null, or with a value that is not a category, all of them are 0. A column with a Why is left out. Open
	// distinguishes all whole numbers of these columns, even if they are equal as float64.
	Categories []Category
	// RowScale scales each row after missing values were treated; the zero value leaves rows as in the file. Weights,
	// labels and conditions are not scaled.
	RowScale RowScale
	// Order names the features that come first, in this order. It is used when new statistics will be added to existing
	// ones, which have their own order. Without Order, features are in the order of the first file.
	Order []string
	// Sample is the number of rows to keep; 0 keeps all. The kept rows are the ones whose global positions have the
	// smallest hashes. The hash depends on Seed.
	Sample int64
	Seed   uint64

	Threads int   // decoders that work at once; 0 means GOMAXPROCS
	Memory  int64 // bytes that reading may hold; 0 means 1 GiB
	SkipBad bool  // leave out files whose footer or schema is bad, with a warning
	// Anonymous disables the search for credentials and the signing of requests to object stores.
	Anonymous bool
	// Allow contains prefixes of the paths and URLs that lists, plans and logs of tables may name outside their own
	// folder. A prefix is a local folder, or a URL with the parameters to open the files below it.
	Allow []string

	// Texts override the guesses about inputs that are text. If the values of a column of such an input look like
	// identifiers, they are read as numbers only if Columns or Numbers contains the name of the column. Only Open reads
	// these two options. Numbers in Texts.Nulls mean missing values in features of every format.
	Texts   TextOptions
	Numbers []string

	// Plan is a plan file that Open reads in place of inputs: the plan's files are read as they were when the plan was
	// made, without reading their footers again. Shard is the part of its rows to read; files outside it are not
	// opened. Where must equal the plan's condition.
	Plan  string
	Shard Shard
	// Spreads records the ranges of values from the statistics in the footers. Fields then reports features that have a
	// single value, or no value, as not used. Only Open reads this option.
	Spreads bool
	// ForPlan records the data that WritePlan needs.
	ForPlan bool

	// TableVersion selects the version of a Delta table to read; TableAsOf selects the newest version at that time. nil
	// and the zero time select the newest version.
	TableVersion *int64
	TableAsOf    time.Time
	// TableSince selects the rows that a table has gained between this version and the version to read, or the
	// rows that it has lost if TableLosses is set. nil selects all rows. With Plan it must be the version since which the
	// plan has changes.
	TableSince  *int64
	TableLosses bool

	Spool scratch.Options // for scratch files, such as row groups of objects that do not fit into Memory

	Keep *cache.Keep // holds decoded columns for later passes, in memory of its own in addition to Memory; may be nil

	Meter *stream.Meter     // counts bytes, decoding time, and requests to stores; nil counts nothing
	Stdin io.Reader         // read for the input "-"; a *Stdin if it is opened more than once
	Again bool              // the input is read more than once: an Arrow IPC stream on Stdin goes to a scratch file
	Note  func(stream.Text) // receives the inferred types of files of rows; nil drops them
	// TakingIn, if not nil, is called when copying a file of rows to a scratch file begins. It must return a function,
	// which is called when the copy has ended. Meter counts the bytes.
	TakingIn func(name string) (ended func(error))
}

// TextOptions override the guesses about inputs that are text.
type TextOptions = intake.TextOptions

// RowScale multiplies the features of a row by factors, and divides the row by its Euclidean norm or scales it to a
// total. All features that Columns and Exclude allow count in the norm or total, even if LeaveOut names them. Missing
// values count as 0 in it and stay missing. A row of zeros stays a row of zeros.
type RowScale struct {
	UnitRows bool                         // whether rows are divided by their norms
	Total    float64                      // the sum that rows get, whose values must not be negative; 0 leaves their sums
	Log      bool                         // whether ln(1 + x) then replaces each value x of a row with a Total
	Factor   func(feature string) float64 // the factor of a feature, which is finite and above 0; nil means 1 for all
	Bytes    int64                        // memory that Factor holds
}

// IsSet reports whether rows are scaled.
func (s RowScale) IsSet() bool { return s.UnitRows || s.Total > 0 }

const defaultMemory = 1 << 30

// WithDefaults fills in the documented defaults.
func WithDefaults(o Options) Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	o.Meter = cmp.Or(o.Meter, new(stream.Meter))
	o.Spool.Ledger = cmp.Or(o.Spool.Ledger, new(scratch.Ledger))
	return o
}

// Validate refuses options that contradict each other.
func Validate(o Options) error {
	if o.Label != "" && o.Label == o.Weight {
		return stream.Usagef("{label} and {weight} both name %s", o.Label)
	}
	if o.Union && o.Sparse != "" {
		return stream.Usagef("{-union-by-name} is for columns; {sparse} rows number theirs, and go without it")
	}
	for option, isSet := range map[string]bool{"times": o.Times, "missing-indicators": o.Indicators, "categorical": o.Categories != nil} {
		if isSet && o.Sparse != "" {
			return stream.Usagef("%v makes features of columns; {sparse} rows have none", stream.Option(option))
		}
	}
	if o.Sample < 0 {
		return stream.Usagef("{rows} %d: want a number of rows, 0 for all", o.Sample)
	}
	if o.Classes && o.Label == "" {
		return stream.Usagef("classes need a column to take them from: {label}")
	}
	return CheckNullSpellings(o.Texts)
}

// Category contains the values of a column of categories as text, in the order of their bytes. If the column has no
// categories, Why is the reason, such as "more than 64 distinct values".
type Category struct {
	Column string
	Values []string
	Why    string
}

// Shard is one of the parts into which the rows of a plan are divided. Of is the number of parts, and Number, counted
// from 1, is the number of this part. Parts consist of whole row groups and have about equal numbers of bytes. The zero
// value means all rows.
type Shard struct{ Number, Of int }

// CheckNullSpellings refuses URLs as spellings of missing values, because the record of a run contains its options, and
// would reveal secrets in URLs.
func CheckNullSpellings(t TextOptions) error {
	for _, s := range t.Nulls {
		if strings.Contains(s, "://") {
			return stream.Usagef("{null-values} %s: a URL is no spelling of a missing value", place.DisplayName(s))
		}
	}
	return nil
}

// ParseSparseOption splits Options.Sparse into the names of columns and the number of features, if it is given.
func ParseSparseOption(sparse string) (names []string, features string) {
	parts := strings.Split(sparse, ",")
	if n := len(parts); n > 1 {
		if _, err := strconv.Atoi(parts[n-1]); err == nil {
			return parts[:n-1], parts[n-1]
		}
	}
	return parts, ""
}

// TripleColumns returns the columns row, index and value in Options.Sparse, or nil if it does not name triples.
func TripleColumns(sparse string) []string {
	if names, _ := ParseSparseOption(sparse); len(names) == 3 {
		return names
	}
	return nil
}
