package chunkio

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
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

	Spool scratch.Options // for scratch files, such as row groups of objects that do not fit into Memory

	Keep *Keep // holds decoded columns for later passes, in memory of its own in addition to Memory; may be nil

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

const defaultMemory = 1 << 30

func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Meter == nil {
		o.Meter = new(stream.Meter)
	}
	if o.Spool.Ledger == nil {
		o.Spool.Ledger = new(scratch.Ledger)
	}
	return o
}

func (o Options) validate() error {
	if o.Label != "" && o.Label == o.Weight {
		return stream.Usagef("{label} and {weight} both name %s", o.Label)
	}
	if o.Union && o.Sparse != "" {
		return stream.Usagef("{union-by-name} is for columns; {sparse} rows number theirs, and go without it")
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
	return checkNullSpellings(o.Texts)
}

// Dataset is the table that a set of files, or a stream, contains under some options. It is a stream.Source. Between
// passes it has no open files. It holds the catalog of the footers and, until Close, the buffers of the last pass and
// the scratch files with the rows of text, arrays, Avro and triples. Its methods may be called from several goroutines,
// but each pass of Chunks uses up to Options.Memory for itself.
type Dataset struct {
	catalog   *catalog
	pipe      *pipe // the stream on standard input; nil for files
	opt       Options
	sparse    *sparseSpec // nil for dense rows
	features  *features
	nulls     []float64 // numbers that mean a missing value
	buffers   spanPool
	classes   classTable
	spool     func() *scratch.Space // returns the scratch space for row groups that do not fit into memory
	ownAccess *access               // opened by Open and closed by Close; nil in a Dataset made by With

	samplerWithoutWhere func() sampler // samples all rows, ignoring Where; computed by the first pass that needs it
}

// Open reads the footers of all inputs (see the package comment), one file at a time, and matches their columns by
// name. It fails on inputs that cannot be read or do not fit together, and on options that do not fit the inputs. If
// there are no features or no rows, Open succeeds, so that any input can be inspected, and Check and Chunks fail.
func Open(ctx context.Context, inputs []string, opt Options) (*Dataset, error) {
	opt = opt.withDefaults()
	if err := opt.validate(); err != nil {
		return nil, err
	}
	f, err := newFilter(opt.Where)
	if err != nil {
		return nil, err
	}
	a := newAccess(opt)
	d, err := a.openDataset(ctx, inputs, f)
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	d.ownAccess = a
	return d, nil
}

func (a *access) openDataset(ctx context.Context, inputs []string, f *filter) (*Dataset, error) {
	opt := a.opt
	var list *fileList
	var err error
	if opt.Plan != "" {
		var frozen *catalog
		if frozen, list, err = a.openPlan(ctx, f); err != nil {
			return nil, err
		}
		if frozen != nil {
			return newDataset(ctx, frozen, nil, opt)
		}
	} else if list, err = a.expandInputs(ctx, inputs); err != nil {
		return nil, err
	}
	if list.isStdin() {
		c, once, err := a.openStdin(ctx, opt.Stdin, list, f, catalogOptions{memory: opt.Memory, recordsBytes: opt.ForPlan, union: opt.Union, recordsSpreads: opt.Spreads, isUnused: a.isUnused})
		if err != nil {
			return nil, err
		}
		if c != nil {
			return newDataset(ctx, c, nil, opt)
		}
		pipe, err := openPipe(once, opt.Memory, opt.Classes || opt.Times || opt.Categories != nil)
		if err != nil {
			return nil, err
		}
		leaves, _ := nameLeaves(pipe.leaves())
		if err := f.bindStream(leaves); err != nil {
			return nil, err
		}
		return newDataset(ctx, &catalog{leaves: leaves, firstRefusal: map[int]string{}, rows: -1, list: list, filter: f}, pipe, opt)
	}
	if list, err = f.pruneFiles(list); err != nil {
		return nil, err
	}
	c, err := a.buildCatalog(ctx, list, f, catalogOptions{opt.Memory, opt.SkipBad, opt.ForPlan, opt.Union, opt.Spreads, a.isUnused})
	if err != nil {
		return nil, err
	}
	return newDataset(ctx, c, nil, opt)
}

// With returns a Dataset of the same files under other options, without reading the footers again. Options.SkipBad,
// Options.Where and Options.Stdin keep their values from Open. If the input is a stream, both Datasets share its one
// pass. Closing the new Dataset leaves d open. If the files are files of rows, the new Dataset cannot be read any more
// once d is closed.
func (d *Dataset) With(opt Options) (*Dataset, error) {
	opt = opt.withDefaults()
	opt.Where = d.opt.Where
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if d.sparse != nil && d.opt.Sparse == opt.Sparse {
		return assembleDataset(d.catalog, d.pipe, opt, d.sparse)
	}
	return newDataset(context.Background(), d.catalog, d.pipe, opt)
}

func newDataset(ctx context.Context, c *catalog, p *pipe, opt Options) (*Dataset, error) {
	sparse, err := findSparse(ctx, c, p, opt)
	if err != nil {
		return nil, err
	}
	return assembleDataset(c, p, opt, sparse)
}

func assembleDataset(c *catalog, p *pipe, opt Options, sparse *sparseSpec) (*Dataset, error) {
	if p != nil && opt.Sample > 0 {
		return nil, stream.Usagef("{rows} needs to know the number of rows beforehand, which a stream does not provide; save it to a file first")
	}
	if p != nil && opt.Classes && !p.keepsTexts {
		return nil, stream.Usagef("the classes of a stream must be requested when it is opened; save it to a file first")
	}
	if p != nil && opt.Times && !p.keepsTexts {
		return nil, stream.Usagef("the times of a stream must be requested when it is opened; save it to a file first")
	}
	f, err := resolveFeatures(c, opt, sparse)
	if err != nil {
		return nil, err
	}
	if err := c.filter.checkColumnsDecodable(c, sparse); err != nil {
		return nil, err
	}
	d := &Dataset{catalog: c, pipe: p, opt: opt, sparse: sparse, features: f, nulls: intake.NumbersAmong(opt.Texts.Nulls)}
	d.spool = sync.OnceValue(func() *scratch.Space { return scratch.New(opt.Spool) })
	d.samplerWithoutWhere = sync.OnceValue(func() sampler { return newSampler(opt.Seed, opt.Sample, c.rows) })
	return d, nil
}

// Check returns the error that Chunks would return before reading any row: a requested column cannot be decoded, or
// there are no features, or there are no rows.
func (d *Dataset) Check() error {
	if d.features.refusal != nil {
		return d.features.refusal
	}
	if d.pipe == nil && d.catalog.rows == 0 {
		return stream.Dataf(d.catalog.inputName(), "the input has no rows")
	}
	return nil
}

// Columns implements stream.Source. The caller must not change the slice.
func (d *Dataset) Columns() []stream.Column { return d.features.columns }

// Rows implements stream.Source. It counts all rows of the files that are read, including rows for which Options.Where
// is not true. For a shard it is the number of rows of the whole plan.
func (d *Dataset) Rows() int64 { return d.catalog.rows }

// Cuts implements stream.Source.
func (d *Dataset) Cuts() []int64 {
	if d.pipe != nil {
		return nil
	}
	return d.catalog.groupCuts()
}

// Chunks implements stream.Source; the package comment describes it. It fails with a MemoryError if Options.Memory is
// below MinMemory.
func (d *Dataset) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		if err := d.runPass(ctx, r, func(c *stream.Chunk) bool { return yield(c, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// Inputs describes the files, in the order of their rows. For a stream, the numbers of rows and bytes and the
// fingerprint, a digest of the bytes, cover the part read so far.
func (d *Dataset) Inputs() []stream.Input {
	if d.pipe != nil {
		return []stream.Input{d.pipe.describeInput()}
	}
	inputs := make([]stream.Input, len(d.catalog.files))
	for i := range inputs {
		f := &d.catalog.files[i]
		inputs[i] = stream.Input{Path: d.catalog.fileName(i), Rows: f.countRows(), Bytes: f.size, Fingerprint: formatFingerprint(f.fingerprint)}
	}
	return inputs
}

// Table returns the table to which the files belong, or nil for bare files.
func (d *Dataset) Table() *stream.Table { return d.catalog.list.table }

// Paths lists the files in the form that Open accepts, in the order of their rows.
func (d *Dataset) Paths() []string { return d.catalog.list.paths() }

// Positions returns the number of positions in the input: see [stream.Position].
func (d *Dataset) Positions() int { return countPositions(d.catalog, d.sparse) }

// LeftOut lists every column that is not a feature, with the reason, in column order.
func (d *Dataset) LeftOut() []stream.LeftOut { return d.features.leftOut }

// Warnings lists oddities that are not errors. The command replaces the names of options in them by its own.
func (d *Dataset) Warnings() []stream.Text {
	return slices.Concat(d.FileWarnings(), d.features.warnings)
}

// FileWarnings lists the Warnings about files, which do not depend on the use of the columns.
func (d *Dataset) FileWarnings() []stream.Text {
	return slices.Concat(d.catalog.warnings, d.catalog.texts.currentGuesses().Doubts)
}

// CatalogBytes returns the memory of the catalog, which is held while the Dataset is open.
func (d *Dataset) CatalogBytes() int64 { return d.catalog.memoryBytes() }

// Fields yields every column, feature or not.
func (d *Dataset) Fields() iter.Seq[Field] { return describeFields(d.catalog, d.opt, d.sparse) }

// WithNulls returns the number of features that contain nulls according to the metadata.
func (d *Dataset) WithNulls() int { return d.features.withNulls }

// Singles reports whether a float32 can represent every value of every feature, judged by the types of the features.
func (d *Dataset) Singles() bool {
	return !slices.ContainsFunc(d.features.columns, func(c stream.Column) bool { return keptWidth(c.Type, true) > 4 })
}

// Replayable reports whether Chunks can be called more than once.
func (d *Dataset) Replayable() bool { return d.pipe == nil }

// Close frees the buffers of the last pass, and the columns held by Options.Keep; a further pass makes new buffers. If
// d is from Open, Close also removes the scratch files of rows, which then cannot be read again; scratch files of
// standard input stay if Options.Stdin is a *Stdin. It must not be called during a pass.
func (d *Dataset) Close() error {
	d.buffers.dropSpans()
	d.opt.Keep.Drop()
	if d.ownAccess == nil {
		return nil
	}
	return d.ownAccess.close()
}

var _ stream.Source = (*Dataset)(nil)
